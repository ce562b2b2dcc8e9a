//! Parties of base OTs that deviate: caught, or as harmless as their row says.

use vesica_mpc::base_ot::{BaseOts, Co15, Csw20, MlKem, Np01, co15, csw20, ml_kem, np01};
use vesica_mpc::tasks::{CorrelationRequest, OtChosen, RandomOt};
use vesica_party::{Abort, Channel, Message, Protocol, Security, Stream, Task};

use crate::cheating::{Ends, caught, pass, pass_stream, relayed};

const TRANSFERS: usize = 20;

/// Both sides' results with the relay between them.
fn run<P: Protocol<Task = RandomOt>>(
    security: Security,
    relay: impl Fn(&mut Channel, &mut Channel) -> Result<(), Abort> + Sync,
) -> Ends<RandomOt> {
    let params = P::derive(&CorrelationRequest { len: TRANSFERS, security, width: None }).unwrap();
    relayed::<P>(&params, (), (), relay)
}

/// The receiver's output of a run that ends well on both sides.
fn ends_well(ends: Ends<RandomOt>) -> OtChosen {
    let (sender, receiver) = (ends.0.unwrap(), ends.1.unwrap());
    RandomOt::holds(&(), &(), &sender, &receiver).unwrap();
    receiver
}

/// Bytes that encode no point, and those of the neutral one.
const BAD_POINTS: [[u8; 32]; 2] = [[0xff; 32], [0; 32]];

#[test]
fn np01_refuses_what_is_no_point() {
    type Row = BaseOts<Np01>;
    let relay = |of_sender: fn(&mut np01::messages::SenderPoints), of_receiver: fn(&mut [[u8; 32]])| {
        run::<Row>(Security::SemiHonest, move |up, down| {
            pass(up, down, (), Some(of_sender))?;
            pass_stream::<np01::messages::ReceiverPoints>(down, up, TRANSFERS, of_receiver)
        })
    };
    ends_well(relay(|_| (), |_| ()));
    caught(relay(|points| points.power = BAD_POINTS[0], |_| ()).1, np01::messages::SenderPoints::STEP);
    caught(relay(|points| points.constant = BAD_POINTS[1], |_| ()).1, np01::messages::SenderPoints::STEP);
    caught(relay(|_| (), |points| points[19] = BAD_POINTS[0]).0, np01::messages::ReceiverPoints::STEP);
}

#[test]
fn co15_refuses_what_is_no_point() {
    type Row = BaseOts<Co15>;
    let relay = |of_sender: fn(&mut co15::messages::SenderPoint), of_receiver: fn(&mut [[u8; 32]])| {
        run::<Row>(Security::SemiHonest, move |up, down| {
            pass(up, down, (), Some(of_sender))?;
            pass_stream::<co15::messages::ReceiverPoints>(down, up, TRANSFERS, of_receiver)
        })
    };
    ends_well(relay(|_| (), |_| ()));
    caught(relay(|point| point.0 = BAD_POINTS[1], |_| ()).1, co15::messages::SenderPoint::STEP);
    caught(relay(|_| (), |points| points[0] = BAD_POINTS[1]).0, co15::messages::ReceiverPoints::STEP);
}

#[test]
fn what_is_only_semi_honest_is_refused_against_active_parties() {
    let request = CorrelationRequest { len: 1, security: Security::Malicious, width: None };
    assert!(BaseOts::<Np01>::derive(&request).is_err() && BaseOts::<Co15>::derive(&request).is_err());
    assert!(BaseOts::<Csw20>::derive(&request).is_ok() && BaseOts::<MlKem>::derive(&request).is_ok());
}

/// What the relay changes of the messages of CSW20.
#[derive(Clone, Copy, Default)]
struct Tamper {
    seed: Option<fn(&mut csw20::messages::Seed)>,
    receiver_points: Option<fn(&mut [[u8; 32]])>,
    sender_point: Option<fn(&mut csw20::messages::SenderPoint)>,
    /// A transfer whose challenge is changed.
    challenge: Option<usize>,
    proof: Option<fn(&mut csw20::messages::Proof)>,
    answer: Option<fn(&mut csw20::messages::Answer)>,
}

