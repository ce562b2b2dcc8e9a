//! Records in pieces, and the union of a receiver without items: all are new, and travel in a random
//! order without pads. The channel hides them from everyone else.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use crate::tasks::{NewRecords, UnionReceiverOutput, UnionRequest};

/// Bytes of records that travel at a time, about.
const BYTES_PER_PIECE: usize = 1 << 18;

/// Places that travel at a time at most.
const MOST_PLACES_PER_PIECE: usize = 1 << 14;

/// Records of `width` bytes that travel at a time: what goes with them takes whole bytes, however many
/// bits it has for each of them.
pub fn places_per_piece(width: usize) -> usize {
    (BYTES_PER_PIECE / width).clamp(1, MOST_PLACES_PER_PIECE).next_multiple_of(8)
}

/// The records of these items, one after the other.
pub fn cells(records: &[u8], width: usize, items: &[u32]) -> Vec<u8> {
    items.iter().flat_map(|&item| &records[item as usize * width..][..width]).copied().collect()
}

/// Sends all records.
pub fn send<S: Stream<Element = u8>>(
    records: &[u8],
    width: usize,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Payload);
    let order = Secret::new(random_order(records.len() / width, rng));
    order.chunks(places_per_piece(width)).try_for_each(|order| ch.send_stream::<S>(&cells(records, width, order)))
}

/// Receives all records; each is new.
pub fn receive<S: Stream<Element = u8>>(
    request: &UnionRequest,
    ch: &mut Channel,
) -> Result<UnionReceiverOutput, Abort> {
    let _phase = ch.phase(Phase::Payload);
    let (items, width) = (request.sender_items, request.record_bytes);
    let (piece, mut records) = (places_per_piece(width), Vec::new());
    for first in (0..items).step_by(piece) {
        next::<S>(&mut records, piece.min(items - first) * width, ch)?;
    }
    Ok(output(request, (records, Bits::ones(items))))
}

/// The output of a receiver that has these records, one a place, of which some are new.
pub fn output(request: &UnionRequest, (records, new): (Vec<u8>, Bits)) -> UnionReceiverOutput {
    let width = request.record_bytes;
    UnionReceiverOutput { records: NewRecords::new(width, width, records, new) }
}

/// Receives as many more bytes of records: the list grows with what arrives.
pub fn next<'a, S: Stream<Element = u8>>(
    records: &'a mut Vec<u8>,
    bytes: usize,
    ch: &mut Channel,
) -> Result<&'a mut [u8], Abort> {
    let begin = records.len();
    records.resize(begin + bytes, 0);
    ch.recv_stream::<S>(&mut records[begin..])?;
    Ok(&mut records[begin..])
}
