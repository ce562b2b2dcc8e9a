//! Silent VOLE of narrow values in batches, for tens of millions of correlations. Each batch is
//! hashed as soon as it is made.
//!
//! ```text
//!     sender                                                            receiver
//!        |<== OT extension: for every batch OTs for its trees and a base VOLE of its noise, one delta ==>|
//!                       <----- 1, 5: flips of OTs and the seed of the code, for each batch ------
//!     for each batch:                                                   c = G e
//!                       ------ 2: trees, streamed ------------------>
//!   b = G v, 16384 elements at a time                                   a = G w, likewise
//!   consume(pi, b)                                                      consume(pi, a),  c
//! ```
//!
//! Steps, messages and symbols are those of [`crate::silent`] without a check. `consume` turns
//! elements into what the caller keeps of them; no more than one batch of positions, and 16384
//! outputs a thread, are held as elements of `F`. Short vectors are read off the base correlation.
//!
//! **What batches share** is `delta`, one set of base OTs, and nothing else: rows, base VOLE, noise
//! and the seed of the code are fresh for each, and all keys (pads, trees, hashes) are derived from
//! the run and the batch. To the sender, batches are independent instances of LPN: a hybrid
//! argument adds their advantages. To the receiver, a batch is one more set of rows and leaves
//! under the same `delta`, which the module above allows any number of: pads hash `W_i + b delta`
//! under a key of the batch, and all else is masked by a leaf or phantom that the receiver lacks.
//!
//! **One cipher call a hash.** `pi` is AES under a key that serves [`ELEMENTS_PER_KEY`] elements,
//! `H(x) = pi(x) + x` (MMO). Both know the key; what is used is that MMO is correlation robust for
//! a random permutation (GKWY20, section 7.2, for one offset; here `d delta` with `d < 16`): the
//! values `H(a_i + d delta)`, `d != 0`, are pseudo-random to the receiver, who knows the `a_i`, as
//! long as the inputs of a key are distinct. No tweak is needed for that: any two of the at most
//! 2^8 inputs under a key meet only if `a_i + a_j` is one of 16 multiples of `delta`, of
//! probability 2^-109, and 2^-85 over 2^28 elements; that no two `a_i` are equal rests on the code,
//! which has no twin groups (`silent::params`). A corrupt receiver could choose its `a_i` equal,
//! which is why this is for the semi-honest mode only.
//!
//! **What a guess is worth.** Who knows what many hashes of a key come to (a receiver of
//! corrections whose plaintext it can guess) tabulates them: one call of `pi` and a look-up test a
//! candidate for all elements of the key. With [`ELEMENTS_PER_KEY`] elements a key a search for
//! `delta` takes 2^124 calls if values have one bit, as much as that for the hidden leaves of
//! [`crate::ot_extension`]. Tables of `2^k` places have `2^k - 1` multiples of `delta` for each element, any
//! of which a guess may hit: 2^124 / 15, above 2^120, for `k = 4`.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use vesica_kernels::aes::Aes128;
use vesica_party::{Assumption, Attack, Effort, Mode, Rounds, Security, assume, assumptions};
use vesica_structures::facts::Unsupported;

use super::EXPANDER_LPN;
use super::params::{MIN_BLOCK, SilentParams};
use crate::binding::Binding;
use crate::ot_extension;
use crate::tasks::CorrelationRequest;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

/// The widest values, in bits.
pub(crate) const MAX_WIDTH: u32 = 4;

/// Elements of a batch at most. Shorter batches are faster, as more of them fits into caches, and
/// send more.
const ELEMENTS_PER_BATCH: usize = 1 << 23;

/// Elements that one key hashes: each doubles what a guess at `delta` is worth, and the key's
/// schedule is shared by as many.
pub const ELEMENTS_PER_KEY: usize = 16;

/// What [`Hashes`] rest on.
pub const CORRELATION_ROBUST: Assumption = Assumption::new(
    "AES-128 as a random permutation whose MMO hash is correlation robust for 15 multiples of one offset",
)
.attacked(Attack {
    falls: "the secret offset of random tables of four bits, and with it what they hide",
    takes: Effort::Steps { tenths: 1200, of: "calls of AES, each of which tests all 15 multiples at 16 indices" },
    source: ot_extension::OFFSET_PAGE,
});

