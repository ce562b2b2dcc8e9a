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

mod choose;
mod description;
mod metrics;
mod prepared;
mod query;
mod quota;
mod roster;
mod serve;
mod slow_hash;
mod volume;

pub use choose::AUTO;
pub use description::Description;
pub use query::{Enrolment, QueryConfig, QueryReport, query};
pub use quota::Quota;
pub use roster::Changes;
pub use serve::{Clients, Origin, Outcome, Reloaded, Serve, ServeConfig, ServeLog, Started, start};
pub use slow_hash::SlowHash;

use vesica_party::service::{Service, State};
use vesica_party::{Entry, Extra};
use vesica_protocols::recurrent::cm25::{Cm25, FastIntersectionRepaired, FastSetupRepaired};
use vesica_protocols::recurrent::cm25_select::Cm25Select;
use vesica_protocols::recurrent::oprf_buckets::{self, OprfBuckets};
use vesica_protocols::recurrent::oprf_pir::{self, OprfPir};
use vesica_protocols::recurrent::{self, rfc9497::OprfRfc9497};
use vesica_protocols::tasks::{Intersect, IntersectRequest};
use vesica_protocols::unbalanced::clr17::Clr17;
use vesica_protocols::unbalanced::cmdg21::{self, Cmdg21};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};

/// A service that a table can be served by: what either side has fits into a file.
trait TableService: Service<Task = Intersect, Server: State, Client: State> {
    /// Most queries of a client from one enrolment.
    const QUERIES_AN_ENROLMENT: u64;

    /// The parameters for a request. `leak_prefix` is how many bits of a hash of each key the
    /// server may see.
    fn params(request: &IntersectRequest, leak_prefix: Option<u32>) -> Result<Self::Params, Unsupported> {
        if leak_prefix.is_some() {
            let id = Self::ENTRY.id;
            return Err(Unsupported::new(
                format_args!("--leak-prefix with {id}, which shows the server nothing of a key"),
                format_args!("omit --leak-prefix, or serve with --protocol {}", OprfBuckets::ENTRY.id),
            ));
        }
        Self::derive(request)
    }
}

impl TableService for OprfRfc9497 {
    const QUERIES_AN_ENROLMENT: u64 = recurrent::QUERIES_AN_ENROLMENT;
}

impl TableService for OprfPir {
    const QUERIES_AN_ENROLMENT: u64 = oprf_pir::QUERIES_AN_ENROLMENT;
}

impl TableService for Cmdg21 {
    const QUERIES_AN_ENROLMENT: u64 = cmdg21::QUERIES_AN_ENROLMENT;
}

impl TableService for OprfBuckets {
    const QUERIES_AN_ENROLMENT: u64 = recurrent::QUERIES_AN_ENROLMENT;

    fn params(request: &IntersectRequest, leak_prefix: Option<u32>) -> Result<Self::Params, Unsupported> {
        let bits = leak_prefix.ok_or_else(|| {
            Unsupported::new(
                format_args!(
                    "{} without a word on what it leaks: the server sees the first bits of a hash of each key that a \
                     client asks about",
                    Self::ENTRY.id
                ),
                format_args!(
                    "if that may be, say how many bits with --leak-prefix N (deployed password checkers: {}); or \
                     choose another protocol",
                    oprf_buckets::PREFIX_BITS
                ),
            )
        })?;
        oprf_buckets::Params::derive(request, bits)
    }
}

/// What a server sees beside the number of queries, in a sentence for both sides.
pub(super) fn leak_of_prefix(bits: u32) -> String {
    format!(
        "the server sees the first {bits} bits of a hash of each key that a client asks about: of the keys that it \
         thinks possible, about one in 2^{bits} remains, and it can see which queries may be about the same key. A server \
         with another salt sees as many bits again"
    )
}

/// Whether a protocol is run only by who names it, since it shows more than others.
fn must_be_named(entry: &Entry) -> bool {
    entry.modes.iter().flat_map(|mode| mode.extras()).any(|extra| extra == Extra::Prefix)
}

/// What is done with whichever service is meant.
trait WithService {
    type Output;

    fn with<S: TableService>(self) -> Self::Output;
}

/// The services that tables can be served by, the default first: those of which a client that does
/// not follow the protocol learns no more than its matches.
const ENTRIES: [&Entry; 4] = [&OprfRfc9497::ENTRY, &OprfPir::ENTRY, &Cmdg21::ENTRY, &OprfBuckets::ENTRY];

