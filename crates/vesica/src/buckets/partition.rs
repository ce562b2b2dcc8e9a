//! A side's items, divided into buckets and filled up.

use std::cell::RefCell;
use std::fmt;
use std::ops::BitAnd;
use std::path::Path;

use vesica_party::{Abort, Channel};
use vesica_protocols::passes::{Compare, Finish};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::prf::DigestPrf;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::work_folder::{BetweenPasses, KeptMatches, WorkBuckets};
use crate::failure::{Failure, code};
use crate::resume::{Committed, Going};
use crate::table::SpilledKeys;

/// Items whose buckets are computed at a time.
const ITEMS_AT_A_TIME: usize = 1 << 12;

/// The place of a dummy that fills a bucket up.
pub(crate) const NO_PLACE: u32 = u32::MAX;

/// What a record is made of: bits that are kept or not without a branch.
pub trait Maskable: Copy + Default + BitAnd<Output = Self> {
    /// Keeps nothing.
    const NONE: Self;
    /// Keeps all bits.
    const ALL: Self;
}

impl Maskable for u8 {
    const NONE: Self = 0;
    const ALL: Self = !0;
}

impl Maskable for u32 {
    const NONE: Self = 0;
    const ALL: Self = !0;
}

impl Maskable for i64 {
    const NONE: Self = 0;
    const ALL: Self = !0;
}

/// A bucket has more items than its bound: a failure event, of the probability that the bound is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// All buckets of a side, of one size each. How they come about takes the same time and memory whatever the
/// buckets' loads: all dummies are there before the first bucket is run, and there are `buckets size - items`
/// of them.
pub struct Buckets {
    size: usize,
    count: usize,
    store: Store,
    /// What the runs found, where that is kept in the work folder.
    matches: Option<KeptMatches>,
    /// The record of a run that can go on where it broke off.
    going: Option<Going>,
}

/// Where the buckets are.
enum Store {
    /// In memory.
    Memory(MemoryBuckets),
    /// In a work folder.
    Work(WorkBuckets),
}

impl fmt::Debug for Buckets {
    /// Without items, which invite guessing, and without loads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").field("size", &self.size).field("count", &self.count).finish_non_exhaustive()
    }
}

/// Buckets in memory.
pub struct MemoryBuckets {
    size: usize,
    /// Bucket by bucket.
    items: Vec<u128>,
    /// The place of each of these among the items as they came, or [`NO_PLACE`].
    places: Vec<u32>,
}

impl MemoryBuckets {
    /// The places, among the items as they came, of a bucket's items with these numbers; each with where in
    /// `numbers` it stands. A dummy, which no honest side matches, has a place behind all items: whoever looks
    /// at the result refuses it.
    pub fn found(&self, bucket: usize, numbers: &[u32]) -> Vec<(u32, usize)> {
        let places = &self.places[bucket * self.size..(bucket + 1) * self.size];
        let place = |(at, number): (usize, &u32)| (places.get(*number as usize).copied().unwrap_or(NO_PLACE), at);
        numbers.iter().enumerate().map(place).collect()
    }
}

impl fmt::Debug for MemoryBuckets {
    /// Without items, which invite guessing, and without loads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBuckets").field("size", &self.size).finish_non_exhaustive()
    }
}

/// What the runs found in a bucket.
#[derive(Debug, Default)]
pub struct Found {
    /// The rows of its items that matched, each with its number among them.
    pub rows: Vec<(u32, u32)>,
    /// The partner's payloads of these, one behind the other, where they are kept with them.
    pub payloads: Option<Vec<u8>>,
}

/// One bucket.
pub struct Bucket {
    number: usize,
    /// How many buckets there are.
    count: usize,
    /// The items: the keys', then dummies.
    pub items: Vec<u128>,
    /// The place of each among the items as they came, or [`NO_PLACE`].
    places: Vec<u32>,
    /// The records of the items, where they came with their keys.
    records: Option<Vec<u8>>,
}

