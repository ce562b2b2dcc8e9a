//! Parties of KOS15 that deviate are caught, or as harmless as the row says.

use std::collections::HashSet;
use std::sync::Mutex;

use vesica_mpc::base_ot::mr19::messages::{ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use vesica_mpc::iknp03::messages::{Answer, Challenge, Corrections};
use vesica_mpc::iknp03::{COLUMNS, Iknp03, Kos15};
use vesica_mpc::tasks::{CorrelationRequest, RandomOt};
use vesica_party::{Message, Protocol, Security, Task};

use crate::cheating::{caught, pass, pass_stream, relayed_after};

/// Transfers; the check fills their last block of 128, and makes one block more.
const TRANSFERS: usize = 300;
const ROWS: usize = 512;

/// Whether the run with the relay between ends well; if not, the sender has blamed the answer to the check.
fn passes(corrections: impl Fn(&mut [u128]) + Sync, answer: Option<fn(&mut Answer)>) -> bool {
    passes_with(0, corrections, |_| (), |sent| answer.into_iter().for_each(|change| change(sent)))
}

/// The same with a relay that also sees, and may change, the challenge; with other randomness for each number of
/// `draws`.
fn passes_with(
    draws: usize,
    corrections: impl Fn(&mut [u128]) + Sync,
    challenge: impl Fn(&mut Challenge) + Sync,
    answer: impl Fn(&mut Answer) + Sync,
) -> bool {
    let params = Kos15::derive(&CorrelationRequest { len: TRANSFERS, security: Security::Malicious, width: None });
    let (sender, receiver) = relayed_after::<Kos15>(draws, &params.unwrap(), (), (), |up, down| {
        up.reversed(|up| {
            down.reversed(|down| {
                pass::<SenderPoint>(down, up, (), None)?;
                (0..COLUMNS / TRANSFERS_PER_MESSAGE)
                    .try_for_each(|_| pass::<ReceiverPoints>(up, down, TRANSFERS_PER_MESSAGE, None))
            })
        })?;
        pass_stream::<Corrections>(down, up, ROWS, &corrections)?;
        let mut sent = up.recv::<Challenge>(())?;
        challenge(&mut sent);
        down.send(&sent)?;
        let mut sent = down.recv::<Answer>(())?;
        answer(&mut sent);
        up.send(&sent)
    });
    match sender {
        Ok(sender) => {
            RandomOt::holds(&(), &(), &sender, &receiver.unwrap()).unwrap();
            true
        }
        refused => {
            caught(refused, Answer::STEP);
            false
        }
    }
}

#[test]
fn an_honest_run_passes() {
    assert!(passes(|_| (), None));
}

/// More columns than a receiver can guess of: in the first row, the last that is used, one of those that only
/// fill a block, and in the mask.
#[test]
fn a_row_that_is_not_one_bit_repeated_is_caught() {
    for row in [0, TRANSFERS - 1, ROWS - 129, ROWS - 1] {
        assert!(!passes(|corrections| corrections[row] ^= u128::MAX >> 64, None), "row {row}");
    }
}

/// Deviations of two rows that cancel in a plain sum of all rows.
#[test]
fn deviations_do_not_cancel() {
    let pair = |corrections: &mut [u128]| [5, 5 + 128].into_iter().for_each(|row| corrections[row] ^= u128::MAX >> 60);
    assert!(!passes(pair, None));
}

#[test]
fn a_wrong_answer_is_caught() {
    assert!(!passes(|_| (), Some(|answer| answer.columns[127] ^= 1 << 9)));
    assert!(!passes(|_| (), Some(|answer| answer.choices ^= 1 << 100)));
}

/// A deviation in one column is a guess at one bit of the sender's secret: caught if wrong, harmless to the
/// outputs if right.
#[test]
fn a_guess_at_a_bit_of_the_secret_is_caught_or_right() {
    let right = (0..16).filter(|column| passes(|corrections| corrections[7] ^= 1 << (8 * column), None)).count();
    assert!((1..16).contains(&right), "{right} of 16 guesses are right");
}

/// At the point 0 the universal hash is the last block alone, which the receiver uses for nothing else. If it
/// were known, its hash of the choices would tell about them.
#[test]
fn the_block_that_masks_the_answer_is_random() {
    let masks = Mutex::new(HashSet::new());
    for run in 0..3 {
        let note = |answer: &mut Answer| masks.lock().unwrap().extend([answer.choices, answer.columns[0]]);
        // The sender has another point in mind, and stops.
        assert!(!passes_with(run, |_| (), |challenge| challenge.0 = 0, note));
    }
    let masks = masks.into_inner().unwrap();
    assert!(masks.len() == 6 && !masks.contains(&0), "{masks:x?}");
}

/// A receiver that knew the challenge before its corrections could make them pass.
#[test]
fn every_run_has_a_challenge_of_its_own() {
    let challenges = Mutex::new(HashSet::new());
    let note = |challenge: &mut Challenge| {
        challenges.lock().unwrap().insert(challenge.0);
    };
    for run in 0..5 {
        assert!(passes_with(run, |_| (), note, |_| ()));
    }
    assert_eq!(challenges.into_inner().unwrap().len(), 5);
}

#[test]
fn each_row_refuses_the_mode_of_the_other() {
    let request = |security| CorrelationRequest { len: 1, security, width: None };
    assert!(Iknp03::derive(&request(Security::Malicious)).is_err());
    assert!(Kos15::derive(&request(Security::SemiHonest)).is_err());
}
