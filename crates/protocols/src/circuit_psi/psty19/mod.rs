//! Circuit PSI from OT extension: Pinkas, Schneider, Tkachenko, Yanai, "Efficient Circuit-Based PSI
//! with Linear Communication" (Eurocrypt 2019), Figure 6.
//!
//! Steps 1, 2, 3, 5 and 8 are those of [`crate::circuit_psi`]. The OPPRF (the paper's section 5, of
//! KMPRT17) has an OPRF for each bin and a polynomial for each *mega-bin*:
//!
//! ```text
//!   Sender: pairs (bin i, key x, value v)                             Receiver: a key y_i for each full bin
//!                                                                     4. random keys for empty bins
//!                                [ 4: KKRT16 ]
//!   F_i(x) for each pair                                              F_i(y_i)
//!   6. for each mega-bin: P of degree below d
//!      with P(x) = F_i(x) + v for its pairs
//!      (random above the width of v),
//!      and random points up to d
//!                                6. d coefficients a mega-bin
//!      ------------------------------------------------------------------------>
//!                                                                     7. P(y_i) + F_i(y_i)
//! ```
//!
//! The values of a polynomial are masked by outputs that the receiver does not know but at its own
//! key, so that its coefficients are uniform whatever the sender's keys. Mega-bins are as many that
//! none of them is hit by more than `d` pairs: then every one of them sends `d` coefficients.
//!
//! | paper | here | what |
//! |---|---|---|
//! | `P_1`, `P_2` | the receiver, the sender | cuckoo hashing, simple hashing |
//! | `beta` | `params.bins` | bins |
//! | `gamma`, mega-bin | `params.mega_bins` | polynomials |
//! | 1024 elements | [`params::CAPACITY`] (`d`) | points of a polynomial |
//! | `t_j` | `peqt.values()` | targets |
//! | `hint` | `messages::Hint` | coefficients |

mod messages;
pub mod params;
mod receiver;
mod sender;

use vesica_mpc::base_ot;
use vesica_mpc::peqt;
use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Choice, ChoiceValue, CostClass, Entry, Mode, Party, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

use super::entry::{
    AND_TREES, BINS, EQUALITY, OT_AND_SOFTSPOKEN_TESTS, OT_AND_TESTS, OTS, SILENT, SILENT_TABLES, SOFTSPOKEN, mode,
};
use super::{Asked, BinOpprf, Exchangeable, OpprfMatching, OpprfSizes, Pairs};
use crate::circuit_row;
use crate::styles;
use crate::tasks::Shares;

/// The paper.
pub const PAPER: Paper = Paper {
    key: "PSTY19",
    title: "Efficient Circuit-Based PSI with Linear Communication",
    reference: "Pinkas, Schneider, Tkachenko, Yanai. Eurocrypt 2019, ePrint 2019/241",
};

/// A deviation: the field.
pub const POLYNOMIALS: &str = "Polynomials over GF(2^128), whose points are the items' keys, instead of a prime field of 61 bits: there two points of a mega-bin would be equal with a probability of 2^-32 at 2^20 items.";
/// A deviation: what a polynomial goes through.
pub const MEGA_BINS: &str = "Mega-bins by the key and not by the bin, of at most 512 points instead of 1024.";
/// A deviation: the OPRF.
pub const OPRF_WIDTH: &str = "The OPRF's width follows from a binomial sum over all evaluations.";

const MODES: &[Mode] = &[mode(Rounds::between(18, 32), OT_AND_TESTS)];
const SOFTSPOKEN_MODES: &[Mode] = &[mode(Rounds::between(18, 32), OT_AND_SOFTSPOKEN_TESTS)];
const ON_SOFTSPOKEN: ChoiceValue = ChoiceValue { modes: Some(SOFTSPOKEN_MODES), ..SOFTSPOKEN };

circuit_row!(
    /// `psty19`.
    Psty19, OpprfMatching<PolynomialOpprf>, Exchangeable::new(peqt::Variant::AndTree), Entry {
        id: "psty19",
        aliases: &[],
        variants: &[EQUALITY, Choice { values: &[SILENT, ON_SOFTSPOKEN], ..OTS }, base_ot::CHOICE],
        task: Shares::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::Polynomials,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            POLYNOMIALS,
            MEGA_BINS,
            OPRF_WIDTH,
            "Payloads of both sides: the hint carries the sender's, and a multiplexer follows, as in the later papers.",
            BINS,
            AND_TREES,
            SILENT_TABLES,
        ],
        modes: MODES,
    }
);

/// The OPPRF of the figure.
#[derive(Clone, Copy, Debug)]
pub enum PolynomialOpprf {}

impl BinOpprf for PolynomialOpprf {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn failure(_: usize) -> u128 {
        params::FAILURE
    }

    fn derive(sizes: &OpprfSizes) -> Result<Params, Unsupported> {
        Params::derive(sizes)
    }

    fn predicted_bytes(params: &Params) -> u64 {
        params.predicted_bytes()
    }

    fn program(sender: Sender, pairs: Pairs, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        sender.run(pairs, ch, rng)
    }

    fn ask(receiver: Receiver, asked: Asked, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        receiver.run(asked, ch, rng)
    }
}
