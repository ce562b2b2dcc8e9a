//! Parties that deviate are caught by the malicious mode. A cheat is an honest party behind a relay
//! that changes its messages: to the other side that is all there is to see.

use std::thread;

use bytemuck::Pod;
use vesica_mpc::base_ot::mr19::messages::{ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use vesica_mpc::code_oprf::{self, Bch, Oos17};
use vesica_mpc::ot_extension::CHUNKS;
use vesica_mpc::ot_extension::messages::{Answer, Challenge, Corrections, TagSums, TreeSums};
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent::messages::{CheckAnswer, CheckRequest, CodeSeed, Flips, Trees};
use vesica_mpc::silent::params::{Params, SilentParams};
use vesica_mpc::tasks::{
    BatchPrfRequest, CorrelationRequest, Evaluations, OneOfNOt, SubfieldVole, VoleReceiver, VoleSender,
};
use vesica_party::transport::memory;
use vesica_party::{Abort, Channel, Message, Party, Protocol, Role, Security, Step, Stream, Task};
use vesica_structures::facts::ceil_log2;
use vesica_structures::fields::Gf128;
use vesica_testkit::{options, side};

type Vole = SilentVole<Gf128>;

/// What the relay changes; does nothing unless told otherwise.
#[derive(Default)]
struct Tamper {
    sender_point: Option<fn(&mut SenderPoint)>,
    /// Called with the fifth message.
    receiver_points: Option<fn(&mut ReceiverPoints)>,
    tree_sums: Option<fn(&mut TreeSums)>,
    tag_sums: Option<fn(&mut TagSums)>,
    /// Called with the number of the chunk.
    corrections: Option<fn(usize, &mut [u128])>,
    answer: Option<fn(&mut Answer)>,
    flips: Option<fn(&mut Flips)>,
    /// Called with the messages of all trees and the length of each.
    trees: Option<fn(&mut [u128], usize)>,
    request: Option<fn(&mut CheckRequest)>,
    check_answer: Option<fn(&mut CheckAnswer)>,
}

pub(crate) fn pass<M: Message>(
    from: &mut Channel,
    to: &mut Channel,
    shape: M::Shape,
    change: Option<fn(&mut M)>,
) -> Result<(), Abort> {
    let mut message = from.recv::<M>(shape)?;
    if let Some(change) = change {
        change(&mut message);
    }
    to.send(&message)
}

pub(crate) fn pass_stream<S: Stream<Element: Pod>>(
    from: &mut Channel,
    to: &mut Channel,
    count: usize,
    change: impl FnOnce(&mut [S::Element]),
) -> Result<(), Abort> {
    let mut elements = vec![bytemuck::Zeroable::zeroed(); count];
    from.recv_stream::<S>(&mut elements)?;
    change(&mut elements);
    to.send_stream::<S>(&elements)
}

/// Passes on all messages in the order of the figures. `sender` leads to the sender, `receiver` to
/// the receiver.
fn relay(params: &SilentParams, tamper: &Tamper, sender: &mut Channel, receiver: &mut Channel) -> Result<(), Abort> {
    let depth = ceil_log2(params.block) as usize;
    // The mask of either check adds a block.
    relay_ot_extension((params.trees * depth).div_ceil(128) + params.trees + 2, tamper, sender, receiver)?;
    pass(receiver, sender, params.trees * depth, tamper.flips)?;
    let tree_message = 2 * depth - 1;
    pass_stream::<Trees>(sender, receiver, params.trees * tree_message, |trees| {
        if let Some(change) = tamper.trees {
            change(trees, tree_message);
        }
    })?;
    pass(receiver, sender, (), tamper.request)?;
    pass::<CodeSeed>(receiver, sender, (), None)?;
    pass(sender, receiver, (), tamper.check_answer)
}

/// The part of OT extension, with columns of `blocks` blocks, the mask of its check included.
fn relay_ot_extension(
    blocks: usize,
    tamper: &Tamper,
    sender: &mut Channel,
    receiver: &mut Channel,
) -> Result<(), Abort> {
    sender.reversed(|sender| {
        receiver.reversed(|receiver| {
            pass(receiver, sender, (), tamper.sender_point)?;
            (0..128 / TRANSFERS_PER_MESSAGE).try_for_each(|message| {
                pass(sender, receiver, TRANSFERS_PER_MESSAGE, tamper.receiver_points.filter(|_| message == 4))
            })
        })
    })?;
    pass(receiver, sender, (), tamper.tree_sums)?;
    pass(receiver, sender, (), tamper.tag_sums)?;
    for chunk in 1..CHUNKS {
        pass_stream::<Corrections>(receiver, sender, blocks, |blocks| {
            if let Some(change) = tamper.corrections {
                change(chunk, blocks);
            }
        })?;
    }
    pass::<Challenge>(sender, receiver, (), None)?;
    pass(receiver, sender, (), tamper.answer)
}

/// How a run ended for the sender and for the receiver.
pub(crate) type Ends<T> = (Result<<T as Task>::SenderOutput, Abort>, Result<<T as Task>::ReceiverOutput, Abort>);

/// Both sides' results of an honest run with a relay between them.
pub(crate) fn relayed<P: Protocol>(
    params: &P::Params,
    sent: <P::Task as Task>::SenderInput,
    asked: <P::Task as Task>::ReceiverInput,
    relay: impl Fn(&mut Channel, &mut Channel) -> Result<(), Abort> + Sync,
) -> Ends<P::Task> {
    relayed_after::<P>(0, params, sent, asked, relay)
}

/// The same with other randomness for each number of `draws`: both sides throw as many blocks away first.
pub(crate) fn relayed_after<P: Protocol>(
    draws: usize,
    params: &P::Params,
    sent: <P::Task as Task>::SenderInput,
    asked: <P::Task as Task>::ReceiverInput,
    relay: impl Fn(&mut Channel, &mut Channel) -> Result<(), Abort> + Sync,
) -> Ends<P::Task> {
    let ((sender_end, relay_up), (relay_down, receiver_end)) = (memory::pair(), memory::pair());
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            side(sender_end, Role::Sender, options(), |ch, rng| {
                for _ in 0..draws {
                    rng.block();
                }
                P::Sender::setup(params, ch, rng)?.run(sent, ch, rng)
            })
        });
        scope.spawn(|| {
            side(relay_up, Role::Receiver, options(), |up, _| {
                side(relay_down, Role::Sender, options(), |down, _| relay(up, down)).result
            })
        });
        let receiver = side(receiver_end, Role::Receiver, options(), |ch, rng| {
            for _ in 0..draws {
                rng.block();
            }
            P::Receiver::setup(params, ch, rng)?.run(asked, ch, rng)
        });
        (sender.join().unwrap().result, receiver.result)
    })
}

