//! Parties that cheat in the malicious mode: each is caught, or gets no more than the entry says.

use std::sync::atomic::{AtomicBool, Ordering};

use vesica_mpc::code_oprf::LongBch;
use vesica_mpc::oprf::table;
use vesica_party::transport::memory;
use vesica_party::{Abort, Channel, Message, Party, Protocol, Security, Step, Stream};
use vesica_structures::fields::{Bits256 as Value, Bits1024 as Row};
use vesica_structures::golomb::Code;
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;
use vesica_testkit::{Transcript, options, record, try_two_party, two_party_over};

use super::coded::{Blake3Functions, ReceiverColumns, SaltArrows, SenderColumns, opening};
use super::messages::{
    Answer, Challenge, Corrections, FinishArrows, Payloads, Proofs, Salt, SaltCommitment, SaltShare, Tags,
};
use super::mode::{Functions, SenderRows};
use super::receiver::SetUp;
use super::{Params, Prty20};
use crate::psi::finish;
use crate::psi::toss::Arrows;
use crate::tags;
use crate::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

/// Items of both sides.
const N: usize = 300;

type SenderOf = <Prty20 as Protocol>::Sender;
type ReceiverOf = <Prty20 as Protocol>::Receiver;

fn params(both_learn: bool) -> Params {
    let security = Security::Malicious;
    let request =
        IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes: 0, both_learn, runs: 1 };
    Prty20::derive(&request).unwrap()
}

fn items() -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..N).map(|_| rng.block()).collect()
}

/// The matches of an honest sender, if it learns them.
fn honest_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Option<Vec<u32>>, Abort> {
    let input = IntersectSenderInput { items: items(), payloads: Vec::new() };
    Ok(SenderOf::setup(params, ch, rng)?.run(input, ch, rng)?.matches)
}

/// The matches of an honest receiver.
fn honest_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    Ok(ReceiverOf::setup(params, ch, rng)?.run(IntersectReceiverInput { items: items() }, ch, rng)?.matches)
}

/// That `result` blames the peer at this step.
#[track_caller]
fn assert_blamed<T: std::fmt::Debug>(result: Result<T, Abort>, expected: Step) {
    match result {
        Err(Abort::PeerMisbehaved(step, _)) if (step.protocol, step.number) == (expected.protocol, expected.number) => {
        }
        other => panic!("expected blame at {expected}, got {other:?}"),
    }
}

#[test]
fn another_salt_than_committed_to_is_caught() {
    let params = params(false);
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&SaltCommitment(SaltArrows::commit(ch, &[1; 32])))?;
            let SaltShare(_) = ch.recv(())?;
            ch.send(&Salt([2; 32]))
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    assert_blamed(receiver.result, <Salt as Message>::STEP);
}

/// The sender opens its share of the salt only behind the receiver's.
#[test]
fn the_salt_is_not_opened_before_the_receivers_share_has_come() {
    let params = params(false);
    let opened = AtomicBool::new(false);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, _| {
            let SaltCommitment(_) = ch.recv(())?;
            let result = ch.recv::<Salt>(());
            opened.store(result.is_ok(), Ordering::SeqCst);
            result.map(drop)
        },
    );
    assert!(sender.result.is_err() && !opened.into_inner());
}

/// Neither share decides the salt: other ones on either side give another table.
#[test]
fn the_keys_depend_on_both_shares() {
    let params = params(false);
    let of_receiver = |share: [u8; 32]| {
        let (_, receiver) = try_two_party(
            |ch, _| {
                ch.send(&SaltCommitment(SaltArrows::commit(ch, &share)))?;
                let SaltShare(_) = ch.recv(())?;
                ch.send(&Salt(share))
            },
            |ch, rng| Ok(Blake3Functions::receive_salt(&params, ch, rng)?.okvs_seed),
        );
        receiver.result.unwrap()
    };
    let of_sender = |share: [u8; 32]| {
        let (sender, _) = try_two_party(
            |ch, rng| Ok(Blake3Functions::send_salt(&params, ch, rng)?.okvs_seed),
            |ch, _| {
                let SaltCommitment(_) = ch.recv(())?;
                ch.send(&SaltShare(share))?;
                ch.recv::<Salt>(()).map(drop)
            },
        );
        sender.result.unwrap()
    };
    // The honest side draws the same share each time here.
    for seed in [&of_receiver as &dyn Fn([u8; 32]) -> u128, &of_sender] {
        assert!(seed([1; 32]) == seed([1; 32]) && seed([1; 32]) != seed([2; 32]));
    }
}

/// How a receiver deviates that is honest otherwise.
#[derive(Clone, Copy)]
struct Cheat<'a> {
    /// What is added to a correction, by its number.
    correction: &'a (dyn Fn(usize) -> Row + Sync),
    /// What is done to an answer.
    answer: &'a (dyn Fn(&mut Answer) + Sync),
}

