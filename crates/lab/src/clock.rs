//! Clocks that two processes of one machine share, and what the kernel says of this process.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use rustix::time::{ClockId, clock_gettime};

/// Seconds of the machine's monotonic clock.
pub fn monotonic() -> f64 {
    seconds(ClockId::Monotonic)
}

/// Processor seconds of this process, all threads.
pub fn processor() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Peak resident memory of a process in bytes (VmHWM), or zero where the system does not say.
/// `process` is its number, or `self`.
pub fn peak_memory(process: &str) -> u64 {
    field(process, "VmHWM:")
}

/// A field of a process's status that counts KiB, in bytes.
fn field(process: &str, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kib =
        status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Resident memory now, in bytes, of a process and its descendants; zero where the system does not say.
pub fn tree_memory(process: &str) -> u64 {
    let own = field(process, "VmRSS:");
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children: Vec<String> = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    own + children.iter().map(|child| tree_memory(child)).sum::<u64>()
}

/// Processor seconds of another process: all threads, and children that it waited for. Zero where
/// the system does not say. The system counts in ticks, mostly of 10 ms.
pub fn processor_of(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program ends at the last parenthesis; eleven fields stand between it and the times.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let ticks: u64 = fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}
