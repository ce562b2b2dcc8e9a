//! What is to be said of a stage that goes on, from what was expected of it and what is seen of it.
//!
//! The plan knows a time for machines and links like those it was fitted on, and the number of bytes. The
//! bytes so far tell how the run compares with the plan. They are no clock: protocols send in bursts, and
//! may compute for long before or after. So the plan's time counts at first, and what the bytes say counts
//! more and more as they come.

/// What is expected of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Seconds from its beginning to its end.
    pub seconds: Option<f64>,
    /// Bytes that both sides send in it.
    pub bytes: Option<u64>,
}

/// The largest fraction that is told of a stage that has not ended.
const MOST: f64 = 0.99;

/// How far bytes that are ahead of the plan are believed: the stage may have to compute after the last one.
const AHEAD: f64 = 0.75;

/// Of a stage that takes longer than anything foretold, the time left is said to be this share of the time
/// so far.
const LEAST_LEFT: f64 = 0.05;

/// Once a stage has taken so many times what was foretold, nothing is said of the time left.
const OVERDUE: f64 = 1.5;

/// Seconds, and the share of the work, from which on a rate tells the time left.
const LEAST_SEEN: [f64; 2] = [1.0, 0.01];

/// Times beyond this many seconds are not told: about three years.
const LONGEST: f64 = 1e8;

/// The outlook on one stage.
#[derive(Debug)]
pub(super) struct Outlook {
    /// Seconds that the plan gives it.
    planned: Option<f64>,
    fraction: Option<f64>,
    /// When work was seen first, and how much of it was done by then.
    first: Option<[f64; 2]>,
}

/// What is to be said at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub fraction: Option<f64>,
    pub seconds_left: Option<f64>,
}

impl Outlook {
    /// For a stage to which the plan gives so many seconds, if it knows a time.
    pub fn new(planned: Option<f64>) -> Self {
        let planned = planned.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
        Self { planned, fraction: None, first: None }
    }

    /// What is to be said `elapsed` seconds after the stage began, when the share `part` of its bytes is
    /// done, if that is known.
    pub fn look(&mut self, elapsed: f64, part: Option<f64>) -> View {
        let part = part.filter(|part| part.is_finite()).map(|part| part.clamp(0.0, 1.0));
        let [fraction, left] = match (self.planned, part) {
            (Some(planned), part) => by_plan(planned, elapsed, part.unwrap_or(0.0)),
            (None, Some(part)) => [Some(part), self.by_rate(elapsed, part)],
            (None, None) => [None, None],
        };
        let said = fraction.map(|fraction| fraction.min(MOST));
        // `max` passes over what is not known yet.
        self.fraction = self.fraction.into_iter().chain(said).reduce(f64::max);
        let seconds_left = left.filter(|left| (0.0..LONGEST).contains(left));
        View { fraction: self.fraction, seconds_left }
    }

    /// The time left at the rate at which work was done since it was seen first.
    fn by_rate(&mut self, elapsed: f64, part: f64) -> Option<f64> {
        let [since, before] = *self.first.get_or_insert([elapsed, part]);
        let [seconds, done] = [elapsed - since, part - before];
        let [least_seconds, least_done] = LEAST_SEEN;
        (seconds >= least_seconds && done >= least_done).then(|| seconds * (1.0 - part) / done)
    }
}

