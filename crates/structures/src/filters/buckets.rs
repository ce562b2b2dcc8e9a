//! A table of buckets of four fingerprints, of which each has two buckets: the part that the cuckoo
//! filter and the vacuum filter share. They differ in the number of buckets and in how a fingerprint
//! leads from one of its buckets to the other ([`Pairing`]).

use super::Malformed;
use super::cells::Cells;
use super::mix::{mix64, permuted, place, split};

/// Fingerprints of a bucket.
pub(super) const SLOTS: usize = 4;

/// Bits that a fingerprint has for being compared with those of two buckets.
pub(super) const SLOT_BITS: u32 = (2 * SLOTS).ilog2();

/// Evictions for one fingerprint before an attempt is given up. The papers' code gives up after 500,
/// which fails now and then at a load of 0.95.
const MOST_EVICTIONS: usize = 10_000;

/// How buckets belong together.
pub trait Pairing: Copy + Send + Sync {
    /// Buckets of the table.
    fn buckets(&self) -> usize;

    /// The other bucket of a fingerprint that is in `bucket`, whose hash is `hash`: for any hash an
    /// involution of the buckets.
    fn other(&self, bucket: usize, hash: u64) -> usize;
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<P> {
    /// Most tags.
    tags: usize,
    /// Bits of a fingerprint.
    width: u32,
    pairing: P,
}

/// A table of fingerprints.
pub struct Table<P> {
    shape: Shape<P>,
    /// A fingerprint plus nothing, or 0 in an empty slot.
    cells: Cells,
}

impl<P: Pairing> Shape<P> {
    pub(super) fn new(tags: usize, width: u32, pairing: P) -> Self {
        Self { tags, width, pairing }
    }

    fn slots(&self) -> usize {
        SLOTS * self.pairing.buckets()
    }

    pub(super) fn bytes(&self) -> usize {
        Cells::encoded_len(self.slots(), self.width)
    }

    /// The first bucket of a tag, and its fingerprint, which is not 0.
    #[inline]
    fn of(&self, tag: u128, attempt: u8) -> (usize, u128) {
        let (position, fingerprint) = split(permuted(tag, attempt), self.width);
        (place(position, self.pairing.buckets()), fingerprint | u128::from(fingerprint == 0))
    }

    #[inline]
    fn other(&self, bucket: usize, fingerprint: u128) -> usize {
        self.pairing.other(bucket, mix64((fingerprint >> 64) as u64 ^ mix64(fingerprint as u64)))
    }
}

impl<P: Pairing> Table<P> {
    pub(super) fn attempt(shape: &Shape<P>, tags: &[u128], attempt: u8) -> Option<Self> {
        assert!(tags.len() <= shape.tags, "as many tags as the filter is for");
        let cells = Cells::new(shape.slots(), shape.width, attempt);
        let mut table = Self { shape: *shape, cells };
        for &tag in tags {
            table.insert(tag)?;
        }
        Some(table)
    }

    fn insert(&mut self, tag: u128) -> Option<()> {
        let (mut bucket, mut fingerprint) = self.shape.of(tag, self.cells.attempt);
        let mut draw = fingerprint as u64;
        for _ in 0..MOST_EVICTIONS {
            let other = self.shape.other(bucket, fingerprint);
            let slots = (SLOTS * bucket..SLOTS * (bucket + 1)).chain(SLOTS * other..SLOTS * (other + 1));
            for slot in slots {
                if self.cells.get(slot) == 0 {
                    self.cells.xor(slot, fingerprint);
                    return Some(());
                }
            }
            // Both buckets are full. Which fingerprint makes way depends on the one that comes.
            draw = mix64(draw);
            let slot = SLOTS * if draw & 4 == 0 { bucket } else { other } + draw as usize % SLOTS;
            let evicted = self.cells.get(slot);
            self.cells.xor(slot, evicted ^ fingerprint);
            (bucket, fingerprint) = (slot / SLOTS, evicted);
        }
        None
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.cells.into_bytes()
    }

    pub(super) fn parse(shape: &Shape<P>, bytes: Vec<u8>) -> Result<Self, Malformed> {
        let cells = Cells::parse(shape.slots(), shape.width, bytes)?;
        let filled = (0..cells.count()).filter(|&slot| cells.get(slot) != 0).count();
        if filled > shape.tags {
            return Err(Malformed::TooFull);
        }
        Ok(Self { shape: *shape, cells })
    }

    pub(super) fn look_up(&self, tags: &[u128], found: &mut [bool]) {
        for (&tag, found) in tags.iter().zip(found) {
            let (bucket, fingerprint) = self.shape.of(tag, self.cells.attempt);
            let other = self.shape.other(bucket, fingerprint);
            let mut hit = false;
            for slot in 0..SLOTS {
                hit |= self.cells.get(SLOTS * bucket + slot) == fingerprint;
                hit |= self.cells.get(SLOTS * other + slot) == fingerprint;
            }
            *found = hit;
        }
    }
}

/// The filter `$name` around a table with this pairing.
macro_rules! filter_of_buckets {
    ($(#[$doc:meta])* $name:ident, $pairing:ty, $shape:expr) => {
        $(#[$doc])*
        pub struct $name($crate::filters::buckets::Table<$pairing>);

        impl $crate::filters::Filter for $name {
            type Shape = $crate::filters::buckets::Shape<$pairing>;

            fn shape(demand: &$crate::filters::Demand) -> Result<Self::Shape, $crate::facts::Unsupported> {
                demand.check()?;
                let width = demand.bits_per_look_up() + $crate::filters::buckets::SLOT_BITS;
                Ok($crate::filters::buckets::Shape::new(demand.least_tags(), width, $shape(demand.least_tags())))
            }

            fn bytes(shape: &Self::Shape) -> usize {
                shape.bytes()
            }

            fn attempt(shape: &Self::Shape, tags: &[u128], attempt: u8) -> Option<Self> {
                $crate::filters::buckets::Table::attempt(shape, tags, attempt).map(Self)
            }

            fn into_bytes(self) -> Vec<u8> {
                self.0.into_bytes()
            }

            fn parse(shape: &Self::Shape, bytes: Vec<u8>) -> Result<Self, $crate::filters::Malformed> {
                $crate::filters::buckets::Table::parse(shape, bytes).map(Self)
            }

            fn look_up_here(&self, tags: &[u128], found: &mut [bool]) {
                self.0.look_up(tags, found);
            }
        }
    };
}
pub(super) use filter_of_buckets;
