//! A link between the two sides: its rate and its round trip.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vesica_structures::facts::Unsupported;

/// Bytes that a fork of a channel may have under way: what one round trip carries at most.
pub(crate) const WINDOW_BYTES: u64 = 8 << 20;

/// The rate and the round-trip time of a link. Whole numbers, since both sides choose a protocol by
/// them and must come to the same.
///
/// Read from `loopback`, `lan` or `RATE,RTT` such as `100mbit,40ms`.
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
    /// One machine: no limit, and no delay.
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

    /// The round-trip time.
    pub const fn round_trip(&self) -> Duration {
        Duration::from_micros(self.round_trip_us)
    }

    /// The text that is read back as this link.
    pub fn to_text(&self) -> String {
        match *self {
            Self::LOOPBACK => "loopback".into(),
            Self { bits_per_second, round_trip_us } => format!("{bits_per_second}bit,{round_trip_us}us"),
        }
    }

    /// Microseconds that `bytes` take. Whatever a peer says of its link, this is a number.
    pub fn transfer_us(&self, bytes: u64) -> u64 {
        // More than a window a round trip is never under way.
        let most = u128::from(WINDOW_BYTES) * 8_000_000 / u128::from(self.round_trip_us.max(1));
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

impl FromStr for Link {
    type Err = Unsupported;

    fn from_str(text: &str) -> Result<Self, Unsupported> {
        let refuse = || {
            Unsupported::new(
                format!("the link '{text}' is not understood"),
                "write loopback, lan, or RATE,RTT such as 100mbit,40ms",
            )
        };
        match text {
            "loopback" => return Ok(Self::LOOPBACK),
            "lan" => return Ok(Self::LAN),
            _ => {}
        }
        let (rate, round_trip) = text.split_once(',').ok_or_else(refuse)?;
        let rate = scaled(rate, &[("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)]).ok_or_else(refuse)?;
        let micros = scaled(round_trip, &[("ms", 1e3), ("us", 1.0), ("s", 1e6)]).ok_or_else(refuse)?;
        if rate < 1.0 {
            return Err(refuse());
        }
        Ok(Self { bits_per_second: rate as u64, round_trip_us: micros as u64 })
    }
}

/// A non-negative number with the first unit that fits, times that unit's factor.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    (number.is_finite() && (0.0..1e12).contains(&number)).then_some(number * factor)
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
    fn links_are_read_and_written() {
        let link: Link = "100mbit,40ms".parse().expect("a link");
        assert_eq!(link, Link { bits_per_second: 100_000_000, round_trip_us: 40_000 });
        assert_eq!(
            (link.round_trip(), link.to_string().as_str()),
            (Duration::from_millis(40), "100 Mbit/s with a round trip of 40 ms")
        );
        assert_eq!(["loopback", "lan"].map(|name| name.parse()), [Ok(Link::LOOPBACK), Ok(Link::LAN)]);
        for link in [link, Link::LOOPBACK, Link::LAN, Link::ASSUMED] {
            assert_eq!(link.to_text().parse(), Ok(link));
        }
        for bad in ["", "fast", "100mbit", "100,40", "-1mbit,4ms", "0bit,1ms", "nanbit,1ms"] {
            assert!(bad.parse::<Link>().is_err(), "{bad}");
        }
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
