//! A hash that takes memory and time, made of each item before the protocol sees it: Argon2id
//! (RFC 9106). Whoever gets hold of a server's state, secret key included, can test guesses at its
//! keys no faster than this hash allows. Items are hashed under the salt of the set, so that no work
//! serves for two sets.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Block, Params, Version};
use rayon::prelude::*;
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

/// Items as a table gives them, in their order, and what each was hashed to. Kept while a server
/// runs, so that a table that has changed takes only the hashes of what is new. Never written
/// to a file: there, it would undo what the hash is for.
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
    /// there already are not hashed again. `told` hears how many are, and about how long they take;
    /// `stop` is asked between two. `memory` bounds the process, in bytes; `None` for what is free.
    ///
    /// # Errors
    /// If there is no memory for a hash on each thread, and what `stop` says.
    pub(super) fn hash(
        self,
        salt: u128,
        items: &mut [u128],
        known: &mut Hashed,
        memory: Option<u64>,
        told: impl FnOnce(usize, Duration),
        stop: &(dyn Fn() -> Option<Failure> + Sync),
    ) -> Result<(), Failure> {
        let of = |item: &u128| known.from.binary_search(item).ok().and_then(|place| known.to.get(place)).copied();
        let mut hashes: Secret<Vec<Option<u128>>> = Secret::new(items.iter().map(of).collect());
        let missing = hashes.iter().filter(|hash| hash.is_none()).count();
        if missing > 0 {
            let threads = rayon::current_num_threads().min(missing) as u32;
            if let Some(budget) = Budget::now(memory).filter(|budget| budget.left < self.bytes() * u64::from(threads)) {
                return Err(self.no_memory(&budget));
            }
            let mut blocks = self.memory()?;
            let start = Instant::now();
            self.one(salt, 0, &mut blocks)?;
            told(missing, start.elapsed().saturating_mul(missing as u32) / threads);
            drop(blocks);
            hashes.par_iter_mut().zip(&*items).filter(|(hash, _)| hash.is_none()).try_for_each_init(
                || self.memory(),
                |memory, (hash, &item)| {
                    if let Some(failure) = stop() {
                        return Err(failure);
                    }
                    let blocks = memory.as_mut().map_err(|failure| failure.clone())?;
                    *hash = Some(self.one(salt, item, blocks)?);
                    Ok(())
                },
            )?;
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
        HASH.hash(7, &mut items, known, None, |count, _| computed = count, &|| None).expect("hashes");
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
        let failure = HASH.hash(7, &mut [1, 2], &mut Hashed::default(), None, |_, _| (), &stop).expect_err("stopped");
        assert_eq!(failure.code, code::INTERRUPTED);
        let failure = HASH.hash(7, &mut [1, 2], &mut Hashed::default(), Some(1), |_, _| (), &|| None);
        let failure = failure.expect_err("no memory");
        assert!(failure.to_string().contains("--slow-hash") && failure.code == code::REFUSED, "{failure}");
    }
}
