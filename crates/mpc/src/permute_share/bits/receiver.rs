//! The right column of the figure: the side that has the order.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::Runs;
use vesica_structures::rng::SecretRng;

use super::Params;
use super::words::Words;
use crate::bits::Bits;
use crate::permute_share::messages::{Corrections, Flips, Masked};
use crate::permute_share::settings;
use crate::random_one_of_n_ot::each_batch_of_entries;
use crate::tasks::Lookups;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// `c` of each switch.
    choices: Words,
    /// `k_c`.
    pads: Words,
}

/// The receiver with an order.
pub struct Routed {
    receiver: Receiver,
    /// `s` of each switch.
    settings: Words,
}

/// The choice of an entry, in the lowest bit.
fn choice(entry: u8) -> u64 {
    entry.into()
}

/// The table's bit in an entry, in the lowest bit.
fn pad(entry: u8) -> u64 {
    (entry >> 7).into()
}

impl Receiver {
    /// The receiver, set up with look-ups in random tables that exist already, one a switch.
    ///
    /// # Errors
    /// If there are more or fewer, or if their choices are wider than a bit.
    pub fn from_lookups(params: &Params, lookups: &Lookups) -> Result<Self, Unsupported> {
        params.check_tables(lookups.entries.len(), lookups.width)?;
        let [choices, pads] = [choice, pad].map(|of| Words::from_lowest(&lookups.entries, of));
        Ok(Self { params: *params, choices, pads })
    }

    #[cfg(test)]
    pub(super) fn pads(&self) -> [Bits; 2] {
        [&self.choices, &self.pads].map(|bits| bits.first(self.params.switches()))
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u32>;
    type Output = Bits;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let switches = params.switches();
        let mut pads = Self { params: *params, choices: Words::zeros(switches), pads: Words::zeros(switches) };
        each_batch_of_entries(&params.tables, ch, rng, |first, entries| {
            pads.choices.fill(first, entries, choice);
            pads.pads.fill(first, entries, pad);
        })?;
        Ok(pads)
    }

    fn run(self, order: Vec<u32>, ch: &mut Channel, _: &mut SecretRng) -> Result<Bits, Abort> {
        let phase = ch.phase(Phase::Permute);
        let routed = self.route(order)?;
        drop(phase);
        routed.permute(ch)
    }
}

impl Receiver {
    /// The part of a run that needs no message, and takes most of its time: finds the settings of the
    /// network for `order`.
    ///
    /// # Errors
    /// If the order does not name each bit once.
    pub fn route(self, order: Vec<u32>) -> Result<Routed, Unsupported> {
        let Params { network, len, .. } = self.params;
        let settings = Words::from_lowest(&settings(network, order, len)?, u64::from);
        Ok(Routed { receiver: self, settings })
    }
}

impl Routed {
    /// The rest of a run.
    ///
    /// # Errors
    /// If the channel fails.
    pub fn permute(self, ch: &mut Channel) -> Result<Bits, Abort> {
        let Self { receiver: Receiver { params, choices: mut flips, pads }, settings } = self;
        let _phase = ch.phase(Phase::Permute);

        // Step 1.
        let switches = params.switches();
        flips.add_all(&settings.first(switches));
        flips.send::<Flips>(switches, ch)?;

        // Step 2.
        let corrections = Words::receive::<Corrections>(switches, ch)?;
        let mut wires = Words::zeros(params.len);
        let (mut runs, mut at) = (Runs::of(params.network, params.len), 0);
        while let Some(run) = runs.next_up_to(64) {
            let used = u64::MAX >> (64 - run.len);
            let sum = corrections.word_at(at) ^ wires.word_at(run.upper) ^ wires.word_at(run.lower);
            let added = (pads.word_at(at) ^ sum & settings.word_at(at)) & used;
            wires.add(run.upper, added);
            wires.add(run.lower, added);
            at += run.len;
        }

        // Step 3.
        let masked = Words::receive::<Masked>(params.kept, ch)?;
        wires.add_all(&masked.first(params.kept));
        Ok(wires.first(params.kept))
    }
}
