//! Joins whose buckets are run by workers, here threads of the test: over real sockets, with TLS between workers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use arrow_schema::{DataType, Field, Schema};

use super::*;
use crate::cluster::keys::{KeyRecords, Records, Widths, open_matched};
use crate::cluster::{
    self, Attempt, Beside, Commit, Counts, Division, Inside, Machines, Outcome, Received, Stop, Ticket, Work,
};
use crate::failure::code;
use crate::key::Digest;
use crate::receipt::Receipt;
use crate::session::run_on_cluster;
use crate::table::{
    Batches, Duplicates, Format, KeyStats, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, read_values,
};

mod unions;

/// What happens to a worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It does its work.
    Works,
    /// It is lost before it has begun.
    NeverComes,
    /// It is lost when the partner's worker has come.
    HangsUp,
    /// It is lost when its work is done, and nothing was kept.
    LosesAll,
    /// It does its work, and so does a copy of it.
    Twice,
    /// It is lost when the partner's worker has come, and one in its place begins with its first ticket.
    Restarts,
    /// It comes so late that the partner's would have given up, did it not hear that it is to wait.
    IsLate,
}

/// A cluster whose workers are threads.
struct Threads<'a> {
    digests: Vec<Digest>,
    /// The key of each in whole.
    names: HashMap<Digest, String>,
    /// The value of each digest's key.
    values: HashMap<Digest, i64>,
    /// The group of each, and all groups.
    groups: HashMap<Digest, u32>,
    categories: Vec<Option<String>>,
    stats: KeyStats,
    slots: u32,
    fate: &'a (dyn Fn(&Ticket) -> Fate + Sync),
    buckets: Vec<Vec<Digest>>,
    /// What the attempts gave whose result is totals, of those buckets that count or do not.
    totals: Mutex<Vec<(u32, Vec<u64>)>>,
    kept: HashMap<(u32, u32), (Attempt, [u8; 32])>,
    commits: Vec<Commit>,
    /// What the partner gives.
    received: Option<Received>,
}

fn lost() -> Outcome {
    Outcome::Failed(Failure::new(code::LINK, "the worker was lost", "nothing"))
}

impl Threads<'_> {
    fn run(&self, ticket: &Ticket) -> Result<Attempt, Failure> {
        let (of_whole_key, width) = ticket.work.widths(ticket.role);
        let of_key = |digest: &Digest| {
            let [low, high] = digest.map(u128::to_le_bytes);
            // A payload is the value as well, behind the bits that say it is there.
            let value = self.values[digest].to_le_bytes();
            let mut record = if of_whole_key > 0 { key_record(&self.names[digest]) } else { Vec::new() };
            record.resize(of_whole_key, 0);
            record.extend(if width == 9 { [&[1][..], &value].concat() } else { value.repeat(width / 8) });
            if width % 8 == 4 {
                record.extend(self.groups[digest].to_le_bytes());
            }
            [&low[..], &high, &record].concat()
        };
        // Two shares.
        let (first, rest) = self.buckets[ticket.bucket as usize].split_at(self.first_share(ticket.bucket));
        let sections = [first, rest].map(|share| share.iter().flat_map(of_key).collect::<Vec<u8>>());
        let left = ticket.left_by().map(|attempt| {
            let (left, _) = &self.kept[&(ticket.bucket, attempt)];
            left.state.clone().expect("what the pass before has left")
        });
        let attempt = cluster::run(ticket, &sections, left)?;
        if let (Some(bytes), Work::Totals { .. }) = (&attempt.learned, &ticket.work) {
            let Some(cluster::Learned::Totals(totals)) = ticket.learned(bytes) else { panic!("totals") };
            self.totals.lock().expect("a lock").push((ticket.bucket, totals));
        }
        Ok(attempt)
    }

    /// How many keys of a bucket are in the first of two shares.
    fn first_share(&self, bucket: u32) -> usize {
        self.buckets[bucket as usize].len() / 3
    }

    /// A worker that comes, and is lost as soon as the partner's has come.
    fn hang_up(&self, ticket: &Ticket) {
        let mut socket = TcpStream::connect(&ticket.rendezvous).expect("the rendezvous");
        socket.write_all(b"vesica\0w").expect("sent");
        socket.write_all(&ticket.pass).expect("sent");
        let mut said = *b".";
        while said == *b"." {
            socket.read_exact(&mut said).expect("the partner's worker has come");
        }
    }

    fn work(&self, ticket: &Ticket) -> Option<Result<Attempt, Failure>> {
        match (self.fate)(ticket) {
            Fate::Works | Fate::Restarts => Some(self.run(ticket)),
            Fate::NeverComes => None,
            Fate::IsLate => {
                thread::sleep(Duration::from_secs(17));
                Some(self.run(ticket))
            }
            Fate::HangsUp => {
                self.hang_up(ticket);
                None
            }
            Fate::LosesAll => self.run(ticket).err().map(Err),
            // Spark takes what comes first.
            Fate::Twice => thread::scope(|scope| {
                let (say, said) = mpsc::channel();
                for say in [say.clone(), say] {
                    scope.spawn(move || say.send(self.run(ticket)).expect("heard"));
                }
                let [first, second] = [said.recv().expect("said"), said.recv().expect("said")];
                assert!(second.is_err(), "one ticket is good for one run");
                Some(first)
            }),
        }
    }

    /// All tickets of a worker, one after the other.
    fn work_in_turn(&self, tickets: &[&Ticket]) -> Vec<Option<Result<Attempt, Failure>>> {
        let mut given = Vec::new();
        for (place, ticket) in tickets.iter().enumerate() {
            match (self.fate)(ticket) {
                Fate::NeverComes => break,
                Fate::Restarts => {
                    self.hang_up(ticket);
                    given.clear();
                    for spent in &tickets[..=place] {
                        assert!(self.run(spent).is_err(), "a ticket is good for one run");
                        given.push(None);
                    }
                }
                _ => given.push(self.work(ticket)),
            }
        }
        given.resize_with(tickets.len(), || None);
        given
    }

    /// The digests of keys that matched, of what counts, and what the partner gave for them.
    fn matched(&self) -> HashMap<Digest, Vec<u8>> {
        let mut all = HashMap::new();
        let mut seen = HashSet::new();
        let of_commit =
            |commit: &'_ Commit| commit.attempts.iter().map(|ended| (commit.pass, ended.clone())).collect::<Vec<_>>();
        for (pass, ended) in self.commits.iter().flat_map(of_commit).filter(|(_, ended)| ended.counts()) {
            assert!(seen.insert((pass, ended.bucket)), "a bucket counts once in a pass");
            let (attempt, key) = &self.kept[&(ended.bucket, ended.attempt)];
            assert_eq!(Some(to_hex(&attempt.transcript)), ended.sender);
            let width = self.received.as_ref().map_or(0, |received| received.widths().1);
            let (first, rest) = self.buckets[ended.bucket as usize].split_at(self.first_share(ended.bucket));
            for ((share, keys), section) in (0..).zip([first, rest]).zip(attempt.matched.iter().flatten()) {
                let section = open_matched(key, share, section.clone()).expect("what was kept");
                let (bits, records) = section.split_at(keys.len().div_ceil(8));
                assert_eq!(records.len(), keys.len() * width);
                for (place, digest) in keys.iter().enumerate() {
                    let record = records[place * width..(place + 1) * width].to_vec();
                    match bits[place / 8] >> (place % 8) & 1 {
                        1 => assert!(all.insert(*digest, record).is_none()),
                        _ => assert!(record.iter().all(|&byte| byte == 0), "nothing came for it"),
                    }
                }
            }
        }
        assert_eq!(seen.len() % self.buckets.len(), 0, "all buckets count");
        all
    }
}

