//! What is special to peeling.

use std::collections::{HashMap, HashSet};

use vesica_party::transport::memory;
use vesica_party::{Party, Protocol, Security, Step};
use vesica_structures::facts::LAMBDA;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Recording, conformance, options, record, try_two_party, two_party, two_party_over};

use super::messages::{ReceiverRecords, SenderRecords};
use super::params::{FEW, TABLE_BITS, Table};
use super::peeling::{Hashes, Left, Peeled, Peeling};
use super::*;
use vesica_protocols::tasks::{UnionReceiverInput, UnionSenderInput};

/// Not a whole number of blocks.
pub(super) const RECORD_BYTES: usize = 40;

pub(super) fn request(sender_items: usize, receiver_items: usize) -> UnionRequest {
    let security = Security::SemiHonest;
    UnionRequest { sender_items, receiver_items, security, record_bytes: RECORD_BYTES, both_learn: true, runs: 1 }
}

/// Items, each with a record of its number and the side's mark.
fn side(items: impl Iterator<Item = u64>, mark: u8) -> (Vec<u128>, Vec<u8>) {
    let items: Vec<u64> = items.collect();
    let record = |item: &u64| {
        let mut record = [mark; RECORD_BYTES];
        record[..8].copy_from_slice(&item.to_le_bytes());
        record
    };
    (items.iter().map(|&item| u128::from(item)).collect(), items.iter().flat_map(record).collect())
}

pub(super) fn inputs(
    sent: impl Iterator<Item = u64>,
    asked: impl Iterator<Item = u64>,
) -> (UnionSenderInput, UnionReceiverInput) {
    let ((sent, of_sender), (asked, of_receiver)) = (side(sent, 1), side(asked, 2));
    let sent = UnionSenderInput { items: sent, records: of_sender, dummies: 0 };
    (sent, UnionReceiverInput { items: asked, records: of_receiver, dummies: 0 })
}