impl fmt::Debug for Bucket {
    /// Without items, which invite guessing, and without loads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Buckets {
    /// Divides at most `u32::MAX` distinct items into `buckets` buckets of `size`, by a hash that `salt` keys.
    /// Nobody may know the salt before the items' keys are fixed. `dummies` give what is missing: items that
    /// neither side has otherwise.
    ///
    /// # Errors
    /// If a bucket has more items than `size`, or the dummies do not fill all buckets.
    pub fn new(
        items: Vec<u128>,
        salt: u128,
        buckets: usize,
        size: usize,
        mut dummies: impl Iterator<Item = u128>,
    ) -> Result<Self, Overflow> {
        let numbers = numbers(&items, salt, buckets);
        let mut next: Vec<usize> = (0..buckets).map(|bucket| bucket * size).collect();
        let (mut all, mut places) = (vec![0; buckets * size], vec![NO_PLACE; buckets * size]);
        for (place, (item, bucket)) in items.into_iter().zip(numbers).enumerate() {
            let bucket = usize::from(bucket);
            let free = next[bucket];
            if free == (bucket + 1) * size {
                return Err(Overflow);
            }
            all[free] = item;
            places[free] = place as u32;
            next[bucket] += 1;
        }
        for (bucket, free) in next.into_iter().enumerate() {
            for item in &mut all[free..(bucket + 1) * size] {
                *item = dummies.next().ok_or(Overflow)?;
            }
        }
        Ok(Self {
            size,
            count: buckets,
            store: Store::Memory(MemoryBuckets { size, items: all, places }),
            matches: None,
            going: None,
        })
    }

    /// Divides the keys of a table that outgrows memory, as [`Self::new`] does, into files of its work folder. `padding`
    /// are items behind the keys, which have no place. The keys in the folder are no more needed then, and removed.
    ///
    /// # Errors
    /// As of [`Self::new`], if the folder's disk fails, and with the reason that `stop` gives.
    pub fn in_work_folder(
        keys: &mut SpilledKeys,
        padding: impl Iterator<Item = u128>,
        salt: u128,
        (buckets, size): (usize, usize),
        dummies: impl Iterator<Item = u128>,
        stop: &dyn Fn() -> Option<Failure>,
    ) -> Result<Self, Failure> {
        let work = WorkBuckets::divide(keys, padding, salt, (buckets, size), dummies, stop)?;
        Ok(Self { size, count: buckets, store: Store::Work(work), matches: None, going: None })
    }

    /// How many buckets.
    pub fn count(&self) -> usize {
        self.count
    }

    /// All of them, if they are in memory.
    pub fn in_memory(&self) -> Option<&MemoryBuckets> {
        match &self.store {
            Store::Memory(buckets) => Some(buckets),
            Store::Work(_) => None,
        }
    }

    /// The work folder, if they are in one.
    pub fn work_folder(&self) -> Option<&Path> {
        match &self.store {
            Store::Memory(_) => None,
            Store::Work(work) => Some(work.folder()),
        }
    }

    /// A bucket. Its items are the keys' in the order in which they came, then dummies.
    ///
    /// # Errors
    /// If the disk of a work folder fails.
    pub fn bucket(&self, number: usize) -> Result<Bucket, Failure> {
        let (items, places, records) = match &self.store {
            Store::Memory(MemoryBuckets { size, items, places }) => {
                let of_bucket = number * size..(number + 1) * size;
                (items[of_bucket.clone()].to_vec(), places[of_bucket].to_vec(), None)
            }
            Store::Work(work) => {
                let (items, records) = work.items(number)?;
                (items, work.rows(number)?, Some(records))
            }
        };
        Ok(Bucket { number, count: self.count, items, places, records })
    }

    /// The same, of a run that is kept in a record.
    pub(crate) fn going(self, going: Option<Going>) -> Self {
        Self { going, ..self }
    }