impl Machines for Threads<'_> {
    fn keys(&mut self, beside: &Beside, _: &Stop<'_>) -> Result<Counts, Failure> {
        let columns = beside.values.len();
        let field = |name: &String| PayloadField { name: name.clone(), kind: PayloadKind::Int { bits: 64 } };
        let payload = (!beside.payload.is_empty())
            .then(|| PayloadSchema { fields: beside.payload.iter().map(field).collect(), width: 9 });
        let longest = self.names.values().map(|name| key_record(name).len()).max().unwrap_or_default();
        let keys = beside.most_record_bytes.map(|_| KeyRecords { width: longest, reads_as: vec![Vec::new()] });
        let total = self.values.values().sum();
        let categories = if beside.group_by.is_some() { self.categories.clone() } else { Vec::new() };
        let (clamped, totals) = (vec![3; columns], vec![total; columns]);
        Ok(Counts { stats: self.stats.clone(), clamped, totals, records: Records { payload, keys }, categories })
    }

    fn divide(
        &mut self,
        division: &Division,
        _: Widths,
        received: Option<&Received>,
        _: &Stop<'_>,
    ) -> Result<Vec<usize>, Failure> {
        self.received = received.cloned();
        self.buckets = vec![Vec::new(); division.buckets as usize];
        let numbers = division.buckets_of(self.digests.iter().copied().collect());
        for (&digest, number) in self.digests.iter().zip(numbers) {
            self.buckets[usize::from(number)].push(digest);
        }
        Ok(self.buckets.iter().map(Vec::len).collect())
    }

    fn slots(&mut self) -> Result<u32, Failure> {
        Ok(self.slots)
    }

    fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure> {
        let of_workers: Vec<Vec<_>> = thread::scope(|scope| {
            let this = &*self;
            let of_worker = |number| {
                let of_worker: Vec<_> = tickets.iter().skip(number).step_by(workers).collect();
                scope.spawn(move || this.work_in_turn(&of_worker))
            };
            let running: Vec<_> = (0..workers).map(of_worker).collect();
            running.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        let mut of_workers: Vec<_> = of_workers.into_iter().map(Vec::into_iter).collect();
        let all = (0..tickets.len()).map(|place| of_workers[place % workers].next().expect("one for each ticket"));
        let all: Vec<_> = all.collect();
        if let Some(reason) = stop() {
            return Err(reason);
        }
        let outcome = |(ticket, ran): (&Ticket, Option<Result<Attempt, Failure>>)| match ran {
            None => lost(),
            Some(Err(failure)) => Outcome::Failed(failure),
            Some(Ok(attempt)) => {
                let transcript = attempt.transcript;
                let learned = attempt.learned.as_deref().and_then(|bytes| ticket.learned(bytes));
                self.kept.insert((ticket.bucket, ticket.attempt), (attempt, ticket.seal_key()));
                Outcome::Kept { transcript, learned }
            }
        };
        Ok(tickets.iter().zip(all).map(outcome).collect())
    }

    fn committed(&mut self, commit: &Commit, _: &Stop<'_>) -> Result<(), Failure> {
        assert!(commit.sender_signature.is_some() && commit.receiver_signature.is_some());
        self.commits.push(commit.clone());
        Ok(())
    }
}

/// A key of one column as a union's record: a bit that says that it is there, its length and itself.
fn key_record(name: &str) -> Vec<u8> {
    [&[1, name.len() as u8], name.as_bytes()].concat()
}

/// The value in this row.
fn value_of(row: usize) -> i64 {
    row as i64 * 1001 - 5000
}

/// The group in this row: one of three.
fn region_of(row: usize) -> Option<String> {
    (!row.is_multiple_of(3)).then(|| format!("r{}", row % 3))
}

type FateOf = dyn Fn(&Ticket) -> Fate + Sync;

fn threads<'a>(keys: impl IntoIterator<Item = String>, slots: u32, fate: &'a FateOf) -> Threads<'a> {
    let keys: Vec<String> = keys.into_iter().collect();
    let row =
        |(row, key): (usize, &String)| format!("{key},{},{}\n", value_of(row), region_of(row).unwrap_or_default());
    let rows = keys.iter().enumerate().map(row);
    let text: String = std::iter::once("id,amount,region\n".to_owned()).chain(rows).collect();
    let table = crate::fuzzing::input(text.as_bytes(), Format::Csv).expect("a table");
    let spec = ValueSpec { group_by: Some("region".into()), ..columns(&["amount"], &[], &[]) };
    let table = read_values(&table, &KeySpec::parse(&["id"], &[]).expect("a key"), &spec).expect("keys");
    let values = table.values.expect("values");
    Threads {
        digests: table.digests.iter().collect(),
        // Each is in a row of its own.
        names: table.digests.iter().zip(keys).collect(),
        values: table.digests.iter().zip(values.values).collect(),
        groups: table.digests.iter().zip(values.groups).collect(),
        categories: values.categories,
        totals: Mutex::default(),
        stats: table.stats,
        slots,
        fate,
        buckets: Vec::new(),
        kept: HashMap::new(),
        commits: Vec::new(),
        received: None,
    }
}

