//! How fast this machine is: measured once, kept in the user's cache folder.

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use vesica::Failure;
use vesica::bounded::read_text;
use vesica::load::busy_share;
use vesica::memory;
use vesica::party::Security;
use vesica::plan::{Machine, PROBES, Probe};
use vesica::probe::{self, Probed};
use vesica::task::{self, Amounts, MadeUp};

/// What was measured, and what it holds for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Release of vesica.
    pub vesica: String,
    /// The machine's name and processor.
    pub machine: String,
    /// The kernels in use.
    pub kernels: String,
    /// Compute threads of a party.
    pub threads: usize,
    /// Seconds since 1970, when it was measured.
    pub measured_at: u64,
    /// Thousandths of the reference machine's time.
    pub speed: Machine,
}

/// Whether a calibration was kept or has just been made, and where it is now.
pub struct Known {
    pub calibration: Calibration,
    /// `None`: it could not be kept, or is not worth it.
    pub file: Option<PathBuf>,
    pub fresh: bool,
    /// The share of the machine, 0 to 1, that other programs took when it was measured; `None` if it was kept, or
    /// where the system does not tell.
    pub busy: Option<f64>,
}

/// Share of the machine that others may take without harm to a measurement.
const QUIET: f64 = 0.1;

/// Address space for both parties of any of the runs that are measured.
const LEAST: u64 = 128 << 20;

impl Known {
    /// What speaks against the measurement, if it has just been made.
    pub fn warning(&self) -> Option<String> {
        let busy = self.busy.filter(|busy| !is_quiet(*busy))?;
        Some(format!(
            "other programs took {:.0} % of this machine while it was measured, so that all times may be too long: the \
             measurement is not kept; plan again, or say --calibrate, when the machine is idle",
            100.0 * busy
        ))
    }
}

/// Whether a machine of which others take this share can be measured.
fn is_quiet(busy: f64) -> bool {
    busy <= QUIET
}

/// The kept calibration if it holds for this program, machine and number of threads, else a new
/// one; a new one in any case if `again`.
pub fn know(threads: NonZeroUsize, again: bool) -> Result<Known, Failure> {
    let file = file();
    if let (Some(file), false) = (&file, again)
        && let Some(kept) = find(file, threads)
    {
        return Ok(Known { calibration: kept, file: Some(file.clone()), fresh: false, busy: None });
    }
    // While this process sleeps, so that it sees only what others take: before and after.
    let before = busy_share();
    let calibration = Calibration { speed: measure(threads)?, ..here(threads) };
    let busy = before.into_iter().chain(busy_share()).reduce(f64::max);
    // What may be wrong would count for plans and runs until somebody asks for another measurement.
    let kept = file.filter(|file| busy.is_none_or(is_quiet) && keep(file, &calibration).is_some());
    Ok(Known { calibration, file: kept, fresh: true, busy })
}

/// How fast this machine is with so many threads if that was measured before, and else as fast as the
/// reference machine.
pub fn kept(threads: usize) -> Machine {
    let kept = NonZeroUsize::new(threads).and_then(|threads| find(&file()?, threads));
    kept.map_or(Machine::REFERENCE, |kept| kept.speed)
}

/// What is kept for this program, machine and number of threads.
fn find(file: &Path, threads: NonZeroUsize) -> Option<Calibration> {
    let here = here(threads);
    let holds_here =
        |kept: &Calibration| *kept == Calibration { measured_at: kept.measured_at, speed: kept.speed, ..here.clone() };
    load(file).into_iter().find(holds_here)
}

/// `$XDG_CACHE_HOME/vesica/calibration.json`.
fn file() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    Some(cache?.join("vesica").join("calibration.json"))
}

/// Longest file of calibrations that is read.
const FILE_LIMIT: u64 = 1 << 20;

/// One for each number of threads; none where the file is missing or not of this release's kind: it
/// can be measured again at any time.
fn load(file: &Path) -> Vec<Calibration> {
    read_text(file, FILE_LIMIT).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Replaces what was kept for the same machine and threads. `None`: nothing could be written, which
/// only costs the time to measure again.
fn keep(file: &Path, new: &Calibration) -> Option<()> {
    let mut all = load(file);
    all.retain(|old| {
        (old.threads, &old.machine, &old.kernels) != (new.threads, &new.machine, &new.kernels)
            && old.vesica == new.vesica
    });
    all.push(new.clone());
    fs::create_dir_all(file.parent()?).ok()?;
    // A reader never sees half a file.
    let partial = file.with_extension(format!("{}.partial", std::process::id()));
    fs::write(&partial, serde_json::to_vec_pretty(&all).ok()?).ok()?;
    fs::rename(&partial, file).ok()
}

/// The processor's name; empty where the system does not tell.
pub fn processor() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("", |(_, name)| name.trim()).to_owned()
}

/// What a calibration made now would hold for.
fn here(threads: NonZeroUsize) -> Calibration {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let model = processor();
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Calibration {
        vesica: env!("CARGO_PKG_VERSION").into(),
        machine: format!("{}, {model}, {cores} cores", host.trim()),
        kernels: vesica_kernels::backend().name().into(),
        threads: threads.get(),
        measured_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        speed: Machine::REFERENCE,
    }
}

/// Runs the probes, both parties in this process.
fn measure(threads: NonZeroUsize) -> Result<Machine, Failure> {
    memory::check_limits(LEAST)?;
    let mut measured = [0; PROBES.len()];
    for (Probe { protocol, log_items, repeats }, measured) in PROBES.iter().zip(&mut measured) {
        let items = 1 << log_items;
        let probed = Probed {
            task: task::find("intersect")?,
            protocol,
            security: Security::SemiHonest,
            items: MadeUp { sender_items: items, receiver_items: items, common: items / 2, item_bytes: 16 },
            amounts: Amounts::NONE,
            threads: threads.get(),
        };
        // The first run warms up.
        let ran = probe::run(&probed, 1 + repeats).map_err(|failure| Failure {
            fault: format!("cannot measure this machine: {}", failure.fault),
            ..failure
        })?;
        let least = ran.iter().skip(1).map(|ran| ran.seconds).fold(f64::INFINITY, f64::min);
        *measured = (least * 1e6) as u64;
    }
    Ok(Machine::from_probes(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_told_from_an_idle_one() {
        let known = |busy| Known { calibration: here(NonZeroUsize::MIN), file: None, fresh: true, busy };
        let warned = known(Some(0.5)).warning().expect("busy");
        assert!(
            warned.contains("50 %") && warned.contains("is not kept") && warned.contains("--calibrate"),
            "{warned}"
        );
        assert_eq!([Some(0.02), None].map(|busy| known(busy).warning()), [None, None]);
    }
}
