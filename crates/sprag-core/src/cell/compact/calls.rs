//! The lists of a session: its last calls, those that wait for their step, what it destroyed.

use std::collections::VecDeque;

use super::bytes::{Reader, Writer};
use crate::cell::Destructive;
use crate::cell::PendingCall;
use crate::cell::session::Calls;
use crate::cell::tried::{ShortName, Tried};
use crate::cell::window::Window;
use crate::observation::ToolKind;
use crate::time::Timestamp;

/// A time takes one byte at least, a digest eight.
const TIMED: usize = 9;
/// The least that a pending call takes.
const PENDING: usize = 18;

const REFUSED: u8 = 1 << 2;
const NORMAL: u8 = 1 << 3;
const RENAMED: u8 = 1 << 4;

fn write_times(out: &mut Writer<'_>, list: &VecDeque<(u64, Timestamp)>, touched: Timestamp) {
    out.count(list.len());
    let mut last = touched;
    for (digest, at) in list {
        out.fixed(digest.to_le_bytes());
        out.time(last, *at);
        last = *at;
    }
}

fn read_times(from: &mut Reader<'_>, touched: Timestamp) -> Option<VecDeque<(u64, Timestamp)>> {
    let count = from.count(TIMED)?;
    let mut list = VecDeque::with_capacity(count);
    let mut last = touched;
    for _ in 0..count {
        let digest = u64::from_le_bytes(from.fixed()?);
        last = from.time(last)?;
        list.push_back((digest, last));
    }
    Some(list)
}

impl Calls {
    pub(super) fn write(&self, out: &mut Writer<'_>, touched: Timestamp) {
        out.number(u64::from(self.in_a_row));
        write_times(out, &self.recent, touched);
    }

    pub(super) fn read(from: &mut Reader<'_>, touched: Timestamp) -> Option<Self> {
        let in_a_row = from.small()?;
        let recent = read_times(from, touched)?;
        Some(Self::with(recent, in_a_row))
    }
}

impl Destructive {
    pub(super) fn write(&self, out: &mut Writer<'_>, touched: Timestamp) {
        let Self { window, targets } = self;
        out.count(window.0.len());
        let mut last = touched;
        for at in &window.0 {
            out.time(last, *at);
            last = *at;
        }
        write_times(out, targets, touched);
    }

    pub(super) fn read(from: &mut Reader<'_>, touched: Timestamp) -> Option<Self> {
        let mut last = touched;
        let mut times = VecDeque::new();
        for _ in 0..from.count(1)? {
            last = from.time(last)?;
            times.push_back(last);
        }
        Some(Self {
            window: Window(times),
            targets: read_times(from, touched)?,
        })
    }
}

/// Most calls that wait are of the same few tools, and most have no noise in their arguments.
pub(super) fn write_pending(out: &mut Writer<'_>, list: &[PendingCall]) {
    out.count(list.len());
    let mut last = ShortName::new("");
    for PendingCall { id, tried, refused } in list {
        let Tried {
            exact,
            normal,
            kind,
            name,
        } = tried;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.fixed(id.to_le_bytes());
        out.byte(
            number_of(*kind)
                | flag(*refused, REFUSED)
                | flag(normal != exact, NORMAL)
                | flag(*name != last, RENAMED),
        );
        out.fixed(exact.to_le_bytes());
        if normal != exact {
            out.fixed(normal.to_le_bytes());
        }
        if *name != last {
            out.text(name.as_str());
        }
        last = *name;
    }
}

pub(super) fn read_pending(from: &mut Reader<'_>) -> Option<Vec<PendingCall>> {
    let count = from.count(PENDING - 1)?;
    let mut list = Vec::with_capacity(count);
    let mut last = ShortName::new("");
    for _ in 0..count {
        let id = u64::from_le_bytes(from.fixed()?);
        let flags = from.byte()?;
        let exact = u64::from_le_bytes(from.fixed()?);
        let normal = if flags & NORMAL == 0 {
            exact
        } else {
            u64::from_le_bytes(from.fixed()?)
        };
        if flags & RENAMED != 0 {
            last = ShortName::new(from.text()?);
        }
        list.push(PendingCall {
            id,
            tried: Tried {
                exact,
                normal,
                kind: kind_of(flags),
                name: last,
            },
            refused: flags & REFUSED != 0,
        });
    }
    Some(list)
}

/// In the two lowest bits.
const fn number_of(kind: ToolKind) -> u8 {
    match kind {
        ToolKind::Read => 0,
        ToolKind::Poll => 1,
        ToolKind::Change => 2,
        ToolKind::Run => 3,
    }
}

const fn kind_of(flags: u8) -> ToolKind {
    match flags & 3 {
        0 => ToolKind::Read,
        1 => ToolKind::Poll,
        2 => ToolKind::Change,
        _ => ToolKind::Run,
    }
}
