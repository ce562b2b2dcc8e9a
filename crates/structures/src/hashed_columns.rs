//! The matrix of a multi-point OPRF (CM20): columns of bits, in each of which an item has a place of
//! its own. The bits at an item's places, one of each column, are the item's row.
//!
//! An item's places follow from AES under keys that are public once the matrix is fixed, a block
//! for each four columns. Places are read and written as the items have it: who shares a cache with
//! this process may see which.

use vesica_kernels::aes::Aes128;
use vesica_kernels::transpose::transpose_128x128;
use zeroize::Zeroize;

use crate::secret::Secret;

/// Columns whose places come from one block.
pub const COLUMNS_PER_GROUP: usize = 4;

/// Cells of a column, and items, that lie in one block of bits.
pub const BITS_PER_BLOCK: usize = 128;

const ROW_WORDS: usize = 11;

/// The most columns.
pub const MAX_COLUMNS: usize = 64 * ROW_WORDS;

/// Items whose places are found at a time.
const ITEMS_PER_BATCH: usize = BITS_PER_BLOCK;

/// Batches of items whose rows are made at a time: their blocks fill a line of the cache.
const BATCHES_PER_LINE: usize = 4;

/// Blocks that hold a bit for each of so many items.
pub fn item_blocks(items: usize) -> usize {
    items.div_ceil(BITS_PER_BLOCK)
}

/// Where items lie in columns.
pub struct Places {
    groups: Vec<Aes128>,
    cells: u64,
}

/// The places of an item in the columns of a group.
type GroupPlaces = [u32; COLUMNS_PER_GROUP];

impl Places {
    /// Places in columns of `cells` cells, under a key for each group of columns. A cell is an item's
    /// place with probability at most `1 / cells + 2^-32`.
    ///
    /// # Panics
    /// If `cells` is no multiple of [`BITS_PER_BLOCK`], or above `2^31`.
    pub fn new(keys: impl Iterator<Item = u128>, cells: usize) -> Self {
        assert!(cells.is_multiple_of(BITS_PER_BLOCK) && cells <= 1 << 31, "columns of {cells} cells");
        Self { groups: keys.map(Aes128::new).collect(), cells: cells as u64 }
    }

    /// Clears the items' bits in the columns of a group, which lie one after the other.
    pub fn clear(&self, group: usize, items: &[u128], columns: &mut [u128]) {
        let column_words = self.column_words();
        let words: &mut [u64] = bytemuck::cast_slice_mut(columns);
        assert_eq!(words.len(), COLUMNS_PER_GROUP * column_words, "the columns of a group");
        self.each(group, items, |_, places| {
            for places in places {
                for (column, &place) in places.iter().enumerate() {
                    words[column * column_words + place as usize / 64] &= !(1 << (place % 64));
                }
            }
        });
    }

    /// Looks up the items' bits in the columns of a group. `bits` has [`item_blocks`] blocks for
    /// each column, of which bits behind the last item are zero.
    pub fn look_up(&self, group: usize, items: &[u128], columns: &[u128], bits: &mut [u128]) {
        let (column_words, item_blocks) = (self.column_words(), item_blocks(items.len()));
        let words: &[u64] = bytemuck::cast_slice(columns);
        assert_eq!(words.len(), COLUMNS_PER_GROUP * column_words, "the columns of a group");
        assert_eq!(bits.len(), COLUMNS_PER_GROUP * item_blocks, "a bit for each item and column");
        self.each(group, items, |block, places| {
            let mut found = Secret::new([0u128; COLUMNS_PER_GROUP]);
            for (item, places) in places.iter().enumerate() {
                for (column, (found, &place)) in found.iter_mut().zip(places).enumerate() {
                    let bit = words[column * column_words + place as usize / 64] >> (place % 64) & 1;
                    *found |= u128::from(bit) << item;
                }
            }
            found.iter().enumerate().for_each(|(column, &found)| bits[column * item_blocks + block] = found);
        });
    }

