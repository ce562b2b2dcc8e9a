//! A server in the background, and clients for it.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::service::{
    ClientIdentity, Conversation, Offer, Published, Query, ServeEvents, ServeLimits, Server, ServiceClient, Standing,
    StateId, Stop, serve,
};
use vesica_party::transport::acceptor::{Acceptor, PlaintextAcceptor, in_memory};
use vesica_party::transport::{Connection, tcp};
use vesica_party::{Abort, Channel, Role};
use vesica_structures::rng::SecretRng;
use vesica_testkit::insecure_lookup::{InsecureLookup, LookupServer};
use vesica_testkit::options;

/// Items of each query.
pub const ITEMS: usize = 3;

/// A client of the toy.
pub type Toy = ServiceClient<InsecureLookup>;

pub fn limits() -> ServeLimits {
    ServeLimits { channel: options(), stopping: Duration::from_secs(5), ..ServeLimits::default() }
}

pub fn prepared(set: &[u64]) -> LookupServer {
    LookupServer::prepare(&ITEMS, set.to_vec(), &mut SecretRng::from_os().expect("randomness")).expect("prepared")
}

/// What the server says of itself.
pub const DESCRIPTION: &[u8] = b"an insecure toy";

pub fn offer(state: &Published<LookupServer>) -> Offer<'_, InsecureLookup> {
    Offer { state, params: &ITEMS, description: DESCRIPTION }
}

/// What a server told.
#[derive(Default)]
pub struct Told {
    pub joined: Mutex<Vec<(ClientIdentity, StateId)>>,
    pub answered: Mutex<Vec<Query>>,
    pub failures: Mutex<Vec<(bool, String)>>,
    /// The clients of these.
    pub failed: Mutex<Vec<Option<ClientIdentity>>>,
}

/// Queries of one connection that are answered before one is refused.
pub const PERMITTED: u64 = 1000;

/// A state of which nobody may join another one.
pub fn unwelcome() -> StateId {
    StateId::from_bytes([7; 16]).expect("not zero")
}

impl ServeEvents for Told {
    fn permit_join(&self, _: &ClientIdentity, standing: Standing) -> Result<(), Abort> {
        match standing == Standing::Outdated(unwelcome()) {
            false => Ok(()),
            true => Err(Abort::Local { code: 11, fault: "it enrolled too often".into(), mend: "ask less".into() }),
        }
    }

    fn permit(&self, query: &Query, _: StateId) -> Result<(), Abort> {
        match query.number < PERMITTED {
            true => Ok(()),
            false => Err(Abort::Local { code: 11, fault: "it asked too often".into(), mend: "ask less".into() }),
        }
    }

    fn joined(&self, client: &ClientIdentity, state: StateId) {
        self.joined.lock().unwrap().push((*client, state));
    }

    fn answered(&self, query: &Query, _: Duration) {
        self.answered.lock().unwrap().push(*query);
    }

    fn ended(&self, conversation: Option<&Conversation>, _: &str, outcome: &Result<(), Abort>) {
        let client = conversation.map(|conversation| conversation.client);
        if let Err(failure) = outcome {
            self.failures.lock().unwrap().push((client.is_some(), failure.to_string()));
            self.failed.lock().unwrap().push(client);
        }
    }
}

/// Runs `clients` beside a server, stops it, and gives what both came to. The server must be gone
/// within seconds.
pub fn with_server<T>(
    acceptor: &dyn Acceptor,
    state: &Published<LookupServer>,
    limits: &ServeLimits,
    clients: impl FnOnce(&Told) -> T,
) -> (T, Told) {
    let (stop, told) = (Stop::new(), Told::default());
    let result = thread::scope(|scope| {
        let stopper = StopAtEnd(stop.clone());
        scope.spawn(|| serve(acceptor, &offer(state), limits, &told, &stop));
        let result = clients(&told);
        drop(stopper);
        result
    });
    (result, told)
}

/// Stops the server after a failed assertion, too, so that the test ends.
struct StopAtEnd(Stop);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Time for a client to connect.
pub const WAIT: Duration = Duration::from_secs(10);

/// Runs a test over memory, where each client has a thread of the server, and over TCP, where none
/// has one while it is idle.
pub fn over_both(test: impl Fn(&dyn Acceptor, &(dyn Fn() -> Connection + Sync))) {
    let (acceptor, connector) = in_memory(64);
    test(&acceptor, &|| connector.connect().expect("room"));
    let (listener, address) = listen();
    test(&PlaintextAcceptor(listener), &|| plain(&address));
}

pub fn listen() -> (tcp::Listener, String) {
    let listener = tcp::listen("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    (listener, address)
}

pub fn plain(address: &str) -> Connection {
    tcp::connection(tcp::connect(address, WAIT).expect("connected")).expect("tuned")
}

pub fn rng() -> SecretRng {
    SecretRng::from_os().expect("randomness")
}

pub fn channel(connection: Connection) -> Channel {
    Channel::open(connection, Role::Receiver, options()).expect("threads")
}

pub fn enrol(connection: Connection) -> Toy {
    Toy::enrol(channel(connection), ITEMS, rng()).expect("enrolled")
}

/// Waits until `done`, for at most 10 seconds.
#[track_caller]
pub fn wait_until(done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < end, "it did not happen within 10 s");
        thread::sleep(Duration::from_millis(5));
    }
}
