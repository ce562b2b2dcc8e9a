//! Membership by an oblivious pseudo-random function and buckets that the client names: the scheme
//! of deployed checkers of breached credentials. Google's is Thomas et al., "Protecting accounts
//! from credential stuffing with password breach alerting" (USENIX Security 2019); Li et al.,
//! "Protocols for Checking Compromised Credentials" (ACM CCS 2019), say what its leak is worth to a
//! guesser. The function is that of RFC 9497, as in [`rfc9497`](super::rfc9497).
//!
//! ```text
//!   Server: X, payloads                                               Client: Y
//!
//!   prepare: skS random; F(x) = output of the RFC's function = (m_x, k_x, rest)
//!            bucket b = the m_x of all x with prefix(x) = b, random ones up to `slots` of them, sorted;
//!                       payload_x + G(k_x), or random bytes, in the same order
//!
//!   enrol:   nothing
//!
//!   query:                       1. prefix(y_j), ascending
//!      <------------------------------------------------------------------------
//!                                2. r_j H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                3. skS r_j H(y_j), in chunks
//!      ------------------------------------------------------------------------>
//!                                4. for each j: bucket prefix(y_j)
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if m_y is in its bucket
//! ```
//!
//! | RFC 9497 | here | what |
//! |---|---|---|
//! | `skS` | [`SecretKey`](vesica_mpc::rfc9497::SecretKey) | the server's key, a new one for each prepared set |
//! | `PrivateInput` | the 16 bytes of an item, little-endian | |
//! | `output` | [`Output`](vesica_mpc::rfc9497::Output) | tag: bytes 0 to 15; key of the payload: bytes 16 to 31 |
//!
//! | Thomas et al. | here | what |
//! |---|---|---|
//! | `H` | `prefix`'s hash | BLAKE3 here, a slow hash (Argon2) of name and password there |
//! | `H(u, p)[0 : n]`, 2 bytes | [`Params::prefix_bits`] | which bucket the client asks for |
//! | `S`, the bucket | arrow 4 | there of any length |
//!
//! We had no copy of either paper when this was written. What is said of them is from their
//! abstracts and from what others write of them.
//!
//! # What the prefix says
//!
//! `prefix(y)` is the first [`Params::prefix_bits`] bits of a hash of the item under no secret. An
//! item is a key's digest under a salt that both sides know, so that the prefix is a function of
//! the key that anybody can compute who knows the salt: the server, each client, and whoever asks
//! the server for its description. That is the leak:
//!
//! - Of the keys that it thinks possible, the server keeps about one in `2^prefix_bits` for each
//!   item asked. What it knows beside that, it goes on to use: of a million keys, 16 bits leave 15
//!   on average, and the likeliest of these may well be the one. Li et al. measure this for
//!   passwords.
//! - A key has another prefix under another salt. Each join draws a new one, as does a server
//!   that starts without a state file. So the prefixes of a key in `r` runs leave one in
//!   `2^(r prefix_bits)` of the keys that are thought possible.
//! - Equal prefixes link queries, of one client and of several. A client that asks about the same
//!   items again is known by them. Dummies that fill up a query have new prefixes each time,
//!   uniform as those of any items, so that after two queries about the same items the server tells
//!   them apart.
//! - Of a set of `n_s` items about `n_s / 2^prefix_bits` lie in one bucket: if the item is one of
//!   the set, it is one of these. If none is there, the server knows that the item does not match.
//!
//! It sees the prefixes of a query's items as a multiset: they leave in ascending order, whatever
//! the order of the items, and two items with one prefix take two copies of the bucket. The
//! elements of arrow 2 are in the same order, and uniform. How a caller divides more items than one
//! query holds is its own concern: the engine puts them into a random order first.
//!
//! # Why it is secure beside that
//!
//! *The server* sees prefixes and uniform elements, as many for any items. What the client does
//! next does not depend on answers: it compares each tag with all slots of its bucket.
//!
//! *The client* sees buckets and outputs. The outputs that nobody has asked for are pseudo-random
//! as long as the one-more gap Diffie-Hellman problem is hard and the hashes are random oracles. So
//! tags and cells look like the random ones that fill up a bucket, and each bucket has the same
//! length: what a client sees of a bucket says neither which items of the set are in it nor how
//! many. The filling is drawn once for a prepared set. If it were drawn for each query, two copies
//! of a bucket would tell it apart. Clients that do anything, ask for all buckets and pool what
//! they get have what a server of `oprf-rfc9497` sends to everybody, in another order, and open no
//! more outputs than elements were answered.
//!
//! The length of a bucket is derived: in a set that does not depend on the salt, some bucket has
//! more than [`Params::slots`] items with probability at most the budget's share, and then the set
//! is refused when it is prepared. docs/parameters/recurrent.md has the bound.
//!
//! # What it does not hold
//!
//! - There is no mode for a server that does not follow the protocol. It could answer each query
//!   from another set, since nothing of the set was sent before; proofs of its key (VOPRF) would
//!   not change that, so that none are made. (A commitment to all buckets, sent when a client
//!   enrols, would hold it to one set. A path to it that does not fit depends on nothing but the
//!   prefix, which the server knows anyway.)
//! - Whoever can put many items into the server's set, and knows the salt, can put them all into
//!   one bucket. Then the server refuses the set and goes on with the one before: no client learns
//!   anything, but nothing new is served.
//! - A client may guess: it learns of any item whether it is in the set, one for each element that
//!   the server answers. Nothing here limits how many those are.
//! - Whoever gets the server's key later, and has kept buckets, tests guesses at their items
//!   without asking, and opens the payloads of those that are right.
//! - Items have 128 bits. A set that is prepared once cannot depend on a salt that both sides toss,
//!   so whoever can put items into both sets finds two keys with one item in about `2^64` steps.

