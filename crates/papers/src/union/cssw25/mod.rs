//! Union from circuit PSI as its paper prints it: Chandran, Schneider, Stillger, Weinert, "Concretely
//! Efficient Private Set Union via Circuit-based PSI" (ASIACCS 2025), Figures 7 to 10, 12 and 13.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y
//!                                1, 2. OPRF
//!      key k; F(x)                                                    F(y)
//!   cuckoo table T of the F(x)      [ circuit PSI, roles swapped ]    F(y) in each of its 3 bins
//!   z0_j of each bin j                                                z1_j:  z0_j + z1_j = 1 if bin j holds a common item
//!   pi: all bins in a random order
//!   Delta = pi(a) + b               [ share translation ]             a, b random
//!                                3. m = z1 + a
//!      <------------------------------------------------------------------------
//!                                4. pi(m + z0) + Delta
//!      ------------------------------------------------------------------------>
//!                                                                     Z = what came + b = pi(z0 + z1)
//!   k_i[0], k_i[1] of each place i  [ random OTs ]                    c_i, k_i[c_i]
//!                                5. d_i = c_i + Z_i
//!      <------------------------------------------------------------------------
//!                                6. w_i + G(k_i[d_i], i), w_i the record in bin pi(i) and a mark
//!      ------------------------------------------------------------------------>
//!                                                                     w_i where Z_i = 0
//! ```
//!
//! Steps 1 to 4 are a reverse membership test, as section 4.1 says; what follows is
//! [`vesica_protocols::membership`]'s transfer for unions, which sends one string a place (section 6.4).
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | `F_k(x)`, `F_k(y)` (Figure 2) | steps 1 and 2, `oprf` | the OPRF before the hashing; the sender has the key |
//! | circuit PSI (Figure 7), `T_X` | `union::circuit`, `Matched::items` | the table is the sender's |
//! | combine and permute (Figures 8, 12) | `combine`, steps 3 and 4 | the order is the sender's |
//! | share translation (Figure 13) | `combine` in the set-up, `params::shuffle` | the paper's three instantiations, and networks by OTs |
//! | a network in a circuit (section 6.3.1) | `combine=direct` | step 3 falls away |
//! | `{T_X[pi(i)], bottom}` (Figure 10) | steps 5 and 6 | an OT for each bin |
//!
//! # Empty bins
//!
//! The number of OTs is that of the bins, and so a function of `n_s`: places of empty bins are opened
//! like those of new items, and the paper does not say what the receiver finds there. Here it finds
//! zeros and the mark 0; a record has the mark 1. In circuit PSI an empty bin holds no item at all: its
//! value in the equality test is random, so that no item can equal a dummy.
//!
//! # What either side sees
//!
//! Theorem 4.2 stands on ideal OPRF, circuit PSI, combine and permute, and OT. These are semi-honest
//! protocols here; besides them:
//!
//! - *Combine and permute.* `m` is uniform to the sender under `a`. What the receiver gets in arrow 4
//!   is a function of `Z` and its own `b`. `Delta` never leaves the sender, and `b` is chosen by the
//!   receiver, so that share translation gives no more than the figure says.
//! - *The union's receiver* is simulated from `Y` and the new records. It sees places of three kinds
//!   in a uniform order that it does not know: `|X n Y|` common ones, `n_s - |X n Y|` with a new
//!   record, and the rest without one. It sees how many there are of each kind before the records,
//!   which is leakage where it breaks off a run (section 3).
//! - *Failures.* Whether the cuckoo table can be built, and how long that takes, depends on `F(X)`, and
//!   sets are fixed before the salt. A run whose table cannot be built ends, with a probability that
//!   holds for every set. A user may run again, with new randomness; a corrupt receiver may choose the
//!   hash functions of circuit PSI when it knows `F(Y)`, which this row does not withstand.
//!
//! # Section 4.5
//!
//! The tests in `union/leakage.rs` compare this row and `vesica-union` with what the receiver would
//! see without the OPRF or without the order, and with the section's equations. For the rows, none of
//! seven statistics of an item's bins depends on whether the item is common; by the argument on places
//! nothing does, but for failures of the cuckoo table. Without an
//! order, be there an OPRF or not, the receiver finds items that are certainly *not* common: those
//! none of whose bins shows a common item. That is more than equation (5) says. With a uniform order
//! and without the OPRF it finds nothing, but for failures of the cuckoo table. So equations (2) to
//! (5) do not hold as printed. `x` is a new item, `y` an item of `Y`, `A` that `y` is common, `t` the
//! number of bins, `m` that of the receiver's items:
//!
//! - `B`, that some bins of `x` and of `y` are the same, has probability `1 - C(t - 3, 3) / C(t, 3)`,
//!   which is near `9 / t`. It is `3 / t` for the one bin that holds `x`, if `y` is not common.
//! - With an order and without the OPRF the receiver does not know which bin holds `x`. The salt is
//!   drawn when both sets are fixed, so that `B` does not depend on which items are common:
//!   `P[A | B] = P[A] = |X n Y| / m`, instead of (3). There is one exception: a run continues only if
//!   the sender's items fit into their bins, which depends on `X`. It moves `P[A | B]` by less than
//!   `2^-40 / P[B]`. The OPRF takes away what the bins of new items say. What stays, below `2^-43`, is
//!   that items of `Y` which crowd each other's bins are less likely to be common: the receiver knows
//!   their bins, and that the table was built.
//! - Without an order `B` is that the bin that holds `x` is one of those of `y`. A common `y` lies in
//!   one of its bins, and `x` may be in the other two. These are full more often than any two bins,
//!   since `y` was hashed there: `P[B | A] = 2 q / (n_s - 1)`, `q` the probability that such a bin is
//!   full (0.87 at 1.3 bins an item, measured), and not `2 / (t - 1)`.
//! - No more than three new items lie in the bins of `y`: for more than three of them the event of (4)
//!   has probability 0.

