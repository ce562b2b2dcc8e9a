//! The functions of items, all keyed by `k`.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::hashed_columns::{ITEMS_PER_HASH, Places, hash_rows, item_blocks};
use vesica_structures::rng::SecretRng;

use rayon::prelude::*;

use super::Params;
use super::messages::Key;
use vesica_protocols::psi::row_outputs::{Collected, OutputKeys, Tags};

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"CM20    payloads";

/// The public functions of a run.
#[derive(Debug)]
pub(super) struct Keys {
    /// `F_k`.
    pub(super) places: Places,
    outputs: OutputKeys,
}

impl Keys {
    /// The receiver's side of arrow 1.
    pub(super) fn send(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        ch.send(&Key(key))?;
        Ok(Self::derive(params, ch, &key))
    }

    /// The sender's.
    pub(super) fn receive(params: &Params, ch: &mut Channel) -> Result<Self, Abort> {
        let Key(key) = ch.recv(())?;
        Ok(Self::derive(params, ch, &key))
    }

    fn derive(params: &Params, ch: &Channel, key: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 cm20 2026 key to keys");
        let finish = &params.finish;
        hasher.update(&ch.session()).update(&[u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            params.cells,
            params.width,
            finish.tag_bits as usize,
            finish.payload_bytes,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let mut keys = hasher.update(key).finalize_xof();
        let mut outputs = [[0; 32]; 3];
        keys.fill(outputs.as_flattened_mut());
        let mut places = vec![[0; 16]; params.groups()];
        keys.fill(places.as_flattened_mut());
        Self { places: Places::new(places.into_iter().map(u128::from_le_bytes), params.cells), outputs }
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
        let mut collected = Collected::new(&params.finish, tags, self.outputs, items.len(), DOMAIN);
        collected.add(0..items.len() as u32, |key, out| {
            let parts = out.par_chunks_mut(ITEMS_PER_HASH).zip(items.par_chunks(ITEMS_PER_HASH)).enumerate();
            parts.for_each(|(part, (out, some))| {
                hash_rows(key, bits, item_blocks(items.len()), part * ITEMS_PER_HASH, some, out);
            });
        });
        collected
    }
}
