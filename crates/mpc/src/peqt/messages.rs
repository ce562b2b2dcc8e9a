//! The arrows of the equality test. All carry planes: words that hold a bit of 64 tests each.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

macro_rules! planes {
    ($(#[$doc:meta])+ $name:ident, $number:literal, $from:ident, $carries:literal) => {
        $(#[$doc])+
        #[derive(Debug)]
        pub struct $name(pub Vec<u64>);

        impl Message for $name {
            const STEP: Step = Step { protocol: "peqt", number: $number, from: Role::$from, carries: $carries };
            /// Words.
            type Shape = usize;

            fn len(words: &usize) -> RangeInclusive<usize> {
                let bytes = words.saturating_mul(8);
                bytes..=bytes
            }

            fn write(&self, out: &mut Writer) {
                out.elements(&self.0);
            }

            fn read(bytes: &mut Reader<'_>, words: usize) -> Result<Self, Malformed> {
                bytes.elements(words).map(Self)
            }
        }
    };
}

planes! {
    /// Arrow 1: the masked inputs of the first layer's chooser.
    FirstMasked, 1, Receiver, "masked inputs of the first layer"
}
planes! {
    /// Arrow 2: corrections of a layer that the sender owns, then its masked inputs of the next one, if there is one.
    FromSender, 2, Sender, "corrections of a layer, masked inputs of the next"
}
planes! {
    /// Arrow 3: the same for a layer that the receiver owns.
    FromReceiver, 3, Receiver, "corrections of a layer, masked inputs of the next"
}

vesica_party::messages![FirstMasked, FromSender, FromReceiver];
