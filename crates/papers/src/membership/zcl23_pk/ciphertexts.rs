//! Arrows 3 and 5: ciphertexts by the chunk, on all threads.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Answers, Table};
use super::rows::{BinaryRows, random_scalars};
use vesica_protocols::ecdh::arrived::Arrived;
use vesica_protocols::ecdh::{BAD_POINT, POINT_BYTES, POINTS_PER_CHUNK, Point, blind_points};

/// Ciphertexts that travel at a time.
const PER_CHUNK: usize = POINTS_PER_CHUNK / 2;

/// Ciphertexts that a thread makes at a time.
const PER_BATCH: usize = 64;

/// Items that a thread decodes at a time. Each cell that their rows share is read once.
const ITEMS_PER_BATCH: usize = 1 << 9;

/// Items that are decoded without a look at the channel.
const ITEMS_BETWEEN_CHANNEL_CHECKS: usize = 1 << 12;

/// The group element of an encoding.
pub(super) fn element(point: &Point) -> Option<RistrettoPoint> {
    CompressedRistretto(*point).decompress()
}

/// Appends the encodings of the *doubles* of these elements, which cost one inversion for all. Twice
/// a ciphertext encrypts twice the plaintext, and that is zero exactly if the plaintext is.
fn append_doubles(elements: &Secret<Vec<RistrettoPoint>>, encoded: &mut Vec<Point>) {
    encoded
        .extend(RistrettoPoint::double_and_compress_batch(elements.iter()).iter().map(CompressedRistretto::to_bytes));
}

/// Step 3: the encryption of each cell.
pub(super) fn send_table(
    cells: &[Scalar],
    secret_key: &Secret<Scalar>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    for cells in cells.chunks(PER_CHUNK) {
        let nonces = random_scalars(cells.len(), rng);
        let encrypted: Vec<Vec<Point>> = (cells.par_chunks(PER_BATCH).zip(nonces.par_chunks(PER_BATCH)))
            .map(|(cells, nonces)| {
                let elements = cells.iter().zip(nonces).flat_map(|(cell, nonce)| {
                    let logarithm = Secret::new(nonce * **secret_key + cell);
                    [RISTRETTO_BASEPOINT_TABLE * nonce, RISTRETTO_BASEPOINT_TABLE * &*logarithm]
                });
                let mut encoded = Vec::with_capacity(2 * cells.len());
                append_doubles(&Secret::new(elements.collect()), &mut encoded);
                encoded
            })
            .collect();
        ch.send_stream::<Table>(&encrypted.concat())?;
    }
    Ok(())
}

/// Step 3: the ciphertexts of this many cells.
pub(super) fn receive_table(cells: usize, ch: &mut Channel) -> Result<Arrived, Abort> {
    let mut table = Arrived::new(2 * cells);
    while table.left() > 0 {
        table.take::<Table>(ch, |points| Ok(Secret::new(points)))?;
    }
    Ok(table)
}

/// Step 4, and a fresh randomness for each: the ciphertexts of the items, two points each.
pub(super) fn decode<O: BinaryRows>(
    okvs: &O,
    table: &Arrived,
    items: &[u128],
    receiver_key: &RistrettoPoint,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Secret<Vec<Point>>, Abort> {
    let multiples = RistrettoBasepointTable::create(receiver_key);
    let mut decoded = Secret::new(vec![[0; POINT_BYTES]; 2 * items.len()]);
    let order = Secret::new(okvs.order(items));
    for numbers in order.chunks(ITEMS_BETWEEN_CHANNEL_CHECKS) {
        ch.check()?;
        let nonces = random_scalars(numbers.len(), rng);
        let batches: Option<Vec<Secret<Vec<Point>>>> =
            (numbers.par_chunks(ITEMS_PER_BATCH).zip(nonces.par_chunks(ITEMS_PER_BATCH)))
                .map(|(numbers, nonces)| {
                    let items: Vec<u128> = numbers.iter().map(|&number| items[number as usize]).collect();
                    decode_batch(okvs, table, &Secret::new(items), &multiples, nonces)
                })
                .collect();
        let batches = batches.ok_or(Abort::PeerMisbehaved(Table::STEP, BAD_POINT))?;
        let points = batches.iter().flat_map(|batch| batch.as_chunks::<2>().0);
        for (&number, points) in numbers.iter().zip(points) {
            decoded[2 * number as usize..][..2].copy_from_slice(points);
        }
    }
    Ok(decoded)
}

/// The ciphertexts of a few items; nothing if a cell that they need is none.
fn decode_batch<O: BinaryRows>(
    okvs: &O,
    table: &Arrived,
    items: &[u128],
    multiples: &RistrettoBasepointTable,
    nonces: &[Scalar],
) -> Option<Secret<Vec<Point>>> {
    let rows = okvs.rows(items);
    let cells = rows.all_cells();
    let point = |number: usize| element(&table.chunks()[number / POINTS_PER_CHUNK][number % POINTS_PER_CHUNK]);
    let ciphertext = |&cell: &u32| Some([point(2 * cell as usize)?, point(2 * cell as usize + 1)?]);
    let ciphertexts: Vec<[RistrettoPoint; 2]> = cells.iter().map(ciphertext).collect::<Option<_>>()?;
    let mut encoded = Secret::new(Vec::with_capacity(2 * items.len()));
    let mut elements = Secret::new(Vec::with_capacity(2 * items.len()));
    for (row, nonce) in rows.iter().zip(nonces) {
        let (mut first, mut second) = (RISTRETTO_BASEPOINT_TABLE * nonce, multiples * nonce);
        for cell in row {
            let [a, b] = &ciphertexts[cells.binary_search(cell).ok()?];
            first += a;
            second += b;
        }
        elements.extend([first, second]);
    }
    append_doubles(&elements, &mut encoded);
    Some(encoded)
}

/// Step 5: the items' ciphertexts in this order.
pub(super) fn answer(decoded: &[Point], order: &[u32], ch: &mut Channel) -> Result<(), Abort> {
    for numbers in order.chunks(PER_CHUNK) {
        let points: Vec<Point> =
            numbers.iter().flat_map(|&number| decoded[2 * number as usize..][..2].iter().copied()).collect();
        ch.send_stream::<Answers>(&points)?;
    }
    Ok(())
}

/// Steps 5 and 6: which of `count` ciphertexts encrypt zero.
pub(super) fn zeros_among(count: usize, secret_key: &Secret<Scalar>, ch: &mut Channel) -> Result<Bits, Abort> {
    let _phase = ch.phase(Phase::Masks);
    let mut found = Bits::zeros(count);
    for first in (0..count).step_by(PER_CHUNK) {
        let mut points = vec![[0; POINT_BYTES]; 2 * PER_CHUNK.min(count - first)];
        ch.recv_stream::<Answers>(&mut points)?;
        let (pairs, _) = points.as_chunks::<2>();
        let keyed = blind_points(pairs.iter().map(|[keyed, _]| *keyed).collect(), secret_key);
        let keyed = keyed.ok_or(Abort::PeerMisbehaved(Answers::STEP, BAD_POINT))?;
        for (place, (keyed, [_, other])) in (first..).zip(keyed.iter().zip(pairs)) {
            found.set(place, keyed == other);
        }
    }
    Ok(found)
}
