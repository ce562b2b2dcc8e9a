//! Membership by the OPRF of a standard: RFC 9497, "Oblivious Pseudorandom Functions (OPRFs) Using
//! Prime-Order Groups", suite `ristretto255-SHA512`, under one key for many queries. That a server
//! sends the outputs for its whole set once, and evaluates the function for clients afterwards, is
//! the way of Resende and Aranha ("Faster unbalanced private set intersection", Financial
//! Cryptography 2018) and others before them.
//!
//! ```text
//!   Server: X, payloads                                               Client: Y
//!
//!   prepare: skS random; F(x) = output of the RFC's function = (m_x, k_x, rest)
//!
//!   enrol:                       1. (verifiable) pkS
//!      ------------------------------------------------------------------------>
//!                                2. the public key that signs updates; the set's version
//!      ------------------------------------------------------------------------>
//!                                3. sorted m_x, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                4. (labelled) N_x, payload_x + G(k_x, N_x), in the order of 3
//!      ------------------------------------------------------------------------>
//!   query:                       5. r_j H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                6. skS r_j H(y_j), in chunks
//!      ------------------------------------------------------------------------>
//!                                7. (verifiable) a proof for each chunk of 6
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if m_y is among arrow 3
//!   rejoin:                      8. versions, count, digest of the list; a signature
//!      ------------------------------------------------------------------------>
//!                                9. m_x that go, m_x that come, the latter's cells of 4
//!      ------------------------------------------------------------------------>
//!                               10. taken, or refused
//!      <------------------------------------------------------------------------
//!                                   (if refused, or if 8 says so: 1 to 4)
//! ```
//!
//! | RFC 9497 | here | what |
//! |---|---|---|
//! | `skS`, `pkS` | [`SecretKey`](vesica_mpc::rfc9497::SecretKey) | the server's key, a new one for each prepared set |
//! | `PrivateInput` | the 16 bytes of an item, little-endian | |
//! | `blindedElement`, `evaluatedElement`, `proof` | `Blinded`, `Evaluated`, `Proofs` | arrows 5 to 7 |
//! | `output` | [`Output`](vesica_mpc::rfc9497::Output) | tag: bytes 0 to 15; key of the payload: bytes 16 to 31 |
//!
//! # Why it is secure
//!
//! What a client sees before it asks are tags and encrypted payloads, made of outputs that nobody
//! has asked for: pseudo-random as long as the one-more gap Diffie-Hellman problem is hard, and the
//! hashes are random oracles. (That the payloads are sent before a corrupt client chooses its items
//! takes a random oracle for their keystream, too.) All clients together open no more outputs than
//! elements were answered, whatever they send, and may pool what they learn. The server sees uniform
//! elements.
//!
//! In the mode for malicious parties, the proofs hold the server to the key of arrow 1, and are
//! bound to the session, so that over TLS nobody can pass on another server's. The set that a client asks
//! about is then fixed when arrow 3 has left: the items for which the server has asked the random
//! oracle the right question, and whose tags are among arrow 3. After `Q` questions about `Q^2 /
//! 2^129` tags can stand for two items each: none before about `2^64`. The RFC's own proofs would
//! not do for a chunk of 512 ([`Binding`](vesica_mpc::rfc9497::Binding)). Without proofs, a server
//! that does not follow the protocol could answer each query under another key, and so decide anew
//! whether anything matches.
//!
//! The tag of an item outside of the set equals one of the list with a probability below the
//! budget's share, over all
//! [`QUERIES_AN_ENROLMENT`](super::QUERIES_AN_ENROLMENT) queries that a client asks from one enrolment.
//! The client counts them, and stops there.
//!
//! # Updates
//!
//! A set of the same size may take the place of the present one under the same key. A client that
//! has an earlier version gets what has changed since, as one change: as many tags that go as tags
//! that come. It learns how many those are, which of the tags that it knows from its own queries
//! are among them, and, where payloads are sent, how many tags both go and come. What it asked
//! about before and did not find, it can look for in later versions without asking. Each payload is
//! encrypted under a nonce of its own, `N_x`, since an item that gets another payload has the same
//! `k_x`.
//!
//! A client takes a change only if the digest of the list that it leads to is signed, for this
//! conversation and this client's version, by the key of arrow 2. Otherwise it refuses, and
//! fetches the list; where the signature itself is wrong, it stops. The bound on wrong matches
//! counts, for each query, the tags of the version that it is about, of which there are as many in each
//! version: it holds for a client's queries under one key together, whatever the versions.
//!
//! # What it does not hold
//!
//! - A client may guess: it learns of any item whether it is in the set, one for each element that
//!   the server answers. Nothing here limits how many those are.
//! - A server can replace its set at any time, and give each client another one; a client sees that
//!   the set was replaced, and not what it is.
//! - Whoever gets the server's key later, and has kept arrows 3 and 4, tests guesses without asking,
//!   and opens the payloads of those that are right.
//! - Items have 128 bits. A set that is prepared once cannot depend on a salt that both sides toss,
//!   so whoever can put items into both sets finds two keys with one item in about `2^64` steps.

