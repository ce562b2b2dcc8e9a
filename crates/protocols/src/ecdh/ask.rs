//! Questions in chunks, with several under way.

use std::collections::VecDeque;

use vesica_party::{Abort, Channel};

use super::CHUNKS_IN_FLIGHT;

/// Sends what `send` makes of each chunk, and has `take` receive the answers in the same order. At
/// most [`CHUNKS_IN_FLIGHT`] answers are awaited at a time: so both sides compute all the time, and
/// neither waits for the other to read.
pub(crate) fn ask<C, T>(
    chunks: impl Iterator<Item = C>,
    ch: &mut Channel,
    mut send: impl FnMut(C, &mut Channel) -> Result<T, Abort>,
    mut take: impl FnMut(T, &mut Channel) -> Result<(), Abort>,
) -> Result<(), Abort> {
    let mut asked = VecDeque::with_capacity(CHUNKS_IN_FLIGHT);
    for chunk in chunks {
        if asked.len() == CHUNKS_IN_FLIGHT
            && let Some(first) = asked.pop_front()
        {
            take(first, ch)?;
        }
        asked.push_back(send(chunk, ch)?);
    }
    asked.into_iter().try_for_each(|asked| take(asked, ch))
}
