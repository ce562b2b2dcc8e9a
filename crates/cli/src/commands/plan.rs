//! `vesica plan`.

use std::fmt::Write;

use serde_json::{Value, json};
use vesica::Failure;
use vesica::bounded::read_text;
use vesica::buckets::{self, OnDisk};
use vesica::failure::code;
use vesica::memory::Bytes;
use vesica::party::{Extra, Role, Security, Status};
use vesica::plan::{self, Eligible, Link, Memory, Permissions, Plan, Prices, Refusal, Refused, Setting, Traffic};
use vesica::protocols::tasks::Extent;
use vesica::task::{Amounts, SampleWorkload};
use vesica::words::counted;

use crate::args::PlanArgs;
use crate::calibration::{self, Known};
use crate::layout::wrapped;
use crate::outcome::{Outcome, print};
use crate::stderr;

/// Longest list of prices that is read.
const PRICES_LIMIT: u64 = 1 << 20;

pub fn run(args: PlanArgs) -> Outcome {
    print(&text(&args, &|text| stderr::note(text), &|text| stderr::warning(text))?)
}

/// What is printed on standard output. `note` hears of a calibration that is made for it, and `warn` what is wrong
/// with that.
pub fn text(args: &PlanArgs, note: &dyn Fn(&str), warn: &dyn Fn(&str)) -> Result<String, Failure> {
    // What is wrong with the command shows before anything is measured.
    let asked = Asked::new(args)?;
    let prices = match &args.prices {
        None => Prices::built_in()?,
        Some(path) => {
            let name = path.display().to_string();
            let text = read_text(path, PRICES_LIMIT).map_err(|error| {
                Failure::new(
                    code::INPUT,
                    format_args!("cannot read {name}: {error}"),
                    "name a file like docs/prices-2026-11.toml with --prices",
                )
            })?;
            Prices::parse(&text, &name)?
        }
    };
    let traffic = prices.of(&args.traffic)?;
    let link = args.link;
    let known = calibration::know(args.threads, args.calibrate)?;
    if known.fresh {
        note(&told(&known));
    }
    if let Some(warning) = known.warning() {
        warn(&warning);
    }
    let Some(asked) = asked else {
        return match args.json {
            true => Ok(format!("{}\n", json!({ "ok": true, "calibration": known.calibration }))),
            false => Ok(String::new()),
        };
    };
    let permissions =
        Permissions { count: args.allow_count, post_quantum: args.post_quantum, ..Permissions::default() };
    let setting = Setting {
        machine: &known.calibration.speed,
        threads: args.threads.get(),
        link: &link,
        prices: &prices,
        traffic,
        permissions,
    };
    let plan = plan::plan(asked.workload.workload(), &setting)?;
    if args.json {
        return Ok(format!("{}\n", as_json(&asked, &plan, &link, &known, &prices, traffic)));
    }
    let shown = Shown { all: args.all, broken: args.allow_broken };
    Ok(describe(&asked, &plan, shown, &link, &known, &prices, traffic))
}

/// What of a plan is printed for people.
#[derive(Clone, Copy)]
struct Shown {
    /// All protocols, and not only as many as fit on a screen.
    all: bool,
    /// The broken ones too.
    broken: bool,
}

/// Lines of protocols on one screen.
const MOST_ROWS: usize = 8;
/// Characters in a line of a sentence.
const WIDTH: usize = 100;