mod combine;
mod messages;
mod oprf;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
pub(in crate::union) mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::bits::Bits;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::permute_share::bits::BitNetwork;
use vesica_mpc::permute_share::bits::prf::WeakPrf;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{
    Abort, Assumption, Channel, Choice, ChoiceValue, CostClass, Entry, Mode, Protocol, Rounds, Status, Task, assume,
    assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Band;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use crate::psi::cm20;
use vesica_protocols::membership::{BESIDE_UNION, For, MembershipTest, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::Union;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The reverse membership test of `cssw25`.
#[derive(Clone, Copy, Debug)]
pub enum Cssw25 {}

impl MembershipTest for Cssw25 {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = true;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Self::derive_chosen(sender_items, receiver_items, &<Self as For<Union>>::ENTRY)
    }

    fn derive_chosen(sender_items: usize, receiver_items: usize, entry: &'static Entry) -> Result<Params, Unsupported> {
        Params::derive(sender_items, receiver_items, entry)
    }

    fn places(params: &Params) -> usize {
        params.circuit.bins
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    fn sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender, Abort> {
        Sender::setup(params, ch, rng)
    }

    fn receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver, Abort> {
        Receiver::setup(params, ch, rng)
    }

    fn ask(sender: Sender, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        sender.ask(items, ch, rng)
    }

    fn test(receiver: Receiver, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        receiver.test(items, ch, rng)
    }
}

/// The OPRF, circuit PSI, the permutation and the transfers; each shuffle rests on random tables.
const ASSUMPTIONS: &[Assumption] = assumptions![
    <Opprf<Band> as Protocol>::ENTRY.modes[0].assumptions,
    <SilentVole<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
    <OneOfN as Protocol>::ENTRY.modes[0].assumptions,
    <BitNetwork as Protocol>::ENTRY.modes[0].assumptions,
    <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
    vesica_protocols::union::PADS,
];

/// Which shuffle of shared bits. All of them give every order of all bins.
const SHUFFLE: Choice = Choice {
    name: "shuffle",
    what: "Permute and share, by which the sender orders the shared bits of all bins (sections 6.3.1 and 6.3.2).",
    values: &[
        ChoiceValue::new("waksman", "permute-share-1: Waksman's network, an OT for each switch.").deviating(WAKSMAN),
        ChoiceValue::new("benes", "permute-share-1-benes: the network of Benes, an OT for each switch.")
            .deviating(BENES),
        ChoiceValue::new("opv", "permute-share-1-opv: oblivious punctured vectors of four bits.").deviating(OPV),
        ChoiceValue {
            modes: Some(CIRCUIT_MODES),
            ..ChoiceValue::new("circuit", "permute-share-1-circuit: Waksman's network, an AND gate for each switch.")
                .deviating(CIRCUIT)
        },
        ChoiceValue {
            modes: Some(CIRCUIT_MODES),
            ..ChoiceValue::new(
                "circuit-benes",
                "permute-share-1-circuit-benes: the network of Benes, an AND gate for each switch.",
            )
            .deviating(CIRCUIT_BENES)
        },
        ChoiceValue {
            modes: Some(PRF_MODES),
            ..ChoiceValue::new("prf", "permute-share-1-prf: oblivious evaluation of a weak PRF at each bin.")
                .deviating(PRF)
        },
    ],
};

const WAKSMAN: &[&str] =
    &["The shuffle is permute-share-1, with an OT for each switch of Waksman's network instead of an AND gate in GMW."];
const BENES: &[&str] = &[
    "The shuffle is permute-share-1-benes, with an OT for each switch of a Benes network for any number of bins instead \
     of an AND gate in GMW.",
];
const OPV: &[&str] =
    &["The shuffle is permute-share-1-opv, on a network of layers of permutations of four bits instead of \
                        one permutation."];
const CIRCUIT: &[&str] = &["The shuffle is permute-share-1-circuit: Waksman's network in GMW, as in the paper."];
const CIRCUIT_BENES: &[&str] =
    &["The shuffle is permute-share-1-circuit-benes: a Benes network for any number of bins in GMW."];
const PRF: &[&str] =
    &["The shuffle is permute-share-1-prf: permutation correlations, with 64 trits a bin instead of 256."];

/// The OPRF before the hashing.
const OPRF: Choice = Choice {
    name: oprf::CHOICE,
    what: "The OPRF that both sides apply to all items before they hash them to bins (section 6.1).",
    values: &[
        ChoiceValue::new("vole", "VOLE and an OKVS of the receiver's items: 9 bytes an item.").deviating(VOLE),
        ChoiceValue {
            modes: Some(COLUMNS_MODES),
            ..ChoiceValue::new(
                "cm20",
                "The columns of CM20, as cm20 has them: 79 bytes an item, and little arithmetic.",
            )
            .deviating(COLUMNS)
        },
    ],
};

const VOLE: &[&str] = &["The OPRF before the hashing is from VOLE and an OKVS, instead of CM20's."];
const COLUMNS: &[&str] = &[
    "The OPRF is that of cm20: random OTs of keys, so that one masked matrix travels and not two; \
                            a width by the binomial sum at what circuit PSI leaves of the failure budget; H_2 is also of \
                            the item.",
];

/// Equality tests and OKVS of circuit PSI.
const CIRCUIT_PSI: Choice = Choice {
    name: "circuit",
    what: "Circuit PSI (section 6.2).",
    values: &[
        ChoiceValue::new("vesica", "That of vesica-circuit: the band OKVS, equality tests by cubic polynomials.")
            .deviating(VESICA),
        ChoiceValue {
            modes: Some(RR22_MODES),
            ..ChoiceValue::new(
                "rr22",
                "That of rr22-circuit: the clustered OKVS, equality tests by trees of AND gates.",
            )
            .deviating(RR22)
        },
    ],
};

const VESICA: &[&str] =
    &["Circuit PSI is that of vesica-circuit, on opprf-band with cubic equality tests and 1.24 bins an \
                           item by a proven bound (more below 2^13 items), instead of RR22's with 1.4."];
const RR22: &[&str] =
    &["Circuit PSI is that of rr22-circuit, with what it says of its own: 1.24 bins an item by a proven \
                         bound (more below 2^13 items) instead of 1.4, ANDs from random 1-of-4 OTs."];

/// How shares are combined and permuted.
const COMBINE: Choice = Choice {
    name: "combine",
    what: "How the receiver gets the shared bits in the sender's order.",
    values: &[
        ChoiceValue::new(
            "translate",
            "Combine and permute by share translation (Figures 12 and 13): the shuffle runs in the set-up, on random bits.",
        ),
        ChoiceValue::new(
            "direct",
            "The shares go through the shuffle themselves (section 6.3.1), when circuit PSI has given them.",
        )
        .deviating(DIRECT),
    ],
};

const DIRECT: &[&str] =
    &["The shuffle takes the receiver's shares, to whose permuted ones the sender adds its own in the \
                           order that it knows: a network is linear, so that no circuit need take both."];

const MODES: &[Mode] = &semi_honest(ROUNDS, ASSUMPTIONS, BESIDE_UNION);
const ROUNDS: Rounds = Rounds::between(23, 39);
/// A round for each layer of switches.
const CIRCUIT_MODES: &[Mode] = &semi_honest(Rounds::between(39, 79), ASSUMPTIONS, BESIDE_UNION);
/// The weak PRF, and a round more for its key.
const PRF_MODES: &[Mode] = &semi_honest(
    Rounds::between(25, 41),
    assumptions![ASSUMPTIONS, <WeakPrf as Protocol>::ENTRY.modes[0].assumptions],
    BESIDE_UNION,
);
/// OTs for the columns, instead of a VOLE; circuit PSI still takes its own.
const COLUMNS_MODES: &[Mode] = &semi_honest(
    Rounds::between(23, 39),
    assumptions![ASSUMPTIONS, cm20::ASSUMPTIONS, assume!["BLAKE3 is a random oracle (H_2 of CM20, keys from its key)"],],
    BESIDE_UNION,
);
/// Trees are deeper than cubic polynomials.
const RR22_MODES: &[Mode] = &semi_honest(Rounds::between(23, 41), ASSUMPTIONS, BESIDE_UNION);
impl For<Union> for Cssw25 {
    const ENTRY: Entry = Entry {
        id: "cssw25",
        aliases: &[],
        variants: &[SHUFFLE, OPRF, CIRCUIT_PSI, COMBINE, base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "CSSW25",
            title: "Concretely Efficient Private Set Union via Circuit-based PSI",
            reference: "Chandran, Schneider, Stillger, Weinert. ASIACCS 2025",
        },
        // vesica-union takes about as long, and does not show the bits.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_UNION),
        deviations: &[
            VOLE[0],
            VESICA[0],
            WAKSMAN[0],
            "Random OTs by ot-silent, each turned by a bit.",
            "Records of any width under a pad that BLAKE3 makes of an OT's block and the place, instead of items; a \
             mark tells them from bins without an item, about whose content the paper says nothing.",
            "Where a set is empty nothing of this happens: the receiver gets all records, in a random order.",
        ],
        modes: MODES,
    };
}
