//! Progress in words.

use vesica::progress::Progress;

/// What is told of a stage beside its name and its percentage, such as `12.3 of 28.1 MB, 40 s left`.
pub fn details(progress: &Progress) -> String {
    let done = progress.sent_bytes + progress.received_bytes;
    let bytes = match progress.expected_bytes {
        Some(expected) if done <= expected => Some(format!("{} of {} MB", megabytes(done), megabytes(expected))),
        Some(_) => Some(format!("{} MB", megabytes(done))),
        None => None,
    };
    bytes.into_iter().chain(time_left(progress)).collect::<Vec<_>>().join(", ")
}

/// What a line on a terminal may say, from much to little.
pub fn short_lines(progress: &Progress) -> Vec<String> {
    let stage = progress.stage.to_string();
    let with = |details: String| if details.is_empty() { stage.clone() } else { format!("{stage}, {details}") };
    let all = with(details(progress));
    let phase = progress.phase.map(|phase| format!("{all} ({phase})"));
    let left = with(time_left(progress).unwrap_or_default());
    phase.into_iter().chain([all, left, stage]).collect()
}

/// A line for a log, such as `running vole-fast: 43 %, 12.3 of 28.1 MB, 40 s left`.
pub fn line(progress: &Progress) -> String {
    let share = progress.fraction.map(|fraction| format!("{} %", percent(fraction)));
    let parts: Vec<String> = share.into_iter().chain(Some(details(progress)).filter(|text| !text.is_empty())).collect();
    match parts.as_slice() {
        [] => format!("{} goes on", progress.stage),
        parts => format!("{}: {}", progress.stage, parts.join(", ")),
    }
}

fn time_left(progress: &Progress) -> Option<String> {
    progress.seconds_left.map(|seconds| format!("{} left", span(seconds)))
}

/// Whole percents, rounded down: 100 is for what has ended.
pub fn percent(fraction: f64) -> u64 {
    (100.0 * fraction) as u64
}

/// A time as far as an estimate goes.
pub fn span(seconds: f64) -> String {
    let seconds = seconds.max(1.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use vesica::progress::Stage;

    use super::*;

    #[test]
    fn lines_say_what_is_known() {
        let nothing = Progress {
            stage: Stage::Closing,
            fraction: None,
            seconds_left: None,
            sent_bytes: 5_000_000,
            received_bytes: 7_340_000,
            expected_bytes: None,
            phase: None,
        };
        assert_eq!(line(&nothing), "closing goes on");
        let reading = Progress { stage: Stage::Reading, fraction: Some(0.999), ..nothing.clone() };
        assert_eq!(line(&reading), "reading the input: 99 %");
        let running = Progress {
            stage: Stage::Running("vole-fast"),
            fraction: Some(0.43),
            seconds_left: Some(40.2),
            expected_bytes: Some(28_100_000),
            ..nothing.clone()
        };
        assert_eq!(line(&running), "running vole-fast: 43 %, 12.3 of 28.1 MB, 40 s left");
        let more = Progress { expected_bytes: Some(1), seconds_left: None, ..running };
        assert_eq!(line(&more), "running vole-fast: 43 %, 12.3 MB");
    }

    #[test]
    fn times_have_their_units() {
        let spans = [0.0, 59.4, 60.0, 3599.0, 7320.0, 1e6].map(span);
        assert_eq!(spans, ["1 s", "59 s", "1 min 0 s", "59 min 59 s", "2 h 2 min", "11 days"]);
    }
}