    fn column_words(&self) -> usize {
        self.cells as usize / 64
    }

    /// Calls `visit` with the items' places, a batch at a time, and the number of the batch.
    #[inline]
    fn each(&self, group: usize, items: &[u128], mut visit: impl FnMut(usize, &[GroupPlaces])) {
        let mut blocks = [0; ITEMS_PER_BATCH];
        let mut places = [GroupPlaces::default(); ITEMS_PER_BATCH];
        for (batch, items) in items.chunks(ITEMS_PER_BATCH).enumerate() {
            let (blocks, places) = (&mut blocks[..items.len()], &mut places[..items.len()]);
            blocks.copy_from_slice(items);
            self.groups[group].encrypt(blocks);
            for (places, &block) in places.iter_mut().zip(&*blocks) {
                let fractions: GroupPlaces = bytemuck::cast(block);
                *places = fractions.map(|fraction| ((u64::from(fraction) * self.cells) >> 32) as u32);
            }
            visit(batch, places);
        }
        blocks.zeroize();
        places.zeroize();
    }
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Places(..)")
    }
}

/// Columns of random bits, one for each key.
pub struct Streams(Vec<Aes128>);

impl Streams {
    /// The columns of these keys.
    pub fn new(keys: impl Iterator<Item = u128>) -> Self {
        Self(keys.map(Aes128::new).collect())
    }

    /// Fills `out` with the columns of a group, each of as many blocks as `out` has room for.
    pub fn fill(&self, group: usize, out: &mut [u128]) {
        let blocks = out.len() / COLUMNS_PER_GROUP;
        let first = COLUMNS_PER_GROUP * group;
        for (number, out) in (first..self.0.len()).zip(out.chunks_exact_mut(blocks.max(1))) {
            // Each column has counters of its own: a search for keys tries each of them on one column only.
            self.0[number].ctr((number as u128) << 64, out);
        }
    }
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams(..)")
    }
}

/// `out[i]` = the first 128 bits of BLAKE3 under this key of the row of item `first + i`, of whole
/// bytes, and of the item, `items[i]`: the bits that [`Places::look_up`] found in all columns, `blocks`
/// blocks a column. `first` is a multiple of [`ITEMS_PER_HASH`], which is the most of them.
///
/// # Panics
/// If there are more than [`MAX_COLUMNS`] columns.
pub fn hash_rows(key: &[u8; 32], bits: &[u128], blocks: usize, first: usize, items: &[u128], out: &mut [u128]) {
    let columns = bits.len() / blocks.max(1);
    assert!(columns <= MAX_COLUMNS && out.len() <= ITEMS_PER_HASH, "rows and batches of a bounded size");
    let mut rows = Secret::new([[0u128; ROW_WORDS.div_ceil(2)]; ITEMS_PER_HASH]);
    let first = first / BITS_PER_BLOCK;
    for (part, columns) in bits.chunks(BITS_PER_BLOCK * blocks).enumerate() {
        let mut squares = Secret::new([[0u128; BITS_PER_BLOCK]; BATCHES_PER_LINE]);
        for (i, column) in columns.chunks_exact(blocks).enumerate() {
            for (square, &block) in squares.iter_mut().zip(&column[first..]) {
                square[i] = block;
            }
        }
        for (square, rows) in squares.iter_mut().zip(rows.chunks_exact_mut(BITS_PER_BLOCK)) {
            transpose_128x128(square);
            rows.iter_mut().zip(square.iter()).for_each(|(row, &bits)| row[part] = bits);
        }
    }
    let row_bytes = columns.div_ceil(8);
    let mut message = Secret::new([0; 8 * ROW_WORDS + 24]);
    for ((row, item), out) in rows.iter().zip(items).zip(out) {
        // Without the item, one guess of a row that is near another would test all of them.
        message[..row_bytes].copy_from_slice(&bytemuck::bytes_of(row)[..row_bytes]);
        message[row_bytes..row_bytes + 16].copy_from_slice(&item.to_le_bytes());
        let digest = blake3::keyed_hash(key, &message[..row_bytes + 16]);
        let [low, _]: [u128; 2] = bytemuck::cast(*digest.as_bytes());
        *out = low;
    }
}

