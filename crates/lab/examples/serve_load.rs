//! A `vesica serve` under load: how long it takes to start, what many idle clients cost, queries a
//! second and their latency, and a change of 1,000 rows. One JSON object a line on standard output.
//!
//! ```text
//! cargo run --release -p vesica-lab --example serve_load -- target/release/vesica rows=1048576 \
//!     connections=32 seconds=10 idle=2000
//! ```
//!
//! The server is a process of its own; its clients are threads of this one, and take more processor
//! time than the server for the same queries. Where both share the cores, the figures are those of
//! both together: give the server cores of its own with `server_cores=0,1`, and run this under
//! `taskset` on others. `replay=64` makes the clients of `full` and `half` cheaper: each sends what
//! it was last answered as its next elements, blinds nothing and looks at no proof, but for one query
//! in 64, which it asks as a client does. To the server they are the same.
//!
//! The server's log of runs is `run_log=runs.log`, in a folder of its own, or none.
//!
//! Phases: `start`, `restart` (with the state file), `idle` (resident memory of the server before
//! and with clients that have joined and ask nothing), `short` (each query on a connection of its
//! own), `full` (each connection asks as soon as it has its answer), `half` (at half of that rate;
//! latency counts from the time at which a query was due), and `delta`.

use std::cell::Cell;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::TcpStream;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vesica::protocols::recurrent::rfc9497::{Client, OprfRfc9497, Params, Server};
use vesica::protocols::tasks::{Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest};
use vesica_party::service::{self, Client as _, Enrolled, Service, ServiceClient, describe, read_state, write_state};
use vesica_party::transport::tls::{self, Identity, PublicKey};
use vesica_party::{Abort, Channel, ChannelOptions, Entry, Role, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

type Anything<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Asker = ServiceClient<OprfRfc9497>;

/// Items of each query.
const ITEMS: usize = 4;
/// Rows that are added for the phase `delta`.
const CHANGED_ROWS: usize = 1000;

fn main() -> Anything<()> {
    let mut arguments = std::env::args().skip(1);
    let vesica = arguments.next().ok_or("name the program `vesica` first")?;
    let options: Vec<(String, String)> =
        arguments.filter_map(|argument| argument.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()))).collect();
    let text = |name: &str| options.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
    let number = |name: &str, default: usize| text(name).map_or(Ok(default), |value| value.parse::<usize>());
    let rows = number("rows", 1 << 20)?;
    let run = Run {
        vesica: fs::canonicalize(vesica)?,
        folder: std::env::temp_dir().join(format!("vesica-serve-load-{}", std::process::id())),
        server_cores: text("server_cores"),
        run_log: text("run_log"),
        security: text("security").unwrap_or_else(|| "malicious".into()),
        capacity: rows + 2 * CHANGED_ROWS,
        connections: number("connections", 32)?.max(1),
        seconds: number("seconds", 10)? as u64,
        idle: number("idle", 2000)?,
        replay: number("replay", 0)? as u64,
    };
    fs::create_dir_all(&run.folder)?;
    let outcome = measure(&run, rows);
    fs::remove_dir_all(&run.folder)?;
    outcome
}

struct Run {
    vesica: PathBuf,
    folder: PathBuf,
    server_cores: Option<String>,
    run_log: Option<String>,
    security: String,
    /// Room for the rows of the phase `delta`, too.
    capacity: usize,
    connections: usize,
    seconds: u64,
    idle: usize,
    /// One of so many queries is asked as a client asks; all of them if it is 0.
    replay: u64,
}

