//! Steps 1 and 2: the OPRF before the hashing, from VOLE or from the columns of CM20. What the receiver sends in step 2
//! travels on a fork: the trees of circuit PSI's VOLE wait for their reader on the channel itself.

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Entry};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::psi::cm20;
use vesica_protocols::union::oprf as vole;

/// The name of the choice.
pub(super) const CHOICE: &str = "oprf";

/// The label of the fork of CM20's columns; the table of the other has its own.
const FORK: &str = "cssw25 columns";

/// The numbers of the OPRF that a row or variant has.
#[derive(Clone, Debug)]
pub(super) enum Params {
    Vole(vole::Params),
    Columns(cm20::oprf::Params),
}

impl Params {
    /// The parameters with which the OPRF fails with probability `2^-bits` at most.
    pub(super) fn derive(
        sender_items: usize,
        receiver_items: usize,
        bits: u32,
        entry: &Entry,
    ) -> Result<Self, Unsupported> {
        Ok(match entry.chosen(CHOICE) {
            // The receiver lacks too few bits of a new item's row; nothing else fails.
            "cm20" => Self::Columns(cm20::oprf::Params::derive(sender_items, receiver_items, bits)?),
            // Its value at a new item is the receiver's with half of what may fail, and its table cannot be encoded
            // with the other half.
            _ => Self::Vole(vole::Params::derive(sender_items, receiver_items, bits + 1, bits + 1)?),
        })
    }

    /// Bytes of all messages.
    pub(super) fn predicted_bytes(&self) -> RangeInclusive<u64> {
        match self {
            Self::Vole(params) => params.predicted_bytes()..=params.predicted_bytes(),
            Self::Columns(params) => params.columns.predicted_bytes(),
        }
    }
}

/// The sender's half: the key.
pub(super) enum Sender {
    Vole(vole::Sender),
    Columns(cm20::oprf::Sender),
}

impl Sender {
    /// Step 1, and what the function is made from.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(match params {
            Params::Vole(params) => Self::Vole(vole::Sender::setup(params, ch, rng)?),
            Params::Columns(params) => Self::Columns(cm20::oprf::Sender::setup(params, ch, rng)?),
        })
    }

    /// Step 2: the function at the sender's items.
    pub(super) fn evaluate(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        match self {
            Self::Vole(oprf) => oprf.evaluate(items, ch),
            Self::Columns(oprf) => oprf.evaluate(items, &mut ch.fork(FORK)?),
        }
    }
}

/// The receiver's half.
pub(super) enum Receiver {
    Vole(vole::Receiver),
    Columns(cm20::oprf::Receiver),
}

impl Receiver {
    /// Step 1, and what the function is made from.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(match params {
            Params::Vole(params) => Self::Vole(vole::Receiver::setup(params, ch, rng)?),
            Params::Columns(params) => Self::Columns(cm20::oprf::Receiver::setup(params, ch, rng)?),
        })
    }

    /// Step 2: the function at the receiver's items.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        match self {
            Self::Vole(oprf) => oprf.ask(items, ch),
            Self::Columns(oprf) => oprf.ask(items, &mut ch.fork(FORK)?),
        }
    }
}
