//! Peers that cheat, and where the honest side notices.

use std::sync::atomic::{AtomicBool, Ordering};

use vesica_party::{Abort, Channel, Message, Party, Protocol, Row, Security, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::golomb::Code;
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;
use vesica_testkit::try_two_party;

use super::messages::{OffsetOpening, OffsetShare, Proofs, SaltCommitment, SaltOpening, SaltShare, Table, Tags};
use super::params::TagCoding;
use super::salt::{SALT_COMMITMENT, commit, toss_as_receiver};
use super::{Params, Receiver, Sender, VoleFast, VolePsi};
use crate::tags;
use crate::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

const N: usize = 50;

fn request(security: Security) -> IntersectRequest {
    IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes: 0, both_learn: true, runs: 1 }
}

fn params(security: Security) -> Params {
    VolePsi::<VoleFast>::derive(&request(security)).unwrap()
}

fn items() -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..N).map(|_| rng.block()).collect()
}

fn honest_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Option<Vec<u32>>, Abort> {
    let input = IntersectSenderInput { items: items(), payloads: Vec::new() };
    Ok(Sender::setup(params, ch, rng)?.run(input, ch, rng)?.matches)
}

fn honest_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    Ok(Receiver::setup(params, ch, rng)?.run(IntersectReceiverInput { items: items() }, ch, rng)?.matches)
}

/// That `result` blames the peer at step `number`.
#[track_caller]
fn assert_blamed<T: std::fmt::Debug>(result: Result<T, Abort>, number: u8) {
    match result {
        Err(Abort::PeerMisbehaved(step, _)) if step.number == number => {}
        other => panic!("expected blame at step {number}, got {other:?}"),
    }
}

#[test]
fn another_salt_than_committed_to_is_caught() {
    let params = params(Security::Malicious);
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&SaltCommitment(commit(ch, SALT_COMMITMENT, &[1; 32])))?;
            let SaltShare(_) = ch.recv(())?;
            ch.send(&SaltOpening([2; 32]))
        },
        |ch, rng| toss_as_receiver(&params, ch, rng),
    );
    assert_blamed(receiver.result, SaltOpening::STEP.number);
}

/// A sender that is honest up to the table, and then opens another offset than it committed to.
#[test]
fn another_offset_than_committed_to_is_caught() {
    let params = params(Security::Malicious);
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let _honest = Sender::setup(&params, ch, rng)?;
            let mut table = vec![Gf128::default(); params.table_len];
            ch.recv_stream::<Table>(bytemuck::cast_slice_mut(&mut table))?;
            let OffsetShare(_) = ch.recv(())?;
            ch.send(&OffsetOpening([3; 48]))
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    assert_blamed(receiver.result, OffsetOpening::STEP.number);
}

/// Whether a receiver that sends `cells` cells of its table, and its share if `share`, gets the
/// offset's opening.
fn gets_the_opening(cells: impl Fn(&Params) -> usize + Sync, share: bool) -> bool {
    let params = params(Security::Malicious);
    let opened = AtomicBool::new(false);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, rng| {
            let _honest = Receiver::setup(&params, ch, rng)?;
            ch.send_stream::<Table>(bytemuck::cast_slice(&vec![Gf128::default(); cells(&params)]))?;
            if share {
                ch.send(&OffsetShare([0; 16]))?;
            }
            let result = ch.recv::<OffsetOpening>(());
            opened.store(result.is_ok(), Ordering::SeqCst);
            result.map(drop)
        },
    );
    assert!(sender.result.is_err());
    opened.into_inner()
}

/// The sender opens its offset only behind the whole table and the receiver's share.
#[test]
fn the_offset_is_not_opened_before_the_table_has_come() {
    assert!(!gets_the_opening(|_| 0, false));
    assert!(!gets_the_opening(|_| 0, true));
    assert!(!gets_the_opening(|params| params.table_len - 1, true));
    assert!(!gets_the_opening(|params| params.table_len, false));
    assert!(gets_the_opening(|params| params.table_len, true), "the honest order is what opens it");
}

/// The sender opens its share of the salt only behind the receiver's.
#[test]
fn the_salt_is_not_opened_before_the_receivers_share_has_come() {
    let params = params(Security::Malicious);
    let opened = AtomicBool::new(false);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, _| {
            let SaltCommitment(_) = ch.recv(())?;
            let result = ch.recv::<SaltOpening>(());
            opened.store(result.is_ok(), Ordering::SeqCst);
            result.map(drop)
        },
    );
    assert!(sender.result.is_err() && !opened.into_inner());
}

