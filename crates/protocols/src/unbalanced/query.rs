//! The client's part: its items in a cuckoo table, the powers that it sends, and what it finds.

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::fields::Gf64;
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rlwe::bfv::{Ciphertext, Encryptor, NoiseExhausted, Plain, Poly, Scheme, SecretKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Shape;
use super::labels::from_limbs;
use crate::bfv::ciphertexts::{receive_halves, receive_seed, send_half};
use crate::tasks::{IntersectReceiverOutput, SealedPayloads};

/// A query in slots: for each column, the limbs of the items there; 0 where there is none.
pub struct Slots {
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
        let table = CuckooTable::build_vartime(positions, shape.bins())
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
        self,
        key: &SecretKey,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Answer, Abort> {
        self.send::<Q>(key, ch, rng)?;
        let shape = self.shape;
        let scheme = &shape.form.ring().scheme;
        let width = shape.payload_bytes;
        // Bins without an item have the cell behind those of the items.
        let cell_of_bin = self.items(self.bins.len() as u32);
        let mut cells = vec![0; if width > 0 { (self.bins.len() + 1) * width } else { 0 }];
        let (mut found, mut is_read) = (Secret::new(vec![0; shape.bins()]), true);
        let groups = found.chunks_exact_mut(shape.bins_per_group());
        for (found, cell_of_bin) in groups.zip(cell_of_bin.chunks_exact(shape.bins_per_group())) {
            let mut labels = Labels::new(shape);
            let mut receive = || {
                let value = shape.form.receive_answer::<A>(ch)?;
                Ok::<_, Abort>(scheme.decrypt(&value, key).map(Secret::new))
            };
            for _ in 0..shape.parts {
                let values: Result<Vec<_>, Abort> = (0..shape.columns_per_group()).map(|_| receive()).collect();
                let mut here = Secret::new(vec![0; found.len()]);
                // Exhausted noise is no reason to stop: the server must not see by that what it said.
                let mut is_part_read = match values?.into_iter().collect::<Result<Vec<_>, NoiseExhausted>>() {
                    Ok(values) => {
                        self.mark(scheme, &values, &mut here);
                        true
                    }
                    Err(NoiseExhausted) => false,
                };
                for label in 0..shape.labels() {
                    match receive()? {
                        Ok(value) => labels.keep(scheme, label, &value, &here),
                        Err(NoiseExhausted) => is_part_read = false,
                    }
                }
                if is_part_read {
                    found.iter_mut().zip(here.iter()).for_each(|(found, here)| *found |= here);
                } else {
                    is_read = false;
                }
            }
            labels.write(cell_of_bin, &mut cells);
        }
        Ok(Answer { slots: self, found, cells, is_read })
    }
}

/// The labels of a group's bins: for each bin, those of the part in which its item is.
struct Labels {
    shape: Shape,
    /// For each bin the limbs of its payload.
    limbs: Secret<Vec<Gf64>>,
}

impl Labels {
    /// Zeros.
    fn new(shape: Shape) -> Self {
        let limbs = shape.bins_per_group() * shape.labels() * shape.limbs;
        Self { shape, limbs: Secret::new(vec![Gf64::default(); limbs]) }
    }

    /// Takes the label of this number in a value, for the bins that are marked. The work is the same for
    /// all of them.
    fn keep(&mut self, scheme: &Scheme, label: usize, value: &Plain, marked: &[u8]) {
        let slots = Secret::new(scheme.decode(value));
        let limbs = self.shape.limbs;
        let of_bins = self.limbs.chunks_exact_mut(self.shape.labels() * limbs);
        for (bin, (of_bin, &marked)) in of_bins.zip(marked).enumerate() {
            // No branch on a mark.
            let mask = u64::from(marked).wrapping_neg();
            let (_, slot) = self.shape.place(bin, 0);
            let kept = &mut of_bin[label * limbs..][..limbs];
            kept.iter_mut().zip(&slots[slot..]).for_each(|(kept, slot)| kept.0 |= slot & mask);
        }
    }

    /// Writes each bin's bytes into the cell of its item.
    fn write(&self, cell_of_bin: &[u32], cells: &mut [u8]) {
        let width = self.shape.payload_bytes;
        if width == 0 {
            return;
        }
        for (limbs, &cell) in self.limbs.chunks_exact(self.shape.labels() * self.shape.limbs).zip(cell_of_bin) {
            from_limbs(limbs, &mut cells[cell as usize * width..][..width]);
        }
    }
}

/// What the values say of a query's items.
pub struct Answer {
    slots: Slots,
    /// For each bin, whether its item is in the set.
    found: Secret<Vec<u8>>,
    /// For each item its sealed payload, or zeros; and one more.
    cells: Vec<u8>,
    is_read: bool,
}

impl Answer {
    /// The matches, without payloads.
    pub fn membership(self) -> IntersectReceiverOutput {
        let unread = if self.is_read { 0 } else { self.slots.bins.len() };
        let matches = self.slots.matches(&self.found);
        IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread }
    }

    /// The matches with their payloads, where there are some; `keystream` is that of an item.
    pub fn with_payloads(
        mut self,
        keystream: impl Fn(usize, &mut [u8]) + Send + Sync + 'static,
    ) -> IntersectReceiverOutput {
        let (width, cells) = (self.slots.shape.payload_bytes, std::mem::take(&mut self.cells));
        let (bins, found) = (self.slots.bins.clone(), self.found.clone());
        let output = self.membership();
        if width == 0 {
            return output;
        }
        let chosen = move || {
            let is_found = |&(_, bin): &(u32, &u32)| found[*bin as usize] == 1;
            (0..).zip(bins.iter()).filter(is_found).map(|(own, _)| (own, own)).collect()
        };
        IntersectReceiverOutput { payloads: SealedPayloads::new(width, cells, chosen, keystream), ..output }
    }
}

/// Receives the seed of a query and its powers as arrow `Q`, all of them before the first answer:
/// neither side waits for the other to read.
pub fn receive_powers<Q: Stream<Element = u8>>(
    shape: &Shape,
    ch: &mut Channel,
) -> Result<impl Iterator<Item = Ciphertext<Values>> + use<Q>, Abort> {
    let scheme: &'static Scheme = &shape.form.ring().scheme;
    let seed = receive_seed::<Q>(ch)?;
    let count = shape.columns() * shape.powers().sent.len();
    let halves = receive_halves::<Q>(scheme, count, ch)?;
    Ok(halves.into_iter().zip(0..).map(move |(half, number)| scheme.expand(&seed, number, half)))
}
