//! `vesica receive` and `vesica send`.

use std::env;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vesica::Failure;
use vesica::cluster::{Inside, Machines};
use vesica::failure::code;
use vesica::handshake::printable;
use vesica::key::{KeySpec, NullWords};
use vesica::locked::Wait;
use vesica::log::LogFile;
use vesica::party::Role;
use vesica::party::transport::proxy::Proxy;
use vesica::policy::Policy;
use vesica::report::{OutputReport, Report};
use vesica::session::{
    self, Assumptions, Config, Destination, DryRun, End, Events, Interrupt, Meeting, OwnTable, Protection,
};
use vesica::table::{Format, InputOptions, OpenSink, OpenSource, OutputOptions, STANDARD_OUTPUT, SinkFile, SourceFile};
use vesica::task::{self, Flags, ResultKind, Settings};
use vesica::threads;
use vesica::words::counted;

use crate::args::places::TYPED_ALONE;
use crate::args::{Columns, Command, JoinName, ReceiveArgs, SendArgs, SharedArgs, TableArgs, delimiter};
use crate::commands::log::default_log;
use crate::commands::{dry_run, way_out};
use crate::outcome::{Outcome, print_report};
use crate::progress::Shown;
use crate::{calibration, identity, settings, signals, stderr};

/// The flags of one side.
enum SideArgs {
    Receive(Box<ReceiveArgs>),
    Send(Box<SendArgs>),
}

impl SideArgs {
    /// Those of a command of a run.
    ///
    /// # Errors
    /// If it is another command.
    fn of(command: Command) -> Result<Self, Failure> {
        match command {
            Command::Receive(args) => Ok(Self::Receive(args)),
            Command::Send(args) => Ok(Self::Send(args)),
            _ => Err(usage("this is no command of a run", "say receive or send")),
        }
    }

    fn shared(&self) -> &SharedArgs {
        match self {
            Self::Receive(args) => &args.shared,
            Self::Send(args) => &args.shared,
        }
    }

    fn join(&self) -> JoinName {
        match self {
            Self::Receive(args) => args.join,
            Self::Send(args) => args.join,
        }
    }

    /// What they say.
    fn config(self, way: &Way) -> Result<Config, Failure> {
        match self {
            Self::Receive(args) => receiver(*args, way),
            Self::Send(args) => sender(*args, way),
        }
    }

    /// What they say, but for the output.
    fn without_output(&self, way: &Way) -> Result<Config, Failure> {
        match self {
            Self::Receive(args) => receiver_without_output(args, way),
            Self::Send(args) => sender_without_output(args, way),
        }
    }
}

/// Runs `receive` or `send`.
///
/// # Errors
/// With the exit code of the command line.
pub fn run(command: Command, verbose: u8) -> Outcome {
    let args = SideArgs::of(command)?;
    let side = Side::new(args.shared(), verbose)?;
    let config = args.config(&side.way);
    side.run(config)
}

/// Whether these settings can be run, as far as they tell without files and the partner.
///
/// # Errors
/// If they cannot.
pub fn check(command: Command) -> Outcome {
    let Ok(args) = SideArgs::of(command) else { return Ok(()) };
    let shared = args.shared();
    if shared.peer.is_none() && !shared.insecure_plaintext {
        return Err(no_partner());
    }
    // A partner whose key is not there yet has no policy.
    let peer = shared.peer.as_deref().and_then(|peer| identity::peer(peer).ok());
    let policy = peer.map(|peer| settings::policy(&peer, shared.peers.as_deref())).transpose()?.flatten().map(Arc::new);
    let config = unprotected(args, policy)?;
    session::check(&config)
}

/// Whether a policy allows these settings now, as far as that tells without the tables and the partner.
///
/// # Errors
/// If it does not, or the settings cannot be run.
pub fn check_policy(command: Command, policy: Arc<Policy>, wait: &Wait<'_>) -> Outcome {
    let config = unprotected(SideArgs::of(command)?, Some(policy.clone()))?;
    session::check(&config)?;
    policy.check_now(&config, wait)
}

