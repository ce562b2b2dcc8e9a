use vesica_party::{Party, Security};
use vesica_protocols::membership::{Membership, MembershipTest, Receiver, Sender};
use vesica_protocols::tasks::{
    AggregateReceiverInput, AggregateSenderInput, Sum, Union, UnionReceiverInput, UnionReceiverOutput, UnionSum,
};
use vesica_testkit::{Side, conformance, try_two_party};

use super::gmr21::Gmr21;
use super::testing::*;
use super::zcl23_pk::{Garbled, Zcl23Pk};
use super::zcl23_sk::Zcl23Sk;
use crate::union::cssw25::Cssw25;
use crate::union::jsz22_r::Jsz22R;
use crate::union::krtw19::Krtw19;

#[test]
fn items_that_are_not_the_receivers_or_come_twice_are_caught() {
    lies_are_caught::<Gmr21>();
}

#[test]
fn the_order_of_the_senders_table_does_not_show() {
    the_order_is_hidden::<Gmr21>();
}

#[test]
fn the_receiver_of_a_union_opens_new_records_only() {
    common_records_stay_closed::<Gmr21>();
    common_records_stay_closed::<Cssw25>();
    common_records_stay_closed::<Zcl23Pk<Garbled>>();
    common_records_stay_closed::<Zcl23Sk>();
    common_records_stay_closed::<Jsz22R>();
    common_records_stay_closed::<Krtw19>();
}

#[test]
fn strings_of_equal_records_differ() {
    no_pad_is_used_twice::<Gmr21>();
    no_pad_is_used_twice::<Cssw25>();
    no_pad_is_used_twice::<Zcl23Pk<Garbled>>();
    no_pad_is_used_twice::<Zcl23Sk>();
    no_pad_is_used_twice::<Jsz22R>();
    no_pad_is_used_twice::<Krtw19>();
}

#[test]
fn an_empty_receiver_of_a_union_gets_all_records_in_a_random_order() {
    an_empty_receiver_gets_all::<Gmr21>();
    an_empty_receiver_gets_all::<Cssw25>();
    an_empty_receiver_gets_all::<Zcl23Pk<Garbled>>();
    an_empty_receiver_gets_all::<Zcl23Sk>();
    an_empty_receiver_gets_all::<Jsz22R>();
    an_empty_receiver_gets_all::<Krtw19>();
}

#[test]
fn single_values_are_masked() {
    values_are_masked::<Gmr21, Sum>();
    values_are_masked::<Gmr21, UnionSum>();
}

/// A receiver of unions whose sender marks all places with `mark`.
fn marked(mark: u8) -> Side<UnionReceiverOutput> {
    let params = union::<Gmr21>(N, N);
    let place_bytes = params.place_bytes;
    let asked = UnionReceiverInput { items: (0..N as u128).collect(), ..Default::default() };
    let (_, receiver) = try_two_party(
        |ch, rng| {
            let Sender { test, ot_sender, .. } = Sender::<Gmr21, Union>::setup(&params, ch, rng)?;
            let order = Gmr21::ask(test.unwrap(), &asked.items, ch, rng)?;
            ot_sender.give_records(vec![mark; order.len() * place_bytes], place_bytes, ch)
        },
        |ch, rng| Receiver::<Gmr21, Union>::setup(&params, ch, rng)?.run(asked.clone(), ch, rng),
    );
    receiver
}

/// The receiver sees a mark only where nothing is common: whether it ends the run must not tell the
/// sender that.
#[test]
fn strange_marks_do_not_end_a_run() {
    for mark in [0, 2, 0xff] {
        assert!(marked(mark).result.unwrap().records.open().is_empty(), "{mark}");
    }
    assert!(!marked(1).result.unwrap().records.open().is_empty());
}

/// So many that all correlations are silent ones, whose halves wait for each other.
#[test]
fn values_of_many_items_are_summed() {
    let (n_s, n_r) = (12_000, 9_000);
    let request = sum_of(n_s, n_r, Security::SemiHonest);
    let sent = AggregateSenderInput {
        items: (0..n_s as u128).collect(),
        values: (0..n_s as u64).collect(),
        ..AggregateSenderInput::default()
    };
    let asked =
        AggregateReceiverInput { items: (5_000..5_000 + n_r as u128).collect(), ..AggregateReceiverInput::default() };
    conformance::<Membership<Gmr21, Sum>>(&request, sent, asked);
}
