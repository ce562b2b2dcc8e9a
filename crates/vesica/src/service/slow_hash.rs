//! A hash that takes memory and time, made of each item before the protocol sees it: Argon2id
//! (RFC 9106). Whoever gets hold of a server's state, secret key included, can test guesses at its
//! keys no faster than this hash allows. Items are hashed under the salt of the set, so that no work
//! serves for two sets.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Block, Params, Version};
use rayon::prelude::*;
use vesica_protocols::recurrent::kept::{Keeper, PartName, Parts};
use vesica_structures::secret::Secret;

use crate::failure::{Failure, code};
use crate::memory::{Budget, Bytes};
use crate::words::counted;

/// How much work a hash is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowHash {
    /// Memory, in KiB.
    memory: u32,
    /// Passes over the memory.
    passes: u32,
}

/// Passes where nothing is said of them.
const PASSES: u32 = 2;

/// Most passes. With [`MOST_MEMORY`] one hash takes some ten seconds: no server can make a client
/// compute for longer before it notices.
const MOST_PASSES: u32 = 16;

/// Most memory, in KiB.
const MOST_MEMORY: u32 = 1 << 20;

impl fmt::Display for SlowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, passes } = self;
        if memory % 1024 == 0 { write!(f, "{}MiB,{passes}", memory / 1024) } else { write!(f, "{memory}KiB,{passes}") }
    }
}

impl FromStr for SlowHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (memory, passes) = text.split_once(',').map_or((text, None), |(memory, passes)| (memory, Some(passes)));
        let memory = [("KiB", 1), ("MiB", 1 << 10), ("GiB", 1 << 20)].into_iter().find_map(|(unit, kib)| {
            let number: u32 = memory.strip_suffix(unit)?.parse().ok()?;
            number.checked_mul(kib).filter(|memory| (8..=MOST_MEMORY).contains(memory))
        });
        let passes =
            passes.map_or(Some(PASSES), |passes| passes.parse().ok()).filter(|n| (1..=MOST_PASSES).contains(n));
        match (memory, passes) {
            (Some(memory), Some(passes)) => Ok(Self { memory, passes }),
            _ => Err(format!(
                "write the memory that one hash takes, 8KiB to 1GiB, and after a comma, if you like, the passes over it, \
                 1 to {MOST_PASSES}: for example 19MiB,2"
            )),
        }
    }
}

/// Hashes that are kept in a file until the set is prepared: so many, that naming them costs less than a hundredth of
/// making them, and nobody guesses all items of a part.
const PARTS: Parts = Parts { least: 64, log_mean: 8, most: 512 };

/// For how long hashes are made before they are kept, and how many each thread makes at least: at the end of each such
/// batch, some threads wait for the others.
const BATCH: Duration = Duration::from_secs(2);
const LEAST_OF_A_THREAD: usize = 16;

/// What a long hashing goes by.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    /// Bounds the process, in bytes; `None` for what is free.
    pub memory: Option<u64>,
    /// Asked between two hashes: why to stop.
    pub stop: &'a (dyn Fn() -> Option<Failure> + Sync),
    /// Keeps hashes, so that work that breaks off goes on.
    pub keeper: Option<&'a dyn Keeper>,
}

/// A hash for each item, or none yet.
type Hashes = Secret<Vec<Option<u128>>>;

fn missing(hashes: &[Option<u128>]) -> usize {
    hashes.iter().filter(|hash| hash.is_none()).count()
}

/// Items whose hashes are kept together.
struct Part {
    name: PartName,
    range: Range<usize>,
}

/// Items as a table gives them, in their order, and what each was hashed to. Kept while a server
/// runs, so that a table that has changed takes only the hashes of what is new. Never written
/// to a file so that items can be told from it: there, it would undo what the hash is for.
pub(super) struct Hashed {
    from: Secret<Vec<u128>>,
    to: Secret<Vec<u128>>,
}

impl Default for Hashed {
    fn default() -> Self {
        Self { from: Secret::new(Vec::new()), to: Secret::new(Vec::new()) }
    }
}

