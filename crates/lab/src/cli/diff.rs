//! `vesica-lab bench diff`: two recordings of the same runs.

use std::path::PathBuf;

use crate::diff::{Difference, Pair, compare};
use crate::report_page::{self, Recording};
use serde_json::json;
use vesica::Failure;
use vesica::failure::code;

use super::args::DiffArgs;
use super::report::unreadable;
use vesica_cli::tools::{Outcome, print};

pub fn run(args: &DiffArgs) -> Outcome {
    let read = |path: &PathBuf| -> Result<Vec<Recording>, Failure> {
        report_page::read(std::slice::from_ref(path)).map_err(unreadable)
    };
    let difference = compare(&read(&args.before)?, &read(&args.after)?);
    if let (true, Some((name, why))) = (difference.pairs.is_empty(), difference.not_compared.first()) {
        return Err(Failure::new(
            code::INPUT,
            format_args!("no run has times in both recordings; {name}: {why}"),
            "take the lines of failed runs out of their recording, and make them again with `vesica-lab bench suite`",
        ));
    }
    if difference.pairs.is_empty() {
        return Err(Failure::new(
            code::INPUT,
            "no run has the same name in both recordings",
            "compare recordings of the same suite",
        ));
    }
    print(&if args.json { format!("{}\n", as_json(&difference)) } else { describe(&difference) })?;
    let Some(limit) = args.fail_above else { return Ok(()) };
    let slower: Vec<&str> = difference
        .pairs
        .iter()
        .filter(|pair| pair.ratio.interval[0] > 1.0 + limit)
        .map(|pair| pair.name.as_str())
        .collect();
    if slower.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        code::REFUSED,
        format_args!("{} runs are slower by more than {} %: {}", slower.len(), 100.0 * limit, slower.join(", ")),
        "find out why, or record them again on a quiet machine",
    ))
}

fn describe(difference: &Difference) -> String {
    let mut text = String::from("ratio  95 % interval    before      after       bytes   run\n");
    for Pair { name, seconds: [before, after], bytes, ratio } in &difference.pairs {
        let [least, most] = ratio.interval;
        let interval = if most.is_finite() { format!("{least:.3} to {most:.3}") } else { "one repeat only".to_owned() };
        let bytes = match bytes {
            [Some(before), Some(after)] if before == after => "same".to_owned(),
            [Some(before), Some(after)] => format!("{:.3}", *after as f64 / (*before).max(1) as f64),
            _ => "–".to_owned(),
        };
        text.push_str(&format!("{:.3}  {interval:15} {before:9.4} s {after:9.4} s  {bytes:6}  {name}\n", ratio.middle));
    }
    for (name, why) in &difference.not_compared {
        text.push_str(&format!("not compared: {name}: {why}\n"));
    }
    for (names, which) in [(&difference.only_first, "first"), (&difference.only_second, "second")] {
        if !names.is_empty() {
            text.push_str(&format!("only in the {which}: {}\n", names.join(", ")));
        }
    }
    text
}

fn as_json(difference: &Difference) -> serde_json::Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    let pairs: Vec<_> = difference
        .pairs
        .iter()
        .map(|pair| {
            json!({
                "name": pair.name,
                "seconds": pair.seconds,
                "bytes": pair.bytes,
                "ratio": pair.ratio.middle,
                "interval": pair.ratio.interval.map(finite),
            })
        })
        .collect();
    json!({
        "pairs": pairs,
        "only_first": difference.only_first,
        "only_second": difference.only_second,
        "not_compared": difference.not_compared.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
    })
}
