//! Which base OT a run is built on: a choice of its row, which building blocks below the row follow.
//!
//! Rows are built from blocks that are built from blocks, of which only the lowest run base OTs. What a row has chosen
//! therefore travels with the run: the [`Channel`](crate::Channel) tells the lowest blocks, and
//! [`counted`](BaseOtChoice::counted) tells them while parameters are derived, which may hold numbers of bytes, and while
//! bytes are predicted.

use std::cell::Cell;

use crate::Entry;

/// Where the first OTs of a run come from, which all others are extended from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseOtChoice {
    /// From a Diffie-Hellman key agreement: Masny and Rindal (2019).
    #[default]
    Mr19,
    /// From the key encapsulation ML-KEM-768, by the construction of the same paper.
    MlKem,
}

thread_local! {
    static COUNTED: Cell<BaseOtChoice> = const { Cell::new(BaseOtChoice::Mr19) };
}

impl BaseOtChoice {
    /// The name of the choice in [`Entry::variants`].
    pub const CHOICE: &'static str = "base-ot";

    /// The name of the value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mr19 => "mr19",
            Self::MlKem => "ml-kem",
        }
    }

    /// What the row or variant that `entry` describes has chosen; `None` if it leaves no choice.
    pub fn of(entry: &Entry) -> Option<Self> {
        [Self::Mr19, Self::MlKem].into_iter().find(|value| value.name() == entry.chosen(Self::CHOICE))
    }

    /// With which one bytes are counted at present.
    pub fn counted() -> Self {
        COUNTED.get()
    }

    /// Counts with this one: on this thread, until `count` returns.
    pub fn counted_by<T>(self, count: impl FnOnce() -> T) -> T {
        /// Sets the former one again, also when `count` panics.
        struct Former(BaseOtChoice);

        impl Drop for Former {
            fn drop(&mut self) {
                COUNTED.set(self.0);
            }
        }

        let _former = Former(COUNTED.replace(self));
        count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_with_the_innermost_one_and_only_while_it_lasts() {
        let seen = BaseOtChoice::MlKem.counted_by(|| {
            [BaseOtChoice::counted(), BaseOtChoice::Mr19.counted_by(BaseOtChoice::counted), BaseOtChoice::counted()]
        });
        assert_eq!(seen, [BaseOtChoice::MlKem, BaseOtChoice::Mr19, BaseOtChoice::MlKem]);
        let panicked = std::panic::catch_unwind(|| BaseOtChoice::MlKem.counted_by(|| panic!("for the test")));
        assert!(panicked.is_err() && BaseOtChoice::counted() == BaseOtChoice::Mr19);
    }
}
