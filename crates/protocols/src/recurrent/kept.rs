//! Long preparations that go on where they broke off: a set is prepared part by part, and what was computed for
//! a part is kept until the set is prepared.

use rayon::prelude::*;
use vesica_mpc::rfc9497::{Output, SecretKey};
use vesica_party::Abort;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::items::inputs;

/// Items whose outputs are held at a time where none are kept.
const ITEMS_AT_A_TIME: usize = 1 << 14;

/// The parts of a set whose outputs are kept: some 0.2 s of one core's work each.
pub const PARTS: Parts = Parts { least: 1 << 12, log_mean: 14, most: 1 << 15 };

/// A name that parts have only if all that decides on their outputs is equal. Whoever knows all items of a part can
/// compute it.
pub type PartName = [u8; 32];

/// Keeps what was computed for parts, so that a preparation that broke off takes it.
pub trait Keeper: Sync {
    /// Hears in advance of which parts `what` is about to be done, and how many items each has.
    fn begin(&self, what: &str, parts: &[(PartName, usize)]);

    /// Fills `content` with what was kept for a part; says whether there was so much.
    fn find(&self, part: &PartName, content: &mut [u8]) -> bool;

    /// Keeps what was computed for a part. The same name always comes with the same content.
    ///
    /// # Errors
    /// If it cannot be kept: what was kept before stays.
    fn keep(&self, part: &PartName, content: &[u8]) -> Result<(), Abort>;

    /// Hears that so many items more are done.
    fn done(&self, items: usize);
}

/// A preparation that may go on where an earlier one broke off.
pub struct Kept<'a> {
    /// What the secret key is drawn from: the same each time. Of a service that has no updates, no other set's.
    pub of_key: SecretRng,
    /// What a service that has no updates draws everything else from, so that the same set comes to the same state.
    pub of_rest: SecretRng,
    /// What earlier attempts have kept.
    pub keeper: &'a dyn Keeper,
}

/// How a set is divided: a part ends with an item whose first bits are zero. Whoever adds an item to a set, or removes
/// one, changes the part that has it, and no other.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Fewest items of each part but the last.
    pub least: usize,
    /// `log2` of how many follow, on the average, until a part ends.
    pub log_mean: u32,
    /// Most items.
    pub most: usize,
}

impl Parts {
    /// The parts, in the order of the items.
    pub fn of(self, mut items: &[u128]) -> Vec<&[u128]> {
        let mut parts = Vec::new();
        while !items.is_empty() {
            let (part, rest) = items.split_at(self.first(items));
            parts.push(part);
            items = rest;
        }
        parts
    }

    fn first(self, items: &[u128]) -> usize {
        let most = items.len().min(self.most);
        let mask = (1 << self.log_mean) - 1;
        let end = items[..most].iter().skip(self.least - 1).position(|item| item & mask == 0);
        end.map_or(most, |end| end + self.least)
    }
}

/// The function of RFC 9497 on all items of a set, part by part.
#[derive(Clone, Copy)]
pub struct Evaluation<'a> {
    key: &'a SecretKey,
    /// How many bytes of each output count; the others are zero where the output was kept.
    width: usize,
    keeper: Option<&'a dyn Keeper>,
}

impl<'a> Evaluation<'a> {
    /// With this key; of each output, the first `width` bytes are used.
    pub fn new(key: &'a SecretKey, width: usize, keeper: Option<&'a dyn Keeper>) -> Self {
        Self { key, width, keeper }
    }

    /// As far as a tag needs an output, and with payloads the key of one.
    pub fn of_tags(key: &'a SecretKey, payload_bytes: usize, keeper: Option<&'a dyn Keeper>) -> Self {
        Self::new(key, if payload_bytes > 0 { 32 } else { 16 }, keeper)
    }

    /// Gives the outputs for these items, in their order, to `take`.
    ///
    /// # Errors
    /// If they cannot be kept.
    pub fn of(&self, items: &[u128], mut take: impl FnMut(&[Output])) -> Result<(), Abort> {
        let Some(keeper) = self.keeper else {
            items.chunks(ITEMS_AT_A_TIME).for_each(|items| take(&self.key.evaluate(inputs(items))));
            return Ok(());
        };
        let parts = PARTS.of(items);
        let names: Vec<(PartName, usize)> = parts.par_iter().map(|items| (self.name(items), items.len())).collect();
        keeper.begin("prepared", &names);
        for (items, (name, _)) in parts.into_iter().zip(&names) {
            take(&self.part(items, name, keeper)?);
            keeper.done(items.len());
        }
        Ok(())
    }

