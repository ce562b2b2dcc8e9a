//! Circuit PSI for a small set and a large one: Mahdavi, Lukas, Ebrahimianghazani, Humphries, Kacsmar,
//! Premkumar, Li, Oya, Amjadian, Kerschbaum, "PEPSI: Practically Efficient Private Set Intersection in the
//! Unbalanced Setting" (USENIX Security 2024). Codewords of constant weight are compared under BFV. What
//! travels grows with the smaller set alone.
//!
//! Steps 1 to 3 are those of [`vesica_protocols::circuit_psi`].
//!
//! ```text
//!   Sender: X, the large set                                          Receiver: Y, the small set
//!                                4. public key, key for products
//!      <------------------------------------------------------------------------
//!   codewords y_1 .. y_m of its items in each                         codeword x_1 .. x_m of the item of each bin,
//!   bin, in rows; zeros where there is none                           zeros in empty bins
//!                                5. Enc(x_j), j = 1 .. m
//!      <------------------------------------------------------------------------
//!   6. for each row: s = sum of x_j y_j
//!      found = product of (s - i), i < k:
//!      k! if the codewords are equal, else 0
//!      u_i, R_i of each bin random
//!                                7. Enc(sum of found, plus u_i), fresh and flooded
//!                                   Enc(sum of found (masked payload - R_i) / k!, plus R_i), too
//!      ------------------------------------------------------------------------>
//!                                                                     z_i / k! = u_i / k! + (1 if common, else 0)
//!   r_i of each bin random, out of set-up
//!                                8. (1 + u_i / k!) xor r_i
//!      ------------------------------------------------------------------------>
//!                                [ 8: equality tests of 17 bits ]
//!   share of q_i = (z_i / k! = 1 + u_i / k!)                          share of q_i
//!   the mask of its payload                                           payload under that mask, or R_i
//! ```
//!
//! All numbers in slots are modulo 65,537, bin after bin. Where the table fills a fraction of the slots, it is
//! repeated in them, and the sender's items of a bin are dealt to the copies: fewer rows. Shares of the copies
//! are added up by either side itself, as sums of shares are shares of sums.
//!
//! | paper | here | what |
//! |---|---|---|
//! | receiver, sender | the receiver, the sender | client with the small set, server with the large one |
//! | `CW(m, k)` | `codewords`, `WEIGHT` | words of `m` bits with `k` ones |
//! | `m`, `ell` | [`Parts::codeword_bits`] | bits of a codeword |
//! | `k`, `h` | 16 | their weight |
//! | arithmetic constant-weight equality operator | `equality` | `found` |
//! | `mu` | [`Parts::rows`] | items of the sender in a bin |
//! | `gamma` | [`Parts::batches`] | ciphertexts that the bins fill |
//! | permutation-based hashing, 19 bits | [`Parts::item_bits`] | what is compared of an item |
//!
//! # Why it is secure
//!
//! *The sender* sees ring-LWE ciphertexts under the receiver's secret, as many for any items, and what the
//! equality tests and multiplexers show, which is nothing.
//!
//! *The receiver* sees answers, and the tests' corrections. The number in each slot of the first answers is
//! uniform, by `u_i`, whatever was found. That of the others is a limb under the sender's mask, or `R_i`, which
//! is as wide: uniform below `2^16` (or `2^8`, where a limb is one byte) in either case, and with copies the
//! addends are uniform residues with that sum. Neither `u_i` nor `R_i` enters anything else, but `u_i` is in
//! the corrections, under the values `r_i` of the tests, which are uniform and which only the tests use. The
//! *noise* of a ciphertext would tell of the sender's items, and so would its second half, which is a
//! function of them and of what the receiver sent. So each answer is added to a fresh encryption of zero under
//! the receiver's public key, whose second half is a ring-LWE sample under a fresh secret, and its noise is
//! drowned: floods are sums of four uniform numbers of 66 bits (78 with payloads). All answers of a run together
//! have a distance of at most `2^-40.6` from answers whose noise is the flood alone. So the receiver's view
//! follows from its output, within that distance and the assumption.
//!
//! *Correctness.* Equal keys of an item in a bin have equal codewords, whose 16 ones are common. Different
//! ones have fewer in common, and so has an empty place, a word of zeros: one factor of `found` is zero. Two
//! different items of a bin are equal in the bits that are compared with probability at most `2^-42` for
//! all bins and rows together: keys are taken to be random, their functions are chosen by a salt. At most one
//! row then has a match, and the shares of a bin differ by 0 or 1. The test on 17 bits is exact.
//!
//! # What it does not hold
//!
//! - Nothing where a side does not follow the protocol. A receiver that encrypts what is no codeword, or whose
//!   ciphertexts have much noise, learns functions of the sender's items; a sender may answer from another set.
//! - An answer whose noise is exhausted ends the run, which a sender that does not follow the protocol could
//!   read the receiver's key by. Honest answers are never exhausted, by ten deviations of a prediction that
//!   tests measure; keys serve one run.
//! - Circuit privacy is statistical, by a mean that is predicted from the sizes: docs/parameters/pepsi.md. The
//!   prediction takes the coefficients of ciphertexts to be uniform and independent.
//!
//! # Costs
//!
//! A row of 8192 slots takes four products of ciphertexts and about a hundred with plaintexts, tenths of a
//! second of one core. Where both sets are large, every other row of this task is faster by orders of magnitude,
//! and sends less: the receiver sends 20 to 26 MB for each 6,300 of its items (46 to 59 MB for 12,600 with payloads).