    /// Where to keep what the runs find; `None` where that is memory. Buckets that are finished are not due any more.
    ///
    /// # Errors
    /// If the folder takes no file.
    pub fn room_for_matches(&mut self) -> Result<Option<KeptMatches>, Failure> {
        match (self.going.take(), self.work_folder()) {
            (Some(going), _) => Ok(Some(KeptMatches::recorded(going, self.count))),
            (None, Some(folder)) => KeptMatches::create(folder, self.count, self.size).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The same with what the runs found.
    pub fn with_matches(self, matches: Option<KeptMatches>) -> Self {
        Self { matches, ..self }
    }

    /// How many items matched in all buckets. For buckets in a work folder, when the conversation is over.
    ///
    /// # Errors
    /// If the record of the run cannot be read.
    pub fn matched(&self) -> Result<u64, Failure> {
        self.matches.as_ref().map_or(Ok(0), KeptMatches::count)
    }

    /// The rows of a bucket's items that matched, each with its number among them; the highest number instead of the row of a dummy, which no
    /// honest side matches. For buckets in a work folder.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn found_in(&self, bucket: usize) -> Result<Found, Failure> {
        let (Store::Work(work), Some(matches)) = (&self.store, &self.matches) else { return Ok(Found::default()) };
        let (rows, (numbers, payloads)) = (work.rows(bucket)?, matches.of(bucket)?);
        let row = |(at, number): (u32, u32)| (rows.get(number as usize).copied().unwrap_or(NO_PLACE), at);
        Ok(Found { rows: (0..).zip(numbers).map(row).collect(), payloads })
    }

    /// Runs those that are due one after the other, each in a session of its own within that of the conversation, which
    /// holds again behind the last. Gives what the runs give.
    ///
    /// # Errors
    /// That of the first run that fails.
    pub fn each<T>(
        &self,
        ch: &mut Channel,
        due: &[usize],
        run: impl FnMut(usize, &mut Channel) -> Result<T, Abort>,
    ) -> Result<Vec<T>, Abort> {
        in_sessions(due.iter().map(|&bucket| (bucket, bucket)), ch, run)
    }

    /// Runs all buckets pass by pass, in the sessions of [`Self::each`]: no bucket is compared before every bucket's
    /// first pass is done, and none is finished before all are compared. `input` is a bucket's input, which is made
    /// once for each of the first two passes, and `commit` the first pass. What a run gives goes through `keep` if
    /// nothing is left to be said of it. Gives what the runs give.
    ///
    /// # Errors
    /// That of the first pass of a bucket that fails.
    pub fn each_in_passes<I, O>(
        &self,
        input: impl Fn(usize) -> Result<I, Abort>,
        ch: &mut Channel,
        rng: &mut SecretRng,
        commit: impl Fn(&I, &mut Channel, &mut SecretRng) -> Result<Compare<I, O>, Abort>,
        mut keep: impl FnMut(usize, &mut O) -> Result<(), Abort>,
    ) -> Result<Vec<O>, Abort> {
        let mut between = self.work_folder().map(|folder| BetweenPasses::create(folder, self.count)).transpose()?;
        let committed = in_sessions((0..self.count).map(|bucket| (bucket, bucket)), ch, |bucket, ch| {
            let mut compare = commit(&input(bucket)?, ch, rng)?;
            if let Some(between) = &mut between {
                between.put(bucket, &mut compare.kept)?;
            }
            Ok(compare)
        })?;
        let compare = |(bucket, mut compare): (usize, Compare<I, O>), ch: &mut Channel| {
            if let Some(between) = &between {
                compare.kept = between.take(bucket)?;
            }
            let finish = compare.compare(input(bucket)?, ch, rng)?;
            // What it found is most of a run's memory from here on.
            Ok(match finish {
                Finish::Done(mut output) => {
                    keep(bucket, &mut output)?;
                    Finish::Done(output)
                }
                last => last,
            })
        };
        let compared = in_sessions(
            committed.into_iter().enumerate().map(|(bucket, state)| (bucket, (bucket, state))),
            ch,
            compare,
        )?;
        in_sessions(compared.into_iter().enumerate(), ch, |finish, ch| finish.finish(ch))
    }

    /// A hash of a bucket's items and records, in their order.
    fn fingerprint(&self, bucket: usize) -> Result<[u8; 32], Failure> {
        let Bucket { items, records, .. } = self.bucket(bucket)?;
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 items of a bucket that is kept v1");
        hasher.update(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| _ = hasher.update(&item.to_le_bytes()));
        hasher.update(&records.unwrap_or_default());
        Ok(*hasher.finalize().as_bytes())
    }

    /// [`Self::each_in_passes`] of a run with two passes that is kept in a record: what is through a pass is not due any
    /// more, and what the first pass leaves is kept until the second. `again` makes a run of it. `keep` keeps what a bucket
    /// has found, with the hash of all that was said.
    ///
    /// # Errors
    /// That of the first pass of a bucket that fails, or if the record cannot be read or written.
    pub fn each_in_kept_passes<I, O>(
        &self,
        going: &RefCell<Option<KeptMatches>>,
        input: impl Fn(usize) -> Result<I, Abort>,
        ch: &mut Channel,
        rng: &mut SecretRng,
        (commit, again): (
            impl Fn(&I, &mut Channel, &mut SecretRng) -> Result<Compare<I, O>, Abort>,
            impl Fn(&[u8], Secret<Vec<Gf128>>) -> Result<Compare<I, O>, Unsupported>,
        ),
        mut keep: impl FnMut(usize, &mut O, Option<[u8; 32]>) -> Result<(), Abort>,
    ) -> Result<Vec<O>, Abort> {
        let not_kept = || Unsupported::new("a run that is kept pass by pass", "omit --resume");
        let with = |work: &mut dyn FnMut(&mut Going) -> Result<(), Abort>| match going.borrow_mut().as_mut() {
            Some(kept) => work(kept.going().ok_or_else(not_kept)?),
            None => Err(not_kept().into()),
        };
        let (mut first, mut last) = (Vec::new(), Vec::new());
        with(&mut |going| {
            (first, last) = (going.due_first().to_vec(), going.due().to_vec());
            Ok(())
        })?;
        in_sessions(first.into_iter().map(|bucket| (bucket, bucket)), ch, |bucket, ch| {
            with(&mut |going| Ok(going.begin_bucket()?))?;
            let Compare { keys, kept, .. } = commit(&input(bucket)?, ch, rng)?;
            let keys = keys.ok_or_else(not_kept)?;
            let (transcript, of) = (ch.transcript().unwrap_or_default(), (ch.session(), self.fingerprint(bucket)?));
            with(&mut |going| Ok(going.end_commit(bucket, &transcript, of, (&keys, &kept))?))
        })?;
        if !last.is_empty() {
            with(&mut |going| going.begin_to_compare(ch))?;
        }
        let whole = ch.session();
        let mut outputs = Vec::with_capacity(last.len());
        for bucket in last {
            let mut committed = None;
            with(&mut |going| {
                committed = Some(going.committed(bucket)?);
                Ok(())
            })?;
            let Committed { session, input: of, keys, kept } = committed.ok_or_else(not_kept)?;
            // With other payloads under the same keystream, the receiver would see their difference.
            if of != self.fingerprint(bucket)? {
                let (fault, mend) = ("a bucket has other items than it has committed to", "please report this");
                return Err(Failure::new(code::INTERNAL, fault, mend).into());
            }
            ch.bind_session(session);
            match again(&keys, kept)?.compare(input(bucket)?, ch, rng)? {
                Finish::Done(mut output) => {
                    keep(bucket, &mut output, ch.transcript())?;
                    outputs.push(output);
                }
                // A third pass is not kept.
                Finish::Last(..) => return Err(not_kept().into()),
            }
        }
        ch.bind_session(whole);
        Ok(outputs)
    }
}

impl Bucket {
    /// Its number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// For each item its place among the items as they came; `None` for a dummy.
    pub fn places(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        self.places.iter().map(|&place| (place != NO_PLACE).then_some(place as usize))
    }

