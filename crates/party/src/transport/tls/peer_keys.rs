//! The keys of one partner: the one under which it was first known, and those that took its place.

use std::fmt;

use super::identity::{Fingerprint, PublicKey};
use super::statements::{Day, Succession};

/// The keys of one partner. Whatever counts what the partner has used, such as a budget or a quota, counts under the key by
/// which it was first known ([`known_as`](Self::known_as)), so that a new key is no new partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerKeys {
    /// Keys that another one took the place of, each with the last day on which it is good.
    replaced: Vec<(PublicKey, Day)>,
    newest: PublicKey,
}

/// A succession that is of another key than the one that it would have to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is a successor of the key {}, and one of the key {} is looked for", .found.fingerprint(), .expected.fingerprint()
)]
pub struct NotItsSuccessor {
    /// The key to be followed.
    pub expected: PublicKey,
    /// The key whose successor there is.
    pub found: PublicKey,
}

impl From<PublicKey> for PeerKeys {
    fn from(key: PublicKey) -> Self {
        Self { replaced: Vec::new(), newest: key }
    }
}

impl PeerKeys {
    /// The same partner with the key that follows its newest one.
    ///
    /// # Errors
    /// If the succession is of another key, or leads back to one that was replaced.
    pub fn followed_by(mut self, succession: &Succession) -> Result<Self, NotItsSuccessor> {
        if succession.old != self.newest || self.all().any(|key| key == succession.new) {
            return Err(NotItsSuccessor { expected: self.newest, found: succession.old });
        }
        self.replaced.push((self.newest, succession.until));
        self.newest = succession.new;
        Ok(self)
    }

    /// The key under which the partner was first known.
    pub fn known_as(&self) -> PublicKey {
        self.replaced.first().map_or(self.newest, |(key, _)| *key)
    }

    /// The key that nothing has replaced.
    pub fn newest(&self) -> PublicKey {
        self.newest
    }

    /// All keys, also those that are not good any more, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = PublicKey> + '_ {
        self.replaced.iter().map(|(key, _)| *key).chain([self.newest])
    }

    /// The last day on which a key is good; `None` for the newest one and for those of others.
    pub fn last_day(&self, key: PublicKey) -> Option<Day> {
        self.replaced.iter().find(|(replaced, _)| *replaced == key).map(|(_, day)| *day)
    }

    /// Whether a key is good on this day.
    pub fn accepts(&self, key: PublicKey, today: Day) -> bool {
        key == self.newest || self.last_day(key).is_some_and(|last| today <= last)
    }

    /// The fingerprints of the keys that are good today.
    pub(super) fn expected(&self) -> Expected {
        let today = Day::today();
        Expected(self.all().filter(|key| self.accepts(*key, today)).map(|key| key.fingerprint()).collect())
    }
}

/// Which keys a partner may have, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected(Vec<Fingerprint>);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fingerprint) in self.0.iter().enumerate() {
            let before = if place > 0 { " or " } else { "" };
            write!(f, "{before}{fingerprint}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::Identity;
    use super::super::pinning::AcceptedKeys;
    use super::*;

    #[test]
    fn each_key_is_good_until_its_last_day_and_the_newest_for_ever() {
        let [a, b, c] = std::array::from_fn(|_| Identity::generate().expect("randomness"));
        let day = |text: &str| text.parse::<Day>().expect("a day");
        let (first, second) = (day("2026-12-31"), day("2027-06-30"));
        let of_a = Succession::sign(&a, &b, first).expect("signed");
        let of_b = Succession::sign(&b, &c, second).expect("signed");
        let keys =
            PeerKeys::from(a.public()).followed_by(&of_a).and_then(|keys| keys.followed_by(&of_b)).expect("a chain");
        assert_eq!((keys.known_as(), keys.newest()), (a.public(), c.public()));
        for (today, good) in [
            (first, [true, true, true]),
            (first.plus(1), [false, true, true]),
            (second, [false, true, true]),
            (second.plus(1), [false, false, true]),
        ] {
            assert_eq!([&a, &b, &c].map(|identity| keys.accepts(identity.public(), today)), good, "{today}");
        }
        // A peer that has come with its newest key stays, though its first one is past its day.
        let past = Succession::sign(&a, &b, Day::of(0)).expect("signed");
        let accepted = AcceptedKeys::any_of([PeerKeys::from(a.public()).followed_by(&past).expect("a chain")]);
        assert!(accepted.accepts(&b.public()) && !accepted.accepts(&a.public()));
        assert!(accepted.knows(&a.public(), &a.public()) && accepted.knows(&b.public(), &a.public()));
        assert!(!accepted.knows(&c.public(), &a.public()));
        // Not one whose line was taken out behind an earlier key, and not one that counts as another peer by now.
        accepted.replace([PeerKeys::from(a.public()), b.public().into()]);
        assert!(accepted.knows(&a.public(), &a.public()) && !accepted.knows(&b.public(), &a.public()));
        assert!(!keys.accepts(Identity::generate().expect("randomness").public(), first));
        // Another key's successor, and a way back.
        assert!(PeerKeys::from(c.public()).followed_by(&of_a).is_err());
        let back = Succession::sign(&c, &a, second).expect("signed");
        assert!(keys.followed_by(&back).is_err());
    }
}