/// Both sides' results of silent VOLE with the relay between them.
fn run(tamper: Tamper) -> (Result<VoleSender, Abort>, Result<VoleReceiver<Gf128>, Abort>) {
    let params =
        Vole::derive(&CorrelationRequest { len: 1 << 13, security: Security::Malicious, width: None }).unwrap();
    let Params::Silent(silent) = params else { panic!("long enough for trees") };
    relayed::<Vole>(&params, (), (), |up, down| relay(&silent, &tamper, up, down))
}

/// That `result` blames the peer's message of `step`.
pub(crate) fn caught<T>(result: Result<T, Abort>, step: Step) {
    match result {
        Err(Abort::PeerMisbehaved(blamed, _)) => assert_eq!(blamed, step),
        Err(other) => panic!("not caught as misbehaviour: {other}"),
        Ok(_) => panic!("not caught"),
    }
}

#[test]
fn the_relay_alone_changes_nothing() {
    let (sender, receiver) = run(Tamper::default());
    SubfieldVole::<Gf128>::holds(&(), &(), &sender.unwrap(), &receiver.unwrap()).unwrap();
}

#[test]
fn bad_points_in_base_ot() {
    let identity = |point: &mut SenderPoint| point.0 = [0; 32];
    caught(run(Tamper { sender_point: Some(identity), ..Tamper::default() }).0, SenderPoint::STEP);
    let no_point = |point: &mut SenderPoint| point.0 = [0xff; 32];
    caught(run(Tamper { sender_point: Some(no_point), ..Tamper::default() }).0, SenderPoint::STEP);
    let no_point = |points: &mut ReceiverPoints| points.0[13][1] = [0xff; 32];
    caught(run(Tamper { receiver_points: Some(no_point), ..Tamper::default() }).1, ReceiverPoints::STEP);
    let identity = |points: &mut ReceiverPoints| points.0[13][1] = [0; 32];
    caught(run(Tamper { receiver_points: Some(identity), ..Tamper::default() }).1, ReceiverPoints::STEP);
    // Another point gives other keys: the leaves differ.
    let swapped = |points: &mut ReceiverPoints| points.0[13].swap(0, 1);
    caught(run(Tamper { receiver_points: Some(swapped), ..Tamper::default() }).0, TagSums::STEP);
}

