//! Double blinding, the part that several protocols begin with: both sides' items come to the
//! receiver's side of the comparison, and to the sender's, under both blindings.
//!
//! ```text
//!   Sender: X, a                                    Receiver: Y, b
//!                    1. b H(y), in chunks
//!      <-----------------------------------------------------
//!                    2. a H(x), in chunks
//!      ----------------------------------------------------->
//!   a b H(y)                                        b a H(x)
//! ```
//!
//! The receiver runs at most [`CHUNKS_IN_FLIGHT`] chunks ahead, and the sender blinds own items and
//! the receiver's in turns: both compute all the time and neither streams against the other.
//! Nothing is sent where either set is empty.

use curve25519_dalek::scalar::Scalar;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::secret::Secret;

use super::arrived::Arrived;
use super::{BAD_POINT, CHUNKS_IN_FLIGHT, POINT_BYTES, POINTS_PER_CHUNK, Point, blind_items, blind_points};

/// The two arrows, as a protocol names them, and its hash to the group.
pub trait Arrows {
    /// Domain of the hash to the group.
    const DOMAIN: &'static [u8];
    /// Arrow 1.
    type FromReceiver: Stream<Element = Point>;
    /// Arrow 2.
    type FromSender: Stream<Element = Point>;
}

/// Bytes of both arrows.
pub fn predicted_bytes(sender_items: usize, receiver_items: usize) -> u64 {
    if sender_items == 0 || receiver_items == 0 { 0 } else { (POINT_BYTES * (sender_items + receiver_items)) as u64 }
}

/// The sender's side: `a b H(y)` in the receiver's order. The receiver sees blinded `items` in the
/// order in which they are given, which should therefore be random.
pub fn sender<A: Arrows>(
    items: &[u128],
    receiver_items: usize,
    exponent: &Secret<Scalar>,
    ch: &mut Channel,
) -> Result<Arrived, Abort> {
    let _phase = ch.phase(Phase::HashItems);
    let session = ch.session();
    let mut theirs = Arrived::new(if items.is_empty() { 0 } else { receiver_items });
    let mut own = items.chunks(POINTS_PER_CHUNK).filter(|_| receiver_items > 0);
    for _ in 0..rounds(items.len(), receiver_items) {
        take::<A::FromReceiver>(&mut theirs, exponent, ch)?;
        if let Some(items) = own.next() {
            ch.send_stream::<A::FromSender>(&blind_items(A::DOMAIN, &session, items, exponent))?;
        }
    }
    Ok(theirs)
}

/// The receiver's side: `b a H(x)` in the order in which the sender gave its items.
pub fn receiver<A: Arrows>(
    items: &[u128],
    sender_items: usize,
    exponent: &Secret<Scalar>,
    ch: &mut Channel,
) -> Result<Arrived, Abort> {
    let _phase = ch.phase(Phase::HashItems);
    let session = ch.session();
    let mut theirs = Arrived::new(if items.is_empty() { 0 } else { sender_items });
    let mut own = items.chunks(POINTS_PER_CHUNK).filter(|_| sender_items > 0);
    for round in 0..rounds(items.len(), sender_items) + CHUNKS_IN_FLIGHT {
        if let Some(items) = own.next() {
            ch.send_stream::<A::FromReceiver>(&blind_items(A::DOMAIN, &session, items, exponent))?;
        }
        if round >= CHUNKS_IN_FLIGHT {
            take::<A::FromSender>(&mut theirs, exponent, ch)?;
        }
    }
    Ok(theirs)
}

/// Rounds of a chunk each way.
fn rounds(own: usize, theirs: usize) -> usize {
    own.max(theirs).div_ceil(POINTS_PER_CHUNK)
}

/// Receives and blinds the next chunk of the other side's points, if one is due.
fn take<S: Stream<Element = Point>>(
    theirs: &mut Arrived,
    exponent: &Secret<Scalar>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    theirs.take::<S>(ch, |points| blind_points(points, exponent).ok_or(Abort::PeerMisbehaved(S::STEP, BAD_POINT)))
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::{try_two_party, two_party};

    use super::*;
    use crate::ecdh::random_exponent;

    vesica_party::arrows! { "test" =>
        stream Upwards[Point] = 1, Receiver, "points";
        stream Downwards[Point] = 2, Sender, "points";
    }

    enum Test {}

    impl Arrows for Test {
        const DOMAIN: &'static [u8] = b"test";
        type FromReceiver = Upwards;
        type FromSender = Downwards;
    }

    #[test]
    fn both_masks_come_to_lie_on_all_items_whatever_the_sizes() {
        for (n_s, n_r) in [
            (1, 1),
            (5, 3 * POINTS_PER_CHUNK + 1),
            (6 * POINTS_PER_CHUNK, 2),
            (5 * POINTS_PER_CHUNK, 5 * POINTS_PER_CHUNK - 1),
        ] {
            let (x, y): (Vec<u128>, Vec<u128>) = ((0..n_s as u128).collect(), (0..n_r as u128).rev().collect());
            let keys = |rng: &mut SecretRng| random_exponent(rng);
            let (of_y, of_x) = two_party(
                |ch, _| sender::<Test>(&x, n_r, &keys(&mut SecretRng::insecure_from_seed(1)), ch),
                |ch, _| receiver::<Test>(&y, n_s, &keys(&mut SecretRng::insecure_from_seed(2)), ch),
            );
            let [of_x, of_y] = [of_x, of_y]
                .map(|points| points.chunks().iter().flat_map(|chunk| chunk.to_vec()).collect::<Vec<Point>>());
            assert_eq!((of_x.len(), of_y.len()), (n_s, n_r));
            for i in 0..n_s.min(n_r) {
                assert_eq!(of_x[i], of_y[n_r - 1 - i], "item {i} of {n_s} and {n_r}");
            }
        }
    }

    #[test]
    fn points_outside_of_the_group_are_caught_on_both_sides() {
        for bad in [[0; 32], [0xff; 32]] {
            let key = random_exponent(&mut SecretRng::insecure_from_seed(1));
            let (sent, _) =
                try_two_party(|ch, _| sender::<Test>(&[1], 1, &key, ch), |ch, _| ch.send_stream::<Upwards>(&[bad]));
            assert!(matches!(sent.result, Err(Abort::PeerMisbehaved(Upwards::STEP, _))));
            let (_, received) = try_two_party(
                |ch, _| {
                    ch.recv_stream::<Upwards>(&mut [[0; 32]])?;
                    ch.send_stream::<Downwards>(&[bad])
                },
                |ch, _| receiver::<Test>(&[1], 1, &key, ch),
            );
            assert!(matches!(received.result, Err(Abort::PeerMisbehaved(Downwards::STEP, _))));
        }
    }
}