    /// The payloads of the items, of `width` bytes each: those that came with their keys, or else of the `own` ones of
    /// the table's keys; those of dummies are zero.
    pub fn payloads(&mut self, own: &[u8], width: usize) -> Vec<u8> {
        match self.records.take() {
            Some(records) => records,
            None => self.records(own, width),
        }
    }

    /// The values of the items, `width` for each: those that came with their keys, or else of the `own` ones of the table's
    /// keys; those of dummies are zero.
    pub fn values(&mut self, own: &[i64], width: usize) -> Vec<i64> {
        match self.records.take() {
            Some(records) => records.as_chunks().0.iter().map(|value| i64::from_le_bytes(*value)).collect(),
            None => self.records(own, width),
        }
    }

    /// The records of the items, of `width` values each, from the `own` ones of the table's keys; those of
    /// dummies are zero. The work is the same for keys and for dummies: the other side could time it.
    pub fn records<T: Maskable>(&self, own: &[T], width: usize) -> Vec<T> {
        let mut all = Vec::with_capacity(self.items.len() * width);
        let keys = own.len().checked_div(width).unwrap_or(0);
        if keys == 0 {
            all.resize(self.items.len() * width, T::default());
            return all;
        }
        for (number, place) in self.places().enumerate() {
            // Behind the table's keys are the dummies of --pad-to. A bucket's keys are this far apart, about.
            let place = place.filter(|&place| place < keys);
            let other = (number * self.count + self.number) % keys;
            let (record, mask) = place.map_or((other, T::NONE), |place| (place, T::ALL));
            all.extend(own[record * width..(record + 1) * width].iter().map(|&value| value & mask));
        }
        all
    }

