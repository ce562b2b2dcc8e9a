//! The rows: Fast Intersection whose server learns how many items of a query match, repaired and as printed.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use vesica_party::service::{self, ClientIdentity, Query, Service, Standing, StateId};
use vesica_party::{Abort, Channel, Entry, Extra, Leak, Learner, Mode, Phase, Rounds, Status, assume};
use vesica_structures::facts::Unsupported;
use vesica_structures::rlwe::bfv::Seed;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::{CountedQuestion, CountedSetup, CountingReceiver, CountingSender, check};
use crate::recurrent::cm25::messages::{CountFound, CountSums, CountTurns, Seeds};
use crate::recurrent::cm25::params::{ITEMS_AN_ENROLMENT, MOST_FUNCTIONS};
use crate::recurrent::cm25::request::{KEY_BYTES, compressed};
use crate::recurrent::cm25::rows::{
    COMPRESSED, ENCRYPTION, EXCHANGE, FAITHFUL_MODE, FALSE_MATCH_BITS, FUNCTIONS, HASHES, HIDDEN, INDEX, LIMBS, LOADS,
    RANDOM, RING_LWE, SWITCHED, Variant, entry,
};
use crate::recurrent::cm25::setup::Setup;
use crate::recurrent::cm25::turns::Turns;
use crate::recurrent::cm25::{Configuration, Form, Params, RowParams};
use vesica_protocols::bfv::ciphertexts::{
    exhausted, half_bytes, receive_halves, receive_seed, receive_short, send_half, send_short,
};
use vesica_protocols::recurrent::{check_items_asked, matches_of};
use vesica_protocols::tasks::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderInput,
    IntersectSenderOutput, SIZES, SealedPayloads,
};

/// The service of row `V`.
pub struct Counted<V>(PhantomData<fn() -> V>);

impl<V: Variant> Service for Counted<V> {
    const ENTRY: Entry = V::ENTRY;
    type Task = Intersect;
    type Params = RowParams;
    type Server = Server;
    type Client = Client;

    fn derive(request: &IntersectRequest) -> Result<RowParams, Unsupported> {
        Self::derive_chosen(request, &V::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<RowParams, Unsupported> {
        entry.require(request.security)?;
        let functions = if entry.chosen(HASHES.name) == "3" { 3 } else { MOST_FUNCTIONS };
        let params = RowParams::derive(V::CONFIGURATION, V::FORM, functions, request)?;
        check(&params.params)?;
        Ok(params)
    }

    fn terms(params: &RowParams) -> Vec<u8> {
        bytemuck::bytes_of(&params.to_words()).to_vec()
    }

    fn enrolment_bytes(params: &RowParams) -> RangeInclusive<u64> {
        let scheme = params.params.scheme();
        let turns = if has_turns(&params.params) { Seed::BYTES + Turns::count(scheme) * half_bytes(scheme) } else { 0 };
        let bytes = params.server_bytes() + turns as u64;
        bytes..=bytes
    }

    fn query_bytes(params: &RowParams) -> RangeInclusive<u64> {
        let RowParams { query_items, params } = params;
        let sums = params.sums() * params.scheme().ciphertext_bytes(params.primes_of_d());
        let bytes = (query_items * (sums + 1)) as u64;
        bytes..=bytes
    }
}

fn has_turns(params: &Params) -> bool {
    params.form == Form::Repaired
}

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: RowParams,
    /// The key of the compression.
    key: [u8; KEY_BYTES],
    sender: CountingSender,
    /// How many of all items that it was asked about match.
    pub(in crate::recurrent::cm25) matched: AtomicU64,
}

impl service::Server for Server {
    type Params = RowParams;
    type Set = IntersectSenderInput;
    type Session = ();
    type Output = IntersectSenderOutput;

    fn prepare(params: &RowParams, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.params.set_items, 0)?;
        let mut key = [0; KEY_BYTES];
        rng.fill_bytes(&mut key);
        let mut items = compressed(&params.params, &key, &set.items);
        // Equal items, and those that are compressed to the same, are one.
        items.sort_unstable();
        items.dedup();
        let sender = CountingSender::prepare(&params.params, &items, rng)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        Ok(Self { id: StateId::random(rng), params: params.clone(), key, sender, matched: AtomicU64::new(0) })
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &RowParams {
        &self.params
    }

    fn admit(&self, _: &ClientIdentity, standing: Standing, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        if standing == Standing::Current {
            return Ok(());
        }
        let scheme = self.params.params.scheme();
        let CountedSetup { setup, seed, turns } = self.sender.setup();
        ch.send_stream::<Seeds>(&self.key)?;
        setup.send(scheme, ch)?;
        if has_turns(&self.params.params) {
            ch.send_stream::<CountTurns>(&seed.to_bytes())?;
            turns.iter().try_for_each(|half| send_half::<CountTurns>(scheme, half, ch))?;
        }
        Ok(())
    }

