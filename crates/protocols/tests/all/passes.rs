//! Runs whose passes are taken in turns: the same results as of runs alone, the same messages, and faults.

use std::ops::RangeInclusive;

use vesica_party::transport::memory;
use vesica_party::{Abort, AnyParty, AnyReceiver, AnySender, Channel, Entry, Registered, Role, Security, Task};
use vesica_protocols::passes::{Compare, InPasses};
use vesica_protocols::tasks::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput,
    IntersectSenderOutput,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_testkit::{
    Thorough, Transcript, conformance_of, faults_of, options, record, transcript_of, two_party, two_party_over,
};

use crate::conformance::overlaps;
use crate::inputs::{Row, every, inputs, request};
use crate::registry;
use crate::registry::trials_of;

type PassesRow = &'static dyn InPasses<Intersect>;

/// A protocol that makes `runs` runs on one input, pass by pass, each in a session of its own.
#[derive(Clone, Copy)]
struct InTurns {
    row: PassesRow,
    runs: u8,
}

/// A side of it; all is done in its run.
struct SideInTurns {
    of: InTurns,
    request: IntersectRequest,
}

/// The rows, as protocols that make `runs` runs.
fn rows(runs: u8) -> Vec<Row> {
    let row = |row: &PassesRow| -> Row { Box::leak(Box::new(InTurns { row: *row, runs })) };
    registry::intersect_in_passes().iter().map(row).collect()
}

