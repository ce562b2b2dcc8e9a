//! All numbers of the membership test; docs/parameters/unbalanced.md derives them.

use std::ops::RangeInclusive;

use vesica_mpc::peqt;
use vesica_mpc::permute_share::bits::{self, BitNetwork};
use vesica_mpc::tasks::PermuteBitsRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};

use vesica_protocols::bfv::keys::{self, SEED_BYTES};
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::ring::{Form, Ring};
use vesica_protocols::unbalanced::shape::MOST_QUERY_ITEMS;

/// Bytes of arrow 1.
pub(super) const SALT_BYTES: usize = 32;

/// Bits of a digest at most: those that an equality test compares.
const MOST_DIGEST_BITS: u32 = 64;

/// The ring.
pub(super) fn ring() -> &'static Ring {
    Form::Masked.ring()
}

/// The parameters that both sides derive from the sizes.
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Limbs, bins, parts and powers.
    pub shape: Shape,
    /// Width of a digest: in one of the cells two that should differ are equal within the share of
    /// [`FailureEvent::ZeroDifference`].
    pub digest_bits: u32,
    /// An equality test for each cell.
    pub(super) equality: peqt::Params,
    /// A bit for each bin.
    pub(super) permutation: bits::Params,
}

impl Params {
    /// Parameters for sets of these sizes, of at least one item each.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the parts.
    pub fn derive(sender_items: usize, receiver_items: usize) -> Result<Self, Unsupported> {
        if sender_items > MOST_QUERY_ITEMS {
            return Err(Unsupported::new(
                format_args!(
                    "a sender's set of {sender_items} items, whose ciphertexts the receiver would have to hold"
                ),
                format_args!("send at most {MOST_QUERY_ITEMS} items, or choose vesica-union"),
            ));
        }
        let shape = Shape::new(Form::Masked, receiver_items, sender_items, 0)?;
        let cells = shape.cells();
        let digest_bits = FailureEvent::ZeroDifference.bits() + ceil_log2(cells);
        if digest_bits > MOST_DIGEST_BITS {
            return Err(Unsupported::new(
                format_args!("a receiver's set of {receiver_items} items, in {cells} parts of bins"),
                "use a smaller set, or choose vesica-union",
            ));
        }
        let bins = shape.bins();
        let permuted = PermuteBitsRequest { len: bins, kept: bins, security: Security::SemiHonest };
        Ok(Self {
            sender_items,
            receiver_items,
            shape,
            digest_bits,
            equality: peqt::Params::new(cells, digest_bits)?,
            permutation: <BitNetwork>::derive(&permuted)?,
        })
    }

    /// Bytes of all messages of the test.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let Self { shape, equality, permutation, .. } = self;
        let ciphertexts = keys::bytes(ring()) + SEED_BYTES + shape.question_bytes() + shape.answer_bytes();
        let of_cells = shape.cells() * size_of::<u64>();
        let fixed = (SALT_BYTES + ciphertexts + of_cells + shape.bins().div_ceil(8)) as u64;
        let (tests, permuted) = (equality.predicted_bytes(), <BitNetwork>::predicted_bytes(permutation));
        fixed + tests.start() + permuted.start()..=fixed + tests.end() + permuted.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::facts::LAMBDA;
    use vesica_structures::hashing::{hall_bound, simple_capacity};

    use super::super::cells::SLOT_BITS;
    use vesica_protocols::bfv::noise::distance_bits;
    use vesica_protocols::unbalanced::noise;
    use vesica_protocols::unbalanced::ring::{LIMB_BITS, PLAIN};

    const SIZES: [(usize, usize); 10] = [
        (1, 1),
        (2, 2),
        (3, 1000),
        (1000, 3),
        (1 << 14, 1 << 14),
        (1 << 14, 1),
        (1 << 10, 1 << 20),
        (1, 1 << 20),
        (1 << 14, 1 << 20),
        (1 << 10, 1 << 24),
    ];

    /// What can fail, each from its own formula, stays below `2^-40` together.
    #[test]
    fn all_failures_of_a_run_are_within_the_budget() {
        for (n_s, n_r) in SIZES {
            let Params { shape, digest_bits, .. } = Params::derive(n_s, n_r).unwrap();
            println!("{n_s} x {n_r}: {shape:?}, {} bins, {digest_bits} bits", shape.bins());
            let table = hall_bound(n_s, shape.bins()).exp2();
            // One bit less for a bin overflows the capacity, or there is no room to be fuller.
            let share = -f64::from(FailureEvent::HashTable.bits() + 1);
            assert!(simple_capacity(n_r, shape.bins(), FailureEvent::HashTable.bits() + 1) <= shape.capacity);
            assert!(shape.parts * shape.degree >= shape.capacity);
            let root = shape.degree as f64 / f64::from(1 << LIMB_BITS);
            let by_limbs = (n_s * shape.parts) as f64 * root.powi(shape.limbs as i32);
            let by_digests = (shape.bins() * shape.parts) as f64 * (-f64::from(digest_bits)).exp2();
            let all = table + share.exp2() + by_limbs + by_digests;
            assert!(all.log2() <= -f64::from(LAMBDA), "{n_s} x {n_r}: {}", all.log2());
            // One bit less is too much, but for the rounding up to a power of two.
            assert!(4.0 * by_digests > (-f64::from(FailureEvent::ZeroDifference.bits())).exp2());
        }
    }

    #[test]
    fn floods_drown_the_noise_and_can_be_decrypted() {
        for (n_s, n_r) in SIZES {
            let shape = Params::derive(n_s, n_r).unwrap().shape;
            let depth = shape.powers().depth();
            assert!(noise::is_within(&shape, depth));
            let drowned = noise::of_masked(ring(), shape.degree, depth);
            let distance = distance_bits(ring(), noise::ANSWERS_OF_A_SET, drowned);
            assert!(distance >= f64::from(LAMBDA), "{n_s} x {n_r}");
            // The budget of floods is for many runs.
            assert!((shape.ciphertexts() as u64) < noise::ANSWERS_OF_A_SET / 1000);
        }
    }

    #[test]
    fn what_a_cell_holds_can_be_joined() {
        const { assert!(PLAIN < 1 << SLOT_BITS) };
        for (n_s, n_r) in SIZES {
            assert!(Params::derive(n_s, n_r).unwrap().shape.limbs as u32 * SLOT_BITS <= u128::BITS);
        }
    }

    #[test]
    fn a_thousand_items_and_a_million_send_some_megabytes() {
        let bytes = Params::derive(1 << 10, 1 << 20).unwrap().predicted_bytes();
        println!("{bytes:?}");
        assert!((4_000_000..16_000_000).contains(bytes.end()), "{bytes:?}");
    }

    #[test]
    fn sets_that_are_too_large_are_refused() {
        let refused = Params::derive(MOST_QUERY_ITEMS + 1, 1).err().unwrap();
        assert!(refused.to_string().contains("16385") && refused.mend.contains("vesica-union"), "{refused}");
        let refused = Params::derive(1, (1 << 28) + 1).err().unwrap();
        assert!(refused.to_string().contains("268435457"), "{refused}");
    }
}
