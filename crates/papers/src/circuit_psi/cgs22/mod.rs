//! Circuit PSI with hints by cuckoo hashing: Chandran, Gupta, Shah, "Circuit-PSI with Linear
//! Complexity via Relaxed Batch OPPRF" (PoPETs 2022), Figures 3 and 7: its second protocol.
//!
//! Steps 1 to 3 are those of [`vesica_protocols::circuit_psi`].
//!
//! ```text
//!   Sender                                                            Receiver
//!   5. r_i, tau_i of each bin random;                                 random keys for empty bins
//!      p_x: what is carried for x, its payload masked for the multiplexer
//!                                [ 4: KKRT16 ]
//!   F_i(x) for each pair (bin i, key x)                               F_i(y_i)
//!   T: each pair in one of its 3 cells, as
//!      F_i(x) + (r_i || p_x masked by tau_i)
//!                                6. T, the rest of it random
//!      ------------------------------------------------------------------------>
//!                                                                     7. w_ib || c_ib = T[b-th cell of y_i] + F_i(y_i), b = 0, 1, 2
//!                                                                     s_i, u_i random
//!                                [ 8: KKRT16, roles swapped ]
//!   G_i(r_i)                                                          G_i(w_ib)
//!                                                                     n_i: sets the places h(G_i(w_ib), n_i) among 4 apart
//!                                                                     T_i: there G_i(w_ib) + (s_i || c_ib masked by u_i)
//!                                9. n_i, T_i, the rest of it random
//!      <------------------------------------------------------------------------
//!   s'_i || c_i = T_i[h(G_i(r_i), n_i)] + G_i(r_i)
//!                                [ 10: equality tests, roles swapped ]
//!   share of q_i = (s_i = s'_i)                                       share of q_i
//!                                11. (payloads) c_i unmasked by tau_i
//!      ------------------------------------------------------------------------>
//!                                                                     that plus u_i: p_x, if the item is common
//! ```
//!
//! Steps 4 to 7 are the *relaxed* batch OPPRF: a programmed value is among three candidates, which
//! a cuckoo table answers in linear time. Steps 8 to 10 are the private set membership: whether
//! `r_i` is one of them, by an OPPRF on sets of three (KMPRT17's table) and one equality test.
//!
//! Either side sees tables that are random but where it knows the OPRF's output, and finds a random
//! value there whether its item is common or not. A nonce depends on three outputs of `G_i`, of
//! which the sender knows at most one; whatever that is, each nonce sets the places apart with
//! probability 3/8.
//!
//! | paper | here | what |
//! |---|---|---|
//! | `P_0`, `P_1` | the sender, the receiver | simple hashing, cuckoo hashing |
//! | `beta`, `d` | `params.bins`, `POSITIONS` | bins, positions |
//! | `t_j` | `targets` | `r_i` |
//! | `W_j` | `candidates` | `w_ib` |
//! | `s_j` | `peqt.values()` | what is compared |

mod messages;
pub mod params;
mod quads;
mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_mpc::base_ot;
use vesica_mpc::bits::Bits;
use vesica_mpc::code_oprf::Kkrt16;
use vesica_mpc::peqt;
use vesica_party::{Abort, Channel, Choice, ChoiceValue, CostClass, Entry, Mode, Rounds, Status, Task, assumptions};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

pub use params::Parts;
pub use receiver::Receiver;
pub use sender::Sender;

use vesica_protocols::circuit_psi::entry::{
    BINS, OT_AND_SOFTSPOKEN_TESTS, OT_AND_TESTS, OTS, SILENT_OTS, SOFTSPOKEN_OTS, mode, semi_honest,
};
use vesica_protocols::circuit_psi::{Carry, Exchangeable, Matched, Matching, MatchingRequest, Params};
use vesica_protocols::circuit_row;
use vesica_protocols::styles;
use vesica_protocols::tasks::Shares;

use super::ots::{FERRET, FERRET_TESTS, IKNP, IKNP_TESTS, SOURCES, with_modes};

