//! Notices clients that ask about many items. Whoever tries out keys that it can guess asks about
//! more of them than whoever looks up what it has seen; a server sees nothing else of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use vesica_party::service::ClientIdentity;

use super::Quota;

/// Counts what each client asks in a period, against a threshold. Nothing of it outlives the process:
/// it warns, and refuses nothing.
#[derive(Debug)]
pub(super) struct Volume {
    threshold: Quota,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// When the period started, in seconds since 1970.
    since: u64,
    items: HashMap<ClientIdentity, u64>,
}

impl Volume {
    pub fn new(threshold: Quota) -> Self {
        Self { threshold, counted: Mutex::default() }
    }

    /// Counts `items` of a client. Gives all of its items in this period whenever they have passed the
    /// threshold, or a multiple of it.
    pub fn count(&self, client: &ClientIdentity, items: u64) -> Option<u64> {
        self.count_at(client, items, SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()))
    }

    fn count_at(&self, client: &ClientIdentity, items: u64, now: u64) -> Option<u64> {
        let since = self.threshold.period.start(now);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if since != counted.since {
            *counted = Counted { since, items: HashMap::new() };
        }
        let all = counted.items.entry(*client).or_default();
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

    use super::*;

    #[test]
    fn each_client_is_noticed_once_for_each_multiple_of_the_threshold_in_each_period() {
        let client = || ClientIdentity::Key(Identity::generate().expect("randomness").public());
        let (one, other) = (client(), client());
        let volume = Volume::new("40/hour".parse().expect("a threshold"));
        let noticed: Vec<_> = (0..10).map(|query| volume.count_at(&one, 16, 7200 + query)).collect();
        let all = [None, None, Some(48), None, None, Some(96), None, Some(128), None, None];
        assert_eq!(noticed, all);
        assert_eq!(volume.count_at(&other, 40, 7300), None, "not more than the threshold");
        assert_eq!(volume.count_at(&other, 1, 7300), Some(41));
        assert_eq!(volume.count_at(&one, 16, 10_800), None, "the next hour");
        assert_eq!(volume.count_at(&one, 100, 10_801), Some(116), "two multiples at once");
    }
}
