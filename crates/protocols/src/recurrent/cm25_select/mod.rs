//! Membership in an encrypted cuckoo table that a server sends once: Chielle and Maniatakos,
//! "Recurrent private set intersection for unbalanced databases with cuckoo hashing and leveled FHE"
//! (NDSS 2025), without products of ciphertexts, and with what circuit privacy takes.
//!
//! ```text
//!   Server: X                                                         Client: Y
//!
//!   prepare: four sub-tables, one for each hash function; an item lies in one bin of one of them
//!
//!   enrol:                       1. seeds of the hash functions and of the ciphertexts
//!      ------------------------------------------------------------------------>
//!                                2. pk_S
//!      ------------------------------------------------------------------------>
//!                                3. C: limbs of right parts, 1024 bins of each sub-table to a ciphertext
//!      ------------------------------------------------------------------------>
//!                                4. pk_R, keys for moves: rotations, and exchanges of rows
//!      <------------------------------------------------------------------------
//!   query, for each item y and limb l:
//!                                5. (once) the seed of arrow 7
//!      <------------------------------------------------------------------------
//!                                6. D_l = sum over j of sel_j C_(j,l) - y_l sel + 1 - sel + R_l
//!      <------------------------------------------------------------------------
//!                                7. Enc_R(R_l)
//!      <------------------------------------------------------------------------
//!                                8. E = move(P (R - D))
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if a slot of E is zero in all limbs
//! ```
//!
//! | CM25 | here | what |
//! |---|---|---|
//! | sender `S`, receiver `R` | server, client | |
//! | `T`, `h = 4` | [`tables`](Params::tables), four sub-tables | a bin's place says which function led to it |
//! | `z_L`, `z_R` | `Parts` | `z_R` has [`right_bits`](Params::right_bits) bits, in [`limbs`](Params::limbs) limbs of 17 |
//! | `C` | `Table` | encrypted under the server's key |
//! | `P` of step 4, `M`, `R`, `D` | `sel_j`: 1 in the slot of the bin that function `j` gives, 0 elsewhere; `D`: `Differences` | |
//! | `P` of step 5 | `Scramble` | a multiplication in `F_(t^L)` for each slot |
//! | `omega` | `Session::shuffle` | one to six moves, each one of three or none by a random digit |
//!
//! The four bins of an item are equal modulo the number of *classes*, and so are their slots: fewer
//! moves, and keys for them, then hide which of the four the match was in. Items are compressed to
//! their parts, unless both sides agree that they are integers of so many bits
//! ([`Params::derive_for_integers`]).
//!
//! # Why it is secure
//!
//! *Result.* In the four slots that the client selects, `R - D` is `y - x` by limbs for what the bins
//! hold, and -1 in all other slots. A bin and a right part give the left part, so that at most one
//! slot is zero in all limbs, and exactly one if `y` is in the set. Empty bins hold `t - 1`, which is
//! no limb of an item. Parts of integers are those of a permutation for each sub-table, so that `R - D`
//! is zero in a slot exactly if the bin holds `y`. A set may have fewer items than agreed: wherever
//! all of a set finds bins, so does a part of it.
//!
//! *The server* sees `D` and an encryption of `R`. Uniform masks hide every slot. The fresh
//! encryption of zero under the server's own key makes the second half of `D` a ring-LWE sample under
//! a fresh secret, which the server's key does not help against; and the flood drowns the rest of the
//! noise, of which the server knows everything but what the client selected. Primes are dropped after
//! that. What the server computes then takes as long for every input and every number of places.
//!
//! *A client* sees the set encrypted, and `E`. The same two steps, under the client's key, make `E` a
//! fresh encryption, whose noise tells nothing of table, masks or rotation. How many bins are empty
//! shows in neither. The slots of `E` are uniform but not zero, except for the one that matches; and
//! that comes to a uniform place of its class, since rotations by multiples of the number of classes
//! and the exchange together bring every slot to every place of its class in one way. The client knows
//! the class of `y` in any case. Each move is made with a key that is chosen by masks among all, so
//! that time does not tell the place.
//!
//! Floods are sums of four uniform numbers of 87 bits. Their distance from what is drowned is summed
//! over all coefficients of [`ITEMS_AN_ENROLMENT`] items for a client, and of [`ITEMS_OF_A_SET`] for
//! the set; both are counted, and refused beyond. The derivation is in docs/parameters/bfv.md.
//!
//! # What it does not hold
//!
//! - Nothing where a side does not follow the protocol. The server decrypts whatever a client sends,
//!   and what it answers depends on that. 16 made-up items, one for each factor of `X^4096 + 1` modulo
//!   `t`, read the server's key, and so the set: the client chooses by its mask what the server's
//!   arrangement of slots multiplies. No bound on queries helps. A server that sends another table decides what matches, and by ciphertexts
//!   with prepared noise reads what was selected.
//! - A server that aborts for exhausted noise tells so. Honest ciphertexts never have it. A client goes
//!   on, and counts the item among those of which nothing is known.
//! - A client learns of any item whether it is in the set, one for each that the server answers.
//! - Items of any width are compressed under a key that the client learns, after the set was fixed. A
//!   client that chooses its items by the key finds one with a false match in about `2^60` steps if it
//!   knows the whole set, `2^80` if it knows one item of it, and two of its own that count as one in `2^40`.
//! - What was asked and answered is counted in memory and in the states. A side that is killed forgets
//!   what it has counted since its state was written (`vesica serve` keeps a count of its own in a file,
//!   ahead of the answers), and a state that is copied, or restored from an older copy, begins to count
//!   again where the copy was made. The budgets are of one enrolment and
//!   of one prepared set: `k` sets that are nearly the same have distances that add up as `sqrt(k)`.
//!   Over all enrolments of one prepared set, a false match has a probability up to `2^-38`.
//! - The client sends each `D` as soon as it is made, so that the cache shows in microseconds which
//!   parts of the table an item needs, and whether the next item needs the same.

