//! Unions whose buckets are run by workers.

use std::collections::BTreeMap;

use super::*;
use crate::cluster::Received;

/// The keys that are new in what counts, each with the value beside it.
fn new_keys(machines: &Threads<'_>) -> BTreeMap<String, Option<i64>> {
    let mut all = BTreeMap::new();
    for ended in machines.commits.iter().flat_map(|commit| &commit.attempts).filter(|ended| ended.counts()) {
        let (attempt, key) = &machines.kept[&(ended.bucket, ended.attempt)];
        let Some(sections) = &attempt.matched else { continue };
        let [section] = &sections[..] else { panic!("one section") };
        let Some(Received::NewKeys { keys, payload }) = &machines.received else { panic!("what new keys are") };
        let width = keys.width + payload.as_ref().map_or(0, |payload| payload.width);
        let records = open_matched(key, 0, section.clone()).expect("what was kept");
        assert_eq!(records.len() % width, 0);
        for record in records.chunks(width).filter(|record| record.iter().any(|&byte| byte != 0)) {
            let (key, value) = record.split_at(keys.width);
            // A bit that says that it is there, and its length.
            assert_eq!(key[0], 1);
            let name = String::from_utf8(key[2..2 + usize::from(key[1])].to_vec()).expect("text");
            let value = value.split_first().map(|(_, value)| i64::from_le_bytes(value.try_into().expect("a number")));
            assert!(all.insert(name, value).is_none(), "a new key comes once");
        }
    }
    all
}

/// A union of tables of these sizes with `common` common keys, in which the sender gives a column, if it gives any. Gives
/// the lengths of what workers left at the receiver's.
#[track_caller]
fn check_union(
    [ours, theirs]: [usize; 2],
    common: usize,
    fates: [&FateOf; 2],
    change: impl Fn(&mut Config),
) -> Vec<usize> {
    let folder = Folder::new();
    let keys = |side, count: usize| (0..count).map(move |number| key(side, number, common));
    let (mut own, mut other) = (threads(keys('r', ours), 3, fates[0]), threads(keys('s', theirs), 2, fates[1]));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, 3);
        (config.task, config.protocol) = (task::find("union").expect("a task"), None);
        change(&mut config);
        config
    });
    let (received, sent) = run_both((&receiver, &mut own), (&sender, &mut other));
    let (received, sent) = (received.expect("a result"), sent.expect("sent"));
    let gives = sender.settings.payload.is_some();
    let expected = (common..theirs).map(|row| (key('s', row, common), gives.then(|| value_of(row))));
    assert_eq!(new_keys(&own), expected.collect(), "{ours} x {theirs}, {common} common");
    let new = (theirs - common) as u64;
    let output = received.output.expect("rows that the machines write");
    assert_eq!((output.new_rows, output.rows, received.matched_keys), (Some(new), ours as u64 + new, None));
    let both_learn = receiver.settings.both_learn;
    let expected = (common..ours).filter(|_| both_learn).map(|row| (key('r', row, common), None));
    assert_eq!(new_keys(&other), expected.collect());
    let new_at_sender = sent.output.map(|output| output.new_rows);
    assert_eq!(new_at_sender, both_learn.then(|| Some((ours - common) as u64)));
    assert_eq!((received.revealed, own.commits), (sent.revealed, other.commits));
    let mut left: Vec<_> = own.kept.iter().collect();
    left.sort_unstable_by_key(|(due, _)| **due);
    left.into_iter().flat_map(|(_, (attempt, _))| attempt.matched.iter().flatten().map(Vec::len)).collect()
}

fn gives_amount(config: &mut Config) {
    if config.role == Role::Sender {
        let columns = vec!["amount".to_owned()];
        config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
    }
}

/// What workers leave is as long whatever is new.
#[test]
fn unions_on_clusters_are_those_of_the_plain_tables() {
    for (sizes, overlaps) in [([1, 1], &[0, 1][..]), ([1, 100], &[1]), ([60, 40], &[0, 39, 40])] {
        let lengths = overlaps.iter().map(|&common| check_union(sizes, common, [WORKS; 2], gives_amount));
        let lengths: HashSet<Vec<usize>> = lengths.collect();
        assert_eq!(lengths.len(), 1, "{lengths:?}");
    }
    check_union([70, 300], 33, [WORKS; 2], |config| config.pad_to = Some(400));
    check_union([1 << 10, 1 << 11], 1 << 9, [WORKS; 2], gives_amount);
}

#[test]
fn both_sides_of_a_union_learn_and_buckets_are_run_again() {
    let loses = |ticket: &Ticket| if ticket.attempt == 0 { Fate::LosesAll } else { Fate::Works };
    for fates in [[WORKS; 2], [&loses as &FateOf, WORKS], [WORKS, &loses]] {
        check_union([50, 60], 20, fates, |config| {
            config.settings.both_learn = true;
            config.pad_to = Some(80);
            gives_amount(config);
        });
    }
}

/// The longest key and the longest payload may be of different machines.
#[test]
fn records_that_are_too_wide_together_are_refused_before_the_partner_is_asked() {
    let folder = Folder::new();
    let keys = || (0..9).map(|number| key('k', number, 9));
    let (mut ours, mut theirs) = (threads(keys(), 2, WORKS), threads(keys(), 2, WORKS));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, 2);
        (config.task, config.protocol) = (task::find("union").expect("a task"), None);
        config.settings.max_item_bytes = Some(12);
        gives_amount(&mut config);
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, sent) = (received.expect_err("refused"), sent.expect_err("refused"));
    assert!(sent.code == code::INPUT && sent.fault.contains("4 bytes and the longest payload 9"), "{sent}");
    assert!(received.fault.contains("wider than its --max-item-bytes"), "{received}");
}
