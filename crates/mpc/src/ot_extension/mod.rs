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
mod leaves;
pub mod messages;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_kernels::aes::Aes128;
use vesica_party::{
    Assumption, Attack, CostClass, Effort, Entry, Leak, Learner, Mode, Protocol, Resistance, Rounds, Security, Status,
    Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};

use crate::binding::Binding;
use crate::tasks::{CorrelationRequest, RandomOt};

pub(crate) use check::UniversalHash;
pub(crate) use columns::{Columns, narrow_digits};
pub(crate) use receiver::{ReceiverCorrelation, ReceiverTrees, bit, receiver};
pub(crate) use sender::{SenderCorrelation, SenderTrees, sender};

/// The protocol's name in steps.
pub(crate) const NAME: &str = "ot-extension";

/// Bits of `delta` a tree (the paper's `k`): 8 gives half the corrections of 4, and its 4096 leaves
/// still expand within milliseconds.
pub const CHUNK_BITS: usize = 8;

/// Trees.
pub const CHUNKS: usize = 128 / CHUNK_BITS;

/// Leaves of a tree.
const LEAVES: usize = 1 << CHUNK_BITS;

/// What both sides agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Blocks of 128 bits in each column that the caller uses.
    pub blocks: usize,
    /// Against which parties.
    pub security: Security,
}

impl Params {
    /// Blocks in each column while it is made: one more for the mask of the check.
    fn blocks_made(&self) -> usize {
        self.blocks + usize::from(self.checked())
    }

    /// Whether tags and check are made.
    fn checked(&self) -> bool {
        self.security == Security::Malicious
    }

    /// Bytes of all messages, base OTs included.
    pub(crate) fn predicted_bytes(&self) -> u64 {
        let trees = CHUNKS * (CHUNK_BITS - 1) * 2 * 16;
        let corrections = (CHUNKS - 1) * self.blocks_made() * 16;
        let checks = if self.checked() { CHUNKS * 32 + 32 + 16 + 16 + 128 * 16 } else { 0 };
        crate::base_ot::predicted_bytes(128) + (trees + corrections + checks) as u64
    }
}

/// The paper of the extension and of VOLE over small fields.
pub(crate) const PAPER: Paper = Paper {
    key: "Roy22",
    title: "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the Minicrypt Model",
    reference: "L. Roy, CRYPTO 2022, ePrint 2022/192",
};

/// What either mode rests on.
pub(crate) const ASSUMPTIONS: &[Assumption] = vesica_party::assumptions![
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

/// The parameters of [`OtExtension`].
#[derive(Clone, Copy, Debug)]
pub struct OtParams {
    len: usize,
    correlation: Params,
}

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

/// A bound on transfers a run: columns, rows and hashes are up to 96 bytes a transfer on either side, 6 GiB at the bound.
///
/// It is far below [`MAX_BLOCKS`], which bounds the leaves' streams.
pub(crate) const MAX_TRANSFERS: usize = 1 << 26;

/// Blocks that the stream of a leaf gives at most: what the module's text says of many keys holds up to here.
const MAX_BLOCKS: u64 = 1 << 24;

/// What blocks of each column were made when `blocks` more are.
///
/// # Errors
/// If the streams of the leaves do not serve for as many.
fn count_blocks(made: u64, blocks: usize) -> Result<u64, Unsupported> {
    match made.checked_add(blocks as u64) {
        Some(total) if total <= MAX_BLOCKS => Ok(total),
        _ => Err(Unsupported::new(
            format_args!("{blocks} more blocks of correlated OTs after {made}"),
            format_args!("ask for at most {MAX_BLOCKS} in all"),
        )),
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

/// The hash that turns correlated blocks into independent ones (TMMO, the index as tweak). A key
/// serves [`INDICES_PER_KEY`] indices: who knows outputs can test a candidate for all indices of a
/// key at once, tweak or not.
pub(crate) struct CorrelationHash(Binding);

/// Indices that one key hashes; a search for `delta` then takes 2^124 calls of the cipher, as one
/// for the hidden leaves does.
const INDICES_PER_KEY: usize = 16;

impl CorrelationHash {
    /// Keyed for the run.
    pub fn new(binding: Binding) -> Self {
        Self(binding)
    }

    /// `out[i] = H(x[i], i)`.
    pub fn hash(&self, x: &[u128]) -> Vec<u128> {
        let mut keys = self.0.stream("correlation hash");
        let mut out = vec![0; x.len()];
        for (number, (x, out)) in x.chunks(INDICES_PER_KEY).zip(out.chunks_mut(INDICES_PER_KEY)).enumerate() {
            let mut key = [0; 16];
            keys.fill(&mut key);
            let tweaks: [u128; INDICES_PER_KEY] = std::array::from_fn(|i| (number * INDICES_PER_KEY + i) as u128);
            Aes128::new(u128::from_le_bytes(key)).tmmo(x, &tweaks[..x.len()], out);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_leaves_end_at_their_bound() {
        let max = MAX_BLOCKS as usize;
        assert_eq!(count_blocks(0, max).unwrap(), MAX_BLOCKS);
        assert_eq!(count_blocks(MAX_BLOCKS, 0).unwrap(), MAX_BLOCKS);
        assert!(count_blocks(1, max).is_err() && count_blocks(1, usize::MAX).is_err());
    }
}