#[test]
fn small_trees_with_wrong_sums() {
    let wrong = |sums: &mut TreeSums| sums.0[20] = [sums.0[20][0] ^ 1, sums.0[20][1] ^ 1];
    caught(run(Tamper { tree_sums: Some(wrong), ..Tamper::default() }).0, TagSums::STEP);
    let wrong = |tags: &mut TagSums| tags.sums[3][1] ^= 1 << 100;
    caught(run(Tamper { tag_sums: Some(wrong), ..Tamper::default() }).0, TagSums::STEP);
}

#[test]
fn corrections_that_differ_between_chunks() {
    // In the part of the OTs, in that of the values, and in the last block before the mask.
    let in_ots = |chunk: usize, blocks: &mut [u128]| blocks[0] ^= u128::from(chunk == 5);
    let in_values = |chunk: usize, blocks: &mut [u128]| blocks[300] ^= u128::from(chunk == 1) << 127;
    let in_mask = |chunk: usize, blocks: &mut [u128]| blocks[blocks.len() - 2] ^= u128::from(chunk == 15) << 64;
    let tampers: [fn(usize, &mut [u128]); 3] = [in_ots, in_values, in_mask];
    for corrections in tampers {
        caught(run(Tamper { corrections: Some(corrections), ..Tamper::default() }).0, Answer::STEP);
    }
}

#[test]
fn wrong_answers_to_the_check_of_the_columns() {
    let bits = |answer: &mut Answer| answer.bits ^= 1;
    caught(run(Tamper { answer: Some(bits), ..Tamper::default() }).0, Answer::STEP);
    let column = |answer: &mut Answer| answer.columns[127] ^= 1 << 9;
    caught(run(Tamper { answer: Some(column), ..Tamper::default() }).0, Answer::STEP);
}

#[test]
fn trees_with_wrong_sums_or_leaves() {
    let level = |trees: &mut [u128], _: usize| trees[..2].iter_mut().for_each(|sum| *sum ^= 1);
    caught(run(Tamper { trees: Some(level), ..Tamper::default() }).1, CheckAnswer::STEP);
    let leaf = |trees: &mut [u128], message: usize| trees[501 * message - 1] ^= 1 << 70;
    caught(run(Tamper { trees: Some(leaf), ..Tamper::default() }).1, CheckAnswer::STEP);
    let flip = |flips: &mut Flips| flips.0[10] ^= 4;
    caught(run(Tamper { flips: Some(flip), ..Tamper::default() }).1, CheckAnswer::STEP);
    let spare = |flips: &mut Flips| *flips.0.last_mut().unwrap() |= 0x80;
    caught(run(Tamper { flips: Some(spare), ..Tamper::default() }).0, Flips::STEP);
}