/// What flags say, but for the protection: no private key is read.
fn unprotected(args: SideArgs, policy: Option<Arc<Policy>>) -> Result<Config, Failure> {
    let shared = args.shared();
    let (protection, dry_run) = (Protection::InsecurePlaintext, None);
    let end = end(shared)?;
    let proxy = proxy_of(&end, shared, &|_| {})?;
    let way = Way { end, proxy, protection, wait: shared.wait, deadline: shared.deadline, policy, dry_run };
    args.config(&way)
}

fn receiver(args: ReceiveArgs, way: &Way) -> Result<Config, Failure> {
    let destination = destination(args.output.clone(), args.join, &args.shared)?;
    Ok(Config { destination: Some(destination), ..receiver_without_output(&args, way)? })
}

/// What a receiver's flags say, but for its output.
fn receiver_without_output(args: &ReceiveArgs, way: &Way) -> Result<Config, Failure> {
    let flags = Flags { group_by: args.group_by.clone(), ..flags(args.payload.clone(), &args.shared) };
    config(Role::Receiver, &flags, &args.shared, way)
}

fn sender(mut args: SendArgs, way: &Way) -> Result<Config, Failure> {
    let output = args.output.take();
    let mut config = sender_without_output(&args, way)?;
    match output {
        Some(_) if !args.shared.both_learn && config.task.result_kind(Role::Sender, &config.settings).is_none() => {
            return Err(usage(
                "this side has no result to write to --output",
                "omit --output, or say --both-learn or --task shares on both sides",
            ));
        }
        Some(path) => config.destination = Some(destination(path, args.join, &args.shared)?),
        None if args.shared.both_learn => {
            return Err(usage("--both-learn gives this side a result too", "name a file with --output FILE"));
        }
        None => {}
    }
    Ok(config)
}

/// What a sender's flags say, but for its output.
fn sender_without_output(args: &SendArgs, way: &Way) -> Result<Config, Failure> {
    let flags = Flags {
        max_groups: args.max_groups,
        epsilon: args.epsilon.clone(),
        budget: args.budget.clone(),
        ..flags(args.payload.clone(), &args.shared)
    };
    config(Role::Sender, &flags, &args.shared, way)
}

/// The flags that the task reads. Those of one role alone are as they are without them.
fn flags(payload: Vec<Columns>, args: &SharedArgs) -> Flags {
    Flags {
        payload: names(payload),
        payload_duplicates: args.payload_duplicates.clone(),
        scale: args.scale.clone(),
        clamp: args.clamp.clone(),
        partner_clamp: args.partner_clamp.clone(),
        reveal_if_at_least: args.reveal_if_at_least,
        both_learn: args.both_learn,
        max_item_bytes: args.max_item_bytes,
        ..Flags::default()
    }
}

pub fn names(columns: Vec<Columns>) -> Vec<String> {
    columns.into_iter().flat_map(|columns| columns.0).collect()
}

fn destination(path: String, join: JoinName, args: &SharedArgs) -> Result<Destination, Failure> {
    if path == "-" && args.json {
        return Err(usage("--output - and --json would both write to standard output", "write the result to a file"));
    }
    let options = OutputOptions { force: args.force, format: None };
    Ok(Destination { sink: Arc::new(SinkFile { path, options }), join: join.into() })
}

pub fn usage(fault: &str, mend: &str) -> Failure {
    Failure::new(code::USAGE, fault, mend)
}

/// How to read the table that `format` and `delimiter` describe.
pub fn input_options(format: Option<&str>, delimiter_text: Option<&str>) -> Result<InputOptions, Failure> {
    let format = format
        .map(|name| {
            Format::parse(name).ok_or_else(|| {
                usage(&format!("there is no format {name:?}"), "say csv, jsonl, parquet, arrow or arrow-stream")
            })
        })
        .transpose()?;
    let delimiter = delimiter_text
        .map(|text| {
            delimiter(text).ok_or_else(|| {
                usage("the delimiter is not one ASCII character", "for example, say --delimiter ';' or --delimiter tab")
            })
        })
        .transpose()?;
    Ok(InputOptions { format, delimiter })
}

