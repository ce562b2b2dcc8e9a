//! Peers that cheat, and where the honest side notices.

use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::tasks::OtChosen;
use vesica_party::{Abort, Channel, Message, Party, Protocol, Security, Stream};
use vesica_structures::fields::Gf64;
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagSorter;
use vesica_testkit::try_two_party;

use super::messages::{Challenge, Choices, Injection, OpenedSum, Proofs, SaltCommitment, SaltOpening, SaltShare, Tags};
use super::opened::Opened;
use super::receiver::{Unopened, send_choices};
use super::salt::{commit, toss_as_receiver, toss_as_sender};
use super::{Params, Receiver, Sender};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

const N: usize = 20;

fn params(both_learn: bool) -> Params {
    params_of(N, both_learn)
}

fn params_of(items: usize, both_learn: bool) -> Params {
    let request = IntersectRequest {
        sender_items: items,
        receiver_items: items,
        security: Security::Malicious,
        payload_bytes: 0,
        both_learn,
        runs: 1,
    };
    Params::derive(&request).unwrap()
}

fn items(count: usize) -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..count).map(|_| rng.block()).collect()
}

fn honest_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Option<Vec<u32>>, Abort> {
    let input = IntersectSenderInput { items: items(params.finish.sender_items), payloads: Vec::new() };
    Ok(Sender::setup(params, ch, rng)?.run(input, ch, rng)?.matches)
}

fn honest_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    Ok(Receiver::setup(params, ch, rng)?
        .run(IntersectReceiverInput { items: items(params.finish.receiver_items) }, ch, rng)?
        .matches)
}

/// That `result` blames the peer at step `number`.
#[track_caller]
fn assert_blamed<T: std::fmt::Debug>(result: Result<T, Abort>, number: u8) {
    match result {
        Err(Abort::PeerMisbehaved(step, _)) if step.number == number => {}
        other => panic!("expected blame at step {number}, got {other:?}"),
    }
}

/// What a scripted receiver has before step 5.
struct Begun {
    params: Params,
    opened: Opened,
    chosen: OtChosen,
}

impl Begun {
    /// Honest up to the challenge.
    fn new(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        toss_as_receiver(params, ch, rng)?;
        let transfers = <OtExtension as Protocol>::Receiver::setup(&params.transfers, ch, rng)?;
        let chosen = transfers.run((), ch, rng)?;
        let challenge: Challenge = ch.recv(())?;
        let opened = Opened::expand(&params.numbers, 0, challenge, ch);
        Ok(Self { params: params.clone(), opened, chosen })
    }

    /// An injection that any receiver might send, with ones at all cells that there are ones for.
    fn injection(&self, rng: &mut SecretRng) -> Vec<Gf64> {
        let mut unopened = Unopened::new(&self.params.numbers, &self.opened, &self.chosen, rng).unwrap();
        let mut next = || unopened.next(true).or_else(|| unopened.next(false)).unwrap();
        (0..self.params.numbers.shape.len()).map(|_| Gf64(next().into())).collect()
    }

    fn send_injection(&self, injection: &[Gf64], ch: &mut Channel) -> Result<(), Abort> {
        table::send::<Injection, Gf64>(injection, self.params.numbers.index_bits(), ch)
    }
}

/// What an honest sender makes of a scripted receiver.
fn against_sender(
    cheat: impl Fn(&Begun, &mut Channel, &mut SecretRng) -> Result<(), Abort> + Sync,
) -> Result<Option<Vec<u32>>, Abort> {
    let params = params(true);
    assert_eq!(params.numbers.groups.count, 1);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, rng| cheat(&Begun::new(&params, ch, rng)?, ch, rng),
    );
    sender.result
}

/// The script of the tests below, followed to its end: nothing to blame, and no match.
#[test]
fn the_honest_script_is_not_blamed() {
    let result = against_sender(|begun, ch, rng| {
        let sum = send_choices(&begun.params.numbers, &begun.opened, &begun.chosen, ch)?;
        begun.send_injection(&begun.injection(rng), ch)?;
        ch.send(&OpenedSum(sum.to_le_bytes()))?;
        let mut tags = Vec::new();
        tags::receive_each::<Tags>(tags::TagCoding::SortedCoded, N, 128, ch, |part| tags.extend_from_slice(part))?;
        assert_eq!(tags.len(), N);
        ch.send_stream::<Proofs>(&[0])
    });
    assert_eq!(result.unwrap(), Some(vec![]));
}

