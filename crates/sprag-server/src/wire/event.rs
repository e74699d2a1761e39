//! Events, as they come.

#![expect(dead_code, reason = "only their shapes are used")]

use serde_json::Value;
use utoipa::ToSchema;

/// Something that happened, or is about to. Unknown fields are ignored.
#[derive(ToSchema)]
#[schema(as = Event)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A message between agents, or to an agent from outside.
    #[schema(title = "Message")]
    Message(Message),
    /// A tool call, before it runs.
    #[schema(title = "Call")]
    Call(Call),
    /// What a call or a compound action did.
    #[schema(title = "Step")]
    Step(Step),
    /// Tokens and money spent.
    #[schema(title = "Usage")]
    Usage(Usage),
    /// What a model said in one answer.
    #[schema(title = "Output")]
    Output(Output),
    /// An operator kills a session.
    #[schema(title = "Kill")]
    Kill(Order),
    /// An operator resets a session.
    #[schema(title = "Reset")]
    Reset(Order),
    /// A message starts to be worked on in a session.
    #[schema(title = "DispatchStart")]
    DispatchStart(Dispatch),
    /// That work ended.
    #[schema(title = "DispatchEnd")]
    DispatchEnd(Dispatch),
    /// A person approves a call that was asked about. Not for agents.
    #[schema(title = "Approve")]
    Approve(AnswerEvent),
    /// A person declines it. Not for agents.
    #[schema(title = "Decline")]
    Decline(AnswerEvent),
}

/// Who is behind a message that no agent sent.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    User,
    Applet,
    Scheduler,
}

/// What a message is for.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageKind {
    Say,
    Spawn,
    Return,
}

/// How sure it is that a session id stands for one run of one agent. `shared` is not for agents to say.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Identity {
    Exact,
    Shared,
}

/// An id: 1 to 256 bytes without control characters.
#[derive(ToSchema)]
#[schema(as = Id, value_type = String, min_length = 1, max_length = 256, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$", example = "s1")]
pub(crate) struct Id(String);

/// A message.
#[derive(ToSchema)]
pub(crate) struct Message {
    /// The sending session; absent or null when no agent sent it.
    from: Option<Id>,
    /// The receiving session.
    to: Id,
    /// Who is behind it when no agent sent it.
    source: Option<Source>,
    /// The flow it belongs to.
    flow: Option<Id>,
    /// The conversation it belongs to.
    conversation: Option<Id>,
    /// The sender's agent.
    agent: Option<Id>,
    /// The receiver's agent.
    to_agent: Option<Id>,
    /// What it says; digested and forgotten.
    content: Option<Value>,
    /// Say, spawn or return.
    kind: Option<MessageKind>,
    /// A user's word that lifts a block.
    unblock: Option<bool>,
    /// The sender's generation.
    generation: Option<u32>,
    /// How sure the sender's identity is.
    identity: Option<Identity>,
    /// Of a `spawn`, the client's id of the tool use that starts the sub-agent.
    use_id: Option<Id>,
}

/// What a model said in one answer.
#[derive(ToSchema)]
pub(crate) struct Output {
    /// The session that the model speaks in.
    session: Id,
    /// Its agent.
    agent: Option<Id>,
    /// The flow.
    flow: Option<Id>,
    /// The words; digested and forgotten.
    text: Option<Value>,
    /// The session's generation as the caller knows it.
    generation: Option<u32>,
    /// How sure the session's identity is.
    identity: Option<Identity>,
}

/// What an MCP server says of its tool.
#[derive(ToSchema)]
pub(crate) struct Hints {
    /// It changes nothing.
    read_only: Option<bool>,
    /// It may destroy something.
    destructive: Option<bool>,
    /// Again is the same as once.
    idempotent: Option<bool>,
}

/// What kind of adapter saw a tool use. Two of different kinds may see the same one, which counts once.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Via {
    /// A program that asks by itself.
    Api,
    /// A hook of the agent's client; only with the hooks' token.
    Hook,
    /// A proxy before an MCP server.
    Mcp,
    /// A gateway before the model.
    Gateway,
}

