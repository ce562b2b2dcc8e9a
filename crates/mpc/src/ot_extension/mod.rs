//! OT extension by small-field VOLE: *SoftSpokenOT* [Roy22, Figures 7, 8, 11 and 14] with chunks of
//! 8 bits.
//!
//! It gives one correlation, read in two ways. The receiver holds a vector `u` of bits, and 128
//! columns `V[n]` of as many bits; the sender holds `delta` and 128 columns `W[n] = V[n] + delta[n]
//! u`. Row by row that is `W_i = V_i + delta u_i` in GF(2)^128, a *correlated OT*; `|B|`
//! bits at a time, with `e_n` the n-th element of the bit basis of `F`, `sum e_n W[n] = sum e_n
//! V[n] + delta u` is a *VOLE over B*.
//!
//! ```text
//!     sender, delta random                                             receiver
//!        |<================ 128 base OTs, roles swapped, choice bits NOT delta ================>|
//!                                                                      for each chunk j of 16: a GGM tree of 256 leaves r_x
//!                       <----- 1: tree sums ------------------------   u_j = sum r_x, V[8 j + i] = sum over x with bit i of r_x
//!   all leaves but x = delta_j;
//!   W[8 j + i] = sum over x with bit i of x ^ delta_j of r_x
//!                       <----- 2: leaf tags (malicious) ------------
//!                       <----- 3: corrections d_j = u_0 + u_j -------   u = u_0
//!   W[8 j + i] += delta[8 j + i] d_j
//!                       ------ 4: challenge chi (malicious) --------->
//!                       <----- 5: R(u), R(V) (malicious) ------------   R(x) = x_last + sum chi^(i + 1) x_i over blocks of 128 bits
//!   R(W[n]) = R(V[n]) + delta[n] R(u) for every n, or stop
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `P_S`, `P_R` of the small-field VOLE | receiver (expands the trees), sender (holds `delta`) |
//! | `k`, `n_C` | [`CHUNK_BITS`], [`CHUNKS`] |
//! | `U, V, W, C` | `bits`, receiver's `columns`, sender's `columns`, corrections |
//! | PPRF check (Figure 14) | `leaf_tags`, [`messages::TagSums`] |
//! | universal hash of the consistency check | `check::UniversalHash` |
//!
//! The last block of every column is random and used for nothing but to mask step 5. Tags and check
//! pass before any value is used. A corrupt receiver may guess bits of `delta`; a wrong guess stops
//! the run.
//!
//! **Many keys.** 16 leaves, one a tree, stay hidden from the sender, and each is an AES key whose
//! stream starts at the same counter: who searches for any of them needs `2^124` trials, not
//! `2^128`.
//!
//! **In parts.** The trees serve any number of vectors one after the other: step 3 goes on where the
//! leaves' streams ended, and no counter is used twice. Each part is the correlation of fresh bits
//! under the same `delta`. A hidden leaf that gives `2^24` blocks, as many as `MAX_BLOCKS` allows, is told
//! from a random function with probability below `2^-81`, all 16 with `2^-77` (a block cipher never repeats an output).
//!
//! **Time and addresses.** The sender reads and clears tree nodes, and reads leaves, at places that
//! are chunks of `delta`. Amount of work and messages do not depend on them; a program on the same
//! machine that watches caches may learn them.

mod check;
mod columns;
mod correlation_hash;
mod leaves;
pub mod messages;
mod params;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{
    Assumption, Attack, CostClass, Effort, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security, Status,
    Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};

use crate::tasks::{CorrelationRequest, RandomOt};

pub(crate) use check::UniversalHash;
pub use columns::Columns;
pub(crate) use columns::narrow_digits;
pub use correlation_hash::CorrelationHash;
pub(crate) use params::MAX_TRANSFERS;
pub use params::{CHUNK_BITS, CHUNKS, OtParams, Params};
pub(crate) use receiver::ReceiverTrees;
pub use receiver::{ReceiverCorrelation, bit, receiver};
pub(crate) use sender::SenderTrees;
pub use sender::{SenderCorrelation, sender};

/// The paper of the extension and of VOLE over small fields.
pub(crate) const PAPER: Paper = Paper {
    key: "Roy22",
    title: "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the Minicrypt Model",
    reference: "L. Roy, CRYPTO 2022, ePrint 2022/192",
};

/// What either mode rests on.
pub const ASSUMPTIONS: &[Assumption] = vesica_party::assumptions![
    crate::base_ot::ASSUMPTIONS,
    assume!["AES-128 as a random permutation and as a PRF", OFFSET_SEARCH]
];

/// What the 128 bits of `delta` are worth: see the module's text on hidden leaves, and
/// `INDICES_PER_KEY`.
pub const OFFSET_SEARCH: Assumption = Assumption::new(
    "the sender's offset is found by trying keys or values alone: a call of AES tests one for the 16 hidden leaves of the \
     trees, or for the 16 indices that a hash key serves",
)
.attacked(Attack {
    falls: "the secret offset of OTs and of VOLE, and with it what they hide",
    takes: Effort::Steps { tenths: 1240, of: "calls of AES" },
    source: OFFSET_PAGE,
});

/// The page on searches for an offset.
pub(crate) const OFFSET_PAGE: &str = "docs/parameters/base-ots.md";

/// Random OTs from 128 base OTs.
#[derive(Debug)]
pub struct OtExtension;

impl Protocol for OtExtension {
    const ENTRY: Entry = Entry {
        id: "ot-softspoken",
        aliases: &["ot-extension"],
        variants: &[],
        task: RandomOt::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the universal hash is a polynomial over GF(2^128) at a point the sender chooses once the corrections \
             have arrived",
            "OT messages are TMMO hashes under a key of the run, tweaked by index [GKWY20]",
            "the first level of each tree is the pair of OT messages itself, which saves its sums",
            "leaf tags are hashes (BLAKE3), and all are compared by one hash over all trees",
        ],
        modes: &[crate::base_ot::mode(Security::SemiHonest, Resistance::SemiHonest, 2, ASSUMPTIONS), MALICIOUS],
    };
    type Task = RandomOt;
    type Params = OtParams;
    type Sender = sender::Sender;
    type Receiver = receiver::Receiver;

    fn derive(request: &CorrelationRequest) -> Result<OtParams, Unsupported> {
        if request.len > MAX_TRANSFERS {
            return Err(Unsupported::new(
                format_args!("{} OTs in one run", request.len),
                format_args!("ask for at most {MAX_TRANSFERS} at a time"),
            ));
        }
        let correlation = Params { blocks: request.len.div_ceil(128), security: request.security };
        Ok(OtParams { len: request.len, correlation })
    }

    fn predicted_bytes(params: &OtParams) -> RangeInclusive<u64> {
        let bytes = params.correlation.predicted_bytes();
        bytes..=bytes
    }
}

/// The malicious mode, and what it gives away.
pub(crate) const MALICIOUS: Mode = Mode {
    security: Security::Malicious,
    corrupt_sender: Resistance::Malicious,
    corrupt_receiver: Resistance::Malicious,
    rounds: Rounds::exactly(4),
    assumptions: ASSUMPTIONS,
    leakage: &[GUESSED_DELTA],
};

/// What a corrupt receiver can try.
pub(crate) const GUESSED_DELTA: Leak = Leak {
    to: Learner::Receiver,
    what: "guesses at bits of delta by a corrupt receiver, right ones unnoticed; a wrong one stops the run",
    extra: None,
};
