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
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
