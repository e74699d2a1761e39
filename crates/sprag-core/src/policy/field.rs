//! How a setting gets into the limits and out of them.
//!
//! The table of keys holds no types of its own: each field of [`Limits`](super::Limits) knows
//! which setting it is. A setting of another sort is left alone; the reader never makes one.

use std::sync::Arc;

use super::limit::Limit;
use super::limits::{Classifier, Scope};
use super::setting::Setting;
use crate::glob::Glob;
use crate::time::Millis;

/// A field of the limits that a key sets.
pub(super) trait PolicyField {
    /// Its value.
    fn load(&self) -> Setting;
    /// Takes a value.
    fn store(&mut self, setting: &Setting);
}

macro_rules! field {
    ($type:ty, $value:ident => $load:expr, $pattern:pat => $store:expr) => {
        impl PolicyField for $type {
            fn load(&self) -> Setting {
                let $value = self;
                $load
            }

            fn store(&mut self, setting: &Setting) {
                if let $pattern = setting {
                    *self = $store;
                }
            }
        }
    };
}

field!(Limit, value => Setting::Count(value.get()), Setting::Count(count) => Limit::of(*count));
field!(u32, value => Setting::Count(*value), Setting::Count(count) => *count);
field!(Millis, value => Setting::Span(*value), Setting::Span(span) => *span);
field!(bool, value => Setting::Flag(*value), Setting::Flag(flag) => *flag);
field!(Arc<[Glob]>, value => Setting::Globs(value.clone()), Setting::Globs(globs) => globs.clone());
field!(Arc<[Box<str>]>, value => Setting::Names(value.clone()), Setting::Names(names) => names.clone());
field!(Option<u64>, value => Setting::Amount(*value), Setting::Amount(amount) => *amount);
field!(
    Scope,
    value => Setting::Word(match value {
        Scope::Session => "session",
        Scope::Agent => "agent",
    }),
    Setting::Word(word) => if *word == "agent" { Scope::Agent } else { Scope::Session }
);
field!(
    Classifier,
    value => Setting::Word(match value {
        Classifier::Plain => "plain",
        Classifier::Informed => "informed",
    }),
    Setting::Word(word) => if *word == "plain" { Classifier::Plain } else { Classifier::Informed }
);
