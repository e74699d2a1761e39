//! A part of a cell that most sessions never use.
//!
//! A guard keeps a cell for every agent that ever ran, so what few of them need lies in a box, which is made when
//! the part is first changed. Until then it reads as new, and is written as a new one.

use std::ops::{Deref, DerefMut};

use super::approvals::Approvals;
use super::progress::{Advance, Grown, Wall};
use super::session::Refusals;
use super::spent::Spending;
use crate::encoding::{Encoding, Malformed, Reader, Writer};
use crate::id::Id;

/// A part with one value that reads as unused.
pub(crate) trait Unused: Default + PartialEq + 'static {
    /// The default, without the box.
    const UNUSED: &'static Self;
}

impl Unused for Approvals {
    const UNUSED: &'static Self = &Self {
        count: 0,
        list: Vec::new(),
    };
}

impl Unused for Refusals {
    const UNUSED: &'static Self = &Self {
        count: 0,
        counted_at: None,
        identical_at: None,
    };
}

impl Unused for Spending {
    const UNUSED: &'static Self = &Self::NOTHING;
}

impl Unused for Grown {
    const UNUSED: &'static Self = &Self::NEVER;
}

impl Unused for Vec<Id> {
    const UNUSED: &'static Self = &Self::new();
}

impl Unused for Vec<Advance> {
    const UNUSED: &'static Self = &Self::new();
}

impl Unused for Vec<Wall> {
    const UNUSED: &'static Self = &Self::new();
}

/// A `T` in a box, or none as long as it is as new. Taking it to change it makes the box.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rare<T>(Option<Box<T>>);

impl<T> Rare<T> {
    /// The value if there is one. Nothing has to be taken out of a new one.
    pub(crate) fn used(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl Rare<Refusals> {
    /// A call was let through, which ends the row.
    pub(crate) fn relent(&mut self) {
        if let Some(refusals) = self.used() {
            refusals.count = 0;
        }
    }
}

impl<T: Unused> From<T> for Rare<T> {
    fn from(value: T) -> Self {
        Self((value != *T::UNUSED).then(|| Box::new(value)))
    }
}

impl<T: Unused> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::UNUSED)
    }
}

impl<T: Unused> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Unused> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<'a, T: Unused, C: Encoding<'a, T>> Encoding<'a, Rare<T>> for Rare<C> {
    fn absent() -> Option<Rare<T>> {
        C::absent().map(Rare::from)
    }
    fn is_absent(value: &Rare<T>) -> bool {
        C::is_absent(value)
    }
    fn write(value: &Rare<T>, out: &mut Writer) {
        C::write(value, out);
    }
    fn read(from: &mut Reader<'a>) -> Result<Rare<T>, Malformed> {
        C::read(from).map(Rare::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_a_box_only_once_it_is_changed() {
        let mut refusals = Rare::<Refusals>::default();
        assert_eq!(*refusals, Refusals::default());
        assert!(refusals.used().is_none());
        refusals.count = 1;
        assert_eq!(refusals.used().map(|held| held.count), Some(1));
        refusals.count = 0;
        assert_eq!(refusals, Rare::default(), "it is as new again");
        assert!(Rare::from(Refusals::default()).used().is_none());
    }

    #[test]
    fn what_is_unused_is_the_default() {
        assert_eq!(*Approvals::UNUSED, Approvals::default());
        assert_eq!(*Refusals::UNUSED, Refusals::default());
        assert_eq!(*Spending::UNUSED, Spending::default());
        assert_eq!(*Grown::UNUSED, Grown::default());
    }
}
