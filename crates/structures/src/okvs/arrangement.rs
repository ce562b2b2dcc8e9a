//! Keys in the order in which a store goes through them.

use std::ops::Range;

use rayon::prelude::*;
use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

/// Fewer keys than this are not worth a thread.
const LEAST_PIECE: usize = 1 << 13;

/// Keys hashed at a time, on the stack.
pub(super) const KEYS_PER_BATCH: usize = 256;

/// Keys in the order in which a store goes through them: passes over what belongs to them then read
/// memory as it lies.
///
/// Made by [`Okvs::arrange`](super::Okvs::arrange), and good for every store of that kind, shape
/// and seed.
pub struct Arrangement {
    pub(super) keys: Vec<u128>,
    pub(super) places: Vec<u32>,
    /// See [`Self::part`].
    pub(super) parts: Vec<Range<usize>>,
}

impl Arrangement {
    /// The keys, in that order.
    pub fn keys(&self) -> &[u128] {
        &self.keys
    }

    /// For each key, its place among the keys as they were given.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The keys that can be decoded once part number `part` of the table (see
    /// [`Okvs::parts`](super::Okvs::parts)) and those before it are known.
    ///
    /// # Panics
    /// If the table has no such part.
    pub fn part(&self, part: usize) -> Range<usize> {
        self.parts[part].clone()
    }

