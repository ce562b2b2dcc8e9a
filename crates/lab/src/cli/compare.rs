//! `vesica-lab bench compare`: the tables of a paper, with ours beside them.

use crate::papers::{self, Comparison, Paper};
use crate::report_page;
use vesica::Failure;
use vesica::failure::code;

use super::args::CompareArgs;
use super::report::unreadable;
use vesica_cli::tools::{Outcome, note, print};

/// How to get runs that a comparison needs.
const RECORD: &str = "record runs of these protocols, modes, sizes and links with \
                      `vesica-lab bench suite FILE.toml --out RUNS.jsonl`";

pub fn run(args: &CompareArgs) -> Outcome {
    let paper = Paper::built_in(&args.key)?;
    let recordings = report_page::read(&args.runs).map_err(unreadable)?;
    let comparison = Comparison::new(&paper, &recordings)?;
    if recordings.is_empty() {
        note(format_args!("no recording is named, so that none of our times is shown; {RECORD}"));
    } else if !comparison.is_measured() {
        return Err(Failure::new(
            code::INPUT,
            format_args!("no run in these recordings belongs to a row of the tables of {}", paper.key),
            RECORD,
        ));
    }
    print(&if args.json {
        format!("{}\n", papers::json(&comparison))
    } else if args.markdown {
        papers::markdown(&comparison)
    } else {
        papers::text(&comparison)
    })
}
