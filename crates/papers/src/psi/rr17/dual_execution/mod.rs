//! `rr17-de`: transfers in both directions. The figure is in the [folder above](super).

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use vesica_mpc::code_oprf::{self, Bch};
use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use super::Params;
use super::salt::{Keys, toss_as_receiver, toss_as_sender};

/// The sender's set-up: the salt and the transfers of both directions.
pub(super) struct SenderReady {
    pub(super) keys: Keys,
    /// Of which the receiver chooses.
    pub(super) evaluated: code_oprf::Sender<Bch>,
    /// Of which the sender chooses.
    pub(super) chosen: code_oprf::Receiver<Bch>,
}

impl SenderReady {
    /// Arrows 1 to 3, and the set-up of the transfers.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            keys: toss_as_sender(params, ch, rng)?,
            evaluated: code_oprf::Sender::setup(&params.chosen_by_receiver, ch, rng)?,
            chosen: ch.reversed(|ch| code_oprf::Receiver::setup(&params.chosen_by_sender, ch, rng))?,
        })
    }
}

/// The receiver's set-up.
pub(super) struct ReceiverReady {
    pub(super) keys: Keys,
    /// Of which the receiver chooses.
    pub(super) chosen: code_oprf::Receiver<Bch>,
    /// Of which the sender chooses.
    pub(super) evaluated: code_oprf::Sender<Bch>,
}

impl ReceiverReady {
    /// Arrows 1 to 3, and the set-up of the transfers.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            keys: toss_as_receiver(params, ch, rng)?,
            chosen: code_oprf::Receiver::setup(&params.chosen_by_receiver, ch, rng)?,
            evaluated: ch.reversed(|ch| code_oprf::Sender::setup(&params.chosen_by_sender, ch, rng))?,
        })
    }
}
