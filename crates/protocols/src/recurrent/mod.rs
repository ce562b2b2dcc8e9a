//! Recurrent protocols: a server prepares a large set once, and clients ask about small sets, again
//! and again. One folder a paper. Each is a [`Service`](vesica_party::service::Service), and its
//! [`OneShot`](vesica_party::service::OneShot) is the row of a registry.

mod buckets;
pub mod cm25_select;
mod delta;
pub mod filter;
pub mod items;
pub mod kept;
pub mod oprf;
pub mod oprf_buckets;
pub mod oprf_pir;
pub mod rfc9497;
pub mod scramble;
pub mod sizes;
#[cfg(test)]
pub(crate) mod testing;

use vesica_party::service::{StateError, StateReader};

pub use sizes::{QUERIES_AN_ENROLMENT, Sizes, check_items_asked, count_answered, matches_of};

/// About how many bytes of answers may wait until the client reads them: less than a channel takes of
/// a side that does not wait, so that neither side waits for the other to read.
pub const ANSWER_BYTES_IN_FLIGHT: usize = 4 << 20;

/// The parameters in a state of either side, which `from_words` checks.
pub fn read_params<P, const N: usize>(
    bytes: &mut StateReader<'_>,
    from_words: impl FnOnce([u64; N]) -> Option<P>,
) -> Result<P, StateError> {
    let words: Vec<u64> = bytes.elements(N)?;
    let params = words.try_into().ok().and_then(from_words);
    params.ok_or(StateError::Damaged("its parameters are not those of any request"))
}
