//! How much memory a run may take: what the user says, or what is free.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use vesica_structures::facts::Unsupported;

/// A bound on memory, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes that may still be taken.
    pub left: u64,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The user's bound on the process, in bytes.
    User(u64),
    /// A file of the system's.
    System(&'static str),
    /// A limit of the system on this process.
    Limit(&'static str),
}

impl Budget {
    /// What is left of the user's bound on the whole process, or else what is free; but no more than the
    /// system's limits on the process leave. `None` where the system does not say.
    pub fn now(user: Option<u64>) -> Option<Self> {
        match user {
            Some(bound) => {
                let left = bound.saturating_sub(resident().unwrap_or(0));
                tightest([Self { left, source: Source::User(bound) }].into_iter().chain(limits()))
            }
            None => tightest(free().chain(limits())),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = Bytes(self.left);
        match &self.source {
            Source::User(bound) => write!(f, "{left} are left of --memory {}", Bytes(*bound)),
            Source::System(file) => write!(f, "{left} are free by {file}"),
            Source::Limit(name) => write!(f, "{left} are left of the limit on {name}"),
        }
    }
}

/// Bytes as people read them.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const GIB: u64 = 1 << 30;
        match self.0 {
            GIB.. => write!(f, "{:.1} GiB", self.0 as f64 / GIB as f64),
            _ => write!(f, "{} MiB", self.0.div_ceil(1 << 20)),
        }
    }
}

/// Address space that the smallest run takes beside what the program has when it begins: stacks of its
/// threads, tables of its kernels, TLS. docs/limits.md says it.
pub const LEAST: u64 = 32 << 20;

/// Refuses to begin where the limits on this process leave fewer than `least` bytes: an allocation that fails ends a
/// process at once.
///
/// # Errors
/// If they do.
pub fn check_limits(least: u64) -> Result<(), Unsupported> {
    match tightest(limits()) {
        Some(budget) if budget.left < least => Err(Unsupported::new(
            format_args!("{budget}, and this takes at least {}", Bytes(least)),
            "raise the limit; to bound the memory of a run, give --memory or use a control group",
        )),
        _ => Ok(()),
    }
}

/// Whether the system limits the address space of this process.
pub fn is_address_space_limited() -> bool {
    getrlimit(Resource::As).current.is_some()
}

fn tightest(budgets: impl Iterator<Item = Budget>) -> Option<Budget> {
    budgets.min_by_key(|budget| budget.left)
}

/// What the limits on this process leave of its address space and of its data.
fn limits() -> impl Iterator<Item = Budget> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limits = [
        (Resource::As, "VmSize:", "address space (RLIMIT_AS, `ulimit -v`)"),
        (Resource::Data, "VmData:", "data (RLIMIT_DATA, `ulimit -d`)"),
    ];
    limits.into_iter().filter_map(move |(resource, taken, name)| {
        let taken = kibibytes(&status, taken).unwrap_or(0);
        let left = getrlimit(resource).current?.saturating_sub(taken);
        Some(Budget { left, source: Source::Limit(name) })
    })
}

/// What the machine and the control group leave.
fn free() -> impl Iterator<Item = Budget> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| kibibytes(&text, "MemAvailable:"));
    let machine = machine.map(|left| Budget { left, source: Source::System("/proc/meminfo") });
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_left(&groups, Path::new("/sys/fs/cgroup"))
        .map(|left| Budget { left, source: Source::System("/sys/fs/cgroup") });
    machine.into_iter().chain(group)
}

/// Bytes of memory that this process has touched.
fn resident() -> Option<u64> {
    fs::read_to_string("/proc/self/status").ok().and_then(|text| kibibytes(&text, "VmRSS:"))
}

/// The figure of a line `NAME 123 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups of `/proc/self/cgroup` leave below `root`: the least over each group and
/// those around it. `None` where none is bounded.
fn group_left(groups: &str, root: &Path) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (top, [limit, usage], cache) = match controllers {
            "" => (root.to_path_buf(), ["memory.max", "memory.current"], "inactive_file "),
            _ if controllers.split(',').any(|one| one == "memory") => {
                (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"], "total_inactive_file ")
            }
            _ => continue,
        };
        let mut folder: PathBuf = top.join(path.trim_start_matches('/'));
        while folder.starts_with(&top) {
            // A group that cannot be seen from here bounds nothing that is known.
            if let (Some(limit), Some(usage)) = (number(&folder.join(limit)), number(&folder.join(usage))) {
                // Cached files give way.
                let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
                let cached = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse().ok()).unwrap_or(0);
                let left = limit.saturating_sub(usage.saturating_sub(cached));
                least = Some(least.map_or(left, |least| least.min(left)));
            }
            if !folder.pop() {
                break;
            }
        }
    }
    least
}

/// A file of one number; `max` and what version 1 says for "no limit" are none.
fn number(path: &Path) -> Option<u64> {
    let number = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    (number < 1 << 60).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_said() {
        assert_eq!(kibibytes("MemTotal: 9 kB\nMemAvailable:    2048 kB\n", "MemAvailable:"), Some(2 << 20));
        assert_eq!((kibibytes("", "MemAvailable:"), kibibytes("VmRSS: many kB", "VmRSS:")), (None, None));
        assert_eq!([1, 5 << 20, 3 << 29].map(|bytes| Bytes(bytes).to_string()), ["1 MiB", "5 MiB", "1.5 GiB"]);
        let user = Budget { left: 1 << 20, source: Source::User(1 << 30) };
        assert_eq!(user.to_string(), "1 MiB are left of --memory 1.0 GiB");
    }

    #[test]
    fn the_tightest_control_group_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("user/job/memory.max", "max\n");
        write("user/job/memory.current", "700\n");
        write("user/memory.max", "1000\n");
        write("user/memory.current", "900\n");
        write("user/memory.stat", "anon 1\ninactive_file 150\n");
        assert_eq!(group_left("0::/user/job\n", folder.path()), Some(250));
        write("user/job/memory.max", "720\n");
        assert_eq!(group_left("0::/user/job\n", folder.path()), Some(20));
        write("memory/old/memory.limit_in_bytes", "500\n");
        write("memory/old/memory.usage_in_bytes", "499\n");
        assert_eq!(group_left("4:cpu,memory:/old\n0::/user/job\n", folder.path()), Some(1));
        assert_eq!(group_left("0::/elsewhere\nnonsense\n", folder.path()), None);
        assert_eq!(group_left("4:memory:/unbounded\n", folder.path()), None);
    }

    #[test]
    fn a_bound_counts_what_is_taken_already() {
        let left = |bound| Budget::now(Some(bound)).expect("said").left;
        assert_eq!((left(0), left(1)), (0, if cfg!(target_os = "linux") { 0 } else { 1 }));
        assert!(left(1 << 60) > 1 << 59);
    }
}
