//! The encryption schemes, and where the limbs of an item lie.

use std::sync::OnceLock;

use vesica_party::{Abort, Assumption, Attack, Channel, Effort, Stream};
use vesica_structures::rlwe::RingLwe;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, Params, Scheme};

pub use crate::bfv::Ring;
use crate::bfv::ciphertexts::{receive_rounded, receive_short};
pub use crate::recurrent::scramble::PLAIN;

/// Bits of a limb. What is at least `2^LIMB_BITS` is no limb of an item.
pub const LIMB_BITS: u32 = 17;

/// The root of a polynomial that has fewer items than its degree.
pub const NO_LIMB: u64 = PLAIN - 1;

/// Bits of each coefficient of both halves of an answer that is not flooded. An error of the first half is noise, one of
/// the second is multiplied by the secret: hence the more bits. One bit less of either is refused by a test.
pub const ANSWER_BITS: [u32; 2] = [21, 27];

/// Where the limbs of an item lie, and what the server's values need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Side by side in one ciphertext. Values go to the client as they are.
    Together,
    /// Each in a ciphertext of its own, at the same place, so that values can be multiplied by random
    /// elements of an extension field. They are flooded.
    Apart,
    /// Side by side in one ciphertext, in the ring of [`Apart`](Self::Apart): values go back under
    /// uniform masks, and are flooded.
    Masked,
}

/// What the ring of [`Form::Apart`] and [`Form::Masked`] rests on.
pub const APART_RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 8192 coefficients, 200 bits and ternary secrets, also where the secret's own square is encrypted \
     (circular security of the key for products)",
)
.attacked(Attack {
    falls: "the items of the side that asks: a client, and with `tcl23` the sender",
    takes: Effort::Primal(RingLwe { degree: 8192, modulus_bits: 200 }),
    source: "docs/parameters/unbalanced.md",
});

impl Form {
    /// The ring, which is the same for all requests.
    pub fn ring(self) -> &'static Ring {
        static RINGS: [OnceLock<Ring>; 2] = [OnceLock::new(), OnceLock::new()];
        RINGS[usize::from(self != Self::Together)].get_or_init(|| {
            let (params, kept_primes, flood_bits) = match self {
                Self::Together => (Params::with_widths(4096, &[36; 3], &[PLAIN], 18), 2, 0),
                Self::Apart | Self::Masked => (Params::with_widths(8192, &[50; 4], &[PLAIN], 25), 3, 116),
            };
            let scheme = Scheme::new(&params);
            let scheme = scheme.unwrap_or_else(|refused| unreachable!("a test makes them: {}", refused.what));
            Ring { scheme, kept_primes, sent_primes: 1, flood_bits }
        })
    }

    /// Bytes of an answer.
    pub fn answer_bytes(self) -> usize {
        match self {
            Self::Together => self.ring().scheme.rounded_bytes(ANSWER_BITS),
            Self::Apart | Self::Masked => self.ring().answer_bytes(),
        }
    }

    /// Receives an answer as arrow `A`.
    pub fn receive_answer<A: Stream<Element = u8>>(self, ch: &mut Channel) -> Result<Ciphertext<Coefficients>, Abort> {
        let Ring { scheme, sent_primes, .. } = self.ring();
        match self {
            Self::Together => receive_rounded::<A>(scheme, ANSWER_BITS, ch),
            Self::Apart | Self::Masked => receive_short::<A>(scheme, *sent_primes, ch),
        }
    }
}

impl Ring {
    /// The numbers that tell it from others.
    pub fn to_words(&self) -> [u64; 5] {
        let params = self.scheme.params();
        let [degree, primes] = [params.degree, params.primes.len()].map(|count| count as u64);
        [degree, primes, self.kept_primes as u64, params.digit_bits.into(), LIMB_BITS.into()]
    }
}
