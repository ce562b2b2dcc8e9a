//! The client's part: its items in a cuckoo table, the powers that it sends, and what it finds.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rlwe::bfv::{
    Ciphertext, Encryptor, NoiseExhausted, Plain, Poly, Scheme, SecretKey, Seed, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Shape;
use crate::bfv::keys::SEED_BYTES;
use crate::recurrent::ciphertexts::{receive_half, receive_short, send_half};
use crate::tasks::{IntersectReceiverOutput, SealedPayloads};

/// A query in slots: for each column, the limbs of the items there; 0 where there is none.
pub(super) struct Slots {
    shape: Shape,
    /// For each item, its bin.
    bins: Secret<Vec<u32>>,
    columns: Vec<Secret<Vec<u64>>>,
}

impl Slots {
    /// Places items with these positions and limbs, `shape.limbs` of each item.
    ///
    /// # Errors
    /// If no cuckoo table holds them: a statistical failure, or equal items.
    pub fn new(scheme: &Scheme, shape: Shape, positions: &[[u32; 3]], limbs: &[u64]) -> Result<Self, Abort> {
        let table = CuckooTable::build(positions, shape.bins())
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        let mut bins = Secret::new(vec![0; positions.len()]);
        let mut columns: Vec<_> = (0..shape.columns()).map(|_| Secret::new(vec![0; scheme.slots()])).collect();
        for bin in 0..table.len() {
            let Some(entry) = table.bin(bin) else { continue };
            let item = entry.item as usize;
            bins[item] = bin as u32;
            let (group, bin) = (bin / shape.bins_per_group(), bin % shape.bins_per_group());
            for (limb, &value) in limbs[item * shape.limbs..][..shape.limbs].iter().enumerate() {
                let (column, slot) = shape.place(bin, limb);
                columns[group * shape.columns_per_group() + column][slot] = value;
            }
        }
        Ok(Self { shape, bins, columns })
    }

    /// The first half of the encryption of a power of a column.
    pub fn encrypt(
        &self,
        scheme: &Scheme,
        column: usize,
        exponent: usize,
        encryptor: &mut Encryptor<'_>,
        rng: &mut SecretRng,
    ) -> Poly<Values> {
        let power = Secret::new(scheme.encode_powers(&self.columns[column], exponent as u64));
        encryptor.encrypt(&power, rng)
    }

    /// Marks the bins of a group whose slots are all zero in these values, one for each column of the
    /// group.
    pub fn mark(&self, scheme: &Scheme, values: &[Secret<Plain>], found: &mut [u8]) {
        let columns: Vec<_> = values.iter().map(|value| Secret::new(scheme.decode(value))).collect();
        for (bin, found) in found.iter_mut().enumerate() {
            // No branch on a limb.
            let mut any = 0;
            for limb in 0..self.shape.limbs {
                let (column, slot) = self.shape.place(bin, limb);
                any |= columns[column][slot];
            }
            *found |= (any.wrapping_sub(1) >> 63) as u8;
        }
    }

    /// The items whose bins are marked, ascending. The work does not depend on how many there are.
    pub fn matches(&self, found: &[u8]) -> Vec<u32> {
        // Without a branch, into memory that was written before.
        let (mut matches, mut count) = (vec![u32::MAX; self.bins.len() + 1], 0);
        for (item, &bin) in (0..).zip(&*self.bins) {
            matches[count] = item;
            count += usize::from(found[bin as usize]);
        }
        matches.truncate(count);
        matches
    }

    /// For each bin, the item there, or `none`.
    pub fn items(&self, none: u32) -> Secret<Vec<u32>> {
        let mut items = Secret::new(vec![none; self.shape.bins()]);
        (0..).zip(&*self.bins).for_each(|(item, &bin)| items[bin as usize] = item);
        items
    }

    /// Sends the powers of all columns as arrow `Q`, after the seed of their encryptions.
    pub fn send<Q: Stream<Element = u8>>(
        &self,
        key: &SecretKey,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let scheme = &self.shape.form.ring().scheme;
        // A fresh seed for each query: a state that is read twice repeats no ciphertext.
        let mut encryptor = key.encryptor(scheme, rng);
        ch.send_stream::<Q>(&encryptor.seed().to_bytes())?;
        let powers = self.shape.powers();
        for column in 0..self.shape.columns() {
            for &exponent in &powers.sent {
                send_half::<Q>(scheme, &self.encrypt(scheme, column, exponent, &mut encryptor, rng), ch)?;
            }
        }
        Ok(())
    }

    /// Asks with arrow `Q`, and finds the matches in the values that come back as arrow `A`. Where the
    /// noise of one is exhausted, nothing is known of any item, since a value holds slots of all.
    pub fn ask<Q: Stream<Element = u8>, A: Stream<Element = u8>>(
        &self,
        key: &SecretKey,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.send::<Q>(key, ch, rng)?;
        let (shape, ring) = (self.shape, self.shape.form.ring());
        let scheme = &ring.scheme;
        let (mut found, mut is_read) = (Secret::new(vec![0; shape.bins()]), true);
        for group in found.chunks_exact_mut(shape.bins_per_group()) {
            for _ in 0..shape.parts {
                let value = |_| {
                    let value = receive_short::<A>(scheme, ring.sent_primes, ch)?;
                    Ok(scheme.decrypt(&value, key).map(Secret::new))
                };
                let values: Result<Vec<_>, Abort> = (0..shape.columns_per_group()).map(value).collect();
                // Exhausted noise is no reason to stop: the server must not see by that what it said.
                match values?.into_iter().collect::<Result<Vec<_>, NoiseExhausted>>() {
                    Ok(values) => self.mark(scheme, &values, group),
                    Err(NoiseExhausted) => is_read = false,
                }
            }
        }
        let unread = if is_read { 0 } else { self.bins.len() };
        Ok(IntersectReceiverOutput { matches: self.matches(&found), payloads: SealedPayloads::default(), unread })
    }
}

/// Receives the seed of a query and its powers as arrow `Q`, all of them before the first answer:
/// neither side waits for the other to read.
pub(super) fn receive_powers<Q: Stream<Element = u8>>(
    shape: &Shape,
    ch: &mut Channel,
) -> Result<impl Iterator<Item = Ciphertext<Values>> + use<Q>, Abort> {
    let scheme: &'static Scheme = &shape.form.ring().scheme;
    let mut seed = [0; SEED_BYTES];
    ch.recv_stream::<Q>(&mut seed)?;
    let seed = Seed::from_bytes(seed);
    let count = shape.columns() * shape.powers().sent.len();
    let halves: Result<Vec<_>, Abort> = (0..count).map(|_| Ok(receive_half::<Q>(scheme, ch)?.1)).collect();
    Ok(halves?.into_iter().zip(0..).map(move |(half, number)| scheme.expand(&seed, number, half)))
}
