//! Approaches, outcomes and hints as bytes: what was tried and what came of it.

use sprag_core::{Approach, Field, Hints, Outcome, Tone, ToolKind};

use super::bytes::{Malformed, Reader, Writer, tagged};

tagged!(
    tool,
    to_tool,
    ToolKind,
    "kind of tool",
    Read = 0,
    Poll = 1,
    Change = 2,
    Run = 3
);
tagged!(
    tone,
    to_tone,
    Tone,
    "tone",
    Telling = 0,
    Failure = 1,
    Empty = 2,
    Done = 3,
    Silent = 4
);

pub(super) fn encode_hints(out: &mut Writer, hints: Hints) {
    let Hints {
        read_only,
        destructive,
        idempotent,
    } = hints;
    let all = [read_only, destructive, idempotent];
    out.flags(all.map(|hint| hint.is_some()));
    out.flags(all.map(|hint| hint == Some(true)));
}

pub(super) fn decode_hints(from: &mut Reader<'_>) -> Result<Hints, Malformed> {
    let given: [bool; 3] = from.flags()?;
    let [read_only, destructive, idempotent] = from.flags()?;
    let [has_read_only, has_destructive, has_idempotent] = given;
    Ok(Hints {
        read_only: has_read_only.then_some(read_only),
        destructive: has_destructive.then_some(destructive),
        idempotent: has_idempotent.then_some(idempotent),
    })
}

pub(super) fn encode_approach(out: &mut Writer, approach: &Approach) {
    let Approach {
        server,
        tool: name,
        exact,
        normal,
        kind: what,
        fields,
        oversized,
    } = approach;
    out.flags([server.is_some(), name.is_some(), *oversized]);
    out.byte(tool(*what));
    out.ids([server.as_ref(), name.as_ref()]);
    out.digest(exact);
    out.digest(normal);
    out.number(u64::try_from(fields.len()).unwrap_or(u64::MAX));
    for Field { name, digest, text } in fields {
        out.flags([text.is_some()]);
        out.text(name);
        out.digest(digest);
        if let Some(text) = text {
            out.text(text);
        }
    }
}

pub(super) fn decode_approach(from: &mut Reader<'_>) -> Result<Approach, Malformed> {
    let [server, name, oversized] = from.flags()?;
    let kind = to_tool(from.byte()?)?;
    let (server, tool) = (from.id_if(server)?, from.id_if(name)?);
    let (exact, normal) = (from.digest()?, from.digest()?);
    let fields = (0..from.number()?).map(|_| {
        let [text] = from.flags()?;
        Ok(Field {
            name: from.text()?.into(),
            digest: from.digest()?,
            text: from.text_if(text)?,
        })
    });
    Ok(Approach {
        fields: fields.collect::<Result<_, _>>()?,
        server,
        tool,
        exact,
        normal,
        kind,
        oversized,
    })
}

pub(super) fn encode_outcome(out: &mut Writer, outcome: &Outcome) {
    let Outcome {
        exact,
        normal,
        is_error,
        tone: how,
        shape,
        oversized,
    } = outcome;
    out.flags([*is_error, *oversized]);
    out.byte(tone(*how));
    out.digest(exact);
    out.digest(normal);
    out.number(u64::from(*shape));
}

pub(super) fn decode_outcome(from: &mut Reader<'_>) -> Result<Outcome, Malformed> {
    let [is_error, oversized] = from.flags()?;
    Ok(Outcome {
        tone: to_tone(from.byte()?)?,
        exact: from.digest()?,
        normal: from.digest()?,
        shape: from.small()?,
        is_error,
        oversized,
    })
}
