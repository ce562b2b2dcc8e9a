//! Membership by Diffie-Hellman masks under one key for many queries: Resende and Aranha, "Faster
//! unbalanced private set intersection" (Financial Cryptography 2018), who send the masks of
//! Baldi, Baronio, De Cristofaro, Gasti and Tsudik ("Countering GATTACA", ACM CCS 2011) once, as a
//! filter.
//!
//! ```text
//!   Server: X, payloads                                               Client: Y
//!
//!   prepare: a random; (m_x, k_x) = G(a H(x))
//!
//!   enrol:                       1. sorted m_x, Golomb-Rice coded
//!      ------------------------------------------------------------------------>
//!                                2. (labelled) payload_x + k_x, in the order of 1
//!      ------------------------------------------------------------------------>
//!   query:                                                            b random
//!                                3. b H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                4. a b H(y_j), in chunks
//!      ------------------------------------------------------------------------>
//!                                                     a H(y_j) = (a b H(y_j)) / b
//!                                                     (m_y, k_y) = G(a H(y_j))
//!                                                     y matches if m_y is among arrow 1
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | server's key | `exponent` of [`Server`] | its blinding `a`, a new one for each prepared set |
//! | client's keys | `exponent` of `Client::query` | its blinding `b` |
//! | filter | `Filter` | arrow 1; a cuckoo filter in the paper |
//! | pre-computation | [`prepare`](vesica_party::service::Server::prepare) and the enrolment | counted as set-up |
//!
//! # Why it is secure
//!
//! The paper claims security where both sides follow the protocol, and so does this row.
//!
//! To the server, the points of arrow 3 are random ones: a decision Diffie-Hellman (DDH) tuple for
//! the base `H(y_1)`, with a `b` of its own for each query. A client that follows the protocol asks for `a b
//! H(y)`, which a simulator makes of `b` and of `a H(y)`. So all clients together, who may pool what
//! they know, see `a H(z)` for the items `z` that they asked about, and `G(a H(x))` for the others of
//! the set: pseudo-random under DDH, where `H` is a random oracle, for all queries under one `a`.
//! (That the payloads leave before a client chooses its items takes a random oracle for `G`, too.)
//!
//! The tag of an item outside of the set equals one of the list with a probability below the
//! budget's share, over all [`QUERIES_AN_ENROLMENT`](vesica_protocols::recurrent::QUERIES_AN_ENROLMENT) queries that a
//! client asks from one enrolment. The client counts them, and stops there.
//!
//! # What it does not hold
//!
//! - A client that does not follow the protocol has points of its choice multiplied by `a`: a static
//!   Diffie-Hellman oracle, which DDH says nothing about. A server may answer each query under
//!   another key. `oprf-rfc9497` has modes against both.
//! - A client may guess, as many items as the server answers points.
//! - Whoever gets the server's key later, and has kept arrows 1 and 2, tests guesses without asking,
//!   and opens the payloads of those that are right.
//! - Items have 128 bits, and no salt of both sides, as in `oprf-rfc9497`.

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
use vesica_structures::secret::Secret;

pub use client::Client;
pub use params::Params;
pub use server::Server;

use vesica_protocols::ecdh::Point;
use vesica_protocols::recurrent::filter::Output;
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SIZES};

/// The service `ra17`.
#[derive(Clone, Copy, Debug)]
pub enum Ra17 {}

/// Domain of the hash to the group.
const DOMAIN: &[u8] = b"vesica-v1-ra17-with-ristretto255_XMD:SHA-512_R255MAP_RO_";
/// What stands where others hash their session: one set serves many.
const NO_SESSION: [u8; 32] = [0; 32];
/// Domain of `G`.
const OUTPUT_CONTEXT: &str = "vesica v1 ra17 2026 output of the pseudo-random function";

/// `G` of points.
fn outputs(points: &[Point]) -> Secret<Vec<Output>> {
    let key = blake3::derive_key(OUTPUT_CONTEXT, &[]);
    let output = |point: &Point| -> Output { bytemuck::cast(*blake3::keyed_hash(&key, point).as_bytes()) };
    Secret::new(points.iter().map(output).collect())
}

impl Service for Ra17 {
    const ENTRY: Entry = Entry {
        id: "ra17",
        aliases: &["resende-aranha"],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "RA17",
            title: "Faster unbalanced private set intersection",
            reference: "Resende, Aranha. Financial Cryptography 2018 (ePrint 2017/677), on the protocol of Baldi, \
                        Baronio, De Cristofaro, Gasti, Tsudik. ACM CCS 2011",
        },
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::FIXED_KEY),
        deviations: &[
            "Ristretto255 instead of the paper's elliptic curve.",
            "Sorted tags, Golomb-Rice coded, instead of a cuckoo filter. They are as wide as collisions over all \
             queries of a client allow (2^-42 together); the filter of the paper's public code has fingerprints of 16 \
             bits, of which about one stranger in 10,000 finds one. What is sent does not depend on the order of the \
             items either.",
            "A client has one blinding a query, where the paper's public code has one an item. The server's view is as \
             random under DDH.",
            "The server may send payloads, encrypted under keys from the points; the paper has none.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                (discrete_logarithm "DDH on Ristretto255"),
                "hash-to-group and BLAKE3 (outputs, keystreams of payloads) are random oracles"
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
        params.enrolment_bytes()
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.query_bytes();
        bytes..=bytes
    }
}
