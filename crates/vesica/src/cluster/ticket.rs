//! What the drivers tell workers.

use std::fmt;

use serde::{Deserialize, Serialize};
use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Role, Security};
use vesica_protocols::tasks::Extent;
use vesica_structures::secret::Secret;
use zeroize::{Zeroize, Zeroizing};

use super::Learned;
use super::keys::{GROUP_BYTES, Widths};
use crate::buckets;
use crate::key::Digests;

/// Bytes in hexadecimal.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::receipt::{from_hex, to_hex};

    pub fn serialize<S: Serializer, const N: usize>(bytes: &[u8; N], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&to_hex(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(from)?;
        from_hex(&text).ok_or_else(|| de::Error::custom("not a number of hexadecimal digits that is due here"))
    }
}

/// How a side's keys are divided into buckets. The same on all machines of a party.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// Of both sides, in hexadecimal: what digests are folded under.
    #[serde(with = "hex")]
    salt: [u8; 16],
    /// How many buckets there are.
    pub buckets: u32,
    /// How many items a bucket of this side has, dummies included.
    pub size: usize,
}

impl fmt::Debug for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Division").field("buckets", &self.buckets).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Division {
    pub(crate) fn new(salt: u128, buckets: u32, size: usize) -> Self {
        Self { salt: salt.to_le_bytes(), buckets, size }
    }

    /// The items of digests, and the bucket of each.
    pub(crate) fn divide(&self, digests: Digests) -> (Vec<u128>, Vec<u16>) {
        let salt = u128::from_le_bytes(self.salt);
        let items = digests.fold(salt);
        let numbers = buckets::numbers(&items, salt, self.buckets as usize);
        (items, numbers)
    }

    /// The bucket of each digest.
    pub fn buckets_of(&self, digests: Digests) -> Vec<u16> {
        self.divide(digests).1
    }
}

/// How much of a run a worker does. Against a malicious partner all buckets go through the protocol in
/// [passes](vesica_protocols::passes), each of which is for workers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// All of it.
    Whole,
    /// The first pass.
    Commit,
    /// The second.
    Compare,
    /// The third.
    Finish,
}

impl Stage {
    /// The stages through which all buckets go, one after the other.
    pub(crate) fn all(security: Security, both_learn: bool) -> &'static [Self] {
        match (security, both_learn) {
            (Security::SemiHonest, _) => &[Self::Whole],
            (Security::Malicious, false) => &[Self::Commit, Self::Compare],
            (Security::Malicious, true) => &[Self::Commit, Self::Compare, Self::Finish],
        }
    }

    /// Whether a run of a bucket begins with it, on fresh randomness.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Self::Whole | Self::Commit)
    }
}

/// What a worker computes.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum Work {
    /// The receiver learns which of its keys match.
    Matches {
        /// Whether the sender learns its matches too.
        both_learn: bool,
        /// Bytes of what the receiver gets with each match.
        payload_bytes: usize,
    },
    /// Whoever learns gets the keys that it does not have.
    New {
        /// Bytes of the records of either side.
        record_bytes: usize,
        /// What the sender's records have, without what fills them up.
        of_sender: Widths,
        /// The same of the receiver's, if the sender learns, too.
        of_receiver: Option<Widths>,
    },
    /// The receiver learns masked totals.
    Totals {
        /// The task's name.
        task: String,
        /// Columns of values that the sender brings; none for a count.
        columns: usize,
        /// Columns of the receiver that these are multiplied by.
        factors: usize,
        /// How many groups the receiver's keys are in.
        groups: usize,
        /// A group with fewer common keys in all buckets together gives nothing.
        at_least: u64,
        /// How many numbers this gives.
        totals: usize,
        /// The key of [`Work::masks`], of this attempt alone: who answers a second attempt with other keys learns no
        /// difference.
        #[serde(with = "hex")]
        masks: [u8; 32],
    },
}

impl Work {
    /// Bytes that a side in this role brings beside each key: the key in whole, and a payload; or values of 8 bytes, and
    /// the number of a group.
    pub(crate) fn widths(&self, role: Role) -> Widths {
        match (self, role) {
            (Self::Totals { columns, .. }, Role::Sender) => (0, 8 * columns),
            (Self::Totals { factors, groups, .. }, Role::Receiver) => {
                (0, 8 * factors + if *groups > 1 { GROUP_BYTES } else { 0 })
            }
            (Self::Matches { payload_bytes, .. }, Role::Sender) => (0, *payload_bytes),
            (Self::Matches { .. }, Role::Receiver) => (0, 0),
            (Self::New { of_sender, .. }, Role::Sender) => *of_sender,
            (Self::New { of_receiver, .. }, Role::Receiver) => of_receiver.unwrap_or_default(),
        }
    }

