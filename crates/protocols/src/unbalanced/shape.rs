//! The numbers of a set in bins, and the choice among all that serve.

use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::{Positions, hall_bound, simple_capacity};
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

use super::noise;
use super::powers::{BASES, Basis, Powers};
use super::ring::{Form, LIMB_BITS};

/// Limbs of an item that may be chosen from: up to as many bits as an item has after hashing; apart,
/// those for which there is an extension field of an easy form.
const LIMBS: [&[usize]; 3] =
    [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[2, 3, 4, 6], &[1, 2, 3, 4, 5, 6, 7]];

/// Items of a query, at most: the server holds its ciphertexts while it answers.
pub const MOST_QUERY_ITEMS: usize = 1 << 14;

/// Most items of a set. The tables number an item in a bin with 32 bits, three times for each item.
const MOST_SET_ITEMS: usize = 1 << 28;

/// Hundredths of bins for a hundred items, from which on cuckoo tables may exist.
const LEAST_HUNDREDTHS: usize = 130;

/// Groups beyond twice the least number that are tried: queries of tens or hundreds of items need many
/// bins an item.
const FEW_GROUPS: usize = 8;

/// What a choice is made by, in microseconds: a byte that travels (100 Mbit/s), a product of
/// ciphertexts, one with a coefficient of the server, and what a cell takes after its value; by
/// [`Form`].
const COSTS: [[f64; 4]; 3] = [[0.08, 3300.0, 70.0, 0.0], [0.08, 13_000.0, 100.0, 0.0], [0.08, 13_000.0, 100.0, 25.0]];

/// Widest payload, in bytes: each 15 bytes or so are one more value of each part.
const MOST_PAYLOAD_BYTES: usize = 1 << 10;

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

/// What a shape is chosen for.
#[derive(Clone, Copy)]
struct Sizes {
    set_items: usize,
    query_items: usize,
    /// Of a client's queries.
    log_queries: u32,
    payload_bytes: usize,
}

impl Shape {
    /// The cheapest numbers for a set of `set_items` and queries of `query_items`, of which a client
    /// asks `2^log_queries`.
    ///
    /// # Errors
    /// If a query is too large, or no numbers serve.
    pub fn new(form: Form, set_items: usize, query_items: usize, log_queries: u32) -> Result<Self, Unsupported> {
        Self::cheapest(form, Sizes { set_items, query_items, log_queries, payload_bytes: 0 })
    }

    /// The same for items that have payloads, with [`Form::Together`].
    ///
    /// # Errors
    /// If a query or a payload is too large, or no numbers serve.
    pub fn with_payloads(
        set_items: usize,
        query_items: usize,
        log_queries: u32,
        payload_bytes: usize,
    ) -> Result<Self, Unsupported> {
        if payload_bytes > MOST_PAYLOAD_BYTES {
            return Err(Unsupported::new(
                format_args!("payloads of {payload_bytes} bytes, from polynomials that give some 15 bytes each"),
                format_args!("send at most {MOST_PAYLOAD_BYTES} bytes of columns, or choose oprf-rfc9497 or oprf-pir"),
            ));
        }
        Self::cheapest(Form::Together, Sizes { set_items, query_items, log_queries, payload_bytes })
    }

    fn cheapest(form: Form, sizes: Sizes) -> Result<Self, Unsupported> {
        let Sizes { set_items, query_items, .. } = sizes;
        if query_items > MOST_QUERY_ITEMS {
            return Err(Unsupported::new(
                format_args!("a query of {query_items} items, whose ciphertexts the server would have to hold"),
                format_args!("ask about at most {MOST_QUERY_ITEMS} items at a time"),
            ));
        }
        if set_items > MOST_SET_ITEMS {
            return Err(Unsupported::new(
                format_args!("a set of {set_items} items, each of which lies in three bins"),
                format_args!("use a set of at most {MOST_SET_ITEMS} items, or split it by a public column"),
            ));
        }
        let best = LIMBS[form as usize].iter().flat_map(|&limbs| Self::with_limbs(form, &sizes, limbs));
        best.min_by(|x, y| x.cost().total_cmp(&y.cost())).ok_or_else(|| {
            Unsupported::new(
                format_args!("{set_items} items, and queries of {query_items}, by polynomials"),
                "use a smaller set, or split it by a public column",
            )
        })
    }

    /// All that serve with so many limbs.
    fn with_limbs(form: Form, sizes: &Sizes, limbs: usize) -> Vec<Self> {
        let &Sizes { set_items, query_items, log_queries, payload_bytes } = sizes;
        let bins_per_group = bins_per_group(form, limbs);
        // The server's table and the client's tables each have half of the budget.
        let bits = FailureEvent::HashTable.bits() + 1;
        let holds = |groups: &usize| hall_bound(query_items, groups * bins_per_group) <= -f64::from(bits + log_queries);
        let least = (query_items * LEAST_HUNDREDTHS).div_ceil(100 * bins_per_group);
        // Nothing is to be held where nothing is asked.
        let groups = if query_items == 0 { Some(0) } else { (least..2 * least + FEW_GROUPS).find(holds) };
        let Some(groups) = groups else { return Vec::new() };
        // With payloads, the server's half is for two events: a bin overflows, and its items do not go apart.
        let server_bits = if payload_bytes > 0 { bits + 1 } else { bits };
        let capacity = simple_capacity(set_items, groups.max(1) * bins_per_group, server_bits).max(1);
        let of_basis = |(basis, &Basis { reach, .. }): (usize, &Basis)| {
            let with_parts = |parts| {
                let degree = usize::div_ceil(capacity, parts);
                Self { form, limbs, groups, capacity, parts, degree, basis, payload_bytes }
            };
            let mut shapes = (capacity.div_ceil(reach)..=capacity).map(with_parts);
            let shape = shapes.find(|shape| shape.go_apart_bits(set_items) >= f64::from(server_bits))?;
            let rare = shape.false_match_bits(query_items, log_queries) >= f64::from(FailureEvent::TagCollision.bits());
            (rare && noise::is_within(&shape, shape.powers().depth())).then_some(shape)
        };
        BASES.iter().enumerate().filter_map(of_basis).collect()
    }

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
    /// item has one in a part if each of its limbs is one of at most `B` limbs there.
    pub fn false_match_bits(&self, query_items: usize, log_queries: u32) -> f64 {
        let limb = f64::from(LIMB_BITS) - (self.degree as f64).log2();
        self.limbs as f64 * limb - (query_items.max(1) as f64 * self.parts as f64).log2() - f64::from(log_queries)
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
        self.ciphertexts() * self.form.ring().answer_bytes()
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

    /// Microseconds of a query.
    fn cost(&self) -> f64 {
        let products = self.columns() * self.powers().products();
        let counts = [self.question_bytes() + self.answer_bytes(), products, self.plaintexts(), self.cells()];
        std::iter::zip(COSTS[self.form as usize], counts).map(|(cost, count)| cost * count as f64).sum()
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

fn bins_per_group(form: Form, limbs: usize) -> usize {
    let slots = form.ring().scheme.slots();
    match form {
        Form::Together | Form::Masked => slots / limbs,
        Form::Apart => slots,
    }
}
