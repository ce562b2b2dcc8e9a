//! Batched single-point OPRF, or random 1-of-N OT, from OT extension with a code.
//!
//! The receiver asks each instance for one key; the sender evaluates the instances where it likes. If
//! keys have `k` bits, that is a random 1-of-`2^k` OT for each instance, of which the sender makes the
//! messages that it asks for. Three papers differ in the code alone:
//!
//! | row | paper | [code](codes) | keys | against |
//! |---|---|---|---|---|
//! | [`Kk13`] | Kolesnikov, Kumaresan, CRYPTO 2013 | Walsh-Hadamard, 256 bits, distance 128 | 8 bits | semi-honest |
//! | [`Kkrt16`] | Kolesnikov, Kumaresan, Rosulek, Trieu, CCS 2016, Figure 2 | pseudo-random | any | semi-honest |
//! | [`Oos17`] | Orrù, Orsini, Scholl, CT-RSA 2017 | BCH [511, 76, 171] | 76 bits | semi-honest, malicious |
//!
//! ```text
//!     sender: s random, w bits                                         receiver: y_i for each instance i
//!        |<================ w random OTs, roles swapped: of the keys k_j[0], k_j[1] the sender gets k_j[s_j] ================>|
//!                                                                      t_i, u_i: the rows of the columns G(k_j[0]), G(k_j[1])
//!                       <----- 1: d_i = t_i + u_i + C(y_i) ---------
//!   q_i = (row of the columns G(k_j[s_j])) + (d_i & s)
//!       = t_i + (C(y_i) & s)
//!                       ------ 2: challenge (malicious) ------------>
//!                       <----- 3: R(y), R(t) (malicious) ------------
//!   R(q) = R(t) + (C(R(y)) & s), or stop
//!
//!   F_i(x) = H(i, q_i + (C(x) & s))                                    F_i(y_i) = H(i, t_i)
//! ```
//!
//! For `x` other than `y_i` the input of `H` differs from `t_i` by `(C(x) + C(y_i)) & s`, of which the
//! receiver knows nothing as long as the code words differ in 128 places. Words of the linear codes
//! always do; those of the pseudo-random code in all evaluations together, except with probability
//! `2^-`[`FAILURE_BITS`], which sets `w`. Without steps 2 and 3 a corrupt receiver learns bits of `s` from
//! corrections that are no code words; `check` says why it learns no more than it guesses.
//!
//! A corrupt party may choose its own outputs. The sender may even choose functions that give equal
//! values for all keys (with `s = 0`): an OT whose messages are equal.
//!
//! | papers | here |
//! |---|---|
//! | `m`; `k`, `n_C` | `instances`; `width` (`w`) |
//! | `r_i`, `c_i`, `w_i` | `y_i`, the keys asked for |
//! | `T_0`, `T_1`, `Q` | rows of `zeros` and `ones`, `pieces` |
//! | `s`, `b`; `C` | `secret`; [`Code`] |
//! | `H` | `RowHash` |
//!
//! `H` must be robust for differences of any weight from 128 on, and takes more than 128 bits: no
//! hash from AES is proven for that, so it is BLAKE3 as a random oracle, one compression a value (two
//! where a row fills a block), under a key of the run and bound to the instance.

mod check;
pub mod codes;
mod hash;
pub mod messages;
mod receiver;
mod rows;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol, Security};
use vesica_structures::facts::Unsupported;

use crate::binding::Binding;
use crate::ot_extension;
use crate::tasks::BatchPrfRequest;

pub use check::{ColumnHash, ROWS_PER_BLOCK, fits};
pub use codes::{Bch, Code, FAILURE_BITS, LongBch, PseudoRandom, WalshHadamard};
pub use receiver::Receiver;
pub(crate) use rows::ROWS_PER_PIECE;
pub use rows::{Columns, MatrixRow, ROWS_PER_STRIP};
pub use sender::{Functions, Sender};

/// A bound on instances a run: their numbers have 32 bits.
const MAX_INSTANCES: usize = 1 << 31;

