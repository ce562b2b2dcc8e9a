//! `vesica-lab bench compare`: the tables of papers, with ours beside them.

use serde_json::Value;

use crate::papers::{self, Comparison, KEYS, Paper};
use crate::report_page::{self, Recording};
use vesica::Failure;
use vesica::failure::code;

use super::args::CompareArgs;
use super::report::unreadable;
use vesica_cli::tools::{Outcome, note, print};

/// How to get runs that a comparison needs.
const RECORD: &str = "record runs with `vesica-lab bench suite --paper KEY --out RUNS.jsonl`";

pub fn run(args: &CompareArgs) -> Outcome {
    // With --all, what stands first is no key.
    let (key, first) = if args.all { (None, args.key.as_ref()) } else { (args.key.as_deref(), None) };
    let papers: Vec<Paper> = match key {
        Some(key) => vec![Paper::built_in(key)?],
        None => KEYS.iter().map(|key| Paper::built_in(key)).collect::<Result<_, Failure>>()?,
    };
    let paths: Vec<_> = first.map(Into::into).into_iter().chain(args.runs.iter().cloned()).collect();
    let recordings = report_page::read(&paths).map_err(unreadable)?;
    let comparisons: Vec<Comparison<'_>> =
        papers.iter().map(|paper| Comparison::new(paper, &recordings)).collect::<Result<_, _>>()?;
    if recordings.is_empty() {
        note(format_args!("no recording is named, so that none of our times is shown; {RECORD}"));
    } else if !comparisons.iter().any(Comparison::is_measured) {
        let whose = key.unwrap_or("the five papers");
        return Err(Failure::new(
            code::INPUT,
            format_args!("no run in these recordings belongs to a row of the tables of {whose}"),
            RECORD,
        ));
    }
    print(&shown(args, &comparisons, &recordings))
}

fn shown(args: &CompareArgs, comparisons: &[Comparison<'_>], recordings: &[Recording]) -> String {
    if args.json {
        let of_each: Vec<Value> = comparisons.iter().map(papers::json).collect();
        return match of_each.as_slice() {
            [only] if !args.all => format!("{only}\n"),
            all => format!("{}\n", serde_json::json!({ "papers": all, "recordings": recordings.len() })),
        };
    }
    let each = if args.markdown { papers::markdown } else { papers::text };
    let mut texts: Vec<String> = Vec::new();
    if args.all {
        let counts: Vec<_> =
            comparisons.iter().map(|comparison| (comparison.paper.key.as_str(), comparison.counts())).collect();
        texts.push(if args.markdown { papers::counted(&counts) } else { papers::counted_text(&counts) });
    }
    texts.extend(comparisons.iter().map(each));
    texts.join("\n")
}
