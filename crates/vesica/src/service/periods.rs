//! The periods of quotas, and what each client does in one.
//!
//! Periods are those of UTC, by a clock that somebody may set at any time. So a second clock, which
//! nobody sets, divides the time since the server started into stretches of a period's length: at any
//! moment, no more periods have begun than stretches. A period is noticed only when somebody asks; so
//! after stretches in which none began, two may begin in one, and no more. However the first clock
//! jumps, nobody has more quotas in any time than it has stretches, and one more; a stretch of which
//! it has only a part counts.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use vesica_party::service::ClientIdentity;

/// A period of a [`Quota`](super::Quota).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// From each full minute on.
    Minute,
    /// From each full hour on.
    Hour,
    /// From each midnight on.
    Day,
}

impl Period {
    pub(super) const ALL: [Self; 3] = [Self::Minute, Self::Hour, Self::Day];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    /// When the period of a time started; both in seconds since 1970.
    pub(super) fn start(self, now: u64) -> u64 {
        now - now % self.seconds()
    }

    pub(super) fn seconds(self) -> u64 {
        match self {
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => 86_400,
        }
    }

    pub(super) fn length(self) -> Duration {
        Duration::from_secs(self.seconds())
    }
}

/// A moment, by two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970, by the clock that may be set.
    pub utc: u64,
    /// By the clock that nobody sets. It goes on while the machine sleeps.
    pub running: Duration,
}

impl Moment {
    pub fn now() -> Self {
        #[cfg(target_os = "linux")]
        const RUNNING: ClockId = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        const RUNNING: ClockId = ClockId::Monotonic;
        let utc = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self { utc, running: clock_gettime(RUNNING).try_into().unwrap_or_default() }
    }
}

/// The present period, and when another one begins.
#[derive(Debug)]
pub(super) struct Periods {
    period: Period,
    /// When the present period started, in seconds since 1970.
    since: u64,
    /// By the clock that nobody sets: when this was made, and when the present period was noticed.
    opened: Duration,
    noticed: Duration,
    /// At least as many as the periods that have begun since this was made. Another one may begin in
    /// the stretch of this number, from 0, and in later ones.
    begun: u64,
}

impl Periods {
    /// Goes on with the period of `since`, unless it is over. One that is yet to come stands: the clock
    /// was ahead when it began, or has been set back.
    pub fn resume(period: Period, since: u64, now: Moment) -> Self {
        let since = period.start(since.max(now.utc));
        Self { period, since, opened: now.running, noticed: now.running, begun: 0 }
    }

    /// The present one.
    pub fn new(period: Period, now: Moment) -> Self {
        Self::resume(period, 0, now)
    }

    /// When the present period started, in seconds since 1970.
    pub fn since(&self) -> u64 {
        self.since
    }

    /// Whether another period has begun; what was counted in the one before is over then.
    pub fn advance(&mut self, now: Moment) -> bool {
        let is_due = match self.period.start(now.utc).cmp(&self.since) {
            Ordering::Greater => true,
            Ordering::Equal => false,
            // The clock was set back. By less than a period, it comes to where it was before this time is over.
            Ordering::Less => now.running.saturating_sub(self.noticed) >= self.period.length(),
        };
        let stretch = self.stretch(now);
        if !is_due || self.begun > stretch {
            return false;
        }
        self.since = self.period.start(now.utc);
        self.noticed = now.running;
        // Stretches in which nothing began are made up for by one period, not by as many: by a clock that nobody sets,
        // the border within this stretch may be yet to come.
        self.begun = self.begun.saturating_add(1).max(stretch);
        true
    }

    /// Which of the stretches of a period's length this is since this was made.
    fn stretch(&self, now: Moment) -> u64 {
        now.running.saturating_sub(self.opened).as_secs() / self.period.seconds()
    }

    /// Seconds until another period begins, if nobody sets the clock.
    pub fn left(&self, now: Moment) -> u64 {
        let seconds = self.period.seconds();
        let end = self.since.saturating_add(seconds).saturating_sub(now.utc);
        let due = end.min(seconds.saturating_sub(match self.period.start(now.utc) < self.since {
            true => now.running.saturating_sub(self.noticed).as_secs(),
            false => 0,
        }));
        let running = now.running.saturating_sub(self.opened).as_secs();
        let stretch_that_allows = self.begun.saturating_mul(seconds);
        due.max(stretch_that_allows.saturating_sub(running))
    }
}

/// What each client has done in the present period. Nothing of it outlives the process.
#[derive(Debug)]
pub(super) struct Tally {
    pub periods: Periods,
    counts: HashMap<ClientIdentity, u64>,
}

impl Tally {
    pub fn new(period: Period, now: Moment) -> Self {
        Self { periods: Periods::new(period, now), counts: HashMap::new() }
    }