fn measure(run: &Run, rows: usize) -> Anything<()> {
    write_table(&run.folder.join("table.csv"), rows)?;
    let mut identity = Command::new(&run.vesica);
    identity.args(["identity", "new", "--out", "server.key"]).current_dir(&run.folder);
    if !identity.stderr(Stdio::null()).stdout(Stdio::null()).status()?.success() {
        return Err("no key pair could be made".into());
    }
    let start = Instant::now();
    let server = Served::start(run)?;
    say(
        "start",
        json!({ "rows": rows, "seconds": start.elapsed().as_secs_f64(), "rss_bytes": server.memory()?,
        "peak_rss_bytes": server.peak_memory()? }),
    );
    server.end()?;
    let start = Instant::now();
    let server = Served::start(run)?;
    let before = server.memory()?;
    say(
        "restart",
        json!({ "rows": rows, "seconds": start.elapsed().as_secs_f64(), "rss_bytes": before,
        "peak_rss_bytes": server.peak_memory()? }),
    );

    let start = Instant::now();
    let kept = Kept::of(server.connect()?.leave().0)?;
    say("enrol", json!({ "seconds": start.elapsed().as_secs_f64(), "state_bytes": kept.0.len() }));
    let before = server.memory()?;
    idle(run, &server, &kept, before)?;
    short(run, &server, &kept)?;
    if run.replay == 0 {
        let clients = || server.rejoin::<OprfRfc9497>(&kept, |client| client);
        let rate = load(run, &server, clients, None)?;
        load(run, &server, clients, Some(rate / 2.0))?;
    } else {
        let (made, is_verifiable) = (Cell::new(0), run.security == "malicious");
        // Each connection asks as a client at another time: else all of them would at once.
        let replayer = |client| {
            made.set(made.get() + 1);
            let replays = made.get() * run.replay / run.connections as u64;
            Replayer { client, elements: ELEMENTS, replays, one_in: run.replay, is_verifiable }
        };
        let clients = || server.rejoin::<Replay>(&kept, replayer);
        let rate = load(run, &server, clients, None)?;
        load(run, &server, clients, Some(rate / 2.0))?;
    }

    write_table(&run.folder.join("new.csv"), rows + CHANGED_ROWS)?;
    fs::rename(run.folder.join("new.csv"), run.folder.join("table.csv"))?;
    let start = Instant::now();
    server.signal("HUP")?;
    server.says("the table was read again")?;
    let reloaded = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let client = server.rejoin::<OprfRfc9497>(&kept, |client| client)?;
    let seconds = start.elapsed().as_secs_f64();
    let received = client.tally().total().received();
    let moved = format!("{:?}", client.enrolled().client.moved());
    say(
        "delta",
        json!({ "rows": CHANGED_ROWS, "reload_seconds": reloaded, "client_seconds": seconds,
        "client_received_bytes": received, "client": moved }),
    );
    drop(client.leave());
    server.end()
}

fn say(phase: &str, figures: Value) {
    println!("{}", json!({ "name": format!("serve-{phase}"), "run": figures }));
}

fn write_table(path: &Path, rows: usize) -> Anything<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "key")?;
    for row in 0..rows {
        writeln!(out, "user-{row}@example.org")?;
    }
    Ok(out.flush()?)
}

/// Memory of the server with clients that have joined and ask nothing.
fn idle(run: &Run, server: &Served, kept: &Kept, before: u64) -> Anything<()> {
    let mut clients = Vec::new();
    for _ in 0..run.idle {
        clients.push(server.rejoin::<OprfRfc9497>(kept, |client| client)?);
    }
    let joined = server.memory()?;
    // Each has asked once: what a query leaves behind counts, too.
    let mut rng = SecretRng::from_os()?;
    for client in &mut clients {
        ask(client, &mut rng)?;
    }
    let asked = server.memory()?;
    let per_client = |bytes: u64| bytes.saturating_sub(before) / clients.len().max(1) as u64;
    say(
        "idle",
        json!({ "clients": clients.len(), "rss_before_bytes": before, "rss_joined_bytes": joined,
        "rss_asked_bytes": asked, "bytes_a_client": per_client(joined), "bytes_a_client_asked": per_client(asked),
        "threads": server.status("Threads:")? }),
    );
    for client in clients {
        drop(client.leave());
    }
    Ok(())
}

