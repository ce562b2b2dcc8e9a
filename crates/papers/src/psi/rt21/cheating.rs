//! Peers that cheat, and what the honest side does.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Security};
use vesica_structures::fields::{Bits256, Cell};
use vesica_structures::okvs::{Band, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;
use vesica_testkit::try_two_party;

use super::agreement::message;
use super::keys::{Keys, begin_as_receiver, commit};
use super::messages::{PublicKey, SaltCommitment, SaltOpening, SaltShare, Table, Tags};
use super::{Params, Receiver, Sender};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

const N: usize = 40;

fn params() -> Params {
    let request = IntersectRequest {
        sender_items: N,
        receiver_items: N,
        security: Security::Malicious,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    };
    Params::derive(&request).unwrap()
}

fn items() -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..N).map(|_| rng.block()).collect()
}

fn honest_sender(ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let input = IntersectSenderInput { items: items(), payloads: Vec::new() };
    Sender::setup(&params(), ch, rng)?.run(input, ch, rng).map(drop)
}

fn honest_receiver(ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    Ok(Receiver::setup(&params(), ch, rng)?.run(IntersectReceiverInput { items: items() }, ch, rng)?.matches)
}

/// That `result` blames the peer at step `number`.
#[track_caller]
fn assert_blamed<T: std::fmt::Debug>(result: Result<T, Abort>, number: u8) {
    match result {
        Err(Abort::PeerMisbehaved(step, _)) if step.number == number => {}
        other => panic!("expected blame at step {number}, got {other:?}"),
    }
}

/// A sender up to arrow 4.
fn begin_with(opening: [u8; 32], key: [u8; 32], ch: &mut Channel) -> Result<(), Abort> {
    ch.send(&SaltCommitment(commit(ch, &[1; 32])))?;
    let SaltShare(_) = ch.recv(())?;
    ch.send(&SaltOpening(opening))?;
    ch.send(&PublicKey(key))
}

#[test]
fn a_changed_share_of_the_salt_is_caught() {
    let key = ED25519_BASEPOINT_POINT.to_montgomery().0;
    let (_, receiver) = try_two_party(|ch, _| begin_with([2; 32], key, ch), honest_receiver);
    assert_blamed(receiver.result, 3);
}

/// The sender knows the salt when it chooses its key. Could it try keys for one under which a set cannot be encoded, it
/// would test a guess of the receiver's items by a failed run.
#[test]
fn the_public_key_does_not_change_the_rows_of_the_table() {
    let keys_under = |key: u8| {
        let (keys, _) =
            try_two_party(|ch, _| Ok(Keys::derive(&params(), ch, &[[1; 32], [2; 32]], &[key; 32])), |_, _| Ok(()));
        let keys = keys.result.unwrap();
        (keys.okvs(&params()).unwrap(), keys.mask(5), keys.output(5, &[3; 32]))
    };
    let rows = |okvs: &Band| {
        let cells: Vec<Bits256> = (0..okvs.len()).map(|cell| Bits256([cell as u64, 1, 0, 0])).collect();
        let mut decoded = [Bits256::default(); N];
        okvs.decode(&cells, &items(), &mut decoded);
        decoded
    };
    let [one, other] = [keys_under(7), keys_under(8)];
    assert_eq!(rows(&one.0), rows(&other.0));
    assert_ne!((one.1, one.2), (other.1, other.2));
}

#[test]
fn bad_public_keys_are_refused() {
    let mut twist = [0; 32];
    twist[0] = 2;
    let mut above = [0xff; 32];
    above[31] = 0x7f;
    let mut high_bit = ED25519_BASEPOINT_POINT.to_montgomery().0;
    high_bit[31] |= 0x80;
    let small = EIGHT_TORSION.map(|point| point.to_montgomery().0);
    let mixed = [1, 2, 4].map(|at| (ED25519_BASEPOINT_POINT + EIGHT_TORSION[at]).to_montgomery().0);
    for bad in [twist, above, high_bit].into_iter().chain(small).chain(mixed) {
        let (_, receiver) = try_two_party(|ch, _| begin_with([1; 32], bad, ch), honest_receiver);
        assert_blamed(receiver.result, 4);
    }
}

/// Sends a table, made of the value of one message, and counts which items the receiver finds by the
/// exponent of that message.
fn found_with(table_of: impl Fn(&Keys, &Band, Bits256) -> Vec<Bits256> + Send + Sync) -> usize {
    let (sender, receiver) = try_two_party(honest_sender, |ch, rng| {
        let params = params();
        let (keys, public_key) = begin_as_receiver(&params, ch, rng)?;
        let (exponent, string) = message(rng);
        let okvs = keys.okvs(&params)?;
        let cells = table_of(&keys, &okvs, keys.permutation.invert(string));
        for part in &params.parts {
            table::send::<Table, Bits256>(&cells[part.clone()], Bits256::BITS, ch)?;
        }
        let shared = (public_key * *exponent).to_montgomery().0;
        let own: Vec<u128> = items().iter().map(|&item| keys.output(item, &shared)[0]).collect();
        let mut finder = TagFinder::new(N, 128, false);
        finder.add(&own, 0..);
        finder.prepare();
        tags::receive::<Tags>(&mut finder, N, 128, ch)?;
        Ok(finder.found().list().len())
    });
    sender.result.unwrap();
    receiver.result.unwrap()
}

/// Without `H_3`, equal cells would show about half of the sender's items.
#[test]
fn a_table_of_equal_cells_shows_nothing() {
    assert_eq!(found_with(|_, okvs, value| vec![value; okvs.len()]), 0);
}

/// With as many items as it may have, a receiver may use one message for all of them. It also shows that
/// what these tests count can be found.
#[test]
fn one_message_for_all_own_items_finds_them() {
    let table = |keys: &Keys, okvs: &Band, value: Bits256| {
        let values: Vec<Bits256> = items().iter().map(|&item| value + keys.mask(item)).collect();
        okvs.encode_vartime(&items(), &values, FreeCells::Zero).unwrap()
    };
    assert_eq!(found_with(table), N);
}

#[test]
fn a_table_of_zeros_is_decoded_without_a_panic() {
    assert_eq!(found_with(|_, okvs, _| vec![Bits256::default(); okvs.len()]), 0);
}

#[test]
fn honest_parties_find_all() {
    let (sender, receiver) = try_two_party(honest_sender, honest_receiver);
    sender.result.unwrap();
    assert_eq!(receiver.result.unwrap(), (0..N as u32).collect::<Vec<_>>());
}
