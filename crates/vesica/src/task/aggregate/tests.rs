use vesica_party::Security;

use super::super::cardinality::CardinalityKind;
use super::super::job::Declaration;
use super::super::join_and_compute::JoinAndComputeKind;
use super::super::sum::SumKind;
use super::super::union_cardinality::UnionCardinalityKind;
use super::super::union_sum::UnionSumKind;
use super::*;
use crate::table::{Clamp, ExpectedRange, decimal};

/// A side whose columns have these ranges.
fn proposal(values: &[(i64, i64)]) -> Proposal {
    let column = |(place, &(least, most)): (usize, &(i64, i64))| {
        let clamp = (least <= most).then_some(Clamp { least, most });
        ValueColumn { name: format!("column {place}"), scale: 1, clamp }
    };
    Proposal { values: values.iter().enumerate().map(column).collect(), ..Proposal::default() }
}

/// Without a range.
const OPEN: (i64, i64) = (1, 0);

const ONE_GROUP: Measure = Measure { groups: 1 };

fn settle_groups<K: AggregateKind>(
    role: Role,
    extent: &Extent,
    sender: (&Proposal, &Measure),
    receiver: (&Proposal, &Measure),
) -> Result<Terms, Refusal> {
    let settings = Settings { max_groups: 5, ..Settings::default() };
    let (sender, receiver) = (
        Declaration { proposal: sender.0, measure: sender.1 },
        Declaration { proposal: receiver.0, measure: receiver.1 },
    );
    AggregateJob::<K>::settle(&Settling {
        role,
        settings: &settings,
        is_assumed: false,
        or_keys: false,
        extent,
        sender,
        receiver,
    })
}

fn settle<K: AggregateKind>(items: usize, sender: &Proposal, receiver: &Proposal) -> Result<Terms, Refusal> {
    let extent = Extent::new(1 << 20, items, Security::SemiHonest);
    settle_groups::<K>(Role::Receiver, &extent, (sender, &ONE_GROUP), (receiver, &ONE_GROUP))
}

fn fits<K: AggregateKind>(sender: &Proposal, receiver: &Proposal) -> bool {
    match settle::<K>(1, sender, receiver) {
        Ok(_) => true,
        Err(Refusal::Misbehaved(what)) => {
            assert_eq!(what, "columns of values that do not go with the task");
            false
        }
        Err(Refusal::Refused(failure)) => panic!("{failure}"),
    }
}

#[test]
fn each_task_takes_its_columns() {
    let (one, two, none) = (|| proposal(&[(0, 1)]), || proposal(&[(0, 1), OPEN]), || proposal(&[]));
    assert!(fits::<CardinalityKind>(&none(), &none()) && !fits::<CardinalityKind>(&one(), &none()));
    assert!(!fits::<CardinalityKind>(&none(), &one()));
    assert!(fits::<SumKind>(&two(), &none()) && !fits::<SumKind>(&none(), &none()) && !fits::<SumKind>(&one(), &one()));
    assert!(fits::<JoinAndComputeKind>(&two(), &one()) && !fits::<JoinAndComputeKind>(&one(), &none()));
    assert!(!fits::<JoinAndComputeKind>(&one(), &two()) && !fits::<JoinAndComputeKind>(&none(), &one()));
    let scaled = |scale| Proposal {
        values: vec![ValueColumn { name: "column".into(), scale, clamp: None }],
        ..Proposal::default()
    };
    let most = decimal::MOST_SCALE;
    assert!(fits::<JoinAndComputeKind>(&scaled(most - 1), &scaled(1)), "digits of a product");
    // Neither side can check that alone: an honest pair is refused, and nobody is blamed.
    match settle::<JoinAndComputeKind>(1, &scaled(most), &scaled(1)) {
        Err(Refusal::Refused(failure)) => assert!(failure.code == 11 && failure.mend.contains("--scale"), "{failure}"),
        _ => panic!("19 digits are more than a result can show"),
    }
    let noisy = |at_least| Proposal { noise: Some("1".into()), at_least, ..one() };
    assert!(fits::<SumKind>(&noisy(0), &none()) && !fits::<SumKind>(&noisy(2), &none()));
    assert!(!fits::<SumKind>(&one(), &Proposal { values: Vec::new(), ..noisy(0) }));
}

