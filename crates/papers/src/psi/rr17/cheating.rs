//! Parties that cheat: each is caught, or gets no more than the entries say.

use std::iter::{repeat, repeat_n};
use std::sync::atomic::{AtomicBool, Ordering};

use vesica_mpc::code_oprf::messages::{Answer, Challenge, Corrections};
use vesica_mpc::code_oprf::{Bch, Functions};
use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Message, Party, Protocol, Security, Step, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagSorter;
use vesica_testkit::try_two_party;

use super::bins::{Hashed, KEY_BITS, Slots};
use super::dual_execution::{ReceiverReady, SenderReady};
use super::encode_commit::groups::commit;
use super::messages::{Groups, SaltCommitment, SaltOpening, SaltShare, Tags};
use super::salt::{self, Keys, toss_as_receiver, toss_as_sender};
use super::transfers::{choose, evaluate};
use super::{DualExecution, EncodeCommit, Params};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

/// Items of both sides.
const N: usize = 300;

/// Bits of a row of the transfers: the code without the three places that its distance does not need.
const WIDTH: usize = 508;

fn params<P: Protocol<Task = vesica_protocols::tasks::Intersect, Params = Params>>(items: usize) -> Params {
    let security = Security::Malicious;
    P::derive(&IntersectRequest {
        sender_items: items,
        receiver_items: items,
        security,
        payload_bytes: 0,
        both_learn: false,
        runs: 1,
    })
    .unwrap()
}

fn items(count: usize) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..count).map(|_| rng.block()).collect()
}

/// The matches of an honest receiver that has the first items.
fn honest_receiver<P>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort>
where
    P: Protocol<Task = vesica_protocols::tasks::Intersect, Params = Params>,
{
    let input = IntersectReceiverInput { items: items(params.receiver_items) };
    Ok(P::Receiver::setup(params, ch, rng)?.run(input, ch, rng)?.matches)
}

/// An honest sender of the same items.
fn honest_sender<P>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort>
where
    P: Protocol<Task = vesica_protocols::tasks::Intersect, Params = Params>,
{
    let input = IntersectSenderInput { items: items(params.sender_items), payloads: Vec::new() };
    P::Sender::setup(params, ch, rng)?.run(input, ch, rng).map(drop)
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
    let params = params::<DualExecution>(N);
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&SaltCommitment(salt::commit(ch, &[1; 32])))?;
            let SaltShare(_) = ch.recv(())?;
            ch.send(&SaltOpening([2; 32]))
        },
        |ch, rng| toss_as_receiver(&params, ch, rng),
    );
    assert_blamed(receiver.result, SaltOpening::STEP);
}

/// The sender opens its share of the salt only behind the receiver's.
#[test]
fn the_salt_is_not_opened_before_the_receivers_share_has_come() {
    let params = params::<EncodeCommit>(N);
    let opened = AtomicBool::new(false);
    let (sender, _) = try_two_party(
        |ch, rng| toss_as_sender(&params, ch, rng),
        |ch, _| {
            let SaltCommitment(_) = ch.recv(())?;
            let result = ch.recv::<SaltOpening>(());
            opened.store(result.is_ok(), Ordering::SeqCst);
            result.map(drop)
        },
    );
    assert!(sender.result.is_err() && !opened.into_inner());
}

/// Neither share decides the salt: other ones on either side give other keys.
#[test]
fn the_keys_depend_on_both_shares() {
    let params = params::<DualExecution>(N);
    let of_receiver = |share: [u8; 32]| -> Keys {
        let (_, receiver) = try_two_party(
            |ch, _| {
                ch.send(&SaltCommitment(salt::commit(ch, &share)))?;
                let SaltShare(_) = ch.recv(())?;
                ch.send(&SaltOpening(share))
            },
            |ch, rng| toss_as_receiver(&params, ch, rng),
        );
        receiver.result.unwrap()
    };
    let of_sender = |share: [u8; 32]| -> Keys {
        let (sender, _) = try_two_party(
            |ch, rng| toss_as_sender(&params, ch, rng),
            |ch, _| {
                let SaltCommitment(_) = ch.recv(())?;
                ch.send(&SaltShare(share))?;
                ch.recv::<SaltOpening>(()).map(drop)
            },
        );
        sender.result.unwrap()
    };
    // The honest side draws the same share each time here.
    for keys in [&of_receiver as &dyn Fn([u8; 32]) -> Keys, &of_sender] {
        assert!(keys([1; 32]) == keys([1; 32]) && keys([1; 32]) != keys([2; 32]));
    }
}

