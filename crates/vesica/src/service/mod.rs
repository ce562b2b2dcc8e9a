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

mod account;
mod answers;
mod choose;
mod description;
pub(crate) mod metrics;
mod periods;
mod preparation;
mod prepared;
mod query;
mod quota;
mod roster;
mod serve;
mod set;
mod slow_hash;
mod volume;

pub use choose::AUTO;
pub use description::Description;
pub use query::{Enrolment, QueryConfig, QueryReport, query};
pub use quota::Quota;
pub use roster::Changes;
pub use serve::{Clients, Origin, Outcome, Reloaded, Serve, ServeConfig, ServeLog, Started, start};
pub use slow_hash::SlowHash;

use vesica_party::service::{Server as _, Service, State};
use vesica_party::{Abort, Entry, Extra, Resistance, Security};
use vesica_protocols::recurrent::cm25_select::{self, Cm25Select};
use vesica_protocols::recurrent::kept::{Keeper, Kept};
use vesica_protocols::recurrent::oprf_buckets::{self, OprfBuckets};
use vesica_protocols::recurrent::oprf_pir::{self, OprfPir};
use vesica_protocols::recurrent::{self, rfc9497::OprfRfc9497};
use vesica_protocols::tasks::{Intersect, IntersectRequest, IntersectSenderInput};
use vesica_protocols::unbalanced::cmdg21::{self, Cmdg21};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};
use crate::key::KeySpec;
use crate::plan::post_quantum::falls;
use crate::session::randomness;

/// A service that a table can be served by: what either side has fits into a file.
trait TableService: Service<Task = Intersect, Server: State, Client: State> {
    /// Most queries of a client from one enrolment.
    fn queries_an_enrolment(items_per_query: u64) -> u64;

    /// Whether a set is prepared with fewer items than it has room for. Otherwise dummies fill it up.
    const LEAVES_ROOM: bool = false;

    /// Whether a client has so many queries left of its enrolment.
    fn has_left(_: &Self::Client, _queries: u64) -> bool {
        true
    }

    /// Most items that a prepared set answers for all clients together, where that is bounded.
    const ITEMS_OF_A_SET: Option<u64> = None;

    /// Has the server count at least so many items as answered by its set.
    fn raise_answered(_: &Self::Server, _items: u64) {}

    /// [`prepare`](vesica_party::service::Server::prepare), which takes what an earlier attempt has kept, where the
    /// service keeps anything.
    fn prepare_kept(
        params: &Self::Params,
        set: IntersectSenderInput,
        _kept: Kept<'_>,
        rng: &mut SecretRng,
    ) -> Result<Self::Server, Abort> {
        Self::Server::prepare(params, set, rng)
    }