impl SlowHash {
    /// Hashes each item in its place, and keeps in `known` all that were hashed. Those that are
    /// there already are not hashed again. `told` hears how many are, and about how long they take.
    ///
    /// # Errors
    /// If there is no memory for a hash on each thread, what `stop` says, and if hashes cannot be kept.
    pub(super) fn hash(
        self,
        salt: u128,
        items: &mut [u128],
        known: &mut Hashed,
        terms: Terms<'_>,
        told: impl FnOnce(usize, Duration),
    ) -> Result<(), Failure> {
        let of = |item: &u128| known.from.binary_search(item).ok().and_then(|place| known.to.get(place)).copied();
        let mut hashes: Hashes = Secret::new(items.iter().map(of).collect());
        if missing(&hashes) > 0 {
            self.hash_missing(salt, items, &mut hashes, terms, told)?;
        }
        let mut order: Secret<Vec<(u128, u128)>> = Secret::new(
            items.iter().zip(hashes.iter()).map(|(&item, hash)| (item, hash.unwrap_or_default())).collect(),
        );
        for (item, hash) in items.iter_mut().zip(order.iter()) {
            *item = hash.1;
        }
        order.sort_unstable();
        known.from = Secret::new(order.iter().map(|&(from, _)| from).collect());
        known.to = Secret::new(order.iter().map(|&(_, to)| to).collect());
        Ok(())
    }

    fn hash_missing(
        self,
        salt: u128,
        items: &[u128],
        hashes: &mut Hashes,
        terms: Terms<'_>,
        told: impl FnOnce(usize, Duration),
    ) -> Result<(), Failure> {
        let threads = rayon::current_num_threads().min(missing(hashes)) as u32;
        let budget = Budget::now(terms.memory);
        if let Some(budget) = budget.filter(|budget| budget.left < self.bytes() * u64::from(threads)) {
            return Err(self.no_memory(&budget));
        }
        let mut blocks = self.memory()?;
        let start = Instant::now();
        self.one(salt, 0, &mut blocks)?;
        let time = start.elapsed();
        drop(blocks);
        let parts = match terms.keeper {
            None => Vec::new(),
            Some(keeper) => self.parts_left(salt, items, hashes, keeper)?,
        };
        match missing(hashes) {
            0 => return Ok(()),
            missing => told(missing, time.saturating_mul(missing as u32) / threads),
        }
        let Some(keeper) = terms.keeper else { return self.fill(salt, items, hashes, terms.stop) };
        let batch = (BATCH.as_nanos() / time.as_nanos().max(1)) as usize;
        let batch = batch.max(LEAST_OF_A_THREAD) * threads as usize;
        let mut parts = &parts[..];
        while !parts.is_empty() {
            let mut items_missing = 0;
            let is_enough = |part: &Part| {
                items_missing += missing(&hashes[part.range.clone()]);
                items_missing >= batch
            };
            let count = parts.iter().position(is_enough).map_or(parts.len(), |last| last + 1);
            let (now, later) = parts.split_at(count);
            let range = now[0].range.start..now[count - 1].range.end;
            self.fill(salt, &items[range.clone()], &mut hashes[range], terms.stop)?;
            for Part { name, range } in now {
                let hashes = &hashes[range.clone()];
                let mut content = Secret::new(Vec::with_capacity(hashes.len() * 16));
                hashes.iter().for_each(|hash| content.extend(hash.unwrap_or_default().to_le_bytes()));
                keeper.keep(name, &content)?;
                keeper.done(range.len());
            }
            parts = later;
        }
        Ok(())
    }

    /// Takes the hashes that were kept; gives the parts of which some are missing.
    fn parts_left(
        self,
        salt: u128,
        items: &[u128],
        hashes: &mut [Option<u128>],
        keeper: &dyn Keeper,
    ) -> Result<Vec<Part>, Failure> {
        let mut end = 0;
        let ranges = PARTS.of(items).into_iter().map(|items| {
            end += items.len();
            end - items.len()..end
        });
        let ranges: Vec<Range<usize>> = ranges.filter(|range| missing(&hashes[range.clone()]) > 0).collect();
        let named = |range: Range<usize>| Ok(Part { name: self.name(salt, &items[range.clone()])?, range });
        let mut parts: Vec<Part> = ranges.into_par_iter().map(named).collect::<Result<_, Failure>>()?;
        let names: Vec<(PartName, usize)> = parts.iter().map(|part| (part.name, part.range.len())).collect();
        keeper.begin("hashed", &names);
        parts.retain(|Part { name, range }| {
            let mut content = Secret::new(vec![0; range.len() * 16]);
            let is_kept = keeper.find(name, &mut content);
            if is_kept {
                let kept = content.as_chunks().0.iter().map(|hash| Some(u128::from_le_bytes(*hash)));
                hashes[range.clone()].iter_mut().zip(kept).for_each(|(to, hash)| *to = hash);
                keeper.done(range.len());
            }
            !is_kept
        });
        Ok(parts)
    }

