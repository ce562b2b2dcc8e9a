//! `vesica query`.

use std::sync::Arc;

use vesica::Failure;
use vesica::failure::code;
use vesica::service::{self, QueryConfig, QueryReport};
use vesica::session::{Destination, Events, Interrupt, Protection};
use vesica::table::{OutputOptions, SinkFile};
use vesica::threads;

use super::sides::{InMemory, log_file, own_table, usage};
use super::way_out;
use crate::args::QueryArgs;
use crate::outcome::{Outcome, print_report};
use crate::progress::Shown;
use crate::{identity, settings, signals, stderr};

pub fn run(args: QueryArgs, verbose: u8) -> Outcome {
    let interrupt = Interrupt::default();
    signals::watch(&interrupt)?;
    let progress = Shown::new(args.progress, verbose);
    let json = args.json;
    let (note, warn) = (|text: &str| stderr::note(text), |text: &str| stderr::warning(text));
    let outcome = config(args, &note, &warn).and_then(|config| service::query(&config, &interrupt, &progress));
    progress.finish();
    let report = outcome?;
    for warning in &report.warnings {
        progress.warning(warning);
    }
    let failure = report.failure();
    if !json {
        stderr::write(&report.summary());
        return failure.map_or(Ok(()), Err);
    }
    if let Some(failure) = failure {
        // One object on standard output: the error.
        return Err(failure);
    }
    let text = serde_json::to_string(&report).map_err(|error| {
        Failure::new(code::INTERNAL, format_args!("the report cannot be written: {error}"), "please report this")
    })?;
    print_report(&format!("{text}\n"))
}

/// A query for a table that this process has in memory, and that leaves its result there.
///
/// # Errors
/// As `vesica query` has them.
pub fn in_memory(args: QueryArgs, memory: &InMemory<'_>) -> Result<QueryReport, Failure> {
    let InMemory { table, result, interrupt, events } = memory;
    let mut config = config(args, &|text| events.notice(text), &|text| events.warning(text))?;
    config.source.table = table.clone();
    config.destination.sink = result.clone();
    service::query(&config, interrupt, *events)
}

/// What the flags say. `note` hears of a default identity that is made, and `warn` of a connection without TLS.
fn config(args: QueryArgs, note: &dyn Fn(&str), warn: &dyn Fn(&str)) -> Result<QueryConfig, Failure> {
    threads::set(args.threads)?;
    if args.output == "-" && args.json {
        return Err(usage("--output - and --json would both write to standard output", "write the result to a file"));
    }
    let protection = match &args.peer {
        Some(peer) => identity::protection(args.own_key(), peer, args.peers.as_deref(), note)?,
        None => {
            warn("--insecure-plaintext: the traffic is not encrypted, and nothing proves who the server is");
            Protection::InsecurePlaintext
        }
    };
    let policy = settings::policy_for(&protection, args.peers.as_deref())?;
    let connect = args.connect.ok_or_else(|| {
        usage(
            "the server's address is missing",
            "say --connect, or name a server with --peer whose address your file of partners has",
        )
    })?;
    let options = OutputOptions { force: args.force, format: None };
    let proxy = way_out::proxy(args.proxy.as_deref(), &connect, note)?;
    Ok(QueryConfig {
        proxy,
        source: own_table(&args.table, &[])?,
        connect,
        protection,
        wait: args.wait,
        deadline: args.deadline,
        security: args.security.into(),
        post_quantum: args.post_quantum,
        leak_prefix: args.leak_prefix,
        trust_server: args.trust_server,
        max_set_items: args.max_peer_items,
        destination: Destination { sink: Arc::new(SinkFile { path: args.output, options }), join: args.join.into() },
        state: args.state,
        memory: args.memory,
        policy,
        log: log_file(args.run_log.as_deref(), args.no_run_log),
    })
}
