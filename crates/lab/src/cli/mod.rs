//! The commands that `vesica-lab` has beside those of `vesica`: `bench`, and what it starts for a party.

mod args;
mod bench;
mod compare;
mod diff;
mod parties;
mod report;
mod report_args;
mod suite;

use clap::{ArgMatches, Args, Command as Grammar, FromArgMatches};
use vesica::threads;
use vesica_cli::tools::{Brief, Outcome, Shown, shorten};
use vesica_cli::{Addition, Program};

use args::{BenchArgs, BenchCommand, BenchPartyArgs};

/// `vesica-lab`.
pub static LAB: Program = Program { name: "vesica-lab", additions: &[&Bench, &BenchParty] };

const BRIEFS: &[Brief] = &[Brief {
    command: "bench",
    required: &[],
    common: &[
        ("task", ""),
        ("security", "What the run must withstand"),
        ("protocol", "The protocol: `auto`, or an id that `vesica protocols` lists"),
        ("sender_items", "Items of the sender"),
        ("receiver_items", "Items of the receiver"),
        ("link", "The link: loopback, lan, or RATE,RTT such as 100mbit,40ms"),
        ("threads", "How many threads compute on each side"),
        ("repeat", "How many runs to measure"),
        ("commands", "Time whole commands on two CSV files"),
        ("json", "Print one JSON object"),
    ],
}];

/// `vesica-lab bench`.
#[derive(Debug)]
struct Bench;

impl Addition for Bench {
    fn grammar(&self) -> Grammar {
        let about = "Measure the time, traffic and memory of a protocol between two processes on this machine";
        shorten(BenchArgs::augment_args(Grammar::new("bench").about(about)), BRIEFS)
    }

    fn shown(&self, matches: &ArgMatches) -> Shown {
        let Ok(args) = BenchArgs::from_arg_matches(matches) else { return Shown { json: false, progress: None } };
        let json = match &args.command {
            Some(BenchCommand::Diff(diff)) => diff.json,
            Some(BenchCommand::Compare(compare)) => compare.json,
            Some(BenchCommand::Block(block)) => block.json,
            Some(BenchCommand::Suite(_) | BenchCommand::Report(_)) => false,
            None => args.json,
        };
        let progress = match &args.command {
            Some(BenchCommand::Suite(suite)) => Some(suite.progress),
            _ => None,
        };
        Shown { json, progress }
    }

    fn run(&self, matches: &ArgMatches) -> Outcome {
        threads::set(None)?;
        bench::run(read(matches)?)
    }
}

/// One party of a benchmark, started by `bench`.
#[derive(Debug)]
struct BenchParty;

impl Addition for BenchParty {
    fn grammar(&self) -> Grammar {
        BenchPartyArgs::augment_args(Grammar::new("bench-party").about("One party of a benchmark").hide(true))
    }

    fn shown(&self, _: &ArgMatches) -> Shown {
        Shown { json: false, progress: None }
    }

    fn run(&self, matches: &ArgMatches) -> Outcome {
        parties::play(read(matches)?)
    }
}

/// The arguments of a command. What the grammar has passed can be read.
fn read<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, vesica::Failure> {
    A::from_arg_matches(matches)
        .map_err(|error| vesica::Failure::new(vesica::failure::code::USAGE, error, "see --help"))
}