/// Queries of which each has a connection of its own, as many at once as there are connections.
fn short(run: &Run, server: &Served, kept: &Kept) -> Anything<()> {
    let start = Instant::now();
    let end = start + Duration::from_secs(run.seconds);
    let (ticks, asking) = (server.processor_ticks()?, || -> Anything<usize> {
        let (mut rng, mut count) = (SecretRng::from_os()?, 0);
        while Instant::now() < end {
            let mut client = server.rejoin::<OprfRfc9497>(kept, |client| client)?;
            ask(&mut client, &mut rng)?;
            client.leave().1?;
            count += 1;
        }
        Ok(count)
    });
    let counts: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..run.connections).map(|_| scope.spawn(asking)).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a client panicked")).collect()
    });
    let mut queries = 0;
    for count in counts {
        queries += count??;
    }
    let seconds = start.elapsed().as_secs_f64();
    let ticks = server.processor_ticks()? - ticks;
    say(
        "short",
        json!({ "connections": run.connections, "run_log": run.run_log, "queries": queries, "seconds": seconds,
        "queries_a_second": queries as f64 / seconds, "server_ms_a_query": ticks as f64 * 10.0 / queries.max(1) as f64 }),
    );
    Ok(())
}

/// Queries over all connections, as fast as they go or at a rate; the rate that was reached.
fn load<S: Service<Task = Intersect>>(
    run: &Run,
    server: &Served,
    client: impl Fn() -> Anything<ServiceClient<S>>,
    rate: Option<f64>,
) -> Anything<f64>
where
    ServiceClient<S>: Send,
{
    let mut clients = Vec::new();
    for _ in 0..run.connections {
        clients.push(client()?);
    }
    let (length, start) = (Duration::from_secs(run.seconds), Instant::now());
    let pause = rate.map(|rate| Duration::from_secs_f64(run.connections as f64 / rate.max(1.0)));
    let (ticks, own) = (server.processor_ticks()?, ticks_of(std::process::id())?);
    let threads = (0..).zip(clients).map(|(number, mut client): (u32, ServiceClient<S>)| {
        let share = pause.map(|pause| pause.mul_f64(f64::from(number) / run.connections as f64));
        thread::spawn(move || -> Anything<Vec<f64>> {
            let (mut rng, mut took) = (SecretRng::from_os()?, Vec::new());
            let mut due = start + share.unwrap_or_default();
            while due.elapsed() > Duration::ZERO || due < start + length {
                if due >= start + length || start.elapsed() >= length {
                    break;
                }
                thread::sleep(due.saturating_duration_since(Instant::now()));
                ask(&mut client, &mut rng)?;
                took.push(due.elapsed().as_secs_f64());
                due = pause.map_or_else(Instant::now, |pause| due + pause);
            }
            drop(client.leave());
            Ok(took)
        })
    });
    let threads: Vec<_> = threads.collect();
    let mut took = Vec::new();
    for thread in threads {
        took.extend(thread.join().map_err(|_| "a client panicked")??);
    }
    let seconds = start.elapsed().as_secs_f64();
    took.sort_unstable_by(f64::total_cmp);
    let at = |part: f64| took.get((took.len() as f64 * part) as usize).or(took.last()).copied();
    let reached = took.len() as f64 / seconds;
    let used = (server.processor_ticks()? - ticks) as f64 / 100.0;
    let own = (ticks_of(std::process::id())? - own) as f64 / 100.0;
    let name = if rate.is_some() { "half" } else { "full" };
    say(
        name,
        json!({ "connections": run.connections, "items_per_query": ITEMS, "seconds": seconds,
        "queries": took.len(), "queries_a_second": reached, "aimed_at": rate, "p50_seconds": at(0.5),
        "p99_seconds": at(0.99), "most_seconds": took.last(), "server_cpu_seconds": used,
        "server_cpu_a_query": used / took.len().max(1) as f64, "security": run.security,
        "generator_cpu_seconds": own, "asked_by_a_client_one_in": run.replay.max(1) }),
    );
    Ok(reached)
}