/// The table that the flags name; `or_keys` are the alternatives of its key.
pub fn own_table(args: &TableArgs, or_keys: &[Columns]) -> Result<OwnTable, Failure> {
    Ok(OwnTable {
        table: Arc::new(SourceFile {
            path: args.input.clone(),
            options: input_options(args.format.as_deref(), args.delimiter.as_deref())?,
        }),
        key: key_spec(&args.key, or_keys, &args.normalise, &args.null_words)?,
    })
}

/// The key that the flags declare.
pub fn key_spec(
    key: &[String],
    or_keys: &[Columns],
    normalise: &[String],
    null_words: &[Columns],
) -> Result<KeySpec, Failure> {
    let or_keys: Vec<Vec<String>> = or_keys.iter().map(|columns| columns.0.clone()).collect();
    let spec = KeySpec::parse_alternatives(key, &or_keys, normalise);
    let null_words = NullWords::parse(&names(null_words.to_vec()));
    spec.and_then(|spec| Ok(spec.with_null_words(null_words?))).map_err(|error| {
        let text = error.to_string();
        let (fault, mend) = text.split_once("; ").unwrap_or((&text, "see --help"));
        usage(fault, mend)
    })
}

fn config(role: Role, flags: &Flags, args: &SharedArgs, way: &Way) -> Result<Config, Failure> {
    threads::set(args.threads)?;
    let task = task::find(&args.task)?;
    let source = own_table(&args.table, &args.or_key)?;
    Ok(Config {
        task,
        settings: task.settings(role, flags)?,
        role,
        end: way.end.clone(),
        proxy: way.proxy.clone(),
        protection: way.protection.clone(),
        wait: way.wait,
        deadline: way.deadline,
        source,
        destination: None,
        protocol: (args.protocol != "auto").then(|| args.protocol.clone()),
        link: args.link,
        security: args.security.into(),
        post_quantum: args.post_quantum,
        allow_broken: args.allow_broken,
        allow_count: args.allow_count,
        buckets: args.buckets.unwrap_or(1),
        may_divide: args.buckets.is_none(),
        work: args.work.clone(),
        resume: args.resume,
        pad_to: args.pad_to,
        max_peer_items: args.max_peer_items,
        memory: args.memory,
        machine: calibration::kept(threads::count()),
        policy: way.policy.clone(),
        log: log_file(args.run_log.as_deref(), args.no_run_log),
        receipt: args.receipt.clone(),
        force: args.force,
    })
}

/// Where a run is logged: what `--run-log` and `--no-run-log` say.
pub(super) fn log_file(named: Option<&Path>, has_none: bool) -> Option<LogFile> {
    match (named, has_none) {
        (_, true) => None,
        (Some(path), false) => Some(LogFile { path: path.into(), is_named: true }),
        (None, false) => default_log().map(|path| LogFile { path, is_named: false }),
    }
}

/// Which end of the connection this side is.
///
/// # Errors
/// If nothing says it.
fn end(args: &SharedArgs) -> Result<End, Failure> {
    match (&args.listen, &args.connect, &args.relay, &args.ticket) {
        (None, None, Some(address), Some(ticket)) => Ok(End::Relay(address.clone(), way_out::ticket(ticket)?)),
        (None, None, Some(_), None) => Err(usage(
            "--relay has no --ticket",
            "say the ticket that you share with your partner; `vesica relay ticket` makes one",
        )),
        (_, _, None, Some(_)) => Err(usage("--ticket has no --relay", "name the relay at which you meet your partner")),
        (Some(address), None, None, None) => Ok(End::Listen(address.clone())),
        (None, Some(address), None, None) => Ok(End::Connect(address.clone())),
        _ => Err(usage(
            "neither --listen nor --connect is given, or both are",
            "say either --listen, --connect or --relay, or name a partner with --peer whose address your file of partners \
             has",
        )),
    }
}

/// Through what the end is dialled; `None` for directly.
fn proxy_of(end: &End, args: &SharedArgs, note: &dyn Fn(&str)) -> Result<Option<Proxy>, Failure> {
    match end {
        End::Listen(_) => way_out::no_proxy(args.proxy.as_deref()),
        End::Connect(address) | End::Relay(address, _) => way_out::proxy(args.proxy.as_deref(), address, note),
    }
}

