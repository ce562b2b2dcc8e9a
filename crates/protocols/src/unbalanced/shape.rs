//! The numbers of a set in bins.

use vesica_structures::hashing::Positions;
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

use super::powers::{BASES, Powers};
use super::ring::{Form, LIMB_BITS};

/// Items of a query, at most: the server holds its ciphertexts while it answers.
pub const MOST_QUERY_ITEMS: usize = 1 << 14;

/// Limbs, bins, parts and powers.
///
/// A group of bins lies in one ciphertext, where a bin has as many slots as an item has limbs, or in
/// as many ciphertexts as an item has limbs. The client's cuckoo table has one item a bin. The server's bins have all items that belong there, dealt
/// to [`parts`](Self::parts) of at most [`degree`](Self::degree) items. Each slot of a part has the
/// polynomial whose roots are the limbs of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Where the limbs of an item lie.
    pub form: Form,
    /// Limbs of an item, `L`.
    pub limbs: usize,
    /// Groups of bins; none where nothing is asked.
    pub groups: usize,
    /// Most items of a bin of the server.
    pub capacity: usize,
    /// Parts of a bin.
    pub parts: usize,
    /// Items of a part, `B`: the degree of the polynomials.
    pub degree: usize,
    /// Number of the basis of exponents.
    pub basis: usize,
    /// Width of the payload of each item, in bytes; 0 for none. With [`Form::Together`] only.
    pub payload_bytes: usize,
}

impl Shape {
    /// `-log2` of a bound on the probability that the items of some bin cannot be dealt to its parts such
    /// that no two of a part have a limb in common; without payloads they need not be. They can where a bin
    /// has twice as many parts as an item has others with a limb of its own, or a part for each item
    /// (see `dealing::deal_apart`).
    pub fn go_apart_bits(&self, set_items: usize) -> f64 {
        let (others, too_many) = (self.capacity - 1, self.parts / 2 + 1);
        if self.payload_bytes == 0 || self.parts >= self.capacity || too_many > others {
            return f64::INFINITY;
        }
        let limbs_in_common = (self.limbs as f64).log2() - f64::from(LIMB_BITS);
        let choices = (0..too_many).map(|i| ((others - i) as f64 / (i + 1) as f64).log2()).sum::<f64>();
        let entries = (3.0 * set_items.max(1) as f64).log2();
        -(entries + choices + too_many as f64 * limbs_in_common)
    }

    /// `-log2` of a bound on the probability that one of `2^log_queries` queries has a false match. An
    /// item has one in a part if each of its limbs is one of at most `B` limbs there. With payloads, an item of the set must
    /// not have one in a second part; its limbs are not independent of the dealing, which counts as `2^limbs` parts more
    /// instead of two (docs/parameters/unbalanced.md).
    pub fn false_match_bits(&self, query_items: usize, log_queries: u32) -> f64 {
        let limb = f64::from(LIMB_BITS) - (self.degree as f64).log2();
        let parts = match self.payload_bytes > 0 && self.parts > 1 {
            true => (self.parts - 2 + (1 << self.limbs)) as f64,
            false => self.parts as f64,
        };
        self.limbs as f64 * limb - (query_items.max(1) as f64 * parts).log2() - f64::from(log_queries)
    }

    /// Bins of a group.
    pub fn bins_per_group(&self) -> usize {
        bins_per_group(self.form, self.limbs)
    }

    /// Ciphertexts of a group.
    pub fn columns_per_group(&self) -> usize {
        match self.form {
            Form::Together | Form::Masked => 1,
            Form::Apart => self.limbs,
        }
    }

    /// Ciphertexts of all groups.
    pub fn columns(&self) -> usize {
        self.groups * self.columns_per_group()
    }

    /// The column and slot of a limb of a bin of a group.
    pub fn place(&self, bin: usize, limb: usize) -> (usize, usize) {
        match self.form {
            Form::Together | Form::Masked => (0, bin * self.limbs + limb),
            Form::Apart => (limb, bin),
        }
    }

    /// Bins of a table.
    pub fn bins(&self) -> usize {
        self.groups * self.bins_per_group()
    }

    /// How the powers are had.
    pub fn powers(&self) -> Powers {
        let powers = BASES.get(self.basis).and_then(|basis| Powers::new(self.degree, basis));
        // A shape is made with a basis that reaches its degree.
        powers.unwrap_or_else(|| unreachable!("a basis that reaches {}", self.degree))
    }

    /// The positions and the limbs of items, by functions under these keys.
    pub fn hash(&self, keys: [u128; 2], items: &[u128]) -> (Vec<[u32; 3]>, Secret<Vec<u64>>) {
        let [for_positions, for_limbs] = keys;
        let positions = Positions::new(for_positions, self.bins()).of(items);
        let mut hashes = Secret::new(vec![0; items.len()]);
        DigestPrf::new(for_limbs).eval(items, &mut hashes);
        let limb = |hash: u128, index: usize| (hash >> (index as u32 * LIMB_BITS)) as u64 & ((1 << LIMB_BITS) - 1);
        let mut limbs = Secret::new(Vec::with_capacity(self.limbs * items.len()));
        limbs.extend(hashes.iter().flat_map(|&hash| (0..self.limbs).map(move |index| limb(hash, index))));
        (positions, limbs)
    }

    /// Bytes of the client's ciphertexts.
    pub fn question_bytes(&self) -> usize {
        self.columns() * self.powers().sent.len() * self.form.ring().half_bytes()
    }

    /// Bytes of the server's ciphertexts.
    pub fn answer_bytes(&self) -> usize {
        self.ciphertexts() * self.form.answer_bytes()
    }

    /// Limbs of a payload for each limb of an item, rounded up: label polynomials of a slot and part.
    pub fn labels(&self) -> usize {
        (8 * self.payload_bytes).div_ceil(LIMB_BITS as usize * self.limbs)
    }

    /// Values of a part: that of the polynomials with the items as roots, and those of labels.
    pub fn values(&self) -> usize {
        1 + self.labels()
    }

    /// Ciphertexts of the server.
    pub fn ciphertexts(&self) -> usize {
        self.columns() * self.parts * self.values()
    }

    /// Places of a bin, in all parts.
    pub fn places(&self) -> usize {
        self.parts * self.degree
    }

    /// Cells: a bin and one of its parts.
    pub fn cells(&self) -> usize {
        self.bins() * self.parts
    }

    /// Plaintexts of a set.
    pub fn plaintexts(&self) -> usize {
        self.ciphertexts() * self.degree
    }

    /// All of them as numbers, but for the width of payloads.
    pub fn to_words(self) -> [u64; 11] {
        let Self { form, limbs, groups, capacity, parts, degree, basis, payload_bytes: _ } = self;
        let mut words = [0; 11];
        words[..6].copy_from_slice(&[limbs, groups, capacity, parts, degree, basis].map(|count| count as u64));
        words[6..].copy_from_slice(&form.ring().to_words());
        words
    }
}

/// Bins of a group.
pub(super) fn bins_per_group(form: Form, limbs: usize) -> usize {
    let slots = form.ring().scheme.slots();
    match form {
        Form::Together | Form::Masked => slots / limbs,
        Form::Apart => slots,
    }
}