/// How correlations in bulk resist, and what they rest on.
pub(crate) const SEMI_HONEST: Mode = Mode::semi_honest(
    Rounds::exactly(2),
    assumptions![
        ot_extension::ASSUMPTIONS,
        assume![
            CORRELATION_ROBUST,
            EXPANDER_LPN,
            "LPN for the same expand-convolute variant also for noise of uniform values of 1 to 4 bits, zero among \
             them",
        ],
    ],
    &[],
);

/// The agreed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number of elements.
    pub(crate) len: usize,
    /// Bits of a value.
    pub(crate) width: u32,
    route: Route,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// Read off the base correlation.
    Direct,
    /// Batches of one shape, the last of which may be cut short.
    Batches(SilentParams, usize),
}

impl Params {
    /// For `len` values of `width` bits, at most `most`, by what sends less.
    pub fn derive(len: usize, width: u32, most: usize) -> Result<Self, Unsupported> {
        if len > most {
            return Err(Unsupported::new(
                format_args!("{len} correlations in one run"),
                format_args!("ask for at most {most} at a time"),
            ));
        }
        let (direct, silent) =
            (Self { len, width, route: Route::Direct }, Self::in_batches(len, width, ELEMENTS_PER_BATCH));
        let Route::Batches(shape, _) = silent.route else { return Ok(direct) };
        let is_direct = shape.block < MIN_BLOCK || direct.predicted_bytes() <= silent.predicted_bytes();
        Ok(if is_direct { direct } else { silent })
    }

    /// By trees, in the fewest batches of at most `most` elements.
    fn in_batches(len: usize, width: u32, most: usize) -> Self {
        assert!((1..=MAX_WIDTH).contains(&width), "values of 1 to 4 bits");
        let batches = len.div_ceil(most).max(1);
        let request =
            CorrelationRequest { len: len.div_ceil(batches), security: Security::SemiHonest, width: Some(width) };
        Self { len, width, route: Route::Batches(SilentParams::new(&request, width), batches) }
    }

    /// Elements of a batch: all but the last have as many.
    pub fn batch_len(&self) -> usize {
        match self.route {
            Route::Direct => self.len.max(1),
            Route::Batches(shape, _) => shape.len,
        }
    }

    /// The base correlation.
    fn correlation(&self) -> ot_extension::Params {
        let blocks = match self.route {
            Route::Direct => self.len.div_ceil(128 / self.width as usize),
            Route::Batches(shape, batches) => batches * shape.correlation().blocks,
        };
        ot_extension::Params { blocks, security: Security::SemiHonest }
    }

    /// Bytes of all messages of both sides.
    pub fn predicted_bytes(&self) -> u64 {
        if self.len == 0 {
            return 0;
        }
        let batches = match self.route {
            Route::Direct => 0,
            Route::Batches(shape, batches) => batches as u64 * shape.batch_bytes(),
        };
        self.correlation().predicted_bytes() + batches
    }
}

/// The binding from which the keys of batch `batch` are derived.
pub fn batch_binding(binding: Binding, batch: usize) -> Binding {
    binding.extend("batch", &(batch as u64).to_le_bytes())
}

/// The hashes of a batch.
#[derive(Debug)]
pub struct Hashes(Aes128);

impl Hashes {
    /// The hashes for the batch of `binding`.
    pub fn new(binding: Binding) -> Self {
        Self(Aes128::new(binding.key("hashes", &[])))
    }

    /// Calls `consume` with a key, the elements `x` that it hashes, and as many of `out`; the first
    /// one's number in the batch is `first`.
    pub fn each<O>(&self, first: usize, x: &[u128], out: &mut [O], consume: impl Fn(&Aes128, &[u128], &mut [O])) {
        // As many keys at a time as fill the cipher.
        let mut keys = [0; 64];
        let at_a_time = keys.len() * ELEMENTS_PER_KEY;
        for (i, (x, out)) in x[..out.len()].chunks(at_a_time).zip(out.chunks_mut(at_a_time)).enumerate() {
            self.0.ctr((first / ELEMENTS_PER_KEY + i * keys.len()) as u128, &mut keys);
            for (key, (x, out)) in keys.iter().zip(x.chunks(ELEMENTS_PER_KEY).zip(out.chunks_mut(ELEMENTS_PER_KEY))) {
                consume(&Aes128::new(*key), x, out);
            }
        }
    }
}
