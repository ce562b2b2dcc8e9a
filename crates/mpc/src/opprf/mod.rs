//! Batched oblivious programmable PRF (KMPRT17) from VOLE and two OKVS. *VOLE-PSI* (RS21, section
//! 6) and LTSXQ26 (Figure 16, steps 1, 4, 6 and 7) build circuit PSI on it.
//!
//! ```text
//!   Sender: keys x with values v_x                                    Receiver: keys y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!      delta, b                     [ VOLE of length m: a = b + delta c ]      c, a
//!
//!                                                                     T = Encode(y, H_B(y))
//!                                2. A = T + c
//!      <------------------------------------------------------------------------
//!   K = b + delta A
//!   F(x) = H(Decode(K, x) + delta H_B(x), x)                          F(y) = H(Decode(a, y), y)
//!   P = Encode(x, F(x) + v_x), free cells random
//!                                3. P, the hint
//!      ------------------------------------------------------------------------>
//!                                                                     out_y = Decode(P, y) + F(y)
//! ```
//!
//! `out_y = v_y` where the sender programmed `y`; elsewhere it is pseudo-random to the sender and
//! to the receiver. The hint always encodes exactly the agreed number of pairs, its free cells are
//! random, and its values are masked by outputs that the receiver does not know: it says nothing of
//! the sender's keys beyond the receiver's own.
//!
//! | paper | here |
//! |---|---|
//! | `t_x, t_y` | `keys`: 128-bit digests, all distinct on a side |
//! | `t'_x, t'_y` | `F`: [`crate::oprf`] |
//! | `r_i, tau_i` | what the caller programs: `values` |
//! | `P` | the hint |
//!
//! Outputs wider than 128 bits take a hint for each 128 bits, over the same keys, each under an
//! outer hash of its own.

mod keys;
pub(crate) mod messages;
pub mod params;
mod receiver;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Security, Status, Task, assume};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Gf64;
use vesica_structures::okvs::{Band, Clustered, Kind};

use crate::silent::SilentVole;
use crate::tasks::{OpprfRequest, ProgrammedPrf};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// An OKVS that an OPPRF may stand on, with the row's description.
pub trait Store: 'static {
    /// The description.
    const ENTRY: Entry;
    /// The same as a value.
    const KIND: Kind;
}

const VOLE: Mode = <SilentVole<Gf64> as Protocol>::ENTRY.modes[0];

const SEMI_HONEST: Mode = Mode {
    security: Security::SemiHonest,
    corrupt_sender: VOLE.corrupt_sender,
    corrupt_receiver: VOLE.corrupt_receiver,
    rounds: Rounds::exactly(3),
    assumptions: vesica_party::assumptions![
        VOLE.assumptions,
        assume!["AES-128 is an ideal cipher (outer hash, hash to B, rows)"]
    ],
    leakage: &[],
};

/// The paper of OPRFs and OPPRFs from VOLE.
pub const PAPER: Paper = Paper {
    key: "RS21",
    title: "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE",
    reference: "Rindal, Schoppmann. Eurocrypt 2021, ePrint 2021/266",
};

const fn entry(id: &'static str) -> Entry {
    Entry {
        id,
        aliases: &[],
        variants: &[],
        task: ProgrammedPrf::NAME,
        paper: PAPER,
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "B is a subspace over GF(2) of 41 + log2(keys of the sender) bits, closed under all that is done with \
             values",
            "outer hash: Davies-Meyer with the salted key as key, instead of a random oracle on (q, x)",
        ],
        modes: &[SEMI_HONEST],
    }
}

impl Store for Band {
    const ENTRY: Entry = entry("opprf-band");
    const KIND: Kind = Kind::Band;
}

impl Store for Clustered {
    const ENTRY: Entry = entry("opprf-clustered");
    const KIND: Kind = Kind::Clustered;
}

/// The OPPRF on the OKVS `O`.
#[derive(Debug)]
pub struct Opprf<O>(PhantomData<fn() -> O>);

impl<O: Store> Protocol for Opprf<O> {
    const ENTRY: Entry = O::ENTRY;
    type Task = ProgrammedPrf;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &OpprfRequest) -> Result<Params, Unsupported> {
        Params::derive(request, O::KIND)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}