    /// What a client has done in this period, to be added to.
    pub fn of(&mut self, client: &ClientIdentity, now: Moment) -> &mut u64 {
        if self.periods.advance(now) {
            self.counts.clear();
        }
        self.counts.entry(*client).or_default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;

    pub fn at(utc: u64, running: u64) -> Moment {
        Moment { utc, running: Duration::from_secs(running) }
    }

    /// Both clocks as one: nobody sets either.
    pub fn honest(utc: u64) -> Moment {
        at(utc, utc)
    }

    #[test]
    fn a_clock_that_nobody_sets_begins_each_period_at_its_border() {
        for start in [7200, 7201, 9000, 10_799] {
            let mut periods = Periods::new(Period::Hour, honest(start));
            let mut begun = Vec::new();
            for utc in start..start + 5 * 3600 {
                if periods.advance(honest(utc)) {
                    begun.push(utc);
                }
                assert_eq!(periods.left(honest(utc)), 3600 - utc % 3600, "{start} {utc}");
            }
            let borders: Vec<u64> = (start + 1..start + 5 * 3600).filter(|utc| utc % 3600 == 0).collect();
            assert_eq!(begun, borders, "{start}");
        }
    }

    /// A period is noticed when somebody asks, however long after it began, and the next one at its
    /// border all the same.
    #[test]
    fn whoever_asks_seldom_has_each_period_from_its_border_on() {
        let mut periods = Periods::new(Period::Minute, honest(30));
        assert!(periods.advance(honest(96)), "36 s after a border, in the second stretch");
        assert_eq!(periods.left(honest(96)), 24);
        assert!(periods.advance(honest(123)), "after the next border, in the same stretch");
        assert!(periods.advance(honest(1000)) && periods.advance(honest(1020)), "a long time after, and at a border");
        assert_eq!(periods.left(honest(1020)), 60);
        let mut rng = SecretRng::insecure_from_seed(41);
        let mut below = |bound: u64| rng.block() as u64 % bound;
        for round in 0..500 {
            let mut utc = 6000 + below(60);
            let mut periods = Periods::new(Period::Minute, honest(utc));
            for _ in 0..100 {
                let before = utc / 60;
                utc += if below(4) == 0 { below(400) } else { below(40) };
                assert_eq!(periods.advance(honest(utc)), utc / 60 > before, "round {round}, {utc}");
                assert_eq!(periods.since(), utc / 60 * 60, "round {round}, {utc}");
                assert_eq!(periods.left(honest(utc)), 60 - utc % 60, "round {round}, {utc}");
            }
        }
    }

    #[test]
    fn a_clock_that_is_set_back_begins_nothing_and_one_that_was_ahead_locks_nobody_out() {
        let hour = Period::Hour;
        // Back over a border by less than a period, and forward again.
        let mut periods = Periods::new(hour, at(7300, 100));
        assert!(!periods.advance(at(7100, 110)) && !periods.advance(at(7199, 209)));
        assert!(!periods.advance(at(7200, 210)) && !periods.advance(at(10_799, 3809)));
        assert!(periods.advance(at(10_800, 3810)), "the next border");
        // By more: a period of the other clock.
        let mut periods = Periods::new(hour, at(1 << 40, 100));
        assert_eq!(periods.left(at(7300, 200)), 3500);
        assert!(!periods.advance(at(7300, 200)) && !periods.advance(at(10_799, 3699)));
        assert!(periods.advance(at(10_800, 3700)));
        // From a file: it stands.
        let mut periods = Periods::resume(hour, 10_800, at(7300, 100));
        assert!(!periods.advance(at(7300, 100)) && !periods.advance(at(10_800, 3600)));
        assert_eq!(periods.since(), 10_800);
        assert!(periods.advance(at(14_400, 7200)));
        // A number that no server writes.
        let mut periods = Periods::resume(hour, u64::MAX, at(7300, 100));
        assert_eq!(periods.left(at(7300, 100)), 3600);
        assert!(!periods.advance(at(u64::MAX, 200)) && periods.advance(at(7300, 3700)));
    }

    #[test]
    fn a_clock_that_is_set_forward_begins_one_period_and_no_second_one_at_once() {
        let mut periods = Periods::new(Period::Hour, at(7300, 100));
        assert!(periods.advance(at(10_900, 101)));
        assert!(!periods.advance(at(1 << 30, 102)));
        assert_eq!(periods.left(at(1 << 30, 102)), 3598);
        assert!(periods.advance(at((1 << 30) + 3598, 3700)), "in the next stretch");
    }

    /// However the clock jumps: so many quotas in so much time, in any stretch of it.
    #[test]
    fn there_is_one_period_a_stretch_and_one_more_however_the_clock_jumps() {
        let mut rng = SecretRng::insecure_from_seed(40);
        let mut below = |bound: u64| rng.block() as u64 % bound;
        for round in 0..2000 {
            let (mut utc, mut running) = (1 << 20, 77);
            let mut periods = Periods::resume(Period::Minute, below(3) << 20, at(utc, running));
            let mut begun = vec![running];
            for _ in 0..200 {
                let passes = if below(8) == 0 { below(400) } else { below(40) };
                running += passes;
                utc = match below(6) {
                    0 => utc.saturating_sub(below(200)),
                    1 => utc + below(200),
                    2 => below(1 << 21),
                    _ => utc + passes,
                };
                if periods.advance(at(utc, running)) {
                    begun.push(running);
                }
            }
            for (first, &from) in begun.iter().enumerate() {
                for (last, &to) in begun.iter().enumerate().skip(first) {
                    let quotas = (last - first + 1) as u64;
                    assert!(quotas <= (to - from) / 60 + 3, "round {round}: {quotas} from {from} to {to}");
                }
            }
            // Nobody is locked out either: with the clock left alone, there is a period within two.
            let before = running;
            while !periods.advance(at(utc + running - before, running)) {
                running += 1;
                assert!(running <= before + 120, "round {round}");
            }
        }
    }
}
