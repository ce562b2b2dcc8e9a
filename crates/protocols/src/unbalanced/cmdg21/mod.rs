//! Intersection by an oblivious pseudo-random function, and polynomials under encryption: Cong, Moreno,
//! da Gama, Dai, Iliashenko, Laine and Rosenberg, "Labeled PSI from homomorphic encryption with reduced
//! computation and communication" (CCS 2021). For a server whose set is much larger than queries are:
//! what travels grows with the set only as fast as the number of parts does.
//!
//! ```text
//!   Server: X, payloads                                               Client: Y
//!
//!   prepare: skS random; F(x) = output of RFC 9497's function = (bins, limbs)
//!            each x into its three bins, bins dealt to parts of B items
//!            P_(p,s)(v) = product over the items of part p of (v - limb s)
//!            G_(p,s,l)(limb s) = limb s of label l of payload_x + G(F(x)), for each item x of part p;
//!            no two items of a part have a limb in common
//!
//!   enrol:                       1. key for products
//!      <------------------------------------------------------------------------
//!   query:                       2. r_j H(y_j), in chunks
//!      <------------------------------------------------------------------------
//!                                3. skS r_j H(y_j), in chunks
//!      ------------------------------------------------------------------------>
//!                                                                     cuckoo table of the F(y_j), its limbs v_s
//!                                4. for each group of bins, and e of the basis: Enc(v_s^e)
//!      <------------------------------------------------------------------------
//!                                5. for each group and part: Enc(P_(p,s)(v_s)), and for each l Enc(G_(p,s,l)(v_s))
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if in a part all its slots are zero;
//!                                                                     its payload is in the labels of that part
//! ```
//!
//! | CMDG21 | APSI | here | what |
//! |---|---|---|---|
//! | the OPRF | `OPRF` | [`rfc9497`](vesica_mpc::rfc9497) | the server's key is a new one for each prepared set |
//! | the bins of an item, on either side | `table_size`, `hash_func_count` | [`Shape::bins`] bins, three functions | chosen by bytes 0 to 15 of the output |
//! | the slots of an item | `felts_per_item` | [`Shape::limbs`] | 17 bits each, from byte 16 of the output on |
//! | the degree | `max_items_per_bin` | [`Shape::degree`] | items of a part |
//! | labels, their encryption | `label_byte_count` | [`Shape::labels`] polynomials a slot; key: bytes 48 to 63 of the output |
//! | the powers sent | `query_powers` | a basis, see `powers` | |
//! | Paterson and Stockmeyer's evaluation | `ps_low_degree` | none, as with `ps_low_degree` 0 | docs/parameters/unbalanced.md says why |
//!
//! # Why it is secure
//!
//! *Result.* A slot of a part is zero exactly if the client's limb is that of one of the part's items:
//! free places are roots that are no limb. All slots of an item of the set are zero in the part where
//! it lies in its bin. Those of another item are, with limbs from several items, in one query of a
//! client's [`QUERIES_AN_ENROLMENT`] with probability at most `2^-42`, because its output is uniform and
//! independent of the set's.
//!
//! *The client* sends uniform elements, and ring-LWE ciphertexts under a secret of its own; they are
//! as many for any items. Where a cuckoo table does not exist it stops, which happens in one of
//! its queries with probability at most `2^-44`.
//!
//! *The server* sends values of its polynomials, and noise that depends on them. Both are
//! functions of what the client sent, and of the outputs of the server's items: bins and limbs are
//! those outputs, and which part an item lies in follows from them. Such outputs are pseudo-random to
//! whoever has not asked for them, and anyone may know them all: a client that does anything learns no more
//! from them than which of its own outputs are there. That holds for values that are not zero, for zeros
//! in some limbs of an item (they compare pseudo-random limbs), for the part in which an item
//! lies, and for noise. So no random factor, no flood and no fresh encryption of zero is needed, and
//! queries may be as many as one likes: clients together open no more outputs than
//! elements were answered. A set of which a bin overflows, or cannot be dealt to its parts, is refused
//! when it is prepared; that depends on outputs alone.
//!
//! # What it does not hold
//!
//! - There is no mode for a server that does not follow the protocol: the client has nothing to hold
//!   it to. It may answer items from different sets, and send ciphertexts of what it likes.
//!   Honest answers never have exhausted noise; a client that meets it goes on, and counts its items
//!   among those of which nothing is known.
//! - A client keeps one key of its ciphertexts in its state: a server that gets the state later, and has
//!   kept queries, tests guesses at the items that they asked about.
//! - A payload is read without a check: a server that does not follow the protocol may make those of
//!   some items unreadable.
//! - A client may guess: it learns of any item whether it is in the set, one for each element that
//!   the server answers. Nothing here limits how many those are.
//! - Whoever gets the server's key later, and has kept answers that it could decrypt, tests guesses at
//!   the set's items without asking, and opens the payloads of those that are right.
//! - Items have 128 bits. A set that is prepared once cannot depend on a salt that both sides toss,
//!   so whoever can put items into both sets finds two keys with one item in about `2^64` steps.
//! - How long a client takes for its cuckoo table depends on the positions of its items, which the
//!   server can compute for guesses at them.
//! - What was asked is counted in the client's state. A state that is copied, or restored from an older
//!   copy, begins to count again where the copy was made.

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

