//! Keys in the order in which a store goes through them.

use std::ops::Range;

use rayon::prelude::*;
use zeroize::Zeroize;

/// Fewer keys than this are not worth a thread.
const LEAST_PIECE: usize = 1 << 13;

/// Keys whose buckets are found at a time.
pub(super) const BATCH: usize = 512;

/// Keys in the order in which a store goes through them: passes over what belongs to them then read memory as it lies.
///
/// Made by [`Okvs::arrange`](super::Okvs::arrange), and good for every store of that kind, shape and seed.
pub struct Arrangement {
    pub(super) keys: Vec<u128>,
    pub(super) places: Vec<u32>,
    /// See [`Self::part`].
    pub(super) parts: Vec<Range<usize>>,
}

impl Arrangement {
    /// The keys.
    pub fn keys(&self) -> &[u128] {
        &self.keys
    }

    /// Where each of the keys stood among those given.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The keys that can be decoded once part number `part` of the table (see [`Okvs::parts`](super::Okvs::parts)) and those before it are known.
    ///
    /// # Panics
    /// If the table has no such part.
    pub fn part(&self, part: usize) -> Range<usize> {
        self.parts[part].clone()
    }

    /// What belongs to the keys, from their order as given to the order here.
    ///
    /// # Panics
    /// If there is not one for each key.
    pub fn arranged<T: Copy + Send + Sync>(&self, given: &[T]) -> Vec<T> {
        assert_eq!(given.len(), self.keys.len(), "one for each key");
        self.places.par_iter().with_min_len(LEAST_PIECE).map(|&place| given[place as usize]).collect()
    }
}

impl Drop for Arrangement {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

/// Keys by bucket, and within a bucket as given.
pub(super) struct Buckets {
    pub(super) keys: Vec<u128>,
    pub(super) places: Vec<u32>,
    /// Where each bucket begins, and where the last ends.
    pub(super) starts: Vec<usize>,
}

impl Buckets {
    /// The buckets of these keys, which `bucket_of` finds for up to [`BATCH`] keys at a time, each below `count`.
    pub(super) fn new(keys: &[u128], count: usize, bucket_of: impl Fn(&[u128], &mut [u16]) + Sync) -> Self {
        assert!(u32::try_from(keys.len()).is_ok() && count <= 1 << 16, "places have 32 bits and buckets 16");
        let piece = keys.len().div_ceil(rayon::current_num_threads()).max(LEAST_PIECE);
        let mut numbers = vec![0u16; keys.len()];
        let lens: Vec<Vec<usize>> = keys
            .par_chunks(piece)
            .zip(numbers.par_chunks_mut(piece))
            .map(|(keys, numbers)| {
                let mut lens = vec![0; count];
                for (keys, numbers) in keys.chunks(BATCH).zip(numbers.chunks_mut(BATCH)) {
                    bucket_of(keys, numbers);
                    numbers.iter().for_each(|&number| lens[usize::from(number)] += 1);
                }
                lens
            })
            .collect();

        // Each piece has its own stretch of each bucket.
        let (mut arranged, mut places) = (vec![0u128; keys.len()], vec![0u32; keys.len()]);
        let (mut keys_left, mut places_left) = (&mut arranged[..], &mut places[..]);
        let mut slots: Vec<Vec<_>> = lens.iter().map(|_| Vec::with_capacity(count)).collect();
        let mut starts = Vec::with_capacity(count + 1);
        for bucket in 0..count {
            starts.push(keys.len() - keys_left.len());
            for (lens, slots) in lens.iter().zip(&mut slots) {
                let keys = keys_left.split_off_mut(..lens[bucket]).expect("lengths add up");
                let places = places_left.split_off_mut(..lens[bucket]).expect("lengths add up");
                slots.push(keys.iter_mut().zip(places));
            }
        }
        starts.push(keys.len());
        keys.par_chunks(piece).zip(numbers.par_chunks(piece)).zip(slots).enumerate().for_each(|(number, ((keys, numbers), mut slots))| {
            let first = (number * piece) as u32;
            for ((&key, &bucket), place) in keys.iter().zip(numbers).zip(first..) {
                let (key_slot, place_slot) = slots[usize::from(bucket)].next().expect("as many as were counted");
                (*key_slot, *place_slot) = (key, place);
            }
        });
        Self { keys: arranged, places, starts }
    }

    /// Where the keys of each bucket lie.
    pub(super) fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<usize>> {
        self.starts.windows(2).map(|ends| ends[0]..ends[1])
    }
}
