//! The left column of the figure: gets whole tables.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;

use super::{Params, hash_batch};
use crate::ot_extension::SenderTrees;
use crate::random_one_of_n_ot::offsets;
use crate::tasks::Tables;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(Tables);

impl Party for Sender {
    type Params = Params;
    type Input = ();
    type Output = Tables;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = Tables { width: params.width, tables: Vec::new() };
        if params.len > 0 {
            let mut trees = SenderTrees::setup(false, ch, rng)?;
            let offsets = offsets(Gf128(*trees.delta), params.width);
            // Not before: until here the peer has shown nothing.
            output.tables = vec![0; params.len];
            for (number, tables) in params.batches().enumerate() {
                let blocks = params.blocks(tables.len());
                let columns = trees.next_columns(blocks, ch)?;
                let _phase = ch.phase(Phase::Expand);
                hash_batch(params, &columns, (trees.binding, number), &mut output.tables[tables], |pi, b, tables| {
                    pi.mmo_tables(b, &offsets, tables);
                });
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Tables, Abort> {
        Ok(self.0)
    }
}
