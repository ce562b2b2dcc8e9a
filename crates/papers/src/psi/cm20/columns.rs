//! Step 2: the columns under the keys of OTs, and the bits of all items in them.

use rayon::prelude::*;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::hashed_columns::{COLUMNS_PER_GROUP, ITEMS_PER_HASH, Places, Streams, hash_rows, item_blocks};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages;
use super::params::{Columns, MOST_GROUPS_AT_ONCE};

/// `H_2` under a key of the rows of all items and of the items themselves; `bits` has the bits of rows column by
/// column.
pub(super) fn hash(key: &[u8; 32], bits: &[u128], items: &[u128], out: &mut [u128]) {
    let parts = out.par_chunks_mut(ITEMS_PER_HASH).zip(items.par_chunks(ITEMS_PER_HASH)).enumerate();
    parts.for_each(|(part, (out, some))| {
        hash_rows(key, bits, item_blocks(items.len()), part * ITEMS_PER_HASH, some, out);
    });
}

/// `F_k` and further keys of the run, all of what `hasher` has read and of `k`.
pub(super) fn keys<const N: usize>(
    hasher: &mut blake3::Hasher,
    columns: &Columns,
    key: &[u8; 32],
) -> ([[u8; 32]; N], Places) {
    let mut keys = hasher.update(key).finalize_xof();
    let mut outputs = [[0; 32]; N];
    keys.fill(outputs.as_flattened_mut());
    let mut places = vec![[0; 16]; columns.groups()];
    keys.fill(places.as_flattened_mut());
    (outputs, Places::new(places.into_iter().map(u128::from_le_bytes), columns.cells))
}

/// The side whose secret chooses between the columns.
#[derive(Debug)]
pub(super) struct Sender {
    columns: Columns,
    places: Places,
    /// `G(k_j[s_j])`.
    chosen: Streams,
    /// For each column a block of ones or of zeros, by `s_j`.
    secret: Secret<Vec<u128>>,
}

impl Sender {
    /// The OTs.
    pub(super) fn setup(
        columns: &Columns,
        places: Places,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let base = columns.transfers;
        let chosen = ch.reversed(|ch| <OtExtension as Protocol>::Receiver::setup(&base, ch, rng)?.run((), ch, rng))?;
        let secret = chosen.choices.iter().map(|&choice| u128::from(choice).wrapping_neg()).collect();
        let streams = Streams::new(chosen.chosen.iter().copied());
        Ok(Self { columns: *columns, places, chosen: streams, secret: Secret::new(secret) })
    }

    /// Step 2, a group of columns for each thread at a time: the bits `C_j[v_j]` of the own items, column by column.
    pub(super) fn bits(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let _phase = ch.phase(Phase::Decode);
        let (groups, group_blocks) = (self.columns.groups(), self.columns.group_blocks());
        let bits_of_group = COLUMNS_PER_GROUP * item_blocks(items.len());
        let mut bits = Secret::new(vec![0; groups * bits_of_group]);
        let at_once = rayon::current_num_threads().min(groups).min(MOST_GROUPS_AT_ONCE);
        let mut received = vec![0; at_once * group_blocks];
        for (part, bits) in bits.chunks_mut(at_once * bits_of_group).enumerate() {
            let received = &mut received[..bits.len() / bits_of_group * group_blocks];
            ch.recv_stream::<messages::Columns>(received)?;
            let groups = bits.par_chunks_mut(bits_of_group).zip(received.par_chunks(group_blocks)).enumerate();
            groups.for_each(|(group, (bits, received))| self.group(part * at_once + group, items, received, bits));
        }
        Ok(bits)
    }

    fn group(&self, group: usize, items: &[u128], received: &[u128], bits: &mut [u128]) {
        let mut columns = Secret::new(vec![0; received.len()]);
        self.chosen.fill(group, &mut columns);
        let column_blocks = received.len() / COLUMNS_PER_GROUP;
        let secret = &self.secret[COLUMNS_PER_GROUP * group..];
        for ((column, received), mask) in
            columns.chunks_exact_mut(column_blocks).zip(received.chunks_exact(column_blocks)).zip(secret)
        {
            column.iter_mut().zip(received).for_each(|(block, received)| *block ^= received & mask);
        }
        self.places.look_up(group, items, &columns, bits);
    }
}

/// The side that has all columns, and marks its items in them.
#[derive(Debug)]
pub(super) struct Receiver {
    columns: Columns,
    places: Places,
    /// `G(k_j[0])` and `G(k_j[1])`.
    streams: [Streams; 2],
}

impl Receiver {
    /// The OTs.
    pub(super) fn setup(
        columns: &Columns,
        places: Places,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let base = columns.transfers;
        let pairs = ch.reversed(|ch| <OtExtension as Protocol>::Sender::setup(&base, ch, rng)?.run((), ch, rng))?;
        let streams = [0, 1].map(|side| Streams::new(pairs.pairs.iter().map(|pair| pair[side])));
        Ok(Self { columns: *columns, places, streams })
    }

    /// Step 2, a group of columns for each thread at a time: the bits `A_j[v_j]` of the own items, column by column.
    pub(super) fn bits(&self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let _phase = ch.phase(Phase::Encode);
        let (groups, group_blocks) = (self.columns.groups(), self.columns.group_blocks());
        let bits_of_group = COLUMNS_PER_GROUP * item_blocks(items.len());
        let mut bits = Secret::new(vec![0; groups * bits_of_group]);
        let at_once = rayon::current_num_threads().min(groups).min(MOST_GROUPS_AT_ONCE);
        let mut sent = vec![0; at_once * group_blocks];
        for (part, bits) in bits.chunks_mut(at_once * bits_of_group).enumerate() {
            let groups = bits.par_chunks_mut(bits_of_group).zip(sent.par_chunks_mut(group_blocks)).enumerate();
            groups.for_each(|(group, (bits, sent))| self.group(part * at_once + group, items, bits, sent));
            ch.send_stream::<messages::Columns>(&sent[..bits.len() / bits_of_group * group_blocks])?;
        }
        Ok(bits)
    }

    /// What is sent of a group, and the bits of the own items.
    fn group(&self, group: usize, items: &[u128], bits: &mut [u128], sent: &mut [u128]) {
        let [zeros, ones] = &self.streams;
        // D.
        sent.fill(u128::MAX);
        self.places.clear(group, items, sent);
        let mut columns = Secret::new(vec![0; sent.len()]);
        ones.fill(group, &mut columns);
        add(sent, &columns);
        // A.
        zeros.fill(group, &mut columns);
        add(sent, &columns);
        self.places.look_up(group, items, &columns, bits);
    }
}

/// `sum += other`, bit by bit.
fn add(sum: &mut [u128], other: &[u128]) {
    sum.iter_mut().zip(other).for_each(|(block, other)| *block ^= other);
}
