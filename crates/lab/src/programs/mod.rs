//! Programs of others, CSV to CSV: the open division of a suite.
//!
//! A [`Program`] says by lists of [`Arguments`] how its two sides are started. [`measure`] writes two
//! CSV files of the items that protocols of this release are measured on (`tables`), starts both
//! sides at once, and stops the clock when both have ended. Then it compares the receiver's output
//! with the keys that it put into both tables. Whatever goes wrong with a program is an outcome of
//! its run: [`ProgramReport`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod adapter;
mod process;
mod program;
mod report;
mod tables;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use vesica::words::counted;
use vesica_party::Role;

pub use adapter::{Arguments, Placeholder, Purpose};
pub use program::{Program, Surroundings};
pub use report::{Fault, MARK, ProgramFigures, ProgramOutcome, ProgramReport};
pub use tables::{DifferingRow, KEY};

use crate::netns::{self, Namespaces};
use crate::{BenchError, clock};
use process::{End, Process};
use program::{LOOPBACK_ADDRESS, Work};
use report::Repeat;
use tables::WrongOutput;

/// Time between two looks at the processes: what an end can be seen too late.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Seconds that one side may still take after the other one has failed, to say why.
const GRACE_SECONDS: f64 = 2.0;

/// Runs a program as often as it asks for. What goes wrong with the program is in the report.
///
/// # Errors
/// If the harness itself cannot work: no folder for the tables, no free port, no namespaces.
pub fn measure(program: &Program, surroundings: &Surroundings) -> Result<ProgramReport, BenchError> {
    let (work, _removed_at_the_end) = Work::new()?;
    let namespaces = program.link.namespaces()?;
    let run = Run { program, surroundings, work: &work, namespaces: namespaces.as_ref() };
    let outcome = match repeats(&run) {
        Ok(repeats) => ProgramOutcome::Ok(ProgramFigures::of(&repeats)),
        Err(Stop::Outcome(outcome)) => *outcome,
        Err(Stop::Harness(error)) => return Err(error),
    };
    Ok(ProgramReport::new(program, outcome))
}

/// A run of a program, with what it happens in.
struct Run<'a> {
    program: &'a Program,
    surroundings: &'a Surroundings,
    work: &'a Work,
    namespaces: Option<&'a Namespaces>,
}

/// Why there are no figures.
enum Stop {
    /// The program's fault.
    Outcome(Box<ProgramOutcome>),
    /// The harness's own.
    Harness(BenchError),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Harness(error.into())
    }
}

impl From<BenchError> for Stop {
    fn from(error: BenchError) -> Self {
        Self::Harness(error)
    }
}

fn failed(fault: String, mend: impl Into<String>) -> Stop {
    Stop::Outcome(Box::new(ProgramOutcome::Failed(Fault { fault, mend: mend.into() })))
}

fn repeats(run: &Run<'_>) -> Result<Vec<Repeat>, Stop> {
    let Run { program, work, .. } = run;
    for list in &program.prepare {
        let process = run.start("the preparation", list, None, 0, "prepare.log")?;
        run_to_end(program, &mut [Party { name: "the preparation", process }])?;
    }
    let settings = program.settings();
    let mut counted = Vec::with_capacity(program.repeat);
    for repeat in settings.repeats() {
        let common = tables::write(&settings, repeat as u64, &work.sender(), &work.receiver())?;
        match fs::remove_file(work.output()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let figures = run.one()?;
        check(program, work, &common)?;
        // Repeat 0 warms up.
        if repeat > 0 {
            counted.push(figures);
        }
    }
    Ok(counted)
}

/// One side of a run, by the name that messages give it.
struct Party {
    name: &'static str,
    process: Process,
}

impl Run<'_> {
    /// Starts a side, or a preparation, which has no role.
    fn start(
        &self,
        name: &'static str,
        arguments: &Arguments,
        role: Option<Role>,
        port: u16,
        log: &str,
    ) -> Result<Process, Stop> {
        let filled = arguments.filled(&|place| self.program.value(place, self.surroundings, self.work, port));
        let Some((program, rest)) = filled.split_first() else {
            return Err(failed(format!("{name} names no program"), "write the program first, then its arguments"));
        };
        let mut command = Command::new(program);
        command.args(rest);
        if let (Some(namespaces), Some(role)) = (self.namespaces, role) {
            command = namespaces.command(role, &command);
        }
        Process::start(command, &self.work.0, self.work.0.join(log)).map_err(|error| {
            failed(
                format!("{name} cannot start: {program:?}: {error}"),
                "check that this file can be executed here; a script needs the line of its interpreter",
            )
        })
    }

    /// One repeat, from the start of both sides to the end of both.
    fn one(&self) -> Result<Repeat, Stop> {
        let port = free_port()?;
        let sent_bytes = || self.namespaces.map(Namespaces::sent_bytes).transpose();
        let before = sent_bytes()?;
        let begin = clock::monotonic();
        // The receiver has a head start of the time that it takes to start a process.
        let receiver =
            self.start("the receiver", &self.program.receiver, Some(Role::Receiver), port, "receiver.log")?;
        let sender = self.start("the sender", &self.program.sender, Some(Role::Sender), port, "sender.log")?;
        let mut parties =
            [Party { name: "the sender", process: sender }, Party { name: "the receiver", process: receiver }];
        let [sender, receiver] = run_to_end(self.program, &mut parties)?;
        let bytes = match (before, sent_bytes()?) {
            (Some(before), Some(after)) => Some(netns::difference(before, after)),
            _ => None,
        };
        Ok(Repeat {
            seconds: sender.seconds.max(receiver.seconds) - begin,
            cpu_seconds: [sender.cpu_seconds, receiver.cpu_seconds],
            peak_rss: [sender.peak_rss, receiver.peak_rss],
            bytes,
        })
    }
}

