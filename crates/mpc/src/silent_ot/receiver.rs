//! The right column of the figure: gets one block of each pair.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;

use crate::silent::bulk;
use crate::tasks::OtChosen;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(OtChosen);

impl Party for Receiver {
    type Params = bulk::Params;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &bulk::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = OtChosen { choices: Vec::new(), chosen: Vec::new() };
        if params.len > 0 {
            let mut vole = bulk::Receiver::setup(params, ch, rng)?;
            // Not before: until here the peer has shown nothing.
            output = OtChosen { choices: Vec::with_capacity(params.len), chosen: vec![0; params.len] };
            for chosen in output.chosen.chunks_mut(params.batch_len()) {
                let c = vole.next_batch(chosen, ch, |pi, a, chosen| pi.mmo(a, chosen))?;
                output.choices.extend(c.iter().map(|&c| c == 1));
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(self.0)
    }
}
