//! One party: connects, waits at the barrier, runs, checks its output, reports; again for each
//! repeat.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vesica::task::Sample;
use vesica::threads;
use vesica_party::transport::{Connection, shaped, tcp};
use vesica_party::{Abort, Channel, ChannelOptions, Phase, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::plan::Plan;
use crate::report::{PartyRound, PhaseFigures};
use crate::{BenchError, Network, Settings, clock};

/// How long a party waits for the other one to connect.
const CONNECT_WAIT: Duration = Duration::from_secs(60);

/// What a party tells its parent, a JSON line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromParty {
    /// Where the receiver listens.
    Listening(SocketAddr),
    /// Connection and inputs are ready.
    Ready,
    /// The round is over.
    Round(Box<PartyRound>),
    /// The round failed.
    Failed(String),
    /// The party cannot run here: why, and what to do about it.
    Refused { what: String, mend: String },
}

/// The party's ends of the pipes to its parent.
pub struct Ends<R, W> {
    /// Where the parent speaks.
    pub input: R,
    /// Where the parent listens.
    pub output: W,
}

/// Plays `role` for a parent that measures: what a child process does. `address` is where the
/// receiver listens, for the sender.
pub fn play<R: Read, W: Write>(
    settings: &Settings,
    role: Role,
    address: Option<SocketAddr>,
    ends: Ends<R, W>,
) -> Result<(), BenchError> {
    let mut parent = Parent { from: BufReader::new(ends.input), to: ends.output };
    let outcome = threads::pool(settings.threads)
        .map_err(BenchError::from)
        .and_then(|pool| rounds(settings, role, address, &mut parent, &pool));
    match &outcome {
        Ok(()) => {}
        Err(BenchError::Unsupported(Unsupported { what, mend })) => {
            parent.say(&FromParty::Refused { what: what.clone(), mend: mend.clone() })?;
        }
        Err(fault) => parent.say(&FromParty::Failed(fault.to_string()))?,
    }
    outcome
}

enum Meeting {
    Listens(tcp::Listener),
    Connects(SocketAddr),
}

struct Parent<R, W> {
    from: BufReader<R>,
    to: W,
}

impl<R: Read, W: Write> Parent<R, W> {
    fn say(&mut self, what: &FromParty) -> Result<(), BenchError> {
        let mut line = serde_json::to_string(what)?;
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        Ok(self.to.flush()?)
    }

    fn wait(&mut self) -> Result<(), BenchError> {
        let mut line = String::new();
        match self.from.read_line(&mut line)? {
            0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
            _ => Ok(()),
        }
    }
}

fn rounds<R: Read, W: Write>(
    settings: &Settings,
    role: Role,
    address: Option<SocketAddr>,
    parent: &mut Parent<R, W>,
    pool: &rayon::ThreadPool,
) -> Result<(), BenchError> {
    let plan = Plan::new(settings)?;

    let meeting = match address {
        Some(address) => Meeting::Connects(address),
        None => {
            let listener = tcp::listen(&format!("{}:0", settings.link.receiver_address())).map_err(failed(role))?;
            parent.say(&FromParty::Listening(listener.local_addr().map_err(failed(role))?))?;
            Meeting::Listens(listener)
        }
    };
    for repeat in settings.repeats() {
        let stream = match &meeting {
            Meeting::Listens(listener) => tcp::accept(listener, CONNECT_WAIT).map(|(stream, _)| stream),
            Meeting::Connects(address) => tcp::connect(&address.to_string(), CONNECT_WAIT),
        };
        let connection = over(settings.link, tcp::connection(stream.map_err(failed(role))?)?);
        let mut channel = threads::open_channel(connection, role, ChannelOptions::default())?;
        let made = settings.sample(role, repeat as u64);
        let mut rng = SecretRng::from_os().map_err(failed(role))?;
        parent.say(&FromParty::Ready)?;
        parent.wait()?;
        let figures = pool.install(|| run(&plan, role, &made, &mut channel, &mut rng));
        match figures {
            Ok(figures) => {
                channel.finish().map_err(failed(role))?;
                parent.say(&FromParty::Round(Box::new(figures)))?;
            }
            Err(abort) => {
                let fault = failed(role)(&abort);
                channel.abort(&abort);
                return Err(fault);
            }
        }
    }
    Ok(())
}

fn failed<E: std::fmt::Display>(role: Role) -> impl Fn(E) -> BenchError {
    move |fault| BenchError::Party { role, fault: fault.to_string() }
}

fn over(network: Network, connection: Connection) -> Connection {
    match network {
        Network::Loopback | Network::Lan | Network::Namespaces(_) => connection,
        Network::Shaped(link) => shaped::shape(connection, link),
    }
}

/// One timed run and its untimed check.
fn run(
    plan: &Plan,
    role: Role,
    sample: &Sample,
    channel: &mut Channel,
    rng: &mut SecretRng,
) -> Result<PartyRound, Abort> {
    // The channel was opened before the barrier: what it counted until then is not part of the run.
    let before = channel.tally();
    let cpu = clock::processor();
    let party = plan.set_up(role, channel, rng)?;
    let setup_done = clock::monotonic();
    let setup_bytes = channel.tally().total().sent() - before.total().sent();
    let output = party(sample, channel, rng)?;
    let done = clock::monotonic();
    let cpu_seconds = clock::processor() - cpu;
    let tally = channel.tally();
    let correct = output(sample, channel)?;
    let phases = tally.phases.iter().map(|(&phase, count)| {
        let before = before.phase(phase);
        (
            phase.name().to_owned(),
            PhaseFigures { seconds: count.seconds - before.seconds, bytes: count.sent() - before.sent() },
        )
    });
    // What a service prepares before its first query needs the inputs, so that it comes after the
    // set-up and counts for it.
    let setup_done = setup_done + (tally.precompute_seconds - before.precompute_seconds);
    let setup_bytes = setup_bytes + tally.phase(Phase::Precompute).sent() - before.phase(Phase::Precompute).sent();
    Ok(PartyRound {
        setup_done,
        done,
        cpu_seconds,
        sent_bytes: tally.total().sent() - before.total().sent(),
        setup_bytes,
        phases: phases.collect::<BTreeMap<_, _>>(),
        correct,
        peak_rss: clock::peak_memory("self"),
    })
}
