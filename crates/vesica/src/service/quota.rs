//! How many items each client may ask about in a period. An answer to an item that a client guessed
//! tells it whether the server has it, so this bounds guesses.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use vesica_party::service::{ClientIdentity, replace};
use vesica_party::{Abort, exit_code};

use super::periods::{Moment, Period, Periods};
use crate::bounded::read_text;
use crate::failure::{Failure, code};

/// What a server hears from a client that leaves because the server has told it what is left of its quota.
pub(super) const OVER_QUOTA: &str = "this client asks about more items than are left of its quota";

/// Longest file of used quotas.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// Items that a client may ask about in a period, for example `1000/day`. Periods are those of UTC:
/// a new one starts at each full minute, hour or midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Items, dummies of incomplete queries included.
    pub items: u64,
    /// The period.
    pub period: Period,
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.items, self.period.name())
    }
}

impl FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(items, period)| {
            let period = Period::ALL.into_iter().find(|known| known.name() == period)?;
            Some(Self { items: items.parse().ok().filter(|&items| items > 0)?, period })
        });
        parsed.ok_or_else(|| "write a number, a slash, and minute, hour or day, for example 1000/day".to_owned())
    }
}

/// What was used in one period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    /// When the period started, in seconds since 1970.
    since: u64,
    /// Items, by the line of the client's key.
    items: HashMap<String, u64>,
    /// Whether these are more than were used: a server that works writes ahead.
    #[serde(default)]
    ahead: bool,
}

/// Counts what clients use of a [`Quota`]. The file is always ahead of the truth: an item is answered
/// only once the file says that it was used, so that a server which is killed forgets nothing.
pub(super) struct Meter {
    quota: Quota,
    counted: Mutex<Counted>,
    file: Option<PathBuf>,
}

struct Counted {
    periods: Periods,
    used: Used,
    /// What the file says.
    booked: Used,
}

impl Counted {
    /// Begins with nothing used where a period has begun.
    fn advance(&mut self, now: Moment) {
        if self.periods.advance(now) {
            self.used = Used { since: self.periods.since(), ..Used::default() };
            self.booked = self.used.clone();
        }
    }
}

/// A quota is booked in as many parts, each with a write of the file.
const PARTS: u64 = 16;

impl Meter {
    /// Goes on from `file`, if one is given and there.
    ///
    /// # Errors
    /// If the file cannot be read, or is not what [`settle`](Self::settle) writes.
    pub fn open(quota: Quota, file: Option<PathBuf>) -> Result<Self, Failure> {
        Self::open_at(quota, file, Moment::now())
    }

    fn open_at(quota: Quota, file: Option<PathBuf>, now: Moment) -> Result<Self, Failure> {
        let found = match &file {
            Some(file) => read(file)?,
            None => Used::default(),
        };
        let periods = Periods::resume(quota.period, found.since, now);
        let since = periods.since();
        let is_over = quota.period.start(found.since) != since;
        let used = if is_over { Used { since, ..Used::default() } } else { Used { since, ..found } };
        Ok(Self { quota, counted: Mutex::new(Counted { periods, booked: used.clone(), used }), file })
    }

