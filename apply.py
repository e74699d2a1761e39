import os,shutil,subprocess
os.chdir('/work/wt/spend/crates')
def sub(p,a,b,n=1):
    s=open(p).read()
    assert a in s,(p,a)
    s=s.replace(a,b,n); open(p,'w').write(s)
subprocess.check_call(['git','mv','sprag-scan/src/time.rs','sprag-hooks/src/time.rs'])
for f in ['copilot','codex','chat','gemini','claude']:
    p='sprag-scan/src/reader/%s.rs'%f
    s=open(p).read()
    s=s.replace('use crate::time::parse_time;\n','')
    if 'use sprag_hooks::tool_name;' in s: s=s.replace('use sprag_hooks::tool_name;','use sprag_hooks::{parse_time, tool_name};')
    elif 'use sprag_hooks::{is_own_prompt, tool_name};' in s: s=s.replace('use sprag_hooks::{is_own_prompt, tool_name};','use sprag_hooks::{is_own_prompt, parse_time, tool_name};')
    else:
        i=s.index('\nuse '); s=s[:i+1]+'use sprag_hooks::parse_time;\n'+s[i+1:]
    open(p,'w').write(s)
sub('sprag-scan/src/lib.rs','mod time;\n','')
sub('sprag-scan/src/lib.rs','pub use time::parse_time;','pub use sprag_hooks::parse_time;')
os.makedirs('sprag-hooks/src/spend',exist_ok=True)
shutil.copy('/tmp/s2/spend.rs','sprag-hooks/src/spend.rs'); shutil.copy('/tmp/s2/lines.rs','sprag-hooks/src/spend/lines.rs')
shutil.copy('/tmp/s2/tail.rs','sprag-cli/src/command/hook/spend.rs'); shutil.copy('/tmp/s2/transcript_file.rs','sprag-cli/src/command/hook/transcript_file.rs')
p='sprag-hooks/src/lib.rs'
sub(p,'mod reply;\n','mod reply;\nmod spend;\nmod time;\n')
sub(p,'pub use parsed_hook::{Dialect, HookPhase, ParsedHook, ReadError};','pub use parsed_hook::{Dialect, HookPhase, ParsedHook, ReadError};\npub use spend::{SpendReader, SpendSource, SpentLine, TranscriptLine, spent_in};\npub use time::parse_time;')
p='sprag-hooks/src/parsed_hook.rs'
sub(p,'''    pub can_ask: bool,
}

impl ParsedHook''','''    pub can_ask: bool,
    /// Who spends, if the client keeps a transcript.
    pub(crate) spender: Option<Spender>,
}

impl ParsedHook''')
sub(p,'''                Dialect::Copilot | Dialect::CopilotNested | Dialect::Cursor
            ),
''','''                Dialect::Copilot | Dialect::CopilotNested | Dialect::Cursor
            ),
            spender: None,
''')
sub(p,'\nfn name(text: &str) -> String {','\npub(crate) fn name(text: &str) -> String {')
sub(p,'use sprag_core::{MAX_ID_BYTES, MessageKind, Payload};\n','use sprag_core::{MAX_ID_BYTES, MessageKind, Payload};\n\nuse crate::spend::Spender;\n')
p='sprag-hooks/src/answer.rs'
sub(p,'''    pub read_transcript: Option<fn(&str) -> Option<String>>,
}''','''    pub read_transcript: Option<fn(&str) -> Option<String>>,
    /// Reads what was spent since the last hook from the client's transcript. None if transcripts can't be
    /// read here.
    pub spend: Option<&'h dyn SpendReader>,
}''')
sub(p,'''    let events = std::mem::take(&mut hook.events);
    let (mut reply, problem) = ask_all(&hook, events, options, ask);
    let is_heard''','''    let mut events = spent(&hook, options);
    events.append(&mut hook.events);
    let (mut reply, problem) = ask_all(&hook, events, options, ask);
    if let Some(reader) = options.spend.filter(|_| problem.is_none()) {
        reader.keep();
    }
    let is_heard''')
