//! Sets to attack: telephone numbers, of which the receiver has a list.

use std::collections::HashSet;

use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;

/// Both parties' sets and the receiver's dictionary.
pub struct Scene {
    /// What the sender may have.
    pub dictionary: Vec<u128>,
    /// The sender's items. One in 16 is not in the dictionary.
    pub sent: Vec<u128>,
    /// The receiver's items, all in the dictionary; a quarter of them is the sender's.
    pub asked: Vec<u128>,
    /// Which items of the dictionary are the sender's, ascending: what an attack must find.
    pub members: Vec<usize>,
}

/// Sets of `items` items below a dictionary of `entries`, at least twice as many.
pub fn scene(items: usize, entries: usize, seed: u64) -> Scene {
    assert!(2 * items <= entries, "a dictionary of at least twice as many entries");
    let mut rng = SecretRng::insecure_from_seed(seed);
    let dictionary: Vec<u128> = (0..entries).map(|number| digest("+41", number)).collect();
    let order = random_order(entries, &mut rng);
    let strangers = items / 16;
    let mut members: Vec<usize> = order[..items - strangers].iter().map(|&i| i as usize).collect();
    members.sort_unstable();
    let mut sent: Vec<u128> = members.iter().map(|&i| dictionary[i]).collect();
    sent.extend((0..strangers).map(|number| digest("+1", number)));
    let common = items / 4;
    let of_receiver = order[..common].iter().chain(&order[items..][..items - common]);
    let asked: Vec<u128> = of_receiver.map(|&i| dictionary[i as usize]).collect();
    let mut shuffled =
        |items: Vec<u128>| random_order(items.len(), &mut rng).into_iter().map(|i| items[i as usize]).collect();
    let (sent, asked) = (shuffled(sent), shuffled(asked));
    Scene { dictionary, sent, asked, members }
}

/// How the engine would digest such a key: the attacker can do that as well.
fn digest(country: &str, number: usize) -> u128 {
    let hash = blake3::hash(format!("{country} {number:09}").as_bytes());
    u128::from_le_bytes(*hash.as_bytes().first_chunk().expect("32 bytes"))
}

impl Scene {
    /// How many of the members the receiver has as well: what the protocol's output tells it.
    pub fn known_by_output(&self) -> usize {
        let asked: HashSet<u128> = self.asked.iter().copied().collect();
        self.members.iter().filter(|&&i| asked.contains(&self.dictionary[i])).count()
    }

    /// How many of `found` are the sender's, and how many are not.
    pub fn judge(&self, found: &[usize]) -> (usize, usize) {
        let members: HashSet<usize> = self.members.iter().copied().collect();
        let right = found.iter().filter(|i| members.contains(i)).count();
        (right, found.len() - right)
    }
}