fn ask<S: Service<Task = Intersect>>(client: &mut ServiceClient<S>, rng: &mut SecretRng) -> Anything<()> {
    let items = (0..ITEMS).map(|_| rng.block()).collect();
    client.query(IntersectReceiverInput { items })?;
    Ok(())
}

/// Processor time of a process so far, in hundredths of a second.
fn ticks_of(process: u32) -> Anything<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let tick = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Ok(tick(11) + tick(12))
}

/// The service of [`OprfRfc9497`] as a server sees it, with clients that cost little.
enum Replay {}

type Element = [u8; 32];

/// Elements that a replaying client begins with: the generator once to four times (RFC 9496, appendix
/// A.1).
const ELEMENTS: [Element; ITEMS] = [
    hex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"),
    hex("6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919"),
    hex("94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259"),
    hex("da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57"),
];

const fn hex(text: &str) -> Element {
    const fn digit(digit: u8) -> u8 {
        if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 }
    }
    let (text, mut bytes, mut place) = (text.as_bytes(), [0; 32], 0);
    while place < bytes.len() {
        bytes[place] = digit(text[2 * place]) << 4 | digit(text[2 * place + 1]);
        place += 1;
    }
    bytes
}

impl Service for Replay {
    const ENTRY: Entry = OprfRfc9497::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Server = Server;
    type Client = Replayer;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        OprfRfc9497::derive(request)
    }

    fn terms(params: &Params) -> Vec<u8> {
        OprfRfc9497::terms(params)
    }

    fn enrolment_bytes(params: &Params) -> RangeInclusive<u64> {
        OprfRfc9497::enrolment_bytes(params)
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        OprfRfc9497::query_bytes(params)
    }
}

struct Replayer {
    client: Client,
    /// What it asks about next.
    elements: [Element; ITEMS],
    /// Queries since one that it asked as a client, or so many that it would have begun with.
    replays: u64,
    one_in: u64,
    /// Proofs come with the answers.
    is_verifiable: bool,
}

vesica_party::arrows! { "oprf-rfc9497" =>
    /// Arrow 5 of the protocol.
    stream Blinded[Element] = 5, Receiver, "replayed elements";
    /// Arrow 6.
    stream Evaluated[Element] = 6, Sender, "the evaluated elements";
    /// Arrow 7.
    stream Proofs[Element] = 7, Sender, "proofs of the server's key";
}

impl service::Client for Replayer {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(_: &Params, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Err(Abort::Local { code: 1, fault: "a replaying client does not enrol".into(), mend: "rejoin".into() })
    }

    fn params(&self) -> &Params {
        self.client.params()
    }

    fn query(
        &mut self,
        number: u64,
        query: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.replays += 1;
        if self.replays >= self.one_in {
            self.replays = 0;
            return self.client.query(number, query, ch, rng);
        }
        ch.one_message(|ch| {
            ch.send_stream::<Blinded>(&self.elements)?;
            ch.recv_stream::<Evaluated>(&mut self.elements)?;
            if self.is_verifiable { ch.recv_stream::<Proofs>(&mut [[0; 32]; 2]) } else { Ok(()) }
        })?;
        Ok(IntersectReceiverOutput::default())
    }
}

/// What an enrolled client keeps, as bytes: each connection begins with it.
struct Kept(Vec<u8>);

impl Kept {
    fn of(enrolled: Enrolled<Client>) -> Anything<Self> {
        let mut bytes = Vec::new();
        write_state(&enrolled, &mut bytes)?;
        Ok(Self(bytes))
    }
}

/// A server that listens.
struct Served {
    child: Child,
    /// Of its log, which is read all the time: a pipe that is full would hold the server up.
    lines: Mutex<Receiver<String>>,
    address: String,
    key: PublicKey,
}