/// Nothing says who the partner is.
fn no_partner() -> Failure {
    usage("your partner's public key is missing", "pass your partner's .pub file, its line or its name to --peer")
}

/// How a side meets its partner.
struct Way {
    end: End,
    proxy: Option<Proxy>,
    protection: Protection,
    wait: Duration,
    deadline: Option<Duration>,
    /// What may be done with the partner.
    policy: Option<Arc<Policy>>,
    /// For a dry run, how many keys are expected of the partner, if the flags say it.
    dry_run: Option<Option<u64>>,
}

impl Way {
    /// What the flags say. `note` hears of a default identity that is made, and `warn` of a connection without TLS.
    fn new(args: &SharedArgs, note: &dyn Fn(&str), warn: &dyn Fn(&str)) -> Result<Self, Failure> {
        let end = end(args)?;
        let proxy = proxy_of(&end, args, note)?;
        let protection = match &args.peer {
            Some(peer) => identity::protection(args.own_key(), peer, args.peers.as_deref(), note)?,
            None if args.insecure_plaintext => Protection::InsecurePlaintext,
            None => return Err(no_partner()),
        };
        if args.insecure_plaintext {
            warn("--insecure-plaintext: the traffic is not encrypted, and nothing proves who your partner is");
        }
        let policy = settings::policy_for(&protection, args.peers.as_deref())?;
        let dry_run = args.dry_run.then_some(args.expect_peer_items);
        Ok(Self { end, proxy, protection, wait: args.wait, deadline: args.deadline, policy, dry_run })
    }

    /// Runs what the flags say, or tries it; or, where they do not say it, tells the partner so.
    fn run(&self, config: Result<Config, Failure>, interrupt: &Interrupt, events: &dyn Events) -> Result<Ran, Failure> {
        self.start(config, interrupt, events, |config, assumed| match assumed {
            Some(assumed) => session::dry_run(config, &assumed, interrupt, events).map(Ran::dry),
            None => session::run(config, interrupt, events).map(Ran::run),
        })
    }

    /// Runs what `run` does with a configuration, and for a dry run with what is assumed. A configuration that is none is
    /// told to the partner.
    fn start(
        &self,
        config: Result<Config, Failure>,
        interrupt: &Interrupt,
        events: &dyn Events,
        run: impl FnOnce(&Config, Option<Assumptions>) -> Result<Ran, Failure>,
    ) -> Result<Ran, Failure> {
        let config = config.map_err(|failure| session::tell_partner(&self.meeting(), failure, interrupt, events))?;
        let assumed =
            self.dry_run.map(|peer_items| Assumptions { peer_items, machine: calibration::kept(threads::count()) });
        run(&config, assumed)
    }

    fn meeting(&self) -> Meeting<'_> {
        let Self { end, proxy, protection, wait, deadline, .. } = self;
        Meeting { end, proxy: proxy.as_ref(), protection, wait: *wait, deadline: *deadline }
    }
}

/// A run of a table that this process has in memory, and that leaves its result there.
///
/// # Errors
/// As `vesica receive` and `vesica send` have them.
pub fn in_memory(command: Command, memory: &InMemory<'_>) -> Result<Ran, Failure> {
    let InMemory { table, result, interrupt, events } = memory;
    let args = SideArgs::of(command)?;
    let way = Way::new(args.shared(), &|text| events.notice(text), &|text| events.warning(text))?;
    let (join, config) = (args.join(), args.without_output(&way));
    let config = config.map(|mut config| {
        config.source.table = table.clone();
        let has_result = config.task.result_kind(config.role, &config.settings).is_some();
        config.destination = has_result.then(|| Destination { sink: result.clone(), join: join.into() });
        config
    });
    way.run(config, interrupt, *events)
}