    fn answer(
        &self,
        (): &mut (),
        _: Query,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let _phase = ch.phase(Phase::Equality);
        let (scheme, params) = (self.params.params.scheme(), &self.params.params);
        let mut found = Vec::with_capacity(self.params.query_items);
        for _ in 0..self.params.query_items {
            let mut limbs =
                || (0..params.limbs).map(|_| receive_short::<CountSums>(scheme, params.primes_of_d(), ch)).collect();
            let question: CountedQuestion = (0..params.partitions[0]).map(|_| limbs()).collect::<Result<_, Abort>>()?;
            found.push(u8::from(self.sender.has_zero(&question).map_err(|_| exhausted::<CountSums>())?));
        }
        self.matched.fetch_add(found.iter().map(|&found| u64::from(found)).sum(), Ordering::Relaxed);
        // Behind all questions, whose order says which item each answer is about.
        ch.send_stream::<CountFound>(&found)?;
        Ok(IntersectSenderOutput { matches: None })
    }
}

/// A client that holds the encrypted tables of a server's set.
#[derive(Debug)]
pub struct Client {
    params: RowParams,
    /// The key of the compression.
    key: [u8; KEY_BYTES],
    receiver: CountingReceiver,
    /// Items asked about so far.
    asked: u64,
}

impl service::Client for Client {
    type Params = RowParams;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &RowParams, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        let mut key = [0; KEY_BYTES];
        ch.recv_stream::<Seeds>(&mut key)?;
        let scheme = params.params.scheme();
        let setup = Setup::receive(&params.params, scheme, ch)?;
        let (seed, turns) = if has_turns(&params.params) {
            let seed = receive_seed::<CountTurns>(ch)?;
            (seed, receive_halves::<CountTurns>(scheme, Turns::count(scheme), ch)?)
        } else {
            (setup.seed, Vec::new())
        };
        let receiver = CountingReceiver::new(&params.params, CountedSetup { setup, seed, turns });
        Ok(Self { params: params.clone(), key, receiver, asked: 0 })
    }

    fn params(&self) -> &RowParams {
        &self.params
    }

    fn resume(&mut self, _: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        Ok(())
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
        check_items_asked(self.asked, self.params.query_items, ITEMS_AN_ENROLMENT)
    }

    fn query(
        &mut self,
        _: u64,
        query: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.check(&query)?;
        self.asked += self.params.query_items as u64;
        let _phase = ch.phase(Phase::Equality);
        let items = Secret::new(query.items);
        let items = compressed(&self.params.params, &self.key, &items);
        let order = self.receiver.order(items.len(), rng);
        for &item in order.iter() {
            let question = self.receiver.question(items[item], rng);
            let mut sums = question.iter().flatten();
            sums.try_for_each(|sum| send_short::<CountSums>(self.params.params.scheme(), sum, ch))?;
        }
        let mut answers = vec![0; items.len()];
        ch.recv_stream::<CountFound>(&mut answers)?;
        if answers.iter().any(|&answer| answer > 1) {
            return Err(Abort::PeerMisbehaved(
                <CountFound as vesica_party::Stream>::STEP,
                "an answer is neither 0 nor 1",
            ));
        }
        let answers: Vec<bool> = answers.into_iter().map(|answer| answer == 1).collect();
        let found = Secret::new(self.receiver.read(&answers, &order));
        Ok(IntersectReceiverOutput { matches: matches_of(&found), payloads: SealedPayloads::default(), unread: 0 })
    }
}

const FACTORS: &str = "Footnote 1 says it of Protocol 1: here a random factor takes the place of the mask of Protocol 2, \
                       so that results, rotations and the client's keys fall away. The server tells the client by a \
                       byte an item, of which the paper says nothing.";
const UNREPORTED: &str = "The server can count from what it sees, but the row does not report the number to it. The row runs once for a set and \
                          a client, so that the client's count of items is the only bound on them.";
const COUNT: Leak =
    Leak { to: Learner::Sender, what: "the number of common items of each query", extra: Some(Extra::Count) };
const UNORDERED: &str = "The client multiplies the limbs of a slot by a random invertible matrix, turns the slots under \
                         keys of the server, adds a fresh encryption of zero and drowns the noise, as the server does in \
                         the other repaired rows; it asks about the items of a query in a random order. One partition.";

/// `cm25-fast-intersection-count-repaired`: the server learns how many items match, and no more.
#[derive(Clone, Copy, Debug)]
pub enum FastIntersectionCountRepaired {}

impl Variant for FastIntersectionCountRepaired {
    const ENTRY: Entry = entry(
        "cm25-fast-intersection-count-repaired",
        Status::Sound,
        &[FACTORS, UNREPORTED, UNORDERED, ENCRYPTION, HIDDEN, INDEX, LIMBS, EXCHANGE, LOADS],
        &[Mode::semi_honest(
            Rounds::exactly(3),
            assume![
                RING_LWE,
                FUNCTIONS,
                "the noise of a product of up to four ciphertexts, times matrices of slots, at three primes, has a root mean \
                 square of at most 2^46 (2^37.7 measured)",
            ],
            &[SIZES, COUNT],
        )],
    );
    const CONFIGURATION: Configuration = Configuration::FastIntersection;
    const FORM: Form = Form::Repaired;
}

/// `cm25-fast-intersection-count`: footnote 1 as printed.
#[derive(Clone, Copy, Debug)]
pub enum FastIntersectionCount {}

impl Variant for FastIntersectionCount {
    const ENTRY: Entry = entry(
        "cm25-fast-intersection-count",
        Status::Broken {
            how: "the server is to learn how many items match, and learns which ones: the slot of a zero is the item's \
                  bin, zeros come in the order of the client's items, and the second half of D, which factors change \
                  alone, tests guesses of every item; items that only the client has match. See \
                  docs/parameters/cm25.md; cm25-fast-intersection-count-repaired is sound between parties that follow it",
            false_match_bits: FALSE_MATCH_BITS,
        },
        &[FACTORS, UNREPORTED, COMPRESSED, SWITCHED, RANDOM, LOADS],
        &[Mode { leakage: &[SIZES, COUNT], ..FAITHFUL_MODE }],
    );
    const CONFIGURATION: Configuration = Configuration::FastIntersection;
    const FORM: Form = Form::Faithful;
}
