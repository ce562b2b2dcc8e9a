//! One type an arrow of the figure.

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Stream, Writer};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "vole-psi", number, from, carries }
}

/// A message of `N` bytes.
macro_rules! bytes_message {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $step:expr) => {
        $(#[$doc])*
        pub(super) struct $name(pub(super) [u8; $bytes]);

        impl Message for $name {
            const STEP: Step = $step;
            type Shape = ();

            fn len((): &()) -> RangeInclusive<usize> {
                $bytes..=$bytes
            }

            fn write(&self, out: &mut Writer) {
                out.bytes(&self.0);
            }

            fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
                Ok(Self(bytes.array()?))
            }
        }
    };
}

bytes_message!(
    /// Arrow 1 (malicious): the commitment to the sender's share of the salt.
    SaltCommitment, 32, step(1, Role::Sender, "the commitment to a share of the salt")
);
bytes_message!(
    /// Arrow 2 (malicious): the receiver's share of the salt.
    SaltShare, 32, step(2, Role::Receiver, "a share of the salt")
);
bytes_message!(
    /// Arrow 3: the sender's share of the salt; in the malicious mode it opens arrow 1.
    SaltOpening, 32, step(3, Role::Sender, "the opened share of the salt")
);
bytes_message!(
    /// Arrow 4 (malicious): the commitment to `w_s`.
    OffsetCommitment, 32, step(4, Role::Sender, "the commitment to its offset")
);
bytes_message!(
    /// Arrow 6 (malicious): `w_r`.
    OffsetShare, 16, step(6, Role::Receiver, "its offset")
);
bytes_message!(
    /// Arrow 7 (malicious): `w_s` and the 32 bytes that its commitment hides it with.
    OffsetOpening, 48, step(7, Role::Sender, "the opened offset")
);

/// Arrow 5: the receiver's table under the VOLE's mask, `A = P + c`.
pub(super) enum Table {}

impl Stream for Table {
    const STEP: Step = step(5, Role::Receiver, "the masked table");
    type Element = u8;
}

/// Arrow 8: the sender's masks.
pub(super) enum Masks {}

impl Stream for Masks {
    const STEP: Step = step(8, Role::Sender, "the sender's masks");
    type Element = u8;
}

/// Arrow 9: the sender's payloads, encrypted.
pub(super) enum Payloads {}

impl Stream for Payloads {
    const STEP: Step = step(9, Role::Sender, "the encrypted payloads");
    type Element = u8;
}

/// Arrow 10: proofs of the matches.
pub(super) enum Proofs {}

impl Stream for Proofs {
    const STEP: Step = step(10, Role::Receiver, "the proofs of matches");
    type Element = u128;
}
