//! Key specifications and digests.

use std::collections::HashSet;

use proptest::prelude::*;
use vesica_data::key::{DIGEST_VERSION, Digest, KeySpec, SpecError, digest};

use super::{Folder, key, keys_of};

fn of(components: &[&str]) -> Digest {
    let bytes: Vec<&[u8]> = components.iter().map(|c| c.as_bytes()).collect();
    digest(&bytes).unwrap()
}

/// These values are what other builds compute: a change here is a new digest version.
#[test]
fn golden_digests() {
    assert_eq!(DIGEST_VERSION, "vesica-key@2");
    assert_eq!(of(&["42"]), GOLDEN_42);
    assert_eq!(of(&["ann@example.org", "2024-01-31"]), GOLDEN_PAIR);
}

const GOLDEN_42: Digest = [65569831355118216279722406118730614697, 174375999990629165659786910700500236657];
const GOLDEN_PAIR: Digest = [257324028904560965766176656522680012335, 85398830625901719770009425990247395798];

#[test]
fn framing_keeps_components_apart() {
    let keys = [
        of(&["a,b", "c"]),
        of(&["a", "b,c"]),
        of(&["a", "b", "c"]),
        of(&["a,b,c"]),
        of(&["abc"]),
        of(&["ab", "c"]),
        of(&["a", "bc"]),
        of(&["", "abc"]),
        of(&["abc", ""]),
        of(&["a\0\0\0\u{1}", "c"]),
    ];
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn digests_are_equal_exactly_when_keys_are(
        a in proptest::collection::vec("[ab,\u{0}\u{1}]{0,3}", 1..4),
        b in proptest::collection::vec("[ab,\u{0}\u{1}]{0,3}", 1..4),
    ) {
        let parts = |key: &[String]| key.iter().map(|c| c.as_bytes().to_vec()).collect::<Vec<_>>();
        let digest_of = |key: &[Vec<u8>]| digest(&key.iter().map(Vec::as_slice).collect::<Vec<_>>());
        prop_assert_eq!(digest_of(&parts(&a)) == digest_of(&parts(&b)), a == b);
    }
}

#[test]
fn the_order_of_key_columns_is_the_order_they_are_given_in() {
    let folder = Folder::new();
    let one = keys_of(&folder.write("a.csv", "first,last\nann,lee\n"), &key(&["first", "last"])).unwrap();
    let two =
        keys_of(&folder.write("b.csv", "x,nachname,vorname\n1,lee,ann\n"), &key(&["vorname", "nachname"])).unwrap();
    let swapped = keys_of(&folder.path("a.csv"), &key(&["last", "first"])).unwrap();
    assert_eq!(one.digests, two.digests);
    assert_ne!(one.digests, swapped.digests);
}

#[test]
fn values_that_only_look_alike_are_different_keys() {
    let folder = Folder::new();
    let table = keys_of(&folder.write("in.csv", "id\n42\n042\n+42\n42.0\n 42\n\"42\"\nA\na\n"), &key(&["id"])).unwrap();
    assert_eq!(table.row_key, [0, 1, 2, 3, 4, 0, 5, 6]);
}

#[test]
fn specifications() {
    assert_eq!(KeySpec::parse::<&str>(&[], &[]), Err(SpecError::NoColumn));
    assert_eq!(KeySpec::parse(&["a", "a"], &[]), Err(SpecError::Repeated("a".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["b=trim"]), Err(SpecError::NotAKeyColumn("b=trim".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["a"]), Err(SpecError::NotAKeyColumn("a".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["a=up"]), Err(SpecError::UnknownNormaliser("up".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["a=e164:QQ"]), Err(SpecError::UnknownCountry("QQ".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["a=e164"]), Err(SpecError::UnknownCountry(String::new())));
    assert_eq!(KeySpec::parse(&["a"], &["a=e164:DE:bare=maybe"]), Err(SpecError::Bare("bare=maybe".to_owned())));
    assert_eq!(KeySpec::parse(&["a"], &["a=e164:001"]), Err(SpecError::UnknownCountry("001".to_owned())));
    for format in ["%d.%m", "%Y%m%d%d", "%y-%m-%d", "%Y-%m-%"] {
        assert_eq!(
            KeySpec::parse(&["a"], &[&format!("a=date:{format}")[..]]),
            Err(SpecError::DateFormat(format.to_owned()))
        );
    }
    // A column name may hold what separates.
    let spec = KeySpec::parse(&["a", "a=b"], &["a=b=trim, lower", "a=nfc"]).unwrap();
    assert_eq!(spec.agreement(), ["nfc@1", "trim@1,lower@1"]);
    // Local arguments are no part of what both agree on.
    let german = KeySpec::parse(&["tel", "day", "id"], &["tel=e164:DE:bare=national", "day=date:%d.%m.%Y"]).unwrap();
    let american = KeySpec::parse(&["phone", "date", "number"], &["phone=e164:us", "date=date"]).unwrap();
    assert_eq!(german.agreement(), american.agreement());
    assert_eq!(german.agreement(), ["e164@3+rlibphonenumber-2.2.15", "date@2", "as it is"]);
}