/// Does `what` with the service of this id or alias.
///
/// # Errors
/// If there is none.
fn with_service<W: WithService>(id: &str, what: W) -> Result<W::Output, Failure> {
    let found = ENTRIES.iter().position(|entry| entry.id == id || entry.aliases.contains(&id));
    match found {
        Some(0) => Ok(what.with::<OprfRfc9497>()),
        Some(1) => Ok(what.with::<OprfPir>()),
        Some(2) => Ok(what.with::<Cmdg21>()),
        Some(3) => Ok(what.with::<OprfBuckets>()),
        _ => Err(not_served(id)),
    }
}

/// Services that hold only against clients that follow the protocol.
const OF_TRUSTED_CLIENTS: [&Entry; 4] =
    [&Cm25Select::ENTRY, &Clr17::ENTRY, &Cm25::<FastSetupRepaired>::ENTRY, &Cm25::<FastIntersectionRepaired>::ENTRY];

/// Refuses a protocol that serves no tables, and says why where it is a service.
fn not_served(id: &str) -> Failure {
    let why = if OF_TRUSTED_CLIENTS.iter().any(|entry| entry.id == id || entry.aliases.contains(&id)) {
        ": a client that does not follow it may learn more than its matches"
    } else {
        ""
    };
    Failure::new(
        code::MISMATCH,
        format_args!("no table is served by a protocol {:?}{why}", crate::handshake::printable(id)),
        format_args!("name one of {}", ENTRIES.map(|entry| entry.id).join(", ")),
    )
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
    use vesica_party::Resistance;

    use super::*;

    struct Named;

    impl WithService for Named {
        type Output = &'static Entry;

        fn with<S: TableService>(self) -> Self::Output {
            &S::ENTRY
        }
    }

    #[test]
    fn each_entry_stands_for_its_own_service_and_withstands_its_clients() {
        for entry in ENTRIES {
            assert_eq!(with_service(entry.id, Named).expect("served").id, entry.id);
            assert!(entry.modes.iter().any(|mode| mode.corrupt_receiver == Resistance::Malicious), "{}", entry.id);
        }
    }

    #[test]
    fn a_prefix_is_agreed_where_it_leaks_and_refused_elsewhere() {
        struct Of(Option<u32>);

        impl WithService for Of {
            type Output = Result<(), Unsupported>;

            fn with<S: TableService>(self) -> Self::Output {
                let request = IntersectRequest {
                    sender_items: 1000,
                    receiver_items: 4,
                    security: vesica_party::Security::SemiHonest,
                    payload_bytes: 0,
                    both_learn: false,
                };
                S::params(&request, self.0).map(drop)
            }
        }

        for entry in ENTRIES {
            let with = |bits| with_service(entry.id, Of(bits)).expect("served");
            let (leaking, other) = if must_be_named(entry) { (Some(16), None) } else { (None, Some(16)) };
            with(leaking).expect("agreed");
            let refused = with(other).expect_err("not agreed");
            assert!(refused.to_string().contains("--leak-prefix"), "{refused}");
        }
        assert_eq!(ENTRIES.into_iter().filter(|entry| must_be_named(entry)).count(), 1);
    }

    #[test]
    fn protocols_that_trust_their_clients_are_refused_for_that() {
        for Entry { id, modes, .. } in OF_TRUSTED_CLIENTS {
            assert!(modes.iter().all(|mode| mode.corrupt_receiver == Resistance::SemiHonest), "{id}");
            let refusal = with_service(id, Named).expect_err("trusts its clients");
            assert!(refusal.fault.contains("does not follow it"), "{refusal}");
        }
        assert!(!with_service("no-such", Named).expect_err("unknown").fault.contains("follow"));
    }

    #[test]
    fn capacities_hold_their_keys_and_waste_little() {
        for keys in [0, 1, 1023, 1024, 1025, 65_537, 1 << 20, (1 << 20) + 1, 10_000_000] {
            let capacity = capacity_for(keys);
            assert!(capacity > keys + keys / 32 && capacity >= LEAST_CAPACITY, "{keys}: {capacity}");
            assert!(capacity <= keys.max(LEAST_CAPACITY) * 7 / 6, "{keys}: {capacity}");
        }
    }
}