mod client;
mod messages;
pub mod params;
mod server;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use vesica_mpc::rfc9497;
use vesica_party::service::Service;
use vesica_party::{
    CostClass, Entry, Extra, Leak, Learner, Mode, Resistance, Role, Rounds, Security, Status, Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::secret::Secret;

pub use client::Client;
pub use params::{PREFIX_BITS, Params};
pub use server::Server;

use crate::recurrent::filter::Output;
use crate::recurrent::oprf::ONE_MORE_GAP;
use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The service `oprf-buckets`.
#[derive(Clone, Copy, Debug)]
pub enum OprfBuckets {}

/// Separates the hash of prefixes from others. It takes no key: whoever knows an item knows its
/// prefix.
const PREFIX_CONTEXT: &str = "vesica v1 oprf-buckets 2026 prefix of an item";

/// The first `bits` bits, 1 to 32, of a hash of each item.
pub(super) fn prefixes(items: &[u128], bits: u32) -> Vec<u32> {
    let key = blake3::derive_key(PREFIX_CONTEXT, &[]);
    let prefix = |item: &u128| {
        let [first, ..]: [[u8; 4]; 8] = bytemuck::cast(*blake3::keyed_hash(&key, &item.to_le_bytes()).as_bytes());
        u32::from_be_bytes(first) >> (u32::BITS - bits)
    };
    items.iter().map(prefix).collect()
}

/// What the function's outputs say of items.
fn of_items(outputs: &[rfc9497::Output]) -> Secret<Vec<Output>> {
    Secret::new(outputs.iter().map(of_item).collect())
}

/// A tag, and the key of a payload.
fn of_item(output: &rfc9497::Output) -> Output {
    let [tag, payload_key, ..]: [u128; 4] = bytemuck::cast(*output);
    [tag, payload_key]
}

impl Service for OprfBuckets {
    const ENTRY: Entry = Entry {
        id: "oprf-buckets",
        aliases: &["password-checkup"],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "TPY+19",
            title: "Protecting accounts from credential stuffing with password breach alerting",
            reference: "Thomas, Pullman, Yeo, Raghunathan, Kelley, Invernizzi, Benko, Pietraszek, Patel, Boneh, \
                        Bursztein. USENIX Security 2019",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::BUCKETS),
        deviations: &[
            "The function is that of RFC 9497 on Ristretto255, whose outputs are hashes. In the paper, buckets hold \
             the points themselves: the hash of an item to a curve, times the server's key.",
            "Items are whole keys, and the prefix is one of a hash of the whole key. The paper has a name and a \
             password, and hashes both slowly first.",
            "Buckets have one length, derived for the agreed sizes, and are filled up with random tags that stay. \
             Those of the paper are as long as they come, and tell how many items of the set have a prefix.",
            "Tags are cut to the width that collisions over all queries of a client allow. The server may send \
             payloads, encrypted under other bytes of the output; the paper has none.",
            "A query may have several items, which leave in the order of their prefixes.",
        ],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::exactly(2),
            assumptions: assume![
                ONE_MORE_GAP,
                "SHA-512, hash-to-group and BLAKE3 (prefixes, keystreams of payloads) are random oracles",
            ],
            leakage: &[
                SIZES,
                Leak {
                    to: Learner::Sender,
                    what: "the first bits of a hash of each item that is asked about, 16 of them unless --leak-prefix \
                           says otherwise; anybody who knows the salt can compute that hash. Whoever learns the \
                           prefix rules out guesses at the item that have another one, and sees which queries \
                           may be about the same item. Another salt gives other bits of the same key, and each join, \
                           each server and each new state file has another: bits of several runs add up. Whoever sees \
                           the same items asked about in two runs can tell how many of a query's items are dummies",
                    extra: Some(Extra::Prefix),
                },
            ],
        }],
    };
    type Task = Intersect;
    type Params = Params;
    type Server = Server;
    type Client = Client;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive(request, PREFIX_BITS)
    }

    fn terms(params: &Params) -> Vec<u8> {
        bytemuck::bytes_of(&params.to_words()).to_vec()
    }

    fn enrolment_bytes(_: &Params) -> RangeInclusive<u64> {
        0..=0
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.query_bytes();
        bytes..=bytes
    }

    fn further_memory(params: &Params, role: Role) -> u64 {
        if role == Role::Sender { params.table_bytes() as u64 } else { 0 }
    }
}