#[test]
fn groups_are_the_receivers_and_as_many_as_the_sender_allows() {
    let (sender, receiver) = (proposal(&[]), proposal(&[]));
    let extent = Extent::new(10, 10, Security::SemiHonest);
    let settle = |role, of_sender, of_receiver| {
        let (senders, receivers) = (Measure { groups: of_sender }, Measure { groups: of_receiver });
        settle_groups::<CardinalityKind>(role, &extent, (&sender, &senders), (&receiver, &receivers))
            .map(|terms| terms.groups)
    };
    assert!(matches!(settle(Role::Sender, 1, 5), Ok(5)));
    assert!(matches!(settle(Role::Receiver, 1, 6), Ok(6)), "what is allowed is the sender's to say");
    let Err(Refusal::Refused(failure)) = settle(Role::Sender, 1, 6) else { panic!("too many groups") };
    assert!(failure.code == code::REFUSED && failure.mend.contains("--max-groups"), "{failure}");
    let misbehaved = |settled: Result<usize, Refusal>| match settled {
        Err(Refusal::Misbehaved(what)) => what,
        other => panic!("{other:?}"),
    };
    assert!(misbehaved(settle(Role::Receiver, 2, 1)).contains("groups, which are for the receiver"));
    for (senders, receivers) in [(0, 1), (1, 0)] {
        assert_eq!(misbehaved(settle(Role::Receiver, senders, receivers)), "keys in no group");
    }
}

#[test]
fn a_result_may_wrap_only_where_a_side_left_its_range_open() {
    let wrap = |settled: Result<Terms, Refusal>| match settled {
        Ok(terms) => Ok(terms.may_wrap),
        Err(Refusal::Refused(failure)) => Err(failure),
        Err(Refusal::Misbehaved(what)) => panic!("{what}"),
    };
    let sum = |items, senders| wrap(settle::<SumKind>(items, &proposal(senders), &proposal(&[])));
    let product =
        |senders, receivers| wrap(settle::<JoinAndComputeKind>(1000, &proposal(senders), &proposal(receivers)));
    assert_eq!(sum(1000, &[(-5, 9_000_000_000_000_000)]), Ok(None));
    assert_eq!(sum(2000, &[(-5, 9_000_000_000_000_000)]).expect_err("too much").code, code::REFUSED);
    assert!(sum(1, &[OPEN]).expect("goes on").expect("may wrap").contains("column 0"));
    assert_eq!(product(&[(0, 1 << 30)], &[(0, 1 << 20)]), Ok(None));
    assert!(product(&[(0, 1 << 40)], &[(0, 1 << 20)]).is_err());
    assert!(product(&[(0, 1)], &[OPEN]).expect("goes on").is_some());
    // What is always zero stays zero.
    assert_eq!(product(&[(0, 0)], &[OPEN]), Ok(None));
}

#[test]
fn noise_counts_towards_what_may_wrap() {
    let wrap = |epsilon: &str| {
        let sender = Proposal { noise: Some(epsilon.into()), ..proposal(&[(0, 1 << 52)]) };
        settle::<SumKind>(1500, &sender, &proposal(&[])).map(|terms| terms.may_wrap)
    };
    assert!(matches!(wrap("1"), Ok(None)));
    assert!(matches!(wrap("0.1"), Err(Refusal::Refused(failure)) if failure.code == code::REFUSED), "too wide");
}

#[test]
fn either_side_may_insist_on_ranges_and_both_name_the_difference() {
    let amount = ValueColumn { name: "amount".into(), scale: 2, clamp: Some(Clamp { least: 0, most: 50_000 }) };
    let sender = Proposal { values: vec![amount], ..Proposal::default() };
    let expecting = |range| Proposal {
        expected_ranges: vec![ExpectedRange::parse(range).expect("a range")],
        ..Proposal::default()
    };
    let differences = |receiver: &Proposal| {
        let here = AggregateJob::<SumKind>::differences(Role::Receiver, receiver, &sender);
        (here, AggregateJob::<SumKind>::differences(Role::Sender, &sender, receiver))
    };
    assert_eq!(differences(&expecting("amount=0..500")), (vec![], vec![]));
    let here =
        Difference { field: "--clamp", ours: "expected amount=0..499".into(), theirs: "amount=0.00..500.00".into() };
    let there = Difference { ours: here.theirs.clone(), theirs: here.ours.clone(), ..here };
    assert_eq!(differences(&expecting("amount=0..499")), (vec![here], vec![there]));
    let (here, there) = differences(&Proposal { at_least: 5, ..Proposal::default() });
    assert_eq!(
        [&here, &there].map(|found| found.iter().map(|one| one.field).collect::<Vec<_>>()),
        [["--reveal-if-at-least"]; 2]
    );
}