#[test]
fn wrong_messages_of_the_check_of_the_trees() {
    let answer = |answer: &mut CheckAnswer| answer.0[31] ^= 1;
    caught(run(Tamper { check_answer: Some(answer), ..Tamper::default() }).1, CheckAnswer::STEP);
    let request = |request: &mut CheckRequest| request.noise ^= 1;
    caught(run(Tamper { request: Some(request), ..Tamper::default() }).1, CheckAnswer::STEP);
}

/// A wrong sum on one side only is a guess at one bit of a noisy place: caught if wrong, harmless
/// to the outputs if right.
#[test]
fn a_guess_at_a_place_is_caught_or_right() {
    let guesses: [fn(&mut [u128], usize); 6] = [
        |trees, _| trees[0] ^= 1,
        |trees, _| trees[1] ^= 1,
        |trees, message| trees[9 * message] ^= 1,
        |trees, message| trees[9 * message + 1] ^= 1,
        |trees, message| trees[700 * message + 4] ^= 1,
        |trees, message| trees[700 * message + 5] ^= 1,
    ];
    let (mut right, mut wrong) = (0, 0);
    for trees in guesses {
        match run(Tamper { trees: Some(trees), ..Tamper::default() }) {
            (Ok(sender), Ok(receiver)) => {
                SubfieldVole::<Gf128>::holds(&(), &(), &sender, &receiver).unwrap();
                right += 1;
            }
            (_, receiver) => {
                caught(receiver, CheckAnswer::STEP);
                wrong += 1;
            }
        }
    }
    // Of each pair of sums the receiver reads one.
    assert!(right == 3 && wrong == 3, "{right} right, {wrong} wrong");
}

/// What the relay changes of the messages of OOS17.
#[derive(Default)]
struct CodeTamper {
    /// Called with all corrections, of [`ROW_BYTES`] each.
    corrections: Option<fn(&mut [u8])>,
    answer: Option<fn(&mut code_oprf::messages::Answer)>,
}

/// Instances; the check fills their last block of 128, and makes one block more.
const INSTANCES: usize = 300;

/// Bits of a key, and of a row: the code is shortened, and punctured in three places.
const KEY_BITS: usize = 40;
const WIDTH: usize = 511 - (76 - KEY_BITS) - 3;
const ROW_BYTES: usize = WIDTH.div_ceil(8);

/// Whether the run of OOS17 with the relay between ends well; if not, the sender has blamed the answer
/// to the check.
fn passes_oos17(tamper: &CodeTamper) -> bool {
    let request = BatchPrfRequest {
        instances: INSTANCES,
        key_bits: KEY_BITS as u32,
        evaluations: INSTANCES,
        evaluations_in_all: INSTANCES,
        blocks: 1,
        security: Security::Malicious,
    };
    let params = Oos17::derive(&request).unwrap();
    let asked: Vec<u128> = (0..INSTANCES as u128).map(|i| i * i).collect();
    let input = Evaluations { instances: (0..INSTANCES as u32).collect(), keys: asked.clone() };
    let (sender, receiver) = relayed::<Oos17>(&params, input.clone(), asked.clone(), |up, down| {
        // Its roles are swapped: the sender here is the receiver of the columns' keys.
        up.reversed(|up| {
            down.reversed(|down| relay_ot_extension(WIDTH.div_ceil(128) + 1, &Tamper::default(), down, up))
        })?;
        let rows = INSTANCES.next_multiple_of(128) + 128;
        pass_stream::<code_oprf::messages::Corrections<Bch>>(down, up, rows * ROW_BYTES, |corrections| {
            if let Some(change) = tamper.corrections {
                change(corrections);
            }
        })?;
        pass::<code_oprf::messages::Challenge>(up, down, (), None)?;
        let shape = code_oprf::messages::AnswerShape { key_bits: KEY_BITS, width: WIDTH };
        pass(down, up, shape, tamper.answer)
    });
    match sender {
        Ok(sender) => {
            OneOfNOt::holds(&input, &asked, &sender, &receiver.unwrap()).unwrap();
            true
        }
        refused => {
            caught(refused, code_oprf::messages::Answer::STEP);
            false
        }
    }
}

