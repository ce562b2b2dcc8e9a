use vesica_party::{Abort, Party, Security};
use vesica_testkit::{Side, try_two_party};

use super::czz24::Czz24;
use super::testing::*;
use super::*;
use crate::tasks::{AggregateOutput, AggregateReceiverInput};

#[test]
fn items_that_are_not_the_receivers_or_come_twice_are_caught() {
    lies_are_caught::<Czz24>();
}

#[test]
fn the_order_of_the_senders_table_does_not_show() {
    the_order_is_hidden::<Czz24>();
}

#[test]
fn the_receiver_of_a_union_opens_new_records_only() {
    common_records_stay_closed::<Czz24>();
}

#[test]
fn strings_of_equal_records_differ() {
    no_pad_is_used_twice::<Czz24>();
}

#[test]
fn an_empty_receiver_of_a_union_gets_all_records_in_a_random_order() {
    an_empty_receiver_gets_all::<Czz24>();
}

#[test]
fn single_values_are_masked() {
    values_are_masked::<Czz24, Sum>();
    values_are_masked::<Czz24, UnionSum>();
}

/// A receiver of a union's cardinality of which half of the sender's items are common, and whose
/// sender says that it has `counted`.
fn counted(counted: u64) -> Side<AggregateOutput> {
    let request = AggregateRequest { columns: 0, ..sum_of(N, N, Security::SemiHonest) };
    let params =
        Params::<Czz24>::cardinality::<UnionCardinality>(&request, &<Czz24 as For<UnionCardinality>>::ENTRY).unwrap();
    let sent: Vec<u128> = (N as u128 / 2..).take(N).collect();
    let asked = AggregateReceiverInput { items: (0..N as u128).collect(), ..AggregateReceiverInput::default() };
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let Sender { test, .. } = Sender::<Czz24, UnionCardinality>::setup(&params, ch, rng)?;
            Czz24::ask(test.unwrap(), &sent, ch, rng)?;
            ch.send_stream::<messages::Counted<<Czz24 as MembershipTest>::Arrows>>(&[counted])
        },
        |ch, rng| Receiver::<Czz24, UnionCardinality>::setup(&params, ch, rng)?.run(asked.clone(), ch, rng),
    );
    receiver
}

#[test]
fn a_number_of_items_that_does_not_go_with_the_test_is_caught() {
    for (said, new) in [(N / 2, 0), (N - 3, N / 2 - 3), (N, N / 2)] {
        assert_eq!(counted(said as u64).result.unwrap(), AggregateOutput::one(vec![new as u64]));
    }
    for said in [0, N as u64 / 2 - 1, N as u64 + 1, u64::MAX] {
        assert!(matches!(counted(said).result, Err(Abort::PeerMisbehaved(step, _)) if step.number == 6), "{said}");
    }
}