/// A receiver with ones everywhere says so, or is a forger.
#[test]
fn too_many_ones_are_caught() {
    let result = against_sender(|begun, ch, _| {
        let numbers = &begun.params.numbers;
        ch.send_stream::<Choices>(&crate::psi::gbf::packed(begun.opened.iter().map(|_| true), numbers.choice_bytes()))
    });
    assert_blamed(result, Choices::STEP.number);
}

/// A one that is passed off as a zero: its first string is missing in the sum.
#[test]
fn a_one_that_is_opened_as_a_zero_is_caught() {
    let result = against_sender(|begun, ch, rng| {
        let mut forged = OtChosen { choices: begun.chosen.choices.clone(), chosen: begun.chosen.chosen.clone() };
        let one = begun.opened.iter().find(|&number| forged.choices[number]).unwrap();
        forged.choices[one] = false;
        let sum = send_choices(&begun.params.numbers, &begun.opened, &forged, ch)?;
        begun.send_injection(&begun.injection(rng), ch)?;
        ch.send(&OpenedSum(sum.to_le_bytes()))
    });
    assert_blamed(result, OpenedSum::STEP.number);
}

#[test]
fn choices_beyond_the_opened_transfers_are_caught() {
    let result = against_sender(|begun, ch, _| {
        let choices = begun.opened.iter().map(|number| begun.chosen.choices[number]).chain([true]);
        ch.send_stream::<Choices>(&crate::psi::gbf::packed(choices, begun.params.numbers.choice_bytes()))
    });
    assert_blamed(result, Choices::STEP.number);
}

#[test]
fn what_is_no_injection_out_of_the_opened_transfers_is_caught() {
    let injection = |change: fn(&Begun, &mut Vec<Gf64>)| {
        against_sender(move |begun, ch, rng| {
            let sum = send_choices(&begun.params.numbers, &begun.opened, &begun.chosen, ch)?;
            let mut injection = begun.injection(rng);
            change(begun, &mut injection);
            begun.send_injection(&injection, ch)?;
            ch.send(&OpenedSum(sum.to_le_bytes()))
        })
    };
    // One transfer for two cells: a receiver would need fewer ones.
    assert_blamed(injection(|_, injection| injection[7] = injection[injection.len() - 1]), Injection::STEP.number);
    // An opened transfer, of which the receiver may know a string that was never counted.
    let opened =
        |begun: &Begun, injection: &mut Vec<Gf64>| injection[0] = Gf64(begun.opened.iter().next().unwrap() as u64);
    assert_blamed(injection(opened), Injection::STEP.number);
    // No transfer at all.
    assert_blamed(
        injection(|begun, injection| injection[3] = Gf64(begun.params.numbers.transfers as u64)),
        Injection::STEP.number,
    );
}

/// What an honest sender makes of a receiver that is honest, but for what it says of the transfers opened in the
/// second of two groups.
fn in_the_second_group(change: impl Fn(&Opened, &mut OtChosen) + Sync) -> Result<Option<Vec<u32>>, Abort> {
    let params = params_of(5000, false);
    let numbers = &params.numbers;
    assert_eq!(numbers.groups.count, 2);
    let (sender, _) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, rng| {
            toss_as_receiver(&params, ch, rng)?;
            let mut sum = 0;
            for (group, cells) in numbers.groups.ranges().enumerate() {
                let transfers = <OtExtension as Protocol>::Receiver::setup(&params.transfers, ch, rng)?;
                let mut chosen = transfers.run((), ch, rng)?;
                let challenge: Challenge = ch.recv(())?;
                let opened = Opened::expand(numbers, group, challenge, ch);
                if group == 1 {
                    change(&opened, &mut chosen);
                }
                sum ^= send_choices(numbers, &opened, &chosen, ch)?;
                let injection: Vec<Gf64> =
                    opened.others().take(cells.len()).map(|number| Gf64(number as u64)).collect();
                table::send::<Injection, Gf64>(&injection, numbers.index_bits(), ch)?;
            }
            ch.send(&OpenedSum(sum.to_le_bytes()))?;
            tags::receive_each::<Tags>(tags::TagCoding::SortedCoded, 5000, 128, ch, |_| {})
        },
    );
    sender.result
}

#[test]
fn an_honest_second_group_is_not_blamed() {
    assert_eq!(in_the_second_group(|_, _| ()).unwrap(), None);
}

