//! Union with a receiver's much larger set: Tu, Chen, Liu, Zhang, "Fast Unbalanced Private Set Union from
//! Fully Homomorphic Encryption" (CCS 2023), on shared bits, and with what circuit privacy takes.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y, the larger set
//!
//!                                1. salt;  2. public key, key for products
//!      ------------------------------------------------------------------------>
//!   cuckoo table of X, its limbs v_l                                  each y in its three bins, and there in one part
//!                                                                     P_(p,l)(v) = product over part p of (v - limb l)
//!                                3. for each group of bins, and e of the basis: Enc(v^e)
//!      ------------------------------------------------------------------------>
//!                                                                     a uniform mask r of each cell (bin, part)
//!                                4. for each group and part: Enc(P_p(v) + r)
//!      <------------------------------------------------------------------------
//!   u = P_p(v) + r of each cell; random in bins without an item
//!                                                                     z of each cell [ equality test ]
//!                                5. c = z + H(r) of each cell
//!      <------------------------------------------------------------------------
//!   H(u) + c                     [ equality test ]                    z
//!   shares of u = r, added up over the parts of a bin: a_j            b_j:  a_j + b_j = 1 if bin j holds a common item
//!   pi: all bins in a random order
//!   Delta                        [ permute-share-1 ]                  b, s random:  Delta + s = pi(b)
//!                                6. pi(a) + Delta
//!      ------------------------------------------------------------------------>
//!                                                                     e = what came + s = pi(a + b)
//!                                 [ 7 and 8: arrows I and II of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender, receiver | the same | the receiver learns the union; the sender's set is the small one |
//! | bins `m`, partitions `alpha` | [`Shape::bins`], [`Shape::parts`] | a cell is a bin and a part |
//! | `s = P(v) + r`, `r` | `u`, `r` | of [`Shape::limbs`] limbs of 17 bits, side by side |
//! | windowing | a basis, see `powers` | which powers are sent |
//! | pm-PEQT (from permute-and-share and an OPRF, or from Diffie-Hellman) | steps 5 and 6 | equality tests with shared output, and a permutation of one bit a bin |
//! | OT | steps 7 and 8 | [`vesica_protocols::membership`]'s transfer for unions |
//!
//! We had no copy of the paper when this was written. What is said of it is from its outline and from the
//! code of mpc4j (`Tcl23Upsu*`, `Tcl23PsOprfPmPeqt*`), which puts an OPRF before the hashing.
//!
//! # Why it is right
//!
//! A common item lies in one of its bins in the sender's table, and in one part of that bin at the
//! receiver, where all its limbs are roots: `u = r`. Elsewhere `u` differs from `r`, unless each limb of the
//! sender's item is one of some item of the part (`2^-42` for all cells together). `H` is the product with
//! a random element of `GF(2^128)`, cut to [`Params::digest_bits`] bits: it takes different cells to one
//! digest with `2^-41` for all cells. So at most one cell of a bin is equal, and the sum of the shares over
//! the parts is the share of whether any is. A false match loses a new item, or counts a common one as new.
//!
//! # Why it is secure
//!
//! *The sender* decrypts `u`, which is uniform under `r` whatever `P_p(v)` is: limbs need not be multiplied
//! together as in `clr17`, and lie side by side. Answers are added to a fresh encryption of zero under
//! the sender's key and flooded, so that neither their second half nor their noise tells anything of the
//! polynomials: the distance is below `2^-40` for 2^24 ciphertexts, those of
//! more than a thousand runs. Arrow 5 is uniform under `z`, which the receiver uses in
//! the test only, and which the test does not show. The shares of the test and `Delta` are
//! uniform. So the sender learns nothing, and in particular not which of its items are common.
//!
//! *An OPRF before the hashing does not replace the flood.* In `cmdg21` the noise of answers is a function
//! of the client's message and of outputs that are pseudo-random but for the client's own items: it can
//! tell matches alone, which the client is to learn. Here the sender has the outputs at its own items, and
//! is not to learn which of them are roots. That no OPRF is needed is our own argument, which nobody outside
//! has reviewed.
//!
//! *The receiver* sees ring-LWE ciphertexts under the sender's secret, the tests and the network, where
//! it is simulated from its shares, and arrow 6, which follows from `e` and its own `s`. The bits `e` are
//! those of all bins in a uniform order that only the sender knows: as [`vesica_protocols::membership`] argues, the
//! receiver is simulated from `Y`, the new records and the number of common items, although it can compute
//! the bins of all items. That is why there is no OPRF. A test in `union/leakage.rs` compares what it sees
//! with a run in the order of the bins.
//!
//! *Parts do not show.* Shares of the cells of a bin are added up before anything is permuted. A matrix
//! whose rows and columns are permuted, all bins by one order of the parts (so does mpc4j), shows which
//! common items are of one part: where two of a few items are common, and two cells of different rows are
//! equal, all pairs of the receiver's items in one part are ruled out. An order of its own in each bin
//! would hide that; a bit for each bin is shorter.
//!
//! *Bins without an item.* The sender's digests there are random, so that they are equal to the
//! receiver's with `2^-41` for all cells. They are opened, and hold a mark 0, as in every row on
//! [`vesica_protocols::membership`]. The sender's limbs there are zero, under encryption.
//!
//! *Failures.* Whether the sender's table exists depends on `X`, whether a bin overflows on `Y`; each
//! fails with `2^-44` at most, for any sets that were fixed before the salt.
//!
//! # What it does not hold
//!
//! - Nothing where a side does not follow the protocol. A sender that makes up ciphertexts can put noise
//!   into them that the flood does not drown, and reads the receiver's polynomials in the answers; it also
//!   makes cells equal or different as it likes. A receiver whose ciphertexts are made up learns about the
//!   sender's key from the bits `e`, and from the sender's abort for exhausted noise; ciphertexts of an
//!   honest receiver are never exhausted.
//! - The time that the sender takes to build its table, before arrow 3, depends on its items, and the
//!   receiver knows the salt: it can compare that time with what it guesses.
//! - Sets of the sender above 2^14 items: the receiver would hold their ciphertexts. A sender with more
//!   items than the receiver is served, and gains nothing.
//! - Sets are evaluated anew in each run: nothing is prepared.

