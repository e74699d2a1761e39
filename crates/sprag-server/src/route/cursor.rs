//! Where a listing goes on, as text: what the last one was sorted by, and its id.
//!
//! It is opaque to clients and safe in an address as it is: hexadecimal digits.

use sprag::{Id, SessionSort};
use sprag_store::{SessionCursor, SortValue};

use crate::param::bad;
use crate::problem::Problem;

/// The text of a cursor.
pub(super) fn write(cursor: &SessionCursor) -> String {
    let value = match &cursor.value {
        SortValue::Number(number) => number.to_string(),
        SortValue::Name(name) => name.as_ref().map(Id::to_string).unwrap_or_default(),
    };
    let text = format!("{value}\n{}", cursor.id);
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The cursor in `text`, for a listing sorted by `sort`.
pub(super) fn read(text: &str, sort: SessionSort) -> Result<SessionCursor, Problem> {
    parse(text, sort).ok_or_else(|| bad("after", "it is not the `next` of a page in this order"))
}

fn parse(text: &str, sort: SessionSort) -> Option<SessionCursor> {
    let digits: Vec<u8> = text
        .bytes()
        .map(|digit| {
            char::from(digit)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| high * 16 + low).collect();
    let text = String::from_utf8(bytes).ok().filter(|_| rest.is_empty())?;
    let (value, id) = text.split_once('\n')?;
    let value = match sort {
        SessionSort::Id | SessionSort::Agent if value.is_empty() => SortValue::Name(None),
        SessionSort::Id | SessionSort::Agent => SortValue::Name(Some(Id::new(value).ok()?)),
        _ => SortValue::Number(value.parse().ok()?),
    };
    Some(SessionCursor {
        value,
        id: Id::new(id).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        let id = Id::new("s/ü 1").unwrap();
        for (sort, value) in [
            (SessionSort::Touched, SortValue::Number(7)),
            (SessionSort::Agent, SortValue::Name(None)),
            (SessionSort::Id, SortValue::Name(Some(id.clone()))),
        ] {
            let cursor = SessionCursor {
                value,
                id: id.clone(),
            };
            assert_eq!(read(&write(&cursor), sort).unwrap(), cursor);
        }
    }

    #[test]
    fn what_is_no_cursor_is_told() {
        for text in ["", "0", "zz", "ff", "370a", "é"] {
            assert!(read(text, SessionSort::Touched).is_err(), "{text}");
        }
    }
}