/// Waits until all have ended well. If one fails, the others get a moment to fail as well; what still
/// runs when this returns is killed with its [`Process`].
fn run_to_end<const N: usize>(program: &Program, parties: &mut [Party; N]) -> Result<[End; N], Stop> {
    let begin = clock::monotonic();
    let mut failed_at: Option<f64> = None;
    loop {
        let mut ends = Vec::with_capacity(N);
        for party in parties.iter_mut() {
            ends.extend(party.process.look()?);
        }
        let now = clock::monotonic();
        let has_failed = ends.iter().any(|end| !end.status.success());
        if let (Ok(ends), false) = (<[End; N]>::try_from(ends.as_slice()), has_failed) {
            return Ok(ends);
        }
        if has_failed {
            let since = *failed_at.get_or_insert(now);
            if ends.len() == N || now - since > GRACE_SECONDS {
                return Err(why_failed(parties)?);
            }
        } else if now - begin > program.timeout_seconds {
            return Err(why_late(program, parties)?);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn why_failed(parties: &mut [Party]) -> io::Result<Stop> {
    let mut told = Vec::new();
    for party in parties {
        if let Some(end) = party.process.look()?.filter(|end| !end.status.success()) {
            told.push(format!("{} ended with {}{}", party.name, end.status, said(&party.process)));
        }
    }
    Ok(failed(told.join("; "), "run its arguments by hand, and mend them or the program"))
}

fn why_late(program: &Program, parties: &mut [Party]) -> io::Result<Stop> {
    let mut told = Vec::new();
    for party in parties {
        if party.process.look()?.is_none() {
            told.push(format!("{} had not ended{}", party.name, said(&party.process)));
        }
    }
    Ok(Stop::Outcome(Box::new(ProgramOutcome::Timeout(Fault {
        fault: format!("after {} s, {}; it was killed", program.timeout_seconds, told.join("; ")),
        mend: "raise timeout_seconds, or take smaller sizes".into(),
    }))))
}

/// What a process said, as the end of a sentence.
fn said(process: &Process) -> String {
    let words = process.last_words();
    if words.is_empty() { " and said nothing".into() } else { format!(" and said: {words}") }
}

/// Compares the output with the common keys.
fn check(program: &Program, work: &Work, common: &HashMap<String, usize>) -> Result<(), Stop> {
    match tables::check(&work.output(), common) {
        Ok(()) => Ok(()),
        Err(WrongOutput::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => Err(failed(
            "both sides ended well, but the receiver wrote no output".into(),
            format!("have it write {{output_csv}}, which it is told by: {}", program.receiver.written.join(" ")),
        )),
        Err(WrongOutput::Unreadable(error)) => Err(failed(
            format!("the output cannot be read: {error}"),
            "have the receiver write a CSV file in UTF-8, readable for its user",
        )),
        Err(WrongOutput::NoKeyColumn) => Err(failed(
            format!("the first line of the output names no column {KEY:?}"),
            format!("have the receiver write a first line with the names of columns, one of them {KEY}"),
        )),
        Err(WrongOutput::Rows { count, first }) => {
            let rows: Vec<String> = first.iter().map(ToString::to_string).collect();
            let differing = counted(count, "row of the output differs", "rows of the output differ");
            let fault = format!("{differing} from the intersection: {}", rows.join("; "));
            let mend = "check that it computes an intersection of exact keys".into();
            let fault = Fault { fault, mend };
            Err(Stop::Outcome(Box::new(ProgramOutcome::WrongOutput { fault, differing: first })))
        }
    }
}

/// A port on which nobody listens now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((LOOPBACK_ADDRESS, 0))?.local_addr()?.port())
}
