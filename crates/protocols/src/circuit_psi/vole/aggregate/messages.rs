//! The message that opens the results.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

/// Arrow 9: the sender's shares of the results.
pub(super) struct Opened(pub(super) Vec<u64>);

impl Message for Opened {
    const STEP: Step =
        Step { protocol: "circuit-psi", number: 9, from: Role::Sender, carries: "its shares of the results" };
    /// The number of elements.
    type Shape = usize;

    fn len(results: &usize) -> RangeInclusive<usize> {
        8 * results..=8 * results
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, results: usize) -> Result<Self, Malformed> {
        bytes.elements(results).map(Self)
    }
}

vesica_party::messages![Opened];
