//! From keys to rows: a keyed pseudo-random function, and the order of starts.

use vesica_kernels::aes::Aes128;
use vesica_kernels::band::Row;

use super::Shape;

/// A key's hash (high word, low word), then what is carried along with it.
pub(super) type Record<const W: usize> = [u64; W];

/// Keys hashed at once, on the stack.
const HASHES: usize = 256;

/// Rows made at once: 4 KiB of them.
pub(super) const ROWS: usize = 64;

/// A bucket's records fit the second-level cache, twice.
const BUCKET: usize = 2048;

/// The row of a key: `h = pi(key)` gives the start, `pi'(h), pi'(h + 1), ...` the bits; `pi`, `pi'` are AES under independent keys.
///
/// Both are permutations of 128 bits, so that distinct keys have distinct `h`, and up to 2^28 blocks are uniform up to about 2^-73.
pub(super) struct RowHash {
    start: Aes128,
    bits: Aes128,
}

impl RowHash {
    pub(super) fn new(seed: u128) -> Self {
        let keys = blake3::derive_key("vesica okvs band rows v1", &seed.to_le_bytes());
        let (keys, _) = keys.as_chunks::<16>();
        Self { start: Aes128::new(u128::from_le_bytes(keys[0])), bits: Aes128::new(u128::from_le_bytes(keys[1])) }
    }

    /// Calls `each` with every index and hash.
    fn hashes(&self, keys: &[u128], mut each: impl FnMut(usize, u128)) {
        let mut hashes = [0; HASHES];
        for (chunk, keys) in keys.chunks(HASHES).enumerate() {
            let hashes = &mut hashes[..keys.len()];
            hashes.copy_from_slice(keys);
            self.start.encrypt(hashes);
            for (i, &hash) in hashes.iter().enumerate() {
                each(chunk * HASHES + i, hash);
            }
        }
    }

    /// The rows of up to [`ROWS`] records, and the lines at which they start.
    pub(super) fn rows<const W: usize>(&self, shape: &Shape, records: &[Record<W>], lines: &mut [u32; ROWS], rows: &mut [Row; ROWS]) {
        let rows = &mut rows[..records.len()];
        let blocks: &mut [u128] = bytemuck::cast_slice_mut(rows);
        for ((record, line), blocks) in records.iter().zip(lines).zip(blocks.chunks_exact_mut(4)) {
            *line = ((u128::from(record[0]) * shape.starts as u128) >> 64) as u32;
            let hash = u128::from(record[0]) << 64 | u128::from(record[1]);
            for (i, block) in blocks.iter_mut().enumerate() {
                *block = hash.wrapping_add(i as u128);
            }
        }
        self.bits.encrypt(blocks);
        if shape.width < size_of::<Row>() {
            for row in bytemuck::cast_slice_mut::<Row, u8>(rows).chunks_exact_mut(size_of::<Row>()) {
                row[shape.width..].fill(0);
            }
        }
    }
}

/// Records grouped by the high bits of their hashes, in ascending order of buckets.
pub(super) struct Buckets<const W: usize> {
    pub(super) records: Vec<Record<W>>,
    /// Length of every bucket.
    pub(super) lens: Vec<usize>,
    /// The high bits that a bucket's hashes share.
    bits: u32,
}

impl<const W: usize> Buckets<W> {
    /// The keys' records; `carry` writes what goes with key `i` behind its hash.
    ///
    /// Whole records are moved, here and in [`sort_bucket`], so that what follows reads memory in order.
    pub(super) fn new(hash: &RowHash, keys: &[u128], carry: impl Fn(usize, &mut Record<W>)) -> Self {
        let bits = (keys.len() / BUCKET).next_power_of_two().trailing_zeros().min(11);
        let bucket = |hash: u128| ((hash >> 64) as u64).checked_shr(64 - bits).unwrap_or(0) as usize;
        let mut lens = vec![0; 1 << bits];
        // Hashing twice costs less than writing the hashes down.
        hash.hashes(keys, |_, hash| lens[bucket(hash)] += 1);
        let mut next: Vec<usize> = lens
            .iter()
            .scan(0, |start, len| {
                *start += len;
                Some(*start - len)
            })
            .collect();
        let mut records = vec![[0; W]; keys.len()];
        hash.hashes(keys, |i, hash| {
            let next = &mut next[bucket(hash)];
            let record = &mut records[*next];
            *next += 1;
            [record[0], record[1]] = [(hash >> 64) as u64, hash as u64];
            carry(i, record);
        });
        Self { records, lens, bits }
    }

    /// The buckets one by one, and the bits for [`sort_bucket`].
    pub(super) fn split(&mut self) -> (impl Iterator<Item = &mut [Record<W>]>, u32) {
        let mut rest = self.records.as_mut_slice();
        let buckets = self.lens.iter().map(move |&len| rest.split_off_mut(..len).expect("lengths add up"));
        (buckets, self.bits)
    }
}

/// Sorts records by the high word of their hashes, which agree in their `shared` high bits: by as many further bits as there are records,
/// which leaves little to the insertion sort after it.
pub(super) fn sort_bucket<const W: usize>(bucket: &mut [Record<W>], shared: u32, scratch: &mut Vec<Record<W>>) {
    let bits = bucket.len().next_power_of_two().trailing_zeros();
    let slot = |record: &Record<W>| (record[0] << shared).checked_shr(64 - bits).unwrap_or(0) as usize;
    let mut ends = vec![0u32; 1 << bits];
    for record in &*bucket {
        ends[slot(record)] += 1;
    }
    let mut end = 0;
    for slot in &mut ends {
        end += *slot;
        *slot = end;
    }
    scratch.clear();
    scratch.extend_from_slice(bucket);
    for record in &*scratch {
        let end = &mut ends[slot(record)];
        *end -= 1;
        bucket[*end as usize] = *record;
    }
    for i in 1..bucket.len() {
        let record = bucket[i];
        let mut to = i;
        while to > 0 && bucket[to - 1][0] > record[0] {
            bucket[to] = bucket[to - 1];
            to -= 1;
        }
        bucket[to] = record;
    }
}