    fn part(&self, items: &[u128], name: &PartName, keeper: &dyn Keeper) -> Result<Secret<Vec<Output>>, Abort> {
        let mut content = Secret::new(vec![0; items.len() * self.width]);
        if keeper.find(name, &mut content) {
            let mut outputs = Secret::new(vec![[0; size_of::<Output>()]; items.len()]);
            for (output, kept) in outputs.iter_mut().zip(content.chunks_exact(self.width)) {
                output[..self.width].copy_from_slice(kept);
            }
            return Ok(outputs);
        }
        let outputs = self.key.evaluate(inputs(items));
        for (output, kept) in outputs.iter().zip(content.chunks_exact_mut(self.width)) {
            kept.copy_from_slice(&output[..self.width]);
        }
        keeper.keep(name, &content)?;
        Ok(outputs)
    }

    fn name(&self, items: &[u128]) -> PartName {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 items whose outputs are kept v1");
        hasher.update(&[self.key.mode() as u8]).update(self.key.public());
        hasher.update(&(self.width as u64).to_le_bytes()).update(&(items.len() as u64).to_le_bytes());
        *hasher.update(bytemuck::cast_slice(items)).finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Mutex;

    use vesica_mpc::rfc9497::Mode;

    use super::*;

    /// Keeps parts in memory, and counts the items that were found.
    #[derive(Default)]
    struct InMemory {
        parts: Mutex<HashMap<PartName, Vec<u8>>>,
        found: Mutex<usize>,
    }

    impl Keeper for InMemory {
        fn begin(&self, _: &str, _: &[(PartName, usize)]) {}

        fn find(&self, part: &PartName, content: &mut [u8]) -> bool {
            let parts = self.parts.lock().expect("no panic");
            let Some(kept) = parts.get(part).filter(|kept| kept.len() == content.len()) else { return false };
            content.copy_from_slice(kept);
            *self.found.lock().expect("no panic") += 1;
            true
        }

        fn keep(&self, part: &PartName, content: &[u8]) -> Result<(), Abort> {
            assert!(self.parts.lock().expect("no panic").insert(*part, content.to_vec()).is_none(), "kept once");
            Ok(())
        }

        fn done(&self, _: usize) {}
    }

    fn items(count: usize) -> Vec<u128> {
        let mut rng = SecretRng::insecure_from_seed(1);
        (0..count).map(|_| rng.block()).collect()
    }

    #[test]
    fn parts_are_all_of_a_set_and_a_change_stays_in_one() {
        let sizes = Parts { least: 8, log_mean: 5, most: 64 };
        let mut all = items(5000);
        all.sort_unstable();
        let before: Vec<Vec<u128>> = sizes.of(&all).into_iter().map(<[u128]>::to_vec).collect();
        assert_eq!(before.concat(), all);
        assert!(before.iter().rev().skip(1).all(|part| (8..=64).contains(&part.len())));
        assert!((80..250).contains(&before.len()), "{}", before.len());
        let before: HashSet<Vec<u128>> = before.into_iter().collect();
        for place in [0, 777, 4999] {
            let mut changed = all.clone();
            changed[place] ^= 1 << 70;
            let now = sizes.of(&changed);
            let new = now.iter().filter(|part| !before.contains(**part)).count();
            assert!((1..12).contains(&new), "{place}: {new} of {} parts", now.len());
            changed.remove(place);
            let now = sizes.of(&changed);
            let new = now.iter().filter(|part| !before.contains(**part)).count();
            assert!(new < 12, "{place}: {new} of {} parts", now.len());
        }
        assert!(sizes.of(&[]).is_empty());
        // Chosen so that each ends a part, if it can.
        assert!(sizes.of(&vec![0; 100]).iter().rev().skip(1).all(|part| part.len() == 8));
    }

    #[test]
    fn outputs_that_were_kept_are_those_of_the_function_and_no_other_keys_or_widths() {
        let mut rng = SecretRng::insecure_from_seed(2);
        let (keeper, items) = (InMemory::default(), items(20_000));
        let [key, other] = [0; 2].map(|_| SecretKey::random(Mode::Oprf, &mut rng));
        let proving = SecretKey::from_bytes(Mode::Voprf, &Secret::new(*key.as_bytes())).expect("a key");
        let of = |key: &SecretKey, width: usize, items: &[u128], keeper| {
            let mut all = Vec::new();
            Evaluation::new(key, width, keeper).of(items, |outputs| all.extend_from_slice(outputs)).expect("kept");
            all.iter().map(|output: &Output| output[..width].to_vec()).collect::<Vec<_>>()
        };
        let count = PARTS.of(&items).len();
        // In parts of the same sizes.
        let changed: Vec<u128> = items.iter().map(|item| item ^ 1 << 100).collect();
        for (key, width, items, found) in [
            (&key, 16, &items, 0),
            (&key, 16, &items, count),
            (&key, 16, &changed, 0),
            (&key, 40, &items, 0),
            (&other, 16, &items, 0),
            (&proving, 16, &items, 0),
        ] {
            *keeper.found.lock().expect("no panic") = 0;
            assert_eq!(of(key, width, items, Some(&keeper)), of(key, width, items, None));
            assert_eq!(*keeper.found.lock().expect("no panic"), found, "{width}");
        }
    }
}