/// A receiver with a table that encodes nothing learns nothing, and cannot prove matches to the
/// sender.
#[test]
fn a_proof_of_no_match_is_caught() {
    let params = params(Security::Malicious);
    let cheat = |proofs: &'static [u128]| {
        let (sender, _) = try_two_party(
            |ch, rng| honest_sender(&params, ch, rng),
            |ch, rng| {
                let _honest = Receiver::setup(&params, ch, rng)?;
                ch.send_stream::<Table>(bytemuck::cast_slice(&vec![Gf128(rng.block()); params.table_len]))?;
                ch.send(&OffsetShare([0; 16]))?;
                let OffsetOpening(_) = ch.recv(())?;
                tags::receive::<Tags>(
                    &mut TagFinder::new(0, params.finish.tag_bits, false),
                    N,
                    params.finish.tag_bits,
                    ch,
                )?;
                ch.send_stream::<Proofs>(proofs)
            },
        );
        sender.result
    };
    assert_eq!(cheat(&[0]).unwrap(), Some(vec![]), "it may claim no match");
    assert_blamed(cheat(&[1, 4]), Proofs::STEP.number);
    assert_blamed(cheat(&[N as u128 + 1]), Proofs::STEP.number);
}

/// What an honest receiver makes of tags that are `bytes`.
fn receive_tags(bytes: impl Fn(&Params) -> Vec<u8> + Sync) -> Result<Vec<u32>, Abort> {
    receive_tags_of(&params(Security::SemiHonest), bytes)
}

fn receive_tags_of(params: &Params, bytes: impl Fn(&Params) -> Vec<u8> + Sync) -> Result<Vec<u32>, Abort> {
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let _honest = Sender::setup(params, ch, rng)?;
            ch.recv_stream::<Table>(&mut vec![0; params.table_bytes as usize])?;
            ch.send_stream::<Tags>(&bytes(params))
        },
        |ch, rng| honest_receiver(params, ch, rng),
    );
    receiver.result
}

/// The bits that fill up the last byte of a packed table are zero.
#[test]
fn stray_bits_behind_the_table_are_caught() {
    let params = params(Security::SemiHonest);
    assert!(!(params.table_len * params.value_bits as usize).is_multiple_of(8), "there are bits to fill up");
    let sent = |last: u8| {
        let mut table = vec![0x5a; params.table_bytes as usize];
        *table.last_mut().unwrap() = last;
        let (sender, _) = try_two_party(
            |ch, rng| honest_sender(&params, ch, rng),
            |ch, rng| {
                let _honest = Receiver::setup(&params, ch, rng)?;
                ch.send_stream::<Table>(&table)?;
                tags::receive::<Tags>(
                    &mut TagFinder::new(0, params.finish.tag_bits, false),
                    N,
                    params.finish.tag_bits,
                    ch,
                )?;
                ch.send_stream::<Proofs>(&[0])
            },
        );
        sender.result
    };
    assert_eq!(sent(0).unwrap(), Some(vec![]));
    assert_blamed(sent(0x80), Table::STEP.number);
}

#[test]
fn malformed_masks_are_caught() {
    let step = Tags::STEP.number;
    assert_blamed(receive_tags(|_| u32::MAX.to_le_bytes().to_vec()), step);
    assert_blamed(receive_tags(|_| 0u32.to_le_bytes().to_vec()), step);
    let longest = |params: &Params| *Code::new(N, params.finish.tag_bits).len_range().end();
    let coded = |byte: u8, params: &Params| {
        let length = longest(params);
        let mut bytes = (length as u32).to_le_bytes().to_vec();
        bytes.resize(4 + length, byte);
        bytes
    };
    // All ones: gaps that together exceed the width, or quotients left over; all zeros: quotients
    // missing.
    assert_blamed(receive_tags(|params| coded(0xff, params)), step);
    assert_blamed(receive_tags(|params| coded(0, params)), step);
}

#[test]
fn tags_wider_than_agreed_are_caught() {
    let width = |params: &Params| params.finish.tag_bits.div_ceil(8) as usize;
    // In whole bytes.
    let shuffled = Row::<VolePsi<VoleFast>>::chosen("tags=shuffled").expect("a variant");
    let shuffled = shuffled.params(&request(Security::SemiHonest)).expect("served");
    assert_eq!(shuffled.finish.coding, TagCoding::Shuffled);
    assert!(!shuffled.finish.tag_bits.is_multiple_of(8), "there are bits to be wider in");
    assert_blamed(receive_tags_of(&shuffled, |params| vec![0xff; N * width(params)]), Tags::STEP.number);
}