mod codewords;
mod equality;
mod messages;
mod noise;
pub mod params;
mod receiver;
mod rows;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt;
use vesica_party::{
    Abort, Assumption, Attack, Channel, CostClass, Effort, Entry, Role, Rounds, Status, Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rlwe::RingLwe;
use vesica_structures::rng::SecretRng;

pub use params::{Form, Parts};
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::circuit_psi::entry::{BINS, EQUALITY_TESTS, mode};
use vesica_protocols::circuit_psi::{Carry, Exchangeable, Matched, Matching, MatchingRequest, Params};
use vesica_protocols::circuit_row;
use vesica_protocols::styles;
use vesica_protocols::tasks::Shares;

/// The paper.
pub(super) const PAPER: Paper = Paper {
    key: "PEPSI24",
    title: "PEPSI: Practically Efficient Private Set Intersection in the Unbalanced Setting",
    reference: "Mahdavi, Lukas, Ebrahimianghazani, Humphries, Kacsmar, Premkumar, Li, Oya, Amjadian, Kerschbaum. \
                USENIX Security 2024",
};

pub(super) const FROM_CODE: &str = "Written without the paper's text, from what is known of it and from facts of its public \
                                    code, which gives the receiver a result; here both sides get shares. Answers are \
                                    masked by uniform numbers, and exclusive-or shares come from equality tests of 17 bits.";
pub(super) const HIDDEN: &str = "Answers are added to a fresh encryption of zero under the receiver's key, and flooded; the \
                                 public code does neither.";
pub(super) const ONE_WEIGHT: &str = "One weight, 16, and four products of ciphertexts for a comparison, by a factorisation \
                                     of the polynomial, instead of one for each factor, 15 at this weight.";
pub(super) const WIDE_ITEMS: &str = "Items are hashed to 42 bits or more, by a bound on false matches over all comparisons; \
                                     the public code takes items of 32 bits and permutation-based hashing to 19.";
pub(super) const REPEATED: &str = "A table that fills a fraction of the slots is repeated in them, and rows are as many as \
                                   an exact binomial bound takes.";
pub(super) const ONE_SWITCH: &str = "Keys are switched once for the sum of all rows.";

const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 8192 coefficients and 214 bits (with payloads 16,384 and 245) and ternary secrets, also where the \
     secret's own square is encrypted (circular security of the key for products)",
)
.attacked(Attack {
    falls: "the receiver's items",
    takes: Effort::Primal(RingLwe { degree: 8192, modulus_bits: 214 }),
    source: "docs/parameters/pepsi.md",
});

/// What rows on this matching rest on.
pub(super) const ASSUMPTIONS: &[Assumption] = assumptions![
    assume![
        RING_LWE,
        "AES under random keys, which both sides know, gives random functions; keyed BLAKE3 gives uniform polynomials",
    ],
    EQUALITY_TESTS,
];

circuit_row!(
    /// `pepsi`.
    Pepsi, ConstantWeightMatching, Exchangeable::new(peqt::Variant::Cubic), Entry {
        id: "pepsi",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Shares::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE_SHARES),
        deviations: &[
            FROM_CODE,
            HIDDEN,
            ONE_WEIGHT,
            WIDE_ITEMS,
            REPEATED,
            ONE_SWITCH,
            "Payloads of both sides: limbs of 16 bits are multiplied to what was found, and a multiplexer follows.",
            BINS,
        ],
        modes: &[mode(Rounds::between(14, 28), ASSUMPTIONS)],
    }
);

/// Steps 1 to 8 of the figure.
#[derive(Clone, Copy, Debug)]
pub enum ConstantWeightMatching {}

impl Matching for ConstantWeightMatching {
    type Parts = Parts;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &MatchingRequest) -> Result<Params<Parts>, Unsupported> {
        params::derive(request)
    }

    fn predicted_bytes(params: &Params<Parts>) -> RangeInclusive<u64> {
        params.predicted_bytes(|parts| parts.predicted_bytes(params.bins))
    }

    /// Payloads are multiplied to larger ciphertexts, and one more for each two bytes: docs/parameters/plan-memory.md.
    fn further_memory(params: &Params<Parts>, role: Role) -> u64 {
        let carried = params.carried_bytes as u64;
        if role == Role::Sender && carried > 0 { (105 << 20) + carried.div_ceil(2) * (2200 << 10) } else { 0 }
    }

    fn sender(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender, Abort> {
        Sender::setup(params, ch, rng)
    }

    fn receiver(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver, Abort> {
        Receiver::setup(params, ch, rng)
    }

    fn send(
        sender: Sender,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        sender.run(items, carry, ch, rng)
    }

    fn receive(receiver: Receiver, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        receiver.run(items, ch, rng)
    }
}
