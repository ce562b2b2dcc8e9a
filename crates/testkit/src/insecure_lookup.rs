//! A toy service, to show that what is written for protocols and services holds for any of them.

use std::collections::BTreeSet;
use std::io;
use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use vesica_party::service::{
    Client, ClientIdentity, Query, Server, Service, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{
    Abort, Channel, CostClass, Entry, Malformed, Message, Mode, Reader, Resistance, Role, Rounds, Security, Status,
    Step, Task, Writer, assume,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// Membership of the client's items in the server's set.
pub struct Lookup;

impl Task for Lookup {
    const NAME: &'static str = "toy-lookup";
    /// How many items each query has.
    type Request = usize;
    type SenderInput = Vec<u64>;
    type ReceiverInput = Vec<u64>;
    type SenderOutput = ();
    /// For each item, whether it is in the set.
    type ReceiverOutput = Vec<bool>;

    fn holds(set: &Vec<u64>, asked: &Vec<u64>, _: &(), found: &Vec<bool>) -> Result<(), String> {
        let truth: Vec<bool> = asked.iter().map(|item| set.contains(item)).collect();
        if *found == truth { Ok(()) } else { Err(format!("{found:?}, and not {truth:?}")) }
    }
}

/// INSECURE: clients ask in clear, and the server answers in clear. For tests only.
pub struct InsecureLookup;

/// The item at which the toy's server panics, to show that nobody else is harmed.
pub const PANICS_AT: u64 = u64::MAX;

/// The item for which the toy's server takes [`LONG`].
pub const LASTS_AT: u64 = u64::MAX - 1;

/// The time that [`LASTS_AT`] takes.
pub const LONG: Duration = Duration::from_millis(1500);

impl Service for InsecureLookup {
    const ENTRY: Entry = Entry {
        id: "insecure-lookup",
        aliases: &[],
        variants: &[],
        task: Lookup::NAME,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        paper: Paper { key: "none", title: "none", reference: "a toy for tests" },
        status: Status::Broken { how: "Every query is sent in clear, and so is its answer.", false_match_bits: None },
        deviations: &[],
        modes: &[Mode {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::None,
            corrupt_receiver: Resistance::None,
            rounds: Rounds::exactly(3),
            assumptions: assume!["none"],
            leakage: &[],
        }],
    };
    type Task = Lookup;
    type Params = usize;
    type Server = LookupServer;
    type Client = LookupClient;

    fn derive(items: &usize) -> Result<usize, Unsupported> {
        match *items {
            0 => Err(Unsupported::new("a query without items", "ask for at least one")),
            items => Ok(items),
        }
    }

    fn terms(items: &usize) -> Vec<u8> {
        items.to_le_bytes().to_vec()
    }

    fn enrolment_bytes(_: &usize) -> RangeInclusive<u64> {
        8..=8
    }

    fn query_bytes(items: &usize) -> RangeInclusive<u64> {
        let items = *items as u64;
        8 * items + 8 + items..=8 * items + 8 + items
    }
}

vesica_party::arrows! { "insecure-lookup" =>
    /// (1) The size of the set.
    fixed SetSize(u64) = 1, Sender, "the size of the set";
    /// (2) The items.
    counted Items[u64] = 2, Receiver, "items";
}

/// (3) The query's number, and a byte for each item.
struct Found(u64, Vec<bool>);

impl Message for Found {
    const STEP: Step =
        Step { protocol: "insecure-lookup", number: 3, from: Role::Sender, carries: "which items are in the set" };
    type Shape = usize;

    fn len(items: &usize) -> RangeInclusive<usize> {
        8 + items..=8 + items
    }

    fn write(&self, out: &mut Writer) {
        out.u64(self.0);
        self.1.iter().for_each(|found| out.bytes(&[u8::from(*found)]));
    }

    fn read(bytes: &mut Reader<'_>, items: usize) -> Result<Self, Malformed> {
        let number = bytes.u64()?;
        let found = bytes.bytes(items)?.iter().map(|byte| match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a byte that is neither 0 nor 1")),
        });
        Ok(Self(number, found.collect::<Result<_, _>>()?))
    }
}

/// The toy's server: a sorted set.
pub struct LookupServer {
    id: StateId,
    items_per_query: usize,
    set: Secret<Vec<u64>>,
}

impl LookupServer {
    /// The set, sorted.
    pub fn set(&self) -> &[u64] {
        &self.set
    }
}

impl Server for LookupServer {
    type Params = usize;
    type Set = Vec<u64>;
    /// Whether the client has shown its key.
    type Session = bool;
    type Output = ();

    fn prepare(items: &usize, set: Vec<u64>, rng: &mut SecretRng) -> Result<Self, Abort> {
        let set: BTreeSet<u64> = set.into_iter().collect();
        Ok(Self { id: StateId::random(rng), items_per_query: *items, set: Secret::new(set.into_iter().collect()) })
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &usize {
        &self.items_per_query
    }

    fn admit(
        &self,
        client: &ClientIdentity,
        standing: Standing,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<bool, Abort> {
        if standing != Standing::Current {
            ch.send(&SetSize(self.set.len() as u64))?;
        }
        Ok(matches!(client, ClientIdentity::Key(_)))
    }

    fn answer(&self, known: &mut bool, query: Query, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        if *known != (query.client != ClientIdentity::Anonymous) {
            return Err(Abort::PeerMisbehaved(Items::STEP, "another client's session"));
        }
        let Items(asked) = ch.recv(self.items_per_query)?;
        assert!(!asked.contains(&PANICS_AT), "a mistake in the server's code");
        if asked.contains(&LASTS_AT) {
            thread::sleep(LONG);
        }
        let found = asked.iter().map(|item| self.set.binary_search(item).is_ok()).collect();
        ch.send(&Found(query.number, found))
    }
}

impl State for LookupServer {
    const FORMAT: &'static str = "insecure-lookup server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.u64(self.items_per_query as u64)?;
        out.u64(self.set.len() as u64)?;
        out.elements(self.set())
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let items_per_query = bytes.count()?;
        let count = bytes.count()?;
        let set = Secret::new(bytes.elements::<u64>(count)?);
        if !set.is_sorted_by(|a, b| a < b) {
            return Err(StateError::Damaged("the set is not sorted"));
        }
        Ok(Self { id, items_per_query, set })
    }
}

/// The toy's client: how large the server's set was when it enrolled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupClient {
    /// The size of the server's set.
    pub set_size: u64,
    items_per_query: usize,
}

impl Client for LookupClient {
    type Params = usize;
    type Query = Vec<u64>;
    type Output = Vec<bool>;

    fn enrol(items: &usize, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        let SetSize(set_size) = ch.recv(())?;
        Ok(Self { set_size, items_per_query: *items })
    }

    fn params(&self) -> &usize {
        &self.items_per_query
    }

    fn check(&self, asked: &Vec<u64>) -> Result<(), Abort> {
        if asked.len() == self.items_per_query {
            return Ok(());
        }
        Err(Unsupported::new("a query of another size", "ask for as many items as agreed").into())
    }

    fn query(&mut self, number: u64, asked: Vec<u64>, ch: &mut Channel, _: &mut SecretRng) -> Result<Vec<bool>, Abort> {
        ch.send(&Items(asked))?;
        let Found(answered, found) = ch.recv(self.items_per_query)?;
        if answered != number {
            return Err(Abort::PeerMisbehaved(Found::STEP, "the answer to another query"));
        }
        Ok(found)
    }
}

impl State for LookupClient {
    const FORMAT: &'static str = "insecure-lookup client 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.u64(self.set_size)?;
        out.u64(self.items_per_query as u64)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Self { set_size: bytes.u64()?, items_per_query: bytes.count()? })
    }
}