/// The protocol with the code `C`.
#[derive(Debug)]
pub struct CodeOprf<C>(PhantomData<fn() -> C>);

/// 1-of-256 OT by the Walsh-Hadamard code.
pub type Kk13 = CodeOprf<WalshHadamard>;

/// Batched OPRF by a pseudo-random code.
pub type Kkrt16 = CodeOprf<PseudoRandom>;

/// 1-of-`2^76` OT by a BCH code.
pub type Oos17 = CodeOprf<Bch>;

/// The agreed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    request: BatchPrfRequest,
    /// `w`.
    width: usize,
}

impl<C: Code> Protocol for CodeOprf<C> {
    const ENTRY: Entry = C::ENTRY;
    type Task = C::Task;
    type Params = Params;
    type Sender = Sender<C>;
    type Receiver = Receiver<C>;

    fn derive(request: &BatchPrfRequest) -> Result<Params, Unsupported> {
        C::ENTRY.require(request.security)?;
        if request.instances > MAX_INSTANCES || request.blocks == 0 {
            return Err(Unsupported::new(
                format_args!("{} instances of an OPRF with outputs of {} blocks", request.instances, request.blocks),
                format_args!("ask for at most {MAX_INSTANCES}, with outputs of at least one block"),
            ));
        }
        if !(1..=u128::BITS).contains(&request.key_bits) {
            return Err(Unsupported::new(
                format_args!("an OPRF of keys of {} bits", request.key_bits),
                format_args!("ask for 1 to {}", u128::BITS),
            ));
        }
        Ok(Params { request: *request, width: C::width(request)? })
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = match params.request.instances {
            0 => 0,
            _ => params.base().predicted_bytes() + (params.rows() * params.row_bytes() + params.check_bytes()) as u64,
        };
        bytes..=bytes
    }
}

fn code_of<C: Code>(binding: Binding, params: &Params) -> Result<C, Unsupported> {
    C::new(&std::array::from_fn(|number| binding.key("code", &[&[number as u8]])), &params.request)
}

impl Params {
    fn row_bytes(&self) -> usize {
        self.width.div_ceil(8)
    }

    fn is_checked(&self) -> bool {
        self.request.security == Security::Malicious
    }

    /// Rows that are made: if they are checked, whole blocks of 128, and one block more as a mask.
    fn rows(&self) -> usize {
        let instances = self.request.instances;
        if self.is_checked() { instances.next_multiple_of(128) + 128 } else { instances }
    }

    /// Bytes of the challenge and of the answer.
    fn check_bytes(&self) -> usize {
        if self.is_checked() { 16 * (1 + self.request.key_bits as usize + self.width) } else { 0 }
    }

    /// The bits of a key.
    fn key_mask(&self) -> u128 {
        u128::MAX >> (u128::BITS - self.request.key_bits)
    }

    /// The OTs of the columns' keys.
    fn base(&self) -> ot_extension::Params {
        ot_extension::Params { blocks: self.width.div_ceil(128), security: self.request.security }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_served_is_refused() {
        let served = BatchPrfRequest {
            instances: 1,
            key_bits: 8,
            evaluations: 1,
            evaluations_in_all: 1,
            blocks: 1,
            security: Security::SemiHonest,
        };
        let malicious = BatchPrfRequest { security: Security::Malicious, ..served };
        for refused in [
            BatchPrfRequest { blocks: 0, ..served },
            BatchPrfRequest { key_bits: 0, ..served },
            BatchPrfRequest { key_bits: 129, ..served },
            BatchPrfRequest { instances: usize::MAX, ..served },
        ] {
            assert!(Kkrt16::derive(&refused).is_err() && Oos17::derive(&refused).is_err(), "{refused:?}");
        }
        assert!(Kkrt16::derive(&malicious).is_err() && Kk13::derive(&malicious).is_err());
        assert!(Oos17::derive(&malicious).is_ok() && Kk13::derive(&served).is_ok());
    }
}
