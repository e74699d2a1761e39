//! What differs from run to run, out of the way: times and hashes.

/// `text` with dates, times that something took, milliseconds since 1970 and long hexadecimal numbers
/// masked.
pub(crate) fn mask(text: &str) -> String {
    let parts: Vec<String> = masked(&without_short_digests(text))
        .split(" in ")
        .map(without_seconds)
        .collect();
    parts.join(" in ")
}

/// `"argument":1234`: a digest that is written as a number.
fn without_short_digests(text: &str) -> String {
    let keys = ["\"argument\":", "\"form\":", "\"thing\":"];
    keys.iter().fold(text.to_owned(), |text, key| {
        without_numbers_after(key, &text)
    })
}

fn without_numbers_after(key: &str, text: &str) -> String {
    let mut pieces = text.split(key);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(key);
        out.push_str(if rest.len() < piece.len() {
            "<number>"
        } else {
            ""
        });
        out.push_str(rest);
    }
    out
}

/// `12s and more`: how long it took depends on the machine.
fn without_seconds(part: &str) -> String {
    let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < part.len() && rest.starts_with('s') {
        return format!("<n>{rest}");
    }
    part.to_owned()
}

fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, name) = date(rest).or_else(|| number(rest)).unwrap_or((0, ""));
        // A whole word at once, so that the tail of a longer one is no number of its own.
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let word = word.unwrap_or(rest.len()).max(first.len_utf8());
        let taken = if length == 0 { word } else { length };
        let (before, after) = rest.split_at(taken);
        out.push_str(if length == 0 { before } else { name });
        rest = after;
    }
    out
}

/// `2026-02-03 04:05:06`, or with a `T`, milliseconds and a `Z`.
fn date(text: &str) -> Option<(usize, &'static str)> {
    let shape = "dddd-dd-dd?dd:dd:dd";
    let found = text.get(..shape.len())?;
    let fits = shape
        .chars()
        .zip(found.chars())
        .all(|(wanted, c)| match wanted {
            'd' => c.is_ascii_digit(),
            '?' => c == ' ' || c == 'T',
            other => c == other,
        });
    let more = text.get(shape.len()..).unwrap_or_default();
    let millis = if more.starts_with('.') { 5 } else { 0 };
    fits.then_some((shape.len() + millis, "<time>"))
}

fn number(text: &str) -> Option<(usize, &'static str)> {
    let length = text
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    let (word, _) = text.split_at(length);
    let digits = word.chars().all(|c| c.is_ascii_digit());
    let hex = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    match length {
        13 if digits => Some((length, "<ms>")),
        16 | 32 | 64 if hex => Some((length, "<hex>")),
        _ => None,
    }
}
