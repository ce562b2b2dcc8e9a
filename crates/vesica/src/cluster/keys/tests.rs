use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use vesica_structures::rng::SecretRng;

use super::part::payload_of_parts;
use super::*;
use crate::cluster::Division;
use crate::key::KeySpec;
use crate::table::{
    Batches, Clamp, Collected, Delivered, Head, Join, KeyStats, PayloadSchema, PayloadSpec, Sink, UnionSpec, keep_batch,
};

/// A row: a key or none, another key, a number.
type RowOf = (Option<u64>, u64, i64);

const FILES: usize = 3;
const SHARES: u32 = 5;
const BUCKETS: u32 = 7;

fn batch(rows: &[RowOf]) -> RecordBatch {
    let text = |key: u64| format!("key {key}");
    let schema = Schema::new(vec![
        Field::new("k", DataType::Utf8, true),
        Field::new("l", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
    ]);
    let keys: StringArray = rows.iter().map(|(key, ..)| key.map(text)).collect();
    let others: StringArray = rows.iter().map(|(_, other, _)| Some(text(*other))).collect();
    let numbers: Int64Array = rows.iter().map(|(.., number)| Some(*number)).collect();
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(keys), Arc::new(others), Arc::new(numbers)]).expect("a batch")
}

/// Files of rows, each of several batches; `same` gives rows of one key one number.
fn files(rng: &mut SecretRng, same: bool) -> Vec<Vec<Vec<RowOf>>> {
    let mut row = || {
        let key = rng.block() as u64 % 60;
        let number = if same { key as i64 * 1_000_003 - 7 } else { rng.block() as i64 >> 40 };
        (Some(key).filter(|key| key % 9 != 0), rng.block() as u64 % 60, number)
    };
    (0..FILES).map(|file| (0..3).map(|_| (0..20 + file).map(|_| row()).collect()).collect()).collect()
}

/// A table that has gone through all steps up to its buckets.
struct Divided {
    beside: Beside,
    division: Division,
    shares: Vec<Share>,
    counts: ShareCounts,
    stats: KeyStats,
    payload: Option<PayloadSchema>,
    keys: Option<KeyRecords>,
    categories: Categories,
    /// By share and bucket.
    sections: Vec<Vec<Vec<u8>>>,
}

fn divided(spec: &KeySpec, beside: &Beside, files: &[Vec<Vec<RowOf>>]) -> Divided {
    divided_by(spec, beside, files, batch)
}

