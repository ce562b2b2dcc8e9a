//! `vesica-lab bench suite`: many runs, recorded one after the other.

use std::fs;
use std::io;
use std::path::Path;

use crate::papers::{self, Limits, Paper};
use crate::programs::{self, Fault, ProgramReport, Surroundings};
use crate::suite::{self, About, Line, Planned, PlannedProgram, RecordError, Recording, Suite};
use crate::{BenchError, Network, Report};
use vesica::Failure;
use vesica::failure::code;

use vesica::load::busy_share;
use vesica::memory::Budget;
use vesica_cli::tools::{Counter, Outcome, end_after, note, print, processor};

use super::args::SuiteArgs;
use super::parties::{child, failed, program};

/// The share of the machine that others may take before a run is doubtful.
const QUIET: f64 = 0.1;

/// How far the slowest repeat may lie above the median before a run is doubtful.
const OUTLIER: f64 = 1.25;

pub fn run(args: &SuiteArgs) -> Outcome {
    let suite = suite(args)?;
    let limits = limits(args);
    let mut recording = Recording::open(&args.out, &about(&suite.name)).map_err(unusable)?;
    let missing = suite.runs.iter().filter(|run| !recording.has(&run.name));
    let missing: Vec<(&Planned, Option<f64>)> = missing.map(|run| (run, run.predicted_seconds())).collect();
    let programs: Vec<&PlannedProgram> = suite.programs.iter().filter(|run| !recording.has(&run.name)).collect();
    let surroundings = surroundings(args.file.as_deref().unwrap_or(Path::new(".")))?;
    // A program or a link that is not to be had shows before anything is measured.
    for run in &programs {
        run.program.find(&surroundings).map_err(|refused| Failure::new(code::INPUT, refused.what, refused.mend))?;
    }
    end_after(crate::undo_all)?;
    let links = missing.iter().map(|(run, _)| run.settings.link).chain(programs.iter().map(|run| run.program.link));
    let mut tried: Vec<Network> = Vec::new();
    for link in links {
        if !tried.contains(&link) {
            link.try_out().map_err(failed)?;
            tried.push(link);
        }
    }
    let all = suite.runs.len() + suite.programs.len();
    let there = all - missing.len() - programs.len();
    if there > 0 {
        note(format_args!("{there} of {all} runs are recorded already"));
    }
    let mut estimate = Estimate::of(missing.iter().map(|(_, predicted)| *predicted));
    let mut counter = Counter::new(args.progress, missing.len() + programs.len());
    let [mut measured, mut refused, mut left_out] = [0; 3];
    for (run, predicted) in missing {
        counter.begin(&run.name, estimate.left());
        if let Some(beyond) = limits.and_then(|limits| run.beyond(&limits, recording.reports())) {
            left_out += 1;
            estimate.pass(predicted);
            counter.warning(&format!("{}: left out: {}", run.name, beyond.why));
            let outcome = suite::Outcome::LeftOut(Box::new(beyond));
            recording.add(Line { name: run.name.clone(), busy_before: None, outcome }).map_err(unusable)?;
            counter.pass();
            continue;
        }
        let paced = limits.map(|_| run.paced(recording.reports()));
        let run = paced.as_ref().unwrap_or(run);
        let busy_before = busy_share();
        let outcome = match measure(run) {
            Ok(report) => {
                measured += 1;
                for warning in warnings(&report, busy_before) {
                    counter.warning(&format!("{}: {warning}", run.name));
                }
                estimate.learn(predicted, report.samples.iter().map(|sample| sample.total_seconds).sum());
                suite::Outcome::Run(Box::new(report))
            }
            Err(BenchError::Unsupported(why)) => {
                refused += 1;
                suite::Outcome::Refused(why.what)
            }
            Err(other) => {
                let failure = failed(other);
                return Err(Failure { fault: format!("{}: {}", run.name, failure.fault), ..failure });
            }
        };
        estimate.pass(predicted);
        recording.add(Line { name: run.name.clone(), busy_before, outcome }).map_err(unusable)?;
        counter.pass();
    }
    let mut faults = Vec::new();
    for PlannedProgram { name, program } in &programs {
        counter.begin(name, estimate.left());
        let busy_before = busy_share();
        let report = programs::measure(program, &surroundings).map_err(failed)?;
        for warning in program_warnings(&report, busy_before) {
            counter.warning(&format!("{name}: {warning}"));
        }
        faults.extend(report.outcome.fault().map(|fault| (name.clone(), report.outcome.words(), fault.clone())));
        let outcome = suite::Outcome::Program(Box::new(report));
        recording.add(Line { name: name.clone(), busy_before, outcome }).map_err(unusable)?;
        counter.pass();
    }
    counter.finish();
    let of_programs = match programs.len() {
        0 => String::new(),
        count => format!("{} of {count} programs measured, ", count - faults.len()),
    };
    let of_limits = if left_out > 0 { format!("{left_out} left out as beyond this machine, ") } else { String::new() };
    print(&format!(
        "{}: {measured} runs measured, {refused} refused, {of_limits}{of_programs}{there} recorded before; all are in {}\n",
        suite.name,
        args.out.display()
    ))?;
    let Some((name, words, Fault { fault, mend })) = faults.first() else { return Ok(()) };
    let more = match faults.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more have no right output: see the warnings above)"),
    };
    Err(Failure::new(
        code::REFUSED,
        format_args!("{name}: {words}: {fault}{more}"),
        format_args!(
            "{mend}; this outcome is recorded: to run it again, take its line out of {}, or name another --out",
            args.out.display()
        ),
    ))
}

