//! The link between the two sides, as the model sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bytes that a fork of a channel may have under way: what one round trip carries at most.
const CREDIT: u64 = 8 << 20;

/// Rate and round trip. Whole numbers, since both sides choose a protocol by them and must come to the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bits per second, in either direction.
    pub bits_per_second: u64,
    /// Microseconds there and back.
    pub round_trip_us: u64,
}

impl Link {
    /// What is assumed where nobody says anything: two sites in one country.
    pub const ASSUMED: Self = Self { bits_per_second: 1_000_000_000, round_trip_us: 10_000 };
    /// One machine: what the constants of the model were measured over, so that nothing comes on top.
    pub const LOOPBACK: Self = Self { bits_per_second: u64::MAX, round_trip_us: 0 };
    /// A local network, as papers take it.
    pub const LAN: Self = Self { bits_per_second: 10_000_000_000, round_trip_us: 200 };

    /// What both sides plan for: the slower of what they say, in rate and in round trip.
    pub fn agreed(ours: Option<Self>, theirs: Option<Self>) -> Self {
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => Self {
                bits_per_second: ours.bits_per_second.min(theirs.bits_per_second),
                round_trip_us: ours.round_trip_us.max(theirs.round_trip_us),
            },
            (one, other) => one.or(other).unwrap_or(Self::ASSUMED),
        }
    }

    /// Microseconds that `bytes` take. Whatever a peer says of its link, this is a number.
    pub(super) fn transfer_us(&self, bytes: u64) -> u64 {
        // More than a credit a round trip is never under way.
        let most = u128::from(CREDIT) * 8_000_000 / u128::from(self.round_trip_us.max(1));
        let rate = u128::from(self.bits_per_second).min(most).max(1);
        u64::try_from(u128::from(bytes) * 8_000_000 / rate).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::LOOPBACK {
            return f.write_str("loopback");
        }
        let (rate, round_trip) = (self.bits_per_second, self.round_trip_us);
        match rate {
            1_000_000_000.. => write!(f, "{} Gbit/s", rate as f64 / 1e9)?,
            1_000_000.. => write!(f, "{} Mbit/s", rate as f64 / 1e6)?,
            _ => write!(f, "{} kbit/s", rate as f64 / 1e3)?,
        }
        write!(f, " with a round trip of {} ms", round_trip as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_link_counts_whoever_names_it() {
        let slow = Link { bits_per_second: 10_000_000, round_trip_us: 1_000 };
        let far = Link { bits_per_second: 100_000_000, round_trip_us: 80_000 };
        let both = Link { bits_per_second: 10_000_000, round_trip_us: 80_000 };
        assert_eq!((Link::agreed(Some(slow), Some(far)), Link::agreed(Some(far), Some(slow))), (both, both));
        assert_eq!((Link::agreed(Some(slow), None), Link::agreed(None, Some(slow))), (slow, slow));
        assert_eq!(Link::agreed(None, None), Link::ASSUMED);
    }

    #[test]
    fn transfers_take_their_time_on_any_link() {
        let link = Link { bits_per_second: 100_000_000, round_trip_us: 40_000 };
        assert_eq!(link.transfer_us(12_500_000), 1_000_000);
        // 8 MiB a round trip of a second, whatever the rate.
        let far = Link { bits_per_second: u64::MAX, round_trip_us: 1_000_000 };
        assert_eq!(far.transfer_us(8 << 20), 1_000_000);
        assert_eq!(Link::LOOPBACK.transfer_us(1 << 30), 128);
        let absurd = Link { bits_per_second: 0, round_trip_us: u64::MAX };
        assert_eq!(absurd.transfer_us(u64::MAX), u64::MAX);
    }
}
