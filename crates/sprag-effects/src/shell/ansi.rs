//! `$'…'`: text with the escapes of C.

use super::NotParsed;
use super::cursor::Cursor;

/// The text up to the closing quote, which is gone past.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<String, NotParsed> {
    let mut text = String::new();
    loop {
        match cursor.next_char().ok_or(NotParsed)? {
            '\'' => return Ok(text),
            '\\' => text.push(escape(cursor)?),
            other => text.push(other),
        }
    }
}

fn escape(cursor: &mut Cursor<'_>) -> Result<char, NotParsed> {
    Ok(match cursor.next_char().ok_or(NotParsed)? {
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        same @ ('\\' | '\'' | '"' | '?') => same,
        'x' => number(cursor, 2, 16, 0)?,
        'u' => number(cursor, 4, 16, 0)?,
        'U' => number(cursor, 8, 16, 0)?,
        digit @ '0'..='7' => number(cursor, 2, 8, digit.to_digit(8).unwrap_or(0))?,
        // Unknown escapes and control characters: no one needs them to destroy something.
        _ => return Err(NotParsed),
    })
}

/// At most `most` digits; a character beyond ASCII by its bytes is not read.
fn number(cursor: &mut Cursor<'_>, most: usize, radix: u32, first: u32) -> Result<char, NotParsed> {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = char::from(cursor.byte(0)).to_digit(radix) else {
            break;
        };
        value = value * radix + digit;
        cursor.skip(1);
    }
    let wide = most > 2 || radix == 8;
    match char::from_u32(value) {
        Some('\0') | None => Err(NotParsed),
        Some(found) if found.is_ascii() || wide && radix == 16 => Ok(found),
        Some(_) => Err(NotParsed),
    }
}
