//! Batched single-point OPRF: Kolesnikov, Kumaresan, Rosulek, Trieu, "Efficient Batched Oblivious
//! PRF with Applications to Private Set Intersection" (CCS 2016), Figure 2.
//!
//! ```text
//!     sender: s random, w bits                                         receiver: y_i for each instance i
//!        |<================ w random OTs, roles swapped: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ================>|
//!                                                                      t_i, u_i: the rows of the columns G(k_j[0]), G(k_j[1])
//!                       <----- 1: d_i = t_i + u_i + C(y_i) ---------
//!   q_i = (row of the columns G(k_j[s_j])) + (d_i & s)
//!       = t_i + (C(y_i) & s)
//!   F_i(x) = H(i, q_i + (C(x) & s))                                    F_i(y_i) = H(i, t_i)
//! ```
//!
//! `C` is a *pseudo-random code*: AES under four public keys. For `x` other than `y_i` the input of
//! `H` differs from `t_i` by `(C(x) + C(y_i)) & s`, of which the receiver knows nothing as long as
//! the code words differ in 128 places. They do in all evaluations together, except with
//! probability `2^-`[`FAILURE_BITS`]: that sets `w`.
//!
//! | paper | here |
//! |---|---|
//! | `m`, `k` | `instances`, `width` (`w`) |
//! | `r_i`, `T_0`, `T_1`, `Q` | `asked`, rows of `zeros` and `ones`, `rows` |
//! | `C` | `Code` |
//! | `H` | `RowHash` |
//!
//! `H` must be robust for differences of any weight from 128 on, and takes more than 128 bits: no
//! hash from AES is proven for that, so it is BLAKE3 as a random oracle, one compression a value,
//! under a key of the run and bound to the instance.

mod code;
mod messages;
mod receiver;
mod rows;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Security, Status, Task};
use vesica_structures::facts::{FailureEvent, LAMBDA, Paper, Unsupported, bitwise_and_width};

use crate::ot_extension;
use crate::tasks::{BatchPrf, BatchPrfRequest};

pub use receiver::Receiver;
pub use sender::{Functions, Sender};

/// Code words that are too close to each other: a quarter of the share of
/// [`FailureEvent::ZeroDifference`], so that the rest is left for what follows.
pub const FAILURE_BITS: u32 = FailureEvent::ZeroDifference.bits() + 2;

/// A bound on instances a run: the sender holds 64 bytes of each.
const MAX_INSTANCES: usize = 1 << 26;

/// The widest rows: with the instance behind it a row is one block of BLAKE3.
const MAX_WIDTH: usize = 480;

/// The agreed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    request: BatchPrfRequest,
    /// `w`, a multiple of 8.
    width: usize,
}

/// The OPRF.
#[derive(Debug)]
pub enum Kkrt16 {}

impl Protocol for Kkrt16 {
    const ENTRY: Entry = Entry {
        id: "oprf-kkrt16",
        aliases: &[],
        variants: &[],
        task: BatchPrf::NAME,
        paper: Paper {
            key: "KKRT16",
            title: "Efficient Batched Oblivious PRF with Applications to Private Set Intersection",
            reference: "V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu, CCS 2016, ePrint 2016/799",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        deviations: &[
            "the width follows from the number of evaluations and a binomial sum, instead of the paper's table, and \
             is a multiple of 8",
            "the w OTs of keys are themselves extended from 128 (SoftSpokenOT)",
            "the correction travels row by row and not column by column",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), ot_extension::ASSUMPTIONS, &[])],
    };
    type Task = BatchPrf;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &BatchPrfRequest) -> Result<Params, Unsupported> {
        if request.security != Security::SemiHonest {
            return Err(Unsupported::new("KKRT16 against malicious parties", "ask for the semi-honest mode"));
        }
        if request.instances > MAX_INSTANCES || request.blocks == 0 {
            return Err(Unsupported::new(
                format_args!("{} instances of an OPRF with outputs of {} blocks", request.instances, request.blocks),
                format_args!("ask for at most {MAX_INSTANCES}, with outputs of at least one block"),
            ));
        }
        let budgeted = request.evaluations_in_all.max(request.evaluations).saturating_mul(1 << (FAILURE_BITS - LAMBDA));
        let width = bitwise_and_width(budgeted)?.next_multiple_of(8);
        if width > MAX_WIDTH {
            return Err(Unsupported::new(
                format_args!("{} evaluations of an OPRF", request.evaluations),
                "use smaller sets",
            ));
        }
        Ok(Params { request: *request, width })
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = match params.request.instances {
            0 => 0,
            instances => params.base().predicted_bytes() + (instances * params.row_bytes()) as u64,
        };
        bytes..=bytes
    }
}

impl Params {
    /// Bytes of a row.
    fn row_bytes(&self) -> usize {
        self.width / 8
    }

    /// The OTs of the columns' keys.
    fn base(&self) -> ot_extension::Params {
        ot_extension::Params { blocks: self.width.div_ceil(128), security: Security::SemiHonest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(evaluations: usize) -> BatchPrfRequest {
        BatchPrfRequest {
            instances: 1,
            evaluations,
            evaluations_in_all: evaluations,
            blocks: 1,
            security: Security::SemiHonest,
        }
    }

    #[test]
    fn rows_are_as_wide_as_the_budget_asks() {
        let width = |evaluations| Kkrt16::derive(&request(evaluations)).unwrap().width;
        // The binomial sum gives 400, 432 and 446 for 2^3, 2^(3 + 15) and 2^(3 + 22).
        assert_eq!([1, 1 << 15, 3 << 20].map(width), [400, 432, 448]);
        assert!(
            Kkrt16::derive(&BatchPrfRequest { evaluations_in_all: 1 << 23, ..request(1) }).unwrap().width > width(1)
        );
        for refused in [
            BatchPrfRequest { security: Security::Malicious, ..request(1) },
            BatchPrfRequest { blocks: 0, ..request(1) },
            BatchPrfRequest { instances: usize::MAX, ..request(1) },
            request(usize::MAX),
        ] {
            assert!(Kkrt16::derive(&refused).is_err(), "{refused:?}");
        }
    }
}
