//! Questions in chunks, with several under way.

use std::collections::VecDeque;

use vesica_party::{Abort, Channel};

/// Sends what `send` makes of each chunk, and has `take` receive the answers in the same order. At
/// most `in_flight` answers are awaited at a time, at least one: so both sides compute all the time,
/// and neither waits for the other to read.
pub(crate) fn ask<C, T>(
    in_flight: usize,
    chunks: impl Iterator<Item = C>,
    ch: &mut Channel,
    mut send: impl FnMut(C, &mut Channel) -> Result<T, Abort>,
    mut take: impl FnMut(T, &mut Channel) -> Result<(), Abort>,
) -> Result<(), Abort> {
    let mut asked = VecDeque::new();
    for chunk in chunks {
        if asked.len() >= in_flight
            && let Some(first) = asked.pop_front()
        {
            take(first, ch)?;
        }
        asked.push_back(send(chunk, ch)?);
    }
    asked.into_iter().try_for_each(|asked| take(asked, ch))
}
