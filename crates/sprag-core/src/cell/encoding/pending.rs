//! The calls that wait for their step. Most are of the same few tools and have no noise in their arguments,
//! so a row holds only what differs from the row before and from its own exact digest.

use crate::cell::tried::{ShortName, Tried};
use crate::cell::{CallLosses, PendingCall};
use crate::encoding::{Encoding, Fixed, Malformed, Reader, Writer, encodings};
use crate::observation::{Subject, ToolKind};

/// The lowest bits of a row's flags are the kind of its tool.
const KIND: u8 = 0x0f;
const REFUSED: u8 = 1 << 4;
/// The digest without noise differs from the exact one, and follows it.
const NOISY: u8 = 1 << 5;
/// The tool is not the one of the row before, and its name follows.
const RENAMED: u8 = 1 << 6;
/// What it destroys, that its client asks, or what it is about follows: a byte of its own.
const QUESTIONED: u8 = 1 << 7;

/// The second byte of flags: what kind of question it is, and whether a label follows.
const WAITS: u8 = 1;
const MOVES: u8 = 1 << 1;
const ASKS: u8 = 1 << 2;
const AIMS: u8 = 1 << 3;
const LABELLED: u8 = 1 << 4;
/// It waits for a person's word.
const ASKED: u8 = 1 << 5;
const PROBES: u8 = 1 << 6;
/// A fingerprint of an argument follows.
const ARGUED: u8 = 1 << 7;

/// The byte of a questioned call: what it destroys follows.
const LOSSES: u8 = 1;
/// Its client asks its person.
const DIALOG: u8 = 1 << 1;
/// What it is about follows.
const ABOUT: u8 = 1 << 2;

/// A list of pending calls.
pub(super) struct PendingRows;

encodings! {
    PendingRows as Vec<PendingCall>, default: |list, out| write(list, out), |from| read(from);
}

fn write(list: &[PendingCall], out: &mut Writer) {
    out.count(list.len());
    let mut last = ShortName::new("");
    for pending in list {
        write_row(pending, last, out);
        last = pending.tried.name;
    }
}

fn write_row(pending: &PendingCall, last: ShortName, out: &mut Writer) {
    let PendingCall {
        id,
        tried,
        refused,
        asked,
        dialog,
        losses,
        at,
        turn_start,
    } = pending;
    let Tried {
        exact,
        normal,
        kind,
        argument,
        about,
        name,
        label,
        ..
    } = tried;
    let labelled = !label.as_str().is_empty();
    let is_about = *about != Subject::default();
    let question = flag(losses.is_some(), LOSSES) | flag(*dialog, DIALOG) | flag(is_about, ABOUT);
    Fixed::write(id, out);
    out.byte(
        kind.stored_number()
            | flag(*refused, REFUSED)
            | flag(normal != exact, NOISY)
            | flag(*name != last, RENAMED)
            | flag(question != 0, QUESTIONED),
    );
    out.byte(traits(tried) | flag(labelled, LABELLED) | flag(*asked, ASKED));
    out.time(*at);
    out.number(u64::from(*turn_start));
    Fixed::write(exact, out);
    if normal != exact {
        Fixed::write(normal, out);
    }
    if *argument != 0 {
        Fixed::write(argument, out);
    }
    if *name != last {
        out.bytes(name.as_str().as_bytes());
    }
    if labelled {
        out.bytes(label.as_str().as_bytes());
    }
    if question != 0 {
        out.byte(question);
    }
    if let Some(losses) = losses {
        write_losses(losses, out);
    }
    if is_about {
        Subject::write(about, out);
    }
}

const fn flag(is_set: bool, flag: u8) -> u8 {
    if is_set { flag } else { 0 }
}

/// What kind of question a call is.
const fn traits(tried: &Tried) -> u8 {
    flag(tried.waits, WAITS)
        | flag(tried.moves, MOVES)
        | flag(tried.asks, ASKS)
        | flag(tried.aims, AIMS)
        | flag(tried.probes, PROBES)
        | flag(tried.argument != 0, ARGUED)
}

