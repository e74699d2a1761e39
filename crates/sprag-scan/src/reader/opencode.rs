//! opencode: messages and their parts, as rows of `opencode.db` or, in older versions, as one small file each.
//!
//! Tools of MCP servers are named `server_tool`, and nothing says where the one ends; the first underscore is taken for it,
//! unless the tool is one of opencode's own.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Timestamp;

use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

/// What opencode writes where a command printed nothing.
const SILENT: &str = "(no output)";
/// opencode's own tools with an underscore in their names.
const OWN_TOOLS: [&str; 3] = ["plan_enter", "plan_exit", "apply_patch"];

/// What a message says of itself.
#[derive(Deserialize)]
pub(crate) struct OpencodeMessage<'a> {
    #[serde(borrow)]
    pub(crate) role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<OpencodeError<'a>>,
    tokens: Option<OpencodeUsage>,
}

#[derive(Deserialize)]
struct OpencodeError<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct OpencodePart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "callID")]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<OpencodeState<'a>>,
    #[serde(default)]
    synthetic: bool,
}

#[derive(Deserialize)]
struct OpencodeState<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    metadata: Option<OpencodeMetadata>,
    time: Option<OpencodeTime>,
}

#[derive(Deserialize)]
struct OpencodeMetadata {
    exit: Option<i64>,
}

#[derive(Deserialize)]
struct OpencodeTime {
    start: Option<u64>,
    end: Option<u64>,
}

#[derive(Deserialize)]
struct OpencodeUsage {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: CacheUsage,
}

#[derive(Default, Deserialize)]
struct CacheUsage {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}

/// Whose part it is.
pub(crate) struct PartContext<'a> {
    pub(crate) session: &'a str,
    pub(crate) is_child: bool,
    pub(crate) is_user: bool,
    pub(crate) at: Option<Timestamp>,
}

impl OpencodeMessage<'_> {
    pub(crate) fn is_user(&self) -> bool {
        self.role.as_deref() == Some("user")
    }

    /// What the model took and gave for it.
    pub(crate) fn tokens(&self) -> Option<TokenCounts> {
        self.tokens.as_ref().filter(|_| !self.is_user()).map(tokens)
    }

    /// Whether a person stopped the agent here.
    pub(crate) fn is_interrupted(&self) -> bool {
        let name = self.error.as_ref().and_then(|error| error.name.as_deref());
        name == Some("MessageAbortedError")
    }
}

/// What a part tells.
///
/// # Errors
/// Returns an error if it can't be read.
pub(crate) fn part(
    data: &[u8],
    of: &PartContext<'_>,
    sink: Sink<'_>,
) -> Result<(), serde_json::Error> {
    let part: OpencodePart<'_> = serde_json::from_slice(data)?;
    let session = of.session;
    let mut tell = |at: Option<Timestamp>, what: ItemKind<'_>| {
        sink(TranscriptItem {
            session,
            at: at.or(of.at),
            what,
        });
    };
    match (&*part.kind, of.is_user) {
        ("text", true) if !of.is_child && !part.synthetic => tell(None, ItemKind::Prompt),
        ("text", false) => tell(None, ItemKind::Said),
        ("tool", false) => called(&part, &mut tell),
        _ => {}
    }
    Ok(())
}

fn tokens(used: &OpencodeUsage) -> TokenCounts {
    TokenCounts {
        input: used.input.saturating_add(used.cache.write),
        cached: used.cache.read,
        output: used.output.saturating_add(used.reasoning),
    }
}

fn called(part: &OpencodePart<'_>, tell: &mut dyn FnMut(Option<Timestamp>, ItemKind<'_>)) {
    let (Some(name), Some(id), Some(state)) = (&part.tool, &part.call_id, &part.state) else {
        return;
    };
    let (server, tool) = split(name);
    let time =
        |pick: fn(&OpencodeTime) -> Option<u64>| state.time.as_ref().and_then(pick).map(Timestamp);
    tell(
        time(|span| span.start),
        ItemKind::Call(TranscriptCall {
            id,
            server: server.map(Cow::Borrowed),
            tool: tool.into(),
            args: state.input.map(Cow::Borrowed),
        }),
    );
    let status = state.status.as_deref().unwrap_or_default();
    if status != "completed" && status != "error" {
        return;
    }
    let bad_exit = state
        .metadata
        .as_ref()
        .and_then(|data| data.exit)
        .is_some_and(|code| code != 0);
    let text = state
        .error
        .as_deref()
        .or(state.output.as_deref())
        .unwrap_or_default();
    let text = if text == SILENT { "" } else { text };
    tell(
        time(|span| span.end),
        ItemKind::Outcome {
            id,
            answer: ResultBody::Text(text.into()),
            is_error: status == "error" || bad_exit,
        },
    );
}

fn split(name: &str) -> (Option<&str>, &str) {
    if OWN_TOOLS.contains(&name) {
        return (None, name);
    }
    match name.split_once('_') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => (Some(server), tool),
        _ => (None, name),
    }
}
