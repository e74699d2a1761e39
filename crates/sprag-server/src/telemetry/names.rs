//! The names of attributes, in one place: the conventions for generative AI are still in development and may rename
//! them. Ours start with `sprag.`.

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const AGENT: &str = "gen_ai.agent.name";

pub(super) const SERVER: &str = "sprag.server";
pub(super) const EVENT: &str = "sprag.event";
pub(super) const VERDICT: &str = "sprag.verdict";
pub(super) const RULE: &str = "sprag.rule";
pub(super) const ALSO: &str = "sprag.also";
pub(super) const SHADOW_VERDICT: &str = "sprag.shadow.verdict";
pub(super) const SHADOW_RULE: &str = "sprag.shadow.rule";
pub(super) const FLOW: &str = "sprag.flow";
pub(super) const DEPTH: &str = "sprag.depth";
pub(super) const TO: &str = "sprag.to";
pub(super) const GENERATION: &str = "sprag.generation";
pub(super) const SEQ: &str = "sprag.seq";
