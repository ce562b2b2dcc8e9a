//! `vesica bench report`: recorded runs as a page of HTML, or as a table of Markdown.

use vesica::Failure;
use vesica::failure::code;
use vesica::table::Place;
use vesica_bench::report_page::{self, Data};

use crate::args::ReportArgs;
use crate::outcome::{Outcome, print, say};

pub fn run(args: ReportArgs) -> Outcome {
    // An output that cannot be written shows before anything is read.
    let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
    for notice in place.iter().filter_map(Place::swept) {
        say(format_args!("note: {notice}"));
    }
    let recordings = report_page::read(&args.runs).map_err(|error| {
        Failure::new(
            code::INPUT,
            error,
            "name files of one `vesica bench --json` a line, as bench/runs/README.md says, or folders with a runs.jsonl",
        )
    })?;
    for recording in recordings.iter().filter(|recording| recording.passed_over > 0) {
        say(format_args!(
            "note: {}: passed over {} line(s) that are no run of one protocol",
            recording.label, recording.passed_over
        ));
    }
    if recordings.iter().all(|recording| recording.runs.is_empty()) {
        return Err(Failure::new(
            code::INPUT,
            "there is no run of one protocol in these files",
            "record some with `vesica bench --json`",
        ));
    }
    let data = Data::new(recordings)?;
    if args.markdown {
        print(&report_page::markdown(&data))?;
    }
    let Some(place) = place else { return Ok(()) };
    let page = report_page::html(&data)
        .map_err(|error| Failure::new(code::INTERNAL, error, "please report it with the files of runs"))?;
    Ok(place.write(page.as_bytes())?)
}
