//! The two arrows of the function of RFC 9497 without proofs, before services that look up its outputs.

use vesica_mpc::rfc9497::{Blinds, Mode, Output, SecretKey, blind, finalize};
use vesica_party::{Abort, Assumption, Attack, Channel, Effort, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::items::inputs;
use crate::ecdh::{BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, answer, ask};

/// What hides a key that answers elements of others' choice. `2^34` of them are `2^18` queries of `2^16` items each, the most
/// of an enrolment; nothing bounds those of all clients together.
pub const ONE_MORE_GAP: Assumption = Assumption::discrete_logarithm("one-more gap Diffie-Hellman on Ristretto255").attacked(Attack {
    falls: "the server's key, with which whoever kept tags tests guesses at its set",
    takes: Effort::Steps {
        tenths: static_key_tenths(34),
        of: "multiplications once 2^34 elements of others' choice were answered, and 2^126 / sqrt(q) after q of them",
    },
    source: "docs/parameters/recurrent.md",
});

/// `log2`, in tenths, of the work for a key that has answered `2^log_answered` elements of others' choice: the discrete
/// logarithm in a group of prime order of 252 bits, by the attacks on strong Diffie-Hellman assumptions (Brown and Gallant;
/// Cheon).
const fn static_key_tenths(log_answered: u32) -> u32 {
    1260 - 5 * log_answered
}

/// The client's part: the outputs for these items. Blinded elements leave as arrow `B`, evaluated
/// ones come back as arrow `E`.
pub fn outputs<B: Stream<Element = Point>, E: Stream<Element = Point>>(
    items: &[u128],
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Secret<Vec<Output>>, Abort> {
    let _phase = ch.phase(Phase::HashItems);
    let mut outputs = Secret::new(Vec::with_capacity(items.len()));
    let send = |inputs, ch: &mut Channel| {
        let (blinds, blinded): (Blinds, Vec<Point>) = blind(Mode::Oprf, inputs, rng);
        ch.send_stream::<B>(&blinded)?;
        Ok((inputs, blinds))
    };
    let take = |(inputs, blinds): (&[[u8; 16]], Blinds), ch: &mut Channel| {
        let mut evaluated = vec![[0; POINT_BYTES]; inputs.len()];
        ch.recv_stream::<E>(&mut evaluated)?;
        let part = finalize(inputs, &blinds, &evaluated);
        outputs.extend_from_slice(&part.ok_or(Abort::PeerMisbehaved(E::STEP, BAD_POINT))?);
        Ok(())
    };
    ask(CHUNKS_IN_FLIGHT, inputs(items).chunks(POINTS_PER_CHUNK), ch, send, take)?;
    Ok(outputs)
}

/// The server's part, for `count` items.
pub fn evaluate<B: Stream<Element = Point>, E: Stream<Element = Point>>(
    key: &SecretKey,
    count: usize,
    ch: &mut Channel,
) -> Result<(), Abort> {
    answer::<B>(count, ch, |mut elements, ch| {
        if !key.evaluate_blinded(&mut elements) {
            return Err(Abort::PeerMisbehaved(B::STEP, BAD_POINT));
        }
        ch.send_stream::<E>(&elements)
    })
}