fn config(folder: &Folder, role: Role, buckets: u32) -> Config {
    let fields = ["id", "amount", "region"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec();
    let schema = Arc::new(Schema::new(fields));
    let columns = Batches::new("the table", schema, Vec::new()).expect("a table without rows");
    let mut config = folder.config(role, "intersect");
    config.source.table = Arc::new(columns);
    config.protocol = Some("ecdh-hfh99".into());
    config.max_peer_items = 1 << 20;
    config.buckets = buckets;
    config.destination = None;
    config
}

fn inside() -> Inside {
    Inside { bind: "127.0.0.1:0".into(), host: None }
}

type Ran = Result<Report, Failure>;

/// Runs both sides; the receiver listens.
fn run_both(receiver: (&Config, &mut dyn Machines), sender: (&Config, &mut (dyn Machines + Send))) -> (Ran, Ran) {
    let (say, address) = mpsc::channel();
    let events = Listening(Mutex::new(Address(say)));
    let (config, machines) = sender;
    let mut config = config.clone();
    thread::scope(|scope| {
        let sent = scope.spawn(move || match address.recv() {
            Ok(address) => {
                config.end = End::Connect(address.to_string());
                run_on_cluster(&config, &inside(), machines, &Interrupt::default(), &Silent)
            }
            Err(_) => Err(Failure::new(0, "nobody listens", "")),
        });
        let received = run_on_cluster(receiver.0, &inside(), receiver.1, &Interrupt::default(), &events);
        drop(events);
        (received, sent.join().expect("no panic"))
    })
}

fn key(side: char, number: usize, common: usize) -> String {
    if number < common { format!("k{number}") } else { format!("{side}{number}") }
}

/// A join of tables of these sizes with `common` common keys, and what is to be right about it.
#[track_caller]
fn check(
    sizes: [usize; 2],
    common: usize,
    buckets: u32,
    slots: [u32; 2],
    fates: [&FateOf; 2],
    change: impl Fn(&mut Config),
) -> (Report, Report) {
    let folder = Folder::new();
    let keys = |side, count: usize| (0..count).map(move |number| key(side, number, common));
    let mut ours = threads(keys('r', sizes[0]), slots[0], fates[0]);
    let mut theirs = threads(keys('s', sizes[1]), slots[1], fates[1]);
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, buckets);
        change(&mut config);
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, sent) = (received.expect("a result"), sent.expect("sent"));
    let expected: HashSet<Digest> = ours.digests.iter().filter(|own| theirs.digests.contains(own)).copied().collect();
    assert_eq!(expected.len(), common);
    let matched = ours.matched();
    assert_eq!(matched.keys().copied().collect::<HashSet<_>>(), expected);
    for (digest, record) in &matched {
        let value = theirs.values[digest].to_le_bytes();
        assert_eq!(*record, if ours.received.is_some() { [&[1][..], &value].concat() } else { Vec::new() });
    }
    assert_eq!(received.matched_keys, Some(common as u64));
    let both_learn = receiver.settings.both_learn;
    let of_sender: HashSet<Digest> = theirs.matched().into_keys().collect();
    assert_eq!(of_sender, if both_learn { expected } else { HashSet::new() });
    assert_eq!(sent.matched_keys, both_learn.then_some(common as u64));
    assert_eq!(ours.commits, theirs.commits);
    assert_eq!((received.buckets, received.session.as_str()), (buckets, sent.session.as_str()));
    assert_eq!(received.revealed, sent.revealed);
    // What is on the way when a wave ends may count on one side alone.
    for (sent, received) in [(received.bytes_sent, sent.bytes_received), (sent.bytes_sent, received.bytes_received)] {
        assert!(sent > 1000 && sent.abs_diff(received) < 300 * u64::from(buckets), "{sent} and {received}");
    }
    (received, sent)
}

const WORKS: &FateOf = &|_| Fate::Works;

#[test]
fn clusters_of_any_size_give_the_plain_join() {
    for (sizes, overlaps) in
        [([1, 1], &[0, 1][..]), ([2, 1], &[0, 1]), ([1, 100], &[1]), ([120, 120], &[0, 1, 119, 120])]
    {
        for &common in overlaps {
            for (buckets, slots) in [(2, [1, 1]), (3, [2, 5]), (7, [3, 2])] {
                check(sizes, common, buckets, slots, [WORKS; 2], |_| {});
            }
        }
    }
}

#[test]
fn recommended_protocols_pads_and_senders_that_learn() {
    for protocol in ["vole-fast", "vole-lean"] {
        check([70, 300], 33, 3, [2, 2], [WORKS; 2], |config| config.protocol = Some(protocol.into()));
    }
    let (received, _) = check([70, 300], 33, 3, [2, 2], [WORKS; 2], |config| {
        (config.protocol, config.post_quantum) = (None, true);
    });
    assert_eq!(received.protocol.split_once(':').map(|(_, choice)| choice), Some("base-ot=ml-kem"));
    let (received, sent) = check([70, 300], 33, 3, [2, 2], [WORKS; 2], |config| {
        config.settings.both_learn = true;
        config.pad_to = Some(400);
    });
    assert_eq!([received.own_items, sent.own_items], [400; 2]);
}

/// Against a malicious partner, with workers that are lost in each of the passes.
#[test]
fn passes_go_through_all_buckets_whatever_becomes_of_workers() {
    // At each bucket's first attempt at a pass: the attempts before it have counted.
    let loses_first = |ticket: &Ticket| {
        let earlier = if ticket.left_by().is_some() { ticket.left_by().unwrap_or(0) + 1 } else { 0 };
        if ticket.bucket.is_multiple_of(2) && ticket.attempt == earlier { Fate::LosesAll } else { Fate::Works }
    };
    for both_learn in [false, true] {
        for fates in [[WORKS; 2], [&loses_first as &FateOf, WORKS], [WORKS, &loses_first]] {
            let (received, sent) = check([90, 200], 33, 3, [2, 2], fates, |config| {
                config.security = Security::Malicious;
                config.protocol = Some("vole-fast".into());
                config.settings.both_learn = both_learn;
                if config.role == Role::Sender {
                    let columns = vec!["amount".to_owned()];
                    config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
                }
            });
            assert_eq!([received.security, sent.security], [Security::Malicious; 2]);
        }
    }
}