    /// Hashes what is missing.
    fn fill(
        self,
        salt: u128,
        items: &[u128],
        hashes: &mut [Option<u128>],
        stop: &(dyn Fn() -> Option<Failure> + Sync),
    ) -> Result<(), Failure> {
        hashes.par_iter_mut().zip(items).filter(|(hash, _)| hash.is_none()).try_for_each_init(
            || self.memory(),
            |memory, (hash, &item)| {
                if let Some(failure) = stop() {
                    return Err(failure);
                }
                let blocks = memory.as_mut().map_err(|failure| failure.clone())?;
                *hash = Some(self.one(salt, item, blocks)?);
                Ok(())
            },
        )
    }

    /// The name of a part whose hashes are kept. It goes through the slow hash, too: who knows all items of a part
    /// but one tests guesses at that one no faster by it.
    fn name(self, salt: u128, items: &[u128]) -> Result<PartName, Failure> {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 items whose slow hashes are kept v1");
        hasher.update(&u64::from(self.memory).to_le_bytes()).update(&u64::from(self.passes).to_le_bytes());
        hasher.update(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| _ = hasher.update(&item.to_le_bytes()));
        self.hash_of_set(salt, *hasher.finalize().as_bytes())
    }

    /// A hash of a whole set's hash: by it, too, no guess is tested faster.
    pub(super) fn hash_of_set(self, salt: u128, hash: [u8; 32]) -> Result<[u8; 32], Failure> {
        let mut blocks = self.memory()?;
        let mut slow = [0; 32];
        self.argon2()?
            .hash_password_into_with_memory(&hash, &salt.to_le_bytes(), &mut slow, &mut *blocks)
            .map_err(|_| refused())?;
        Ok(slow)
    }

    fn one(self, salt: u128, item: u128, blocks: &mut [Block]) -> Result<u128, Failure> {
        let mut hash = [0; 16];
        self.argon2()?
            .hash_password_into_with_memory(&item.to_le_bytes(), &salt.to_le_bytes(), &mut hash, blocks)
            .map_err(|_| refused())?;
        Ok(u128::from_le_bytes(hash))
    }

    /// Memory of one hash, in bytes.
    fn bytes(self) -> u64 {
        u64::from(self.memory) << 10
    }

    fn no_memory(self, why: &dyn fmt::Display) -> Failure {
        Failure::new(
            code::REFUSED,
            format_args!("the slow hash takes {} on each thread, and {why}", Bytes(self.bytes())),
            "use fewer threads with --threads, allow more with --memory, or have the server started with a smaller \
             --slow-hash",
        )
    }

    fn argon2(self) -> Result<Argon2<'static>, Failure> {
        let params = Params::new(self.memory, self.passes, 1, None).map_err(|_| refused())?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// What a hash is made in.
    fn memory(self) -> Result<Secret<Vec<Block>>, Failure> {
        let count = Params::new(self.memory, self.passes, 1, None).map_err(|_| refused())?.block_count();
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).map_err(|_| self.no_memory(&"the system gives no more"))?;
        blocks.resize(count, Block::default());
        Ok(Secret::new(blocks))
    }
}

/// Says what is about to be hashed, and for how long.
pub(super) fn announcement(hash: SlowHash, count: usize, time: Duration) -> String {
    let keys = counted(count, "key", "keys");
    format!("hashing {keys} with --slow-hash {hash}, which takes about {:.0} s", time.as_secs_f64().max(1.0))
}