fn read(from: &mut Reader<'_>) -> Result<Vec<PendingCall>, Malformed> {
    let count = from.count()?;
    let mut list = Vec::with_capacity(count);
    let mut last = ShortName::new("");
    for _ in 0..count {
        let id = Fixed::read(from)?;
        let flags = from.byte()?;
        let traits = from.byte()?;
        let at = from.time()?;
        let turn_start = from.small()?;
        let exact = Fixed::read(from)?;
        let normal = if flags & NOISY == 0 {
            exact
        } else {
            Fixed::read(from)?
        };
        let argument = if traits & ARGUED == 0 {
            0
        } else {
            Fixed::read(from)?
        };
        if flags & RENAMED != 0 {
            last = ShortName::new(from.text()?);
        }
        let label = if traits & LABELLED == 0 {
            ""
        } else {
            from.text()?
        };
        let (dialog, losses, about) = read_question(flags, from)?;
        list.push(PendingCall {
            id,
            tried: Tried {
                exact,
                normal,
                kind: ToolKind::from_stored(flags & KIND)?,
                waits: traits & WAITS != 0,
                moves: traits & MOVES != 0,
                asks: traits & ASKS != 0,
                aims: traits & AIMS != 0,
                probes: traits & PROBES != 0,
                argument,
                about,
                name: last,
                label: ShortName::new(label),
            },
            refused: flags & REFUSED != 0,
            asked: traits & ASKED != 0,
            dialog,
            losses,
            at,
            turn_start,
        });
    }
    Ok(list)
}

/// Whether the client asks its person, what the call destroys, and what it is about.
fn read_question(
    flags: u8,
    from: &mut Reader<'_>,
) -> Result<(bool, Option<Box<CallLosses>>, Subject), Malformed> {
    if flags & QUESTIONED == 0 {
        return Ok((false, None, Subject::default()));
    }
    let question = from.byte()?;
    let losses = (question & LOSSES != 0).then(|| read_losses(from).map(Box::new));
    let losses = losses.transpose()?;
    let about = if question & ABOUT == 0 {
        Subject::default()
    } else {
        Subject::read(from)?
    };
    Ok((question & DIALOG != 0, losses, about))
}

/// The bits of the byte before a call's losses.
const BY_TOOL: u8 = 1;
const NAMED: u8 = 1 << 1;
const COUNTS: u8 = 1 << 2;

fn write_losses(losses: &CallLosses, out: &mut Writer) {
    let CallLosses {
        tool,
        tool_name,
        far,
        counts,
        far_names,
        near,
    } = losses;
    out.byte(
        flag(tool.is_some(), BY_TOOL) | flag(tool_name.is_some(), NAMED) | flag(*counts, COUNTS),
    );
    for targets in tool.iter().chain([far, near]) {
        out.count(targets.len());
        targets.iter().for_each(|target| Fixed::write(target, out));
    }
    if let Some(name) = tool_name {
        out.bytes(name.as_bytes());
    }
    out.count(far_names.len());
    far_names.iter().for_each(|name| out.bytes(name.as_bytes()));
}

fn read_losses(from: &mut Reader<'_>) -> Result<CallLosses, Malformed> {
    let flags = from.byte()?;
    let targets = |from: &mut Reader<'_>| {
        let count = from.count()?;
        (0..count)
            .map(|_| Fixed::read(from))
            .collect::<Result<Vec<u64>, _>>()
    };
    let tool = (flags & BY_TOOL != 0).then(|| targets(from)).transpose()?;
    let (far, near) = (targets(from)?, targets(from)?);
    let name = |from: &mut Reader<'_>| from.text().map(Box::from);
    let tool_name = (flags & NAMED != 0).then(|| name(from)).transpose()?;
    let count = from.count()?;
    let far_names = (0..count).map(|_| name(from)).collect::<Result<_, _>>()?;
    Ok(CallLosses {
        tool,
        tool_name,
        far,
        counts: flags & COUNTS != 0,
        far_names,
        near,
    })
}
