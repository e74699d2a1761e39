//! Why a session is blocked or killed.

use super::bytes::{Reader, Writer};
use crate::cell::Mark;
use crate::time::Timestamp;

impl Mark {
    pub(super) fn write(&self, out: &mut Writer<'_>, touched: Timestamp) {
        let Self { at, rule, why, by } = self;
        out.time(touched, *at);
        out.text(rule.map_or("", |rule| rule.as_str()));
        out.text(why);
        if let Some(by) = by {
            out.text(by);
        }
    }

    pub(super) fn read(from: &mut Reader<'_>, touched: Timestamp) -> Option<Self> {
        Some(Self {
            at: from.time(touched)?,
            // The mark of a rule that this build doesn't know is a mark all the same.
            rule: from.text()?.parse().ok(),
            why: from.text()?.to_owned(),
            by: if from.is_empty() {
                None
            } else {
                Some(from.text()?.into())
            },
        })
    }
}