fn refused() -> Failure {
    Failure::new(code::INTERNAL, "the slow hash refused its parameters", "please report this")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: SlowHash = SlowHash { memory: 64, passes: 1 };

    fn hashed(items: &[u128], known: &mut Hashed) -> (Vec<u128>, usize) {
        let (mut items, mut computed) = (items.to_vec(), 0);
        let terms = Terms { memory: None, stop: &|| None, keeper: None };
        HASH.hash(7, &mut items, known, terms, |count, _| computed = count).expect("hashes");
        (items, computed)
    }

    #[test]
    fn items_are_hashed_in_their_places_and_once() {
        let mut known = Hashed::default();
        let (first, computed) = hashed(&[30, 10, 20], &mut known);
        assert_eq!(computed, 3);
        let (second, computed) = hashed(&[20, 40, 30], &mut known);
        assert_eq!((computed, second[0], second[2]), (1, first[2], first[0]));
        let (third, computed) = hashed(&[10], &mut known);
        assert_eq!((computed, third[0]), (1, first[1]), "10 was forgotten with the table that had it");
        assert!(first.iter().all(|&hash| hash > 1 << 64), "{first:?}");
        assert_eq!(hashed(&[], &mut known).1, 0);
    }

    /// Names of parts, which are all that says whose hashes a part has.
    #[test]
    fn a_parts_name_is_that_of_its_items_salt_and_cost() {
        let name = |hash: SlowHash, salt, items: &[u128]| hash.name(salt, items).expect("a name");
        let all = [
            name(HASH, 7, &[1, 2]),
            name(HASH, 7, &[1, 3]),
            name(HASH, 7, &[2, 1]),
            name(HASH, 8, &[1, 2]),
            name(SlowHash { memory: 128, ..HASH }, 7, &[1, 2]),
            name(SlowHash { passes: 2, ..HASH }, 7, &[1, 2]),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(name(HASH, 7, &[1, 2]), all[0]);
    }

    /// The vectors of RFC 9106 have a secret and associated data, which no hash here has. This is
    /// what the authors' own program gives (through argon2-cffi 25.1).
    #[test]
    fn the_hash_is_argon2id() {
        let mut blocks = HASH.memory().expect("memory");
        let one = HASH.one(0x0706_0504_0302_0100_0f0e_0d0c_0b0a_0908, 1, &mut blocks).expect("a hash");
        assert_eq!(one, REFERENCE);
    }

    const REFERENCE: u128 = 0xfb15_8e40_cb0a_eb41_150f_09b3_f3ba_85c5;

    #[test]
    fn another_salt_memory_or_number_of_passes_gives_another_hash() {
        let one = |hash: SlowHash, salt| hash.one(salt, 1, &mut hash.memory().expect("memory")).expect("a hash");
        let all = [
            one(HASH, 7),
            one(HASH, 8),
            one(SlowHash { memory: 128, ..HASH }, 7),
            one(SlowHash { passes: 2, ..HASH }, 7),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_ne!(HASH.hash_of_set(7, [0; 32]).expect("a hash"), HASH.hash_of_set(8, [0; 32]).expect("a hash"));
    }

    #[test]
    fn costs_are_read_as_they_are_written() {
        for (text, written) in [("19MiB", "19MiB,2"), ("64KiB,1", "64KiB,1"), ("1GiB,16", "1024MiB,16")] {
            assert_eq!(text.parse::<SlowHash>().expect(text).to_string(), written);
        }
        for bad in ["", "19", "7KiB", "2GiB", "19MiB,0", "19MiB,17", "19MiB,", "-1MiB", "9999999GiB"] {
            let refusal = bad.parse::<SlowHash>().expect_err(bad);
            assert!(refusal.contains("19MiB,2"), "{refusal}");
        }
    }

    #[test]
    fn it_stops_when_it_is_told_to_and_where_memory_is_short() {
        let stop = || Some(Failure::new(code::INTERRUPTED, "stopped", "none"));
        let hash = |memory, stop| {
            let terms = Terms { memory, stop, keeper: None };
            HASH.hash(7, &mut [1, 2], &mut Hashed::default(), terms, |_, _| ())
        };
        let failure = hash(None, &stop).expect_err("stopped");
        assert_eq!(failure.code, code::INTERRUPTED);
        let failure = hash(Some(1), &|| None).expect_err("no memory");
        assert!(failure.to_string().contains("--slow-hash") && failure.code == code::REFUSED, "{failure}");
    }
}