/// Asks for what is no word of the code, in `slots` transfers, and answers the check.
fn ask_for_no_words(slots: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let rows = slots.next_multiple_of(128) + 128;
    let corrections: Vec<u8> = (0..rows * WIDTH.div_ceil(8)).map(|_| rng.block() as u8).collect();
    ch.send_stream::<Corrections<Bch>>(&corrections)?;
    let Challenge(_) = ch.recv(())?;
    ch.send(&Answer { keys: vec![0; KEY_BITS as usize], columns: vec![0; WIDTH] })
}

/// Where inputs could not be extracted, the other side stops: in both directions of dual execution.
#[test]
fn slots_that_ask_for_no_key_are_caught() {
    let params = params::<DualExecution>(N);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender::<DualExecution>(&params, ch, rng),
        |ch, rng| {
            let _honest = ReceiverReady::setup(&params, ch, rng)?;
            ask_for_no_words(params.bins * params.receiver_slots, ch, rng)
        },
    );
    assert_blamed(sender.result, Answer::STEP);
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let ready = SenderReady::setup(&params, ch, rng)?;
            ready.evaluated.functions(ch, rng)?;
            ch.reversed(|ch| ask_for_no_words(params.bins * params.sender_slots, ch, rng))
        },
        |ch, rng| honest_receiver::<DualExecution>(&params, ch, rng),
    );
    assert_blamed(receiver.result, Answer::STEP);
}

/// A sender of dual execution that follows the protocol up to arrow 4: `send` gets `[[.]]^A`, the places of its
/// items, and `[[x]]^B` of each item.
fn matches_of_dual_execution(
    params: &Params,
    send: impl Fn(&Functions<Bch>, &Hashed, &[u128], &mut Channel) -> Result<(), Abort> + Send + Sync,
) -> Result<Vec<u32>, Abort> {
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let SenderReady { keys, evaluated, chosen } = SenderReady::setup(params, ch, rng)?;
            let hashed = Hashed::new(&keys, params.bins, &items(params.sender_items));
            let slots = Slots::fill(&hashed, params.bins, params.sender_slots, rng)?;
            let functions = evaluated.functions(ch, rng)?;
            let own = ch.reversed(|ch| choose(chosen, &slots, params.sender_items, 1, ch, rng))?;
            send(&functions, &hashed, &own, ch)
        },
        |ch, rng| honest_receiver::<DualExecution>(params, ch, rng),
    );
    receiver.result
}

/// Sends as tags what `change` makes of `[[x]]^A` of all slots and `[[x]]^B` of an item.
fn send_tags(
    params: &Params,
    functions: &Functions<Bch>,
    hashed: &Hashed,
    own: &[u128],
    ch: &mut Channel,
    change: impl Fn(&mut [u128], u128),
) -> Result<(), Abort> {
    let (count, slots) = (params.sender_encodings(), params.receiver_slots);
    let mut sorter = TagSorter::new(count, params.tag_bits);
    let order: Vec<u32> = (0..params.sender_items as u32).collect();
    evaluate(functions, hashed, slots, &order, |items, mut encodings: PrfOutputs| {
        for (of_item, &item) in encodings.values.chunks_exact_mut(slots).zip(items) {
            change(of_item, own[item as usize]);
        }
        sorter.add(&encodings.values, repeat(()));
        Ok(())
    })?;
    tags::send::<Tags, ()>(sorter, count, params.tag_bits, ch).map(drop)
}

/// A sender knows `[[y]]^A` for all `y`, as if it had chosen them to be equal for all. Without `[[y]]^B`, for which it
/// must have `y` in a slot, no item matches.
#[test]
fn a_sender_that_knows_its_own_encodings_alone_gets_no_match() {
    let params = params::<DualExecution>(N);
    let matches = |with_own: bool| {
        matches_of_dual_execution(&params, |functions, hashed, own, ch| {
            let add =
                |encodings: &mut [u128], own| encodings.iter_mut().for_each(|x| *x ^= if with_own { own } else { 0 });
            send_tags(&params, functions, hashed, own, ch, add)
        })
        .unwrap()
    };
    assert_eq!(matches(false), [0; 0]);
    assert_eq!(matches(true).len(), N, "the honest encodings match");
}

/// A sender that encodes its items for one slot of a bin alone makes those match that the receiver has there: a
/// random one in each bin, or none.
#[test]
fn encodings_that_are_missing_withhold_matches_at_random() {
    let items = 2000;
    let params = params::<DualExecution>(items);
    let matches = matches_of_dual_execution(&params, |functions, hashed, own, ch| {
        send_tags(&params, functions, hashed, own, ch, |encodings, own| {
            encodings.iter_mut().enumerate().for_each(|(slot, x)| *x = if slot == 3 { *x ^ own } else { !*x });
        })
    })
    .unwrap();
    // One of 40 to 50 slots, of 2000 items.
    assert!((10..=100).contains(&matches.len()), "{} matches", matches.len());
    assert!((40..=50).contains(&params.receiver_slots));
}