/// The protocols to list, in the registry's order: all, or the chosen one, the other recommended ones and then the
/// fastest.
fn listed(plan: &Plan, all: bool) -> Vec<&Eligible> {
    let rank = |one: &Eligible| {
        let is_candidate = one.entry.status == Status::Recommended && one.unpermitted.is_none();
        (one.entry.id != plan.choice, !is_candidate, one.here.total_us())
    };
    let mut ranked: Vec<(usize, &Eligible)> = plan.eligible.iter().enumerate().collect();
    ranked.sort_by_key(|(_, one)| rank(one));
    ranked.truncate(if all { usize::MAX } else { MOST_ROWS });
    ranked.sort_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// What a plan is asked for.
struct Asked {
    /// The sizes of the tables.
    tables: Extent,
    buckets: u32,
    /// A run; in buckets, that of one bucket.
    workload: Box<dyn SampleWorkload>,
    amounts: Amounts,
}

impl Asked {
    /// `None` where only a calibration is asked for.
    fn new(args: &PlanArgs) -> Result<Option<Self>, Failure> {
        let (Some(sender_items), Some(receiver_items)) = (args.sender_items, args.receiver_items) else {
            return match (args.sender_items, args.receiver_items) {
                (None, None) => Ok(None),
                _ => Err(Failure::new(
                    code::USAGE,
                    "a plan needs both sizes",
                    "give --sender-items and --receiver-items",
                )),
            };
        };
        if sender_items == 0 || receiver_items == 0 {
            return Err(Failure::new(
                code::USAGE,
                "an empty set matches nothing",
                "give sizes of at least 1, as which an empty table counts",
            ));
        }
        let amounts = args.task.amounts()?;
        let tables = args.task.extent(sender_items, receiver_items)?;
        let buckets = buckets::count(&tables, args.buckets);
        let task = args.task.task()?;
        task.check_buckets(buckets)?;
        let workload = task.workload(&buckets::extent(&tables, buckets)?, &amounts)?;
        Ok(Some(Self { tables, buckets, workload, amounts }))
    }

    /// What protocol `id` takes where both sides have a work folder: memory with the tables, and disk. `None` where there are
    /// no buckets.
    fn with_work(&self, id: &str) -> Option<(Memory, Memory)> {
        let (workload, run) = (self.workload.workload(), self.workload.workload().extent());
        let memory =
            (run.runs > 1 && workload.keeps_on_disk()).then(|| plan::memory_with_work(id, workload)).flatten()?;
        let Amounts { payload_bytes, columns, .. } = self.amounts;
        // The receiver gets no value.
        let of_sender = payload_bytes + 8 * columns;
        let disk = |role, payload| OnDisk::new(self.keys(role), payload, (run, self.buckets), role).most();
        let disk =
            Memory { sender: disk(Role::Sender, (of_sender, 0)), receiver: disk(Role::Receiver, (0, payload_bytes)) };
        Some((memory, disk))
    }

    /// The keys of a side's table, each in a row of its own.
    fn keys(&self, role: Role) -> u64 {
        let Extent { sender_items, receiver_items, .. } = self.tables;
        match role {
            Role::Sender => sender_items as u64,
            Role::Receiver => receiver_items as u64,
        }
    }
}

fn told(known: &Known) -> String {
    let speed = &known.calibration.speed;
    let kept = match &known.file {
        Some(file) => format!("kept in {}", file.display()),
        None if known.warning().is_some() => "not kept".to_owned(),
        None => "it could not be kept".to_owned(),
    };
    format!(
        "measured this machine with {} a party ({kept}): it takes {:.2} times as long as the reference \
         machine for curves, {:.2} for set-ups, {:.2} in its caches, {:.2} in memory",
        counted(known.calibration.threads, "thread", "threads"),
        speed.curve as f64 / 1e3,
        speed.setup as f64 / 1e3,
        speed.near as f64 / 1e3,
        speed.far as f64 / 1e3
    )
}

fn as_json(asked: &Asked, plan: &Plan, link: &Link, known: &Known, prices: &Prices, traffic: &Traffic) -> Value {
    let eligible = |one: &Eligible| {
        json!({
            "protocol": one.entry.id,
            "seconds": one.here.total_us() as f64 / 1e6,
            "seconds_on_reference_machine": one.reference.total_us() as f64 / 1e6,
            "compute_seconds": one.here.compute_us as f64 / 1e6,
            "transfer_seconds": one.here.transfer_us as f64 / 1e6,
            "round_trip_seconds": one.here.round_trips_us as f64 / 1e6,
            "total_bytes": one.bytes,
            "sender_bytes": one.here.sender_bytes,
            "receiver_bytes": one.here.receiver_bytes,
            "sender_memory_bytes": one.here.sender_memory,
            "receiver_memory_bytes": one.here.receiver_memory,
            "sender_memory_bound_bytes": one.memory.sender,
            "receiver_memory_bound_bytes": one.memory.receiver,
            "cost_usd": one.usd,
            "needs": one.unpermitted.and_then(Extra::flag),
        })
    };
    let Asked { tables: Extent { sender_items, receiver_items, security, .. }, buckets, amounts, .. } = asked;
    json!({
        "ok": true,
        "task": asked.workload.task(),
        "security": security,
        "sender_items": sender_items,
        "receiver_items": receiver_items,
        "buckets": buckets,
        "payload_bytes": amounts.payload_bytes,
        "receiver_payload_bytes": amounts.receiver_payload_bytes,
        "columns": amounts.columns,
        "groups": amounts.groups,
        "at_least": amounts.at_least,
        "both_learn": amounts.both_learn,
        "with_work": asked.with_work(plan.choice).map(|(memory, disk)| json!({
            "sender_memory_bound_bytes": memory.sender,
            "receiver_memory_bound_bytes": memory.receiver,
            "sender_disk_bytes": disk.sender,
            "receiver_disk_bytes": disk.receiver,
        })),
        "link": link,
        "choice": plan.choice,
        "reason": plan.reason,
        "eligible": plan.eligible.iter().map(eligible).collect::<Vec<_>>(),
        "refused": plan.refused.iter().map(|one| json!({ "protocol": one.entry.id, "why": one.why })).collect::<Vec<_>>(),
        "calibration": known.calibration,
        "prices": { "title": prices.title, "core": prices.core.source, "traffic": traffic.kind, "traffic_source": traffic.source },
    })
}

fn describe(
    asked: &Asked,
    plan: &Plan,
    shown: Shown,
    link: &Link,
    known: &Known,
    prices: &Prices,
    traffic: &Traffic,
) -> String {
    let mut text = String::new();
    let &Asked { tables: Extent { sender_items, receiver_items, security, .. }, buckets, .. } = asked;
    let bucket = asked.workload.extent();
    let divided = match buckets {
        1 => String::new(),
        _ => format!(", in {buckets} buckets of {} x {} with dummies", bucket.sender_items, bucket.receiver_items),
    };
    let megabytes = |bytes: u64| format!("{:.2}", bytes as f64 / 1e6);
    let mebibytes = |bytes: u64| format!("{}", bytes >> 20);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{} of {sender_items} x {receiver_items} keys (sender x receiver){divided}, {security}, {link}, {} a side\n",
        asked.workload.task(),
        counted(known.calibration.threads, "thread", "threads")
    );
    let head =
        ["protocol", "seconds", "MB", "sent by sender", "by receiver", "MiB, sender", "receiver", "USD a run", ""];
    let listed = listed(plan, shown.all);
    let rows = listed.iter().map(|one| {
        [
            one.entry.id.into(),
            format!("{:.3}", one.here.total_us() as f64 / 1e6),
            megabytes(one.here.bytes),
            megabytes(one.here.sender_bytes),
            megabytes(one.here.receiver_bytes),
            mebibytes(one.here.sender_memory),
            mebibytes(one.here.receiver_memory),
            format!("{:.6}", one.usd),
            match (one.entry.status, one.unpermitted) {
                _ if one.entry.id == plan.choice => "auto".into(),
                (_, Some(extra)) => extra.flag().map_or("if named".into(), |flag| format!("if named, or with {flag}")),
                (Status::Recommended, None) => String::new(),
                _ => "if named".into(),
            },
        ]
    });
    let rows: Vec<[String; 9]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    #[expect(clippy::indexing_slicing, reason = "each row has nine cells, whose places are asked for")]
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<0$}", width(0)),
            _ => format!("{cell:>0$}", width(column)),
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    let _ = writeln!(text);
    if shown.all {
        text.push_str(&refusals(&plan.refused, security));
    } else {
        let (more, refused) = (plan.eligible.len() - listed.len(), plan.refused.len());
        sentence(&mut text, &format!("{more} more could run, and {refused} could not: --all lists them."));
    }
    if shown.broken {
        text.push_str(&broken(&plan.refused));
    }
    sentence(&mut text, &format!("auto: {}.", plan.reason));
    if let Some(chosen) = plan.eligible.iter().find(|one| one.entry.id == plan.choice) {
        let [sender, receiver] = [chosen.memory.sender, chosen.memory.receiver].map(Bytes);
        sentence(
            &mut text,
            &format!(
                "Memory: {} may take up to {sender} at the sender and {receiver} at the receiver, besides their tables. \
                 A side that has less refuses it (--memory).",
                plan.choice
            ),
        );
    }
    if let Some((memory, disk)) = asked.with_work(plan.choice) {
        let [at_sender, at_receiver] = [Role::Sender, Role::Receiver].map(|role| {
            format!("{} of memory and {} of disk at the {role}", Bytes(memory.of(role)), Bytes(disk.of(role)))
        });
        sentence(
            &mut text,
            &format!("With --work FOLDER, it takes up to {at_sender}, and {at_receiver}, tables included."),
        );
    }
    let (machine, title, kind) = (&known.calibration.machine, &prices.title, &traffic.kind);
    sentence(
        &mut text,
        &format!("Times are for two machines like this one ({machine}). Prices: {title}, {kind} traffic."),
    );
    text
}

