//! What either side sees, and what the sender refuses.

use std::collections::HashSet;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use vesica_party::Stream;
use vesica_testkit::{try_two_party, two_party};

use super::messages::{Answers, Table};
use super::*;
use vesica_protocols::ecdh::Point;

const N: usize = 60;

/// The receiver's items; the sender has the second half of them, and as many others.
fn own() -> Vec<u128> {
    (0..N as u128).collect()
}

fn asked() -> Vec<u128> {
    (N as u128 / 2..).take(N).collect()
}

fn params<O: BinaryRows>() -> Params<O::Shape> {
    Zcl23Pk::<O>::derive(N, N).unwrap()
}

/// The answers to all items in the order of [`asked`], and the receiver with the plaintexts of its
/// table.
fn answers<O: BinaryRows>() -> (Vec<[Point; 2]>, Receiver<O>, Secret<Vec<Scalar>>) {
    let (decoded, (receiver, zeros)) = two_party(
        |ch, rng| {
            let Sender { receiver_key, okvs } = Zcl23Pk::<O>::sender(&params::<O>(), ch, rng)?;
            let table = ciphertexts::receive_table(okvs.table_len(), ch)?;
            ciphertexts::decode(&okvs, &table, &asked(), &receiver_key, ch, rng)
        },
        |ch, rng| {
            let receiver = Zcl23Pk::<O>::receiver(&params::<O>(), ch, rng)?;
            let zeros = receiver.okvs.kernel(&own(), rng).unwrap();
            // All nonces are zero: what differs in the answers is what the sender put in.
            let cells = zeros
                .iter()
                .flat_map(|zero| [RISTRETTO_BASEPOINT_POINT * Scalar::ZERO, RISTRETTO_BASEPOINT_POINT * zero]);
            ch.send_stream::<Table>(&cells.map(|cell| cell.compress().to_bytes()).collect::<Vec<Point>>())?;
            Ok((receiver, zeros))
        },
    );
    (decoded.as_chunks::<2>().0.to_vec(), receiver, zeros)
}

/// `second - k first`.
fn plaintext<O>([first, second]: &[Point; 2], receiver: &Receiver<O>) -> RistrettoPoint {
    let [first, second] = [first, second].map(|point| ciphertexts::element(point).unwrap());
    second - first * *receiver.secret_key
}

fn answers_are_fresh<O: BinaryRows>() {
    let (answers, receiver, _) = answers::<O>();
    let firsts: HashSet<Point> = answers.iter().map(|[first, _]| *first).collect();
    assert!(
        firsts.len() == N && !firsts.contains(&[0; 32]),
        "the table had no randomness, so all of it is the sender's"
    );
    for (item, answer) in asked().into_iter().zip(&answers) {
        assert_eq!(plaintext(answer, &receiver).is_identity(), own().contains(&item), "item {item}");
    }
}

#[test]
fn common_items_cannot_be_told_apart() {
    answers_are_fresh::<Garbled>();
    answers_are_fresh::<NarrowBand>();
}

/// The leak that the rows list: before any record, the receiver finds out which item a new one is by
/// trying guesses.
#[test]
fn guesses_at_new_items_can_be_checked() {
    let (answers, receiver, zeros) = answers::<Garbled>();
    let new = N / 2 + 7;
    let seen = plaintext(&answers[new], &receiver);
    let guesses: Vec<u128> = (0..500).collect();
    let rows = receiver.okvs.rows(&guesses);
    let fits = |row: &[u32]| {
        let sum: Scalar = row.iter().map(|&cell| zeros[cell as usize]).sum();
        // Answers are doubled.
        RISTRETTO_BASEPOINT_TABLE * &(sum + sum) == seen
    };
    let fitting: Vec<u128> =
        guesses.iter().zip(rows.iter()).filter(|(_, row)| fits(row)).map(|(guess, _)| *guess).collect();
    assert_eq!(fitting, [asked()[new]]);
}

/// What the sender could tell of the receiver's items without nonces: their second components add up
/// to zero.
#[test]
fn a_table_is_encrypted_with_fresh_nonces() {
    let ((table, sums), _) = two_party(
        |ch, rng| {
            let Sender { okvs, .. } = Zcl23Pk::<Garbled>::sender(&params::<Garbled>(), ch, rng)?;
            let table = ciphertexts::receive_table(okvs.table_len(), ch)?;
            let points: Vec<Point> = table.chunks().iter().flat_map(|chunk| chunk.iter().copied()).collect();
            let second = |cell: &u32| ciphertexts::element(&points[2 * *cell as usize + 1]).unwrap();
            let rows = okvs.rows(&own());
            let sums: Vec<RistrettoPoint> = rows.iter().map(|row| row.iter().map(second).sum()).collect();
            ch.send_stream::<Answers>(&points[..2 * N])?;
            Ok((points, sums))
        },
        |ch, rng| {
            let receiver = Zcl23Pk::<Garbled>::receiver(&params::<Garbled>(), ch, rng)?;
            Zcl23Pk::<Garbled>::test(receiver, &own(), ch, rng)
        },
    );
    assert_eq!(table.iter().collect::<HashSet<_>>().len(), table.len());
    assert!(!table.contains(&[0; 32]) && sums.iter().all(|sum| !sum.is_identity()));
}

#[test]
fn a_bad_public_key_is_caught() {
    for point in [[0; 32], [0xff; 32]] {
        let (sender, _) = try_two_party(
            |ch, rng| Zcl23Pk::<Garbled>::sender(&params::<Garbled>(), ch, rng).map(drop),
            |ch, _| ch.send(&PublicKey { point, salt: [1; 32] }),
        );
        assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(PublicKey::STEP, _))));
    }
}

#[test]
fn a_cell_that_is_no_element_is_caught() {
    let (sender, _) = try_two_party(
        |ch, rng| {
            let sender = Zcl23Pk::<Garbled>::sender(&params::<Garbled>(), ch, rng)?;
            Zcl23Pk::<Garbled>::ask(sender, &asked(), ch, rng).map(drop)
        },
        |ch, rng| {
            let receiver = Zcl23Pk::<Garbled>::receiver(&params::<Garbled>(), ch, rng)?;
            ch.send_stream::<Table>(&vec![[0xff; 32]; 2 * receiver.okvs.table_len()])
        },
    );
    assert!(matches!(sender.result, Err(Abort::PeerMisbehaved(Table::STEP, _))));
}

#[test]
fn an_answer_that_is_no_element_or_neutral_is_caught() {
    for bad in [[0; 32], [0xff; 32]] {
        let (_, receiver) = try_two_party(
            |ch, rng| {
                let Sender { okvs, .. } = Zcl23Pk::<Garbled>::sender(&params::<Garbled>(), ch, rng)?;
                ciphertexts::receive_table(okvs.table_len(), ch)?;
                ch.send_stream::<Answers>(&[bad; 2 * N])
            },
            |ch, rng| {
                let receiver = Zcl23Pk::<Garbled>::receiver(&params::<Garbled>(), ch, rng)?;
                Zcl23Pk::<Garbled>::test(receiver, &own(), ch, rng).map(drop)
            },
        );
        assert!(matches!(receiver.result, Err(Abort::PeerMisbehaved(Answers::STEP, _))));
    }
}
