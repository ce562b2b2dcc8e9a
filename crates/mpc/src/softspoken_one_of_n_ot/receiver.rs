//! The right column of the figure: gets one entry of each table.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::{Params, hash_batch};
use crate::ot_extension::{ReceiverTrees, narrow_digits};
use crate::random_one_of_n_ot::{add_choices, look_up};
use crate::tasks::Lookups;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(Lookups);

impl Party for Receiver {
    type Params = Params;
    type Input = ();
    type Output = Lookups;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = Lookups { width: params.width, entries: Vec::new() };
        if params.len > 0 {
            let mut trees = ReceiverTrees::setup(false, ch, rng)?;
            // Not before: until here the peer has shown nothing.
            output.entries = vec![0; params.len];
            for (number, entries) in params.batches().enumerate() {
                let blocks = params.blocks(entries.len());
                let (bits, columns) = trees.next_columns(blocks, ch)?;
                let _phase = ch.phase(Phase::Expand);
                let entries = &mut output.entries[entries];
                hash_batch(params, &columns, (trees.binding, number), entries, look_up);
                add_choices(entries, &narrow_digits(&bits, params.width));
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Lookups, Abort> {
        Ok(self.0)
    }
}