mod cells;
mod messages;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
pub(crate) mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt::CubicEquality;
use vesica_mpc::permute_share::bits::BitNetwork;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{
    Abort, Assumption, Channel, CostClass, Entry, Protocol, Role, Rounds, Status, Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::Transfer;
use vesica_protocols::membership::{BESIDE_UNION, For, MembershipTest, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::Union;
#[cfg(doc)]
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::ring::APART_RING_LWE;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The membership test of `tcl23`.
#[derive(Debug)]
pub enum Tcl23 {}

impl MembershipTest for Tcl23 {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = true;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Params, Unsupported> {
        Params::derive(sender_items, receiver_items)
    }

    fn places(params: &Params) -> usize {
        params.shape.bins()
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }

    /// docs/parameters/plan-memory.md.
    fn further_memory(params: &Params, role: Role) -> u64 {
        if role == Role::Sender { 790 * params.shape.cells() as u64 } else { 0 }
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

/// What encryption and hashing stand on.
const OF_CIPHERTEXTS: &[Assumption] = assume![
    APART_RING_LWE,
    "AES under random keys, which both sides know, gives random functions; keyed BLAKE3 gives uniform polynomials",
];

impl For<Union> for Tcl23 {
    const ENTRY: Entry = Entry {
        id: "tcl23",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "TCLZ23",
            title: "Fast Unbalanced Private Set Union from Fully Homomorphic Encryption",
            reference: "Tu, Chen, Liu, Zhang. CCS 2023",
        },
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE_UNION),
        deviations: &[
            "Written without the paper's text, from its outline and facts of the code of mpc4j, which neither refreshes nor \
             floods answers.",
            "Cells are compared by equality tests with shared output; shares are added up over the parts of a bin, and \
             a network permutes one bit a bin. A permuted matrix test would show which common items lie in one part, \
             where all bins have one order of the parts, and takes more bytes a cell.",
            "No OPRF before the hashing: bins are in a uniform order, and answers are flooded, which they would have to \
             be with it too. That is our own argument, which nobody outside has reviewed.",
            "Answers are added to a fresh encryption of zero under the sender's key, and floods are sized for all answers \
             of many runs together.",
            "Items are hashed to limbs of 17 bits, as many as false matches with probability 2^-42 take; a product in \
             GF(2^128) shortens the masked limbs of a cell.",
            "Powers are those of extremal postage stamp bases, as in CMDG21, not of windows.",
            "One ring for all sizes: 8192 coefficients, a modulus of four primes of 50 bits, plaintexts modulo 147,457.",
            "Random OTs by ot-silent, each turned by a bit. A place takes one string, the record, of any width, with a \
             mark that tells it from a bin without an item, under a pad that BLAKE3 makes of an OT's block.",
            "Where a set is empty nothing of this happens: the receiver gets all records, in a random order.",
        ],
        modes: &semi_honest(
            Rounds::between(23, 27),
            assumptions![
                OF_CIPHERTEXTS,
                <CubicEquality as Protocol>::ENTRY.modes[0].assumptions,
                <BitNetwork as Protocol>::ENTRY.modes[0].assumptions,
                <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
                vesica_protocols::union::PADS,
            ],
            BESIDE_UNION,
        ),
    };
}