/// What a pass has left is of one attempt, one key and the very same input.
#[test]
fn state_of_another_attempt_or_a_changed_one_ends_the_run() {
    type Meddle = fn(&mut Threads<'_>);
    struct Meddles<'a>(Threads<'a>, Meddle);
    impl Machines for Meddles<'_> {
        fn keys(&mut self, beside: &Beside, stop: &Stop<'_>) -> Result<Counts, Failure> {
            self.0.keys(beside, stop)
        }
        fn divide(
            &mut self,
            division: &Division,
            widths: Widths,
            received: Option<&Received>,
            stop: &Stop<'_>,
        ) -> Result<Vec<usize>, Failure> {
            self.0.divide(division, widths, received, stop)
        }
        fn slots(&mut self) -> Result<u32, Failure> {
            self.0.slots()
        }
        fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure> {
            if tickets.iter().any(|ticket| ticket.left_by().is_some()) {
                self.1(&mut self.0);
            }
            self.0.wave(tickets, workers, stop)
        }
        fn committed(&mut self, commit: &Commit, stop: &Stop<'_>) -> Result<(), Failure> {
            self.0.committed(commit, stop)
        }
    }
    let cases: [(Meddle, &str); 3] = [
        (
            |machines| machines.kept.get_mut(&(0, 0)).expect("kept").0.state.as_mut().expect("state")[40] ^= 1,
            "other bytes",
        ),
        (
            |machines| {
                let other = machines.kept[&(1, 0)].0.state.clone();
                machines.kept.get_mut(&(0, 0)).expect("kept").0.state = other;
            },
            "other bytes",
        ),
        (|machines| machines.values.values_mut().for_each(|value| *value += 1), "of other keys or payloads"),
    ];
    for (meddle, said) in cases {
        let folder = Folder::new();
        let keys = || (0..40).map(|number| key('k', number, 40));
        let mut ours = threads(keys(), 2, WORKS);
        let mut theirs = Meddles(threads(keys(), 2, WORKS), meddle);
        let [receiver, mut sender] = [Role::Receiver, Role::Sender].map(|role| Config {
            security: Security::Malicious,
            protocol: Some("vole-fast".into()),
            ..config(&folder, role, 2)
        });
        let columns = vec!["amount".to_owned()];
        sender.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
        let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
        let failure = sent.expect_err("refused");
        assert!(failure.fault.contains(said), "{failure}");
        assert!(received.is_err());
    }
}

/// The partner's columns come with each match, whatever becomes of workers.
#[test]
fn payload_comes_with_matches() {
    let loses = |ticket: &Ticket| if ticket.attempt == 0 { Fate::LosesAll } else { Fate::Works };
    for (protocol, both_learn) in [("vole-fast", false), ("ecdh-hfh99", true)] {
        for fates in [[WORKS; 2], [&loses as &FateOf, WORKS], [WORKS, &loses]] {
            check([90, 200], 33, 3, [2, 2], fates, |config| {
                config.protocol = Some(protocol.into());
                config.settings.both_learn = both_learn;
                let columns = vec!["amount".to_owned()];
                if config.role == Role::Sender {
                    config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
                } else {
                    config.settings.expected_payload = Some(columns);
                }
            });
        }
    }
}

#[test]
fn many_keys() {
    check([1 << 14, 1 << 14], (1 << 14) - 1, 16, [4, 4], [WORKS; 2], |config| config.protocol = None);
}

/// Whatever becomes of a worker, its bucket is run again, and counts once.
#[test]
fn a_bucket_whose_worker_is_lost_is_run_again() {
    for fate in [Fate::NeverComes, Fate::HangsUp, Fate::LosesAll] {
        let at_first =
            move |ticket: &Ticket| if ticket.bucket % 2 == 1 && ticket.attempt == 0 { fate } else { Fate::Works };
        check([50, 60], 20, 5, [2, 2], [&at_first, WORKS], |_| {});
        check([50, 60], 20, 5, [2, 2], [WORKS, &at_first], |_| {});
    }
    check([50, 60], 20, 2, [2, 2], [&|_| Fate::Twice; 2], |_| {});
}

/// Both receipts say that workers ran, and how often: four buckets, and one of them again.
#[test]
fn a_receipt_says_how_many_attempts_there_were() {
    let folder = Folder::new();
    let first = |ticket: &Ticket| if (ticket.bucket, ticket.attempt) == (1, 0) { Fate::LosesAll } else { Fate::Works };
    let keys = || (0..20).map(|number| key('k', number, 20));
    let (mut ours, mut theirs) = (threads(keys(), 2, &first), threads(keys(), 2, WORKS));
    let [receiver, sender] = [Role::Receiver, Role::Sender]
        .map(|role| Config { receipt: Some(folder.path(&format!("{role}.json"))), ..config(&folder, role, 4) });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    assert!(received.is_ok() && sent.is_ok());
    for role in [Role::Receiver, Role::Sender] {
        let receipt = crate::receipt::Receipt::load(&folder.path(&format!("{role}.json"))).expect("a receipt");
        assert_eq!(receipt.verify(), (true, true));
        assert_eq!((receipt.statement.buckets, receipt.statement.attempts), (4, Some(5)));
    }
}

/// Buckets that failed run at the end, one a worker, and the others in as few waves as without them.
#[test]
fn a_bucket_that_failed_does_not_hold_up_the_others() {
    let folder = Folder::new();
    let first = |ticket: &Ticket| match (ticket.bucket, ticket.attempt) {
        (3 | 4 | 20, 0) => Fate::LosesAll,
        _ => Fate::Works,
    };
    let keys = || (0..20).map(|number| key('k', number, 20));
    let (mut ours, mut theirs) = (threads(keys(), 2, &first), threads(keys(), 3, WORKS));
    let [mut receiver, sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 40));
    receiver.receipt = Some(folder.path("receipt.json"));
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    assert_eq!((received.expect("a result").matched_keys, sent.expect("sent").matched_keys), (Some(20), None));
    let receipt = Receipt::load(&folder.path("receipt.json")).expect("a receipt");
    let committed = Commit::check_all(theirs.commits.clone(), &receipt).expect("signed by both");
    assert_eq!((committed.waves, committed.attempts), (4, 43), "what failed does not spoil the signatures");
    let counted: Vec<_> =
        ours.commits.iter().map(|commit| commit.attempts.iter().filter(|ended| ended.counts()).count()).collect();
    // Of waves of 32, 8, and then 2 and 1.
    assert_eq!(counted, [29, 8, 2, 1]);
}

