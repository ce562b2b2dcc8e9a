//! The set tasks: what a protocol of each registry must compute, as predicates over both sides.

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