    /// How many items are dummies, the last ones, where the table has `keys` keys in memory.
    pub fn dummies(&self, keys: usize) -> usize {
        self.places().filter(|place| place.is_none_or(|place| place >= keys)).count()
    }
}

/// Calls `step` with what there is of each bucket, which comes with its number, in the session of that bucket. Behind the last bucket, the
/// conversation's session holds again.
fn in_sessions<S, T>(
    of_buckets: impl ExactSizeIterator<Item = (usize, S)>,
    ch: &mut Channel,
    mut step: impl FnMut(S, &mut Channel) -> Result<T, Abort>,
) -> Result<Vec<T>, Abort> {
    let whole = ch.session();
    let mut outputs = Vec::with_capacity(of_buckets.len());
    for (bucket, state) in of_buckets {
        ch.bind_session(super::session(&whole, bucket as u32, 0));
        outputs.push(step(state, ch)?);
    }
    ch.bind_session(whole);
    Ok(outputs)
}

/// The bucket of each item: `floor(F(item) buckets / 2^128)` for a pseudo-random function `F` of 128 bits.
pub(crate) fn numbers(items: &[u128], salt: u128, buckets: usize) -> Vec<u16> {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-28 key of the division into buckets v1");
    let mut key = [0; 16];
    hasher.update(&salt.to_le_bytes()).finalize_xof().fill(&mut key);
    let function = DigestPrf::new(u128::from_le_bytes(key));
    let mut numbers = Vec::with_capacity(items.len());
    let mut hashes = vec![0; ITEMS_AT_A_TIME.min(items.len())];
    for items in items.chunks(ITEMS_AT_A_TIME) {
        let hashes = &mut hashes[..items.len()];
        function.eval(items, hashes);
        numbers.extend(hashes.iter().map(|&hash| scale(hash, buckets)));
    }
    numbers
}

/// `floor(hash buckets / 2^128)`, for at most 2^16 buckets.
fn scale(hash: u128, buckets: usize) -> u16 {
    let (high, low, buckets) = (hash >> 64, hash & u128::from(u64::MAX), buckets as u128);
    ((high * buckets + ((low * buckets) >> 64)) >> 64) as u16
}

#[cfg(test)]
mod tests {
    use vesica_protocols::passes::LaterPasses;
    use vesica_structures::fields::Gf128;
    use vesica_structures::secret::Secret;
    use vesica_testkit::try_two_party;