/// A tool call.
#[derive(ToSchema)]
pub(crate) struct Call {
    /// The calling session.
    session: Id,
    /// Its agent.
    agent: Option<Id>,
    /// The flow, for budgets.
    flow: Option<Id>,
    /// The caller's id of this call; its step names it again.
    id: Option<Id>,
    /// The client's globally unique id of this tool use.
    use_id: Option<Id>,
    /// The server that offers the tool.
    server: Option<Id>,
    /// The tool.
    tool: Id,
    /// Its arguments; digested and forgotten.
    args: Option<Value>,
    /// What the server says of the tool.
    hints: Option<Hints>,
    /// The turn of the model that made it: calls of one turn are one attempt.
    turn: Option<String>,
    /// The folder in which it runs: relative paths in commands start there.
    cwd: Option<String>,
    /// The project's folder: what lies below it is the workspace.
    root: Option<String>,
    /// The session's generation as the caller knows it.
    generation: Option<u32>,
    /// How sure the session's identity is.
    identity: Option<Identity>,
    /// What kind of adapter saw it; `api` where nothing is said.
    via: Option<Via>,
    /// The client asks its person in its own window; believed of hooks only.
    dialog: Option<bool>,
}

/// What a call or a compound action did.
#[derive(ToSchema)]
pub(crate) struct Step {
    /// The session.
    session: Id,
    /// Its agent.
    agent: Option<Id>,
    /// The flow, for budgets.
    flow: Option<Id>,
    /// The id of the call that it completes.
    id: Option<Id>,
    /// The client's globally unique id of the tool use.
    use_id: Option<Id>,
    /// The server that offers the tool.
    server: Option<Id>,
    /// The tool, where no call was told; or `approach`.
    tool: Option<Id>,
    /// Its arguments.
    args: Option<Value>,
    /// A program text, where it is no tool.
    approach: Option<Value>,
    /// What came of it; or `outcome`.
    result: Option<Value>,
    /// Another word for `result`.
    outcome: Option<Value>,
    /// Whether it failed.
    is_error: Option<bool>,
    /// The session's generation as the caller knows it.
    generation: Option<u32>,
    /// How sure the session's identity is.
    identity: Option<Identity>,
    /// What kind of adapter saw it; `api` where nothing is said.
    via: Option<Via>,
}

/// Tokens and money spent.
#[derive(ToSchema)]
pub(crate) struct Usage {
    /// The session.
    session: Id,
    /// Its agent.
    agent: Option<Id>,
    /// The flow.
    flow: Option<Id>,
    /// The model, as its provider names it: its price is looked up if no cost is named.
    model: Option<Id>,
    /// Tokens that the model read, without those from and for its provider's cache.
    input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    output_tokens: Option<u64>,
    /// Tokens that came from the provider's cache. They cost, but count for no budget of tokens.
    cache_read_tokens: Option<u64>,
    /// Tokens that were read and written into the provider's cache.
    cache_write_tokens: Option<u64>,
    /// It is a reservation: an estimate that usage with the same `id` settles, or that expires after ten
    /// minutes. Agents may send none.
    pending: Option<bool>,
    /// The reservation that it is or settles.
    id: Option<Id>,
    /// Money, in US dollars; computed from the model if it is missing.
    #[schema(minimum = 0, maximum = 1000000)]
    cost_usd: Option<f64>,
    /// The session's generation as the caller knows it.
    generation: Option<u32>,
    /// How sure the session's identity is.
    identity: Option<Identity>,
}

/// An operator's kill or reset.
#[derive(ToSchema)]
pub(crate) struct Order {
    /// The session it is for.
    session: Id,
    /// Who gave it.
    by: Option<String>,
    /// The reason.
    why: Option<String>,
}

/// How far a person's yes goes.
#[derive(ToSchema)]
#[schema(as = ApprovalScope)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApprovalScope {
    /// This call, once.
    Once,
    /// The same on the same target, as long as the session lasts.
    Session,
    /// The same as `session`, and the policy allows the command in this project from now on.
    Project,
    /// The same as `session`, and the policy allows the command for this agent from now on.
    Agent,
}

/// A person's answer to a question.
#[derive(ToSchema)]
pub(crate) struct AnswerEvent {
    /// The session that was asked about.
    session: Id,
    /// The code of the question.
    approval: Id,
    /// How far a yes goes.
    scope: Option<ApprovalScope>,
    /// Who answers.
    by: Option<String>,
    /// The reason.
    why: Option<String>,
}

/// The start or end of work on a message.
#[derive(ToSchema)]
pub(crate) struct Dispatch {
    /// The session that works.
    session: Id,
    /// The flow of the message.
    flow: Option<Id>,
}
