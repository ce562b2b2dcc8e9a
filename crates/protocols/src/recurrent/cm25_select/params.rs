//! All numbers of the service.

use std::sync::OnceLock;

use vesica_party::Security;
use vesica_party::service::Service;
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::{PermutedIntegers, SUB_TABLES, SubTables};
use vesica_structures::rlwe::bfv;

use crate::bfv::ciphertexts;
use crate::recurrent::Sizes;
use crate::recurrent::scramble::PLAIN;
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

/// Digits of base 4 of a number below [`DEGREE`].
const PLACE_DIGITS: u32 = DEGREE.ilog2() / 2;

/// Keys for a move: one for each value of its digit but 0.
pub(super) const CHOICES: usize = 3;

/// Slots of a sub-table in a ciphertext.
pub(super) const QUARTER: usize = DEGREE / SUB_TABLES;

/// Limbs of the widest integers.
const MOST_LIMBS: u32 = u64::BITS.div_ceil(LIMB_BITS);

/// Bins of a sub-table that are tried for the sake of fewer limbs.
const MOST_BINS: u128 = 1 << 24;

/// What an empty bin holds in each limb.
pub(super) const EMPTY: u64 = PLAIN - 1;

/// Items that a client asks about from one enrolment, at most: their false matches share one budget,
/// and what noise may say of them another.
pub const ITEMS_AN_ENROLMENT: u64 = 1 << 18;

/// Items that a prepared set answers, at most, for all clients together: what noise may say of the
/// set shares one budget.
pub const ITEMS_OF_A_SET: u64 = 1 << 22;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 12;

/// Rises when hashing, scaling, floods or keys change.
const VERSION: u64 = 4;

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
    /// Items of the server's set, `n_s`, at most: it may have fewer, and no client can tell.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Width of the items where all are integers of so many bits; else they have any width, and are
    /// compressed.
    pub item_bits: Option<u32>,
    /// Bins of the sub-tables.
    pub tables: SubTables,
    /// Bits of an item's right part, which its bin holds.
    pub right_bits: u32,
}

impl Params {
    /// Parameters for a request, refused where the mode, a size or an option is not served. Items have
    /// any width.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        let Sizes { set_items, query_items, .. } = sizes(request)?;
        let tables = SubTables::new(set_items, 0, QUARTER, FailureEvent::HashTable.bits())?;
        // For each pair of a set's item and one asked about, equal parts have probability 1 / (bins 2^bits).
        let bits = FailureEvent::TagCollision.bits() + ITEMS_AN_ENROLMENT.ilog2() + ceil_log2(set_items);
        let right_bits = bits.saturating_sub(tables.bins.ilog2());
        Ok(Self { set_items, query_items, item_bits: None, tables, right_bits })
    }

    /// Parameters for a request whose items are all below `2^item_bits`, on which both sides have to
    /// agree. Such items are not compressed: there are no false matches, and fewer limbs.
    ///
    /// # Errors
    /// As [`derive`](Self::derive), or if `item_bits` is not in `1..=64`.
    pub fn derive_for_integers(request: &IntersectRequest, item_bits: u32) -> Result<Self, Unsupported> {
        let Sizes { set_items, query_items, .. } = sizes(request)?;
        if !(1..=u64::BITS).contains(&item_bits) {
            return Err(Unsupported::new(
                format_args!("items that are integers of {item_bits} bits"),
                "take integers of 1 to 64 bits, or items of any width",
            ));
        }
        let mut candidates = Vec::new();
        for limbs in 1..=MOST_LIMBS {
            // So many bins leave no more right parts than the limbs hold.
            let least = (1u128 << item_bits).div_ceil(1 << (limbs * LIMB_BITS));
            if least <= MOST_BINS {
                let tables = SubTables::new(set_items, least as usize, QUARTER, FailureEvent::HashTable.bits())?;
                let right_bits = ceil_log2(PermutedIntegers::rights(&tables, item_bits) as usize).max(1);
                candidates.push(Self { set_items, query_items, item_bits: Some(item_bits), tables, right_bits });
            }
        }
        // Fewer limbs make queries faster, and are worth a table of up to half as much again.
        let smallest = candidates.iter().map(Self::ciphertexts).min().unwrap_or(0);
        let chosen = candidates.into_iter().find(|params| 2 * params.ciphertexts() <= 3 * smallest);
        Ok(chosen.unwrap_or_else(|| unreachable!("the smallest is one of them")))
    }

    /// Refuses items that are wider than agreed.
    pub(super) fn check_items(&self, items: &[u128]) -> Result<(), Unsupported> {
        let widest = items.iter().fold(0, |all, item| all | item);
        match self.item_bits {
            Some(bits) if widest >> bits != 0 => Err(Unsupported::new(
                format_args!("an item has more than the {bits} bits that both sides agreed on"),
                "agree on wider items, or take those out that are too wide",
            )),
            _ => Ok(()),
        }
    }

    /// Moves that bring a slot to any place of its class: one for each digit of base 4 of their number.
    pub(super) fn moves(&self) -> u32 {
        PLACE_DIGITS - self.tables.classes.ilog2() / 2
    }

    /// Limbs of a right part, `L`: ciphertexts for each group of bins.
    pub fn limbs(&self) -> usize {
        self.right_bits.div_ceil(LIMB_BITS) as usize
    }

    /// Groups of bins: a ciphertext holds 1024 bins of each sub-table.
    pub fn groups(&self) -> usize {
        self.tables.bins / QUARTER
    }

    /// Ciphertexts of the set.
    pub fn ciphertexts(&self) -> usize {
        self.groups() * self.limbs()
    }

    /// Seeds, public keys, the set's ciphertexts and the keys for moving slots.
    pub fn enrolment_bytes(&self) -> u64 {
        let halves = 1 + self.ciphertexts() + self.client_halves();
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
        let Self { set_items, query_items, item_bits, tables: SubTables { bins, classes }, right_bits } = self;
        let [set_items, query_items, bins, classes] = [set_items, query_items, bins, classes].map(|count| count as u64);
        [
            set_items,
            query_items,
            item_bits.unwrap_or(0).into(),
            bins,
            classes,
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
        let [set_items, query_items, item_bits, ..] = words;
        let request = Sizes::request([set_items, query_items, 0], Security::SemiHonest)?;
        let params = match item_bits {
            0 => Self::derive(&request),
            bits => Self::derive_for_integers(&request, bits.try_into().ok()?),
        };
        params.ok().filter(|params| params.to_words() == words)
    }

    /// First halves that a client sends once: its public key, and the keys for moves.
    fn client_halves(&self) -> usize {
        1 + self.moves() as usize * CHOICES * scheme().digits()
    }
}

/// The sizes of both sides, refused where the mode, a size or an option is not served.
fn sizes(request: &IntersectRequest) -> Result<Sizes, Unsupported> {
    super::Cm25Select::ENTRY.require(request.security)?;
    Sizes::of_slow_membership(request, ITEMS_AN_ENROLMENT)
}

/// Bytes of half of a fresh ciphertext.
pub(super) fn half_bytes() -> usize {
    ciphertexts::half_bytes(scheme())
}

/// Bytes of a ciphertext for who decrypts it.
pub(super) fn sent_bytes() -> usize {
    scheme().ciphertext_bytes(SENT_PRIMES)
}