#[test]
fn corrections_to_words_of_the_code_pass() {
    assert!(passes_oos17(&CodeTamper::default()));
}

/// More bits of a correction than a receiver can guess of the sender's secret: in the first row, the
/// last that is used, one of those that only fill a block, and in the mask.
#[test]
fn a_correction_that_is_no_code_word_is_caught() {
    fn off(row: usize, corrections: &mut [u8]) {
        corrections[row * ROW_BYTES..][..8].iter_mut().for_each(|byte| *byte ^= 0xff);
    }
    let cheats: [fn(&mut [u8]); 4] = [
        |corrections| off(0, corrections),
        |corrections| off(INSTANCES - 1, corrections),
        |corrections| off(INSTANCES.next_multiple_of(128) - 1, corrections),
        |corrections| off(INSTANCES.next_multiple_of(128) + 127, corrections),
    ];
    for corrections in cheats {
        assert!(!passes_oos17(&CodeTamper { corrections: Some(corrections), ..CodeTamper::default() }));
    }
}

/// Deviations of two rows that cancel in a plain sum of all rows.
#[test]
fn deviations_do_not_cancel() {
    let corrections = |corrections: &mut [u8]| {
        for row in [5, 5 + 128, 77] {
            corrections[row * ROW_BYTES..][..16].iter_mut().for_each(|byte| *byte ^= 0x5a);
        }
        corrections[(77 + 128) * ROW_BYTES..][..16].iter_mut().for_each(|byte| *byte ^= 0x5a);
    };
    assert!(!passes_oos17(&CodeTamper { corrections: Some(corrections), ..CodeTamper::default() }));
}

/// The correction to another word of the code than that of the key in the answer: the sum of two rows
/// is one.
#[test]
fn a_key_that_is_exchanged_afterwards_is_caught() {
    let answer = |answer: &mut code_oprf::messages::Answer| answer.keys[3] ^= 1 << 100;
    assert!(!passes_oos17(&CodeTamper { answer: Some(answer), ..CodeTamper::default() }));
    let answer = |answer: &mut code_oprf::messages::Answer| answer.columns[WIDTH - 1] ^= 1;
    assert!(!passes_oos17(&CodeTamper { answer: Some(answer), ..CodeTamper::default() }));
}

/// A deviation in one column is a guess at one bit of the sender's secret: caught if wrong, harmless to
/// the outputs if right.
#[test]
fn a_guess_at_a_bit_of_the_secret_is_caught_or_right() {
    let guesses: [fn(&mut [u8]); 16] = [
        |corrections| corrections[0] ^= 1,
        |corrections| corrections[1] ^= 2,
        |corrections| corrections[2] ^= 4,
        |corrections| corrections[3] ^= 8,
        |corrections| corrections[4] ^= 16,
        |corrections| corrections[5] ^= 32,
        |corrections| corrections[6] ^= 64,
        |corrections| corrections[7] ^= 128,
        |corrections| corrections[8] ^= 1,
        |corrections| corrections[9] ^= 2,
        |corrections| corrections[10] ^= 4,
        |corrections| corrections[11] ^= 8,
        |corrections| corrections[12] ^= 16,
        |corrections| corrections[13] ^= 32,
        |corrections| corrections[14] ^= 64,
        |corrections| corrections[15] ^= 128,
    ];
    let right = guesses
        .into_iter()
        .filter(|&corrections| passes_oos17(&CodeTamper { corrections: Some(corrections), ..CodeTamper::default() }))
        .count();
    assert!((1..16).contains(&right), "{right} of 16 guesses are right");
}
