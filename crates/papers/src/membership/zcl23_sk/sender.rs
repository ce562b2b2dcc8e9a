//! The left column of the figure.

use std::fmt;

use vesica_mpc::lowmc;
use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::okvs::{Band, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Salt, Table};
use super::{Params, store};
use vesica_protocols::ecdh::shuffled;

/// The sender, set up.
pub struct Sender {
    matching: lowmc::Params,
    store: Band,
}

impl Sender {
    /// Step 1.
    pub(super) fn setup(params: &Params, ch: &mut Channel) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        Ok(Self { matching: params.matching.clone(), store: store(params, ch, &salt)? })
    }

    /// Steps 3 to 5; which item each place holds.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let (order, items) = shuffled(items, rng);
        let ciphertexts = self.decode(&items, ch)?;
        drop(items);
        let _phase = ch.phase(Phase::Equality);
        lowmc::ask(&self.matching, &ciphertexts, ch, rng)?;
        Ok(order)
    }

    /// What the table holds at each item.
    pub(super) fn decode(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let phase = ch.phase(Phase::HashItems);
        let arranged = self.store.arrange(items);
        drop(phase);
        let _phase = ch.phase(Phase::Decode);
        let mut cells = vec![Gf128::default(); self.store.len()];
        // The last cells may come first.
        for part in self.store.parts() {
            let to = &mut cells[part];
            table::receive::<Table, Gf128>(to.len(), Gf128::BITS, ch, |place, values| {
                to[place].copy_from_slice(values);
            })?;
        }
        let mut decoded = Secret::new(vec![Gf128::default(); items.len()]);
        for part in 0..self.store.parts().len() {
            self.store.decode_part(&cells, &arranged, part, &mut decoded[arranged.part(part)]);
        }
        let mut ciphertexts = Secret::new(vec![0; items.len()]);
        for (decoded, &place) in decoded.iter().zip(arranged.places()) {
            ciphertexts[place as usize] = decoded.0;
        }
        Ok(ciphertexts)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender(..)")
    }
}