/// Items whose rows [`hash_rows`] hashes at a time.
pub const ITEMS_PER_HASH: usize = BITS_PER_BLOCK * BATCHES_PER_LINE;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SecretRng;

    const CELLS: usize = 384;

    fn keys(count: usize) -> impl Iterator<Item = u128> {
        (0..count as u128).map(|key| key * 77 + 5)
    }

    /// The place of an item in a column, by definition.
    fn place(column: usize, item: u128) -> usize {
        let mut block = [item];
        Aes128::new(keys(column / 4 + 1).last().unwrap()).encrypt(&mut block);
        let fraction = (block[0] >> (32 * (column % 4))) as u32;
        ((u64::from(fraction) * CELLS as u64) >> 32) as usize
    }

    #[test]
    fn cleared_and_found_bits_are_those_of_the_items() {
        let places = Places::new(keys(2), CELLS);
        let mut rng = SecretRng::insecure_from_seed(1);
        let items: Vec<u128> = (0..300).map(|_| rng.block()).collect();
        let blocks = CELLS / 128;
        for group in 0..2 {
            let mut columns = vec![u128::MAX; 4 * blocks];
            places.clear(group, &items[..40], &mut columns);
            let mut bits = vec![0; 4 * item_blocks(items.len())];
            places.look_up(group, &items, &columns, &mut bits);
            for column in 0..4 {
                let of = |item: &u128| place(4 * group + column, *item);
                for cell in 0..CELLS {
                    let cleared = items[..40].iter().any(|item| of(item) == cell);
                    assert_eq!(columns[column * blocks + cell / 128] >> (cell % 128) & 1 == 0, cleared);
                }
                for (i, item) in items.iter().enumerate() {
                    let cell = of(item);
                    let bit = columns[column * blocks + cell / 128] >> (cell % 128) & 1;
                    assert_eq!(bits[3 * column + i / 128] >> (i % 128) & 1, bit);
                }
                assert_eq!(bits[3 * column + 2] >> (300 - 256), 0, "nothing behind the last item");
            }
        }
    }

    #[test]
    fn hashes_are_those_of_blake3() {
        let (width, items) = (612, ITEMS_PER_HASH + 200);
        let blocks = item_blocks(items);
        let mut rng = SecretRng::insecure_from_seed(2);
        let bits: Vec<u128> = (0..width * blocks).map(|_| rng.block()).collect();
        let mut out = vec![0; items];
        for (part, out) in out.chunks_mut(ITEMS_PER_HASH).enumerate() {
            let first = part * ITEMS_PER_HASH;
            let items: Vec<u128> = (first as u128..).take(out.len()).collect();
            hash_rows(&[7; 32], &bits, blocks, first, &items, out);
        }
        for (i, out) in out.into_iter().enumerate() {
            let mut row = vec![0u8; width.div_ceil(8)];
            for column in 0..width {
                row[column / 8] |= ((bits[column * blocks + i / 128] >> (i % 128) & 1) as u8) << (column % 8);
            }
            row.extend_from_slice(&(i as u128).to_le_bytes());
            assert_eq!(blake3::keyed_hash(&[7; 32], &row).as_bytes()[..16], out.to_le_bytes(), "item {i}");
        }
    }

    #[test]
    fn streams_are_those_of_their_keys() {
        let streams = Streams::new(keys(8));
        let mut columns = vec![0; 12];
        streams.fill(1, &mut columns);
        for (column, key) in keys(8).skip(4).enumerate() {
            let mut expected = [0; 3];
            Aes128::new(key).ctr((4 + column as u128) << 64, &mut expected);
            assert_eq!(columns[3 * column..][..3], expected);
        }
    }
}
