//! Runs whose passes are taken in turns: the same results as of runs alone, the same messages, and faults.

use std::ops::RangeInclusive;

use vesica_party::{Abort, AnyParty, AnyReceiver, AnySender, Channel, Entry, Registered, Role, Security};
use vesica_protocols::passes::{Compare, InPasses};
use vesica_protocols::tasks::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput,
    IntersectSenderOutput,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Thorough, conformance_of, faults_of, transcript_of, two_party};

use crate::conformance::overlaps;
use crate::inputs::{Row, inputs, request};
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
