//! A table of field names: names are most of a small cell's bytes, and Redis keeps all of them in
//! memory.
//!
//! A cell other than a session is MessagePack with field names. Names in the table are replaced by
//! their number, one byte. Unknown names stay as they are, so a cell of a build with more fields can
//! still be read. New names are only added at the end of the table.

/// The first byte of a cell with numbers for names.
const SHORT: u8 = 2;
/// The first byte of a cell with its names.
const NAMED: u8 = 1;

/// At most 128: a number must fit into one byte of MessagePack, as a positive integer.
const NAMES: &[&str] = &[
    "touched",
    "started",
    "chain_since",
    "last_attempt",
    "members",
    "calls",
    "total",
    "spent",
    "id",
    "parent",
    "last",
    "counted",
    "revisits",
    "tokens",
    "cost_micros",
    "warned",
    "steps",
    "talk",
    "there",
    "back",
    "content",
    "flow",
    "count",
    "answers",
    "arrived",
    "messages",
    "destructive",
    "window",
    "targets",
    "day_since",
    "session",
    "call",
    "step",
    "verdict",
    "rule",
    "code",
    "message",
    "evidence",
    "hint",
    "also",
    "would",
    "depth",
    "generation",
    "retry_after_ms",
];

/// The cell with numbers for names; unchanged if that is not possible.
pub(super) fn shorten(named: Vec<u8>) -> Vec<u8> {
    let Some((&NAMED, mut rest)) = named.split_first() else {
        return named;
    };
    let mut short = Vec::with_capacity(named.len());
    short.push(SHORT);
    match copy(&mut rest, &mut short, short_key) {
        Some(()) => short,
        None => named,
    }
}

/// The cell with its names; none if the bytes are damaged.
pub(super) fn expand(bytes: &[u8]) -> Option<Vec<u8>> {
    let (first, mut rest) = bytes.split_first()?;
    if *first != SHORT {
        return Some(bytes.to_vec());
    }
    let mut named = Vec::with_capacity(bytes.len() * 3);
    named.push(NAMED);
    copy(&mut rest, &mut named, long_key)?;
    rest.is_empty().then_some(named)
}

type Key = fn(&mut &[u8], &mut Vec<u8>) -> Option<()>;

fn short_key(from: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = *from;
    let mut whole = Vec::new();
    copy(from, &mut whole, short_key)?;
    let (tag, name) = start.split_first()?;
    // This map has numbers as keys. Expanding would take them for names, so leave the cell as it is.
    if *tag <= 0x7f {
        return None;
    }
    let length = usize::from(*tag & 0x1f);
    let name = (*tag & 0xe0 == 0xa0).then(|| name.get(..length)).flatten();
    let number = name.and_then(|name| NAMES.iter().position(|known| known.as_bytes() == name));
    match number.and_then(|number| u8::try_from(number).ok()) {
        Some(number) => out.push(number),
        None => out.extend(whole),
    }
    Some(())
}

fn long_key(from: &mut &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (tag, rest) = from.split_first()?;
    if *tag > 0x7f {
        return copy(from, out, long_key);
    }
    let name = NAMES.get(usize::from(*tag))?;
    out.push(0xa0 | u8::try_from(name.len()).ok()?);
    out.extend(name.as_bytes());
    *from = rest;
    Some(())
}

/// Copies one MessagePack value; `key` copies the keys of maps.
fn copy(from: &mut &[u8], out: &mut Vec<u8>, key: Key) -> Option<()> {
    let tag = *from.first()?;
    let sized = |bytes: usize| {
        let number = from.get(1..1 + bytes)?;
        let number = number
            .iter()
            .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        Some((1 + bytes, number))
    };
    let low = |mask: u8| Some((1, usize::from(tag & mask)));
    let (head, items, per_item) = match tag {
        0x80..=0x8f => with(low(0x0f)?, 2),
        0xde => with(sized(2)?, 2),
        0xdf => with(sized(4)?, 2),
        0x90..=0x9f => with(low(0x0f)?, 1),
        0xdc => with(sized(2)?, 1),
        0xdd => with(sized(4)?, 1),
        _ => {
            let length = match tag {
                0xa0..=0xbf => 1 + usize::from(tag & 0x1f),
                0xc4 | 0xd9 => sized(1).map(|(head, length)| head + length)?,
                0xc5 | 0xda => sized(2).map(|(head, length)| head + length)?,
                0xc6 | 0xdb => sized(4).map(|(head, length)| head + length)?,
                0xcc | 0xd0 => 2,
                0xcd | 0xd1 => 3,
                0xca | 0xce | 0xd2 => 5,
                0xcb | 0xcf | 0xd3 => 9,
                0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => 1,
                _ => return None,
            };
            return take(from, out, length);
        }
    };
    take(from, out, head)?;
    for _ in 0..items {
        if per_item == 2 {
            key(from, out)?;
        }
        copy(from, out, key)?;
    }
    Some(())
}

const fn with((head, items): (usize, usize), per_item: u8) -> (usize, usize, u8) {
    (head, items, per_item)
}

fn take(from: &mut &[u8], out: &mut Vec<u8>, length: usize) -> Option<()> {
    let (taken, rest) = from.split_at_checked(length)?;
    out.extend(taken);
    *from = rest;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag_core::FlowCell;

    fn named(cell: &impl serde::Serialize) -> Vec<u8> {
        let mut bytes = vec![NAMED];
        rmp_serde::encode::write_named(&mut bytes, cell).unwrap();
        bytes
    }

    #[test]
    fn a_young_flow_is_twice_as_small_and_comes_back_the_same() {
        let bytes = named(&FlowCell::default());
        let short = shorten(bytes.clone());
        assert!(
            short.len() * 2 < bytes.len(),
            "{} of {}",
            short.len(),
            bytes.len()
        );
        assert_eq!(expand(&short).unwrap(), bytes);
    }

    #[test]
    fn unknown_names_stay_and_numbers_as_names_are_left_alone() {
        let value =
            serde_json::json!({"touched": [1, {"stranger": -5, "by": "x".repeat(300)}], "at": 1.5});
        let bytes = named(&value);
        assert_eq!(expand(&shorten(bytes.clone())).unwrap(), bytes);
        let numbered = named(&std::collections::BTreeMap::from([(7_u8, "seven")]));
        assert_eq!(shorten(numbered.clone()), numbered);
        assert_eq!(expand(&numbered).unwrap(), numbered);
    }

    #[test]
    fn damaged_bytes_are_told_from_whole_ones() {
        let short = shorten(named(&FlowCell::default()));
        for cut in 1..short.len() {
            assert_eq!(expand(&short[..cut]), None);
        }
    }
}