/// A worker that takes the place of a lost one goes through its tickets again: spent ones end, and it meets the partner's
/// worker at the ticket behind the one that failed.
#[test]
fn a_worker_that_begins_again_meets_the_partners_where_that_is() {
    let restarts =
        |ticket: &Ticket| if (ticket.bucket, ticket.attempt) == (2, 0) { Fate::Restarts } else { Fate::Works };
    for fates in [[&restarts as &FateOf, WORKS], [WORKS, &restarts]] {
        let began = Instant::now();
        check([50, 60], 20, 5, [1, 1], fates, |_| {});
        assert!(began.elapsed() < Duration::from_secs(60), "nobody waited for a worker in vain");
    }
}

/// Whoever waits hears so, whether its rendezvous listens or dials.
#[test]
fn a_worker_waits_for_one_that_is_late() {
    static RERUNS: AtomicU32 = AtomicU32::new(0);
    fn works(ticket: &Ticket) -> Fate {
        RERUNS.fetch_add(ticket.attempt, Ordering::Relaxed);
        Fate::Works
    }
    let is_late = |ticket: &Ticket| if ticket.bucket == 1 { Fate::IsLate } else { works(ticket) };
    thread::scope(|scope| {
        for fates in [[&is_late as &FateOf, &works], [&works, &is_late]] {
            scope.spawn(move || check([50, 60], 20, 2, [2, 2], fates, |_| {}));
        }
    });
    assert_eq!(RERUNS.load(Ordering::Relaxed), 0, "nobody gave up");
}

/// One bucket fails for ever: both sides say so, and which one.
#[test]
fn a_bucket_that_always_fails_ends_the_run_on_both_sides() {
    let folder = Folder::new();
    static SEEN: AtomicU32 = AtomicU32::new(0);
    let always = |ticket: &Ticket| {
        if ticket.bucket != 1 {
            return Fate::Works;
        }
        SEEN.fetch_max(ticket.attempt + 1, Ordering::Relaxed);
        Fate::HangsUp
    };
    let keys = || (0..20).map(|number| key('k', number, 20));
    let (mut ours, mut theirs) = (threads(keys(), 2, &always), threads(keys(), 2, WORKS));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 3));
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    for failure in [received.expect_err("no result"), sent.expect_err("no result")] {
        assert!(failure.fault.contains("bucket 1 failed 4 times") || failure.code == code::PEER_FAILED, "{failure}");
    }
    assert_eq!(SEEN.load(Ordering::Relaxed), cluster::MOST_ATTEMPTS);
}

/// Reruns count as questions.
#[test]
fn reruns_beyond_what_the_partner_may_ask_are_refused() {
    let folder = Folder::new();
    let first = |ticket: &Ticket| if ticket.attempt == 0 { Fate::HangsUp } else { Fate::Works };
    let keys = || (0..20).map(|number| key('k', number, 20));
    let (mut ours, mut theirs) = (threads(keys(), 2, &first), threads(keys(), 2, WORKS));
    let [receiver, mut sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 3));
    // 20 keys in 3 buckets are 60 items with dummies; one rerun is 20 more.
    sender.max_peer_items = 79;
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let failure = sent.expect_err("refused");
    assert_eq!(failure.code, code::REFUSED, "{failure}");
    assert!(failure.fault.contains("the receiver would have asked about 80 items"), "{failure}");
    assert!(received.expect_err("no result").fault.contains("asked about 80 items"));
}

/// The partner's end shows at once, though no worker waits for anything.
#[test]
fn a_partner_that_ends_ends_the_run() {
    struct Slow<'a>(Threads<'a>, Option<Interrupt>);
    impl Machines for Slow<'_> {
        fn keys(&mut self, beside: &Beside, stop: &Stop<'_>) -> Result<Counts, Failure> {
            self.0.keys(beside, stop)
        }
        fn divide(
            &mut self,
            division: &Division,
            widths: Widths,
            received: Option<&Received>,
            stop: &Stop<'_>,
        ) -> Result<Vec<usize>, Failure> {
            self.0.divide(division, widths, received, stop)
        }
        fn slots(&mut self) -> Result<u32, Failure> {
            Ok(1)
        }
        fn wave(&mut self, _: &[Ticket], _: usize, stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure> {
            if let Some(interrupt) = &self.1 {
                interrupt.raise(Failure::new(code::INTERRUPTED, "interrupted by SIGINT", "start again"));
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(60) {
                if let Some(reason) = stop() {
                    return Err(reason);
                }
                thread::sleep(Duration::from_millis(10));
            }
            panic!("nobody said that the partner is gone")
        }
        fn committed(&mut self, _: &Commit, _: &Stop<'_>) -> Result<(), Failure> {
            Ok(())
        }
    }
    let folder = Folder::new();
    let [receiver, mut sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 3));
    let keys = || (0..20).map(|number| key('k', number, 20));
    let (say, address) = mpsc::channel();
    let events = Listening(Mutex::new(Address(say)));
    thread::scope(|scope| {
        let received = scope.spawn(move || {
            let mut machines = Slow(threads(keys(), 1, WORKS), None);
            run_on_cluster(&receiver, &inside(), &mut machines, &Interrupt::default(), &events)
        });
        sender.end = End::Connect(address.recv().expect("it listens").to_string());
        let interrupt = Interrupt::default();
        let mut machines = Slow(threads(keys(), 1, WORKS), Some(interrupt.clone()));
        let sent = run_on_cluster(&sender, &inside(), &mut machines, &interrupt, &Silent);
        assert_eq!(sent.expect_err("interrupted").code, code::INTERRUPTED);
        let failure = received.join().expect("no panic").expect_err("the partner is gone");
        assert_eq!(failure.code, code::PEER_FAILED, "{failure}");
        assert!(failure.fault.contains("interrupted"), "{failure}");
    });
}

