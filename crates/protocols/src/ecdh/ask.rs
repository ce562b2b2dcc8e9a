//! Questions in chunks, with several under way.

use std::collections::VecDeque;

use bytemuck::Zeroable;
use vesica_party::{Abort, Channel, Stream};
use vesica_structures::secret::Secret;

use super::{BAD_POINT, CHUNKS_IN_FLIGHT, Exponent, POINTS_PER_CHUNK, blind_items, blind_points};

/// Sends what `send` makes of each chunk, and has `take` receive the answers in the same order. At
/// most `in_flight` answers are awaited at a time, at least one: so both sides compute all the time,
/// and neither waits for the other to read.
pub fn ask<C, T>(
    in_flight: usize,
    chunks: impl Iterator<Item = C>,
    ch: &mut Channel,
    mut send: impl FnMut(C, &mut Channel) -> Result<T, Abort>,
    mut take: impl FnMut(T, &mut Channel) -> Result<(), Abort>,
) -> Result<(), Abort> {
    ch.one_message(|ch| {
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
    })
}

/// The side that [`ask`] asks: receives `count` points as arrow `S`, in chunks, and has `reply`
/// answer each chunk.
pub fn answer<S: Stream>(
    count: usize,
    ch: &mut Channel,
    mut reply: impl FnMut(Vec<S::Element>, &mut Channel) -> Result<(), Abort>,
) -> Result<(), Abort> {
    let mut left = count;
    while left > 0 {
        let mut points = vec![S::Element::zeroed(); left.min(POINTS_PER_CHUNK)];
        ch.recv_stream::<S>(&mut points)?;
        left -= points.len();
        reply(points, ch)?;
    }
    Ok(())
}

/// `a H(y)` for each item, of which the other side knows `a`: the items leave as arrow `B`, blinded by
/// `exponent`, and come back as arrow `D` under both blindings; then `exponent` is taken off.
pub fn evaluate<B, D, E>(
    domain: &[u8],
    session: &[u8; 32],
    items: &[u128],
    exponent: &Secret<E>,
    ch: &mut Channel,
) -> Result<Secret<Vec<E::Point>>, Abort>
where
    B: Stream<Element = E::Point>,
    D: Stream<Element = E::Point>,
    E: Exponent,
{
    let inverse = exponent.inverse();
    let mut points = Secret::new(Vec::with_capacity(items.len()));
    let send = |chunk: &[u128], ch: &mut Channel| {
        ch.send_stream::<B>(&blind_items(domain, session, chunk, exponent))?;
        Ok(chunk.len())
    };
    ask(CHUNKS_IN_FLIGHT, items.chunks(POINTS_PER_CHUNK), ch, send, |count, ch| {
        let mut doubly_blinded = vec![E::Point::zeroed(); count];
        ch.recv_stream::<D>(&mut doubly_blinded)?;
        let unblinded = blind_points(doubly_blinded, &inverse).ok_or(Abort::PeerMisbehaved(D::STEP, BAD_POINT))?;
        points.extend_from_slice(&unblinded);
        Ok(())
    })?;
    Ok(points)
}
