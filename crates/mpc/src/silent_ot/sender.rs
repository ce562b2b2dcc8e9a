//! The left column of the figure: gets both blocks of each pair.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::silent::bulk;
use crate::tasks::OtPairs;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(OtPairs);

impl Party for Sender {
    type Params = bulk::Params;
    type Input = ();
    type Output = OtPairs;

    fn setup(params: &bulk::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = OtPairs { pairs: Vec::new() };
        if params.len > 0 {
            let mut vole = bulk::Sender::setup(params, ch, rng)?;
            // Not before: until here the peer has shown nothing.
            output.pairs = vec![[0; 2]; params.len];
            let delta = Secret::new(vole.delta().0);
            for pairs in output.pairs.chunks_mut(params.batch_len()) {
                vole.next_batch(pairs, ch, |pi, b, pairs| {
                    pairs.iter_mut().zip(b).for_each(|(pair, &b)| *pair = [b, b ^ *delta]);
                    pi.mmo_in_place(pairs.as_flattened_mut());
                })?;
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtPairs, Abort> {
        Ok(self.0)
    }
}
