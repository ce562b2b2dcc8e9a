//! What either side can read in the messages of real runs, against what the union and its own set
//! say: the claims of the module's documentation, one by one.

use std::collections::{BTreeSet, HashMap, HashSet};

use vesica_mpc::tasks::{OtChosen, OtPairs, VoleReceiver, VoleSender};
use vesica_party::transport::memory;
use vesica_party::{Fixed, Party, Protocol};
use vesica_testkit::{Transcript, assert_uniform, options, record, two_party, two_party_over};

use super::messages::{
    Digest, Flips, Points, ReceiverNames, ReceiverRecords, Results, SenderNames, SenderRecords, Values,
};
use super::pads::{For, Pads};
use super::peeling::{EMPTY, low};
use super::tests::{RECORD_BYTES, inputs, request};
use super::*;
use vesica_protocols::tasks::{UnionReceiverInput, UnionSenderInput};

/// What there is in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    /// One item, of this name.
    One(u128),
    Many,
}

impl Held {
    /// What a side with this in a bin says of it.
    fn said(self) -> u128 {
        match self {
            Self::Nothing => EMPTY,
            Self::One(name) => name,
            Self::Many => MANY,
        }
    }
}

/// What there is in the bin of a test.
struct Test {
    sender: Held,
    receiver: Held,
    union: Held,
}

/// A run, all that was said in it, and what either side used.
struct Run {
    params: Params,
    hashes: Hashes,
    sent: UnionSenderInput,
    asked: UnionReceiverInput,
    of_sender: (OtChosen, VoleSender),
    of_receiver: (OtPairs, VoleReceiver<Gf128>),
    said: Transcript,
    /// How many tests each round has.
    rounds: Vec<usize>,
    tests: Vec<Test>,
    /// The items that come out: the test that shows each, and its name.
    shown: Vec<(usize, u128)>,
}

impl Run {
    fn new(request: &UnionRequest, sent: UnionSenderInput, asked: UnionReceiverInput) -> Self {
        let params = Pt26::derive(request).unwrap();
        let (ends, recording) = record(memory::pair());
        let (sender, receiver) = two_party_over(
            ends,
            options(),
            |ch, rng| {
                let Sender { params, set_up } = Sender::setup(&params, ch, rng)?;
                let set_up = set_up.unwrap();
                let kept = (Hashes::new(ch, &params, &set_up.salt), set_up.ots.clone(), set_up.vole.clone());
                Sender { params, set_up: Some(set_up) }.run(sent.clone(), ch, rng)?;
                Ok(kept)
            },
            |ch, rng| {
                let Receiver { params, set_up } = Receiver::setup(&params, ch, rng)?;
                let set_up = set_up.unwrap();
                let kept = (set_up.ots.clone(), set_up.vole.clone());
                Receiver { params, set_up: Some(set_up) }.run(asked.clone(), ch, rng)?;
                Ok(kept)
            },
        );
        let (hashes, choices, vole) = sender.result.unwrap();
        let (said, of_receiver) = (recording.transcript(), receiver.result.unwrap());
        let (rounds, tests, shown) = (Vec::new(), Vec::new(), Vec::new());
        let of_sender = (choices, vole);
        let mut run = Self { params, hashes, sent, asked, of_sender, of_receiver, said, rounds, tests, shown };
        run.follow();
        run
    }

