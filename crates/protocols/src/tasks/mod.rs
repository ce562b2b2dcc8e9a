//! The set tasks: what a protocol of each registry must compute, as predicates over both sides, and
//! what both sides agree on for it. One module is one task; `aggregate` is what
//! cardinalities, sums, and join and compute share.

use vesica_party::{Extra, Leak, Learner};
use vesica_structures::facts::Unsupported;

mod aggregate;
mod cardinality;
mod functionality;
mod intersect;
mod join_and_compute;
mod sealed;
mod shares;
mod sum;
mod union;
mod union_cardinality;
mod union_sum;

pub use aggregate::{
    Aggregate, AggregateOptions, AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Over,
};
pub use cardinality::Cardinality;
pub use functionality::{Extent, SetFunctionality};
pub use intersect::{
    Intersect, IntersectOptions, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest,
    IntersectSenderInput, IntersectSenderOutput,
};
pub use join_and_compute::JoinAndCompute;
pub use sealed::SealedPayloads;
pub use shares::{ReceiverShares, SenderShares, Shares, SharesInput, SharesOptions, SharesRequest};
pub use sum::Sum;
pub use union::{
    NewRecords, Union, UnionOptions, UnionReceiverInput, UnionReceiverOutput, UnionRequest, UnionSenderInput,
    UnionSenderOutput,
};
pub use union_cardinality::UnionCardinality;
pub use union_sum::UnionSum;

/// What every protocol of every set task shows to both sides.
pub const SIZES: Leak =
    Leak { to: Learner::Both, what: "the number of distinct items of the other side (see --pad-to)", extra: None };

/// What protocols show in which the receiver counts the common items by itself, beside a task that
/// hides their number.
pub const EXACT_COUNT: Leak =
    Leak { to: Learner::Receiver, what: "the number of common items, exactly", extra: Some(Extra::Count) };

/// Refuses an input that does not have as many items as agreed, or not `width` bytes for each.
fn check_input(what: &str, items: &[u128], bytes: &[u8], agreed_items: usize, width: usize) -> Result<(), Unsupported> {
    if items.len() == agreed_items && bytes.len() == agreed_items * width {
        return Ok(());
    }
    Err(Unsupported::new(
        format_args!("{what} has {} items with {} bytes in all", items.len(), bytes.len()),
        format_args!("give {agreed_items} items with {width} bytes each, as agreed"),
    ))
}

/// An error that names the first place where two lists differ.
fn differ<T: PartialEq + std::fmt::Debug>(what: &str, expected: &[T], got: &[T]) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let place = expected.iter().zip(got).take_while(|(e, g)| e == g).count();
    Err(format!(
        "{what} differ at {place}: expected {:?} of {}, got {:?} of {}",
        expected.get(place),
        expected.len(),
        got.get(place),
        got.len()
    ))
}