fn run_csw20(tamper: Tamper) -> Ends<RandomOt> {
    run::<BaseOts<Csw20>>(Security::Malicious, move |up, down| {
        pass(down, up, (), tamper.seed)?;
        pass_stream::<csw20::messages::ReceiverPoints>(down, up, TRANSFERS, |points| {
            if let Some(change) = tamper.receiver_points {
                change(points);
            }
        })?;
        pass(up, down, (), tamper.sender_point)?;
        pass_stream::<csw20::messages::Challenges>(up, down, TRANSFERS, |challenges| {
            if let Some(transfer) = tamper.challenge {
                challenges[transfer][7] ^= 1;
            }
        })?;
        pass(up, down, (), tamper.proof)?;
        pass(down, up, (), tamper.answer)
    })
}

#[test]
fn csw20_catches_what_does_not_fit() {
    ends_well(run_csw20(Tamper::default()));
    let seed = |seed: &mut csw20::messages::Seed| seed.0[3] ^= 1;
    caught(run_csw20(Tamper { seed: Some(seed), ..Tamper::default() }).1, csw20::messages::Proof::STEP);
    let no_point = |points: &mut [[u8; 32]]| points[4] = BAD_POINTS[0];
    let result = run_csw20(Tamper { receiver_points: Some(no_point), ..Tamper::default() }).0;
    caught(result, csw20::messages::ReceiverPoints::STEP);
    let swapped = |points: &mut [[u8; 32]]| points.swap(4, 5);
    let result = run_csw20(Tamper { receiver_points: Some(swapped), ..Tamper::default() }).1;
    caught(result, csw20::messages::Proof::STEP);
    let neutral = |point: &mut csw20::messages::SenderPoint| point.0 = BAD_POINTS[1];
    let result = run_csw20(Tamper { sender_point: Some(neutral), ..Tamper::default() }).1;
    caught(result, csw20::messages::SenderPoint::STEP);
    let proof = |proof: &mut csw20::messages::Proof| proof.0[31] ^= 0x80;
    caught(run_csw20(Tamper { proof: Some(proof), ..Tamper::default() }).1, csw20::messages::Proof::STEP);
    let answer = |answer: &mut csw20::messages::Answer| answer.0[0] ^= 1;
    caught(run_csw20(Tamper { answer: Some(answer), ..Tamper::default() }).0, csw20::messages::Answer::STEP);
}

/// A wrong challenge is a guess that the choice is 0: caught if wrong, harmless to the outputs if right.
#[test]
fn csw20_gives_a_corrupt_sender_guesses_and_nothing_more() {
    let mut right = 0;
    for transfer in 0..TRANSFERS {
        let ends = run_csw20(Tamper { challenge: Some(transfer), ..Tamper::default() });
        match ends.1 {
            Ok(_) => {
                assert!(!ends_well(ends).choices[transfer]);
                right += 1;
            }
            refused => caught(refused, csw20::messages::Proof::STEP),
        }
    }
    assert!((1..TRANSFERS).contains(&right), "{right} of {TRANSFERS} guesses are right");
}

/// What a relay may change of the messages of the OT on ML-KEM.
type ChangeOf<T> = fn(&mut [T]);

fn run_ml_kem(
    keys: ChangeOf<ml_kem::messages::PublicKeys>,
    texts: ChangeOf<ml_kem::messages::Ciphertexts>,
) -> Ends<RandomOt> {
    run::<BaseOts<MlKem>>(Security::Malicious, move |up, down| {
        pass_stream::<ml_kem::messages::PublicKeys>(down, up, TRANSFERS, keys)?;
        pass_stream::<ml_kem::messages::Ciphertexts>(up, down, TRANSFERS, texts)
    })
}

#[test]
fn ml_kem_refuses_what_is_no_vector() {
    ends_well(run_ml_kem(|_| (), |_| ()));
    let spoiled: [ChangeOf<ml_kem::messages::PublicKeys>; 2] =
        [|keys| keys[17].vectors[0][..3].fill(0xff), |keys| keys[3].vectors[1][1149..].fill(0xff)];
    for keys in spoiled {
        caught(run_ml_kem(keys, |_| ()).0, ml_kem::messages::PublicKeys::STEP);
    }
}

/// Whatever comes in either slot, the receiver ends in the same way: its end says nothing about its choice.
#[test]
fn ml_kem_does_not_tell_which_ciphertext_was_spoiled() {
    let spoiled: [ChangeOf<ml_kem::messages::Ciphertexts>; 2] = [
        |texts| texts.iter_mut().for_each(|text| text.0[0][9] ^= 1),
        |texts| texts.iter_mut().for_each(|text| text.0[1][9] ^= 1),
    ];
    for texts in spoiled {
        let (sender, receiver) = run_ml_kem(|_| (), texts);
        assert!(sender.is_ok() && receiver.is_ok());
    }
}
