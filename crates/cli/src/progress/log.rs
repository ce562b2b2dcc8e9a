//! When a log gets a line of progress.

use std::time::Duration;

use vesica::progress::{Progress, Stage};

use super::words;

/// Time between two lines within a stage, and after which the log of a run that nobody watches begins.
const EVERY: Duration = Duration::from_secs(30);

/// The lines of a log.
#[derive(Debug)]
pub struct Log {
    /// How long a run goes on before anything is written.
    quiet_for: Duration,
    /// Whether there are lines within a stage.
    within: bool,
    /// When the last line was written.
    last: Duration,
}

impl Log {
    /// A line for each stage, and one at times within.
    pub fn full() -> Self {
        Self { quiet_for: Duration::ZERO, within: true, last: Duration::ZERO }
    }

    /// As [`Self::full`], of a run that takes long; nothing of a short one.
    pub fn of_long_runs() -> Self {
        Self { quiet_for: EVERY, ..Self::full() }
    }

    /// A line for each stage alone.
    pub fn of_stages() -> Self {
        Self { within: false, ..Self::full() }
    }

    /// The line for a stage that begins when the run has gone on for `elapsed`.
    pub fn begins(&mut self, stage: &Stage, elapsed: Duration) -> Option<String> {
        self.is_due(elapsed, Duration::ZERO).then(|| format!("{stage} ..."))
    }

    /// The line for a stage that goes on.
    pub fn goes_on(&mut self, progress: &Progress, elapsed: Duration) -> Option<String> {
        (self.within && self.is_due(elapsed, EVERY)).then(|| words::line(progress))
    }

    fn is_due(&mut self, elapsed: Duration, pause: Duration) -> bool {
        let is_due = elapsed >= self.quiet_for && elapsed >= self.last + pause;
        if is_due {
            self.last = elapsed;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which a log has a line of a run that reads until second 50 and then runs.
    fn written(mut log: Log) -> Vec<u64> {
        let progress = Progress {
            stage: Stage::Reading,
            fraction: None,
            seconds_left: None,
            sent_bytes: 0,
            received_bytes: 0,
            expected_bytes: None,
            phase: None,
        };
        let mut lines = Vec::new();
        for tenth in 0..1000 {
            let elapsed = Duration::from_millis(100 * tenth);
            let line = match tenth {
                0 => log.begins(&Stage::Reading, elapsed),
                500 => log.begins(&Stage::Running("vole-fast"), elapsed),
                _ => log.goes_on(&progress, elapsed),
            };
            lines.extend(line.map(|_| elapsed.as_secs()));
        }
        lines
    }

    #[test]
    fn a_log_has_few_lines() {
        assert_eq!(written(Log::full()), [0, 30, 50, 80]);
        assert_eq!(written(Log::of_long_runs()), [30, 50, 80]);
        assert_eq!(written(Log::of_stages()), [0, 50]);
    }
}
