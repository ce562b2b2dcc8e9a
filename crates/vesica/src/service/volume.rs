//! Notices clients that ask about many items, and bounds how often each fetches the set.
//!
//! Whoever tries out keys that it can guess asks about more of them than whoever looks up what it has
//! seen; a server sees nothing else of it. Fetching the set, or what has changed of it, takes the
//! server more work than any query, and no quota counts it.

use std::sync::{Mutex, PoisonError};

use vesica_party::service::ClientIdentity;
use vesica_party::{Abort, exit_code};

use super::Quota;
use super::periods::{Moment, Tally};

/// Counts what each client asks in a period, against a threshold. Nothing of it outlives the process:
/// it warns, and refuses nothing.
#[derive(Debug)]
pub(super) struct Volume {
    threshold: Quota,
    counted: Mutex<Tally>,
}

impl Volume {
    pub fn new(threshold: Quota) -> Self {
        Self { threshold, counted: Mutex::new(Tally::new(threshold.period, Moment::now())) }
    }

    /// Counts `items` of a client. Gives all of its items in this period whenever they have passed the
    /// threshold, or a multiple of it.
    pub fn count(&self, client: &ClientIdentity, items: u64) -> Option<u64> {
        self.count_at(client, items, Moment::now())
    }

    fn count_at(&self, client: &ClientIdentity, items: u64, now: Moment) -> Option<u64> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let all = counted.of(client, now);
        let before = *all;
        *all = before.saturating_add(items);
        // 1,000 of 1,000 items are not more than 1,000.
        let passed = |items: u64| items.saturating_sub(1) / self.threshold.items;
        (passed(*all) > passed(before)).then_some(*all)
    }
}

/// Counts how often each client fetches the set in a period, or what has changed of it. Nothing of it
/// outlives the process: it bounds work, and no guesses.
#[derive(Debug)]
pub(super) struct Enrolments {
    most: Quota,
    counted: Mutex<Tally>,
}

impl Enrolments {
    pub fn new(most: Quota) -> Self {
        Self { most, counted: Mutex::new(Tally::new(most.period, Moment::now())) }
    }

    /// Counts one more of a client that is known by its key. Of the others nobody knows which of
    /// them are one client.
    ///
    /// # Errors
    /// If it has had as many as it may.
    pub fn take(&self, client: &ClientIdentity) -> Result<(), Abort> {
        self.take_at(client, Moment::now())
    }

    fn take_at(&self, client: &ClientIdentity, now: Moment) -> Result<(), Abort> {
        if *client == ClientIdentity::Anonymous {
            return Ok(());
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = counted.of(client, now);
        if *taken < self.most.items {
            *taken += 1;
            return Ok(());
        }
        let next = counted.periods.left(now);
        Err(Abort::Local {
            code: exit_code::REFUSED,
            fault: format!(
                "this client has fetched the set, or what has changed of it, {} times in this {}",
                self.most.items,
                self.most.period.name()
            ),
            mend: format!(
                "ask again in {next} s, and name a file with --state, in which the set is kept; or have the server \
                 started with a larger number for --enrolments"
            ),
        })
    }

    /// Gives back what was taken for a client that was refused all the same, and was sent nothing of the set.
    pub fn give_back(&self, client: &ClientIdentity) {
        self.give_back_at(client, Moment::now());
    }

    fn give_back_at(&self, client: &ClientIdentity, now: Moment) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = counted.of(client, now);
        *taken = taken.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::transport::tls::Identity;

    use super::super::periods::tests::{at, honest};
    use super::*;

    fn client() -> ClientIdentity {
        ClientIdentity::Key(Identity::generate().expect("randomness").public())
    }

    fn volume(now: Moment) -> Volume {
        let threshold: Quota = "40/hour".parse().expect("a threshold");
        Volume { threshold, counted: Mutex::new(Tally::new(threshold.period, now)) }
    }

    #[test]
    fn each_client_is_noticed_once_for_each_multiple_of_the_threshold_in_each_period() {
        let (one, other) = (client(), client());
        let volume = volume(honest(7200));
        let noticed: Vec<_> = (0..10).map(|query| volume.count_at(&one, 16, honest(7200 + query))).collect();
        let all = [None, None, Some(48), None, None, Some(96), None, Some(128), None, None];
        assert_eq!(noticed, all);
        assert_eq!(volume.count_at(&other, 40, honest(7300)), None, "not more than the threshold");
        assert_eq!(volume.count_at(&other, 1, honest(7300)), Some(41));
        assert_eq!(volume.count_at(&one, 16, honest(10_800)), None, "the next hour");
        assert_eq!(volume.count_at(&one, 100, honest(10_801)), Some(116), "two multiples at once");
    }

    #[test]
    fn a_clock_that_is_set_back_and_forward_forgets_nothing_that_was_asked() {
        let (client, volume) = (client(), volume(at(7300, 100)));
        assert_eq!(volume.count_at(&client, 40, at(7300, 100)), None);
        assert_eq!(volume.count_at(&client, 1, at(7199, 101)), Some(41), "back over a border");
        assert_eq!(volume.count_at(&client, 40, at(7300, 102)), Some(81), "and forward");
    }

    #[test]
    fn each_client_enrols_so_often_in_a_period_and_the_others_go_on() {
        let most: Quota = "2/hour".parse().expect("a bound");
        let enrolments = Enrolments { most, counted: Mutex::new(Tally::new(most.period, honest(7200))) };
        let (one, other) = (client(), client());
        for utc in [7200, 7300] {
            enrolments.take_at(&one, honest(utc)).expect("2 of 2");
        }
        for _ in 0..2 {
            let refusal = enrolments.take_at(&one, honest(7500)).expect_err("a third").to_string();
            assert!(refusal.contains("2 times in this hour") && refusal.contains("in 3300 s"), "{refusal}");
        }
        enrolments.take_at(&other, honest(7500)).expect("its own");
        enrolments.give_back_at(&one, honest(7500));
        enrolments.take_at(&one, honest(7500)).expect("what was given back");
        enrolments.take_at(&one, honest(7500)).expect_err("and no more");
        enrolments.take_at(&one, honest(10_800)).expect("the next hour");
        for _ in 0..3 {
            enrolments.take_at(&ClientIdentity::Anonymous, honest(10_800)).expect("anybody");
        }
    }
}