mod client;
mod messages;
pub mod params;
mod server;
#[cfg(test)]
mod tests;
mod update;

use std::ops::RangeInclusive;

use vesica_mpc::rfc9497;
use vesica_party::service::Service;
use vesica_party::{Assumption, CostClass, Entry, Mode, Resistance, Rounds, Security, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::secret::Secret;

pub use client::Client;
pub use params::Params;
pub use server::Server;

use crate::recurrent::filter;
use crate::recurrent::oprf::ONE_MORE_GAP;
use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The service `oprf-rfc9497`.
#[derive(Clone, Copy, Debug)]
pub enum OprfRfc9497 {}

/// What the function's outputs say of items: a tag, and the key of a payload.
fn of_items(outputs: &[rfc9497::Output]) -> Secret<Vec<filter::Output>> {
    let of_item = |output: &rfc9497::Output| {
        let [tag, payload_key, ..]: [u128; 4] = bytemuck::cast(*output);
        [tag, payload_key]
    };
    Secret::new(outputs.iter().map(of_item).collect())
}

const RANDOM_ORACLES: Assumption =
    Assumption::new("SHA-512, hash-to-group and BLAKE3 (keystreams of payloads) are random oracles");

impl Service for OprfRfc9497 {
    const ENTRY: Entry = Entry {
        id: "oprf-rfc9497",
        aliases: &["rfc9497"],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "RFC9497",
            title: "Oblivious Pseudorandom Functions (OPRFs) Using Prime-Order Groups",
            reference: "Davidson, Faz-Hernandez, Sullivan, Wood. RFC 9497, 2023",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::FIXED_KEY),
        deviations: &[
            "The RFC has no sets. The server sends what an output says of each of its items: a tag, of the width that \
             collisions over all queries of a client allow, sorted and Golomb-Rice coded; and a payload, encrypted \
             under other bytes of the output.",
            "Queries of more than 512 items are answered in chunks of 512, with a proof for each.",
            "The weights of a proof are hashes of all of its elements and of the session. Those of the RFC are hashes of \
             one pair of elements each, so that a server can spoil 512 answers unnoticed in about 2^34 steps.",
        ],
        modes: &[
            Mode::semi_honest(
                Rounds::exactly(3),
                assume![(discrete_logarithm "gap Diffie-Hellman on Ristretto255"), RANDOM_ORACLES],
                &[SIZES],
            ),
            Mode {
                security: Security::Malicious,
                corrupt_sender: Resistance::Malicious,
                corrupt_receiver: Resistance::Malicious,
                rounds: Rounds::exactly(3),
                assumptions: assume![ONE_MORE_GAP, RANDOM_ORACLES],
                leakage: &[SIZES],
            },
        ],
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
        params.enrolment_bytes()
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.query_bytes();
        bytes..=bytes
    }
}
