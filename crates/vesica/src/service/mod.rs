//! Services on tables: [`start`] prepares a set that many clients ask about, and [`query`] asks such
//! a server about a small table. `vesica serve` and `vesica query` call these two.
//!
//! ```text
//! query (client)                                       serve (server)
//!                                                        table -> items under a salt -> prepared set (a file)
//!   TLS: each knows the other's key
//!   describe -------------------------------------------->
//!   <----- Description: key columns, salt, sizes, payload
//!   table -> items under this salt
//!   enrol, or join with what an earlier run left -------->    (party::service)
//!   a fixed number of items, again and again ------------>    quota, metrics, log
//!   rows that matched -> sink
//! ```
//!
//! A join tosses a salt that no side can choose. A set that is prepared once for all clients cannot
//! depend on such a toss, so the server draws the salt, and the [`Description`] says it.

mod description;
mod metrics;
mod prepared;
mod query;
mod quota;
mod roster;
mod serve;

pub use description::Description;
pub use query::{Enrolment, QueryConfig, QueryReport, query};
pub use quota::Quota;
pub use roster::Changes;
pub use serve::{Clients, Origin, Outcome, Reloaded, Serve, ServeConfig, ServeLog, Started, start};

use vesica_party::Entry;
use vesica_party::service::{Service, State};
use vesica_protocols::recurrent::oprf_pir::{self, OprfPir};
use vesica_protocols::recurrent::{self, rfc9497::OprfRfc9497};
use vesica_protocols::tasks::Intersect;
use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};

/// A service that a table can be served by: what either side has fits into a file.
trait TableService: Service<Task = Intersect, Server: State, Client: State> {
    /// Most queries of a client from one enrolment.
    const QUERIES_AN_ENROLMENT: u64;
}

impl TableService for OprfRfc9497 {
    const QUERIES_AN_ENROLMENT: u64 = recurrent::QUERIES_AN_ENROLMENT;
}

impl TableService for OprfPir {
    const QUERIES_AN_ENROLMENT: u64 = oprf_pir::QUERIES_AN_ENROLMENT;
}

/// What is done with whichever service is meant.
trait WithService {
    type Output;

    fn with<S: TableService>(self) -> Self::Output;
}

/// The services that tables can be served by, the default first.
const ENTRIES: [&Entry; 2] = [&OprfRfc9497::ENTRY, &OprfPir::ENTRY];

/// Does `what` with the service of this id or alias.
///
/// # Errors
/// If there is none.
fn with_service<W: WithService>(id: &str, what: W) -> Result<W::Output, Failure> {
    let found = ENTRIES.iter().position(|entry| entry.id == id || entry.aliases.contains(&id));
    match found {
        Some(0) => Ok(what.with::<OprfRfc9497>()),
        Some(1) => Ok(what.with::<OprfPir>()),
        _ => Err(Failure::new(
            code::MISMATCH,
            format_args!("no table is served by a protocol {:?}", crate::handshake::printable(id)),
            format_args!("name one of {}", ENTRIES.map(|entry| entry.id).join(", ")),
        )),
    }
}

fn randomness() -> Result<SecretRng, Failure> {
    SecretRng::from_os()
        .map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))
}

/// Fewest items of a set: smaller sets are filled up to it.
const LEAST_CAPACITY: u64 = 1 << 10;

/// The capacity of a set of `keys` keys where none is given: room for a 32nd more at least and a
/// sixth at most, in steps that hide the exact number.
fn capacity_for(keys: u64) -> u64 {
    let wanted = keys.saturating_add(keys / 32 + 1).max(LEAST_CAPACITY);
    let step = (wanted.checked_next_power_of_two().unwrap_or(1 << 63) / 16).max(1);
    wanted.div_ceil(step).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_hold_their_keys_and_waste_little() {
        for keys in [0, 1, 1023, 1024, 1025, 65_537, 1 << 20, (1 << 20) + 1, 10_000_000] {
            let capacity = capacity_for(keys);
            assert!(capacity > keys + keys / 32 && capacity >= LEAST_CAPACITY, "{keys}: {capacity}");
            assert!(capacity <= keys.max(LEAST_CAPACITY) * 7 / 6, "{keys}: {capacity}");
        }
    }
}
