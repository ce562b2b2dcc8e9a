//! The set tasks: ideal functionalities, as predicates over both sides' inputs and outputs.

use vesica_party::{Extra, Leak, Learner};

mod aggregate;
mod intersect;
mod sealed;
mod shares;

pub use aggregate::{AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Cardinality, JoinAndCompute, Sum};
pub use intersect::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput, IntersectSenderOutput,
};
pub use sealed::SealedPayloads;
pub use shares::{ReceiverShares, SenderShares, Shares, SharesInput, SharesRequest};

/// What every protocol of every set task shows to both sides.
pub const SIZES: Leak = Leak { to: Learner::Both, what: "the number of distinct items of the other side (see --pad-to)", extra: None };

/// What protocols show in which the receiver counts the common items by itself, beside a task that hides their number.
pub const EXACT_COUNT: Leak = Leak { to: Learner::Receiver, what: "the number of common items, exactly", extra: Some(Extra::Count) };

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