    use super::*;

    fn items(count: u128) -> Vec<u128> {
        (0..count).map(|number| (number << 64) | (number * number)).collect()
    }

    fn dummies() -> impl Iterator<Item = u128> {
        (0..).map(|number| u128::MAX - number)
    }

    fn divide(count: u128, salt: u128, buckets: usize, size: usize) -> Result<Buckets, Overflow> {
        Buckets::new(items(count), salt, buckets, size, dummies())
    }

    #[test]
    fn every_item_is_in_one_bucket_and_all_buckets_are_full() {
        for (count, buckets, size) in
            [(0, 3, 1), (1, 1, 1), (1, 64, 1), (1000, 3, 449), (5000, 64, 200), (9, 1 << 16, 9)]
        {
            let divided = divide(count, 7, buckets, size).expect("room");
            assert_eq!(divided.count(), buckets);
            let (mut seen, mut fresh) = (vec![false; count as usize], Vec::new());
            for bucket in 0..buckets {
                let bucket = divided.bucket(bucket).expect("in memory");
                assert_eq!((bucket.items.len(), bucket.places.len()), (size, size));
                for (&item, place) in bucket.items.iter().zip(bucket.places()) {
                    match place {
                        Some(place) => {
                            assert_eq!(item, items(count)[place]);
                            assert!(!std::mem::replace(&mut seen[place], true));
                        }
                        None => fresh.push(item),
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen));
            let missing = buckets * size - count as usize;
            assert_eq!(fresh, dummies().take(missing).collect::<Vec<_>>(), "each dummy once");
        }
    }

    /// Both sides put an item into the bucket of the same number, whatever else they have.
    #[test]
    fn a_bucket_depends_on_the_item_and_the_salt_alone() {
        let all = numbers(&items(3000), 5, 64);
        let some: Vec<u128> = items(3000).into_iter().step_by(7).collect();
        assert!(numbers(&some, 5, 64).into_iter().eq(all.iter().copied().step_by(7)));
        let same = all.iter().zip(numbers(&items(3000), 6, 64)).filter(|(one, other)| **one == *other).count();
        assert!(same < 100, "{same} of 3000 items have one bucket under two salts, where 47 are expected");
    }

    /// Chi-squared with 63 degrees of freedom exceeds 150 with probability 2^-31.
    #[test]
    fn loads_are_uniform() {
        let mut loads = [0u32; 64];
        for bucket in numbers(&items(64_000), 1, 64) {
            loads[usize::from(bucket)] += 1;
        }
        let chi: f64 = loads.iter().map(|&load| (f64::from(load) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 150.0 && chi > 20.0, "{chi}");
    }

    #[test]
    fn the_number_is_the_floor_of_the_product() {
        for (hash, buckets, expected) in [
            (0, 3, 0),
            (u128::MAX, 3, 2),
            (u128::MAX, 1 << 16, u16::MAX),
            (u128::MAX / 3, 3, 0),
            (u128::MAX / 3 + 1, 3, 1),
            (u128::MAX / 3 * 2 + 1, 3, 2),
        ] {
            assert_eq!(scale(hash, buckets), expected, "{hash} {buckets}");
        }
    }

    /// Each run is bound to the session of its bucket; behind the last the conversation has its own again.
    #[test]
    fn every_bucket_is_run_in_its_own_session() {
        let seen = |ch: &mut Channel, _: &mut SecretRng| {
            ch.bind_session([7; 32]);
            let buckets = divide(9, 1, 5, 9).expect("room");
            let seen = buckets.each(ch, &[0, 1, 2, 3, 4], |bucket, ch| Ok((bucket, ch.session())))?;
            Ok((seen, ch.session()))
        };
        let expected = (0..5).map(|bucket| (bucket, crate::buckets::session(&[7; 32], bucket as u32, 0))).collect();
        let expected = (expected, [7; 32]);
        let (sender, receiver) = try_two_party(seen, seen);
        assert_eq!([sender.result.as_ref().ok(), receiver.result.as_ref().ok()], [Some(&expected); 2]);
    }

    /// A bucket's number in its first two passes, and the sessions of its passes.
    type Seen = ([usize; 2], [[u8; 32]; 3]);

    /// A run that notes these: the first of each is there.
    struct Noting(Seen);

    impl LaterPasses<usize, Seen> for Noting {
        fn compare(
            self: Box<Self>,
            _: Secret<Vec<Gf128>>,
            again: usize,
            ch: &mut Channel,
            _: &mut SecretRng,
        ) -> Result<Finish<Seen>, Abort> {
            let ([bucket, _], [first, ..]) = self.0;
            let seen = ([bucket, again], [first, ch.session(), [0; 32]]);
            let third =
                |(buckets, [first, second, _]): Seen, ch: &mut Channel| Ok((buckets, [first, second, ch.session()]));
            Ok(Finish::Last(seen, Box::new(third)))
        }

        fn finish(
            self: Box<Self>,
            _: Secret<Vec<Gf128>>,
            _: &usize,
            seen: Seen,
            _: &mut Channel,
        ) -> Result<Seen, Abort> {
            Ok(seen)
        }
    }

    /// So are all passes of it, which are given the bucket's input twice.
    #[test]
    fn every_pass_of_a_bucket_is_in_its_own_session() {
        let seen = |ch: &mut Channel, rng: &mut SecretRng| {
            ch.bind_session([7; 32]);
            let buckets = divide(9, 1, 5, 9).expect("room");
            let commit = |&bucket: &usize, ch: &mut Channel, _: &mut SecretRng| {
                let later = Box::new(Noting(([bucket; 2], [ch.session(); 3])));
                Ok(Compare { kept: Secret::new(Vec::new()), keys: None, later })
            };
            let seen = buckets.each_in_passes(Ok, ch, rng, commit, |_, _| Ok(()))?;
            Ok((seen, ch.session()))
        };
        let session = |bucket: usize| crate::buckets::session(&[7; 32], bucket as u32, 0);
        let expected = (0..5).map(|bucket| ([bucket; 2], [session(bucket); 3])).collect();
        let expected = (expected, [7; 32]);
        let (sender, receiver) = try_two_party(seen, seen);
        assert_eq!([sender.result.as_ref().ok(), receiver.result.as_ref().ok()], [Some(&expected); 2]);
    }

    #[test]
    fn every_key_brings_its_record_and_dummies_bring_zeros() {
        // Of 40 items the last 10 are dummies of --pad-to.
        let buckets = Buckets::new((100..140).collect(), 3, 4, 40, 1000..).expect("room");
        let own: Vec<u8> = (0..30).flat_map(|place| [place + 1, 200]).collect();
        let mut seen = 0;
        for bucket in 0..4 {
            let bucket = buckets.bucket(bucket).expect("in memory");
            let all = bucket.records(&own, 2);
            assert_eq!(all.len(), 80);
            let mut keys = 0;
            for (record, place) in all.chunks(2).zip(bucket.places()) {
                let key = place.filter(|&place| place < 30);
                assert_eq!(record, key.map_or([0, 0], |place| [place as u8 + 1, 200]));
                keys += usize::from(key.is_some());
            }
            assert_eq!(bucket.dummies(30), 40 - keys);
            assert!(bucket.places().take(keys).all(|place| place.is_some_and(|place| place < 30)), "keys first");
            assert_eq!(bucket.records(&[0i64; 0], 3), [0; 120]);
            assert_eq!(bucket.records(&[0u8; 0], 0), [0; 0]);
            seen += keys;
        }
        assert_eq!(seen, 30);
    }

    #[test]
    fn a_bucket_with_too_many_items_is_an_overflow() {
        assert_eq!(divide(5, 1, 1, 4).err(), Some(Overflow));
        assert!(divide(4, 1, 1, 4).is_ok());
    }
}
