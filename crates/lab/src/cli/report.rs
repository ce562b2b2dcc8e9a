//! `vesica-lab bench report`: recorded runs as a page of HTML, a table of Markdown, or plots.

use std::fs;
use std::path::Path;

use crate::report_page::{self, Data, UnreadableRuns};
use vesica::Failure;
use vesica::failure::code;
use vesica::table::Place;
use vesica::words::counted;

use super::report_args::ReportArgs;
use vesica_cli::tools::{Outcome, note, print};

pub fn run(args: ReportArgs) -> Outcome {
    // An output that cannot be written shows before anything is read.
    let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
    for notice in place.iter().filter_map(Place::swept) {
        note(notice);
    }
    let recordings = report_page::read(&args.runs).map_err(unreadable)?;
    for recording in recordings.iter().filter(|recording| recording.passed_over > 0) {
        note(format_args!(
            "{}: passed over {} no run of one protocol",
            recording.label,
            counted(recording.passed_over, "line that is", "lines that are")
        ));
    }
    if recordings.iter().all(|recording| recording.runs.is_empty() && recording.programs.is_empty()) {
        return Err(Failure::new(
            code::INPUT,
            "there is no run of one protocol in these files",
            "record some with `vesica-lab bench --json`",
        ));
    }
    let data = Data::new(recordings)?;
    if args.markdown {
        print(&report_page::markdown(&data))?;
    }
    if let Some(folder) = &args.svg {
        write_plots(folder, args.force, &data)?;
    }
    let Some(place) = place else { return Ok(()) };
    let page = report_page::html(&data)
        .map_err(|error| Failure::new(code::INTERNAL, error, "please report it with the files of runs"))?;
    Ok(place.write(page.as_bytes())?)
}

/// Writes one file for each plot, and none where one of them cannot be written.
fn write_plots(folder: &Path, force: bool, data: &Data) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::new(
            code::OUTPUT,
            format_args!("cannot make the folder {}: {error}", folder.display()),
            "name a folder that can be written with --svg",
        )
    })?;
    let mut plots = Vec::new();
    for (name, plot) in report_page::plots(data) {
        plots.push((Place::file(&folder.join(name).to_string_lossy(), force)?, plot));
    }
    for (place, plot) in plots {
        place.write(plot.as_bytes())?;
    }
    Ok(())
}

pub fn unreadable(error: UnreadableRuns) -> Failure {
    Failure::new(
        code::INPUT,
        error,
        "name files of one `vesica-lab bench --json` a line, as bench/runs/README.md says, or folders with a runs.jsonl",
    )
}