/// A receiver that follows the protocol.
const HONEST: Cheat<'static> = Cheat { correction: &|_| Row([0; 8]), answer: &|_| {} };

/// A word with a one in this column.
fn unit(column: usize) -> Row {
    let mut row = Row::default();
    row.0[column / 128] = 1 << (column % 128);
    row
}

/// A receiver that deviates as told; gives its matches if the sender sends tags.
fn cheating_receiver(params: &Params, cheat: Cheat, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    let SetUp { keys, rows } = SetUp::<ReceiverColumns>::new(params, ch, rng)?;
    let okvs = keys.okvs(params)?;
    let items = okvs.arrange(&items());
    let values = keys.functions.values(items.keys());
    let cells = okvs.len();
    let mut words = vec![Value::default(); params.rows_made()];
    for word in &mut words[cells..] {
        *word = Value([rng.block() as u64, rng.block() as u64, rng.block() as u64, 0]);
    }
    table::encode_vartime(&okvs, (&items, &values[..]), FreeCells::Zero, |place, cells| {
        words[place].copy_from_slice(cells);
        Ok(())
    })?;
    let mut masks = Secret::new(vec![Row::default(); cells]);
    for place in params.parts.iter().cloned().chain(std::iter::once(cells..words.len())) {
        let (t, mut corrections) = rows.corrections(place.clone(), &words[place.clone()]);
        let numbered = corrections.iter_mut().zip(place.clone());
        numbered.for_each(|(correction, number)| *correction += (cheat.correction)(number));
        table::send::<Corrections, Row>(&corrections, params.width, ch)?;
        if place.end <= cells {
            masks[place].copy_from_slice(&t);
        }
    }
    let Challenge(challenge) = ch.recv(())?;
    let mut answer = opening(challenge, &rows.zeros, &words);
    (cheat.answer)(&mut answer);
    ch.send(&answer)?;

    let finish = &params.finish;
    let mut collected = keys.collect(params, finish::Receiver::new(finish), finish.receiver_items);
    for part in 0..params.parts.len() {
        let own = items.part(part);
        let mut decoded = Secret::new(vec![Row::default(); own.len()]);
        okvs.decode_part(&masks, &items, part, &mut decoded);
        keys.functions.add(&items.keys()[own.clone()], &mut decoded, &items.places()[own], &mut collected);
    }
    let input = IntersectReceiverInput { items: self::items() };
    Ok(collected.tags.finish::<FinishArrows>(input, collected.stored, ch)?.matches)
}

/// What an honest sender makes of it. It sends tags only where it comes to its end, and so only behind the check. Both
/// learn: a sender that had tags under way would wait for proofs, so that the tags would be seen.
fn sender_against(cheat: Cheat<'_>) -> Result<Option<Vec<u32>>, Abort> {
    let (sender, receiver, transcript) = run_against(&params(true), Vec::new(), cheat);
    if sender.is_ok() {
        assert_eq!(receiver.unwrap().len(), N);
    }
    assert_eq!(sender.is_ok(), !sent(&transcript, Tags::STEP).is_empty(), "tags only behind the check");
    sender
}

/// Outcomes of an honest sender with these payloads, and of the receiver, and all that was sent.
type Outcomes = (Result<Option<Vec<u32>>, Abort>, Result<Vec<u32>, Abort>, Transcript);

fn run_against(params: &Params, payloads: Vec<u8>, cheat: Cheat<'_>) -> Outcomes {
    let (ends, recording) = record(memory::pair());
    let input = IntersectSenderInput { items: items(), payloads };
    let (sender, receiver) = two_party_over(
        ends,
        options(),
        |ch, rng| Ok(SenderOf::setup(params, ch, rng)?.run(input, ch, rng)?.matches),
        |ch, rng| cheating_receiver(params, cheat, ch, rng),
    );
    (sender.result, receiver.result, recording.transcript())
}

/// All that was sent in this step.
fn sent(transcript: &Transcript, step: Step) -> Vec<u8> {
    transcript.of(step.protocol, step.number)
}

/// The tests below are of the deviation, and not of this receiver.
#[test]
fn the_scripted_receiver_is_honest_where_it_is_told_so() {
    assert_eq!(sender_against(HONEST).unwrap(), Some((0..N as u32).collect()));
}

/// Cells of the table, and rows with those of the check.
const CELLS: usize = 763;
const ROWS: usize = 896;

/// The word of all ones but the first. All words of the code have even weight, and this one has not.
fn no_word() -> Row {
    (1..LongBch::WIDTH).map(unit).fold(Row::default(), |sum, unit| sum + unit)
}