/// The suite of a file, or that of papers.
fn suite(args: &SuiteArgs) -> Result<Suite, Failure> {
    let Some(path) = &args.file else {
        let papers = args.papers.iter().map(|key| Paper::built_in(key)).collect::<Result<Vec<Paper>, Failure>>()?;
        return Ok(papers::wanted(format!("papers-{}", args.papers.join("-")), &papers, cores())?);
    };
    let file = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(code::INPUT, format_args!("cannot read {file}: {error}"), "name a suite file that can be read")
    })?;
    suite::read(&text)
        .map_err(|refused| Failure::new(code::INPUT, format_args!("{file}: {}", refused.what), refused.mend))
}

/// What a run for a paper may take of this machine; none for the suite of a file, whose runs are all made.
fn limits(args: &SuiteArgs) -> Option<Limits> {
    let memory = Budget::now(None).map_or(u64::MAX, |budget| budget.left);
    args.file.is_none().then_some(Limits { seconds: args.at_most, memory })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What placeholders of programs stand for on this machine.
fn surroundings(file: &Path) -> Result<Surroundings, Failure> {
    let file = std::path::absolute(file).map_err(|error| {
        Failure::new(
            code::INPUT,
            format_args!("cannot use {}: {error}", file.display()),
            "name the file by its whole path",
        )
    })?;
    Ok(Surroundings { vesica: program()?, suite: file.parent().unwrap_or(Path::new("/")).to_owned() })
}

/// What speaks against a program's run, or why there are no figures.
fn program_warnings(report: &ProgramReport, busy: Option<f64>) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(report.outcome.fault().map(|fault| format!("{}: {}", report.outcome.words(), fault.fault)));
    if let Some(figures) = report.outcome.figures() {
        warnings.extend(doubts(busy, figures.total_spread.most / figures.total_seconds));
    }
    warnings
}

fn measure(run: &Planned) -> Result<Report, BenchError> {
    let settings = run.settings.clone().checked()?;
    let parties = child(&settings).map_err(|failure| BenchError::Process(io::Error::other(failure.fault)))?;
    let report = crate::two_processes(&settings, parties)?;
    if !report.correct {
        return Err(BenchError::Process(io::Error::other("an output was wrong, so that its figures mean nothing")));
    }
    Ok(report)
}

/// What speaks against a run.
fn warnings(report: &Report, busy: Option<f64>) -> Vec<String> {
    doubts(busy, report.total_spread.most / report.total_seconds)
}

/// Doubts about times, by what others took of the machine and by the slowest repeat over the median.
fn doubts(busy: Option<f64>, slowest: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(busy) = busy.filter(|busy| *busy > QUIET) {
        warnings.push(format!("others took {:.0} % of the machine before it began", 100.0 * busy));
    }
    if slowest > OUTLIER {
        warnings.push(format!("its slowest repeat took {slowest:.2} times the median"));
    }
    warnings
}

fn about(suite: &str) -> About {
    About {
        suite: suite.into(),
        processor: processor(),
        cores: cores(),
        kernels: vesica_kernels::backend().name().into(),
        vesica: env!("CARGO_PKG_VERSION").into(),
    }
}

fn unusable(error: RecordError) -> Failure {
    let mend = match error {
        RecordError::OfOther { .. } => "name another file with --out: a recording is of one suite, machine and release",
        RecordError::Line { .. } => "name a recording of `vesica-lab bench suite`, or a file that does not exist yet",
        RecordError::File { .. } => "name a file that can be read and written",
    };
    Failure::new(code::INPUT, error, mend)
}

/// How long the runs that are left will take: the model's times, scaled by how those of this
/// recording compare with it.
struct Estimate {
    /// Seconds that the model gives the runs that are left.
    left: f64,
    /// Seconds that the model gives those that were measured, and what they took.
    known: [f64; 2],
    /// Seconds for a run that the model does not know.
    middle: f64,
}

impl Estimate {
    /// For runs of which the model says so many seconds each.
    fn of(predictions: impl Iterator<Item = Option<f64>> + Clone) -> Self {
        let known: Vec<f64> = predictions.clone().flatten().collect();
        let middle = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let left = predictions.map(|predicted| predicted.unwrap_or(middle)).sum();
        Self { left, known: [0.0; 2], middle }
    }

    fn learn(&mut self, predicted: Option<f64>, seconds: f64) {
        if let Some(predicted) = predicted {
            self.known = [self.known[0] + predicted, self.known[1] + seconds];
        }
    }

    fn pass(&mut self, predicted: Option<f64>) {
        self.left = (self.left - predicted.unwrap_or(self.middle)).max(0.0);
    }

    /// Seconds for all that is left; `None` before anything was measured.
    fn left(&self) -> Option<f64> {
        let [predicted, took] = self.known;
        (predicted > 0.0).then(|| (self.left * took / predicted).clamp(0.0, 1e9))
    }
}
