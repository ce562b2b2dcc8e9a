//! The left column of the figure: the side that has the bits.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::permutation::Runs;
use vesica_structures::rng::SecretRng;

use super::Params;
use super::words::Words;
use crate::permute_share::messages::{Corrections, Flips, Masked};
use crate::random_one_of_n_ot::each_batch_of_tables;
use crate::tasks::{BitsToPermute, Tables};

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// `k_0` of each switch.
    zero: Words,
    /// `k_0 + k_1`.
    both: Words,
}

/// `k_0` of a table, in the lowest bit.
fn zero(table: u16) -> u64 {
    table.into()
}

/// `k_0 + k_1` of a table, in the lowest bit.
fn both(table: u16) -> u64 {
    (table ^ table >> 1).into()
}

impl Sender {
    /// The sender, set up with random tables that exist already, one a switch.
    ///
    /// # Errors
    /// If there are more or fewer, or if their choices are wider than a bit.
    pub fn from_tables(params: &Params, tables: &Tables) -> Result<Self, Unsupported> {
        params.check_tables(tables.tables.len(), tables.width)?;
        let [zero, both] = [zero, both].map(|of| Words::from_lowest(&tables.tables, of));
        Ok(Self { params: *params, zero, both })
    }

    #[cfg(test)]
    pub(super) fn pads(&self) -> [crate::bits::Bits; 2] {
        [&self.zero, &self.both].map(|bits| bits.first(self.params.switches()))
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = BitsToPermute;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let switches = params.switches();
        let mut pads = Self { params: *params, zero: Words::zeros(switches), both: Words::zeros(switches) };
        each_batch_of_tables(&params.tables, ch, rng, |first, tables| {
            pads.zero.fill(first, tables, zero);
            pads.both.fill(first, tables, both);
        })?;
        Ok(pads)
    }

    fn run(self, input: BitsToPermute, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, zero, both } = self;
        input.check(params.len, params.kept)?;
        let _phase = ch.phase(Phase::Permute);
        let switches = params.switches();

        // Step 1.
        let flips = Words::receive::<Flips>(switches, ch)?;

        // Step 2.
        let mut wires = Words::of(&input.values);
        let mut corrections = Words::zeros(switches);
        let (mut runs, mut at) = (Runs::of(params.network, params.len), 0);
        while let Some(run) = runs.next_up_to(64) {
            let used = u64::MAX >> (64 - run.len);
            let both = both.word_at(at);
            let sum = wires.word_at(run.upper) ^ wires.word_at(run.lower);
            corrections.add(at, (sum ^ both) & used);
            let pad = (zero.word_at(at) ^ both & flips.word_at(at)) & used;
            wires.add(run.upper, pad);
            wires.add(run.lower, pad);
            at += run.len;
        }
        corrections.send::<Corrections>(switches, ch)?;

        // Step 3.
        wires.add_all(&input.shares);
        wires.send::<Masked>(params.kept, ch)
    }
}