/// The ones of both groups count together: those of the second alone would be few enough.
#[test]
fn too_many_ones_in_both_groups_together_are_caught() {
    let result = in_the_second_group(|opened, chosen| {
        assert!(opened.count <= params_of(5000, false).numbers.most_ones);
        chosen.choices.fill(true);
    });
    assert_blamed(result, Choices::STEP.number);
}

/// One sum is opened for all groups.
#[test]
fn a_one_of_the_second_group_that_is_opened_as_a_zero_is_caught() {
    let result = in_the_second_group(|opened, chosen| {
        let one = opened.iter().find(|&number| chosen.choices[number]).unwrap();
        chosen.choices[one] = false;
    });
    assert_blamed(result, OpenedSum::STEP.number);
}

/// The sender sends nothing that depends on its items before it has checked the opened strings.
#[test]
fn tags_do_not_come_before_the_opened_sum() {
    let params = params(false);
    let (sender, receiver) = try_two_party(
        |ch, rng| honest_sender(&params, ch, rng),
        |ch, rng| {
            let begun = Begun::new(&params, ch, rng)?;
            send_choices(&params.numbers, &begun.opened, &begun.chosen, ch)?;
            begun.send_injection(&begun.injection(rng), ch)?;
            ch.recv_stream::<Tags>(&mut [0; 4])
        },
    );
    assert!(sender.result.is_err() && receiver.result.is_err());
}

#[test]
fn a_proof_of_no_match_is_caught() {
    let result = against_sender(|begun, ch, rng| {
        let sum = send_choices(&begun.params.numbers, &begun.opened, &begun.chosen, ch)?;
        begun.send_injection(&begun.injection(rng), ch)?;
        ch.send(&OpenedSum(sum.to_le_bytes()))?;
        tags::receive_each::<Tags>(tags::TagCoding::SortedCoded, N, 128, ch, |_| {})?;
        ch.send_stream::<Proofs>(&[1, 4])
    });
    assert_blamed(result, Proofs::STEP.number);
}

#[test]
fn another_salt_than_committed_to_is_caught() {
    let params = params(false);
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&SaltCommitment(commit(ch, &[1; 32])))?;
            let SaltShare(_) = ch.recv(())?;
            ch.send(&SaltOpening([2; 32]))
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    assert_blamed(receiver.result, SaltOpening::STEP.number);
}

/// A sender whose sums are wrong has no matches. It is not noticed, and it learns nothing: what the
/// receiver sends is the same up to its last message, and that one proves no match.
#[test]
fn wrong_sums_of_the_sender_match_nothing() {
    let params = params(true);
    let (sender, receiver) = try_two_party(
        |ch, rng| {
            toss_as_sender(&params, ch, rng)?;
            let transfers = <OtExtension as Protocol>::Sender::setup(&params.transfers, ch, rng)?;
            transfers.run((), ch, rng)?;
            let (challenge, _) = Opened::draw(&params.numbers, 0, ch, rng);
            ch.send(&challenge)?;
            ch.recv_stream::<Choices>(&mut vec![0; params.numbers.choice_bytes()])?;
            table::receive::<Injection, Gf64>(params.numbers.shape.len(), params.numbers.index_bits(), ch, |_, _| {})?;
            let OpenedSum(_) = ch.recv(())?;
            let mut sorter = TagSorter::new(N, 128);
            let wrong: Vec<u128> = (0..N).map(|_| rng.block()).collect();
            sorter.add(&wrong, std::iter::repeat(()));
            tags::send::<Tags, _>(sorter, N, 128, ch)?;
            let mut proofs = [1];
            ch.recv_stream::<Proofs>(&mut proofs)?;
            Ok(proofs)
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    assert_eq!((sender.result.unwrap(), receiver.result.unwrap()), ([0], vec![]));
}

/// The shortage that stops a receiver is one of transfers, whatever its items are.
#[test]
fn a_receiver_stops_where_transfers_do_not_suffice() {
    let params = params(false);
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let (_, opened) = Opened::draw(&params.numbers, 0, ch, rng);
            Ok(opened)
        },
        |ch, rng| {
            let (_, opened) = Opened::draw(&params.numbers, 0, ch, rng);
            let all_ones =
                OtChosen { choices: vec![true; params.numbers.transfers], chosen: vec![0; params.numbers.transfers] };
            Unopened::new(&params.numbers, &opened, &all_ones, rng).map(|_| ())
        },
    );
    assert!(matches!(receiver.result, Err(Abort::StatisticalFailure(_))));
}
