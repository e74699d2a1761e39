//! The calls that wait for their step. Most are of the same few tools and have no noise in their arguments,
//! so a row holds only what differs from the row before and from its own exact digest.

use crate::cell::PendingCall;
use crate::cell::tried::{ShortName, Tried};
use crate::encoding::{Encoding, Fixed, Malformed, Reader, Writer, encodings};
use crate::observation::ToolKind;

/// The lowest bits of a row's flags are the kind of its tool.
const KIND: u8 = 0x0f;
const REFUSED: u8 = 1 << 4;
/// The digest without noise differs from the exact one, and follows it.
const NOISY: u8 = 1 << 5;
/// The tool is not the one of the row before, and its name follows.
const RENAMED: u8 = 1 << 6;

/// A list of pending calls.
pub(super) struct PendingRows;

encodings! {
    PendingRows as Vec<PendingCall>, default: |list, out| write(list, out), |from| read(from);
}

fn write(list: &[PendingCall], out: &mut Writer) {
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
        Fixed::write(id, out);
        out.byte(
            kind.stored_number()
                | flag(*refused, REFUSED)
                | flag(normal != exact, NOISY)
                | flag(*name != last, RENAMED),
        );
        Fixed::write(exact, out);
        if normal != exact {
            Fixed::write(normal, out);
        }
        if *name != last {
            out.bytes(name.as_str().as_bytes());
        }
        last = *name;
    }
}

fn read(from: &mut Reader<'_>) -> Result<Vec<PendingCall>, Malformed> {
    let count = from.count()?;
    let mut list = Vec::with_capacity(count);
    let mut last = ShortName::new("");
    for _ in 0..count {
        let id = Fixed::read(from)?;
        let flags = from.byte()?;
        let exact = Fixed::read(from)?;
        let normal = if flags & NOISY == 0 {
            exact
        } else {
            Fixed::read(from)?
        };
        if flags & RENAMED != 0 {
            last = ShortName::new(from.text()?);
        }
        list.push(PendingCall {
            id,
            tried: Tried {
                exact,
                normal,
                kind: ToolKind::from_stored(flags & KIND)?,
                name: last,
            },
            refused: flags & REFUSED != 0,
        });
    }
    Ok(list)
}
