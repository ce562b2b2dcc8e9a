//! Runs of a protocol between two threads of this process, over loopback TCP, on made-up items: how `plan` learns how fast
//! this machine is, and `selftest` whether it computes what it should.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use vesica_party::transport::tcp;
use vesica_party::{Abort, Channel, ChannelOptions, Entry, Role, Security};
use vesica_protocols::tasks::Extent;
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};
use crate::task::{Amounts, AnyTask, MadeUp, Sample, SampleWorkload};
use crate::threads;

/// How long a party waits for the other one to connect.
const CONNECT_WAIT: Duration = Duration::from_secs(60);

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Probed<'a> {
    /// What is computed.
    pub task: &'static dyn AnyTask,
    /// The name of the protocol.
    pub protocol: &'a str,
    /// The mode.
    pub security: Security,
    /// The sets.
    pub items: MadeUp,
    /// What goes with the items.
    pub amounts: Amounts,
    /// Threads that compute on each side.
    pub threads: usize,
}

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct Ran {
    /// Seconds from inputs and a connection on both sides to outputs on both.
    pub seconds: f64,
    /// Whether both outputs are what the plain function gives.
    pub is_right: bool,
}

/// Runs it as often as `rounds` says, and gives what each run gave.
///
/// # Errors
/// If there is no such protocol, if it does not serve these sizes, or if a party fails.
pub fn run(probed: &Probed<'_>, rounds: usize) -> Result<Vec<Ran>, Failure> {
    let Probed { task, items, .. } = *probed;
    let entry = task.find(probed.protocol)?.ok_or_else(|| {
        Unsupported::new(
            format_args!("there is no protocol '{}' for {task}", probed.protocol),
            "`vesica protocols` lists them",
        )
    })?;
    let extent = Extent::new(items.sender_items, items.receiver_items, probed.security);
    let workload = task.workload(&extent, &probed.amounts)?;
    workload.predicted_bytes(entry)?;
    let pools = [threads::pool(probed.threads)?, threads::pool(probed.threads)?];
    (0..rounds as u64).map(|round| one_round(probed, entry, &*workload, &pools, round)).collect()
}

fn one_round(
    probed: &Probed<'_>,
    entry: &Entry,
    workload: &dyn SampleWorkload,
    pools: &[ThreadPool; 2],
    round: u64,
) -> Result<Ran, Failure> {
    let sample = |role| {
        let payload_bytes = match role {
            Role::Sender => probed.amounts.payload_bytes,
            Role::Receiver => probed.amounts.receiver_payload_bytes,
        };
        probed.items.sample(role, payload_bytes, round)
    };
    let (sent, asked) = (sample(Role::Sender), sample(Role::Receiver));
    let listener = tcp::listen("127.0.0.1:0").map_err(|error| no_link(&error))?;
    let address: SocketAddr = listener.local_addr().map_err(|error| no_link(&error))?;
    let play = |sample: &Sample, stream| {
        let mut channel = open(stream, sample.role)?;
        let mut rng = SecretRng::from_os().map_err(|error| no_link(&error))?;
        let start = Instant::now();
        match party(sample, entry, workload, &mut channel, &mut rng, &pools[sample.role as usize]) {
            Ok((is_right, done)) => {
                channel.finish().map_err(|abort| failed(sample.role, &abort))?;
                Ok((is_right, start, done))
            }
            Err(abort) => {
                let failure = failed(sample.role, &abort);
                channel.abort(&abort);
                Err(failure)
            }
        }
    };
    let (sender, receiver) = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let stream = tcp::connect(&address.to_string(), CONNECT_WAIT).map_err(|error| no_link(&error))?;
            play(&sent, stream)
        });
        let receiver = tcp::accept(&listener, CONNECT_WAIT)
            .map_err(|error| no_link(&error))
            .and_then(|(stream, _)| play(&asked, stream));
        (sender.join(), receiver)
    });
    // Where both fail, the receiver's error says what the sender reported.
    let (is_right, began, done) = receiver?;
    let sender = sender.map_err(|_| Failure::new(code::INTERNAL, "the sender panicked", "report this"))??;
    let seconds = done.max(sender.2).duration_since(began.min(sender.1)).as_secs_f64();
    Ok(Ran { seconds, is_right: is_right && sender.0 })
}

/// One side's run, the check of its output, and when the output was there.
fn party(
    sample: &Sample,
    entry: &Entry,
    workload: &dyn SampleWorkload,
    channel: &mut Channel,
    rng: &mut SecretRng,
    pool: &ThreadPool,
) -> Result<(bool, Instant), Abort> {
    pool.install(|| {
        let party = workload.set_up(sample.role, entry, channel, rng)?;
        let output = party(sample, channel, rng)?;
        let done = Instant::now();
        Ok((output(sample, channel)?, done))
    })
}

fn open(stream: std::net::TcpStream, role: Role) -> Result<Channel, Failure> {
    let connection = tcp::connection(stream).map_err(|error| no_link(&error))?;
    threads::open_channel(connection, role, ChannelOptions::default()).map_err(Failure::from)
}

fn no_link(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(code::LINK, format_args!("no link within this machine: {error}"), "see whether loopback is up")
}

fn failed(role: Role, abort: &Abort) -> Failure {
    Failure::new(code::INTERNAL, format_args!("the {role} failed: {abort}"), "report this with the machine's processor")
}