/// A run whose rows the machines of a cluster have. The table has their columns, and no rows.
///
/// # Errors
/// As `vesica receive` and `vesica send` have them.
pub fn on_cluster(command: Command, cluster: &mut OnCluster<'_>) -> Result<Ran, Failure> {
    let OnCluster { memory: InMemory { table, result, interrupt, events }, inside, machines } = cluster;
    let args = SideArgs::of(command)?;
    let way = Way::new(args.shared(), &|text| events.notice(text), &|text| events.warning(text))?;
    let config = args.without_output(&way);
    let config = config.map(|mut config| {
        config.source.table = table.clone();
        // Rows stay with the machines.
        let is_numbers = config.task.result_kind(config.role, &config.settings) == Some(ResultKind::Numbers);
        config.destination = is_numbers.then(|| Destination { sink: result.clone(), join: vesica::table::Join::Inner });
        config
    });
    way.start(config, interrupt, *events, |config, assumed| match assumed {
        Some(assumed) => session::dry_run_on_cluster(config, &assumed, *machines, interrupt, *events).map(Ran::dry),
        None => session::run_on_cluster(config, inside, *machines, interrupt, *events).map(Ran::run),
    })
}

/// What a run on a cluster takes beside its settings.
pub struct OnCluster<'a> {
    /// A table with the columns and no rows, and where numbers go that are the result.
    pub memory: &'a InMemory<'a>,
    /// Where workers find the driver.
    pub inside: &'a Inside,
    /// The cluster.
    pub machines: &'a mut dyn Machines,
}

impl fmt::Debug for OnCluster<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnCluster").field("memory", &self.memory).field("inside", &self.inside).finish_non_exhaustive()
    }
}

/// What a run in memory takes beside its settings.
pub struct InMemory<'a> {
    /// The table.
    pub table: Arc<dyn OpenSource>,
    /// Where the result goes, if this side gets one.
    pub result: Arc<dyn OpenSink>,
    /// Ends the run from another thread.
    pub interrupt: &'a Interrupt,
    /// Hears of the run.
    pub events: &'a dyn Events,
}

impl fmt::Debug for InMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemory").field("table", &self.table).finish_non_exhaustive()
    }
}

/// What came of a run.
#[derive(Debug)]
pub enum Ran {
    /// The report of a run.
    Run(Box<Report>),
    /// What a dry run found.
    DryRun(Box<DryRun>),
}

impl Ran {
    fn run(report: Report) -> Self {
        Self::Run(Box::new(report))
    }

    fn dry(found: DryRun) -> Self {
        Self::DryRun(Box::new(found))
    }
}

/// What a side needs to meet its partner, if only to tell it that this side cannot start.
struct Side {
    way: Way,
    json: bool,
    interrupt: Interrupt,
    progress: Shown,
}

impl Side {
    fn new(args: &SharedArgs, verbose: u8) -> Result<Self, Failure> {
        refuse_variables()?;
        let interrupt = Interrupt::default();
        signals::watch(&interrupt)?;
        let way = Way::new(args, &|text| stderr::note(text), &|text| stderr::warning(text))?;
        let progress = Shown::new(args.progress, verbose);
        Ok(Self { way, json: args.json, interrupt, progress })
    }

    /// Runs what the flags say, and prints what came of it.
    fn run(self, config: Result<Config, Failure>) -> Outcome {
        let Self { ref way, json, ref interrupt, ref progress } = self;
        let ran = way.run(config, interrupt, progress);
        progress.finish();
        let report = match ran? {
            Ran::DryRun(found) => return dry_run::report(&found, json),
            Ran::Run(report) => report,
        };
        for warning in &report.warnings {
            progress.warning(warning);
        }
        if !json {
            stderr::write(&summary(&report));
            return Ok(());
        }
        let text = serde_json::to_string(&report).map_err(|error| {
            Failure::new(code::INTERNAL, format_args!("the report cannot be written: {error}"), "please report this")
        })?;
        print_report(&format!("{text}\n")).map_err(|failure| {
            let done =
                report.output.as_ref().map_or("the run".into(), |output| format!("the result in {}", output.path));
            Failure { fault: format!("{}; {done} is complete", failure.fault), ..failure }
        })
    }
}

/// Refuses variables that look as if they made a run a dry one.
fn refuse_variables() -> Result<(), Failure> {
    for flag in TYPED_ALONE {
        let variable = format!("VESICA_{}", flag.to_uppercase().replace('-', "_"));
        if env::var_os(&variable).is_some_and(|value| !value.is_empty()) {
            let fault = format!("the environment has {variable}, which means nothing");
            return Err(usage(&fault, &format!("unset it, and type --{flag} if you want it")));
        }
    }
    Ok(())
}