/// The fraction and the time left where the plan knows a time.
fn by_plan(planned: f64, elapsed: f64, part: f64) -> [Option<f64>; 2] {
    let total = if part > 0.0 {
        let is_ahead = part * planned > elapsed;
        // A plan whose time is over counts for less and less.
        let in_time = (planned / elapsed).min(1.0);
        let weight = if is_ahead { 1.0 - AHEAD * part } else { (1.0 - part) * in_time * in_time };
        weight * planned + (1.0 - weight) * elapsed / part
    } else {
        planned
    };
    let left = (total - elapsed).max(LEAST_LEFT * elapsed);
    [Some(elapsed / (elapsed + left)), (elapsed <= OVERDUE * total).then_some(left)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said at each tenth of a stage of `seconds`, of which `part` tells the share of bytes.
    fn said(planned: Option<f64>, seconds: f64, part: impl Fn(f64) -> Option<f64>) -> Vec<View> {
        let mut outlook = Outlook::new(planned);
        (0..=100).map(|step| f64::from(step) / 100.0).map(|at| outlook.look(at * seconds, part(at))).collect()
    }

    #[track_caller]
    fn near(view: View, fraction: f64, left: f64) {
        let said = (view.fraction.expect("a fraction"), view.seconds_left.expect("a time"));
        assert!((said.0 - fraction).abs() < 0.02 && (said.1 - left).abs() < 0.02 * left.max(1.0), "{view:?}");
    }

    #[test]
    fn a_run_that_keeps_to_the_plan_is_told_exactly() {
        for part in [|at| Some(at), |_| None, |at: f64| Some(at * at)] as [fn(f64) -> Option<f64>; 3] {
            near(said(Some(40.0), 40.0, part)[0], 0.0, 40.0);
        }
        let views = said(Some(40.0), 40.0, Some);
        near(views[25], 0.25, 30.0);
        near(views[80], 0.8, 8.0);
        near(said(Some(40.0), 40.0, |_| None)[50], 0.5, 20.0);
    }

    /// Three times as slow as the plan: when most bytes are through, the plan is corrected.
    #[test]
    fn what_is_measured_corrects_the_plan() {
        let slow = said(Some(10.0), 30.0, Some);
        let left = |view: View| view.seconds_left.expect("a time");
        assert!(left(slow[70]) > 6.0 && left(slow[90]) > 2.0, "{:?} {:?}", slow[70], slow[90]);
        assert!(slow[70].fraction.expect("one") < 0.8);
        // And a faster one: four times.
        let fast = said(Some(40.0), 10.0, Some);
        assert!(left(fast[80]) < 20.0 && fast[80].fraction.expect("one") > 0.3, "{:?}", fast[80]);
    }

    #[test]
    fn without_a_time_the_rate_of_the_bytes_tells() {
        let views = said(None, 20.0, Some);
        assert_eq!(views[0], View { fraction: Some(0.0), seconds_left: None });
        near(views[50], 0.5, 10.0);
        // Half of it was done before it was looked at, and took no time.
        let views = said(None, 20.0, |at| Some(0.5 + at / 2.0));
        near(views[50], 0.75, 10.0);
        let nothing = View { fraction: None, seconds_left: None };
        assert_eq!(said(None, 20.0, |_| None)[50], nothing);
        assert_eq!(Outlook::new(Some(f64::NAN)).look(1.0, Some(f64::INFINITY)), nothing);
    }

    /// Whatever is expected and seen.
    #[test]
    fn nothing_absurd_is_ever_said() {
        let parts: [fn(f64) -> Option<f64>; 6] = [
            |_| None,
            |_| Some(0.0),
            |at| (at > 0.5).then_some(at),
            |at| Some(if at < 0.1 { 0.0 } else { 5.0 }),
            |at| Some((at * 40.0).sin()),
            |at| Some(at * 1e-9),
        ];
        for planned in [None, Some(0.0), Some(1e-9), Some(1.0), Some(1e300), Some(f64::INFINITY), Some(-5.0)] {
            for seconds in [0.0, 1e-3, 1.0, 1e9] {
                for part in parts {
                    let mut before = 0.0;
                    for view in said(planned, seconds, part) {
                        let fraction = view.fraction.unwrap_or(before);
                        assert!((before..=MOST).contains(&fraction), "{planned:?} {seconds} {view:?}");
                        before = fraction;
                        assert!(view.seconds_left.is_none_or(|left| (0.0..LONGEST).contains(&left)), "{view:?}");
                    }
                }
            }
        }
    }

    /// A fraction that was said once stays, and of what is long overdue no time is said.
    #[test]
    fn a_run_that_does_not_end_has_no_time_left() {
        let views = said(Some(1.0), 10.0, |_| Some(0.0));
        near(views[12], 0.95, 0.06);
        assert_eq!(views[100].seconds_left, None);
        assert!(views[100].fraction.is_some_and(|fraction| fraction > 0.9 && fraction < 1.0));
        let mut outlook = Outlook::new(None);
        outlook.look(1.0, Some(0.4));
        assert_eq!(outlook.look(2.0, None).fraction, Some(0.4));
    }
}
