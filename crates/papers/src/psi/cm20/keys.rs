//! The functions of items, all keyed by `k`.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::hashed_columns::Places;
use vesica_structures::rng::SecretRng;

use super::messages::Key;
use super::{Params, columns};
use vesica_protocols::psi::row_outputs::{Collected, OutputKeys, Tags};

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"CM20    payloads";

/// The receiver's side of arrow 1.
pub(super) fn send(ch: &mut Channel, rng: &mut SecretRng) -> Result<[u8; 32], Abort> {
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    ch.send(&Key(key))?;
    Ok(key)
}

/// The sender's.
pub(super) fn receive(ch: &mut Channel) -> Result<[u8; 32], Abort> {
    let Key(key) = ch.recv(())?;
    Ok(key)
}

/// The public functions of rows.
#[derive(Debug)]
pub(super) struct Keys(OutputKeys);

impl Keys {
    /// These, and `F_k`.
    pub(super) fn derive(params: &Params, ch: &Channel, key: &[u8; 32]) -> (Self, Places) {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 cm20 2026 key to keys");
        let Params { columns, finish } = params;
        hasher.update(&ch.session()).update(&[u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            columns.cells,
            columns.width,
            finish.tag_bits as usize,
            finish.payload_bytes,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let (outputs, places) = columns::keys(&mut hasher, columns, key);
        (Self(outputs), places)
    }

    /// Takes `H_2` of the rows of all items and of the items themselves, and gives the outputs to
    /// `tags`; `bits` has the bits of rows column by column.
    pub(super) fn collect<T: Tags>(
        &self,
        params: &Params,
        items: &[u128],
        bits: &[u128],
        tags: T,
        ch: &mut Channel,
    ) -> Collected<T> {
        let _phase = ch.phase(Phase::Masks);
        let mut collected = Collected::new(&params.finish, tags, self.0, items.len(), DOMAIN);
        collected.add(0..items.len() as u32, |key, out| columns::hash(key, bits, items, out));
        collected
    }
}