    /// What the log should say when a server starts: after one that was killed in the same period, or
    /// by another clock than that one's.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings_at(Moment::now())
    }

    fn warnings_at(&self, now: Moment) -> Vec<String> {
        let most = self.quota.items / PARTS;
        let period = self.quota.period.name();
        let used = &self.lock().used;
        let killed = (used.ahead && most > 0).then(|| {
            format!(
                "the server was killed, or lost its power, before it could write how much of their quotas clients had \
                 used: for each client, up to {most} items more than that count as used until the {period} is over"
            )
        });
        let ahead = used.since.saturating_sub(now.utc);
        let set_back = (ahead > 0).then(|| {
            format!(
                "the clock is behind what it was when quotas were last counted, by {ahead} s or more: what clients have \
                 used counts until the clock is past the {period} of then, or the server has run for a whole {period}. \
                 Set the clock if it is wrong"
            )
        });
        killed.into_iter().chain(set_back).collect()
    }

    /// Items that a client may still ask about in this period.
    pub fn left(&self, client: &ClientIdentity) -> u64 {
        self.left_at(client, Moment::now())
    }

    fn left_at(&self, client: &ClientIdentity, now: Moment) -> u64 {
        let mut counted = self.lock();
        counted.advance(now);
        self.quota.items.saturating_sub(counted.used.items.get(&name_of(client)).copied().unwrap_or(0))
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `items` from what `client` has left. What was taken stays taken, however the query ends.
    ///
    /// # Errors
    /// If less is left, or what was used cannot be written to the file.
    pub fn take(&self, client: &ClientIdentity, items: u64) -> Result<(), Abort> {
        self.take_at(client, items, Moment::now())
    }

    fn take_at(&self, client: &ClientIdentity, items: u64, now: Moment) -> Result<(), Abort> {
        let mut counted = self.lock();
        counted.advance(now);
        let Counted { periods, used, booked } = &mut *counted;
        let name = name_of(client);
        let after = used.items.get(&name).copied().unwrap_or(0).saturating_add(items);
        if after > self.quota.items {
            let next = periods.left(now);
            return Err(Abort::Local {
                code: exit_code::REFUSED,
                fault: format!(
                    "this client has used up its quota of {} items per {}",
                    self.quota.items,
                    self.quota.period.name()
                ),
                mend: format!("ask again in {next} s, or ask whoever runs the server for a larger quota"),
            });
        }
        if after > booked.items.get(&name).copied().unwrap_or(0) {
            let ahead = after.saturating_add(self.quota.items / PARTS).min(self.quota.items);
            booked.items.insert(name.clone(), ahead);
            booked.ahead = true;
            self.write(booked).inspect_err(|_| {
                // The file says less than this.
                booked.items.insert(name.clone(), used.items.get(&name).copied().unwrap_or(0));
            })?;
        }
        used.items.insert(name, after);
        Ok(())
    }

    /// Sees to it that the file is there, and can be written, before anybody asks.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self) -> Result<(), Failure> {
        match &self.file {
            Some(file) if !file.exists() => self.write(&self.lock().booked),
            _ => Ok(()),
        }
    }

    /// Writes to the file what was used, no more: when the server stops.
    ///
    /// # Errors
    /// If it cannot be written. The file then says that more was used.
    pub fn settle(&self) -> Result<(), Failure> {
        let mut counted = self.lock();
        counted.used.ahead = false;
        counted.booked = counted.used.clone();
        self.write(&counted.booked)
    }

    fn write(&self, booked: &Used) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        let text =
            serde_json::to_string(booked).map_err(|error| Failure::new(code::INTERNAL, error, "please report this"))?;
        write(file, &text).map_err(|error| {
            // Clients hear it, too: no path of the server's.
            let fault = format_args!("cannot write the used quotas: {}", error.kind());
            Failure::new(code::OUTPUT, fault, "check the permissions and the room on the server's disk")
        })
    }
}

fn name_of(client: &ClientIdentity) -> String {
    match client {
        ClientIdentity::Key(key) => key.to_string(),
        ClientIdentity::Anonymous => "anonymous".to_owned(),
    }
}

fn read(file: &Path) -> Result<Used, Failure> {
    let unusable = |why: &dyn fmt::Display| {
        let fault = format_args!("cannot read the used quotas in {}: {why}", file.display());
        Failure::new(code::INPUT, fault, "restore the file from a copy; without it, all clients have their full quota")
    };
    let text = match read_text(file, MOST_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Used::default()),
        read => read.map_err(|error| unusable(&error))?,
    };
    serde_json::from_str(&text).map_err(|_| unusable(&"it is not what `vesica serve` writes"))
}

