//! Notices clients that ask about many items. Whoever tries out keys that it can guess asks about
//! more of them than whoever looks up what it has seen; a server sees nothing else of it.

use std::sync::{Mutex, PoisonError};

use vesica_party::service::ClientIdentity;

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
}