/// The report for people.
fn summary(report: &Report) -> String {
    let input = &report.input;
    let alternatives = match input.alternatives.len() {
        0 | 1 => String::new(),
        count => format!(" of {count} alternatives"),
    };
    let mut text = format!(
        "{}, {}{alternatives} ({} without a usable key, {}); the partner has {}\n",
        counted(input.rows, "row", "rows"),
        counted(input.distinct, "distinct key", "distinct keys"),
        counted(input.null_rows + input.unmatchable_rows, "row", "rows"),
        counted(input.duplicate_rows, "duplicate", "duplicates"),
        counted(report.peer_items, "key", "keys")
    );
    match (report.matched_keys, &report.output) {
        (Some(keys), Some(output)) => {
            let counts = report.matched_by_alternative.iter().flatten().zip(&input.alternatives);
            let each: Vec<String> =
                counts.map(|(count, alternative)| format!("{count} by {}", alternative.columns.join(", "))).collect();
            let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join("; ")) };
            let (matched, rows) = (counted(keys, "key matches", "keys match"), counted(output.rows, "row", "rows"));
            text.push_str(&format!("{matched}{each}; wrote {rows} to {}\n", output.path))
        }
        (None, Some(OutputReport { path, rows, new_rows: Some(new), .. })) => text.push_str(&format!(
            "{}; wrote {} to {path}, {} own and {new} new\n",
            counted(*new, "key of the partner is new", "keys of the partner are new"),
            counted(*rows, "row", "rows"),
            rows - new
        )),
        (None, Some(output)) => {
            let kept_back = "withheld (--reveal-if-at-least)";
            // What stands on standard output is not said twice.
            for (name, number) in output.totals.iter().filter(|_| output.path != STANDARD_OUTPUT) {
                text.push_str(&format!("{}: {}\n", printable(name), number.as_deref().unwrap_or(kept_back)));
            }
            text.push_str(&format!("wrote {}\n", output.path));
        }
        _ => {}
    }
    for value in report.values.iter().filter(|value| value.clamped.is_some_and(|clamped| clamped > 0)) {
        text.push_str(&format!(
            "{} outside of the range of column {}\n",
            counted(value.clamped.unwrap_or(0), "value was", "values were"),
            value.column.name
        ));
    }
    // Who only keeps own rows sees what was revealed in the output.
    let kind = task::find(report.task).ok().and_then(|task| task.result_kind(Role::Receiver, &Settings::default()));
    if kind != Some(ResultKind::OwnRows) {
        for sentence in &report.revealed {
            text.push_str(&format!("revealed {sentence}\n"));
        }
    }
    if let Some(receipt) = &report.receipt {
        text.push_str(&format!("receipt: {receipt}\n"));
    }
    if report.peer.is_some() && report.policy.is_none() {
        text.push_str("no policy says what may be done with this partner (docs/policy.md)\n");
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    text.push_str(&format!(
        "{}{} ({}{}), {:.2} s, sent {:.2} MB, received {:.2} MB\nchosen as {}\n",
        report.protocol,
        if report.broken.is_some() { ", BROKEN" } else { "" },
        report.security,
        if report.post_quantum { ", post-quantum" } else { "" },
        report.seconds,
        megabytes(report.bytes_sent),
        megabytes(report.bytes_received),
        report.choice
    ));
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use vesica::plan::Machine;

    use super::*;
    use crate::args::{Cli, flags_of};

    /// What a line with neither files nor further flags makes, as text; but for the machine, by which only the time left
    /// is told.
    fn typed(line: &str) -> String {
        let command = Cli::try_parse_from(line.split(' ')).expect("a command").command;
        let args = SideArgs::of(command).expect("a side");
        let way = Way::new(args.shared(), &|_| {}, &|_| {}).expect("a way");
        format!("{:#?}", Config { machine: Machine::REFERENCE, ..args.config(&way).expect("a side") })
    }

    /// The library states the defaults of the command once more, for programs that call it; but for the log, which has a
    /// place of the user's.
    #[test]
    fn a_side_of_the_library_has_the_defaults_of_the_command() {
        let table = || OwnTable::file("a.csv", &["id"]).expect("a key");
        let end = || End::Listen("127.0.0.1:0".into());
        let receiver = Config::receive(table(), Destination::file("b.csv"), end(), Protection::InsecurePlaintext);
        let sender = Config::send(table(), end(), Protection::InsecurePlaintext);
        let flags = "--input a.csv --key id --listen 127.0.0.1:0 --insecure-plaintext --no-run-log";
        assert_eq!(
            typed(&format!("vesica receive {flags} --output b.csv")),
            format!("{:#?}", receiver.expect("a side"))
        );
        assert_eq!(typed(&format!("vesica send {flags}")), format!("{:#?}", sender.expect("a side")));
    }

    /// Whether a side takes a flag for a task, as far as that tells without tables: beside one of the outputs, and with
    /// columns or without.
    fn takes(role: Role, task: &str, flag: &str) -> bool {
        let command = if role == Role::Receiver { "receive" } else { "send" };
        let line =
            format!("vesica {command} --task {task} --security semi-honest --input a --key k --listen a:1 {flag}");
        let payloads = if flag.starts_with("--payload") { &[""][..] } else { &["", " --payload=b"] };
        ["", " --output=o.csv", " --output=o.shares"].iter().any(|output| {
            payloads.iter().any(|payload| {
                let line = format!("{line} --insecure-plaintext{output}{payload}");
                Cli::try_parse_from(line.split_whitespace()).is_ok_and(|cli| check(cli.command).is_ok())
            })
        })
    }

    /// The tasks whose names begin sentences of a help, with a colon behind them; none if there are none.
    fn tasks_in(help: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (head, said) in help.split(". ").filter_map(|sentence| sentence.split_once(": ")) {
            let names = head.trim_start_matches("Tasks ").to_lowercase().replace(" and ", ", ");
            let names: Vec<String> = names.split(", ").map(str::to_owned).collect();
            if names.iter().all(|name| task::find(name).is_ok()) && !said.starts_with("none") {
                found.extend(names);
            }
        }
        found
    }

    /// What is wrong with a run of a task in buckets.
    fn refusal_of_buckets(task: &str) -> Option<Failure> {
        let line = format!("vesica receive --task {task} --security semi-honest --input a --key k --output o.csv");
        // Which nobody runs without a column.
        let column = if task == "join-and-compute" { "--payload n" } else { "" };
        let line = format!("{line} --listen a:1 --insecure-plaintext --buckets 2 {column}");
        check(Cli::try_parse_from(line.split_whitespace()).expect("a command").command).err()
    }

    #[test]
    fn a_refusal_of_buckets_names_the_tasks_that_take_them() {
        let (able, others): (Vec<&str>, Vec<&str>) =
            task::names().into_iter().partition(|name| refusal_of_buckets(name).is_none());
        let (last, first) = able.split_last().expect("a task");
        let named = format!(": {} or {last}", first.join(", "));
        for name in others {
            let refusal = refusal_of_buckets(name).expect("a refusal");
            assert!(refusal.mend.ends_with(&named), "{name}: {refusal}");
        }
    }

    /// What the help says of tasks is what the tasks do.
    #[test]
    fn a_flag_is_for_the_tasks_that_its_help_names() {
        let mut held = 0;
        for role in [Role::Receiver, Role::Sender] {
            // A permission that changes nothing is not refused.
            for flag in flags_of(role).iter().filter(|flag| flag.get_id() != "allow_count") {
                let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
                let named = tasks_in(&help);
                if named.is_empty() {
                    continue;
                }
                held += 1;
                let value = if flag.get_action().takes_values() { "=2" } else { "" };
                let given = format!("--{}{value}", flag.get_long().expect("a long name"));
                for name in task::names() {
                    assert!(takes(role, name, ""), "{name} as the {role}");
                    assert_eq!(takes(role, name, &given), named.iter().any(|named| named == name), "{given}, {name}");
                }
            }
        }
        assert!(held > 10, "{held} flags are for some tasks alone");
    }
}
