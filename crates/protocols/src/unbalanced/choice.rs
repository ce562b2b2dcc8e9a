//! The choice of a shape among all that serve.

use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::{hall_bound, simple_capacity};

use super::noise;
use super::powers::{BASES, Basis};
use super::ring::Form;
use super::shape::{MOST_QUERY_ITEMS, Shape, bins_per_group};

/// Limbs of an item that may be chosen from: up to as many bits as an item has after hashing; apart,
/// those for which there is an extension field of an easy form.
const LIMBS: [&[usize]; 3] =
    [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[2, 3, 4, 6], &[1, 2, 3, 4, 5, 6, 7]];

/// Most items of a set. The tables number an item in a bin with 32 bits, three times for each item.
const MOST_SET_ITEMS: usize = 1 << 28;

/// Hundredths of bins for a hundred items, from which on cuckoo tables may exist.
const LEAST_HUNDREDTHS: usize = 124;

/// Groups beyond twice the least number that are tried: queries of tens or hundreds of items need many
/// bins an item.
const FEW_GROUPS: usize = 8;

/// What a choice is made by, in microseconds: a byte that travels (100 Mbit/s), a product of
/// ciphertexts, one with a coefficient of the server, and what a cell takes after its value; by
/// [`Form`]. Those of [`Form::Together`] are for two cores, the others for one.
const COSTS: [[f64; 4]; 3] = [[0.08, 1000.0, 25.0, 0.0], [0.08, 13_000.0, 100.0, 0.0], [0.08, 13_000.0, 100.0, 25.0]];

/// Widest payload, in bytes: each 15 bytes or so are one more value of each part.
const MOST_PAYLOAD_BYTES: usize = 1 << 10;

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

    /// Microseconds of a query.
    fn cost(&self) -> f64 {
        let products = self.columns() * self.powers().products();
        let counts = [self.question_bytes() + self.answer_bytes(), products, self.plaintexts(), self.cells()];
        std::iter::zip(COSTS[self.form as usize], counts).map(|(cost, count)| cost * count as f64).sum()
    }
}