    /// [`update`](vesica_party::service::Server::update), likewise.
    fn update_kept(
        server: &Self::Server,
        [removed, added]: [IntersectSenderInput; 2],
        _keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self::Server>, Abort> {
        server.update(removed, added, rng)
    }

    /// [`renew`](vesica_party::service::Server::renew), likewise.
    fn renew_kept(
        server: &Self::Server,
        set: IntersectSenderInput,
        _keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self::Server>, Abort> {
        server.renew(set, rng)
    }

    /// The parameters for a request.
    fn params(request: &IntersectRequest, agreed: ServiceOptions) -> Result<Self::Params, Unsupported> {
        refuse_leak_prefix(&Self::ENTRY, agreed)?;
        refuse_integers(&Self::ENTRY, agreed)?;
        Self::derive(request)
    }
}

/// What both sides agree on beside sizes and security.
#[derive(Clone, Copy, Debug, Default)]
struct ServiceOptions {
    /// How many bits of a hash of each key the server may see.
    leak_prefix: Option<u32>,
    /// Width of the keys, where they are integers and are compared as such.
    integer_bits: Option<u32>,
}

/// Refuses a key with alternatives: a query has one item for each key, and a description one key.
fn refuse_alternatives(key: &KeySpec) -> Result<(), Failure> {
    if key.has_alternatives() {
        let fault = "a service compares one key of each row, and this key has alternatives";
        return Err(Failure::new(code::USAGE, fault, "declare a key without alternatives"));
    }
    Ok(())
}

fn refuse_leak_prefix(entry: &Entry, agreed: ServiceOptions) -> Result<(), Unsupported> {
    if agreed.leak_prefix.is_none() {
        return Ok(());
    }
    Err(Unsupported::new(
        format_args!("--leak-prefix with {}, which shows the server nothing of a key", entry.id),
        format_args!("omit --leak-prefix, or serve with --protocol {}", OprfBuckets::ENTRY.id),
    ))
}

fn refuse_integers(entry: &Entry, agreed: ServiceOptions) -> Result<(), Unsupported> {
    if agreed.integer_bits.is_none() {
        return Ok(());
    }
    Err(Unsupported::new(
        format_args!("--integer-bits with {}, which compares digests of keys of any kind", entry.id),
        format_args!("omit --integer-bits, or serve with --protocol {}", Cm25Select::ENTRY.id),
    ))
}

impl TableService for OprfRfc9497 {
    fn prepare_kept(
        params: &Self::Params,
        set: IntersectSenderInput,
        kept: Kept<'_>,
        rng: &mut SecretRng,
    ) -> Result<Self::Server, Abort> {
        Self::Server::prepare_kept(params, &set, kept, rng)
    }

    fn update_kept(
        server: &Self::Server,
        [removed, added]: [IntersectSenderInput; 2],
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self::Server>, Abort> {
        server.update_kept(&removed, &added, keeper, rng)
    }

    fn renew_kept(
        server: &Self::Server,
        set: IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Option<Self::Server>, Abort> {
        server.renew_kept(&set, keeper, rng)
    }

    fn queries_an_enrolment(_: u64) -> u64 {
        recurrent::QUERIES_AN_ENROLMENT
    }
}

impl TableService for OprfPir {
    fn prepare_kept(
        params: &Self::Params,
        set: IntersectSenderInput,
        kept: Kept<'_>,
        _: &mut SecretRng,
    ) -> Result<Self::Server, Abort> {
        Self::Server::prepare_kept(params, &set, kept)
    }

    fn queries_an_enrolment(_: u64) -> u64 {
        oprf_pir::QUERIES_AN_ENROLMENT
    }
}

impl TableService for Cmdg21 {
    fn prepare_kept(
        params: &Self::Params,
        set: IntersectSenderInput,
        kept: Kept<'_>,
        _: &mut SecretRng,
    ) -> Result<Self::Server, Abort> {
        Self::Server::prepare_kept(params, &set, kept)
    }

    fn queries_an_enrolment(_: u64) -> u64 {
        cmdg21::QUERIES_AN_ENROLMENT
    }
}

impl TableService for Cm25Select {
    fn queries_an_enrolment(items_per_query: u64) -> u64 {
        cm25_select::ITEMS_AN_ENROLMENT / items_per_query.max(1)
    }

    fn has_left(client: &cm25_select::Client, queries: u64) -> bool {
        client.has_left(queries)
    }

    /// A dummy among integers would be a key that somebody may ask about.
    const LEAVES_ROOM: bool = true;

    const ITEMS_OF_A_SET: Option<u64> = Some(cm25_select::ITEMS_OF_A_SET);

    fn raise_answered(server: &cm25_select::Server, items: u64) {
        server.raise_answered(items);
    }

    fn params(request: &IntersectRequest, agreed: ServiceOptions) -> Result<Self::Params, Unsupported> {
        refuse_leak_prefix(&Self::ENTRY, agreed)?;
        match agreed.integer_bits {
            Some(bits) => cm25_select::Params::derive_for_integers(request, bits),
            None => cm25_select::Params::derive(request),
        }
    }
}

impl TableService for OprfBuckets {
    fn prepare_kept(
        params: &Self::Params,
        set: IntersectSenderInput,
        kept: Kept<'_>,
        _: &mut SecretRng,
    ) -> Result<Self::Server, Abort> {
        Self::Server::prepare_kept(params, &set, kept)
    }

    fn queries_an_enrolment(_: u64) -> u64 {
        recurrent::QUERIES_AN_ENROLMENT
    }

    fn params(request: &IntersectRequest, agreed: ServiceOptions) -> Result<Self::Params, Unsupported> {
        refuse_integers(&Self::ENTRY, agreed)?;
        let bits = agreed.leak_prefix.ok_or_else(|| {
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

/// What a side trusts the other one with in a service that holds only where both follow it: to the
/// server and its clients, a sentence each.
pub(super) fn trust_in_clients(id: &str) -> String {
    format!(
        "a client that does not follow {id} can read the whole set: --trust-clients says that you trust every client that \
         may ask, and whoever gets hold of its key, not to"
    )
}

pub(super) fn trust_in_server(id: &str) -> String {
    format!(
        "a server that does not follow {id} can find out what you ask about, and decides what matches: with \
         --trust-server, you trust this one to follow it. It trusts you likewise"
    )
}

/// Whether a service holds only against clients that follow it.
fn trusts_clients(entry: &Entry) -> bool {
    entry.modes.iter().all(|mode| mode.corrupt_receiver < Resistance::Malicious)
}

/// The services that tables can be served by, the default first: those of which a client that does
/// not follow the protocol learns no more than its matches.
const ENTRIES: [&Entry; 4] = [&OprfRfc9497::ENTRY, &OprfPir::ENTRY, &Cmdg21::ENTRY, &OprfBuckets::ENTRY];

/// The services that tables can be served by where clients are trusted to follow the protocol.
const TRUSTING: [&Entry; 1] = [&Cm25Select::ENTRY];

/// All services that tables can be served by.
fn served() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.into_iter().chain(TRUSTING)
}

/// Does `what` with the service of this id or alias.
///
/// # Errors
/// If there is none.
fn with_service<W: WithService>(id: &str, what: W) -> Result<W::Output, Failure> {
    match served().find(|entry| is_named(entry, id)).map(|entry| entry.id) {
        Some(id) if id == OprfRfc9497::ENTRY.id => Ok(what.with::<OprfRfc9497>()),
        Some(id) if id == OprfPir::ENTRY.id => Ok(what.with::<OprfPir>()),
        Some(id) if id == Cmdg21::ENTRY.id => Ok(what.with::<Cmdg21>()),
        Some(id) if id == OprfBuckets::ENTRY.id => Ok(what.with::<OprfBuckets>()),
        Some(id) if id == Cm25Select::ENTRY.id => Ok(what.with::<Cm25Select>()),
        _ => Err(not_served(id)),
    }
}

fn is_named(entry: &Entry, id: &str) -> bool {
    entry.id == id || entry.aliases.contains(&id)
}

/// The id of the service of this id or alias, if a server may offer it.
///
/// # Errors
/// If there is none, or if it holds only against clients that follow it, and they are not trusted
/// to.
fn offered(id: &str, trusts: bool) -> Result<&'static str, Failure> {
    let Some(entry) = served().find(|entry| is_named(entry, id)) else { return Err(not_served(id)) };
    match (trusts_clients(entry), trusts) {
        (true, false) => Err(Failure::new(
            code::MISMATCH,
            format_args!(
                "{}: a client that does not follow it can read the whole set, and nothing says that clients are \
                 trusted",
                entry.id
            ),
            format_args!(
                "if you trust each client to follow the protocol, say --trust-clients; otherwise name one of {}",
                ENTRIES.map(|entry| entry.id).join(", ")
            ),
        )),
        (false, true) => Err(Failure::new(
            code::USAGE,
            format_args!("--trust-clients with {}, which holds against clients that do anything", entry.id),
            "omit --trust-clients",
        )),
        _ => Ok(entry.id),
    }
}

/// Refuses a protocol that falls to a quantum computer.
///
/// # Errors
/// If it does, or serves no tables.
fn require_post_quantum(id: &str, security: Security) -> Result<(), Failure> {
    let Some(entry) = served().find(|entry| is_named(entry, id)) else { return Err(not_served(id)) };
    let lasts = |entry: &Entry| entry.modes.iter().all(|mode| mode.falls_to_quantum().is_none());
    // Of a mode that the protocol lacks nothing is known.
    if entry.mode(security).is_some_and(|mode| mode.falls_to_quantum().is_none()) {
        return Ok(());
    }
    let others: Vec<&str> = served().filter(|entry| lasts(entry)).map(|entry| entry.id).collect();
    Err(Failure::new(
        code::REFUSED,
        falls(entry, security),
        format_args!(
            "have the table served with --protocol {}, or omit --post-quantum; docs/service.md says what that protocol asks \
             of either side",
            others.join(" or ")
        ),
    ))
}

/// Refuses a protocol that serves no tables.
fn not_served(id: &str) -> Failure {
    let named = format!("name one of {}", served().map(|entry| entry.id).collect::<Vec<_>>().join(", "));
    Failure::new(
        code::MISMATCH,
        format_args!("no table is served by a protocol {:?}", crate::handshake::printable(id)),
        named,
    )
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

    struct Named;

    impl WithService for Named {
        type Output = &'static Entry;

        fn with<S: TableService>(self) -> Self::Output {
            &S::ENTRY
        }
    }

    /// `auto` therefore refuses `--post-quantum`: each row that it takes has an OPRF from a group.
    #[test]
    fn services_that_fall_to_a_quantum_computer_are_refused_for_what_they_assume() {
        for entry in ENTRIES {
            for mode in entry.modes {
                let refused = require_post_quantum(entry.id, mode.security).expect_err(entry.id);
                assert!(refused.fault.contains("Diffie-Hellman") && refused.mend.contains("cm25-select"), "{refused}");
            }
        }
        require_post_quantum("cm25-select", Security::SemiHonest).expect("it lasts");
        require_post_quantum("no-such", Security::SemiHonest).expect_err("it is none");
    }

    #[test]
    fn each_entry_stands_for_its_own_service_and_withstands_its_clients() {
        for entry in ENTRIES {
            assert_eq!(with_service(entry.id, Named).expect("served").id, entry.id);
            assert!(!trusts_clients(entry), "{}", entry.id);
            assert_eq!(offered(entry.id, false).expect("offered"), entry.id);
            let refusal = offered(entry.id, true).expect_err("needs no trust");
            assert!(refusal.code == code::USAGE && refusal.fault.contains("--trust-clients"), "{refusal}");
        }
    }

    #[test]
    fn what_trusts_its_clients_is_offered_only_where_they_are_trusted() {
        for entry in TRUSTING {
            assert_eq!(with_service(entry.id, Named).expect("served").id, entry.id);
            assert!(trusts_clients(entry), "{}", entry.id);
            assert_eq!(offered(entry.id, true).expect("offered"), entry.id);
            let refusal = offered(entry.id, false).expect_err("not trusted");
            assert!(refusal.code == code::MISMATCH && refusal.mend.contains("--trust-clients"), "{refusal}");
        }
    }

    #[test]
    fn a_prefix_is_agreed_where_it_leaks_and_refused_elsewhere() {
        struct Of(ServiceOptions);

        impl WithService for Of {
            type Output = Result<(), Unsupported>;

            fn with<S: TableService>(self) -> Self::Output {
                let request = IntersectRequest {
                    sender_items: 1000,
                    receiver_items: 4,
                    security: vesica_party::Security::SemiHonest,
                    payload_bytes: 0,
                    both_learn: false,
                    runs: 1,
                };
                S::params(&request, self.0).map(drop)
            }
        }

        for entry in served() {
            let with = |agreed| with_service(entry.id, Of(agreed)).expect("served");
            let (leaking, other) = if must_be_named(entry) { (Some(16), None) } else { (None, Some(16)) };
            let leak = |leak_prefix| ServiceOptions { leak_prefix, integer_bits: None };
            with(leak(leaking)).expect("agreed");
            let refused = with(leak(other)).expect_err("not agreed");
            assert!(refused.to_string().contains("--leak-prefix"), "{refused}");
            let integers = with(ServiceOptions { integer_bits: Some(33), ..leak(leaking) });
            match integers {
                Ok(()) => assert_eq!(entry.id, "cm25-select"),
                Err(refused) => assert!(refused.to_string().contains("--integer-bits"), "{refused}"),
            }
            with(ServiceOptions { integer_bits: Some(65), ..leak(leaking) }).expect_err("too wide");
        }
        assert_eq!(served().filter(|entry| must_be_named(entry)).count(), 1);
    }

    #[test]
    fn what_serves_no_tables_is_refused_with_what_does() {
        let refusal = with_service("no-such", Named).expect_err("unknown");
        assert!(served().all(|entry| refusal.mend.contains(entry.id)), "{refusal}");
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
