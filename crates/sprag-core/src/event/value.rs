//! The raw values of an event's fields, read one by one as what its type wants them to be.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Payload;
use super::call::MAX_FOLDER_BYTES;
use super::error::EventError;
use super::field::{self, EventField};
use super::wire::RawFields;
use crate::digester::parse_text;
use crate::id::Id;
use crate::observation::{Identity, Via};
use crate::time::Timestamp;

/// The fields of one event, not yet read.
pub(super) struct FieldValues<'a> {
    text: &'a str,
    pub(super) raw: RawFields<'a>,
}

impl<'a> FieldValues<'a> {
    /// For the fields of `text`, none of which was found yet.
    pub(super) fn new(text: &'a str) -> Self {
        let raw = [None; EventField::COUNT];
        Self { text, raw }
    }

    /// The raw value of `field`; null is none.
    fn get(&self, field: EventField) -> Option<&'a RawValue> {
        self.raw
            .get(field as usize)
            .copied()
            .flatten()
            .filter(|raw| raw.get() != "null")
    }

    /// A string.
    pub(super) fn text(&self, field: EventField) -> Result<Option<Cow<'a, str>>, EventError> {
        let Some(raw) = self.get(field) else {
            return Ok(None);
        };
        // Most have no escapes: then a text is what stands between its quotes.
        let quoted = raw.get().strip_prefix('"');
        if let Some(text) = quoted.and_then(|rest| rest.strip_suffix('"'))
            && !text.as_bytes().contains(&b'\\')
        {
            return Ok(Some(Cow::Borrowed(text)));
        }
        match parse_text(raw.get()) {
            Ok(Some(text)) => Ok(Some(text)),
            _ => Err(self.ill_typed(field, raw, "a string")),
        }
    }

    /// An id.
    pub(super) fn id(&self, field: EventField) -> Result<Option<Id>, EventError> {
        self.text(field)?
            .map(|text| field::id(field.name(), &text))
            .transpose()
    }

    /// The path of a folder; one that is longer than any path is an error.
    pub(super) fn folder(&self, field: EventField) -> Result<Option<Box<str>>, EventError> {
        let Some(text) = self.text(field)?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        if text.len() > MAX_FOLDER_BYTES {
            return Err(EventError::Folder {
                field: field.name(),
                bytes: text.len(),
            });
        }
        Ok(Some(text.into()))
    }

    /// An id that `needed_by` can't do without.
    pub(super) fn required_id(
        &self,
        field: EventField,
        needed_by: &'static str,
    ) -> Result<Id, EventError> {
        self.id(field)?.ok_or(EventError::Missing {
            field: field.name(),
            needed_by,
        })
    }

    /// Any JSON.
    pub(super) fn payload(&self, field: EventField) -> Option<Payload> {
        self.get(field).map(Payload::from)
    }

    /// What serde makes of it, or the default if it is missing.
    pub(super) fn one_of<T: Deserialize<'a> + Default>(
        &self,
        field: EventField,
        expected: &'static str,
    ) -> Result<T, EventError> {
        self.read(field, expected).map(Option::unwrap_or_default)
    }

    /// True or false; false if it is missing.
    pub(super) fn flag(&self, field: EventField) -> Result<bool, EventError> {
        self.one_of(field, "true or false")
    }

    /// A count.
    pub(super) fn count(&self, field: EventField) -> Result<Option<u64>, EventError> {
        self.read(field, "a whole number from 0 up")
    }

    /// When it happened.
    pub(super) fn at(&self) -> Result<Option<Timestamp>, EventError> {
        self.read(EventField::At, "milliseconds since 1970 as a whole number")
    }

    /// The session's generation.
    pub(super) fn generation(&self) -> Result<Option<u32>, EventError> {
        self.read(
            EventField::Generation,
            "a whole number from 0 to 4294967295",
        )
    }

    /// How sure the session's identity is.
    pub(super) fn identity(&self) -> Result<Identity, EventError> {
        self.one_of(EventField::Identity, "\"exact\" or \"shared\"")
    }

    /// The kind of adapter.
    pub(super) fn via(&self) -> Result<Via, EventError> {
        self.one_of(EventField::Via, "\"api\", \"hook\", \"mcp\" or \"gateway\"")
    }

    /// Refuses an event that has both fields.
    pub(super) fn not_both(&self, field: EventField, other: EventField) -> Result<(), EventError> {
        if self.get(field).is_some() && self.get(other).is_some() {
            return Err(EventError::Both {
                field: field.name(),
                other: other.name(),
            });
        }
        Ok(())
    }

    fn read<T: Deserialize<'a>>(
        &self,
        field: EventField,
        expected: &'static str,
    ) -> Result<Option<T>, EventError> {
        self.get(field)
            .map(|raw| {
                serde_json::from_str(raw.get()).map_err(|_| self.ill_typed(field, raw, expected))
            })
            .transpose()
    }

    fn ill_typed(&self, field: EventField, raw: &RawValue, expected: &'static str) -> EventError {
        let at = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
        let before = self.text.get(..at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.get(line_start..).unwrap_or_default();
        EventError::IllTyped {
            field: field.name(),
            expected,
            found: describe(raw.get()),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

/// What a JSON text is: itself if it is short and simple, else its type.
fn describe(json: &str) -> Box<str> {
    match json.as_bytes().first() {
        Some(b'[') => "an array".into(),
        Some(b'{') => "an object".into(),
        _ if json.len() <= 40 => json.into(),
        Some(b'"') => "a long string".into(),
        _ => "a long number".into(),
    }
}