const LEAVES: &str =
    "Leaves of four bits are random tables from silent VOLE, corrected as polynomials, instead of 1-of-16 OTs.";
const SOFTSPOKEN_LEAVES: &str = "Leaves of four bits are random tables from VOLE over small fields [Roy22], corrected \
                                 as polynomials, instead of 1-of-16 OTs.";

const IKNP_LEAVES: &str = "Leaves of four bits are random tables from OT extension by columns (ot-iknp03) as in NP99, \
                           corrected as polynomials, instead of 1-of-16 OTs.";
const FERRET_LEAVES: &str = "Leaves of four bits are random tables from Ferret (ot-ferret) as in NP99, corrected as \
                             polynomials, instead of 1-of-16 OTs.";

const ROUNDS: Rounds = Rounds::between(20, 36);
const SOFTSPOKEN_MODES: &[Mode] = &[mode(ROUNDS, OT_AND_SOFTSPOKEN_TESTS)];
const IKNP_MODES: &[Mode] = &[mode(ROUNDS, assumptions![semi_honest::<Kkrt16>(), IKNP_TESTS])];
const FERRET_MODES: &[Mode] = &[mode(ROUNDS, assumptions![semi_honest::<Kkrt16>(), FERRET_TESTS])];
const SILENT: ChoiceValue = SILENT_OTS.deviating(&[LEAVES]);
const SOFTSPOKEN: ChoiceValue = with_modes(SOFTSPOKEN_OTS.deviating(&[SOFTSPOKEN_LEAVES]), SOFTSPOKEN_MODES);
const ON_IKNP: ChoiceValue = with_modes(IKNP.deviating(&[IKNP_LEAVES]), IKNP_MODES);
const ON_FERRET: ChoiceValue = with_modes(FERRET.deviating(&[FERRET_LEAVES]), FERRET_MODES);

circuit_row!(
    /// `cgs22`.
    Cgs22, RelaxedMatching, Exchangeable::new(peqt::Variant::Leaves).from(SOURCES), Entry {
        id: "cgs22",
        aliases: &[],
        variants: &[Choice { values: &[SILENT, SOFTSPOKEN, ON_IKNP, ON_FERRET], ..OTS }, base_ot::CHOICE],
        task: Shares::NAME,
        paper: Paper {
            key: "CGS22",
            title: "Circuit-PSI with Linear Complexity via Relaxed Batch OPPRF",
            reference: "Chandran, Gupta, Shah. PoPETs 2022, ePrint 2021/034",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::CIRCUIT_SHARES),
        deviations: &[
            "Of the two protocols the one whose membership test is a second OPPRF and one equality test; three tests a bin would send as much and take longer.",
            "The hint is a table of 1.24 cells a pair (more below 2^13 pairs), by a bound and without a stash.",
            "Candidates are wider than what is compared, so that no two of a bin are equal.",
            LEAVES,
            "The OPRFs' width follows from a binomial sum over the evaluations of both.",
            "Payloads of both sides: the sender's goes with the candidates through the second OPPRF to its own share, and a multiplexer follows.",
            BINS,
        ],
        modes: &[mode(ROUNDS, OT_AND_TESTS)],
    }
);

/// Steps 1 to 10 of the figure.
#[derive(Clone, Copy, Debug)]
pub enum RelaxedMatching {}

impl Matching for RelaxedMatching {
    type Parts = Parts;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &MatchingRequest) -> Result<Params<Parts>, Unsupported> {
        params::derive(request)
    }

    fn predicted_bytes(params: &Params<Parts>) -> RangeInclusive<u64> {
        params.predicted_bytes(|parts| parts.predicted_bytes(params.bins) + (params.bins * params.carried_bytes) as u64)
    }

    fn sender(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender, Abort> {
        Sender::setup(params, ch, rng)
    }

    fn receiver(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver, Abort> {
        Receiver::setup(params, ch, rng)
    }

    fn send(
        sender: Sender,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        sender.run(items, carry, ch, rng)
    }

    fn receive(receiver: Receiver, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        receiver.run(items, ch, rng)
    }
}