sub(p,'''/// Asks about `events` until one is refused''','''/// What was spent since the last hook. It comes first, so that what the hook is for is judged after it.
fn spent(hook: &ParsedHook, options: &HookOptions<'_>) -> Vec<Event> {
    let Some((reader, spender)) = options.spend.zip(hook.spender.as_ref()) else {
        return Vec::new();
    };
    // Ids are reduced to valid ones, so this does not fail.
    spender
        .usage(reader.read(&spender.source))
        .unwrap_or_default()
}

/// Asks about `events` until one is refused''')
sub(p,'''            (HookPhase::Before, Event::Step(_)) => HookPhase::After,
''','''            (HookPhase::Before, Event::Step(_)) => HookPhase::After,
            // What is spent is spent; a budget that is used up refuses the call that follows.
            (HookPhase::Before | HookPhase::Prompt | HookPhase::Spawn | HookPhase::Batch, Event::Usage(_)) => {
                HookPhase::After
            }
''')
sub(p,'use crate::reply::Reply;\n','use crate::reply::Reply;\nuse crate::spend::SpendReader;\n')
p='sprag-hooks/src/codec/snake_payload.rs'
sub(p,'''    pub(super) agent_type: Option<String>,
''','''    pub(super) agent_type: Option<String>,
    pub(super) agent_transcript_path: Option<String>,
    pub(super) model: Option<String>,
''')
sub(p,'''    pub(super) fn tool(&self)''','''    /// Where `actor` of `client` has written down what it spent: a sub-agent in `of_sub`, or where it says.
    pub(super) fn spender(
        &self,
        client: Client,
        actor: Actor,
        of_sub: impl FnOnce(&str, &str) -> Option<String>,
    ) -> Option<Spender> {
        let main = self.transcript_path.and_then(text)?;
        let own = self.agent_transcript_path.clone();
        let of_sub = actor.sub.as_deref().and_then(|sub| own.or_else(|| of_sub(&main, sub)));
        let event = self.hook_event_name.as_deref().unwrap_or_default();
        let (transcript, of_session) = match of_sub {
            Some(own) => (own, Some(main)),
            None => (main, None),
        };
        Some(Spender {
            source: SpendSource {
                client,
                session: actor.root.clone(),
                transcript: Some(transcript),
                of_session,
                starts: phase(event) == HookPhase::Start,
            },
            actor,
            model: self.model.clone(),
        })
    }

    pub(super) fn tool(&self)''')
sub(p,'use crate::parsed_hook::{HookPhase, ReadError};','use crate::client::Client;\nuse crate::parsed_hook::{Actor, HookPhase, ReadError};\nuse crate::spend::{SpendSource, Spender};')
p='sprag-hooks/src/codec/claude.rs'
sub(p,'''    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;
        hook.events''','''    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Claude, actor, sub_agent_transcript));
    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;
        hook.events''')
sub(p,'''fn actor(fields: &SnakePayload<'_>)''','''/// Sub-agents have transcripts of their own, in a folder beside the session's.
fn sub_agent_transcript(session: &str, sub: &str) -> Option<String> {
    let folder = session.strip_suffix(".jsonl")?;
    let is_name = sub.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then(|| format!("{folder}/subagents/agent-{sub}.jsonl"))
}

fn actor(fields: &SnakePayload<'_>)''')
p='sprag-hooks/src/codec/codex.rs'
sub(p,'''    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;''','''    // Inside a sub-agent, the payload names that one's own transcript.
    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Codex, actor, |_, _| None));
    if !matches!(hook.phase, HookPhase::Ignored | HookPhase::Start) {
        let actor = actor(&fields)?;''')
p='sprag-hooks/src/codec/gemini.rs'
sub(p,'''    hook.replaced_result = fields''','''    hook.spender = actor(&fields)
        .ok()
        .and_then(|actor| fields.spender(Client::Gemini, actor, |_, _| None));
    hook.replaced_result = fields''')
p='sprag-hooks/src/codec/copilot.rs'
sub(p,'''    hook.events = events(phase, &fields, fields.tool_args)?;
    Ok(hook)''','''    hook.spender = spender(phase, &fields);
    hook.events = events(phase, &fields, fields.tool_args)?;
    Ok(hook)''')
sub(p,'''fn actor(fields: &CamelPayload<'_>)''','''/// One transcript holds the session and its sub-agents; the payload does not name it.
fn spender(phase: HookPhase, fields: &CamelPayload<'_>) -> Option<Spender> {
    let root = Actor {
        sub: None,
        agent: Client::Copilot.as_str().to_owned(),
        ..actor(fields).ok()?
    };
    Some(Spender {
        source: SpendSource {
            client: Client::Copilot,
            session: root.root.clone(),
            transcript: None,
            of_session: None,
            starts: phase == HookPhase::Start,
        },
        actor: root,
        model: None,
    })
}

fn actor(fields: &CamelPayload<'_>)''')
s=open(p).read()
s=s.replace('use crate::reply::Reply;\n','use crate::reply::Reply;\nuse crate::spend::{SpendSource, Spender};\n',1)
open(p,'w').write(s)
# cli
p='sprag-cli/Cargo.toml'
sub(p,'mimalloc.workspace = true\n','mimalloc.workspace = true\nrustix.workspace = true\n')
p='sprag-cli/src/command/hook.rs'
sub(p,'mod duplicate;\n','mod duplicate;\nmod spend;\nmod transcript_file;\n')
sub(p,'''        read_transcript: Some(end_of_file),
    };''','''        read_transcript: Some(end_of_file),
        spend: tails.as_ref().map(|tails| tails as &dyn SpendReader),
    };''')