/// The numbers of records that all have this mark, ascending.
fn numbers(records: Vec<u8>, mark: u8) -> Vec<u64> {
    let number = |record: &[u8]| {
        assert!(record[8..].iter().all(|&byte| byte == mark), "a record of the other side");
        u64::from_le_bytes(record[..8].try_into().unwrap())
    };
    let mut numbers: Vec<u64> = records.chunks(RECORD_BYTES).map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn each_side_gets_the_records_that_it_lacks_from_the_other() {
    for (sent, asked) in [
        (0..50, 30..100),
        (0..50, 0..50),
        (0..5, 50..60),
        (0..0, 3..9),
        (3..9, 0..0),
        (0..2000, 1500..1501),
        (7..8, 7..8),
    ] {
        let request = request(sent.clone().count(), asked.clone().count());
        let (sender, receiver) = inputs(sent.clone(), asked.clone());
        let run = conformance::<Pt26>(&request, sender, receiver);
        let at_receiver: Vec<u64> = sent.clone().filter(|item| !asked.contains(item)).collect();
        let at_sender: Vec<u64> = asked.clone().filter(|item| !sent.contains(item)).collect();
        assert_eq!(numbers(run.receiver.records.open(), 1), at_receiver);
        assert_eq!(numbers(run.sender.records.unwrap().open(), 2), at_sender);
    }
}

#[test]
fn a_receiver_without_its_records_is_refused() {
    let params = Pt26::derive(&request(5, 5)).unwrap();
    let (sent, asked) = inputs(0..5, 3..8);
    let asked = UnionReceiverInput { records: Vec::new(), ..asked };
    let (_, receiver) = try_two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.run(sent, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(asked, ch, rng),
    );
    assert!(matches!(receiver.result, Err(vesica_party::Abort::Unsupported(_))));
}

/// Pairs of items that have the same bins in the first table, which therefore never shows them.
fn twins(params: &Params, hashes: &Hashes, pairs: usize) -> Vec<[u64; 2]> {
    let (mut bins_of, parts) = (hashes.bins_of(params, 0), params.tables[0].parts);
    let (mut seen, mut twins) = (HashMap::new(), Vec::new());
    for first in (0..1 << 18).step_by(256) {
        let numbers: Vec<u64> = (first..first + 256).collect();
        let names = hashes.names(&numbers.iter().map(|&number| number.into()).collect::<Vec<u128>>());
        for (number, bins) in numbers.into_iter().zip(bins_of.of(&names).chunks(parts)) {
            if let Some(twin) = seen.remove(bins) {
                twins.push([twin, number]);
            } else {
                seen.insert(bins.to_vec(), number);
            }
        }
    }
    twins.truncate(pairs);
    assert_eq!(twins.len(), pairs);
    twins
}

/// Nearly as many items as the last table takes never come out of the first one: of the sender, of
/// the receiver, of both, in pairs of all kinds. They come out of the last one, after all others.
#[test]
fn items_that_the_first_table_leaves_come_out_of_the_last() {
    const N: usize = 300;
    let params = Pt26::derive(&request(N, N)).unwrap();
    // Both sides draw the same salt in every run of this test.
    let sets = |hashes: &Hashes| {
        let twins = twins(&params, hashes, 60);
        // Bit 0 is the sender's, bit 1 the receiver's.
        let kinds = (0..).map(|pair| [1 + pair % 3, 1 + pair / 3 % 3]);
        let twins: Vec<(u64, u32)> = twins.iter().flatten().copied().zip(kinds.flatten()).collect();
        let side = |bit: u32, others: u64| {
            let own: Vec<u64> = twins.iter().filter(|(_, kind)| kind >> bit & 1 == 1).map(|&(item, _)| item).collect();
            let rest = N - own.len();
            let items: Vec<u64> = own.into_iter().chain((others..).take(rest)).collect();
            items
        };
        // Of the other items some are common as well.
        let (sent, asked) = (side(0, 1 << 20), side(1, (1 << 20) + 100));
        let union: Vec<u64> = sent.iter().chain(&asked).copied().collect::<HashSet<u64>>().into_iter().collect();
        let names = hashes.names(&union.iter().map(|&item| item.into()).collect::<Vec<u128>>());
        let mut left = Left { own: Secret::new(vec![true; union.len()]), room: union.len() };
        let mut peeling = Peeling::new(&params, 0, hashes, &names, &left);
        while !peel_own(&mut peeling, &mut left).is_empty() {}
        let left: HashSet<u64> =
            union.iter().zip(left.own.iter()).filter(|(_, left)| **left).map(|(item, _)| *item).collect();
        assert!(left.len() <= FEW && twins.iter().all(|(item, _)| left.contains(item)));
        (sent, asked, left)
    };
    let (sender, receiver) = two_party(
        |ch, rng| {
            let Sender { params, set_up } = Sender::setup(&params, ch, rng)?;
            let set_up = set_up.unwrap();
            let sets = sets(&Hashes::new(ch, &params, &set_up.salt));
            let (sent, _) = inputs(sets.0.iter().copied(), std::iter::empty());
            Ok((Sender { params, set_up: Some(set_up) }.run(sent, ch, rng)?, sets))
        },
        |ch, rng| {
            let Receiver { params, set_up } = Receiver::setup(&params, ch, rng)?;
            let set_up = set_up.unwrap();
            let (_, asked, _) = sets(&Hashes::new(ch, &params, &set_up.salt));
            let (_, asked) = inputs(std::iter::empty(), asked.iter().copied());
            Receiver { params, set_up: Some(set_up) }.run(asked, ch, rng)
        },
    );
    let (sender, (sent, asked, left)) = sender;
    for (records, mark, own, others) in
        [(sender.records.unwrap().open(), 2, &sent, &asked), (receiver.records.open(), 1, &asked, &sent)]
    {
        let own: HashSet<u64> = own.iter().copied().collect();
        let mut new: Vec<u64> = others.iter().copied().filter(|item| !own.contains(item)).collect();
        new.sort_unstable();
        let last = new.iter().filter(|item| left.contains(item)).count();
        assert!(last >= FEW / 4);
        let (first, last) = records.split_at(records.len() - last * RECORD_BYTES);
        assert!(numbers(first.to_vec(), mark).iter().all(|item| !left.contains(item)));
        assert!(numbers(last.to_vec(), mark).iter().all(|item| left.contains(item)));
        assert_eq!(numbers(records, mark), new);
    }
}

/// A partner that puts more items into its table than it declared is noticed as soon as more come
/// out than both sides declared, and gets no record of that round.
#[test]
fn who_shows_more_items_than_it_declared_gets_no_records() {
    let (n, shown) = (40, 500);
    let honest = request(n, n);
    let params = Pt26::derive(&honest).unwrap();
    let own = || inputs(0..n as u64, 0..n as u64);
    let too_many = || inputs(1000..1000 + shown as u64, 1000..1000 + shown as u64);
    // What a cheat goes by, once it has the functions of the declared sizes.
    let cheat = |params: &Params| {
        let request = UnionRequest { sender_items: shown, receiver_items: shown, ..honest };
        Params { request, ..params.clone() }
    };
    let is_refused = |result: Option<Abort>, by: &Recording, records: Step| {
        let refused = matches!(result, Some(Abort::PeerMisbehaved(_, fault)) if fault == TOO_MANY);
        assert!(refused && by.transcript().of(records.protocol, records.number).is_empty());
    };

    let (ends, recording) = record(memory::pair());
    let (sender, _) = two_party_over(
        ends,
        options(),
        |ch, rng| Sender::setup(&params, ch, rng)?.run(own().0, ch, rng),
        |ch, rng| {
            let Receiver { params, set_up } = Receiver::setup(&params, ch, rng)?;
            let UnionReceiverInput { items, records, .. } = too_many().1;
            let (hashes, mut run) = set_up.unwrap().start(&params, records, ch);
            rounds(&cheat(&params), &hashes, &items, ch, |peeling, first, left, ch| {
                run.round(peeling, first, left, ch, rng)
            })
        },
    );
    is_refused(sender.result.err(), &recording, SenderRecords::STEP);

    let (ends, recording) = record(memory::pair());
    let (_, receiver) = two_party_over(
        ends,
        options(),
        |ch, rng| {
            let Sender { params, set_up } = Sender::setup(&params, ch, rng)?;
            let UnionSenderInput { items, records, .. } = too_many().0;
            let (hashes, mut run) = set_up.unwrap().start(&params, records, ch);
            rounds(&cheat(&params), &hashes, &items, ch, |peeling, first, left, ch| {
                run.round(peeling, first, left, ch, rng)
            })
        },
        |ch, rng| Receiver::setup(&params, ch, rng)?.run(own().1, ch, rng),
    );
    is_refused(receiver.result.err(), &recording, ReceiverRecords::STEP);
}

/// What both sides see: for each round its bins, and then for each bin the round that opened it.
type Opened = Vec<(Vec<u32>, Vec<u8>)>;

/// [`rounds`] with a list of what both sides see.
fn noted(
    params: &Params,
    hashes: &Hashes,
    items: &[u128],
    ch: &mut Channel,
    mut round: impl FnMut(&mut Peeling<'_>, usize, &mut Left, &mut Channel) -> Result<(), Abort>,
) -> Result<Opened, Abort> {
    let mut opened = Opened::new();
    rounds(params, hashes, items, ch, |peeling, first, left, ch| {
        let list = peeling.list().to_vec();
        round(peeling, first, left, ch)?;
        opened.push((list, peeling.opened()));
        Ok(())
    })?;
    Ok(opened)
}

/// Peels a table that is the union's own: what came out.
fn peel_own(peeling: &mut Peeling<'_>, left: &mut Left) -> Vec<Peeled> {
    let mut found = vec![0; peeling.tests()];
    peeling.say(0..peeling.tests(), &mut found);
    peeling.peel(&found, left).unwrap()
}

/// The same by the definition, on the table of the union.
fn of_union(params: &Params, hashes: &Hashes, union: &[u128], ch: &mut Channel) -> Result<Opened, Abort> {
    noted(params, hashes, union, ch, |peeling, _, left, _| {
        peel_own(peeling, left);
        Ok(())
    })
}

/// Whose the items are does not show: bins, rounds and results are those of the union's own table,
/// whether all items are common, or some, or none.
#[test]
fn all_that_is_opened_follows_from_the_union() {
    let n = 600;
    let params = Pt26::derive(&request(n as usize, n as usize)).unwrap();
    for shift in [0, 1, 250, n] {
        let (sent, asked) = inputs(0..n, shift..shift + n);
        let union: HashSet<u128> = sent.items.iter().chain(&asked.items).copied().collect();
        // In a random order.
        let union: Vec<u128> = union.into_iter().collect();
        let (at_sender, at_receiver) = two_party(
            |ch, rng| {
                let Sender { params, set_up } = Sender::setup(&params, ch, rng)?;
                let (hashes, mut run) = set_up.unwrap().start(&params, sent.records, ch);
                let opened = noted(&params, &hashes, &sent.items, ch, |peeling, first, left, ch| {
                    run.round(peeling, first, left, ch, rng)
                })?;
                Ok((opened, of_union(&params, &hashes, &union, ch)?))
            },
            |ch, rng| {
                let Receiver { params, set_up } = Receiver::setup(&params, ch, rng)?;
                let (hashes, mut run) = set_up.unwrap().start(&params, asked.records, ch);
                noted(&params, &hashes, &asked.items, ch, |peeling, first, left, ch| {
                    run.round(peeling, first, left, ch, rng)
                })
            },
        );
        let (at_sender, expected) = at_sender;
        assert_eq!(expected.len(), params.rounds());
        assert!(at_sender == expected && at_receiver == expected, "{shift}");
    }
}

/// `log2(n!)`, by Stirling's series.
fn log2_factorial(n: f64) -> f64 {
    let ln = if n < 20.0 {
        (1..=n as u64).map(|factor| (factor as f64).ln()).sum()
    } else {
        n * n.ln() - n + (std::f64::consts::TAU * n).ln() / 2.0 + 1.0 / (12.0 * n)
    };
    ln / std::f64::consts::LN_2
}

/// A bound on `log2` of the expected value of `y` to the number of bins with one item, summed over
/// the sets of `size` of the `items`, by any `x > 0`: the generating function of a part's counts is
/// `(e^x - x + y x)^bins`, of which `size! / bins^size` times the coefficient of `x^size` is wanted.
fn log2_moment(table: &Table, items: usize, size: usize, y: f64) -> f64 {
    let (n, s, bins) = (items as f64, size as f64, table.bins_per_part as f64);
    // The derivative has one zero.
    let mean = |x: f64| bins * x * (x.exp_m1() + y) / (x.exp() - (1.0 - y) * x);
    let (mut below, mut above) = (1e-9f64, 50.0f64);
    for _ in 0..60 {
        let middle = (below * above).sqrt();
        if mean(middle) > s { above = middle } else { below = middle }
    }
    let x = above;
    let part = log2_factorial(s) - s * bins.log2() + bins * (x.exp() - (1.0 - y) * x).log2() - s * x.log2();
    let sets = log2_factorial(n) - log2_factorial(s) - log2_factorial(n - s);
    sets + table.parts as f64 * part
}

/// Some set of more than [`FEW`] items has no bin with one of them with probability `2^-TABLE_BITS` at
/// most: the expected number of such sets, at each size up to some thousands of items, and beyond that
/// at sizes of which each is at most one hundredth more than the one before.
#[test]
fn the_first_table_leaves_few_items_that_never_come_out() {
    for items in (FEW + 1..1200).step_by(7).chain([1500, 1 << 11, 5000, 1 << 14, 1 << 17, 1 << 21, 1 << 25]) {
        let table = Table::of_all(items);
        let (mut sum, mut size) = (0.0, FEW + 1);
        while size <= items {
            let step = if size < 4096 { 1 } else { size / 100 };
            sum += step as f64 * log2_moment(&table, items, size, 0.0).exp2();
            size += step;
        }
        assert!(sum <= f64::exp2(-f64::from(TABLE_BITS)), "{items}: 2^{}", sum.log2());
    }
}

/// A set of `size` items of the last table, out of [`FEW`], has more than this many bins with one item,
/// but for a probability of `2^-(TABLE_BITS + 7)` for all such sets.
fn fewest_alone(size: usize) -> Option<usize> {
    let is_rare = |alone: usize| {
        let log2_y = (0..60).map(|step| -f64::from(step) / 4.0);
        let bounds = log2_y.map(|log2_y| log2_moment(&Table::OF_FEW, FEW, size, log2_y.exp2()) - alone as f64 * log2_y);
        bounds.fold(f64::INFINITY, f64::min) <= -f64::from(TABLE_BITS + 7)
    };
    (0..Table::OF_FEW.parts * size).take_while(|&alone| is_rare(alone)).last()
}

/// Whatever [`FEW`] items are left, the last table shows them all within its rounds: a bin has one
/// item, an item is alone in at most all parts, and the bound is for all sets of at least two items.
#[test]
fn the_last_table_shows_all_of_a_few_items() {
    let Table { parts, rounds, .. } = Table::OF_FEW;
    let mut needed = vec![0, 1];
    for size in 2..=FEW {
        let alone = fewest_alone(size).expect("no set is stuck");
        let left = size - (alone + 1).div_ceil(parts);
        let most = needed[..=left].iter().max().unwrap() + 1;
        needed.push(most);
    }
    let most = *needed.iter().max().unwrap();
    assert!(most < rounds, "{most} rounds, and one that shows that nothing is left");
}

/// Rounds that tables of random items take, and their tests.
fn peeled(items: usize, seed: u64) -> (usize, usize, usize) {
    let mut rng = SecretRng::insecure_from_seed(seed);
    let params = Pt26::derive(&request(items, 0)).unwrap();
    let (result, _) = two_party(
        |ch, _| {
            let hashes = Hashes::new(ch, &params, &[7; 32]);
            let items: Vec<u128> = (0..items).map(|_| rng.block()).collect();
            let names = hashes.names(&items);
            let mut left = Left { own: Secret::new(vec![true; items.len()]), room: items.len() };
            let mut peeling = Peeling::new(&params, 0, &hashes, &names, &left);
            let (mut rounds, mut tests) = (0, 0);
            loop {
                tests += peeling.tests();
                if peel_own(&mut peeling, &mut left).is_empty() {
                    return Ok((rounds, tests, left.own.iter().filter(|&&left| left).count()));
                }
                rounds += 1;
            }
        },
        |_, _| Ok(()),
    );
    result
}

/// Experiments, for what no bound is known: the first table is done with two rounds to spare.
#[test]
fn the_first_table_is_done_in_time() {
    for (items, seeds) in [(FEW + 1, 40), (500, 40), (3000, 20), (1 << 14, 8), (1 << 17, 1)] {
        let (table, params) = (Table::of_all(items), Pt26::derive(&request(items, 0)).unwrap());
        for seed in 0..seeds {
            let (rounds, tests, left) = peeled(items, seed);
            assert!(rounds + 2 <= table.rounds && left <= 4, "{items}: {rounds} rounds, {left} left");
            assert!(tests <= params.tests - Table::OF_FEW.bins(), "{items}: {tests} tests");
        }
    }
}

/// The same at the largest sizes, with what it takes.
#[test]
#[ignore = "a minute; evidence for docs/parameters/union.md"]
fn rounds_of_large_tables() {
    for (items, seeds) in [(150, 5000), (1000, 3000), (1 << 14, 150), (1 << 18, 8), (1 << 21, 1)] {
        let mut seen = std::collections::BTreeMap::new();
        let (mut most_tests, mut most_left) = (0, 0);
        for seed in 0..seeds {
            let (rounds, tests, left) = peeled(items, seed);
            *seen.entry(rounds).or_insert(0) += 1;
            (most_tests, most_left) = (most_tests.max(tests), most_left.max(left));
        }
        println!(
            "{items} items: rounds {seen:?}, {:.3} tests an item, {most_left} left",
            most_tests as f64 / items as f64
        );
    }
}

/// All events of a run are within the budget of 2^-40.
#[test]
fn all_failures_are_within_the_budget() {
    let power = |bits: u32| f64::exp2(-f64::from(bits));
    for (n_s, n_r) in [(1, 0), (1, 1), (60, 69), (1 << 10, 7), (1 << 14, 1 << 14), (1 << 20, 1 << 20), (1 << 23, 5)] {
        let params = Pt26::derive(&request(n_s, n_r)).unwrap();
        let (items, tests) = ((n_s + n_r) as f64, params.tests as f64);
        let names = (items + 2.0) * (items + 1.0) / 2.0 * power(params.name_bits);
        // Points are equal, or one of either side's is zero where it stands for items.
        let chance = tests * (2.0 * power(params.point_bits) + power(params.value_bits));
        // What a table leaves, and how many tests it takes, for each table.
        let tables = 4.0 * power(TABLE_BITS);
        assert!(names + chance + tables <= power(LAMBDA), "{n_s} x {n_r}");
    }
}

#[test]
fn a_million_items_send_what_the_issue_allows() {
    let request = UnionRequest { record_bytes: 16, ..request(1 << 20, 1 << 20) };
    let params = Pt26::derive(&request).unwrap();
    let bytes = params.predicted_bytes();
    assert!(*bytes.end() <= 470_000_000, "{bytes:?}");
}

/// What a run of two million items takes, in one process.
#[test]
#[ignore = "gigabytes; prints a time"]
fn a_union_of_a_million() {
    let n = 1u64 << 20;
    let request = UnionRequest { record_bytes: 16, ..request(n as usize, n as usize) };
    let params = Pt26::derive(&request).unwrap();
    let side = |items: std::ops::Range<u64>| {
        let items: Vec<u128> = items.map(u128::from).collect();
        let records: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        (items, records)
    };
    for shift in [n / 2, n] {
        let ((items, records), (asked, of_receiver)) = (side(0..n), side(shift..n + shift));
        let (mut at_sender, mut at_receiver) = ([0.0; 2], [0.0; 2]);
        let start = std::time::Instant::now();
        let (sender, receiver) = vesica_testkit::try_two_party(
            |ch, rng| {
                let sender = Sender::setup(&params, ch, rng)?;
                at_sender[0] = start.elapsed().as_secs_f64();
                let output = sender.run(UnionSenderInput { items, records, dummies: 0 }, ch, rng)?;
                at_sender[1] = start.elapsed().as_secs_f64();
                Ok(output)
            },
            |ch, rng| {
                let receiver = Receiver::setup(&params, ch, rng)?;
                at_receiver[0] = start.elapsed().as_secs_f64();
                let output =
                    receiver.run(UnionReceiverInput { items: asked, records: of_receiver, dummies: 0 }, ch, rng)?;
                at_receiver[1] = start.elapsed().as_secs_f64();
                Ok(output)
            },
        );
        let bytes = sender.tally.total().sent_payload + receiver.tally.total().sent_payload;
        assert_eq!(receiver.result.unwrap().records.open().len() as u64, 16 * shift);
        assert_eq!(sender.result.unwrap().records.unwrap().open().len() as u64, 16 * shift);
        println!("{shift} new: {bytes} bytes, set up and done after {at_sender:.2?} s and {at_receiver:.2?} s");
    }
}

/// The number of rounds is the same whatever is common.
#[test]
fn rounds_do_not_depend_on_the_sets() {
    let rounds = |n: u64, shift: u64| {
        let (sent, asked) = inputs(0..n, shift..shift + n);
        conformance::<Pt26>(&request(n as usize, n as usize), sent, asked).rounds
    };
    for n in [40, 400, 6000] {
        let all: Vec<usize> = [0, 1, n / 2, n].map(|shift| rounds(n, shift)).to_vec();
        println!("{n}: {all:?} rounds");
        assert!(all.iter().all(|rounds| rounds == &all[0]), "{n}: {all:?}");
    }
}