    /// What belongs to the keys, from their order as given to the order here.
    ///
    /// # Panics
    /// If `given` does not have one element for each key.
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

/// Calls `each` with the keys' encryptions, a batch at a time, and the number of the first of them.
#[inline]
pub(super) fn encrypted(aes: &Aes128, keys: &[u128], mut each: impl FnMut(usize, &[u128])) {
    let mut blocks = [0; KEYS_PER_BATCH];
    for (batch, keys) in keys.chunks(KEYS_PER_BATCH).enumerate() {
        let blocks = &mut blocks[..keys.len()];
        blocks.copy_from_slice(keys);
        aes.encrypt(blocks);
        each(batch * KEYS_PER_BATCH, blocks);
    }
    blocks.zeroize();
}

/// Keys by bucket, and within a bucket as given.
pub(super) struct Buckets {
    pub(super) keys: Vec<u128>,
    pub(super) places: Vec<u32>,
    /// The place at which each bucket begins, and the one at which the last bucket ends.
    pub(super) starts: Vec<usize>,
}

impl Buckets {
    /// The buckets of these keys, which `number` finds for a slice of keys, each below `count`.
    pub(super) fn new(keys: &[u128], count: usize, number: impl Fn(&[u128], &mut [u16]) + Sync) -> Self {
        assert!(u32::try_from(keys.len()).is_ok() && count <= 1 << 16, "places have 32 bits and buckets 16");
        let piece = keys.len().div_ceil(rayon::current_num_threads()).max(LEAST_PIECE);
        let mut numbers = vec![0u16; keys.len()];
        let lens: Vec<Vec<usize>> = keys
            .par_chunks(piece)
            .zip(numbers.par_chunks_mut(piece))
            .map(|(keys, numbers)| {
                number(keys, numbers);
                let mut lens = vec![0; count];
                numbers.iter().for_each(|&number| lens[usize::from(number)] += 1);
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
        keys.par_chunks(piece).zip(numbers.par_chunks(piece)).zip(slots).enumerate().for_each(
            |(number, ((keys, numbers), mut slots))| {
                let first = (number * piece) as u32;
                for ((&key, &bucket), place) in keys.iter().zip(numbers).zip(first..) {
                    let (key_slot, place_slot) = slots[usize::from(bucket)].next().expect("as many as were counted");
                    (*key_slot, *place_slot) = (key, place);
                }
            },
        );
        Self { keys: arranged, places, starts }
    }

    /// The places of the keys of each bucket.
    pub(super) fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<usize>> {
        self.starts.windows(2).map(|ends| ends[0]..ends[1])
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::{Gf64, Value};
    use crate::okvs::{EncodeFailure, FreeCells, Kind, Okvs};
    use crate::rng::SecretRng;

    /// What `Okvs` says of parts and arrangements.
    fn parts_travel(kind: Kind, count: usize) {
        let mut rng = SecretRng::insecure_from_seed(count as u64);
        let (given, values): (Vec<u128>, Vec<Gf64>) =
            (0..count).map(|_| (rng.block(), Gf64::from_bits(rng.block()))).unzip();
        let okvs = kind.store(count, 42, 1).unwrap();
        let keys = okvs.arrange(&given);
        let values = keys.arranged(&values);
        assert!(keys.places().iter().zip(keys.keys()).all(|(&place, &key)| given[place as usize] == key));
        let parts = okvs.parts();
        let mut covered = vec![false; okvs.len()];
        parts.iter().cloned().flatten().for_each(|cell| assert!(!std::mem::replace(&mut covered[cell], true)));
        assert!(covered.into_iter().all(|covered| covered) && parts.iter().all(|part| part.len() <= 1 << 16));

        // Cells are finished in the order of the parts, and may be used up.
        let mut sent = Vec::new();
        okvs.encode_arranged_vartime(&keys, &values, FreeCells::Random(&mut rng), |part, cells| {
            sent.push((part, cells.to_vec()));
            cells.fill(Gf64(!0));
            Ok::<_, EncodeFailure>(())
        })
        .unwrap();
        assert!(sent.iter().map(|(part, _)| part).eq(&parts));

        // Keys are decoded with the part that completes them.
        let mut table = vec![Gf64(0x5555); okvs.len()];
        let mut decoded = vec![None; count];
        for (part, (cells, received)) in sent.into_iter().enumerate() {
            table[cells].copy_from_slice(&received);
            let range = keys.part(part);
            let mut out = vec![Gf64::default(); range.len()];
            okvs.decode_part(&table, &keys, part, &mut out);
            decoded[range].iter_mut().zip(out).for_each(|(decoded, out)| assert_eq!(decoded.replace(out), None));
        }
        assert!(decoded.into_iter().eq(values.into_iter().map(Some)), "{count} pairs");
    }

    #[test]
    fn tables_travel_in_parts() {
        for count in [0, 1, 10, 500, 5000, 70_000, 200_000] {
            for kind in [Kind::Clustered, Kind::Paxos, Kind::Band] {
                parts_travel(kind, count);
            }
        }
        for count in [0, 1, 10, 500, 5000, 50_000] {
            parts_travel(Kind::Gbf, count);
        }
    }

    #[test]
    fn an_error_of_the_caller_ends_the_encoding() {
        for kind in Kind::ALL {
            let okvs = kind.store(70_000, 42, 1).unwrap();
            let mut calls = 0;
            let result =
                okvs.encode_arranged_vartime(&okvs.arrange(&[1, 2, 3]), &[Gf64(1); 3], FreeCells::Zero, |_, _| {
                    calls += 1;
                    Err::<(), EncodeFailure>(EncodeFailure)
                });
            assert_eq!((result, calls), (Err(EncodeFailure), 1));
        }
    }

    /// Neither arrangements, nor tables, nor values show how many threads there were.
    #[test]
    fn threads_do_not_show() {
        fn run(kind: Kind, threads: usize) -> (Vec<u128>, Vec<u32>, Vec<Gf64>, Vec<Gf64>) {
            let mut rng = SecretRng::insecure_from_seed(3);
            let (given, values): (Vec<u128>, Vec<Gf64>) =
                (0..150_000).map(|_| (rng.block(), Gf64::from_bits(rng.block()))).unzip();
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let okvs = kind.store(given.len(), 42, 1).unwrap();
                let table = okvs.encode_vartime(&given, &values, FreeCells::Random(&mut rng)).unwrap();
                let mut out = values.clone();
                okvs.decode(&table, &given, &mut out);
                assert_eq!(out, values);
                let keys = okvs.arrange(&given);
                (keys.keys().to_vec(), keys.places().to_vec(), table, out)
            })
        }
        for kind in Kind::ALL {
            assert!(run(kind, 1) == run(kind, 3), "{kind:?}");
        }
        // More threads than parts of the table.
        assert!(run(Kind::Band, 1) == run(Kind::Band, 16));
    }
}
