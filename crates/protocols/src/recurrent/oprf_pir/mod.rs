//! Membership by an oblivious pseudo-random function and a private look-up: for sets so large that
//! nobody wants to download what the server would send of them. The function is that of RFC 9497,
//! as in [`rfc9497`](super::rfc9497). Its output says in which bucket of the server's set an item
//! lies, under which tag, and what its payload is encrypted with. The client fetches that one
//! bucket, by ring-LWE as in YPIR (Menon and Wu, "YPIR: High-Throughput Single-Server PIR with Silent
//! Preprocessing", USENIX Security 2024) with the packing of InsPIRe (2025):
//! [`pir`](vesica_structures::pir).
//!
//! ```text
//!   Server: X, payloads                                               Client: Y
//!
//!   prepare: skS random; F(x) = output of the RFC's function = (m_x, k_x, bucket_x, rest)
//!            record b = the sorted m_x of bucket b, and payload_x + G(k_x) in their order
//!            seed random; the masks of all answers
//!
//!   enrol:                       1. seed, A
//!      ------------------------------------------------------------------------>
//!   query:                       2. r_j H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                3. skS r_j H(y_j), in chunks
//!      ------------------------------------------------------------------------>
//!                                4. for each j: a packing key, Enc(bucket_(y_j))
//!      <------------------------------------------------------------------------
//!                                5. for each j: Enc(record bucket_(y_j))
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if m_y is in its record
//! ```
//!
//! | RFC 9497 | here | what |
//! |---|---|---|
//! | `skS` | [`SecretKey`](vesica_mpc::rfc9497::SecretKey) | the server's key, a new one for each prepared set |
//! | `PrivateInput` | the 16 bytes of an item, little-endian | |
//! | `output` | `Output` | tag: bytes 0 to 15; key of the payload: bytes 16 to 31; bucket: bytes 32 to 39 |
//!
//! | YPIR, InsPIRe | here | what |
//! |---|---|---|
//! | the database | [`Database`](vesica_structures::pir::Database) | a record a row, an entry of 8 bits a column |
//! | the hint | what `Database` computes from the seed and the records | it stays with the server |
//! | packing keys | one, the first part of arrow 4 | new for each item: the secret behind it masks one query |
//!
//! # Why it is secure
//!
//! *The client* sends uniform elements, and ring-LWE samples: for each item under a secret of its own,
//! with the public elements hashed from the seed, and with their lowest bits rounded off, which anyone
//! could do to what would be sent otherwise. They are as many for any item, and the client's
//! work, too. It stops for nothing that an answer decrypts to. So the server learns nothing of
//! Y beside its size, even one that does anything, as long as the client lets it see nothing of the
//! result. (The seed is the server's. What it can do is to draw seeds until the elements suit it; in
//! the random oracle model each is as good as a fresh draw of all of them.)
//!
//! *The server* sends the answers. Whatever a client sends for arrow 4, they are a function of that,
//! of the seed and of the records. And the records as a whole may be known to anyone who has not
//! asked for the outputs: they are tags, buckets and encrypted payloads, made of outputs that are
//! pseudo-random as long as the one-more gap Diffie-Hellman problem is hard and the hashes are random
//! oracles, with free slots whose number says no more than how many outputs chose the bucket. It is
//! what a server of `oprf-rfc9497` sends to everybody. So nothing has to drown the noise of the answers,
//! and clients may ask as often as they like, ask for records that their items are not in, ask for
//! sums of records, and pool what they get: together they open no more outputs than elements were
//! answered.
//!
//! A key's probes lie in one record, whose size is the same for all buckets. A set of which some
//! bucket overflows is refused when it is prepared: docs/parameters/pir.md bounds the probability.
//!
//! # What it does not hold
//!
//! - There is no mode for a server that does not follow the protocol. It could answer each item from
//!   another set, or one item with what it has made of the query for another: the client has nothing
//!   to hold it to, for nothing of the set was sent before. Proofs of the key (VOPRF) would not change
//!   that, so that none are made. If such a server then sees what matched, it learns of the items what
//!   the sets that it chose tell apart.
//! - A client may guess: it learns of any item whether it is in the set, one for each element that
//!   the server answers. Nothing here limits how many those are.
//! - Whoever gets the server's key later, and has kept records, tests guesses at their items without
//!   asking, and opens the payloads of those that are right.
//! - Items have 128 bits. A set that is prepared once cannot depend on a salt that both sides toss,
//!   so whoever can put items into both sets finds two keys with one item in about `2^64` steps.

mod buckets;
mod client;
mod messages;
pub mod params;
mod server;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_party::service::Service;
use vesica_party::{
    Assumption, Attack, CostClass, Effort, Entry, Mode, Resistance, Role, Rounds, Security, Status, Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rlwe::RingLwe;

pub use client::Client;
pub use params::{Params, QUERIES_AN_ENROLMENT};
pub use server::Server;

use crate::recurrent::oprf::ONE_MORE_GAP;
use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// Items whose look-ups are answered together: the server reads its set once for all of them.
const ITEMS_AT_A_TIME: usize = 8;

/// The service `oprf-pir`.
#[derive(Clone, Copy, Debug)]
pub enum OprfPir {}

const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 2048 coefficients, 50 bits and ternary secrets, also where it encrypts images of its own secret",
)
.attacked(Attack {
    falls: "what clients ask",
    takes: Effort::Primal(RingLwe { degree: 2048, modulus_bits: 50 }),
    source: "docs/parameters/pir.md",
});

impl Service for OprfPir {
    const ENTRY: Entry = Entry {
        id: "oprf-pir",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "YPIR",
            title: "YPIR: High-Throughput Single-Server PIR with Silent Preprocessing",
            reference: "Menon, Wu. USENIX Security 2024",
        },
        status: Status::Sound,
        // Of a set that is large: its outputs, 2^24 of them in minutes, beside queries of some 10 ms an item.
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::LOOK_UP),
        deviations: &[
            "The paper looks up records by their numbers. Here an output of the function of RFC 9497 says in which \
             bucket of the server's set an item lies, and under which tag; a bucket is a record.",
            "Packing is that of InsPIRe (2025), over half of the automorphisms, with one key instead of eleven; elements \
             that are switched lose their lowest bits first, and are not cut into digits. Client and server agree on \
             one modulus of 50 bits; the client rounds its weights to 19 to 27 bits of them.",
            "The public elements are a hash of a seed that the server draws for each prepared set.",
            "Queries of many items are answered eight at a time, so that the server reads its set once for eight.",
        ],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::exactly(5),
            assumptions: assume![
                ONE_MORE_GAP,
                RING_LWE,
                "SHA-512, hash-to-group and BLAKE3 (public elements, keystreams of payloads) are random oracles",
            ],
            leakage: &[SIZES],
        }],
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

    fn further_memory(params: &Params, role: Role) -> u64 {
        match role {
            Role::Sender => params.preparation_bytes(),
            Role::Receiver => params.bytes_in_flight(),
        }
    }
}
