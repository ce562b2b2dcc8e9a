//! OT extension by columns: Ishai, Kilian, Nissim and Petrank (CRYPTO 2003) with the messages of Asharov,
//! Lindell, Schneider and Zohner (CCS 2013), and with a check against active parties: Keller, Orsini and
//! Scholl (CRYPTO 2015).
//!
//! ```text
//!     sender, s random, 128 bits                                       receiver, r random, a bit for each transfer i
//!        |<================ 128 base OTs, roles swapped: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ================>|
//!                                                                      t_i, u_i: the rows of the columns G(k_j[0]), G(k_j[1])
//!                       <----- 1: d_i = t_i + u_i + (r_i, .. r_i) --
//!   q_i = (row of the columns G(k_j[s_j])) + (d_i & s)
//!       = t_i + (r_i s)
//!                       ------ 2: challenge chi (malicious) -------->
//!                       <----- 3: R(r), R(t) (malicious) ------------   R(x) = x_last + sum chi^(i + 1) x_i over blocks of 128 bits
//!   R(q's column j) = R(t's column j) + s_j R(r) for every j, or stop
//!
//!   H(i, q_i), H(i, q_i + s)                                           H(i, t_i)
//! ```
//!
//! | papers | here |
//! |---|---|
//! | `s`, `r`; `k` | `s`, `r`; [`COLUMNS`] |
//! | `T`, `U`, `Q` | rows of `zeros` and `ones`, `rows` |
//! | KOS15's `x`, `t`, `q` of the check | `R(r)`, `R(t)`, `R(q)`: [`messages::Answer`] |
//! | `H` | [`CorrelationHash`](crate::ot_extension) |
//!
//! This is [`crate::ot_extension`] with trees of two leaves: 16 bytes a transfer where that sends 2, and
//! makes its columns with a tenth of its calls of AES or fewer; hashing costs the same in both.
//!
//! **The check.** KOS15 as printed in 2015 combines transfers with random coefficients and rests on a lemma
//! that does not hold (Roy, CRYPTO 2022); its ePrint revision of 2022 checks much as Roy does. Here the check is
//! Roy's Figure 8, for which he proves what KOS15 claims: a
//! universal hash over whole blocks of each column, the last of which is random and used for nothing else.

pub mod messages;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{
    Abort, Assumption, Attack, Channel, CostClass, Effort, Entry, Mode, Protocol, Resistance, Rounds, Security, Status,
    Task, assume,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

use crate::base_ot::{self, mode};
use crate::ot_extension::{GUESSED_DELTA, MAX_TRANSFERS, OFFSET_PAGE};
use crate::tables_of_ots::OtBatches;
use crate::tasks::{CorrelationRequest, OtChosen, OtPairs, RandomOt};

pub use receiver::Receiver;
pub use sender::Sender;

/// The name of both rows in steps and hashes.
const NAME: &str = "ot-iknp03";

/// Columns, each with a base OT of its own: the security parameter.
pub const COLUMNS: usize = 128;

/// OT extension of the two papers without a check.
#[derive(Debug)]
pub enum Iknp03 {}

/// The same with the check.
#[derive(Debug)]
pub enum Kos15 {}

/// The agreed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    len: usize,
    is_checked: bool,
}

impl Params {
    /// Of a request that a row serves.
    fn derive(entry: &Entry, request: &CorrelationRequest) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        if request.len > MAX_TRANSFERS {
            return Err(Unsupported::new(
                format_args!("{} OTs in one run", request.len),
                format_args!("ask for at most {MAX_TRANSFERS} at a time"),
            ));
        }
        Ok(Self { len: request.len, is_checked: request.security == Security::Malicious })
    }

    /// Rows that are made: if they are checked, whole blocks of 128, and one block more as a mask.
    fn rows(&self) -> usize {
        if self.is_checked { self.len.next_multiple_of(128) + 128 } else { self.len }
    }

    fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let check = if self.is_checked { 16 * (1 + 1 + COLUMNS) } else { 0 };
        let bytes = base_ot::predicted_bytes(COLUMNS) + (16 * self.rows() + check) as u64;
        bytes..=bytes
    }
}

const ASSUMPTIONS: &[Assumption] = vesica_party::assumptions![
    base_ot::ASSUMPTIONS,
    assume!["AES-128 as a random permutation and as a PRF", S_SEARCH,]
];

const S_SEARCH: Assumption = Assumption::new(
    "the sender's s is found by trying values alone, of which a call of AES tests one for the 16 indices that a hash key \
     serves",
)
.attacked(Attack {
    falls: "the secret s of OTs, and with it what they hide",
    takes: Effort::Steps { tenths: 1240, of: "calls of AES" },
    source: OFFSET_PAGE,
});

const HASHED: &str = "OT messages are TMMO hashes under a key of the run, tweaked by index [GKWY20]";

impl Protocol for Iknp03 {
    const ENTRY: Entry = Entry {
        id: NAME,
        aliases: &["ot-alsz13"],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "IKNP03",
            title: "Extending Oblivious Transfers Efficiently",
            reference: "Y. Ishai, J. Kilian, K. Nissim, E. Petrank, CRYPTO 2003",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the receiver sends one vector a column, as in ALSZ13 (Asharov, Lindell, Schneider, Zohner, CCS 2013), and \
             not two",
            HASHED,
        ],
        modes: &[mode(Security::SemiHonest, Resistance::SemiHonest, 2, ASSUMPTIONS)],
    };
    type Task = RandomOt;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        Params::derive(&Self::ENTRY, request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

impl OtBatches for Iknp03 {
    const TABLES: &'static str = "ot-iknp03-1-of-n";

    fn batches(len: usize) -> Result<Params, Unsupported> {
        Ok(Params { len, is_checked: false })
    }

    fn send_batches(
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtPairs),
    ) -> Result<(), Abort> {
        sender::each_batch(params, ch, rng, keep)
    }

    fn receive_batches(
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        keep: impl FnMut(OtChosen),
    ) -> Result<(), Abort> {
        receiver::each_batch(params, ch, rng, keep)
    }
}

impl Protocol for Kos15 {
    const ENTRY: Entry = Entry {
        id: "ot-kos15",
        aliases: &[],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "KOS15",
            title: "Actively Secure OT Extension with Optimal Overhead",
            reference: "M. Keller, E. Orsini, P. Scholl, CRYPTO 2015, ePrint 2015/546",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the check is that of Roy (CRYPTO 2022, Figure 8), since the lemma behind the check printed in 2015 does not hold \
             (the ePrint revision of 2022 mends it in a similar way); its universal hash is a polynomial over GF(2^128) at a point that the sender chooses once the corrections have \
             arrived",
            HASHED,
        ],
        modes: &[Mode {
            security: Security::Malicious,
            corrupt_sender: Resistance::Malicious,
            corrupt_receiver: Resistance::Malicious,
            rounds: Rounds::exactly(4),
            assumptions: ASSUMPTIONS,
            leakage: &[GUESSED_DELTA],
        }],
    };
    type Task = RandomOt;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        Params::derive(&Self::ENTRY, request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}