mod client;
mod hashing;
mod messages;
pub mod params;
mod server;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_party::service::Service;
use vesica_party::{Assumption, Attack, CostClass, Effort, Entry, Mode, Rounds, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rlwe::RingLwe;

pub use client::Client;
pub use params::{ITEMS_AN_ENROLMENT, ITEMS_OF_A_SET, Params};
pub use server::{Server, Session};

use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The service `cm25-select`.
#[derive(Clone, Copy, Debug)]
pub enum Cm25Select {}

const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 4096 coefficients, 108 bits and ternary secrets, also where the key's own encryptions are known (circular \
     security of the keys for rotations); the guidelines of 2024 allow 106 bits",
)
.attacked(Attack {
    falls: "the server's set, and what clients ask",
    takes: Effort::Primal(RingLwe { degree: 4096, modulus_bits: 108 }),
    source: "docs/parameters/bfv.md",
});

impl Service for Cm25Select {
    const ENTRY: Entry = Entry {
        id: "cm25-select",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "CM25",
            title: "Recurrent Private Set Intersection for Unbalanced Databases with Cuckoo Hashing and Leveled FHE",
            reference: "Chielle, Maniatakos. NDSS 2025",
        },
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE_SELECT),
        deviations: &[
            "Each hash function has a sub-table of its own, in its own quarter of the slots. The client selects one \
             slot of each by products with plaintexts, instead of multiplying ciphertexts; a bin then says which \
             function led to it, which the paper's right parts do not.",
            "Right parts of any width: in limbs of 17 bits, which are multiplied together by a random element of an \
             extension field in each slot. That maps what is not zero to a uniform element that is not zero, as a \
             uniformly random invertible matrix would, and the matrix would be used once.",
            "What travels is first added to a fresh encryption of zero under the key of who decrypts it, and its noise is \
             drowned. In the paper, the server recognises the item by the second half of D, and the client cells \
             of the table by that of E.",
            "An item's four bins are equal modulo the number of classes, up to 1024. The rotation is by a multiple of \
             it, and is followed by an exchange of the rows at random: the match comes to a uniform place of the \
             item's class. A rotation alone does not bring a slot to every place.",
            "Left parts are numbers below any number of bins, and hash functions add to them modulo the bins of a \
             class.",
            "For integers that both sides bound (`vesica serve --integer-bits`), each sub-table has a keyed permutation \
             of its own instead of a function that is added: shifts of few right parts do not give independent bins.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                RING_LWE,
                "AES under a random key, which both sides know, is a random function; keyed BLAKE3 gives uniform \
                 polynomials",
                "for integers that both sides bound (this project's own): cuckoo tables exist for alternating Feistel \
                 networks of ten rounds as for random permutations, if items were chosen before the key",
            ],
            &[SIZES],
        )],
    };
    type Task = Intersect;
    type Params = Params;
    type Server = Server;
    type Client = Client;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request)
    }

    fn terms(params: &Params) -> Vec<u8> {
        bytemuck::bytes_of(&params.to_words()).to_vec()
    }

    fn enrolment_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.enrolment_bytes();
        bytes..=bytes
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.query_bytes();
        bytes..=bytes
    }
}