    /// Peels the tables of both sides and of the union beside each other.
    fn follow(&mut self) {
        let union: BTreeSet<u128> = self.sent.items.iter().chain(&self.asked.items).copied().collect();
        let union: Vec<u128> = union.into_iter().collect();
        let names = [&self.sent.items, &self.asked.items, &union].map(|items| self.hashes.names(items));
        let mut left = [&self.sent.items, &self.asked.items, &union]
            .map(|items| Left { own: Secret::new(vec![true; items.len()]), room: self.params.most_items() });
        for (number, table) in self.params.tables.iter().enumerate() {
            let mut peelings =
                [0, 1, 2].map(|side| Peeling::new(&self.params, number, &self.hashes, &names[side], &left[side]));
            for _ in 0..table.rounds {
                let (first, tests) = (self.tests.len(), peelings[2].tests());
                self.rounds.push(tests);
                for test in 0..tests {
                    let [sender, receiver, union] = peelings.each_ref().map(|peeling| {
                        let mut name = [0];
                        peeling.say(test..test + 1, &mut name);
                        match peeling.count(test) {
                            0 => Held::Nothing,
                            1 => Held::One(name[0]),
                            _ => Held::Many,
                        }
                    });
                    self.tests.push(Test { sender, receiver, union });
                }
                let found: Vec<u128> = self.tests[first..].iter().map(|test| test.union.said()).collect();
                for (side, (peeling, left)) in peelings.iter_mut().zip(&mut left).enumerate() {
                    for peeled in peeling.peel(&found, left).unwrap().iter().filter(|_| side == 2) {
                        self.shown.push((first + peeled.test as usize, found[peeled.test as usize]));
                    }
                }
            }
        }
        assert_eq!(self.shown.len(), union.len());
    }

    /// All bytes of a stream.
    fn bytes<S: Stream>(&self) -> Vec<u8> {
        self.said.of(S::STEP.protocol, S::STEP.number)
    }

    /// The values of a stream, one for each test.
    fn values<S: Stream>(&self, width: u32) -> Vec<u128> {
        let (bytes, mut at, mut all) = (self.bytes::<S>(), 0, Vec::new());
        for piece in self.rounds.iter().flat_map(|&tests| pieces(tests)) {
            let mut values = vec![Gf128::default(); piece.len()];
            let end = at + packed_len(piece.len(), width);
            unpack(&bytes[at..end], width, &mut values).unwrap();
            all.extend(values.iter().map(|value| value.0));
            at = end;
        }
        assert_eq!(at, bytes.len());
        all
    }

    /// A pad of the OTs or of the VOLE's elements.
    fn pad(&self, side: usize, block: u128, test: usize, what: For, width: u32) -> u128 {
        let mut pad = [0];
        Pads(self.hashes.pads[side]).of(&[block], test, what, &mut pad);
        pad[0] & low(width)
    }

    /// The records of a stream, one for each item that comes out, as blocks of the test open them.
    fn records<S: Stream>(&self, side: usize, block: impl Fn(usize) -> u128) -> Vec<Vec<u8>> {
        let bytes = self.bytes::<S>();
        assert_eq!(bytes.len(), self.shown.len() * RECORD_BYTES);
        let open = |(cell, &(test, _)): (&[u8], &(usize, u128))| {
            let mut cell = cell.to_vec();
            Pads(self.hashes.pads[side]).add(&mut cell, RECORD_BYTES, [(test, block(test))].into_iter());
            cell
        };
        bytes.chunks(RECORD_BYTES).zip(&self.shown).map(open).collect()
    }