/// A cardinality or a sum. The sender's value of a common key is [`value_of`] its number.
#[track_caller]
fn check_total(
    task: &str,
    sizes: [usize; 2],
    common: usize,
    buckets: u32,
    fates: [&FateOf; 2],
) -> Vec<(u32, Vec<u64>)> {
    let folder = Folder::new();
    let is_of_union = task.starts_with("union");
    let keys = |side, count: usize| (0..count).map(move |number| key(side, number, common));
    let (mut ours, mut theirs) = (threads(keys('r', sizes[0]), 3, fates[0]), threads(keys('s', sizes[1]), 2, fates[1]));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, buckets);
        (config.task, config.protocol) = (task::find(task).expect("a task"), None);
        if task == "union-sum" {
            config.settings.values = columns(&["amount", "id"], &["amount=1"], &[]);
        }
        match role {
            Role::Receiver => config.destination = folder.config(role, task).destination,
            Role::Sender if task.ends_with("sum") => {
                config.settings.values = columns(&["amount", "id"], &["amount=1"], &[])
            }
            Role::Sender => {}
        }
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, sent) = (received.expect("a result"), sent.expect("sent"));
    // Of the sender's keys that are common, or of those that are not and all of the receiver's.
    let sum: i64 = if is_of_union { (common..sizes[1]).map(value_of).sum() } else { (0..common).map(value_of).sum() };
    let own: i64 = (0..sizes[0]).map(value_of).sum();
    let decimal = |sum| crate::table::decimal::show(sum, 1);
    let expected = match task {
        "cardinality" => format!("cardinality\n{common}\n"),
        "union-cardinality" => format!("union-cardinality\n{}\n", sizes[0] + sizes[1] - common),
        "union-sum" => format!("amount,id\n{},{}\n", decimal(sum + own), sum + own),
        _ => format!("amount,id\n{},{sum}\n", decimal(sum)),
    };
    assert_eq!(folder.read("result.csv"), expected, "{sizes:?} {common} in {buckets}");
    assert_eq!((received.buckets, received.matched_keys, sent.matched_keys), (buckets, None, None));
    assert_eq!((received.revealed, ours.commits), (sent.revealed, theirs.commits));
    assert!(sent.values.iter().filter_map(|value| value.clamped).all(|clamped| clamped == 3));
    assert!(theirs.totals.into_inner().expect("a lock").is_empty(), "the sender learns nothing");
    ours.totals.into_inner().expect("a lock")
}

#[test]
fn totals_on_clusters_of_any_size_are_those_of_the_plain_tables() {
    for task in ["cardinality", "sum", "union-cardinality", "union-sum"] {
        for (sizes, overlaps) in [([1, 1], &[0, 1][..]), ([1, 100], &[1]), ([120, 90], &[0, 89, 90])] {
            for &common in overlaps {
                check_total(task, sizes, common, 3, [WORKS; 2]);
            }
        }
        check_total(task, [1 << 13, 1 << 12], 1 << 11, 5, [WORKS; 2]);
    }
}

/// A task by group, or products of both sides' amounts.
#[track_caller]
fn check_by_group(
    task: &str,
    by_region: bool,
    sizes: [usize; 2],
    common: usize,
    fates: [&FateOf; 2],
) -> Vec<(u32, Vec<u64>)> {
    check_withheld(task, by_region, sizes, common, fates, 0)
}

/// The same, where results of fewer than `at_least` keys are withheld.
#[track_caller]
fn check_withheld(
    task: &str,
    by_region: bool,
    sizes: [usize; 2],
    common: usize,
    fates: [&FateOf; 2],
    at_least: u64,
) -> Vec<(u32, Vec<u64>)> {
    let change = |config: &mut Config| config.settings.at_least = at_least;
    check_changed(task, by_region, sizes, common, fates, &change).1
}

/// The same, with these changes of both sides.
#[track_caller]
fn check_changed(
    task: &str,
    by_region: bool,
    sizes: [usize; 2],
    common: usize,
    fates: [&FateOf; 2],
    change: &dyn Fn(&mut Config),
) -> (Report, Vec<(u32, Vec<u64>)>) {
    let folder = Folder::new();
    let keys = |side, count: usize| (0..count).map(move |number| key(side, number, common));
    let (mut ours, mut theirs) = (threads(keys('r', sizes[0]), 3, fates[0]), threads(keys('s', sizes[1]), 2, fates[1]));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, 3);
        (config.task, config.protocol) = (task::find(task).expect("a task"), None);
        let has_columns = task == "join-and-compute" || task == "sum" && role == Role::Sender;
        if has_columns {
            config.settings.values = columns(&["amount"], &[], &[]);
        }
        change(&mut config);
        match role {
            Role::Receiver => {
                config.destination = folder.config(role, task).destination;
                config.settings.values.group_by = by_region.then(|| "region".into());
            }
            Role::Sender => config.settings.max_groups = 3,
        }
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, sent) = (received.expect("a result"), sent.expect("sent"));
    let mut expected = BTreeMap::new();
    for row in 0..sizes[0] {
        let (count, result): &mut (u64, i64) = expected.entry(region_of(row).filter(|_| by_region)).or_default();
        if row < common {
            *count += 1;
            *result += match task {
                "cardinality" => 1,
                "sum" => value_of(row),
                _ => value_of(row) * value_of(row),
            };
        }
    }
    let name = match task {
        "cardinality" => task,
        "sum" => "amount",
        _ => "amount_times_amount",
    };
    let row = |(region, (count, result)): (Option<String>, (u64, i64))| {
        let result = if count >= received.reveal_if_at_least { result.to_string() } else { String::new() };
        match by_region {
            true => format!("{},{result}\n", region.unwrap_or_default()),
            false if result.is_empty() => "\"\"\n".to_owned(),
            false => format!("{result}\n"),
        }
    };
    let rows: String = expected.into_iter().map(row).collect();
    let header = if by_region { "region," } else { "" };
    assert_eq!(folder.read("result.csv"), format!("{header}{name}\n{rows}"), "{task}, {sizes:?}, {common}");
    assert_eq!((&received.revealed, ours.commits), (&sent.revealed, theirs.commits));
    (received, ours.totals.into_inner().expect("a lock"))
}

#[test]
fn results_by_group_and_products_on_clusters_are_those_of_the_plain_tables() {
    for (sizes, overlaps) in [([1, 1], &[0, 1][..]), ([2, 100], &[1]), ([60, 40], &[0, 39, 40])] {
        for &common in overlaps {
            for task in ["cardinality", "sum", "join-and-compute"] {
                check_by_group(task, true, sizes, common, [WORKS; 2]);
            }
            check_by_group("join-and-compute", false, sizes, common, [WORKS; 2]);
        }
    }
    check_by_group("sum", true, [1 << 12, 1 << 11], 1 << 10, [WORKS; 2]);
}