    /// The same in all.
    pub(crate) fn width(&self, role: Role) -> usize {
        let (key, beside) = self.widths(role);
        key + beside
    }

    /// Whether the sender learns something, too.
    pub(crate) fn both_learn(&self) -> bool {
        matches!(self, Self::Matches { both_learn: true, .. } | Self::New { of_receiver: Some(_), .. })
    }

    /// What the sender adds to each of the totals that this attempt gives: uniform for whoever does not have the key.
    pub(crate) fn masks(&self) -> Secret<Vec<u64>> {
        let Self::Totals { masks, .. } = self else { return Secret::new(Vec::new()) };
        let mut stream =
            blake3::Hasher::new_derive_key("vesica 2026-11-29 masks of totals in a bucket on a cluster v1")
                .update(masks)
                .finalize_xof();
        let mut all = Secret::new(vec![0u64; self.totals()]);
        let mut word = [0; 8];
        for mask in all.iter_mut() {
            stream.fill(&mut word);
            *mask = u64::from_le_bytes(word);
        }
        word.zeroize();
        all
    }

    /// Bytes that a side in this role gets with each match, or with each new key.
    pub(crate) fn received(&self, role: Role) -> usize {
        match (self, role) {
            (Self::Matches { payload_bytes, .. }, Role::Receiver) => *payload_bytes,
            (Self::New { .. }, role) => self.width(role.peer()),
            _ => 0,
        }
    }

    /// How many masked totals the receiver gets, group by group.
    pub(crate) fn totals(&self) -> usize {
        match self {
            Self::Totals { totals, .. } => *totals,
            Self::Matches { .. } | Self::New { .. } => 0,
        }
    }

    /// Whether a side in this role learns this of a bucket at this stage.
    pub(crate) fn gives(&self, (role, stage): (Role, Stage), learned: Option<&Learned>) -> bool {
        let learns = match (role, stage) {
            (_, Stage::Commit) => false,
            (Role::Receiver, stage) => stage != Stage::Finish,
            (Role::Sender, stage) => self.both_learn() && stage != Stage::Compare,
        };
        match (self, learned) {
            (_, None) => !learns,
            (Self::Matches { .. }, Some(Learned::Matched(_))) | (Self::New { .. }, Some(Learned::New(_))) => learns,
            (Self::Totals { .. }, Some(Learned::Totals(totals))) => learns && totals.len() == self.totals(),
            _ => false,
        }
    }
}

/// What the worker of an earlier pass has left for this one.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Left {
    /// In which attempt.
    pub attempt: u32,
    /// Under which key.
    #[serde(with = "hex")]
    pub seal: [u8; 32],
}

/// What the worker of one bucket is told. It holds secrets of this attempt: whoever reads it can take the
/// worker's place.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The session of the drivers' conversation.
    #[serde(with = "hex")]
    pub(crate) session: [u8; 32],
    /// The number of the bucket, from 0.
    pub bucket: u32,
    /// Which attempt at it this is, from 0.
    pub attempt: u32,
    /// How much of the run the worker does.
    pub(crate) stage: Stage,
    /// The attempt with which the run began that is done here: itself, or that of its first pass.
    pub(crate) run: u32,
    /// What an earlier pass has left.
    pub(crate) left: Option<Left>,
    /// How keys are divided.
    pub division: Division,
    /// How many keys the bucket has.
    pub keys: usize,
    /// This side's role.
    pub(crate) role: Role,
    /// The protocol's id.
    pub(crate) protocol: String,
    /// Items of the sender in a bucket.
    pub(crate) sender_items: usize,
    /// Items of the receiver in a bucket.
    pub(crate) receiver_items: usize,
    /// The security that both sides asked for.
    pub(crate) security: Security,
    /// Whether both sides asked for what no quantum computer is known to break.
    pub(crate) post_quantum: bool,
    /// Runs that share the failure budget: one for each bucket, and for all reruns.
    pub(crate) runs: usize,
    /// What is computed.
    pub(crate) work: Work,
    /// The key under which this side draws the dummies of this bucket: the same in every attempt.
    #[serde(with = "hex")]
    pub(crate) dummies: [u8; 32],
    /// Where this party's rendezvous is.
    pub(crate) rendezvous: String,
    /// Says to the rendezvous which bucket and attempt the worker is for.
    #[serde(with = "hex")]
    pub(crate) pass: [u8; 32],
    /// The private half of the worker's key.
    #[serde(with = "hex")]
    pub(crate) seed: [u8; 32],
    /// The public half of the partner's.
    #[serde(with = "hex")]
    pub(crate) peer: [u8; 32],
    /// Whether this side's rendezvous was dialled by the partner's.
    pub(crate) listens: bool,
    /// How long a worker waits for the partner's, in milliseconds.
    pub(crate) wait_ms: u64,
    /// The key of [`Ticket::mask`].
    #[serde(with = "hex")]
    pub(crate) mask: [u8; 32],
    /// The key under which the worker encrypts what it leaves in files.
    #[serde(with = "hex")]
    pub(crate) seal: [u8; 32],
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("bucket", &self.bucket)
            .field("attempt", &self.attempt)
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}