sub(p,'''    let options = HookOptions {
        event: args.event.as_deref(),''','''    let tails = db.and_then(|db| TranscriptTails::new(db, settings.copilot_folder(), clock::now()));
    let options = HookOptions {
        event: args.event.as_deref(),''')
sub(p,'''    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok().filter(Metadata::is_file)?.len();
    file.seek(''','''    let (mut file, about) = open_transcript(Path::new(path))?;
    let length = about.len();
    file.seek(''')
sub(p,'use std::fs::{File, Metadata};\n','')
sub(p,'AnsweredHook, Client, HookOptions, HookPhase, ReadError, answer, phase, unreadable,','AnsweredHook, Client, HookOptions, HookPhase, ReadError, SpendReader, answer, phase, unreadable,')
sub(p,'use crate::args::HookArgs;\n','use self::spend::TranscriptTails;\nuse self::transcript_file::open_transcript;\nuse crate::args::HookArgs;\n')
p='sprag-cli/src/settings.rs'
sub(p,'''    /// The folder for copies of settings''','''    /// Where Copilot CLI keeps its sessions.
    pub(crate) fn copilot_folder(&self) -> Option<PathBuf> {
        let usual = || self.home.as_ref().map(|home| home.join(".copilot"));
        self.copilot_home.clone().or_else(usual)
    }

    /// The folder for copies of settings''')
p='sprag-server/src/route/hooks.rs'
sub(p,'        read_transcript: None,\n','        read_transcript: None,\n        spend: None,\n')
# opencode
p='sprag-hooks/src/install/opencode_plugin.js'
sub(p,'''      // A tool that failed has no `tool.execute.after`.''','''      // An answer of the model is complete: what it used, once.
      const info = event.type === 'message.updated' ? properties.info : null;
      if (info?.role === 'assistant' && info.time?.completed && info.tokens && !counted.has(info.id)) {
        counted.add(info.id);
        if (counted.size > MAX_NOTES) counted.delete(counted.values().next().value);
        await question({ event: 'usage', ...who(info.sessionID), model: info.modelID, tokens: info.tokens });
      }
      // A tool that failed has no `tool.execute.after`.''')
sub(p,'''  /** Questions whose answers''','''  /** Answers of the model whose tokens were reported. */
  const counted = new Set();
  /** Questions whose answers''')
p='sprag-hooks/src/codec/opencode.rs'
sub(p,'''    message: Option<String>,
}
''','''    message: Option<String>,
    model: Option<String>,
    tokens: Option<Used>,
}

/// What an answer of the model used; its thinking is apart from its output.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Used {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: Cached,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Cached {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}
''')
sub(p,'''    if matches!(
        phase,
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored
    ) {
        return Ok(Vec::new());
    }
    let root''','''    let has_usage = fields.tokens.is_some();
    if matches!(
        phase,
        HookPhase::Batch | HookPhase::Start | HookPhase::Ignored
    ) && !has_usage
    {
        return Ok(Vec::new());
    }
    let root''')
sub(p,'''    Ok(match phase {
        // A child's prompt''','''    if let Some(used) = fields.tokens {
        return Ok(vec![usage(&actor, fields.model.as_deref(), used)?]);
    }
    Ok(match phase {
        // A child's prompt''')
sub(p,'''pub(super) fn write(''','''fn usage(actor: &Actor, model: Option<&str>, used: Used) -> Result<sprag::Event, ReadError> {
    let output = used.output.saturating_add(used.reasoning);
    let mut event = sprag::Event::usage(&actor.session())?
        .agent(&name(&actor.agent))?
        .flow(&name(&actor.flow))?
        .tokens(used.input, output)
        .cache(used.cache.read, used.cache.write);
    event.model = model.map(|model| Id::reduced(model, 128));
    Ok(event.into())
}

pub(super) fn write(''')
sub(p,'use sprag_core::{MessageKind, Payload};','use sprag_core::{Id, MessageKind, Payload};')
sub(p,'use crate::parsed_hook::{Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse};','use crate::parsed_hook::{\n    Actor, Dialect, HookPhase, ParsedHook, ReadError, ToolOutcome, ToolUse, name,\n};')