/// Replaces a file of a server, which holds the lock of its state: nobody else writes there.
pub(super) fn write(file: &Path, text: &str) -> io::Result<()> {
    replace(file, |file| file.write_all(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use vesica_party::transport::tls::Identity;

    use super::super::periods::tests::{at, honest};
    use super::*;

    #[test]
    fn quotas_are_parsed_and_shown() {
        for text in ["1000/day", "5/minute", "77/hour"] {
            assert_eq!(text.parse::<Quota>().expect(text).to_string(), text);
        }
        for text in ["", "1000", "0/day", "-1/day", "5/week", "day/5", "99999999999999999999/day"] {
            assert!(text.parse::<Quota>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_client_has_its_own_quota_in_each_period_and_a_restart_keeps_what_was_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("quota");
        let client = || ClientIdentity::Key(Identity::generate().expect("randomness").public());
        let (one, other) = (client(), client());
        let quota = Quota { items: 40, period: Period::Hour };
        let open = |utc| Meter::open_at(quota, Some(file.clone()), honest(utc)).expect("a meter");
        let meter = open(7200);
        assert!(meter.warnings_at(honest(7300)).is_empty(), "nothing was there");
        assert_eq!(meter.left_at(&one, honest(7200)), 40);
        meter.take_at(&one, 16, honest(7200)).expect("16 of 40");
        meter.take_at(&one, 16, honest(7300)).expect("32 of 40");
        let refusal = meter.take_at(&one, 16, honest(7300)).expect_err("48 of 40").to_string();
        assert!(refusal.contains("40 items per hour") && refusal.contains("in 3500 s"), "{refusal}");
        meter.take_at(&other, 40, honest(7300)).expect("its own");
        assert_eq!([&one, &other].map(|client| meter.left_at(client, honest(7300))), [8, 0]);
        // Nobody stopped it: a sixteenth of the quota counts as used.
        let again = open(7300);
        assert_eq!(again.left_at(&one, honest(7300)), 6);
        assert!(again.warnings_at(honest(7300)).concat().contains("up to 2 items"));
        assert!(open(10_800).warnings_at(honest(10_800)).is_empty(), "of an hour that is over");
        again.take_at(&one, 8, honest(10_799)).expect_err("32 and 2 of 40");
        assert_eq!(again.left_at(&one, honest(10_800)), 40, "of the next hour");
        meter.settle().expect("written");
        let again = open(7300);
        assert!(again.warnings_at(honest(7300)).is_empty(), "stopped");
        again.take_at(&one, 16, honest(10_799)).expect_err("the same hour");
        again.take_at(&one, 8, honest(10_799)).expect("40 of 40");
        again.take_at(&one, 16, honest(10_800)).expect("the next hour");
        again.take_at(&other, 41, honest(10_801)).expect_err("more than a whole quota");
        std::fs::write(&file, "{").expect("written");
        assert_eq!(Meter::open(quota, Some(file)).err().expect("damaged").code, code::INPUT);
    }

    #[test]
    fn a_clock_that_is_set_back_and_forward_gives_no_second_quota_in_one_process_or_several() {
        let folder = tempfile::tempdir().expect("a folder");
        let quota = Quota { items: 40, period: Period::Hour };
        let client = ClientIdentity::Anonymous;
        for (number, restarts) in [false, true].into_iter().enumerate() {
            let file = folder.path().join(number.to_string());
            let open = |now| Meter::open_at(quota, Some(file.clone()), now).expect("a meter");
            let mut meter = open(at(7300, 100));
            let mut go_on = |now, left, what: &str| {
                if restarts {
                    meter = open(now);
                }
                assert_eq!(meter.left_at(&client, now), left, "{what}, restarts: {restarts}");
                assert_eq!(meter.take_at(&client, 40, now).is_ok(), left == 40, "{what}, restarts: {restarts}");
                meter.warnings_at(now).concat()
            };
            go_on(at(7300, 101), 40, "the whole quota");
            let told = go_on(at(7100, 102), 0, "back over a border");
            assert!(told.contains("the clock is behind") && told.contains("by 100 s"), "{told}");
            assert!(!go_on(at(7300, 103), 0, "and forward").contains("clock"));
            go_on(at(100, 104), 0, "by more than a period");
            go_on(at(7300, 105), 0, "and forward");
            go_on(at(10_800, 3605), 40, "the next hour");
            go_on(at(7300, 3606), 0, "back again");
        }
        // A clock that was far ahead does not lock clients out for longer than a period.
        let ahead = Meter::open_at(quota, None, at(1 << 40, 0)).expect("a meter");
        ahead.take_at(&client, 40, at(1 << 40, 0)).expect("a clock that is far ahead");
        ahead.take_at(&client, 1, at(7200, 10)).expect_err("what was used counts");
        ahead.take_at(&client, 40, at(10_800, 3600)).expect("but not for ever");
        // A quota of another period: what was used in it counts.
        let file = folder.path().join("other");
        let hourly = Meter::open_at(quota, Some(file.clone()), honest(9000)).expect("a meter");
        hourly.take_at(&client, 40, honest(9000)).expect("all of it");
        let daily = Quota { items: 40, period: Period::Day };
        let daily = Meter::open_at(daily, Some(file), honest(9001)).expect("a meter");
        assert_eq!([9001, 86_400].map(|utc| daily.left_at(&client, honest(utc))), [0, 40]);
    }

    #[test]
    fn a_quota_that_the_file_does_not_take_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("none");
        let quota = Quota { items: 40, period: Period::Hour };
        let meter = Meter::open_at(quota, Some(inner.join("quota")), honest(7200)).expect("nothing there");
        for _ in 0..2 {
            let refusal = meter.take_at(&ClientIdentity::Anonymous, 4, honest(7200)).expect_err("nowhere").to_string();
            assert!(refusal.contains("cannot write") && !refusal.contains("none"), "{refusal}");
        }
        std::fs::create_dir(&inner).expect("made");
        meter.take_at(&ClientIdentity::Anonymous, 40, honest(7200)).expect("nothing was used");
    }
}
