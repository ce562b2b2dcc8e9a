//! Intersection by polynomials under encryption: Chen, Laine and Rindal, "Fast private set intersection
//! from homomorphic encryption" (CCS 2017), with what circuit privacy takes. Encryption is the only
//! tool: there is no oblivious pseudo-random function, and nothing of the set is published.
//!
//! ```text
//!   Server: X                                                         Client: Y
//!
//!   prepare: hash functions; each x into its three bins, at a random one of the bin's places
//!            P_(p,l)(v) = product over the items of part p of (v - limb l)
//!
//!   enrol:                       1. seeds of the hash functions
//!      ------------------------------------------------------------------------>
//!                                2. public key, key for products
//!      <------------------------------------------------------------------------
//!   query:                                                            cuckoo table of Y, its limbs v_l
//!                                3. for each group of bins, limb l, and e of the basis: Enc(v_l^e)
//!      <------------------------------------------------------------------------
//!                                4. for each group and part: Enc(r (P_(p,1)(v_1), .., P_(p,L)(v_L)))
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if all its limbs are zero in a part
//! ```
//!
//! | CLR17 | here | what |
//! |---|---|---|
//! | `sigma`-bit strings | [`Shape::limbs`] limbs of 17 bits | of a keyed hash, each in a ciphertext of its own |
//! | cuckoo hashing, `h = 3` | [`Shape::bins`] bins | |
//! | partitioning, `alpha` | [`Shape::parts`] | |
//! | windowing | a basis, see `powers` | |
//! | `r` | `Scramble` | a uniform element, not zero, of an extension field for each slot and part |
//! | noise flooding | `bfv::drown` | and a fresh encryption of zero |
//!
//! # Why it is secure
//!
//! *Result.* A slot of a part is zero exactly if the client's limb is that of one of the part's items:
//! free places are roots that are no limb. The limbs of a bin are an element of `F_(t^L)`, which is
//! multiplied by a uniform one that is not zero: what comes back is zero if all limbs were, and uniform
//! among what is not zero otherwise. So a part tells whether all limbs are there, and nothing else. For
//! an item outside of the set they are, from several items, in one of a client's
//! [`QUERIES_AN_ENROLMENT`] with probability at most `2^-42`: the keyed hash is taken to be random, and its
//! key is chosen independently of both sides' items.
//!
//! *The server* sees ring-LWE ciphertexts under the client's secret, as many for any items.
//!
//! *A client* sees, for each of its items, in which part of its bin it is. The server gives each item of
//! a bin a uniform place among all places of the parts, so that this part is one of a uniform place that
//! does not depend on what else is in the bin. The fresh encryption of zero under the client's key
//! makes the second half of an answer a ring-LWE sample under a fresh secret, and the flood drowns the
//! rest of the noise, by which the polynomials would show. Floods are sums of four uniform numbers of 116
//! bits; their distance from what is drowned is summed over all coefficients of [`ANSWERS_OF_A_SET`]
//! ciphertexts, which are counted, and refused beyond. The derivation is in
//! docs/parameters/unbalanced.md.
//!
//! # What it does not hold
//!
//! - Nothing where a side does not follow the protocol. A client that sends what is no power, or many
//!   items' limbs mixed, learns of them what it likes. A server may answer from another set.
//! - Honest ciphertexts never have exhausted noise. A client that meets it goes on, and counts its items
//!   among those of which nothing is known.
//! - A client keeps one key of its ciphertexts in its state: whoever gets the state later, and has kept
//!   queries, reads the items that they asked about.
//! - A client learns of any item whether it is in the set, one for each bin of a query: up to
//!   [`Shape::bins`], and not only as many as agreed, if it does not follow the protocol.
//! - A client that chooses its items by the keys of the hash functions, after the set was fixed, finds
//!   items with false matches.
//! - What was asked and answered is counted in memory and in the states. A side that is killed forgets
//!   what it has counted since its state was written, and a state that is copied, or restored from an
//!   older copy, begins to count again where the copy was made. The budgets are of one enrolment and of
//!   one prepared set: those of sets that are nearly the same add up.

mod client;
mod messages;
pub mod params;
mod server;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_party::service::Service;
use vesica_party::{CostClass, Entry, Mode, Rounds, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};

pub use client::Client;
pub use params::{ANSWERS_OF_A_SET, Params, QUERIES_AN_ENROLMENT};
pub use server::{Server, Session};

use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};
#[cfg(doc)]
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::ring::APART_RING_LWE;

/// The service `clr17`.
#[derive(Clone, Copy, Debug)]
pub enum Clr17 {}

impl Service for Clr17 {
    const ENTRY: Entry = Entry {
        id: "clr17",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "CLR17",
            title: "Fast Private Set Intersection from Homomorphic Encryption",
            reference: "Chen, Laine, Rindal. CCS 2017",
        },
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE),
        deviations: &[
            "Items are hashed to limbs of 17 bits, as many as false matches over all queries of a client with \
             probability 2^-42 take, each in a ciphertext of its own. The limbs of a bin are multiplied together by a \
             random element of an extension field; a random factor for each limb would show partial matches.",
            "Positions and limbs come from two keyed hashes of the whole item, not from permutation-based hashing.",
            "Answers are added to a fresh encryption of zero under the client's key, and floods are sized for all answers of \
             a prepared set together.",
            "Powers are those of extremal postage stamp bases, as in CMDG21, not of windows.",
            "One ring for all sizes: 8192 coefficients, a modulus of four primes of 50 bits, plaintexts modulo 147,457.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                APART_RING_LWE,
                "AES under random keys, which both sides know, gives random functions; keyed BLAKE3 gives uniform \
                 polynomials",
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