#[test]
fn proposals_that_no_side_makes_are_not_sound() {
    let sound = |proposal: &Proposal| AggregateJob::<SumKind>::is_sound(proposal);
    assert!(sound(&proposal(&[(0, 1), OPEN])));
    let column = ValueColumn { name: "a".into(), scale: decimal::MOST_SCALE + 1, clamp: None };
    assert!(!sound(&Proposal { values: vec![column.clone()], ..Proposal::default() }));
    let clamp = Some(Clamp { least: 1, most: 0 });
    assert!(!sound(&Proposal { values: vec![ValueColumn { scale: 0, clamp, ..column }], ..Proposal::default() }));
    assert!(!sound(&Proposal { noise: Some("-1".into()), ..Proposal::default() }));
}

#[test]
fn columns_of_a_union_go_together_one_by_one_or_the_receiver_has_none() {
    let (one, two, none) = (|| proposal(&[(0, 1)]), || proposal(&[(0, 1), OPEN]), || proposal(&[]));
    assert!(fits::<UnionCardinalityKind>(&none(), &none()));
    assert!(!fits::<UnionCardinalityKind>(&one(), &none()) && !fits::<UnionCardinalityKind>(&none(), &one()));
    assert!(fits::<UnionSumKind>(&two(), &none()) && fits::<UnionSumKind>(&two(), &two()));
    assert!(!fits::<UnionSumKind>(&none(), &none()) && !fits::<UnionSumKind>(&two(), &one()));
    // Sums of values with many digits are no products.
    let scaled = |scale| Proposal {
        values: vec![ValueColumn { name: "column".into(), scale, clamp: None }],
        ..Proposal::default()
    };
    assert!(fits::<UnionSumKind>(&scaled(decimal::MOST_SCALE), &scaled(decimal::MOST_SCALE)));
    let differences = |receiver: &Proposal, sender: &Proposal| {
        let [here, there] = [(Role::Receiver, receiver, sender), (Role::Sender, sender, receiver)]
            .map(|(role, ours, theirs)| AggregateJob::<UnionSumKind>::differences(role, ours, theirs));
        assert!(here.iter().zip(&there).all(|(a, b)| a.field == b.field && a.ours == b.theirs && a.theirs == b.ours));
        here.into_iter().map(|found| (found.field, found.ours)).collect::<Vec<_>>()
    };
    assert_eq!(differences(&none(), &two()), vec![]);
    assert_eq!(differences(&two(), &two()), vec![]);
    assert_eq!(differences(&one(), &two()), vec![("--payload", "column 0".into())]);
    assert_eq!(differences(&scaled(3), &scaled(2)), vec![("--scale", "column=3".into())]);
}

#[test]
fn keys_that_only_the_sender_has_are_in_no_group() {
    let (sender, receiver) = (proposal(&[]), proposal(&[]));
    let extent = Extent::new(10, 10, Security::SemiHonest);
    let groups = |groups| {
        let receivers = Measure { groups };
        settle_groups::<UnionCardinalityKind>(Role::Sender, &extent, (&sender, &ONE_GROUP), (&receiver, &receivers))
    };
    assert!(groups(1).is_ok());
    assert!(matches!(groups(2), Err(Refusal::Misbehaved(what)) if what.contains("only the sender has")));
}

/// The settings' sender has 2^20 keys.
#[test]
fn a_sum_over_a_union_may_wrap_by_the_keys_of_both_sides() {
    let sum = |items, senders: &[(i64, i64)], receivers: &[(i64, i64)]| match settle::<UnionSumKind>(
        items,
        &proposal(senders),
        &proposal(receivers),
    ) {
        Ok(terms) => Ok(terms.may_wrap),
        Err(Refusal::Refused(failure)) => Err(failure),
        Err(Refusal::Misbehaved(what)) => panic!("{what}"),
    };
    let most = i64::MAX >> 21;
    assert_eq!(sum(1 << 20, &[(0, most)], &[(0, most)]), Ok(None));
    let refused = sum(1 << 22, &[(0, most)], &[(0, most)]).expect_err("too much");
    assert!(refused.code == code::REFUSED && refused.fault.contains("keys in the union"), "{refused}");
    // The sender's keys count, however few the receiver has.
    assert!(sum(1, &[(0, 1 << 44)], &[]).is_err() && sum(1, &[(0, 1 << 42)], &[]) == Ok(None));
    assert!(sum(1, &[(0, 1)], &[OPEN]).expect("goes on").is_some());
}