impl Ticket {
    /// The worker's key.
    pub(crate) fn identity(&self) -> Option<Identity> {
        Identity::of_seed(&Secret::new(self.seed))
    }

    /// The key of the partner's worker.
    pub(crate) fn peer(&self) -> PublicKey {
        PublicKey::from_bytes(self.peer)
    }

    /// The ticket as JSON, for the way to the worker.
    pub fn to_json(&self) -> Zeroizing<String> {
        // Plain fields into memory: serialising cannot fail.
        Zeroizing::new(serde_json::to_string(self).unwrap_or_default())
    }

    /// The ticket in a JSON text of [`Self::to_json`].
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// What a user may see of it: bucket and attempt.
    pub fn name(&self) -> String {
        format!("attempt {} at bucket {}", self.attempt, self.bucket)
    }

    /// What the bytes say that an attempt gave; `None` if they are no such bytes.
    pub fn learned(&self, bytes: &[u8]) -> Option<Learned> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let mut numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
        match &self.work {
            Work::Matches { .. } if numbers.len() == 1 => numbers.pop().map(Learned::Matched),
            Work::New { .. } if numbers.len() == 1 => numbers.pop().map(Learned::New),
            Work::Totals { .. } if numbers.len() == self.work.totals() => Some(Learned::Totals(numbers)),
            _ => None,
        }
    }

    /// The attempt whose worker has left something for this one.
    pub fn left_by(&self) -> Option<u32> {
        self.left.as_ref().map(|left| left.attempt)
    }

    /// The key of what the worker leaves in files, which is told to whoever is to read them.
    pub fn seal_key(&self) -> [u8; 32] {
        self.seal
    }

    /// Masks what an attempt gave for the way from the worker to its driver, or takes the mask off: systems that carry it
    /// may compress it, and its length would say how much matched.
    pub fn mask(&self, learned: &mut [u8]) {
        let mut stream =
            blake3::Hasher::new_derive_key("vesica 2026-11-28 mask of what matched in a bucket on a cluster v1")
                .update(&self.mask)
                .finalize_xof();
        let mut piece = [0; 64];
        for bytes in learned.chunks_mut(piece.len()) {
            stream.fill(&mut piece);
            bytes.iter_mut().zip(piece).for_each(|(byte, mask)| *byte ^= mask);
        }
    }

    /// What the protocol is asked for.
    pub(crate) fn extent(&self) -> Extent {
        let Self { sender_items, receiver_items, security, runs, .. } = *self;
        Extent::new(sender_items, receiver_items, security).in_runs(runs)
    }

    /// The session of the run of which this attempt is a part, in which all hashes are bound.
    pub(crate) fn own_session(&self) -> [u8; 32] {
        buckets::session(&self.session, self.bucket, self.run)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.seed.zeroize();
        self.pass.zeroize();
        self.dummies.zeroize();
        self.mask.zeroize();
        self.seal.zeroize();
        if let Some(left) = &mut self.left {
            left.seal.zeroize();
        }
        if let Work::Totals { masks, .. } = &mut self.work {
            masks.zeroize();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use vesica_party::Role;

    use super::*;

    pub fn ticket() -> Ticket {
        Ticket {
            session: [1; 32],
            bucket: 3,
            attempt: 0,
            stage: Stage::Whole,
            run: 0,
            left: None,
            division: Division::new(5, 7, 100),
            keys: 90,
            role: Role::Receiver,
            protocol: "vole-fast".into(),
            sender_items: 100,
            receiver_items: 100,
            security: Security::SemiHonest,
            post_quantum: false,
            runs: 14,
            work: Work::Matches { both_learn: false, payload_bytes: 0 },
            dummies: [2; 32],
            rendezvous: "host:1".into(),
            pass: [3; 32],
            seed: [4; 32],
            peer: [5; 32],
            listens: true,
            wait_ms: 1,
            mask: [6; 32],
            seal: [7; 32],
        }
    }

    #[test]
    fn what_an_attempt_gave_reads_back() {
        let mut ticket = ticket();
        let count = 3u64.to_le_bytes();
        assert_eq!(ticket.learned(&count), Some(Learned::Matched(3)));
        assert_eq!(ticket.learned(&count[1..]), None);
        let of_groups = |groups| Work::Totals {
            task: "sum".into(),
            columns: 2,
            factors: 0,
            groups,
            at_least: 0,
            totals: 2 * groups,
            masks: [9; 32],
        };
        ticket.work = of_groups(1);
        let bytes: Vec<u8> = [7, u64::MAX].into_iter().flat_map(u64::to_le_bytes).collect();
        let totals = Some(Learned::Totals(vec![7, u64::MAX]));
        assert_eq!(ticket.learned(&bytes), totals);
        assert_eq!([ticket.learned(&bytes[1..]), ticket.learned(&bytes[8..])], [None, None]);
        let gives = |role, learned: Option<&Learned>| ticket.work.gives((role, Stage::Whole), learned);
        assert!(gives(Role::Receiver, totals.as_ref()) && gives(Role::Sender, None));
        assert!(!gives(Role::Receiver, None) && !gives(Role::Sender, totals.as_ref()));
        assert!(
            !gives(Role::Receiver, Some(&Learned::Matched(1)))
                && !gives(Role::Receiver, Some(&Learned::Totals(vec![1])))
        );
        assert_eq!((ticket.work.width(Role::Sender), ticket.work.width(Role::Receiver)), (16, 0));
        let again = Ticket::from_json(&ticket.to_json()).expect("its own text");
        assert_eq!(*again.work.masks(), *ticket.work.masks());
        ticket.work = of_groups(3);
        assert_eq!((ticket.work.totals(), ticket.work.width(Role::Receiver)), (6, 4));
        assert!(ticket.learned(&bytes).is_none() && ticket.learned(&bytes.repeat(3)).is_some());
    }

    /// A mask for each total, other ones under each key, and nothing of them where there are no totals.
    #[test]
    fn masks_of_an_attempt_are_of_its_key_alone() {
        let of = |key| Work::Totals {
            task: "sum".into(),
            columns: 40,
            factors: 0,
            groups: 25,
            at_least: 0,
            totals: 1000,
            masks: [key; 32],
        };
        let (one, other) = (of(1).masks(), of(2).masks());
        assert_eq!((one.len(), &*one), (1000, &*of(1).masks()));
        let set = |masks: &[u64]| masks.iter().map(|mask| mask.count_ones()).sum::<u32>();
        let differing: Vec<u64> = one.iter().zip(other.iter()).map(|(one, other)| one ^ other).collect();
        // Six standard deviations of 126.
        assert!([set(&one), set(&other), set(&differing)].iter().all(|set| set.abs_diff(32_000) < 759));
        assert!(ticket().work.masks().is_empty());
    }

    /// Whatever matched, what travels looks random; half of its bits are set, within six standard deviations.
    #[test]
    fn bits_under_the_mask_show_nothing_and_come_back() {
        for bits in [vec![0; 8192], vec![0xff; 8192]] {
            let mut masked = bits.clone();
            ticket().mask(&mut masked);
            let set: u32 = masked.iter().map(|byte| byte.count_ones()).sum();
            assert!(set.abs_diff(8192 * 4) < 768, "{set}");
            assert_eq!(masked.iter().collect::<std::collections::HashSet<_>>().len(), 256, "no pattern to compress");
            ticket().mask(&mut masked);
            assert_eq!(masked, bits);
        }
    }

    #[test]
    fn a_ticket_reads_back_and_shows_no_secret() {
        let ticket = ticket();
        let text = ticket.to_json();
        assert_eq!(Ticket::from_json(&text).map(|ticket| ticket.to_json()), Some(text.clone()));
        assert!(Ticket::from_json(&text.replace("0303", "03")).is_none(), "a pass is 32 bytes");
        let shown = format!("{ticket:?}");
        assert!(shown.contains("bucket: 3") && !shown.contains("03, 3") && !shown.contains("0404"), "{shown}");
    }
}