fn divided_by(
    spec: &KeySpec,
    beside: &Beside,
    files: &[Vec<Vec<RowOf>>],
    batch: fn(&[RowOf]) -> RecordBatch,
) -> Divided {
    let mut parts = Vec::new();
    let (mut counts, mut records, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for (number, batches) in (0..).zip(files) {
        let mut part = KeyPart::new(spec.clone(), beside, SHARES);
        for rows in batches {
            let batch = batch(rows);
            let source = Batches::new("rows", batch.schema(), vec![batch]).expect("a table");
            part.add(&source).expect("rows");
            // A task may write what it has so far.
            if rows.len() % 2 == 0 {
                parts.push((number, part.take_sections()));
            }
        }
        parts.push((number, part.take_sections()));
        assert_eq!((part.bytes(), part.rows() as usize), (0, batches.iter().map(Vec::len).sum::<usize>()));
        let (text, of_part) = part.counts().expect("counts");
        counts.push(text);
        records.push(of_part);
        groups.push(part.categories().clone());
    }
    let column = beside.group_by.as_deref().unwrap_or_default();
    let (categories, places) = agree_on_groups(column, &groups).expect("few groups");
    let alternatives = spec.alternatives().count();
    let mut all = ShareCounts::none(alternatives, beside);
    let shares: Vec<Share> = (0..SHARES as usize)
        .map(|share| {
            let sections: Vec<_> = parts.iter().map(|(file, sections)| (*file, sections[share].clone())).collect();
            let merged = merge(beside, alternatives, &places, &sections).expect("a share");
            all.add(&merged.counts);
            merged
        })
        .collect();
    let stats = KeyStats::of_parts(spec, counts.iter().map(String::as_str), &all.distinct).expect("counts");
    let Records { payload, keys } = records_of_parts(&records).expect("records of parts");
    let width = payload.as_ref().map_or(beside.computed_bytes(), |payload| payload.width);
    let widths = (keys.as_ref().map_or(0, |keys| keys.width), width);
    let division = Division::new(0x1234_5678_9abc, BUCKETS, 1000);
    let sections =
        shares.iter().map(|share| divide(&division, beside, widths, &share.keys).expect("buckets")).collect();
    Divided { beside: beside.clone(), division, shares, counts: all, stats, payload, keys, categories, sections }
}

impl Divided {
    fn bucket(&self, bucket: usize, width: usize) -> BucketKeys {
        let sections: Vec<_> = self.sections.iter().map(|of_share| of_share[bucket].clone()).collect();
        BucketKeys::read(&sections, width).expect("keys")
    }
}

fn key(columns: &[&str]) -> KeySpec {
    KeySpec::parse(columns, &[]).expect("a key")
}

/// The rows of the result, from keys that match and a record for each.
fn result(
    table: &Divided,
    files: &[Vec<Vec<RowOf>>],
    (received, join): (Option<&PayloadSchema>, Join),
    matches: impl Fn(&Digest) -> Option<Vec<u8>>,
) -> Vec<(RowOf, Option<i64>)> {
    let width = received.map_or(0, |received| received.width);
    let attempt = [7; 32];
    let matched: Vec<Vec<Vec<u8>>> = (0..BUCKETS as usize)
        .map(|bucket| {
            let keys = table.bucket(bucket, 0);
            let (mut places, mut records) = (Vec::new(), Vec::new());
            for (place, digest) in (0..).zip(keys.digests.iter()) {
                match matches(&digest) {
                    None => records.extend(vec![0; width]),
                    Some(record) => {
                        places.push(place);
                        records.extend(record);
                    }
                }
            }
            // A dummy that the partner sent back.
            places.push(keys.digests.len() as u32);
            records.extend(vec![0xff; width]);
            let mut sections = matched_in_shares(&keys.of_shares, &places, &records, width);
            for (share, section) in (0..).zip(&mut sections) {
                seal_of(&attempt, share).expect("a seal").seal(section).expect("sealed");
            }
            sections
        })
        .collect();
    let found: Vec<Vec<Vec<u8>>> = (0..)
        .zip(&table.shares)
        .map(|(share, keys)| {
            let open = |bucket: u32| open_matched(&attempt, share, matched[bucket as usize][share as usize].clone());
            let terms = (&keys.keys[..], &keys.rows[..]);
            find(&table.division, &table.beside, terms, (width, FILES), open).expect("rows")
        })
        .collect();
    let mut all = Vec::new();
    for (file, batches) in files.iter().enumerate() {
        let sections: Vec<_> = found.iter().map(|of_share| of_share[file].clone()).collect();
        let mut rows = FoundRows::new(join, received.cloned(), &sections).expect("rows");
        for of_batch in batches {
            let batch = batch(of_batch);
            let kept = rows.next(batch.num_rows()).expect("rows");
            let collected = Collected::default();
            let mut sink = collected.rows();
            let shown = received.filter(|_| join != Join::Difference);
            sink.begin(&Head::of("rows", batch.schema(), shown)).expect("columns");
            keep_batch("rows", &batch, 0, &kept, &mut *sink).expect("rows");
            sink.finish().expect("whole");
            let Some(Delivered::Rows { batches, .. }) = collected.take() else { panic!("rows") };
            for batch in batches {
                let (keys, others) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
                let numbers = batch.column(2).as_primitive::<Int64Type>();
                let theirs = batch.columns().get(3).map(|column| column.as_primitive::<Int64Type>().clone());
                let number = |text: &str| text.rsplit(' ').next().and_then(|text| text.parse().ok()).expect("a key");
                for row in 0..batch.num_rows() {
                    let key = keys.iter().nth(row).flatten().map(number);
                    let received = theirs.as_ref().and_then(|theirs| theirs.iter().nth(row).flatten());
                    all.push(((key, number(others.value(row)), numbers.value(row)), received));
                }
            }
        }
    }
    all
}

#[test]
fn rows_of_each_join_are_those_of_a_plain_computation() {
    let mut rng = SecretRng::insecure_from_seed(1);
    let (ours, theirs) = (files(&mut rng, false), files(&mut rng, true));
    let table = divided(&key(&["k"]), &Beside::default(), &ours);
    let sent = Beside { payload: vec!["n".into()], ..Beside::default() };
    let partner = divided(&key(&["k"]), &sent, &theirs);
    let payload = partner.payload.clone().expect("a payload");
    assert_eq!(partner.counts.differing, 0);
    let values: BTreeMap<u64, i64> =
        theirs.iter().flatten().flatten().filter_map(|&(key, _, number)| Some((key?, number))).collect();
    let mut records = BTreeMap::new();
    for bucket in 0..BUCKETS as usize {
        let keys = partner.bucket(bucket, payload.width);
        records.extend(keys.digests.iter().zip(keys.records.chunks_exact(payload.width).map(<[u8]>::to_vec)));
    }
    assert_eq!(records.len(), values.len());
    let rows: Vec<RowOf> = ours.iter().flatten().flatten().copied().collect();
    assert_eq!(table.stats.rows as usize, rows.len());
    let distinct: BTreeSet<_> = rows.iter().filter_map(|row| row.0).collect();
    assert_eq!(table.stats.distinct as usize, distinct.len());
    assert_eq!(table.stats.null_rows as usize, rows.iter().filter(|row| row.0.is_none()).count());
    for join in [Join::Inner, Join::Left, Join::Difference] {
        let of = |row: &RowOf| row.0.and_then(|key| values.get(&key)).copied();
        let expected: Vec<_> = match join {
            Join::Inner => rows.iter().filter(|row| of(row).is_some()).map(|row| (*row, of(row))).collect(),
            Join::Left => rows.iter().map(|row| (*row, of(row))).collect(),
            Join::Difference => rows.iter().filter(|row| of(row).is_none()).map(|row| (*row, None)).collect(),
        };
        let found = result(&table, &ours, (Some(&payload), join), |digest| records.get(digest).cloned());
        assert_eq!(found, expected, "{join:?}");
    }
}

#[test]
fn a_row_matches_by_either_of_two_keys_and_comes_once() {
    let mut rng = SecretRng::insecure_from_seed(2);
    let ours = files(&mut rng, false);
    let spec = KeySpec::parse_alternatives(&["k"], &[vec!["l".into()]], &[]).expect("a key");
    let table = divided(&spec, &Beside::default(), &ours);
    // Every third digest, of whichever key.
    let matches = |[low, _]: &Digest| (low % 3 == 0).then(Vec::new);
    let rows: Vec<RowOf> = ours.iter().flatten().flatten().copied().collect();
    let mut by_key: BTreeMap<(usize, u64), bool> = BTreeMap::new();
    for number in 0..60 {
        let batch = batch(&[(Some(number), number, 0)]);
        let source = Batches::new("rows", batch.schema(), vec![batch]).expect("a table");
        let keys = crate::table::read_keys(&source, &spec, None).expect("keys");
        for (alternative, &key) in keys.row_key.iter().enumerate() {
            let digest = keys.digests.get(key as usize);
            by_key.insert((alternative, number), digest.as_ref().and_then(matches).is_some());
        }
    }
    let is_match = |row: &RowOf| row.0.is_some_and(|key| by_key[&(0, key)]) || by_key[&(1, row.1)];
    let expected: Vec<_> = rows.iter().filter(|row| is_match(row)).map(|row| (*row, None)).collect();
    assert_eq!(result(&table, &ours, (None, Join::Inner), matches), expected);
    assert_eq!(table.counts.distinct.iter().sum::<u64>(), table.stats.distinct);
}

#[test]
fn values_of_a_key_are_added_up_over_all_rows_and_then_clamped() {
    let mut rng = SecretRng::insecure_from_seed(3);
    let ours = files(&mut rng, false);
    let clamp = Some(Clamp { least: -20_000, most: 9_000_000 });
    let beside =
        Beside { values: vec![ValueColumn { name: "n".into(), scale: 0, clamp }], adds_up: true, ..Beside::default() };
    let table = divided(&key(&["k"]), &beside, &ours);
    let mut sums: BTreeMap<u64, i64> = BTreeMap::new();
    for &(key, _, number) in ours.iter().flatten().flatten() {
        *sums.entry(key.unwrap_or(u64::MAX)).or_default() += number;
    }
    sums.remove(&u64::MAX);
    let clamped: BTreeMap<u64, i64> = sums.iter().map(|(&key, &sum)| (key, sum.clamp(-20_000, 9_000_000))).collect();
    let mut found: Vec<i64> = (0..BUCKETS as usize)
        .flat_map(|bucket| table.bucket(bucket, 8).records.as_chunks().0.to_vec())
        .map(i64::from_le_bytes)
        .collect();
    found.sort_unstable();
    let mut expected: Vec<i64> = clamped.values().copied().collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let outside = sums.iter().filter(|(key, sum)| clamped[key] != **sum).count() as u64;
    assert!(outside > 0 && table.counts.clamped == [outside], "{:?}", table.counts);
    assert_eq!(table.counts.totals, [expected.iter().sum::<i64>()]);

    // Rows that must be the same and are not.
    let strict = divided(&key(&["k"]), &Beside { adds_up: false, ..beside }, &files(&mut rng, true));
    assert_eq!(strict.counts.without_value, [0]);
    let differing = |parts: &[Vec<RowOf>]| {
        let beside = Beside { payload: vec!["n".into()], ..Beside::default() };
        divided(&key(&["k"]), &beside, &[parts.to_vec()]).counts.differing
    };
    assert_eq!(differing(&[vec![(Some(1), 0, 5)], vec![(Some(1), 0, 6)], vec![(Some(2), 0, 6)]]), 1);
    assert_eq!(differing(&[vec![(Some(1), 0, 5)], vec![(Some(1), 0, 5)]]), 0);
}

/// The column `l` as groups: null where the number is a multiple of 4.
fn grouped_batch(rows: &[RowOf]) -> RecordBatch {
    let plain = batch(rows);
    let names: StringArray =
        rows.iter().map(|&(_, group, _)| (group % 4 != 0).then(|| format!("group {group}"))).collect();
    let mut columns = plain.columns().to_vec();
    columns[1] = Arc::new(names);
    RecordBatch::try_new(plain.schema(), columns).expect("a batch")
}

/// Groups and values of a table in parts, each of which has other groups, are those of one machine.
#[test]
fn groups_are_agreed_on_over_all_parts() {
    let beside = Beside {
        values: vec![ValueColumn { name: "n".into(), scale: 0, clamp: None }],
        group_by: Some("l".into()),
        ..Beside::default()
    };
    // Keys in one group each; some rows without a key, whose groups do not count.
    let row = |number: u64| (Some(number % 500).filter(|key| key % 9 != 0), number % 500 % 30, (number % 500) as i64);
    let rows: Vec<RowOf> = (0..900).map(row).chain([(None, 77, 5)]).collect();
    let parts: Vec<Vec<Vec<RowOf>>> =
        rows.chunks(301).map(|part| part.chunks(40).map(<[RowOf]>::to_vec).collect()).collect();
    let whole = grouped_batch(&rows);
    let source = Batches::new("rows", whole.schema(), vec![whole]).expect("a table");
    let spec = crate::table::ValueSpec {
        columns: beside.values.clone(),
        group_by: beside.group_by.clone(),
        ..crate::table::ValueSpec::default()
    };
    let alone = crate::table::read_values(&source, &key(&["k"]), &spec).expect("keys");
    let values = alone.values.expect("values");
    let name = |group: u32| values.categories[group as usize].clone();
    let expected: BTreeMap<Digest, (i64, Option<String>)> = alone
        .digests
        .iter()
        .zip(values.values.iter().zip(&values.groups).map(|(&n, &group)| (n, name(group))))
        .collect();

    let table = divided_by(&key(&["k"]), &beside, &parts, grouped_batch);
    assert_eq!(table.categories, values.categories, "in their order, null first");
    assert!(table.categories.len() > 20 && table.categories[0].is_none());
    let mut found = BTreeMap::new();
    for bucket in 0..BUCKETS as usize {
        let keys = table.bucket(bucket, 12);
        for (digest, record) in keys.digests.iter().zip(keys.records.chunks_exact(12)) {
            let (value, group) = record.split_at(8);
            let group = u32::from_le_bytes(group.try_into().expect("4 bytes"));
            let value = i64::from_le_bytes(value.try_into().expect("8 bytes"));
            found.insert(digest, (value, table.categories[group as usize].clone()));
        }
    }
    assert_eq!(found, expected);
    assert_eq!((table.counts.in_several_groups, &table.counts.without_value), (0, &vec![0]));
    // Values alone, where there is one group.
    let narrow = divide(&table.division, &beside, (0, 8), &table.shares[0].keys).expect("buckets");
    assert!(narrow.iter().zip(&table.sections[0]).all(|(narrow, wide)| narrow.len() / 40 == wide.len() / 44));
}

#[test]
fn keys_in_several_groups_and_too_many_groups_are_seen() {
    let beside = Beside { group_by: Some("l".into()), ..Beside::default() };
    let several =
        |parts: &[Vec<Vec<RowOf>>]| divided_by(&key(&["k"]), &beside, parts, grouped_batch).counts.in_several_groups;
    // In two batches, and in two files. Both of the last two are null.
    assert_eq!(several(&[vec![vec![(Some(1), 1, 0)], vec![(Some(1), 2, 0), (Some(2), 2, 0)]]]), 1);
    assert_eq!(several(&[vec![vec![(Some(1), 1, 0)]], vec![vec![(Some(1), 2, 0)]], vec![vec![(Some(2), 2, 0)]]]), 1);
    assert_eq!(several(&[vec![vec![(Some(1), 4, 0)]], vec![vec![(Some(1), 8, 0), (Some(3), 1, 0)]]]), 0);

    let names = |from: usize, to: usize| -> Categories { (from..to).map(|name| Some(format!("{name}"))).collect() };
    let agreed = agree_on_groups("l", &[names(0, 600), names(424, 1024)]);
    assert_eq!(agreed.expect("1024 groups").0.len(), 1024);
    let failure = agree_on_groups("l", &[names(0, 600), names(424, 1025)]).expect_err("one more");
    assert!(failure.fault.contains("column `l` of the DataFrame has more than 1024 different values"), "{failure}");
    // The same in one part, in several batches.
    let mut part = KeyPart::new(key(&["k"]), &beside, SHARES);
    let mut add = |from: u64| {
        let rows: Vec<RowOf> = (from..from + 900).map(|number| (Some(number), 4 * number + 1, 0)).collect();
        let batch = grouped_batch(&rows);
        part.add(&Batches::new("rows", batch.schema(), vec![batch]).expect("a table"))
    };
    add(0).expect("900 groups");
    assert!(add(900).expect_err("1800").fault.contains("more than 1024"));
    // A group's number that no part has.
    let mut part = KeyPart::new(key(&["k"]), &beside, 1);
    let batch = grouped_batch(&[(Some(1), 1, 0)]);
    part.add(&Batches::new("rows", batch.schema(), vec![batch]).expect("a table")).expect("a row");
    let sections = part.take_sections().remove(0);
    for places in [&[][..], &[vec![]]] {
        assert!(merge(&beside, 1, places, &[(0, &sections)]).is_err());
    }
    let cut = &sections[..sections.len() - 1];
    assert!(merge(&beside, 1, &[vec![0]], &[(0, cut)]).is_err());
    assert!(merge(&beside, 1, &[vec![0]], &[(0, &sections)]).is_ok());
}

/// Of a side of a union: each distinct key comes to its bucket once, in whole and with its payload; and what is said of all
/// keys is said of the whole table.
#[test]
fn keys_in_whole_and_their_payloads_come_to_buckets_as_one_table_has_them() {
    let mut rng = SecretRng::insecure_from_seed(8);
    let ours = files(&mut rng, true);
    for payload in [Vec::new(), vec!["n".to_owned()]] {
        let sent = Beside { payload: payload.clone(), most_record_bytes: Some(100), ..Beside::default() };
        let table = divided(&key(&["k"]), &sent, &ours);
        let spec = UnionSpec {
            payload: (!payload.is_empty())
                .then_some(PayloadSpec { columns: payload, duplicates: crate::table::Duplicates::Refuse }),
            most_bytes: 100,
        };
        let all: Vec<RowOf> = ours.concat().concat();
        let one = Batches::new("rows", batch(&all).schema(), vec![batch(&all)]).expect("a table");
        let one = read_union(&one, &key(&["k"]), &spec);
        let (keys, union) = (table.keys.as_ref().expect("keys"), one.union.as_ref().expect("keys"));
        let whole = union.records.as_ref().expect("records");
        assert_eq!(keys.width, whole.schema.width);
        assert_eq!(keys.reads_as, [union.kinds[0].reads_as.clone()]);
        let width = one.payload.as_ref().map_or(0, |payload| payload.schema.width);
        assert_eq!(table.payload.as_ref().map_or(0, |payload| payload.width), width);
        let record = |place: usize| {
            let payload = one.payload.as_ref().map_or(&[][..], |payload| &payload.bytes[place * width..][..width]);
            [&whole.bytes[place * keys.width..][..keys.width], payload].concat()
        };
        let expected: BTreeMap<Digest, Vec<u8>> =
            (0..).map(record).zip(one.digests.iter()).map(|(r, d)| (d, r)).collect();
        let mut found = BTreeMap::new();
        for bucket in 0..BUCKETS as usize {
            let keys_of = table.bucket(bucket, keys.width + width);
            let records = keys_of.records.chunks(keys.width + width);
            found.extend(keys_of.digests.iter().zip(records.map(<[u8]>::to_vec)));
        }
        assert_eq!(found, expected);
        assert_eq!((table.counts.differing, table.stats), (0, one.stats));
    }
    // Rows of a key that differ in payload.
    let sent = Beside { payload: vec!["n".into()], most_record_bytes: Some(100), ..Beside::default() };
    let differ = [vec![vec![(Some(1), 1, 5)]], vec![vec![(Some(1), 1, 6)]]];
    assert_eq!(divided(&key(&["k"]), &sent, &differ).counts.differing, 1);
}

fn read_union(table: &Batches, spec: &KeySpec, union: &UnionSpec) -> crate::table::KeyTable {
    crate::table::read_union_within(table, spec, Some(union), &|| None).expect("a table")
}

#[test]
fn parts_with_keys_in_whole_and_parts_without_do_not_go_together() {
    let int = crate::table::PayloadKind::Int { bits: 64 };
    let of = |width, reads_as: &[crate::table::PayloadKind]| Records {
        payload: None,
        keys: Some(KeyRecords { width, reads_as: vec![reads_as.to_vec()] }),
    };
    let both = records_of_parts(&[of(3, std::slice::from_ref(&int)), of(7, &[])]);
    assert_eq!(both, Some(of(7, &[])));
    assert_eq!(records_of_parts(&[of(3, std::slice::from_ref(&int))]), Some(of(3, &[int])));
    assert_eq!(records_of_parts(&[of(3, &[]), Records::default()]), None);
    assert_eq!(records_of_parts(&[]), Some(Records::default()));
}

#[test]
fn sections_are_as_long_whatever_matched_and_changed_ones_are_refused() {
    let lengths = |matches: &[u32]| -> Vec<usize> {
        matched_in_shares(&[3, 0, 9], matches, &[1; 5 * 14], 5).iter().map(Vec::len).collect()
    };
    assert_eq!(lengths(&[]), lengths(&(0..12).collect::<Vec<_>>()));
    assert_eq!(lengths(&[]), [1 + 15, 0, 2 + 45]);
    let mut section = vec![3, 1, 4];
    seal_of(&[1; 32], 2).expect("a seal").seal(&mut section).expect("sealed");
    assert_eq!(open_matched(&[1; 32], 2, section.clone()), Ok(vec![3, 1, 4]));
    assert!(open_matched(&[2; 32], 2, section.clone()).is_err() && open_matched(&[1; 32], 3, section.clone()).is_err());
    section[0] ^= 1;
    assert!(open_matched(&[1; 32], 2, section).is_err());
}

#[test]
fn files_that_were_cut_off_are_refused() {
    let mut rng = SecretRng::insecure_from_seed(4);
    let sent = Beside { payload: vec!["n".into()], ..Beside::default() };
    let ours = files(&mut rng, true);
    let table = divided(&key(&["k"]), &sent, &ours);
    let share = &table.shares[0];
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
    assert!(divide(&table.division, &sent, (0, 100), &cut(&share.keys)).is_err());
    assert!(divide(&table.division, &sent, (0, 1), &share.keys).is_err(), "records are longer");
    let none = |_| Ok(Vec::new());
    let terms = (&share.keys[..], &share.rows[..]);
    assert!(find(&table.division, &sent, terms, (0, FILES), none).is_err(), "matches of other keys");
    assert!(merge(&sent, 1, &[], &[(0, vec![1; 50])]).is_err());
    assert!(BucketKeys::read(&[vec![1; 33]], 0).is_err());
    assert!(FoundRows::new(Join::Inner, None, &[vec![1; 5]]).is_err());
}

#[test]
fn parts_agree_on_a_payload_though_one_has_no_values() {
    use crate::table::{PayloadField, PayloadKind};
    let of = |kind: PayloadKind, width| PayloadSchema { fields: vec![PayloadField { name: "n".into(), kind }], width };
    let (none, text, number) = (PayloadKind::Null, PayloadKind::Text, PayloadKind::Int { bits: 64 });
    let all = [of(none.clone(), 1), of(text.clone(), 9), of(none.clone(), 1)];
    assert_eq!(payload_of_parts(&all), Some(of(text.clone(), 9)));
    assert_eq!(payload_of_parts(&[of(none.clone(), 1)]), Some(of(none, 1)));
    assert_eq!(payload_of_parts(&[of(text, 9), of(number, 9)]), None);
    assert_eq!(payload_of_parts(&[]), None);
}
