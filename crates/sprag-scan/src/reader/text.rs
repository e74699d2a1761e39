//! Texts inside of pieces.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript_item::ResultBody;

/// A text, borrowed where it stands there without escapes.
#[derive(Debug, Deserialize)]
pub(super) struct JsonText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The text of a JSON string.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<JsonText<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}

/// Arguments are often JSON inside of a string; what is not (a patch) stays a string.
pub(super) fn unpacked(raw: &RawValue) -> Cow<'_, RawValue> {
    let inner = string(raw).and_then(|text| RawValue::from_string(text.into_owned()).ok());
    inner.map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// What a model reads of a content that is a text or a list of blocks, `[{"type":"text","text":"…"}]`.
pub(super) fn answer(raw: &RawValue) -> ResultBody<'_> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    if !raw.get().starts_with('[') {
        return ResultBody::Raw(raw);
    }
    match serde_json::from_str::<Vec<Block<'_>>>(raw.get()) {
        Ok(blocks) => {
            let texts: Vec<&str> = blocks.iter().map(|block| &*block.text).collect();
            ResultBody::Text(texts.join("\n").into())
        }
        Err(_) => ResultBody::Raw(raw),
    }
}
