//! The clocks of the two sides. The receiver's dates the receipt, and the sender signs no date that
//! is far from its own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use vesica_party::Role;

use super::Hello;
use crate::failure::{Failure, code};

/// The most seconds by which the two clocks may differ. Clocks that the network sets agree within a
/// second. Ten minutes leave room for clocks that are set by hand, and are too few to move a run to
/// another day or before an event that a log has.
pub const MOST_CLOCK_DIFFERENCE_S: u64 = 600;

/// How long after the two sides met a side may say how it is configured. It does so at once: one
/// that held its configuration back could have an earlier day signed than that of the run.
pub(super) const LONGEST_HELLO: Duration = Duration::from_secs(60);

/// Seconds since 1970 by this side's clock.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Refuses clocks that differ by too much. Both sides come to the same words.
pub(super) fn compare(ours: &Hello, theirs: &Hello) -> Result<(), Failure> {
    let (sender, receiver) = match ours.role {
        Role::Sender => (ours.clock, theirs.clock),
        Role::Receiver => (theirs.clock, ours.clock),
    };
    let apart = sender.abs_diff(receiver);
    if apart <= MOST_CLOCK_DIFFERENCE_S {
        return Ok(());
    }
    let side = if receiver > sender { "ahead of" } else { "behind" };
    Err(Failure::new(
        code::MISMATCH,
        format_args!(
            "the receiver's clock is {} {side} the sender's; more than {} minutes are refused, since the run is dated \
             by it",
            in_words(apart),
            MOST_CLOCK_DIFFERENCE_S / 60
        ),
        "set the clock that is wrong, for example by NTP (`date -u` shows UTC on both sides), and start both sides \
         again",
    ))
}

/// A difference in the largest units that say enough.
fn in_words(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (hours, days) {
        (0..3, _) => format!("{minutes} min {} s", seconds % 60),
        (_, 0..3) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::tests::hello;

    fn refusal(sender: u64, receiver: u64) -> Option<String> {
        let (theirs, ours) =
            (Hello { clock: sender, ..hello(Role::Sender) }, Hello { clock: receiver, ..hello(Role::Receiver) });
        let refusals = [compare(&ours, &theirs).err(), compare(&theirs, &ours).err()];
        assert_eq!(refusals[0], refusals[1], "both sides say the same");
        refusals[0].as_ref().map(|failure| failure.fault.clone())
    }

    #[test]
    fn clocks_that_are_ten_minutes_apart_are_accepted_and_one_second_more_is_not() {
        let noon = 1_700_000_000;
        assert_eq!((refusal(noon, noon + 600), refusal(noon + 600, noon)), (None, None));
        let fault = refusal(noon, noon + 601).expect("refused");
        assert!(
            fault.contains("receiver's clock is 10 min 1 s ahead of the sender's; more than 10 minutes"),
            "{fault}"
        );
        let fault = refusal(noon + 3600 * 5 + 60, noon).expect("refused");
        assert!(fault.contains("5 h 1 min behind"), "{fault}");
        assert!(refusal(noon, u64::MAX).is_some_and(|fault| fault.contains("days ahead")));
        assert!(refusal(0, noon).is_some_and(|fault| fault.contains("19675 days ahead")));
    }
}