impl Served {
    fn start(run: &Run) -> Anything<Self> {
        let mut command = match &run.server_cores {
            Some(cores) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cores]).arg(&run.vesica);
                command
            }
            None => Command::new(&run.vesica),
        };
        command.args(["serve", "--input", "table.csv", "--key", "key", "--listen", "127.0.0.1:0", "--any-client"]);
        command.args(["--identity", "server.key", "--state", "table.state", "--no-quota"]);
        command.args(["--items-per-query", &ITEMS.to_string(), "--max-clients", "65536", "--idle", "1h"]);
        command.args(["--security", &run.security, "--capacity", &run.capacity.to_string()]);
        match &run.run_log {
            Some(log) => command.args(["--run-log", log]),
            None => command.arg("--no-run-log"),
        };
        let mut child = command.current_dir(&run.folder).stderr(Stdio::piped()).stdin(Stdio::null()).spawn()?;
        let errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let (say, lines) = channel();
        thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        let key = fs::read_to_string(run.folder.join("server.pub"))?.trim().parse()?;
        let mut server = Self { child, lines: Mutex::new(lines), address: String::new(), key };
        server.address = server.says("listening on ")?.rsplit(' ').next().ok_or("no address")?.to_owned();
        Ok(server)
    }

    /// The next line of the log with this text.
    fn says(&self, text: &str) -> Anything<String> {
        for line in &*self.lines.lock().unwrap_or_else(PoisonError::into_inner) {
            if line.contains(text) {
                return Ok(line);
            }
            if line.starts_with("error: ") {
                return Err(line.into());
            }
        }
        Err("the server ended".into())
    }

    fn channel(&self) -> Anything<Channel> {
        let identity = Identity::generate()?;
        let socket = TcpStream::connect(&self.address)?;
        socket.set_nodelay(true)?;
        let connection = tls::connect(socket, &identity, self.key, Duration::from_secs(60))?;
        Ok(Channel::open(connection, Role::Receiver, ChannelOptions::default())?)
    }

    fn described(&self) -> Anything<(Channel, <OprfRfc9497 as Service>::Params)> {
        let mut ch = self.channel()?;
        let told: Value = serde_json::from_slice(&describe(&mut ch)?)?;
        let size = |name: &str| told[name].as_u64().map(|size| size as usize).ok_or("a size is missing");
        let is_malicious = told["security"] == json!("malicious");
        let params = OprfRfc9497::derive(&IntersectRequest {
            sender_items: size("capacity")?,
            receiver_items: size("items_per_query")?,
            security: if is_malicious { Security::Malicious } else { Security::SemiHonest },
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        })?;
        Ok((ch, params))
    }

    fn connect(&self) -> Anything<Asker> {
        let (ch, params) = self.described()?;
        Ok(Asker::enrol(ch, params, SecretRng::from_os()?)?)
    }

    /// Another connection of the client that was kept, as `client` makes one of it.
    fn rejoin<S: Service<Params = Params>>(
        &self,
        kept: &Kept,
        client: impl Fn(Client) -> S::Client,
    ) -> Anything<ServiceClient<S>> {
        let (ch, params) = self.described()?;
        let enrolled: Enrolled<Client> = read_state(&mut &kept.0[..], kept.0.len() as u64, u64::MAX)?;
        let enrolled = Enrolled { state: enrolled.state, terms: enrolled.terms, client: client(enrolled.client) };
        ServiceClient::rejoin(ch, params, enrolled, SecretRng::from_os()?).map_err(|(failure, _)| failure.into())
    }

    fn status(&self, field: &str) -> Anything<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("no such field")?;
        Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
    }

    fn memory(&self) -> Anything<u64> {
        Ok(self.status("VmRSS:")? * 1024)
    }

    fn peak_memory(&self) -> Anything<u64> {
        Ok(self.status("VmHWM:")? * 1024)
    }

    fn processor_ticks(&self) -> Anything<u64> {
        ticks_of(self.child.id())
    }

    fn signal(&self, name: &str) -> Anything<()> {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status()?;
        if sent.success() { Ok(()) } else { Err("no signal was sent".into()) }
    }

    fn end(mut self) -> Anything<()> {
        self.signal("TERM")?;
        for _ in &*self.lines.get_mut().unwrap_or_else(PoisonError::into_inner) {}
        self.child.wait()?;
        Ok(())
    }
}