/// A threshold goes by all buckets together, also where each was run twice. The count beside sums is masked like them.
#[test]
fn results_of_few_keys_on_clusters_are_withheld() {
    let loses = |ticket: &Ticket| if ticket.attempt == 0 { Fate::LosesAll } else { Fate::Works };
    for task in ["cardinality", "sum", "join-and-compute"] {
        for at_least in [9, 10, 11] {
            check_withheld(task, true, [60, 60], 30, [WORKS; 2], at_least);
        }
        check_withheld(task, false, [60, 60], 30, [WORKS; 2], 30);
        check_withheld(task, false, [60, 60], 30, [WORKS; 2], 31);
    }
    // The circuit of the drivers is built on what the protocol of the workers is built on: base OTs from ML-KEM are 578 KB.
    let lasts = |config: &mut Config| {
        (config.settings.at_least, config.post_quantum) = (10, true);
    };
    let (received, _) = check_changed("sum", true, [60, 60], 30, [WORKS; 2], &lasts);
    let (of_buckets, bytes) = (3 * 578_000, received.bytes_sent + received.bytes_received);
    assert!(received.protocol.contains("ml-kem") && bytes > of_buckets + 500_000, "{bytes}");
    let totals = check_withheld("sum", true, [60, 60], 30, [&loses, WORKS], 10);
    assert!(totals.len() == 6 && totals.iter().all(|(_, of_bucket)| of_bucket.len() == 6), "{totals:?}");
    let all: HashSet<u64> = totals.iter().flat_map(|(_, of_bucket)| of_bucket.iter().copied()).collect();
    assert!(all.len() == 36 && all.iter().all(|total| (1 << 40..u64::MAX - (1 << 40)).contains(total)), "{all:?}");
}

/// Of each bucket and group, in each attempt.
#[test]
fn results_of_groups_in_buckets_are_masked_and_stay_so_when_they_are_run_again() {
    let loses = |ticket: &Ticket| if ticket.attempt == 0 { Fate::LosesAll } else { Fate::Works };
    for fates in [[&loses as &FateOf, WORKS], [WORKS, &loses]] {
        let totals = check_by_group("cardinality", true, [60, 60], 30, fates);
        assert_eq!(totals.len(), 6, "each bucket was run twice");
        for bucket in 0..3 {
            let of: Vec<_> = totals.iter().filter(|(number, _)| *number == bucket).map(|(_, of)| of).collect();
            assert!(of.iter().all(|of| of.len() == 3));
            let all: HashSet<u64> = of.iter().flat_map(|of| of.iter().copied()).collect();
            assert_eq!(all.len(), 6, "each group and each attempt has a mask of its own");
            // A count is small; a mask is below 2^40 with probability 2^-23.
            assert!(all.iter().all(|total| (1 << 40..u64::MAX - (1 << 40)).contains(total)), "{of:?}");
        }
    }
}

/// Neither side takes more groups than the sender allows.
#[test]
fn more_groups_on_a_cluster_than_the_sender_allows_are_refused() {
    let folder = Folder::new();
    let keys = || (0..9).map(|number| key('k', number, 9));
    let (mut ours, mut theirs) = (threads(keys(), 2, WORKS), threads(keys(), 2, WORKS));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, 2);
        (config.task, config.protocol) = (task::find("cardinality").expect("a task"), None);
        config.destination = folder.config(role, "cardinality").destination;
        match role {
            Role::Receiver => config.settings.values.group_by = Some("region".into()),
            Role::Sender => config.settings.max_groups = 2,
        }
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, sent) = (received.expect_err("refused"), sent.expect_err("refused"));
    assert_eq!((received.code, sent.code), (code::PEER_FAILED, code::REFUSED));
    assert!(sent.fault.contains("3 groups") && received.mend.contains("--max-groups"), "{received}");
}

/// What single buckets give tells nothing, and neither does a second attempt beside the first.
#[test]
fn totals_of_single_buckets_are_masked_and_stay_so_when_they_are_run_again() {
    let loses = |ticket: &Ticket| if ticket.attempt == 0 { Fate::LosesAll } else { Fate::Works };
    for task in ["cardinality", "sum"] {
        for fates in [[&loses as &FateOf, WORKS], [WORKS, &loses]] {
            let totals = check_total(task, [60, 60], 30, 4, fates);
            assert_eq!(totals.len(), 8, "each bucket was run twice");
            for bucket in 0..4 {
                let of: Vec<_> = totals.iter().filter(|(number, _)| *number == bucket).collect();
                assert_ne!(of[0], of[1], "each attempt has masks of its own");
                // A count of 60 or less, or a sum of these values, is below 2^40; a mask is so with probability 2^-23.
                let all = of.iter().flat_map(|(_, totals)| totals);
                assert!(all.clone().all(|total| (1 << 40..u64::MAX - (1 << 40)).contains(total)), "{task} {of:?}");
            }
        }
    }
}

/// The noise is in the result once, and once in the budget.
#[test]
fn noise_of_a_total_on_a_cluster_is_added_and_debited() {
    let folder = Folder::new();
    let (budget, peer) = (folder.path("budget.json"), folder.us.public().fingerprint().to_string());
    let content = serde_json::json!({ "vesica_budget": 1, "peers": { peer: { "total": "1", "spent": "0" } } });
    fs::write(&budget, content.to_string()).expect("written");
    let keys = || (0..50).map(|number| key('k', number, 50));
    let (mut ours, mut theirs) = (threads(keys(), 2, WORKS), threads(keys(), 2, WORKS));
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| {
        let mut config = config(&folder, role, 3);
        (config.task, config.protocol) = (task::find("cardinality").expect("a task"), None);
        match role {
            Role::Receiver => config.destination = folder.config(role, "cardinality").destination,
            Role::Sender => {
                let epsilon = Epsilon::parse("0.000001").expect("an epsilon");
                config.settings.noise = Some(NoiseConfig { epsilon, budget: budget.clone() });
            }
        }
        config
    });
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let (received, _) = (received.expect("a result"), sent.expect("sent"));
    assert_eq!(received.noise_epsilon.as_deref(), Some("0.000001"));
    let result = folder.read("result.csv");
    let count: i64 = result.lines().nth(1).expect("a row").parse().expect("a number");
    // Discrete Laplace noise of scale 10^6 is 0 with probability 5 10^-7, and beyond 3 10^7 with e^-30.
    assert!(count != 50 && count.abs() < 30_000_000, "{count}");
    assert!(fs::read_to_string(&budget).expect("there").contains("\"spent\": \"0.000001\""));
}

