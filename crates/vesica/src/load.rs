//! What else the machine does.

use std::fs;
use std::thread;
use std::time::Duration;

/// How long the machine is watched.
const WATCHED: Duration = Duration::from_millis(300);

/// The share of all processors' time, 0 to 1, that was not idle while this process slept for a
/// moment: what others take from a measurement. `None` where the system does not tell.
pub fn busy_share() -> Option<f64> {
    let [busy, all] = times()?;
    thread::sleep(WATCHED);
    let [busy_then, all_then] = times()?;
    let passed = all_then.checked_sub(all).filter(|passed| *passed > 0)?;
    Some(busy_then.saturating_sub(busy) as f64 / passed as f64)
}

/// Ticks of all processors since the start: those that were not idle, and all.
fn times() -> Option<[u64; 2]> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        stat.lines().next()?.split_whitespace().skip(1).take(8).map(|field| field.parse().unwrap_or(0)).collect();
    // The fourth and fifth are idle and waiting for disks; guests are counted before the ninth.
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    let all: u64 = ticks.iter().sum();
    Some([all.checked_sub(idle)?, all])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_one() {
        let share = busy_share().expect("Linux tells");
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
