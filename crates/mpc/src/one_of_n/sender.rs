//! The left column: whole tables.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use crate::binding::Binding;
use crate::ot_extension::CorrelationHash;
use crate::silent;
use crate::tasks::Tables;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(Tables);

impl Party for Sender {
    type Params = Params;
    type Input = ();
    type Output = Tables;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let vole = silent::Sender::<Gf64>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        let hash = CorrelationHash::new(Binding::new(ch, "one-of-n"));
        let mut tables = vec![0u16; params.len];
        for j in 0..1u128 << params.width {
            let offset = vole.delta * Gf128(j);
            let shifted = Secret::new(vole.b.iter().map(|&b| (b + offset).0).collect::<Vec<u128>>());
            for (table, hashed) in tables.iter_mut().zip(Secret::new(hash.hash(&shifted)).iter()) {
                *table |= ((hashed & 1) as u16) << j;
            }
        }
        Ok(Self(Tables { width: params.width, tables }))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Tables, Abort> {
        Ok(self.0)
    }
}
