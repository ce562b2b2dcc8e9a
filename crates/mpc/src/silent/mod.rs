//! Silent subfield VOLE from regular-noise LPN [BCGI18, BCGIKRS19], with the malicious check of
//! [WYKW21, Figure 7] as [RS21, RR22] use it.
//!
//! ```text
//!     sender                                                            receiver
//!        |<== OT extension: OTs for the trees, a base VOLE of t values over B, one over F (malicious) ==>|
//!                                                                       noise: in each of t blocks one place alpha, of value e = c_base
//!                       <----- 1: flips of OTs ---------------------
//!   t GGM trees, leaves v;
//!   per tree: padded sums, sum v + b_base
//!                       ------ 2: trees, streamed ------------------>   all leaves but alpha;  w = v,
//!                                                                       w[alpha] = (sum v + b_base) - sum of other leaves - a_base
//!                                                                       so that w = v + delta e
//!                       <----- 3: chi, x* (malicious) --------------   x* = x + sum chi^(p + 1) e[p]
//!   V_b = sum chi^(p + 1) v[p] + y + delta x*                           V_a = sum chi^(p + 1) w[p] + z
//!                       ------ 4: hash of V_b (malicious) ---------->   equal to that of V_a, or stop
//!                       <----- 5: seed of the code -----------------
//!   b = G v                                                             a = G w,  c = G e
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `t, N, m` | [`params::SilentParams`]: `trees`, `positions`, `len` |
//! | `alpha, e` | `points`, noise `values` |
//! | `v, w` | `leaves` on either side |
//! | `x, z = y + delta x` | the mask, one element of a VOLE over `F` |
//! | `G` | `code::Code` |
//!
//! **Who may cheat.** A corrupt receiver chooses its own `c` and `a` (allowed), whatever turns its
//! OT choices take in a tree, and learns about `delta` only what [`crate::ot_extension`] gives
//! away; a false `x*` gives it the hash of `V_a + delta (error)`, of 128 bits of entropy. A corrupt
//! sender can send trees that are right for some `alpha` only: it passes if `alpha` is among them,
//! and learns that. So the assumption is LPN with such leakage. The seed of the code comes after
//! its trees, and before its answer to the check. The order of steps 3 and 5 is that of the
//! malicious mode; without a check, 5 follows 1.
//!
//! **Shared `delta`.** The pads of the trees hash rows `W_i + b delta`, the base VOLE and the
//! output use the same `delta`. TMMO is tweakable correlation robust for AES as a random
//! permutation (GKWY20): pads are pseudo-random as long as `delta` has the entropy that
//! [`crate::ot_extension`] leaves it, and all else that the receiver sees of `delta` is masked by
//! them or by a leaf or phantom it lacks.
//!
//! **Time and addresses.** The receiver clears nodes, reads leaves and adds noise at addresses that
//! depend on the noisy places. Amount of work and messages do not depend on them; a program on the
//! same machine that watches caches may learn them.
//!
//! Short vectors take [`crate::small_field_vole`] alone: [`params::Params`] chooses by bytes.

pub(crate) mod bulk;
mod check;
mod code;
pub mod lucky;
pub mod messages;
pub mod params;
pub(crate) mod receiver;
mod sender;
pub(crate) mod trees;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{
    Assumption, CostClass, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security, Status, Task, assume,
    assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Value;

use crate::ot_extension::{self, GUESSED_DELTA};
use crate::small_field_vole;
use crate::tasks::{CorrelationRequest, SubfieldVole};
use params::Params;

pub use receiver::Receiver;
pub use sender::Sender;

/// The protocol's name in steps.
const NAME: &str = "silent-vole";

/// A bound on elements a run: the length up to which the weight of the code was examined, and below
/// the range of its 32-bit draws.
const MAX_LEN: usize = 1 << 28;

/// What everything rests on that is made by the code of this module: docs/expander.md specifies the
/// code and says what is known of it.
pub const EXPANDER_LPN: Assumption = Assumption::new(
    "Regular LPN for this project's own expand-convolute variant, unpublished (docs/expander.md): relative distance 0.11 of \
     a code that nobody outside has reviewed",
);

/// The assumption that the malicious mode adds to [`EXPANDER_LPN`].
const LEAKY_NOISE: Assumption = Assumption::new(
    "LPN for the same expand-convolute variant also if a corrupt sender has guessed at places of the noise, and was right \
     (selective failure)",
);

/// Silent VOLE over `B`.
#[derive(Debug)]
pub struct SilentVole<B>(PhantomData<fn() -> B>);

impl<B: Value> Protocol for SilentVole<B> {
    const ENTRY: Entry = Entry {
        id: if B::BITS == 64 { "vole-silent-64" } else { "vole-silent-128" },
        aliases: &[],
        variants: &[],
        task: SubfieldVole::<B>::NAME,
        paper: Paper {
            key: "RRT23",
            title: "Expand-Convolute Codes for Pseudorandom Correlation Generators from LPN",
            reference: "S. Raghuraman, P. Rindal, T. Tanguy, CRYPTO 2023, ePrint 2023/882",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "noise weight 762 from distance 0.11 by the formula for uniform noise values, instead of a heuristic \
             pseudo-distance",
            "one expander place in each of as many strata of the convolved vector, and the farthest tap always set: \
             rows of low weight disappear",
            "four outputs take the four places of a random line in a random order, as in block-accumulate codes",
            "the expander's weight grows with the length, so that words found by linear algebra in a box of each \
             stratum weigh at least 0.118",
            "the seed of the code is chosen by the receiver, whom alone the code protects",
            "base VOLE and OTs from one small-field correlation [Roy22], checked before use; OT pads, base VOLE and \
             output share one delta, whose hashes (TMMO) are pseudo-random for AES as a random permutation although \
             delta is used elsewhere linearly",
            "each tree has PRG keys of its own; levels of odd width end in a phantom node, so that no choice of OTs \
             opens a whole tree",
            "the check's answer is a hash: the receiver alone learns the outcome, the sender only by the receiver's \
             abort",
            "short vectors are made by small-field VOLE alone, where that sends less",
        ],
        modes: &[
            Mode::semi_honest(
                Rounds::between(2, 3),
                assumptions![ot_extension::ASSUMPTIONS, assume![EXPANDER_LPN]],
                &[],
            ),
            Mode {
                security: Security::Malicious,
                corrupt_sender: Resistance::Malicious,
                corrupt_receiver: Resistance::Malicious,
                rounds: Rounds::between(4, 7),
                assumptions: assumptions![ot_extension::ASSUMPTIONS, assume![EXPANDER_LPN, LEAKY_NOISE]],
                leakage: &[
                    GUESSED_DELTA,
                    Leak {
                        to: Learner::Sender,
                        what: "one guess at the places of the noise by a corrupt sender, who may have seen the code, \
                               a right one unnoticed; a wrong one stops the run",
                        extra: None,
                    },
                ],
            },
        ],
    };
    type Task = SubfieldVole<B>;
    type Params = Params;
    type Sender = Sender<B>;
    type Receiver = Receiver<B>;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        if request.len > MAX_LEN {
            return Err(Unsupported::new(
                format_args!("a VOLE of {} elements", request.len),
                format_args!("ask for at most {MAX_LEN} at a time"),
            ));
        }
        small_field_vole::check_width::<B>(request)?;
        Ok(Params::new(request, B::BITS))
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}
