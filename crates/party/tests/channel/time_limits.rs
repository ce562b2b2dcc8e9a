//! Limits on a part of a conversation.

use std::time::{Duration, Instant};

use vesica_party::Abort;
use vesica_party::transport::memory;

use crate::support::*;

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(10);

/// A limit ends with its part, and what was set before it holds again.
#[test]
fn a_limit_on_a_part_ends_with_it() {
    let (sent, received) = both(
        memory::pair(),
        |ch| {
            ch.send(&Hello(vec![1]))?;
            std::thread::sleep(2 * SHORT);
            ch.send(&Hello(vec![2]))
        },
        |ch| {
            let first: Hello = ch.within("the first part", SHORT, |ch| ch.recv(1))?;
            // Outside of the part, the peer may take longer than it.
            let second: Hello = ch.recv(1)?;
            Ok([first, second])
        },
    );
    sent.unwrap();
    assert_eq!(received.unwrap().0, [Hello(vec![1]), Hello(vec![2])]);
}

#[test]
fn a_part_that_takes_too_long_fails_and_earlier_limits_count_within_it() {
    for (whole, part, named) in
        [(None, SHORT, "the part"), (Some(SHORT), LONG, "the whole"), (Some(LONG), SHORT, "the part")]
    {
        let start = Instant::now();
        let (_, received) = both(
            memory::pair(),
            |_| {
                std::thread::sleep(3 * SHORT);
                Ok(())
            },
            |ch| {
                if let Some(whole) = whole {
                    ch.limit("the whole", whole);
                }
                ch.within("the part", part, |ch| ch.recv::<Hello>(1))
            },
        );
        let failure = received.unwrap_err();
        assert!(matches!(failure, Abort::Timeout { what, after: SHORT } if what == named), "{failure}, not {named}");
        assert!(start.elapsed() < LONG / 2);
    }
}