impl Registered<Intersect> for InTurns {
    fn entry(&self) -> &'static Entry {
        self.row.entry()
    }

    fn variant(&self, entry: &'static Entry) -> &'static dyn Registered<Intersect> {
        Box::leak(Box::new(Self { row: self.row.variant_in_passes(entry), runs: self.runs }))
    }

    fn predicted_bytes(&self, request: &IntersectRequest) -> Result<RangeInclusive<u64>, Unsupported> {
        let (bytes, runs) = (self.row.predicted_bytes(request)?, u64::from(self.runs));
        Ok(bytes.start() * runs..=bytes.end() * runs)
    }

    fn further_memory(&self, request: &IntersectRequest, role: Role) -> u64 {
        self.row.further_memory(request, role)
    }

    fn sender(
        &self,
        request: &IntersectRequest,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<AnySender<Intersect>, Abort> {
        Ok(Box::new(SideInTurns { of: *self, request: *request }))
    }

    fn receiver(
        &self,
        request: &IntersectRequest,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<AnyReceiver<Intersect>, Abort> {
        Ok(Box::new(SideInTurns { of: *self, request: *request }))
    }
}

impl AnyParty<IntersectSenderInput, IntersectSenderOutput> for SideInTurns {
    fn run(
        self: Box<Self>,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { of: InTurns { row, runs }, request } = *self;
        in_turns(runs, &input, ch, rng, |input, ch, rng| row.commit_sender(&request, input, ch, rng))
    }
}

impl AnyParty<IntersectReceiverInput, IntersectReceiverOutput> for SideInTurns {
    fn run(
        self: Box<Self>,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { of: InTurns { row, runs }, request } = *self;
        in_turns(runs, &input, ch, rng, |input, ch, rng| row.commit_receiver(&request, input, ch, rng))
    }
}

/// The output of all runs, which must be the same; the first is in the session that the channel has.
fn in_turns<I: Clone, O: PartialEq>(
    runs: u8,
    input: &I,
    ch: &mut Channel,
    rng: &mut SecretRng,
    commit: impl Fn(&I, &mut Channel, &mut SecretRng) -> Result<Compare<I, O>, Abort>,
) -> Result<O, Abort> {
    let mut committed = Vec::new();
    for run in 0..runs {
        if run > 0 {
            ch.bind_session([run; 32]);
        }
        committed.push(commit(input, ch, rng)?);
    }
    let mut compared = Vec::new();
    for compare in committed {
        compared.push(compare.compare(input.clone(), ch, rng)?);
    }
    let mut outputs = Vec::new();
    for finish in compared {
        outputs.push(finish.finish(ch)?);
    }
    let first = outputs.pop().ok_or_else(|| Unsupported::new("no run", "make one"))?;
    if outputs.iter().any(|output| *output != first) {
        return Err(Unsupported::new("runs with other results on the same input", "mend the protocol").into());
    }
    Ok(first)
}

#[test]
fn runs_in_turns_compute_the_intersection() {
    let mut trials = trials_of("runs in turns");
    let rows = trials.in_full(&rows(2));
    trials.modes(&rows, |row, mode| {
        let sizes = [(0, 1), (1, 0), (1, 1), (3, 1000), (300, 300)];
        for &(n_s, n_r) in if row.entry().is_variant() { &sizes[3..] } else { &sizes } {
            for overlap in overlaps(n_s, n_r) {
                let labelled = n_s < 300;
                let (payload_bytes, both_learn) = (if labelled { 5 } else { 0 }, labelled);
                let request = IntersectRequest { payload_bytes, both_learn, ..request(n_s, n_r, mode.security) };
                let (sent, asked) = inputs(&request, overlap, 7);
                let run = conformance_of(row, &request, sent, asked);
                assert_eq!(run.receiver.matches.len(), overlap, "{}, {n_s} x {n_r}", row.entry().id);
            }
        }
    });
    trials.end();
}

/// Parts of tables, tags and payloads belong to their own run.
#[test]
fn runs_in_turns_serve_many_items() {
    let mut trials = trials_of("long runs in turns");
    let is_row = |row: &Row| !row.entry().is_variant();
    let rows: Vec<Row> = rows(3).into_iter().filter(is_row).collect();
    let rows = trials.in_full(&rows);
    trials.modes(&rows, |row, mode| {
        let request =
            IntersectRequest { payload_bytes: 3, both_learn: true, ..request(1 << 14, 70_001, mode.security) };
        let (sent, asked) = inputs(&request, 1 << 13, 8);
        conformance_of(row, &request, sent, asked);
    });
    trials.end();
}

/// A run alone is its three passes: byte by byte the same messages.
#[test]
fn a_run_alone_says_what_its_passes_say() {
    for (in_passes, alone) in rows(1).into_iter().zip(registry::intersect_in_passes()) {
        for mode in in_passes.entry().modes {
            let request = IntersectRequest { payload_bytes: 3, both_learn: true, ..request(20, 30, mode.security) };
            let (sent, asked) = inputs(&request, 10, 1);
            let said = |row: Row| transcript_of(row, &request, sent.clone(), asked.clone()).to_string();
            assert_eq!(said(in_passes), said(*alone), "{}", alone.entry().id);
        }
    }
}

#[test]
fn no_fault_makes_runs_in_turns_panic_or_hang() {
    for row in rows(2).into_iter().filter(|row| row.entry().id == "vole-fast") {
        for security in [Security::SemiHonest, Security::Malicious] {
            let request = IntersectRequest { payload_bytes: 3, both_learn: true, ..request(20, 30, security) };
            let (sent, asked) = inputs(&request, 10, 1);
            let harm = faults_of(row, &request, &sent, &asked, Thorough::InTurn);
            assert!(harm.failed > harm.unharmed, "{harm:?}");
        }
    }
}

/// After the first pass a receiver cannot ask about other items: it has no inner value of them.
#[test]
fn a_receiver_that_compares_other_items_than_it_committed_to_finds_none() {
    let n = 50;
    let request = request(n, n, Security::Malicious);
    let (sent, others) = inputs(&request, 0, 3);
    for row in registry::intersect_in_passes() {
        let ((), matches) = two_party(
            |ch, rng| {
                let compare = row.commit_sender(&request, &sent, ch, rng)?;
                compare.compare(sent.clone(), ch, rng)?.finish(ch).map(drop)
            },
            |ch, rng| {
                let compare = row.commit_receiver(&request, &others, ch, rng)?;
                let wanted = IntersectReceiverInput { items: sent.items.clone() };
                Ok(compare.compare(wanted, ch, rng)?.finish(ch)?.matches)
            },
        );
        assert!(matches.is_empty(), "{}: {matches:?}", row.entry().id);
    }
}

/// What a process writes down at the end of its first pass.
struct Written {
    keys: Vec<u8>,
    kept: Vec<u8>,
}

impl Written {
    fn of<I, O>(compare: Compare<I, O>) -> Self {
        let kept = compare.kept.iter().flat_map(|value| value.0.to_le_bytes()).collect();
        Self { keys: compare.keys.expect("can be written down").to_vec(), kept }
    }

    /// What was kept, as another process reads it.
    fn kept(&self) -> Secret<Vec<Gf128>> {
        let (values, rest) = self.kept.as_chunks();
        assert!(rest.is_empty());
        Secret::new(values.iter().copied().map(u128::from_le_bytes).map(Gf128).collect())
    }
}

/// A pass between two new processes, and what they say in it. With another `take`, their generators give other numbers.
fn pass<A: Send, B: Send>(
    take: usize,
    sender: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<A, Abort> + Send,
    receiver: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<B, Abort> + Send,
) -> (A, B, Transcript) {
    let new_process = |ch: &mut Channel, rng: &mut SecretRng| {
        ch.bind_session([9; 32]);
        for _ in 0..take {
            rng.block();
        }
    };
    let (ends, recording) = record(memory::pair());
    let (sent, received) = two_party_over(
        ends,
        options(),
        |ch, rng| {
            new_process(ch, rng);
            sender(ch, rng)
        },
        |ch, rng| {
            new_process(ch, rng);
            receiver(ch, rng)
        },
    );
    (sent.result.expect("the sender's pass"), received.result.expect("the receiver's pass"), recording.transcript())
}

/// The tags of 128 bits that were said, in ascending order; each with its payload, if there are payloads.
fn tags_with_payloads(said: &Transcript, payload_bytes: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (tags, payloads) = (said.of("vole-psi", 8), said.of("vole-psi", 9));
    let payloads = payloads.chunks(payload_bytes.max(1)).chain(std::iter::repeat(&[][..]));
    let mut all: Vec<_> =
        tags.chunks(16).zip(payloads).map(|(tag, payload)| (tag.to_vec(), payload.to_vec())).collect();
    all.sort_unstable();
    all
}

/// The rows in the malicious mode, with those of their variants that the suites try and that serve `request`.
fn malicious_rows(request: &IntersectRequest) -> Vec<PassesRow> {
    let rows = registry::intersect_in_passes();
    let tried = every(&rows.iter().copied().map(|row| row as Row).collect::<Vec<_>>());
    let in_passes = |tried: Row| {
        let entry = tried.entry();
        let row = rows.iter().find(|row| row.entry().id == entry.row_id())?;
        Some(if entry.is_variant() { row.variant_in_passes(entry) } else { *row })
    };
    tried.into_iter().filter(|row| row.predicted_bytes(request).is_ok()).filter_map(in_passes).collect()
}

/// Processes that know what was written down and nothing else say what one process says in all passes, and find the
/// same; also when they take a pass twice.
#[test]
fn every_pass_can_be_taken_by_another_process() {
    let mut trials = trials_of("passes in processes of their own");
    for (n_s, n_r, overlap) in [(0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (3, 1000, 2), (300, 300, 100)] {
        for (payload_bytes, both_learn) in [(5, true), (0, false)] {
            let request = IntersectRequest { payload_bytes, both_learn, ..request(n_s, n_r, Security::Malicious) };
            let (sent, asked) = inputs(&request, overlap, 7);
            for row in malicious_rows(&request) {
                let name = format!("{}, {n_s} x {n_r}, {overlap} common, {payload_bytes}", row.entry().id);
                trials.trial(name, || other_processes_take_the_passes(row, &request, &sent, &asked, overlap));
            }
        }
    }
    trials.end();
}

fn other_processes_take_the_passes(
    row: PassesRow,
    request: &IntersectRequest,
    sent: &IntersectSenderInput,
    asked: &IntersectReceiverInput,
    overlap: usize,
) {
    // The same each time, since the generators are.
    let commit = || {
        let (of_sender, of_receiver, _) = pass(
            0,
            |ch, rng| row.commit_sender(request, sent, ch, rng),
            |ch, rng| row.commit_receiver(request, asked, ch, rng),
        );
        (of_sender, of_receiver)
    };

    let (of_sender, of_receiver) = commit();
    let (of_sender, of_receiver, compared) = pass(
        0,
        |ch, rng| of_sender.compare(sent.clone(), ch, rng),
        |ch, rng| of_receiver.compare(asked.clone(), ch, rng),
    );
    let (learned, found, finished) = pass(0, |ch, _| of_sender.finish(ch), |ch, _| of_receiver.finish(ch));
    Intersect::holds(sent, asked, &learned, &found).expect("what a plain computation gives");
    assert_eq!((found.matches.len(), learned.matches.is_some()), (overlap, request.both_learn));

    let (of_sender, of_receiver) = commit();
    let (of_sender, of_receiver) = (Written::of(of_sender), Written::of(of_receiver));
    let sender = || row.sender_again(request, &of_sender.keys, of_sender.kept());
    let receiver = || row.receiver_again(request, &of_receiver.keys, of_receiver.kept());
    for take in 1..=2 {
        let (_, found_again, said) = pass(
            take,
            |ch, rng| Ok(sender()?.compare(sent.clone(), ch, rng)?.found()),
            |ch, rng| Ok(receiver()?.compare(asked.clone(), ch, rng)?.found()),
        );
        assert_eq!(found_again, found);
        if row.entry().chosen("tags") == "shuffled" {
            let [tags, before] = [&said, &compared].map(|said| tags_with_payloads(said, request.payload_bytes));
            assert_eq!(tags, before);
            if request.sender_items == 300 {
                assert_eq!(tags.len(), 300);
                assert_ne!(said.to_string(), compared.to_string(), "in another order");
            }
        } else {
            assert_eq!(said.to_string(), compared.to_string());
        }
    }
    for take in 1..=2 {
        let matches = found.matches.clone();
        let (learned_again, told, said) = pass(
            take,
            |ch, _| sender()?.finish(sent, IntersectSenderOutput::default(), ch),
            |ch, _| receiver()?.finish(asked, IntersectReceiverOutput { matches, ..Default::default() }, ch),
        );
        assert_eq!((&learned_again, &told.matches), (&learned, &found.matches));
        assert_eq!(said.to_string(), finished.to_string());
    }
}

/// Also bytes that are right for another request, and matches that no second pass gives.
#[test]
fn what_no_run_has_written_is_refused() {
    let malicious = IntersectRequest { both_learn: true, ..request(3, 4, Security::Malicious) };
    let (sent, asked) = inputs(&malicious, 2, 7);
    for row in registry::intersect_in_passes() {
        // Whether the sender and the receiver take so many bytes of keys, and so many values.
        let are_taken = |request: &IntersectRequest, (keys, kept): (usize, usize)| {
            let (keys, kept) = (vec![1; keys], || Secret::new(vec![Gf128(1); kept]));
            let sender = row.sender_again(request, &keys, kept()).is_ok();
            [sender, row.receiver_again(request, &keys, kept()).is_ok()]
        };
        assert_eq!([(64, 3), (64, 4)].map(|lengths| are_taken(&malicious, lengths)), [[true, false], [false, true]]);
        for lengths in [(0, 0), (0, 3), (0, 4), (63, 3), (63, 4), (65, 3), (80, 4), (64, 0), (64, 2), (64, 5)] {
            assert_eq!(are_taken(&malicious, lengths), [false; 2], "{lengths:?}");
        }
        for lengths in [(0, 0), (64, 3), (64, 4)] {
            assert_eq!(are_taken(&request(3, 4, Security::SemiHonest), lengths), [false; 2], "{lengths:?}");
        }
        for (lengths, taken) in [((0, 0), true), ((64, 0), false), ((64, 3), false), ((0, 3), false)] {
            assert_eq!(are_taken(&request(3, 0, Security::Malicious), lengths), [taken; 2], "{lengths:?}");
        }

        let compare = || row.receiver_again(&malicious, &[1; 64], Secret::new(vec![Gf128(1); 4])).expect("its lengths");
        let finish = |input: &IntersectReceiverInput, matches: &[u32]| {
            let found = IntersectReceiverOutput { matches: matches.to_vec(), ..Default::default() };
            pass(0, |_, _| Ok(()), |ch, _| Ok(compare().finish(input, found, ch).map(drop))).1
        };
        for matches in [&[4][..], &[1, 1], &[2, 1], &[0, 1, 2, 3], &[u32::MAX]] {
            assert!(matches!(finish(&asked, matches), Err(Abort::Unsupported(_))), "{matches:?}");
        }
        let other = IntersectReceiverInput { items: sent.items.clone() };
        assert!(matches!(finish(&other, &[]), Err(Abort::Unsupported(_))));
        let mut replaced = compare();
        replaced.kept = Secret::new(Vec::new());
        let (_, refused, _) = pass(0, |_, _| Ok(()), |ch, rng| Ok(replaced.compare(asked.clone(), ch, rng).map(drop)));
        assert!(matches!(refused, Err(Abort::Unsupported(_))));
        assert_eq!(format!("{:?}", compare()), "Compare(..)");
    }
}

/// Where tags are made in the first pass, no other process can go on.
#[test]
fn a_semi_honest_run_cannot_be_written_down() {
    for row in registry::intersect_in_passes() {
        let request = request(3, 4, Security::SemiHonest);
        let (sent, asked) = inputs(&request, 2, 7);
        let (of_sender, of_receiver, _) = pass(
            0,
            |ch, rng| Ok(row.commit_sender(&request, &sent, ch, rng)?.keys.is_some()),
            |ch, rng| Ok(row.commit_receiver(&request, &asked, ch, rng)?.keys.is_some()),
        );
        assert!(!of_sender && !of_receiver, "{}", row.entry().id);
    }
}