    /// Names of a side's items, and their records.
    fn by_name<'a>(&self, items: &[u128], records: &'a [u8]) -> HashMap<u128, &'a [u8]> {
        self.hashes.names(items).iter().copied().zip(records.chunks(RECORD_BYTES)).collect()
    }

    /// What nobody may read where it is not to: what a side may say of any bin.
    fn dictionary(&self) -> HashSet<u128> {
        self.tests.iter().map(|test| test.union.said()).chain([EMPTY, MANY]).collect()
    }

    /// Records as the other side opens them: those of items that it lacks, and noise.
    fn assert_records(&self, opened: &[Vec<u8>], of_other: HashMap<u128, &[u8]>, own: HashMap<u128, &[u8]>) {
        let mut noise = Vec::new();
        for (opened, (_, name)) in opened.iter().zip(&self.shown) {
            match (own.get(name), of_other.get(name)) {
                (None, Some(record)) => assert_eq!(opened, record),
                (Some(_), other) => {
                    // Neither its record, nor the zeros that stand for none; not even a part of them.
                    let known = other.copied().unwrap_or(&[0; RECORD_BYTES]);
                    for (part, known) in opened.chunks(8).zip(known.chunks(8)) {
                        assert!(part != known && part.iter().any(|&byte| byte != 0));
                    }
                    noise.extend_from_slice(opened);
                }
                (None, None) => panic!("an item of nobody came out"),
            }
        }
        if noise.len() >= 1280 {
            assert_uniform(&noise, "records of common items");
        }
    }

    /// Arrows 4, 5 and 7: the receiver reads names where it has nothing, and learns of an item of its
    /// own whether the union has another one in the bin.
    fn assert_receivers_view(&self) {
        let Params { name_bits, value_bits, .. } = self.params;
        let dictionary = self.dictionary();
        let (_, vole) = &self.of_receiver;
        let (names, values) = (self.values::<SenderNames>(name_bits), self.values::<Values>(value_bits));
        for (number, test) in self.tests.iter().enumerate() {
            let a = vole.a[number].0;
            let heard = names[number] ^ self.pad(1, a, number, For::Name, name_bits);
            let is_equal = values[number] == self.pad(1, a, number, For::Value, value_bits);
            match test.receiver {
                Held::Nothing => {
                    assert_eq!((heard, is_equal), (test.union.said(), test.union == Held::Nothing), "test {number}");
                }
                own => {
                    assert!(!dictionary.contains(&heard), "test {number}: a name under a known pad");
                    assert_eq!(is_equal, test.union == own && own != Held::Many, "test {number}");
                }
            }
        }
        let opened = self.records::<SenderRecords>(1, |test| vole.a[test].0);
        let of_sender = self.by_name(&self.sent.items, &self.sent.records);
        self.assert_records(&opened, of_sender, self.by_name(&self.asked.items, &self.asked.records));
    }

    /// Arrows 3, 5 and 6: the sender reads names where it has nothing, and which bins open.
    fn assert_senders_view(&self) {
        let Params { name_bits, point_bits, .. } = self.params;
        let dictionary = self.dictionary();
        let (ots, _) = &self.of_sender;
        let (names, points) = (self.values::<ReceiverNames>(name_bits), self.values::<Points>(point_bits));
        let results = self.values::<Results>(1);
        for (number, test) in self.tests.iter().enumerate() {
            let heard = names[number] ^ self.pad(0, ots.chosen[number], number, For::Name, name_bits);
            match test.sender {
                Held::Nothing => assert_eq!(heard, test.union.said(), "test {number}"),
                _ => assert!(!dictionary.contains(&heard), "test {number}: a name under a known pad"),
            }
            let is_plain = dictionary.iter().any(|known| known & low(point_bits) == points[number]);
            assert!(!is_plain, "test {number}: a point in the clear");
            assert_eq!(results[number] == 1, test.union != Held::Many, "test {number}");
        }
        let opened = self.records::<ReceiverRecords>(0, |test| ots.chosen[test]);
        let of_receiver = self.by_name(&self.asked.items, &self.asked.records);
        self.assert_records(&opened, of_receiver, self.by_name(&self.sent.items, &self.sent.records));
    }

    /// Arrow 3: the receiver's points, of which those of full bins are random: none is known, and no
    /// two are alike.
    fn assert_points(&self) {
        let point_bits = self.params.point_bits;
        let known: HashSet<u128> = self.dictionary().iter().map(|name| name & low(point_bits)).collect();
        let (_, vole) = &self.of_receiver;
        let mut of_full = HashSet::new();
        for ((masked, test), c) in self.values::<Points>(point_bits).iter().zip(&self.tests).zip(&vole.c) {
            let point = masked ^ c.0 & low(point_bits);
            match test.receiver {
                Held::Many => assert!(!known.contains(&point) && of_full.insert(point), "the point of a full bin"),
                own => assert_eq!(point, own.said() & low(point_bits)),
            }
        }
    }

    /// Arrow 2: the choices of the OTs, which the receiver does not know, hide which bins of the
    /// sender are empty.
    fn assert_flips(&self) {
        let (ots, _) = &self.of_sender;
        for ((flip, choice), test) in self.values::<Flips>(1).iter().zip(&ots.choices).zip(&self.tests) {
            assert_eq!(flip ^ u128::from(*choice), u128::from(test.sender == Held::Nothing));
        }
        let of_tests = &ots.choices[..self.tests.len()];
        let (ones, all) = (of_tests.iter().filter(|choice| **choice).count() as f64, of_tests.len() as f64);
        assert!((ones - all / 2.0).abs() <= 3.0 * all.sqrt(), "{ones} of {all} choices");
    }
}