#[test]
fn what_does_not_run_on_a_cluster_is_refused() {
    let refused = |change: &dyn Fn(&mut Config), code, said: &str| {
        let folder = Folder::new();
        let mut config = config(&folder, Role::Receiver, 3);
        config.wait = Duration::ZERO;
        change(&mut config);
        let mut machines = threads(["a".to_owned()], 1, WORKS);
        let failure = run_on_cluster(&config, &inside(), &mut machines, &Interrupt::default(), &Silent);
        let failure = failure.expect_err("refused");
        assert_eq!(failure.code, code, "{failure}");
        assert!(failure.fault.contains(said), "{failure}");
    };
    refused(&|config| config.buckets = 1, code::USAGE, "only one");
    refused(&|config| config.task = task::find("shares").expect("a task"), code::USAGE, "the task shares");
    let first = |config: &mut Config| {
        config.task = task::find("sum").expect("a task");
        config.settings.values.duplicates = ValueDuplicates::First;
    };
    refused(&first, code::USAGE, "have no order");
    refused(&|config| config.source.key = KeySpec::parse(&["no such"], &[]).expect("a key"), code::INPUT, "no such");
}

/// Keys that got lost while they were divided are noticed.
#[test]
fn a_division_that_loses_keys_ends_the_run() {
    let folder = Folder::new();
    let keys = || (0..200).map(|number| key('k', number, 200));
    let (mut ours, mut theirs) = (threads(keys(), 2, WORKS), threads(keys(), 2, WORKS));
    ours.digests.pop();
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 2));
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let failure = received.expect_err("refused");
    assert!(failure.fault.contains("200 keys were counted, and 199 are in the buckets"), "{failure}");
    assert!(!sent.expect_err("no result").fault.contains("199"), "the partner does not hear it");
}

/// A cluster and a single machine tell each other that they differ.
#[test]
fn a_partner_without_a_cluster_is_told() {
    let folder = Folder::new();
    let receiver = config(&folder, Role::Receiver, 3);
    let mut sender = folder.config(Role::Sender, "intersect");
    (sender.buckets, sender.protocol) = (3, receiver.protocol.clone());
    let (say, address) = mpsc::channel();
    let events = Listening(Mutex::new(Address(say)));
    let (received, sent) = thread::scope(|scope| {
        let sent = scope.spawn(move || {
            sender.end = End::Connect(address.recv().expect("it listens").to_string());
            run(&sender, &Interrupt::default(), &Silent)
        });
        let mut machines = threads(["a".to_owned()], 1, WORKS);
        let received = run_on_cluster(&receiver, &inside(), &mut machines, &Interrupt::default(), &events);
        (received, sent.join().expect("no panic"))
    });
    for failure in [received.expect_err("refused"), sent.expect_err("refused")] {
        assert_eq!(failure.code, code::MISMATCH);
        assert!(failure.fault.contains("run on a cluster"), "{failure}");
    }
}

/// A rendezvous helps nobody who has no pass.
#[test]
fn strangers_at_the_rendezvous_are_turned_away_and_disturb_nobody() {
    let meddle = |ticket: &Ticket| {
        for first in [&b"vesica\0w"[..], b"GET / HT", b"vesica\0l"] {
            let mut socket = TcpStream::connect(&ticket.rendezvous).expect("the rendezvous");
            socket.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
            let _ = socket.write_all(first).and_then(|()| socket.write_all(&[7; 32]));
            let mut said = Vec::new();
            let _ = socket.read_to_end(&mut said);
            assert!(said.is_empty() || said == b"-", "{said:?}");
        }
        Fate::Works
    };
    check([50, 60], 20, 3, [2, 2], [&meddle, &meddle], |_| {});
}

/// A worker that does not have just the keys of its bucket does not run: what they would have matched would be missing
/// without a word.
#[test]
fn other_keys_than_those_of_the_bucket_end_the_run() {
    ends_with_changed_buckets(|buckets| buckets.rotate_left(1), "keys of another bucket");
    ends_with_changed_buckets(|buckets| buckets[1].truncate(1), "bucket 1 has other keys than it had");
    ends_with_changed_buckets(|buckets| buckets[0].clear(), "bucket 0 has other keys than it had");
}

fn ends_with_changed_buckets(change: fn(&mut Vec<Vec<Digest>>), said: &str) {
    struct Mixed<'a>(Threads<'a>, fn(&mut Vec<Vec<Digest>>));
    impl Machines for Mixed<'_> {
        fn keys(&mut self, beside: &Beside, stop: &Stop<'_>) -> Result<Counts, Failure> {
            self.0.keys(beside, stop)
        }
        fn divide(
            &mut self,
            division: &Division,
            widths: Widths,
            received: Option<&Received>,
            stop: &Stop<'_>,
        ) -> Result<Vec<usize>, Failure> {
            let keys = self.0.divide(division, widths, received, stop);
            self.1(&mut self.0.buckets);
            keys
        }
        fn slots(&mut self) -> Result<u32, Failure> {
            self.0.slots()
        }
        fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure> {
            self.0.wave(tickets, workers, stop)
        }
        fn committed(&mut self, commit: &Commit, _: &Stop<'_>) -> Result<(), Failure> {
            self.0.committed(commit, &|| None)
        }
    }
    let folder = Folder::new();
    let keys = || (0..200).map(|number| key('k', number, 200));
    let mut ours = Mixed(threads(keys(), 2, WORKS), change);
    // The partner's workers wait for ours in vain; its driver is told.
    let mut theirs = threads(keys(), 2, &|_| Fate::NeverComes);
    let [receiver, sender] = [Role::Receiver, Role::Sender].map(|role| config(&folder, role, 2));
    let (received, sent) = run_both((&receiver, &mut ours), (&sender, &mut theirs));
    let failure = received.expect_err("refused");
    assert!(failure.fault.contains(said), "{failure}");
    assert!(sent.expect_err("no result").fault.contains(said));
}