#[cfg(doc)]
use super::Shape;
use crate::recurrent::oprf::ONE_MORE_GAP;
use crate::styles;
use crate::tasks::{Intersect, IntersectRequest, SIZES};

/// The service `cmdg21`.
#[derive(Clone, Copy, Debug)]
pub enum Cmdg21 {}

const RING_LWE: Assumption = Assumption::new(
    "ring-LWE with 4096 coefficients, 108 bits and ternary secrets, also where the secret's own square is encrypted \
     (circular security of the key for products)",
)
.attacked(Attack {
    falls: "what clients ask",
    takes: Effort::Primal(RingLwe { degree: 4096, modulus_bits: 108 }),
    source: "docs/parameters/unbalanced.md",
});

impl Service for Cmdg21 {
    const ENTRY: Entry = Entry {
        id: "cmdg21",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: Paper {
            key: "CMDG21",
            title: "Labeled PSI from Homomorphic Encryption with Reduced Computation and Communication",
            reference: "Cong, Moreno, da Gama, Dai, Iliashenko, Laine, Rosenberg. CCS 2021",
        },
        status: Status::Sound,
        cost: CostClass::Lattice,
        map_and_compare: Some(styles::HE_OPRF),
        deviations: &[
            "The OPRF is that of RFC 9497.",
            "One ring for all sizes: 4096 coefficients, a modulus of three primes of 36 bits, plaintexts modulo 147,457. \
             Limbs, bins and parts are derived for each pair of sizes, such that false matches over all queries of a \
             client have probability 2^-42; the paper's tables and those of its code are made for a single query.",
            "All powers are computed, and multiplied by the polynomials' coefficients, at a smaller modulus than they \
             were sent with. Paterson and Stockmeyer's evaluation, which takes a product of ciphertexts for each part, \
             would be slower at these degrees.",
            "A label is cut into limbs, which are interpolated slot by slot beside the item's own. So items of a part differ \
             in all their limbs: a bin has as many parts as that takes but with probability 2^-45, and items change places \
             within it. Free places have uniform labels, so that all polynomials have one degree.",
        ],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::exactly(4),
            assumptions: assume![
                ONE_MORE_GAP,
                "SHA-512 and hash-to-group are random oracles; AES under a fixed key spreads uniform inputs like a random \
                 function",
                RING_LWE,
                "keyed BLAKE3 gives uniform polynomials; for keystreams of payloads it is a random oracle",
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
        bytemuck::cast_slice(&params.to_words()).to_vec()
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
        let makes_labels = role == Role::Sender && params.shape.payload_bytes > 0;
        if makes_labels { params.preparation_bytes() } else { 0 }
    }
}