/// Sets of some sizes with nothing, some or all in common, and none on a side.
const SETS: [[std::ops::Range<u64>; 2]; 6] =
    [[0..600, 0..600], [0..600, 1..601], [0..600, 250..850], [0..600, 600..1200], [0..1000, 0..0], [0..0, 0..1000]];

fn run([sent, asked]: [std::ops::Range<u64>; 2]) -> Run {
    let request = request(sent.clone().count(), asked.clone().count());
    let (sent, asked) = inputs(sent, asked);
    Run::new(&request, sent, asked)
}

#[test]
fn either_side_reads_what_the_union_and_its_own_set_say_and_nothing_else() {
    for sets in SETS {
        let run = run(sets);
        run.assert_receivers_view();
        run.assert_senders_view();
        run.assert_points();
        run.assert_flips();
    }
}

/// All that travels looks random, whatever the sets are: but for which bins open, and the digest of
/// names in these.
#[test]
fn all_that_either_side_sends_looks_random() {
    for sets in SETS {
        let run = run(sets);
        for (what, bytes) in [
            ("flips", run.bytes::<Flips>()),
            ("the receiver's names", run.bytes::<ReceiverNames>()),
            ("points", run.bytes::<Points>()),
            ("the sender's names", run.bytes::<SenderNames>()),
            ("values", run.bytes::<Values>()),
            ("the receiver's records", run.bytes::<ReceiverRecords>()),
            ("the sender's records", run.bytes::<SenderRecords>()),
        ] {
            assert_uniform(&bytes, what);
        }
    }
}

/// No two values on the wire are alike, though the same is said of many bins, in both tables and in
/// round after round, and all records are zeros: no pad and no mask is used twice. Of values of
/// different widths the low bits are compared, of records all parts of eight bytes.
#[test]
fn no_two_values_on_the_wire_are_alike() {
    for [sent, asked] in SETS {
        let request = request(sent.clone().count(), asked.clone().count());
        let (mut sent, mut asked) = inputs(sent, asked);
        sent.records.fill(0);
        asked.records.fill(0);
        let run = Run::new(&request, sent, asked);
        let Params { name_bits, point_bits, value_bits, .. } = run.params;
        let width = name_bits.min(point_bits).min(value_bits);
        assert!(width > 50);
        let of_record = |record: &[u8]| -> Vec<u128> {
            let whole = record.as_chunks::<8>().0.iter();
            whole.map(|part| u128::from(u64::from_le_bytes(*part))).collect()
        };
        let records = [run.bytes::<ReceiverRecords>(), run.bytes::<SenderRecords>()].concat();
        let all = [
            run.values::<ReceiverNames>(name_bits),
            run.values::<Points>(point_bits),
            run.values::<SenderNames>(name_bits),
            run.values::<Values>(value_bits),
            records.chunks(RECORD_BYTES).flat_map(of_record).collect(),
        ];
        let mut seen = HashSet::new();
        for value in all.iter().flatten() {
            assert!(seen.insert(value & low(width)), "{value:x} twice");
        }
    }
}