/// Writes a sentence in lines of a terminal.
fn sentence(text: &mut String, sentence: &str) {
    for line in wrapped(sentence, WIDTH) {
        text.push_str(&line);
        text.push('\n');
    }
}

/// A line with the broken protocols; nothing without any.
fn broken(refused: &[Refused]) -> String {
    listed_ids(refused, Refusal::Broken, "Broken, for research only (`vesica protocols ID` tells how)")
}

fn listed_ids(refused: &[Refused], kind: Refusal, title: &str) -> String {
    let ids: Vec<&str> = refused.iter().filter(|one| one.kind == kind).map(|one| one.entry.id).collect();
    if ids.is_empty() { String::new() } else { format!("{title}: {}.\n", ids.join(", ")) }
}

/// A line for each kind of reason with the protocols that it concerns, and one for each protocol with a
/// reason of its own. Broken ones are left out, see [`broken`].
fn refusals(refused: &[Refused], security: Security) -> String {
    let mut text = String::new();
    for (kind, title) in [
        (Refusal::NoMode, format!("Without a {security} mode")),
        (Refusal::FallsToQuantum, "Fall to a quantum computer".to_owned()),
        (Refusal::NeverMeasured, "Would serve, but was never measured (see bench/plan)".to_owned()),
    ] {
        text.push_str(&listed_ids(refused, kind, &title));
    }
    for one in refused.iter().filter(|one| one.kind == Refusal::Unsupported) {
        let _ = writeln!(text, "{} does not serve this: {}.", one.entry.id, one.why);
    }
    text
}