/// Each changes 837 columns, so that no guess helps: in one row, wherever it is, or in all.
#[test]
fn cells_that_are_no_words_of_the_code_are_caught() {
    let params = params(false);
    assert_eq!((params.parts.last().unwrap().end, params.rows_made()), (CELLS, ROWS));
    // In the table, in a row that fills a block up, and in the mask.
    for row in [0, CELLS - 1, CELLS, ROWS - 129, ROWS - 1] {
        let correction = |number| if number == row { no_word() } else { Row::default() };
        assert_blamed(sender_against(Cheat { correction: &correction, ..HONEST }), <Answer as Message>::STEP);
    }
    assert_blamed(sender_against(Cheat { correction: &|_| no_word(), ..HONEST }), <Answer as Message>::STEP);
}

#[test]
fn wrong_openings_are_caught() {
    let in_words = |answer: &mut Answer| answer.0[0] ^= 1;
    let in_the_last_bit = |answer: &mut Answer| answer.0[LongBch::WORD_BITS - 1] ^= 1 << 127;
    let in_columns = |answer: &mut Answer| answer.0[LongBch::WORD_BITS] ^= 1;
    let in_the_last_column = |answer: &mut Answer| answer.0[LongBch::WORD_BITS + LongBch::WIDTH - 1] ^= 1 << 64;
    let none = |answer: &mut Answer| answer.0.fill(0);
    for answer in
        [&in_words as &(dyn Fn(&mut Answer) + Sync), &in_the_last_bit, &in_columns, &in_the_last_column, &none]
    {
        assert_blamed(sender_against(Cheat { answer, ..HONEST }), <Answer as Message>::STEP);
    }
}

/// A receiver that fails the check, and then waits for tags, sees nothing that the sender makes of its items: the sender
/// stops at the answer, and has sent neither tags nor payloads.
#[test]
fn a_receiver_that_fails_the_check_sees_no_tags() {
    const PAYLOAD_BYTES: usize = 5;
    let (security, payload_bytes) = (Security::Malicious, PAYLOAD_BYTES);
    let request =
        IntersectRequest { sender_items: N, receiver_items: N, security, payload_bytes, both_learn: true, runs: 1 };
    let params = Prty20::derive(&request).unwrap();
    let against = |cheat| run_against(&params, vec![7; N * PAYLOAD_BYTES], cheat);

    let (sender, receiver, transcript) = against(HONEST);
    assert!(sender.is_ok() && receiver.unwrap().len() == N);
    assert!(!sent(&transcript, Tags::STEP).is_empty());
    assert_eq!(sent(&transcript, Payloads::STEP).len(), N * PAYLOAD_BYTES);

    let first_cell = |number| if number == 0 { no_word() } else { Row::default() };
    let zeros = |answer: &mut Answer| answer.0.fill(0);
    // It sends a table of no words, a part of one, or cannot open an honest one.
    for cheat in [
        Cheat { correction: &|_| no_word(), ..HONEST },
        Cheat { correction: &first_cell, ..HONEST },
        Cheat { answer: &zeros, ..HONEST },
    ] {
        let (sender, receiver, transcript) = against(cheat);
        assert_blamed(sender, <Answer as Message>::STEP);
        assert!(receiver.is_err(), "it has no matches");
        assert_eq!(sent(&transcript, <Answer as Message>::STEP).len(), size_of::<Answer>(), "it came to the check");
        assert!(sent(&transcript, Tags::STEP).is_empty() && sent(&transcript, Payloads::STEP).is_empty());
    }
}

/// What the entry says of guesses: a deviation in one column passes where the receiver guesses the sender's bit, and
/// tells it nothing else.
#[test]
fn a_deviation_in_a_column_passes_for_one_value_of_the_secrets_bit() {
    let mut zeros = Vec::new();
    for column in (0..LongBch::WIDTH).step_by(70) {
        // In the mask, of which the coefficient is one: an answer can be made to fit.
        let correction = |number| if number == ROWS - 1 { unit(column) } else { Row::default() };
        let answer = |answer: &mut Answer| answer.0[LongBch::WORD_BITS + column] ^= 1 << 127;
        let guess_zero = sender_against(Cheat { correction: &correction, ..HONEST });
        let guess_one = sender_against(Cheat { correction: &correction, answer: &answer });
        assert_ne!(guess_zero.is_ok(), guess_one.is_ok(), "column {column}");
        if guess_zero.is_ok() {
            zeros.push(column);
        }
        assert_blamed(if guess_zero.is_ok() { guess_one } else { guess_zero }, <Answer as Message>::STEP);
    }
    assert!((1..12).contains(&zeros.len()), "both values occur");
    let all = zeros.into_iter().map(unit).fold(Row::default(), |sum, unit| sum + unit);
    assert!(sender_against(Cheat { correction: &|_| all, ..HONEST }).is_ok(), "guesses add up");
}

