//! Bodies that can't be judged. A server may decompress one, or take it for another charset; a guard that reads plain
//! UTF-8 does none of that.

use hyper::header::{self, HeaderMap};

/// Why a body under these headers may be read otherwise than as plain UTF-8, if it may.
#[must_use]
pub fn unreadable(headers: &HeaderMap) -> Option<String> {
    if let Some(encoding) = encoding(headers) {
        let why = "can't be judged; send it without Content-Encoding";
        return Some(format!("a body in {encoding:?} {why}"));
    }
    if headers.get_all(header::CONTENT_TYPE).iter().count() > 1 {
        return Some("a body of two types can't be judged; send one Content-Type".to_owned());
    }
    let charset = charset(headers)?;
    Some(format!(
        "a body in {charset:?} can't be judged; send it in UTF-8"
    ))
}

fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let other = words.find(|word| {
        let word = word.trim_ascii();
        !word.is_empty() && !word.eq_ignore_ascii_case(b"identity")
    })?;
    Some(String::from_utf8_lossy(other.trim_ascii()).into_owned())
}

/// The charset of the body, if it is not one that reads ASCII and UTF-8 as they are. Every parameter that any server
/// takes for it counts: `charset = x`, `charset*=x`.
fn charset(headers: &HeaderMap) -> Option<String> {
    let told = headers.get(header::CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(told.as_bytes()).to_ascii_lowercase();
    let mut parameters = text.split([';', ',']).skip(1).map(str::trim);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let is_plain = name == "charset" && ["utf-8", "utf8", "us-ascii", "ascii"].contains(&value);
        (name.contains("charset") && !is_plain).then(|| value.to_owned())
    })
}
