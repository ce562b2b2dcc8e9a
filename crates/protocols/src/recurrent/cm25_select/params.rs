//! All numbers of the service.

use std::sync::OnceLock;

use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::{SUB_TABLES, sub_table_bins};
use vesica_structures::rlwe::bfv;

use crate::recurrent::scramble::PLAIN;
use crate::recurrent::{Sizes, ciphertexts};
use crate::tasks::IntersectRequest;

/// Coefficients of a polynomial, and slots of a ciphertext.
pub(super) const DEGREE: usize = 4096;

/// Widths of the primes of `q`.
const PRIME_BITS: [u32; 3] = [36; 3];

/// Primes of a ciphertext that travels to who decrypts it.
pub(super) const SENT_PRIMES: usize = 1;

/// Bits of a limb. What is at least `2^LIMB_BITS` is no limb of an item.
pub(super) const LIMB_BITS: u32 = 17;

/// Bits of a digit of key switching.
const DIGIT_BITS: u32 = 18;

/// Bits of each of the four summands of a flood.
pub(super) const FLOOD_BITS: u32 = 87;

/// Moves that bring a slot to any of `n = 4^MOVES` places: one for each digit of base 4.
pub(super) const MOVES: usize = DEGREE.ilog2() as usize / 2;

/// Keys for a move: one for each value of its digit but 0.
pub(super) const CHOICES: usize = 3;

/// Slots of a sub-table in a ciphertext.
pub(super) const QUARTER: usize = DEGREE / SUB_TABLES;

/// What an empty bin holds in each limb.
pub(super) const EMPTY: u64 = PLAIN - 1;

/// Items that a client asks about from one enrolment, at most: their false matches share one budget,
/// and what noise may say of them another.
pub const ITEMS_AN_ENROLMENT: u64 = 1 << 18;

/// Items that a prepared set answers, at most, for all clients together: what noise may say of the
/// set shares one budget.
pub const ITEMS_OF_A_SET: u64 = 1 << 22;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 10;

/// Rises when hashing, scaling, floods or keys change.
const VERSION: u64 = 2;

/// Bytes of the seeds that the server sends first.
pub(super) const SEED_BYTES: usize = 16 + 32;

/// Bytes of the seed of a client's ciphertexts.
pub(super) const CLIENT_SEED_BYTES: usize = 32;

/// The scheme, which is the same for all requests.
pub(super) fn scheme() -> &'static bfv::Scheme {
    static SCHEME: OnceLock<bfv::Scheme> = OnceLock::new();
    SCHEME.get_or_init(|| {
        let params = bfv::Params::with_widths(DEGREE, &PRIME_BITS, &[PLAIN], DIGIT_BITS);
        bfv::Scheme::new(&params).unwrap_or_else(|refused| unreachable!("a test checks them: {}", refused.what))
    })
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Items of the server's set, `n_s`.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Bins of each sub-table.
    pub bins: usize,
    /// Bits of an item's right part, which its bin holds.
    pub right_bits: u32,
}

impl Params {
    /// Parameters for a request, refused where the mode, a size or an option is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::Cm25Select::ENTRY.require(request.security)?;
        let Sizes { set_items, query_items, .. } = Sizes::of_slow_membership(request, ITEMS_AN_ENROLMENT)?;
        let bins = sub_table_bins(set_items, QUARTER, FailureEvent::HashTable.bits())?;
        // For each pair of a set's item and one asked about, equal parts have probability 1 / (bins 2^bits).
        let bits = FailureEvent::TagCollision.bits() + ITEMS_AN_ENROLMENT.ilog2() + ceil_log2(set_items);
        Ok(Self { set_items, query_items, bins, right_bits: bits.saturating_sub(bins.ilog2()) })
    }

    /// Limbs of a right part, `L`: ciphertexts for each group of bins.
    pub fn limbs(&self) -> usize {
        self.right_bits.div_ceil(LIMB_BITS) as usize
    }

    /// Groups of bins: a ciphertext holds 1024 bins of each sub-table.
    pub fn groups(&self) -> usize {
        self.bins / QUARTER
    }

    /// Ciphertexts of the set.
    pub fn ciphertexts(&self) -> usize {
        self.groups() * self.limbs()
    }

    /// Seeds, public keys, the set's ciphertexts and the keys for moving slots.
    pub fn enrolment_bytes(&self) -> u64 {
        let halves = 1 + self.ciphertexts() + client_halves();
        (SEED_BYTES + CLIENT_SEED_BYTES) as u64 + halves as u64 * half_bytes() as u64
    }

    /// For each item and limb: a short ciphertext, half of a long one, and a short one back.
    pub fn query_bytes(&self) -> u64 {
        let limb = 2 * sent_bytes() + half_bytes();
        let seed = if self.query_items > 0 { CLIENT_SEED_BYTES } else { 0 };
        (seed + self.query_items * self.limbs() * limb) as u64
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let Self { set_items, query_items, bins, right_bits } = self;
        let [set_items, query_items, bins] = [set_items, query_items, bins].map(|count| count as u64);
        [
            set_items,
            query_items,
            bins,
            right_bits.into(),
            DEGREE as u64,
            PLAIN,
            LIMB_BITS.into(),
            DIGIT_BITS.into(),
            FLOOD_BITS.into(),
            VERSION,
        ]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, ..] = words;
        let request = Sizes::request([set_items, query_items, 0], Security::SemiHonest)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}

/// First halves that a client sends once: its public key, and the keys for moves.
fn client_halves() -> usize {
    1 + MOVES * CHOICES * scheme().digits()
}

/// Bytes of half of a fresh ciphertext.
pub(super) fn half_bytes() -> usize {
    ciphertexts::half_bytes(scheme())
}

/// Bytes of a ciphertext for who decrypts it.
pub(super) fn sent_bytes() -> usize {
    scheme().ciphertext_bytes(SENT_PRIMES)
}