/// Pads of one block differ from test to test, from use to use, from block to block of a record, and
/// between the two keys of a run: no key of the cipher is used twice.
#[test]
fn no_two_pads_of_a_block_are_alike() {
    let (blocks, tests, width) = ([7; 300], 40..340, 80);
    let mut all = HashSet::new();
    for pads in [Pads(1 << 100), Pads(3 << 100)] {
        for what in [For::Name, For::Value] {
            let mut of_tests = [0; 300];
            pads.of(&blocks, tests.start, what, &mut of_tests);
            all.extend(of_tests);
        }
        let mut records = vec![0; tests.len() * width];
        pads.add(&mut records, width, tests.clone().map(|test| (test, blocks[0])));
        all.extend(records.as_chunks::<16>().0.iter().map(|block| u128::from_le_bytes(*block)));
    }
    assert_eq!(all.len(), 2 * tests.len() * (2 + width / 16));
}

/// Names, bins and pads are others under another salt, in another session, and for other sizes; and
/// no two functions of a run are the same.
#[test]
fn names_bins_and_pads_are_fresh_in_each_run() {
    let items: Vec<u128> = (0..400).collect();
    let drawn = |session: u8, salt: u8, n_s: usize, n_r: usize| {
        let params = Pt26::derive(&request(n_s, n_r)).unwrap();
        let (drawn, ()) = two_party(
            |ch, _| {
                ch.bind_session([session; 32]);
                let hashes = Hashes::new(ch, &params, &[salt; 32]);
                let names = hashes.names(&items).to_vec();
                let bins = params.tables.iter().enumerate().flat_map(|(number, table)| {
                    let bins = hashes.bins_of(&params, number).of(&names).to_vec();
                    let part = |part: usize| -> Vec<u32> {
                        let bins = bins.chunks(table.parts);
                        bins.map(|bins| bins[part] % table.bins_per_part as u32).collect()
                    };
                    (0..table.parts).map(part).collect::<Vec<_>>()
                });
                Ok((names.clone(), bins.collect::<Vec<_>>(), hashes.pads))
            },
            |_, _| Ok(()),
        );
        drawn
    };
    let runs = [drawn(1, 1, 300, 500), drawn(1, 2, 300, 500), drawn(2, 1, 300, 500), drawn(1, 1, 500, 300)];
    let mut names: HashSet<&u128> = HashSet::new();
    let (mut bins, mut pads): (HashSet<&Vec<u32>>, HashSet<&u128>) = Default::default();
    for (of_names, of_bins, of_pads) in &runs {
        names.extend(of_names);
        bins.extend(of_bins);
        pads.extend(of_pads);
    }
    assert_eq!((names.len(), bins.len(), pads.len()), (4 * items.len(), 4 * (3 + 8), 4 * 2));
}

/// Runs on the same union, whoever has which of its items: all messages are as long, and those that
/// both sides can compute are the same.
#[test]
fn messages_of_one_union_are_as_long_whoever_has_its_items() {
    let (union, n) = (900u64, 600);
    // Multiples of a number without a divisor in common with 900, so that common items stand anywhere.
    let worlds = [[0, 300], [300, 0], [100, 400], [700, 100]].map(|[sent, asked]| {
        let of = |first: u64| (first..first + n).map(move |i| i * 7 % union);
        let (sent, asked) = inputs(of(sent), of(asked));
        let items: HashSet<&u128> = sent.items.iter().chain(&asked.items).collect();
        assert_eq!(items.len() as u64, union);
        Run::new(&request(n as usize, n as usize), sent, asked)
    });
    let public = |run: &Run| {
        let text = run.said.to_string();
        // A line ends with the hash of a message.
        let lens: Vec<String> = text.lines().map(|line| line.rsplit_once(' ').unwrap().0.to_string()).collect();
        let digests = run.said.of(<Digest as Fixed>::STEP.protocol, <Digest as Fixed>::STEP.number);
        (lens, run.bytes::<Results>(), digests)
    };
    let first = public(&worlds[0]);
    assert!(worlds[1..].iter().all(|run| public(run) == first));
}
