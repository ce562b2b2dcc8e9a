//! The right column: one place of each table.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::fields::Gf64;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use crate::binding::Binding;
use crate::ot_extension::CorrelationHash;
use crate::silent;
use crate::tasks::Lookups;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(Lookups);

impl Party for Receiver {
    type Params = Params;
    type Input = ();
    type Output = Lookups;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let vole = silent::Receiver::<Gf64>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        let hash = CorrelationHash::new(Binding::new(ch, "one-of-n"));
        let hashed = Secret::new(hash.hash(bytemuck::cast_slice(&vole.a)));
        let entries = vole.c.iter().zip(hashed.iter()).map(|(c, hashed)| c.0 as u8 | ((hashed & 1) as u8) << 7).collect();
        Ok(Self(Lookups { width: params.width, entries }))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Lookups, Abort> {
        Ok(self.0)
    }
}
