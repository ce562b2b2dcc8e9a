//! All numbers of a run. Their derivation is in docs/parameters/rr17.md.

use std::ops::RangeInclusive;

use vesica_mpc::code_oprf::{self, Oos17};
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::{Entry, Protocol};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::max_load;

use super::bins::KEY_BITS;
use super::encode_commit::{CANDIDATES, Layout};
use super::entries::items_per_bin;
use vesica_protocols::tags::{predicted_bytes, tag_bits};
use vesica_protocols::tasks::IntersectRequest;

/// Bytes of arrows 1 to 3.
const SALT_BYTES: u64 = 3 * 32;

/// The parameters that both sides derive from the request, for either protocol.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's or the variant's id, for the derivation of keys.
    pub id: &'static str,
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`.
    pub bins: usize,
    /// `mu` for the sender's items: slots of each of its bins.
    pub sender_slots: usize,
    /// `mu` for the receiver's items.
    pub receiver_slots: usize,
    /// Width of a tag, in bits. Of encode-commit: whole bytes.
    pub tag_bits: u32,
    /// The transfers of the receiver's slots, `[[.]]^A`.
    pub(super) chosen_by_receiver: code_oprf::Params,
    /// The transfers of the sender's slots, `[[.]]^B`. Unused by encode-commit.
    pub(super) chosen_by_sender: code_oprf::Params,
}

/// What is common to both protocols, before their tags are known.
struct Shape {
    bins: usize,
    sender_slots: usize,
    receiver_slots: usize,
}

impl Shape {
    /// For as many bins as a fraction of the smaller set.
    fn new(entry: &Entry, request: &IntersectRequest) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        request.check_sizes()?;
        if request.payload_bytes > 0 || request.both_learn {
            return Err(Unsupported::new(
                format_args!("payloads, and a sender that learns its matches, from protocol {}", entry.id),
                "let only the receiver learn, without payloads, or choose another protocol",
            ));
        }
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        let bins = sender_items.min(receiver_items).div_ceil(items_per_bin(entry)).max(1);
        // Both sides have a table.
        let slots = |items| max_load(items, 1, bins, FailureEvent::HashTable.bits() + 1);
        let shape = Self { bins, sender_slots: slots(sender_items), receiver_slots: slots(receiver_items) };
        // Pairs of different items of which a key must not be equal: of both sides, or the sender's own.
        let (n_s, n_r) = (sender_items as u128, receiver_items as u128);
        let pairs = (n_s * n_r + n_s * n_s / 2).div_ceil(bins as u128);
        let most = 1 << (KEY_BITS - FailureEvent::ZeroDifference.bits());
        let encodings = [(sender_items, shape.receiver_slots), (receiver_items, shape.sender_slots)];
        let numbered = |(items, slots): (usize, usize)| items.saturating_mul(slots) <= u32::MAX as usize;
        if pairs > most || !encodings.into_iter().all(numbered) {
            return Err(Unsupported::new(
                format_args!("sets of {sender_items} and {receiver_items} items in {bins} bins"),
                "use smaller sets, or choose another protocol",
            ));
        }
        Ok(shape)
    }

    /// The transfers of a side's slots.
    fn transfers(
        &self,
        request: &IntersectRequest,
        slots: usize,
        evaluations: usize,
        blocks: usize,
    ) -> Result<code_oprf::Params, Unsupported> {
        Oos17::derive(&BatchPrfRequest {
            instances: self.bins.saturating_mul(slots),
            key_bits: KEY_BITS,
            evaluations,
            evaluations_in_all: evaluations,
            blocks,
            security: request.security,
        })
    }
}

impl Params {
    /// Parameters of dual execution, refused where a mode, a size or an option is not served.
    pub(super) fn of_dual_execution(entry: &Entry, request: &IntersectRequest) -> Result<Self, Unsupported> {
        let shape = Shape::new(entry, request)?;
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        let Shape { bins, sender_slots, receiver_slots } = shape;
        // Common encodings of either side: all slots of the other one, for each item.
        let (of_sender, of_receiver) = (sender_items * receiver_slots, receiver_items * sender_slots);
        Ok(Self {
            id: entry.id,
            sender_items,
            receiver_items,
            bins,
            sender_slots,
            receiver_slots,
            tag_bits: tag_bits(of_sender, of_receiver),
            chosen_by_receiver: shape.transfers(request, receiver_slots, of_sender, 1)?,
            chosen_by_sender: shape.transfers(request, sender_slots, of_receiver, 1)?,
        })
    }

    /// Parameters of encode-commit.
    pub(super) fn of_encode_commit(entry: &Entry, request: &IntersectRequest) -> Result<Self, Unsupported> {
        let shape = Shape::new(entry, request)?;
        let &IntersectRequest { sender_items, receiver_items, .. } = request;
        let Shape { bins, sender_slots, receiver_slots } = shape;
        Ok(Self {
            id: entry.id,
            sender_items,
            receiver_items,
            bins,
            sender_slots,
            receiver_slots,
            tag_bits: candidate_bits(sender_items, receiver_items).next_multiple_of(8),
            chosen_by_receiver: shape.transfers(request, receiver_slots, sender_items * receiver_slots, 2)?,
            chosen_by_sender: shape.transfers(request, 0, 0, 1)?,
        })
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.sender_items == 0 || self.receiver_items == 0
    }

    /// Encodings that the sender makes, of each item for each slot that the receiver may have it in.
    pub fn sender_encodings(&self) -> usize {
        self.sender_items * self.receiver_slots
    }

    /// Encodings that the receiver makes in dual execution.
    pub fn receiver_encodings(&self) -> usize {
        self.receiver_items * self.sender_slots
    }

    /// The group of an item in encode-commit.
    pub fn layout(&self) -> Layout {
        Layout { tag_bytes: self.tag_bits as usize / 8, slots: self.receiver_slots }
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 rr17 2026 parameters");
        hasher.update(self.id.as_bytes()).update(&[0]);
        for size in [
            self.sender_items,
            self.receiver_items,
            self.bins,
            self.sender_slots,
            self.receiver_slots,
            self.tag_bits as usize,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Bytes of dual execution: the salt, the transfers of both directions, the tags.
    pub(super) fn dual_execution_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let transfers = [&self.chosen_by_receiver, &self.chosen_by_sender].map(transfer_bytes);
        let fixed = SALT_BYTES + transfers.iter().sum::<u64>();
        let tags = predicted_bytes(self.sender_encodings(), self.tag_bits);
        fixed + tags.start()..=fixed + tags.end()
    }

    /// Bytes of encode-commit: the salt, the transfers, a group for each item of the sender.
    pub(super) fn encode_commit_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let groups = self.sender_items as u64 * self.layout().group_bytes() as u64;
        let bytes = SALT_BYTES + transfer_bytes(&self.chosen_by_receiver) + groups;
        bytes..=bytes
    }
}

/// Bytes of the transfers of one direction.
fn transfer_bytes(transfers: &code_oprf::Params) -> u64 {
    *Oos17::predicted_bytes(transfers).end()
}

/// Width of a tag of encode-commit, in bits: more than [`CANDIDATES`] minus one of `n_s - 1` wrong groups have
/// the tag of some item of the receiver with probability at most [`FailureEvent::TagCollision`].
///
/// `C = CANDIDATES` wrong ones come with probability at most `n_r (n_s 2^-t)^C / C!`.
fn candidate_bits(sender_items: usize, receiver_items: usize) -> u32 {
    // floor(log2(4!)) = 4.
    let choices: u32 = 4;
    let bits = FailureEvent::TagCollision.bits() + ceil_log2(receiver_items) - choices;
    ceil_log2(sender_items) + bits.div_ceil(CANDIDATES as u32)
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use vesica_party::Row;

    use super::super::{DualExecution, EncodeCommit};
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::Malicious;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    fn de(bins: &str, n_s: usize, n_r: usize) -> Params {
        let row = Row::<DualExecution>::chosen(&format!("bins={bins}")).expect("a variant");
        row.params(&request(n_s, n_r)).expect("served")
    }

    fn ec(bins: &str, n_s: usize, n_r: usize) -> Params {
        let row = Row::<EncodeCommit>::chosen(&format!("bins={bins}")).expect("a variant");
        row.params(&request(n_s, n_r)).expect("served")
    }

    /// Bytes against Table 4 of "PsiBench", for 2^16 items a side: 90.54 MB of dual execution with n/10 bins,
    /// 113.9 MB of encode-commit with n/4.
    #[test]
    fn runs_take_less_than_what_was_measured_elsewhere() {
        let shape = |params: &Params, bytes: RangeInclusive<u64>| {
            assert_eq!(params.sender_slots, params.receiver_slots);
            (params.bins, params.sender_slots, params.tag_bits, bytes.end() / 1_000_000)
        };
        let n = 1 << 16;
        let (tenth, quarter) = (de("tenth", n, n), de("quarter", n, n));
        assert_eq!(shape(&tenth, tenth.dual_execution_bytes()), (6554, 47, 86, 65));
        assert_eq!(shape(&quarter, quarter.dual_execution_bytes()), (16384, 31, 84, 81));
        let (quarter, tenth) = (ec("quarter", n, n), ec("tenth", n, n));
        assert_eq!(shape(&quarter, quarter.encode_commit_bytes()), (16384, 31, 32, 75));
        assert_eq!(shape(&tenth, tenth.encode_commit_bytes()), (6554, 47, 32, 83));
    }

    /// The leak that the entries state: items that a corrupt party can use at most, if it finds no collisions.
    #[test]
    fn a_side_has_ten_slots_an_item_of_the_smaller_set_at_most() {
        for (n_s, n_r) in [(1, 1), (2, 2), (11, 11), (41, 41), (1000, 1000), (1 << 16, 1 << 16), (1 << 26, 1 << 26)] {
            for params in [de("tenth", n_s, n_r), de("quarter", n_s, n_r)] {
                assert!(params.bins * params.receiver_slots <= 10 * n_r, "{params:?}");
            }
        }
        let uneven = de("quarter", 3, 1000);
        assert!(uneven.bins * uneven.sender_slots <= 30 && uneven.bins * uneven.receiver_slots <= 10_000);
    }

    /// How many keys a corrupt party whose items are in slots can test for each that it declared, if it hashes `2^log_queries`
    /// items while the run goes on: the slots, filled with the pairs of bin and key that most of its items have. Of `N`
    /// pairs as many have `r` items or more as a Poisson distribution says.
    fn guesses_per_key(params: &Params, log_queries: u32) -> f64 {
        let slots = (params.bins * params.receiver_slots) as f64;
        let log_pairs = f64::from(KEY_BITS) + (params.bins as f64).log2();
        let mean = f64::exp2(f64::from(log_queries) - log_pairs);
        // ln of the probability of exactly `r` items; tails are sums of those from the least one on.
        let mut log_probability = -mean;
        let mut probabilities = Vec::new();
        for r in 1..=400u32 {
            log_probability += (mean / f64::from(r)).ln();
            probabilities.push(log_probability.exp());
        }
        let (mut tail, mut guesses) = (0.0, 0.0);
        for probability in probabilities.iter().rev() {
            tail += probability;
            guesses += slots.min(f64::exp2(log_pairs) * tail);
        }
        // Slots hold an item each without a search.
        (guesses / params.receiver_items as f64).max(slots / params.receiver_items as f64)
    }

    /// One digit behind the point below ten, none above.
    fn short(guesses: f64) -> String {
        let tenths = format!("{guesses:.1}");
        if guesses < 9.95 { tenths.trim_end_matches(".0").into() } else { format!("{guesses:.0}") }
    }

    /// SECURITY.md and the page state what this computes.
    #[test]
    fn effective_sets_are_those_that_the_texts_state() {
        let text = |name: &str| {
            let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).expect("a text").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (page, security) = (text("docs/parameters/rr17.md"), text("SECURITY.md"));
        let guesses = |params: &Params| [0, 64, 80].map(|log| short(guesses_per_key(params, log)));
        let mut in_words = [Vec::new(), Vec::new()];
        for (size, n) in [("10", 10), ("2^12", 1 << 12), ("2^16", 1 << 16), ("2^20", 1 << 20)] {
            let rows = [guesses(&de("tenth", n, n)), guesses(&ec("quarter", n, n))];
            let row = format!("| {size} | {} | {} |", rows[0].join(", "), rows[1].join(", "));
            assert!(page.contains(&row), "docs/parameters/rr17.md lacks: {row}");
            if n != 1 << 16 {
                for (words, [free, cheap, dear]) in in_words.iter_mut().zip(rows) {
                    words.push(format!("{free}, {cheap} and {dear} at {size}"));
                }
            }
        }
        for (id, words) in ["rr17-de", "rr17-ec"].iter().zip(in_words) {
            let words = format!("with `{id}` {}", words.join("; "));
            assert!(security.contains(&words), "SECURITY.md lacks: {words}");
        }
    }

    /// The binomial sum against the width.
    #[test]
    fn candidates_of_an_item_are_few() {
        for (n_s, n_r) in [(1, 1), (1000, 3), (3, 1000), (1 << 16, 1 << 16), (1 << 20, 1 << 20), (1 << 26, 1 << 26)] {
            let bits = candidate_bits(n_s, n_r);
            let mean = n_s as f64 * f64::exp2(-f64::from(bits));
            let probability = n_r as f64 * mean.powi(CANDIDATES as i32) / 24.0;
            assert!(probability <= f64::exp2(-42.0), "{n_s} and {n_r}: {bits} bits");
            assert!(bits.next_multiple_of(8) <= 64);
        }
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (IntersectRequest { security: Security::SemiHonest, ..request(1, 1) }, "semi-honest"),
            (IntersectRequest { both_learn: true, ..request(1, 1) }, "learns its matches"),
            (IntersectRequest { payload_bytes: 1, ..request(1, 1) }, "payloads"),
            // The sender's own keys in one bin, and too many numbers.
            (request(1 << 20, 1), "in 1 bins"),
            (request(1, 1 << 32), ""),
            (request(usize::MAX / 2, 1), ""),
        ] {
            let refusals = [DualExecution::derive(&bad), EncodeCommit::derive(&bad)];
            for refusal in refusals.map(|derived| derived.expect_err("refused").to_string()) {
                assert!(refusal.contains(said), "{refusal}");
            }
        }
        assert!(DualExecution::derive(&request(1 << 25, 1 << 25)).is_ok());
    }
}
