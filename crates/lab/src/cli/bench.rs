//! `vesica-lab bench`: the harness, with copies of this program as the two parties.

use crate::{CommandsReport, Network, Report, Settings, blocks};
use vesica::Failure;
use vesica::failure::code;
use vesica::plan::{self, Permissions};
use vesica::words::counted;

use vesica_cli::tools::{Outcome, end_after, items, print, warning};

use super::args::{BenchArgs, BenchCommand, BlockArgs};
use super::parties::{child, failed, program};
use super::{compare, diff, report, suite};

pub fn run(mut args: BenchArgs) -> Outcome {
    match args.command.take() {
        None => measure(args),
        Some(BenchCommand::Block(args)) => block(&args),
        Some(BenchCommand::Suite(args)) => suite::run(&args),
        Some(BenchCommand::Diff(args)) => diff::run(&args),
        Some(BenchCommand::Compare(args)) => compare::run(&args),
        Some(BenchCommand::Report(args)) => report::run(args),
    }
}

fn measure(args: BenchArgs) -> Outcome {
    let json = args.json;
    let (in_process, commands, key_bytes) = (args.in_process, args.commands, args.key_bytes);
    let settings = settings(args)?;
    if commands {
        let report = crate::whole_commands(&program()?, &settings, key_bytes).map_err(failed)?;
        return if json { print_json(serde_json::to_string(&report)) } else { print(&describe_commands(&report)) };
    }
    if matches!(settings.link, Network::Namespaces(_)) {
        end_after(crate::undo_all)?;
    }
    let report =
        if in_process { crate::in_process(&settings) } else { crate::two_processes(&settings, child(&settings)?) };
    show(&report.map_err(failed)?, json)
}

/// Measures a protocol of a building block, or each of them that serves the size and the mode.
fn block(args: &BlockArgs) -> Outcome {
    let ids = args.protocol.as_deref().map_or_else(|| blocks::ids(&args.task), |id| vec![id]);
    let count = items(args.items)?;
    if matches!(args.link, Network::Namespaces(_)) {
        end_after(crate::undo_all)?;
    }
    let mut measured = 0;
    for id in &ids {
        let settings = Settings {
            link: args.link,
            threads: args.threads,
            repeat: args.repeat,
            cold: args.cold,
            ..Settings::new(&args.task, id, args.security, count, count)
        };
        let settings = match settings.checked() {
            Ok(settings) => settings,
            Err(refused) if ids.len() > 1 => {
                warning(format_args!("{id} is left out: {refused}"));
                continue;
            }
            Err(refused) => return Err(refused.into()),
        };
        show(&crate::two_processes(&settings, child(&settings)?).map_err(failed)?, args.json)?;
        measured += 1;
    }
    if measured == 0 {
        let mend = "say another --security, or fewer --items";
        return Err(Failure::new(code::INPUT, format_args!("nothing of {} serves that", args.task), mend));
    }
    Ok(())
}

/// Prints a report whose outputs were right.
fn show(report: &Report, json: bool) -> Outcome {
    if !report.correct {
        return Err(Failure::new(
            code::INTERNAL,
            "an output was wrong",
            "report this with the command; its figures mean nothing",
        ));
    }
    if json {
        return print_json(serde_json::to_string(report));
    }
    print(&describe(report))
}

fn settings(args: BenchArgs) -> Result<Settings, Failure> {
    let (task, amounts) = (args.task.task()?, args.task.amounts()?);
    let extent = args.task.extent(args.sender_items, args.receiver_items)?;
    let protocol = if args.protocol == "auto" {
        let workload = task.workload(&extent, &amounts)?;
        plan::automatic(workload.workload(), &args.link.link(), Permissions::default())?.id.to_owned()
    } else {
        // The report names the protocol by its id, whatever alias or order of choices was typed.
        let entry = task.find(&args.protocol)?;
        if let Some(fault) = entry.and_then(|entry| entry.warning()) {
            if !args.allow_broken {
                let mend = "measure another one; to measure it nevertheless, for research, add --allow-broken";
                return Err(Failure::new(code::REFUSED, fault, mend));
            }
            warning(fault);
        }
        entry.map_or(args.protocol, |entry| entry.id.to_owned())
    };
    let settings = Settings {
        overlap: args.overlap.map(items).transpose()?,
        item_bytes: args.item_bytes,
        link: args.link,
        threads: args.threads,
        repeat: args.repeat,
        cold: args.cold,
        ..Settings::new(task.name(), &protocol, extent.security, extent.sender_items, extent.receiver_items)
            .with_amounts(&amounts)
    };
    Ok(settings.checked()?)
}

fn print_json(report: Result<String, serde_json::Error>) -> Outcome {
    let text = report.map_err(|error| failed(error.into()))?;
    print(&format!("{text}\n"))
}

fn describe(report: &Report) -> String {
    let mut text = format!(
        "{}: {} ({}), {} x {} items, {} in both, {} a party, link {}, median of {}\n",
        report.task,
        report.protocol,
        report.security,
        report.sender_items,
        report.receiver_items,
        report.intersection,
        counted(report.threads_per_party, "thread", "threads"),
        report.link,
        report.repeats
    );
    text.push_str(&format!(
        "  total {:.3} s (quartiles {:.3} to {:.3} s; set-up {:.3} s, online {:.3} s)\n",
        report.total_seconds,
        report.total_spread.lower_quartile,
        report.total_spread.upper_quartile,
        report.setup_seconds,
        report.online_seconds
    ));
    text.push_str(&format!(
        "  {:.1} bits an item ({:.2} MB from the sender, {:.2} MB from the receiver)\n",
        report.bits_per_item,
        report.sender_bytes as f64 / 1e6,
        report.receiver_bytes as f64 / 1e6
    ));
    if let Some([sender, receiver]) = report.link_bytes {
        text.push_str(&format!(
            "  on the link, headers included: {:.2} MB from the sender, {:.2} MB from the receiver\n",
            sender as f64 / 1e6,
            receiver as f64 / 1e6
        ));
    }
    text.push_str(&memory(report.peak_rss_sender, report.peak_rss_receiver));
    for (role, phases) in &report.phases {
        let each: Vec<String> = phases.iter().map(|(name, figures)| format!("{name} {:.3}", figures.seconds)).collect();
        text.push_str(&format!("  {role}: {} s\n", each.join(", ")));
    }
    text
}

fn describe_commands(report: &CommandsReport) -> String {
    let (keys, spread) = (report.key_bytes, report.total_spread);
    format!(
        "`receive` and `send` ({}, {}), CSV files of {} x {} rows, keys of {} to {} bytes, {} in both, median of {}\n  \
         total {:.3} s (quartiles {:.3} to {:.3} s)\n{}",
        report.protocol,
        report.security,
        report.sender_items,
        report.receiver_items,
        keys.least,
        keys.most,
        report.intersection,
        report.repeats,
        report.total_seconds,
        spread.lower_quartile,
        spread.upper_quartile,
        memory(report.peak_rss_sender, report.peak_rss_receiver)
    )
}

fn memory(sender: u64, receiver: u64) -> String {
    let mebibytes = |bytes: u64| bytes as f64 / (1 << 20) as f64;
    format!("  peak memory {:.0} MiB (sender), {:.0} MiB (receiver)\n", mebibytes(sender), mebibytes(receiver))
}