/// The bits that fill up the last byte of the corrections are zero.
#[test]
fn stray_bits_behind_the_table_are_caught() {
    let params = params(false);
    assert!(!(CELLS * LongBch::WIDTH).is_multiple_of(8), "there are bits to fill up");
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, rng| {
            let _honest = SetUp::<ReceiverColumns>::new(&params, ch, rng)?;
            ch.send_stream::<Corrections>(&vec![0xff; (CELLS * LongBch::WIDTH).div_ceil(8)])
        },
    );
    assert_blamed(sender.result, Corrections::STEP);
}

/// The sender challenges behind all corrections alone.
#[test]
fn the_challenge_does_not_come_before_all_corrections() {
    let params = params(false);
    let challenged = |cells: bool, further: bool| {
        let seen = AtomicBool::new(false);
        let (sender, _) = try_two_party(
            |ch, rng| honest_sender(&params, ch, rng),
            |ch, rng| {
                let _honest = SetUp::<ReceiverColumns>::new(&params, ch, rng)?;
                for count in [(cells, CELLS), (further, ROWS - CELLS)].iter().filter(|part| part.0).map(|part| part.1) {
                    table::send::<Corrections, Row>(&vec![Row::default(); count], params.width, ch)?;
                }
                let result = ch.recv::<Challenge>(());
                seen.store(result.is_ok(), Ordering::SeqCst);
                result.map(drop)
            },
        );
        assert!(sender.result.is_err());
        seen.into_inner()
    };
    assert!(!challenged(false, false) && !challenged(true, false));
    assert!(challenged(true, true), "the honest order is what brings it");
}

/// What an honest receiver makes of tags that are these bytes.
fn receiver_of_tags(bytes: &[u8]) -> Result<Vec<u32>, Abort> {
    let params = params(false);
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let set_up = super::sender::SetUp::<SenderColumns>::new(&params, ch, rng)?;
            let mut q = vec![Row::default(); ROWS];
            for place in [0..CELLS, CELLS..ROWS] {
                q[place.clone()].copy_from_slice(&set_up.rows.rows(place.clone()));
                table::receive::<Corrections, Row>(place.len(), params.width, ch, |cells, corrections| {
                    set_up.rows.correct(&mut q[place.clone()][cells], corrections);
                })?;
            }
            set_up.rows.check(&q, ch, rng)?;
            ch.send_stream::<Tags>(bytes)
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    receiver.result
}

#[test]
fn malformed_tags_are_caught() {
    let params = params(false);
    let longest = *Code::new(N, params.finish.tag_bits).len_range().end();
    for length in [u32::MAX, 0] {
        assert_blamed(receiver_of_tags(&length.to_le_bytes()), Tags::STEP);
    }
    for byte in [0xff, 0] {
        let mut bytes = (longest as u32).to_le_bytes().to_vec();
        bytes.resize(4 + longest, byte);
        assert_blamed(receiver_of_tags(&bytes), Tags::STEP);
    }
}

/// A receiver with a table that encodes nothing learns nothing, and cannot prove matches to the sender.
#[test]
fn a_proof_of_no_match_is_caught() {
    let params = params(true);
    let cheat = |proofs: &'static [u128]| {
        let (sender, _) = try_two_party(
            |ch, rng| honest_sender(&params, ch, rng),
            |ch, rng| {
                let SetUp { rows, .. } = SetUp::<ReceiverColumns>::new(&params, ch, rng)?;
                let words: Vec<Value> = (0..params.rows_made())
                    .map(|_| Value([rng.block() as u64, rng.block() as u64, rng.block() as u64, 0]))
                    .collect();
                let cells = params.parts.last().map_or(0, |part| part.end);
                for place in params.parts.iter().cloned().chain(std::iter::once(cells..words.len())) {
                    let (_, corrections) = rows.corrections(place.clone(), &words[place]);
                    table::send::<Corrections, Row>(&corrections, params.width, ch)?;
                }
                let Challenge(challenge) = ch.recv(())?;
                ch.send(&opening(challenge, &rows.zeros, &words))?;
                let mut finder = TagFinder::new(0, params.finish.tag_bits, false);
                tags::receive::<Tags>(&mut finder, N, params.finish.tag_bits, ch)?;
                ch.send_stream::<Proofs>(proofs)
            },
        );
        sender.result
    };
    assert_eq!(cheat(&[0]).unwrap(), Some(vec![]), "it may claim no match");
    assert_blamed(cheat(&[1, 4]), Proofs::STEP);
    assert_blamed(cheat(&[N as u128 + 1]), Proofs::STEP);
}
