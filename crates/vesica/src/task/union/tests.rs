//! What both sides come to.

use super::*;
use crate::buckets::Buckets;
use crate::key::KeySpec;
use crate::table::{Format, PayloadField, PayloadKind, read_union_within};
use crate::task::job::Declaration;

fn kind(kind: PayloadKind, reads_as: &[PayloadKind]) -> KeyKind {
    KeyKind { kind, reads_as: reads_as.to_vec() }
}

/// What both sides come to, with these key columns, `key_bytes` of the sender and the receiver's
/// bound; where both learn, with `own_bytes` of the receiver.
fn settled_with(
    given: KeyKind,
    own: KeyKind,
    key_bytes: usize,
    most: usize,
    own_bytes: Option<usize>,
) -> Result<Terms, Refusal> {
    let extent = Extent::new(9, 9, vesica_party::Security::SemiHonest);
    let schema = PayloadSchema { fields: vec![PayloadField { name: "a".into(), kind: PayloadKind::Text }], width: 9 };
    let both_learn = own_bytes.is_some();
    let sender = Proposal { payload: Some(vec!["a".into()]), most_item_bytes: 100, both_learn };
    let receiver = Proposal { payload: None, most_item_bytes: most, both_learn };
    let sent = Measure { keys: vec![given], records: Some(Records { key_bytes, payload: Some(schema) }) };
    let records = own_bytes.map(|key_bytes| Records { key_bytes, payload: None });
    let asked = Measure { keys: vec![own], records };
    UnionJob::settle(&Settling {
        role: Role::Sender,
        settings: &Settings::default(),
        is_assumed: false,
        or_keys: false,
        extent: &extent,
        sender: Declaration { proposal: &sender, measure: &sent },
        receiver: Declaration { proposal: &receiver, measure: &asked },
    })
}

fn settled(given: KeyKind, own: KeyKind, key_bytes: usize, most: usize) -> Result<Terms, Refusal> {
    settled_with(given, own, key_bytes, most, None)
}

fn refusal(refused: Result<Terms, Refusal>) -> Failure {
    match refused {
        Err(Refusal::Refused(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_have_the_width_that_both_sides_allow() {
    let text = || kind(PayloadKind::Text, &[]);
    let terms = settled(text(), text(), 12, 21).unwrap();
    assert_eq!(UnionJob::options(&terms), UnionOptions { record_bytes: 21, both_learn: false });
    let refused = refusal(settled(text(), text(), 13, 21));
    assert!(refused.code == code::REFUSED && refused.fault.contains("22 bytes") && refused.fault.contains("21"));
    assert!(matches!(settled(text(), text(), 92, 1000), Err(Refusal::Misbehaved(_))), "beyond its own bound");
    assert!(matches!(settled(text(), text(), 0, 1000), Err(Refusal::Misbehaved(_))));
}

#[test]
fn where_both_learn_each_side_bounds_the_other_and_the_wider_records_decide() {
    let text = || kind(PayloadKind::Text, &[]);
    let of = |key_bytes, most, own_bytes| settled_with(text(), text(), key_bytes, most, Some(own_bytes));
    for (own_bytes, record_bytes) in [(3, 21), (40, 40)] {
        let terms = of(12, 99, own_bytes).unwrap();
        assert_eq!(UnionJob::options(&terms), UnionOptions { record_bytes, both_learn: true });
        let revealed = UnionJob::revealed(&terms).join("; ");
        assert!(revealed.contains("to the sender: the keys of the receiver that it does not have"), "{revealed}");
    }
    let refused = refusal(of(12, 400, 101));
    assert!(refused.fault.contains("of the receiver takes up to 101 bytes") && refused.fault.contains("sender's"));
    assert!(matches!(of(12, 100, 101), Err(Refusal::Misbehaved(_))), "beyond its own bound");
    // A column of numbers at the sender takes no words of the receiver.
    let number = kind(PayloadKind::Int { bits: 64 }, &[]);
    let refused = refusal(settled_with(number, text(), 9, 99, Some(9)));
    assert!(refused.fault.contains("the sender's key columns cannot hold every key of the receiver"));
}

#[test]
fn who_learns_must_be_the_same_on_both_sides() {
    let of = |both_learn| Proposal { payload: None, most_item_bytes: 1, both_learn };
    for role in [Role::Sender, Role::Receiver] {
        assert!(UnionJob::differences(role, &of(true), &of(true)).is_empty());
        assert_eq!(UnionJob::differences(role, &of(true), &of(false))[0].field, "--both-learn");
    }
}

#[test]
fn keys_that_the_receivers_columns_do_not_hold_are_refused_with_both_types() {
    let number = PayloadKind::Int { bits: 64 };
    settled(kind(PayloadKind::Text, std::slice::from_ref(&number)), kind(number.clone(), &[]), 9, 99).unwrap();
    let refused = refusal(settled(kind(PayloadKind::Text, &[]), kind(number, &[]), 9, 99));
    assert_eq!(refused.code, code::MISMATCH);
    assert!(refused.fault.contains("key column 1 is Utf8 on the sender's side and Int64 on the receiver's"));
}

#[test]
fn a_receiver_may_insist_on_payload_columns() {
    let of = |payload: Option<&str>| Proposal {
        payload: payload.map(|name| vec![name.to_owned()]),
        most_item_bytes: 1,
        both_learn: false,
    };
    assert!(UnionJob::differences(Role::Receiver, &of(None), &of(Some("score"))).is_empty());
    let differences = UnionJob::differences(Role::Sender, &of(None), &of(Some("score")));
    assert!(differences.len() == 1 && differences[0].field == "--payload");
}

/// Else the partner would learn how many keys of a bucket are common.
#[test]
fn either_side_says_which_items_of_a_bucket_are_dummies() {
    let table = crate::fuzzing::input(b"id\none\ntwo\nthree\n", Format::Csv).unwrap();
    let (spec, key) = (UnionSpec { payload: None, most_bytes: 99 }, KeySpec::parse(&["id"], &[]).unwrap());
    let table = read_union_within(&table, &key, Some(&spec), &|| None).unwrap();
    let own = table.union.as_ref().and_then(|union| union.records.as_ref()).unwrap();
    let width = own.schema.width;
    let terms =
        Terms { keys: own.schema.clone(), payload: None, receiver_keys: Some(own.schema.clone()), in_buckets: true };
    // Of five items the last two are those of --pad-to.
    let buckets = Buckets::new((100..105).collect(), 3, 2, 4, 1000..).unwrap();
    let of = UnionJob::IN_BUCKETS.unwrap();
    let mut seen = 0;
    for number in 0..2 {
        let bucket = || buckets.bucket(number).unwrap();
        let keys: Vec<usize> = bucket().places().flatten().filter(|place| *place < 3).collect();
        let mut expected: Vec<u8> =
            keys.iter().flat_map(|key| &own.bytes[key * width..(key + 1) * width]).copied().collect();
        expected.resize(4 * width, 0);
        let sent = (of.sender_input)(&terms, bucket(), &table, &[]);
        let asked = (of.receiver_input)(&terms, bucket(), &table);
        assert_eq!((sent.items.len(), sent.dummies, sent.records), (4, 4 - keys.len(), expected.clone()));
        assert_eq!((asked.items.len(), asked.dummies, asked.records), (4, 4 - keys.len(), expected));
        seen += keys.len();
    }
    assert_eq!(seen, 3);
}
