//! Random 1-of-2^k oblivious transfer of bits in bulk, from silent VOLE whose `c` has `k` bits: the
//! raw material of circuits.
//!
//! ```text
//!     sender                                                    receiver
//!     delta, b      [ silent VOLE of c below 2^k in batches: a = b + delta c ]      c, a
//!   table_i[j] = lowest bit of H(b_i + delta j), j < 2^k        choice_i = c_i,  bit_i = lowest bit of H(a_i)
//! ```
//!
//! Since `a_i = b_i + delta c_i`, the receiver's bit is `table_i[c_i]`; all other places differ
//! from it by a multiple of `delta`, and `H` is correlation robust. One element of VOLE gives what
//! `k` correlated OTs of one bit each give, at the price of `2^k` hashes for the sender, each one
//! call of a cipher. `H` and what batches share: see `silent::bulk`.

mod receiver;
mod sender;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Protocol, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use crate::silent::bulk;
use crate::tasks::{CorrelationRequest, RandomOneOfNOt};

pub use receiver::Receiver;
pub(crate) use receiver::{add_choices, each_batch_of_entries, look_up};
pub use sender::Sender;
pub(crate) use sender::{each_batch_of_tables, offsets};

/// The widest choice, in bits.
pub const MAX_WIDTH: u32 = bulk::MAX_WIDTH;

/// A bound on tables a run.
pub(crate) const MAX_LEN: usize = 1 << 28;

/// Random tables from silent VOLE.
#[derive(Debug)]
pub enum OneOfN {}

impl Protocol for OneOfN {
    const ENTRY: Entry = Entry {
        id: "ot-silent-1-of-n",
        aliases: &[],
        variants: &[],
        task: RandomOneOfNOt::NAME,
        paper: Paper {
            key: "this work",
            title: "Random 1-of-2^k OT of bits from silent VOLE over a subspace",
            reference: "after Boyle, Couteau, Gilboa, Ishai, Kohl, Rindal, Scholl (CCS 2019, ePrint 2019/1159)",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "values of the noise are uniform in the k bits of a choice, with the weight for uniform noise",
            "batches of at most 2^23 tables share one delta and one set of base OTs, and nothing else",
            "bits are the lowest ones of MMO hashes without tweaks [GKWY20], under a key for every 16 tables: a \
             search for delta takes 2^124 calls of the cipher for choices of one bit, and at least 2^122, 2^121, 2^120 \
             for two, three, four bits, as one call tests a guess for all multiples of delta",
        ],
        modes: &[bulk::SEMI_HONEST],
    };
    type Task = RandomOneOfNOt;
    type Params = bulk::Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<bulk::Params, Unsupported> {
        bulk::Params::derive(request.len, check(request)?, MAX_LEN)
    }

    fn predicted_bytes(params: &bulk::Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

/// The width of a choice, if it and the security are such as there are tables for.
pub(crate) fn check(request: &CorrelationRequest) -> Result<u32, Unsupported> {
    let width = request.width.unwrap_or(MAX_WIDTH);
    if !(1..=MAX_WIDTH).contains(&width) {
        return Err(Unsupported::new(
            format_args!("choices of {width} bits"),
            format_args!("ask for 1 to {MAX_WIDTH}"),
        ));
    }
    if request.security != Security::SemiHonest {
        return Err(Unsupported::new("random tables against malicious parties", "ask for the semi-honest mode"));
    }
    Ok(width)
}