#[test]
fn malformed_tags_are_caught() {
    let params = params::<DualExecution>(N);
    for length in [0, u32::MAX] {
        let result = matches_of_dual_execution(&params, |_, _, _, ch| ch.send_stream::<Tags>(&length.to_le_bytes()));
        assert_blamed(result, Tags::STEP);
    }
}

/// What goes into a group: the item that is committed to, and the item whose encodings wrap the opening. `None`:
/// a commitment that nobody can open.
type Group = (Option<u128>, u128);

/// The matches of a receiver of encode-commit, whose sender sends these groups.
fn matches_of_groups(params: &Params, groups: &[Group]) -> Vec<u32> {
    assert_eq!(groups.len(), params.sender_items);
    let (sender, receiver) = try_two_party(
        |ch, rng| {
            let keys = toss_as_sender(params, ch, rng)?;
            let oprf = vesica_mpc::code_oprf::Sender::<Bch>::setup(&params.chosen_by_receiver, ch, rng)?;
            let functions = oprf.functions(ch, rng)?;
            let (layout, encoded): (_, Vec<u128>) = (params.layout(), groups.iter().map(|group| group.1).collect());
            let hashed = Hashed::new(&keys, params.bins, &encoded);
            let order: Vec<u32> = (0..groups.len() as u32).collect();
            evaluate(&functions, &hashed, layout.slots, &order, |numbers, encodings| {
                let (masks, tags) = encodings.values.split_at(numbers.len() * layout.slots);
                let of_groups = masks.chunks_exact(layout.slots).zip(tags.chunks_exact(layout.slots));
                for (&number, (masks, tags)) in numbers.iter().zip(of_groups) {
                    let opening = Secret::new(vec![rng.block()]);
                    let committed = groups[number as usize].0;
                    let commitment = committed.map_or([9; 32], |item| commit(&keys.commitments, item, opening[0]));
                    let cells = masks.iter().zip(tags).map(|(mask, &tag)| (layout.tag_of(tag), mask ^ opening[0]));
                    let mut bytes = vec![0; layout.group_bytes()];
                    layout.write(&commitment, cells, &mut bytes);
                    ch.send_stream::<Groups>(&bytes)?;
                }
                Ok(())
            })
        },
        |ch, rng| honest_receiver::<EncodeCommit>(params, ch, rng),
    );
    sender.result.unwrap();
    receiver.result.unwrap()
}

/// A sender that has the encodings of all items, as if it had chosen them to be equal, has to commit to an
/// item: the opening does not open the commitment to another one.
#[test]
fn a_commitment_to_another_item_is_no_match() {
    let params = params::<EncodeCommit>(N);
    let own = items(N);
    let honest: Vec<Group> = own.iter().map(|&item| (Some(item), item)).collect();
    assert_eq!(matches_of_groups(&params, &honest).len(), N, "the honest groups match");
    let others: Vec<Group> = own.iter().map(|&item| (Some(item ^ 1), item)).collect();
    assert_eq!(matches_of_groups(&params, &others), [0; 0]);
    let exchanged: Vec<Group> = own.iter().zip(own.iter().rev()).map(|(&one, &other)| (Some(one), other)).collect();
    assert_eq!(matches_of_groups(&params, &exchanged), [0; 0]);
}

/// Groups that all have the tags of one item: it is withheld, and all others match as if nothing were.
#[test]
fn a_flood_of_tags_withholds_its_own_item_alone() {
    let params = params::<EncodeCommit>(N);
    let own = items(N);
    let flood = repeat_n((None, own[0]), N / 2);
    let groups: Vec<Group> = flood.chain(own[..N / 2].iter().map(|&item| (Some(item), item))).collect();
    assert_eq!(matches_of_groups(&params, &groups), (1..N as u32 / 2).collect::<Vec<u32>>());
}

/// A receiver of encode-commit that asks for no keys.
#[test]
fn slots_of_encode_commit_that_ask_for_no_key_are_caught() {
    let params = params::<EncodeCommit>(N);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender::<EncodeCommit>(&params, ch, rng),
        |ch, rng| {
            toss_as_receiver(&params, ch, rng)?;
            let _honest = vesica_mpc::code_oprf::Receiver::<Bch>::setup(&params.chosen_by_receiver, ch, rng)?;
            ask_for_no_words(params.bins * params.receiver_slots, ch, rng)
        },
    );
    assert_blamed(sender.result, Answer::STEP);
}
