//! Recurrent protocols: a server prepares a large set once, and clients ask about small sets, again
//! and again. One folder a paper. Each is a [`Service`](vesica_party::service::Service), and its
//! [`OneShot`](vesica_party::service::OneShot) is the row of a registry.

pub mod cm25;
pub mod cm25_select;
mod filter;
mod items;
pub mod oprf_pir;
pub mod ra17;
pub mod rfc9497;
mod sizes;
#[cfg(test)]
mod testing;

use vesica_party::service::{StateError, StateReader};

pub use sizes::{QUERIES_AN_ENROLMENT, Sizes};

/// The parameters in a state of either side, which `from_words` checks.
fn read_params<P, const N: usize>(
    bytes: &mut StateReader<'_>,
    from_words: impl FnOnce([u64; N]) -> Option<P>,
) -> Result<P, StateError> {
    let words: Vec<u64> = bytes.elements(N)?;
    let params = words.try_into().ok().and_then(from_words);
    params.ok_or(StateError::Damaged("its parameters are not those of any request"))
}
