//! The parent: starts the parties, keeps the barrier, gathers figures.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::Pid;
use vesica::threads::no_thread;
use vesica_party::Role;
use vesica_structures::facts::Unsupported;

use crate::child::{Ends, FromParty, play};
use crate::netns::{self, Namespaces};
use crate::plan::Plan;
use crate::report::PartyRound;
use crate::spread::median;
use crate::undo::{Guard, Undo};
use crate::{BenchError, Network, Report, Settings, clock};

/// The parent's ends of the pipes to one party.
struct Wire {
    role: Role,
    to: Box<dyn Write>,
    from: Box<dyn BufRead>,
}

impl Wire {
    fn hear(&mut self) -> Result<FromParty, BenchError> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(BenchError::Party { role: self.role, fault: "it ended without a word".into() });
        }
        match serde_json::from_str(&line)? {
            FromParty::Failed(fault) => Err(BenchError::Party { role: self.role, fault }),
            FromParty::Refused { what, mend } => Err(Unsupported::new(what, mend).into()),
            said => Ok(said),
        }
    }

    fn go(&mut self) -> Result<(), BenchError> {
        self.to.write_all(b"go\n")?;
        Ok(self.to.flush()?)
    }

    fn unexpected(&self) -> BenchError {
        BenchError::Party { role: self.role, fault: "it spoke out of turn".into() }
    }
}

/// Runs the benchmark in two child processes. `child` gives the command that calls [`play`] for a
/// role; `address` is where the receiver listens (given to the sender only).
pub fn two_processes(
    settings: &Settings,
    mut child: impl FnMut(Role, Option<SocketAddr>) -> Result<Command, BenchError>,
) -> Result<Report, BenchError> {
    // A refusal needs no namespaces either.
    Plan::new(settings)?;
    let namespaces = settings.link.namespaces()?;
    let mut children = Children(Vec::new());
    let mut start = |role, address| -> Result<Wire, BenchError> {
        let mut command = child(role, address)?;
        if let Some(namespaces) = &namespaces {
            command = namespaces.command(role, &command);
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let killed = Guard::new(Undo::KillProcess(Pid::from_child(&process)));
        children.0.push((process, killed));
        match (to, from) {
            (Some(to), Some(from)) => Ok(Wire { role, to: Box::new(to), from: Box::new(BufReader::new(from)) }),
            _ => Err(BenchError::Party { role, fault: "its pipes are missing".into() }),
        }
    };
    measure(settings, namespaces.as_ref(), false, &mut start)
}

/// Runs the benchmark with both parties on threads of this process. Memory figures then count both.
pub fn in_process(settings: &Settings) -> Result<Report, BenchError> {
    if matches!(settings.link, Network::Namespaces(_)) {
        return Err(Unsupported::new(
            "a link between network namespaces needs a process for each party",
            "omit --in-process, or take RATE,RTT, which is shaped inside of the transport",
        )
        .into());
    }
    let mut start = |role, address| -> Result<Wire, BenchError> {
        let (their_input, to) = std::io::pipe()?;
        let (from, their_output) = std::io::pipe()?;
        let settings = settings.clone();
        let party = move || {
            // A failure has been told through the pipe.
            let _ = play(&settings, role, address, Ends { input: their_input, output: their_output });
        };
        thread::Builder::new().spawn(party).map_err(|error| no_thread(&error))?;
        Ok(Wire { role, to: Box::new(to), from: Box::new(BufReader::new(from)) })
    };
    measure(settings, None, true, &mut start)
}

fn measure(
    settings: &Settings,
    namespaces: Option<&Namespaces>,
    in_process: bool,
    start: &mut dyn FnMut(Role, Option<SocketAddr>) -> Result<Wire, BenchError>,
) -> Result<Report, BenchError> {
    // A refusal needs no party to say it.
    let Plan { predicted, .. } = Plan::new(settings)?;
    let mut receiver = start(Role::Receiver, None)?;
    let FromParty::Listening(address) = receiver.hear()? else {
        return Err(receiver.unexpected());
    };
    let mut sender = start(Role::Sender, Some(address))?;

    let mut rounds = Vec::with_capacity(settings.repeat);
    let link_bytes = || namespaces.map(Namespaces::sent_bytes).transpose();
    let mut counted = Vec::with_capacity(settings.repeat);
    for repeat in settings.repeats() {
        for wire in [&mut sender, &mut receiver] {
            let FromParty::Ready = wire.hear()? else {
                return Err(wire.unexpected());
            };
        }
        let before = link_bytes()?;
        let begin = clock::monotonic();
        sender.go()?;
        receiver.go()?;
        // The receiver is heard first: where both fail, its error is the one that says what the peer
        // reported.
        let asked = round(&mut receiver)?;
        let sent = round(&mut sender)?;
        // Repeat 0 warms up.
        if repeat > 0 {
            rounds.push((begin, sent, asked));
            if let (Some(before), Some(after)) = (before, link_bytes()?) {
                counted.push(netns::difference(before, after));
            }
        }
    }
    let report = Report::from_rounds(settings, in_process, predicted, &rounds);
    let of_side = |side: fn(&[u64; 2]) -> u64| median(counted.iter().map(|pair| side(pair) as f64)) as u64;
    let link_bytes =
        (!counted.is_empty()).then(|| [of_side(|[sender, _]| *sender), of_side(|[_, receiver]| *receiver)]);
    Ok(Report { link_bytes, ..report })
}

fn round(wire: &mut Wire) -> Result<PartyRound, BenchError> {
    match wire.hear()? {
        FromParty::Round(figures) => Ok(*figures),
        _ => Err(wire.unexpected()),
    }
}

/// Kills what is left of the children when the parent gives up.
struct Children(Vec<(Child, Guard)>);

impl Drop for Children {
    fn drop(&mut self) {
        for (mut child, killed) in self.0.drain(..) {
            // Closing its input ends a healthy child; one that hangs is killed.
            drop(child.stdin.take());
            drop(killed);
            let _ = child.wait();
        }
    }
}
