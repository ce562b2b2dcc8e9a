//! INSECURE stand-ins for protocols, for this crate's tests alone: the sender hands its whole input
//! over. They are what a session is tested on where the registry's protocols do not matter.

pub(crate) mod new_rows;

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Mutex;

use vesica_party::{
    Abort, Channel, CostClass, Entry, Mode, Party, Protocol, Registered, Rounds, Row, Security, Status, Task,
};
use vesica_protocols::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, Cardinality, JoinAndCompute,
    ReceiverShares, SenderShares, Shares, SharesInput, SharesRequest, Sum,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;

pub(crate) fn cardinality() -> Vec<&'static dyn Registered<Cardinality>> {
    vec![const { &Row::<Plain<Cardinality, false>>::new() }]
}

pub(crate) fn sum() -> Vec<&'static dyn Registered<Sum>> {
    vec![const { &Row::<Plain<Sum, true>>::new() }, const { &Row::<Plain<Sum, false>>::new() }]
}

pub(crate) fn join_and_compute() -> Vec<&'static dyn Registered<JoinAndCompute>> {
    vec![const { &Row::<Plain<JoinAndCompute, false>>::new() }]
}

pub(crate) fn shares() -> Vec<&'static dyn Registered<Shares>> {
    vec![const { &Row::<PlainShares>::new() }]
}

const fn entry(id: &'static str, task: &'static str) -> Entry {
    Entry {
        id,
        aliases: &[],
        variants: &[],
        task,
        paper: Paper { key: "none", title: "INSECURE, for tests", reference: "none" },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[],
        modes: const { &[Mode::semi_honest(Rounds::exactly(2), &[], &[])] },
    }
}

vesica_party::arrows! { "insecure" =>
    stream Items[u128] = 1, Sender, "items";
    stream Values[u64] = 2, Sender, "values";
    stream Bytes[u8] = 3, Sender, "payloads";
    stream Back[u8] = 4, Receiver, "shares";
}

fn semi_honest(security: Security) -> Result<(), Unsupported> {
    match security {
        Security::SemiHonest => Ok(()),
        Security::Malicious => Err(Unsupported::new("no malicious mode", "say --security semi-honest")),
    }
}

/// What senders of aggregates were given, by session: a test sees what a session makes of keys.
pub(crate) static SEEN: Mutex<Vec<([u8; 32], Vec<u128>)>> = Mutex::new(Vec::new());

/// An aggregate; the `LARGE` one claims to send much more.
pub(crate) struct Plain<T, const LARGE: bool>(PhantomData<T>);

pub(crate) struct PlainSender(AggregateRequest);
pub(crate) struct PlainReceiver(AggregateRequest);

impl<T, const LARGE: bool> Protocol for Plain<T, LARGE>
where
    T: Task<
            Request = AggregateRequest,
            SenderInput = AggregateSenderInput,
            ReceiverInput = AggregateReceiverInput,
            SenderOutput = (),
            ReceiverOutput = AggregateOutput,
        >,
{
    const ENTRY: Entry = entry(if LARGE { "insecure-plain-large" } else { "insecure-plain" }, T::NAME);
    type Task = T;
    type Params = AggregateRequest;
    type Sender = PlainSender;
    type Receiver = PlainReceiver;

    fn derive(request: &AggregateRequest) -> Result<AggregateRequest, Unsupported> {
        semi_honest(request.security)?;
        request.check_sizes()?;
        Ok(*request)
    }

    fn predicted_bytes(params: &AggregateRequest) -> RangeInclusive<u64> {
        let bytes = (params.sender_items * (16 + 8 * params.columns)) as u64 * if LARGE { 10 } else { 1 };
        bytes..=bytes
    }
}

impl Party for PlainSender {
    type Params = AggregateRequest;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &AggregateRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        input.check(&self.0)?;
        SEEN.lock().expect("no panic under it").push((ch.session(), input.items.clone()));
        ch.send_stream::<Items>(&input.items)?;
        ch.send_stream::<Values>(&input.values)?;
        let mut noise = input.noise;
        noise.resize(self.0.groups * self.0.results(), 0);
        ch.send_stream::<Values>(&noise)
    }
}

impl Party for PlainReceiver {
    type Params = AggregateRequest;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &AggregateRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, _: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        let request = self.0;
        input.check(&request, !input.values.is_empty())?;
        let (columns, results) = (request.columns, request.results());
        let mut items = vec![0; request.sender_items];
        let mut values = vec![0; request.sender_items * columns];
        let mut sums = vec![0; request.groups * results];
        ch.recv_stream::<Items>(&mut items)?;
        ch.recv_stream::<Values>(&mut values)?;
        // The noise.
        ch.recv_stream::<Values>(&mut sums)?;
        let at: HashMap<u128, usize> = items.into_iter().zip(0..).collect();
        let mut counts = vec![0; request.groups];
        for (j, item) in input.items.iter().enumerate() {
            let Some(&i) = at.get(item) else { continue };
            let group = input.groups.get(j).map_or(0, |&group| group as usize);
            counts[group] += 1;
            let factor = input.values.get(j).copied().unwrap_or(1);
            for result in 0..results {
                let value = if columns == 0 { 1 } else { values[i * columns + result] };
                let sum: &mut u64 = &mut sums[group * results + result];
                *sum = sum.wrapping_add(value.wrapping_mul(factor));
            }
        }
        let group = |(sums, &count): (&[u64], &u64)| {
            (request.at_least <= 1 || count >= request.at_least).then(|| sums.to_vec())
        };
        Ok(AggregateOutput { groups: sums.chunks(results).zip(&counts).map(group).collect() })
    }
}

/// Circuit PSI whose bins are the receiver's items in their order, and an empty one behind them.
pub(crate) struct PlainShares;

pub(crate) struct SharesSender(SharesRequest);
pub(crate) struct SharesReceiver(SharesRequest);

impl Protocol for PlainShares {
    const ENTRY: Entry = entry("insecure-plain", Shares::NAME);
    type Task = Shares;
    type Params = SharesRequest;
    type Sender = SharesSender;
    type Receiver = SharesReceiver;

    fn derive(request: &SharesRequest) -> Result<SharesRequest, Unsupported> {
        semi_honest(request.security)?;
        request.check_sizes()?;
        Ok(*request)
    }

    fn predicted_bytes(params: &SharesRequest) -> RangeInclusive<u64> {
        let bytes = params.sender_items * (16 + params.sender_payload_bytes)
            + (params.receiver_items + 1) * (1 + width(params));
        bytes as u64..=bytes as u64
    }
}

fn width(request: &SharesRequest) -> usize {
    request.sender_payload_bytes + request.receiver_payload_bytes
}

impl Party for SharesSender {
    type Params = SharesRequest;
    type Input = SharesInput;
    type Output = SenderShares;

    fn setup(params: &SharesRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: SharesInput, ch: &mut Channel, _: &mut SecretRng) -> Result<SenderShares, Abort> {
        input.check(self.0.sender_items, self.0.sender_payload_bytes)?;
        ch.send_stream::<Items>(&input.items)?;
        ch.send_stream::<Bytes>(&input.payloads)?;
        let bins = self.0.receiver_items + 1;
        let mut membership = vec![0; bins];
        let mut payloads = vec![0; bins * width(&self.0)];
        ch.recv_stream::<Back>(&mut membership)?;
        ch.recv_stream::<Back>(&mut payloads)?;
        Ok(SenderShares { membership: membership.iter().map(|&bit| bit == 1).collect(), payloads })
    }
}

impl Party for SharesReceiver {
    type Params = SharesRequest;
    type Input = SharesInput;
    type Output = ReceiverShares;

    fn setup(params: &SharesRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: SharesInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<ReceiverShares, Abort> {
        let request = self.0;
        input.check(request.receiver_items, request.receiver_payload_bytes)?;
        let mut items = vec![0; request.sender_items];
        let mut theirs = vec![0; request.sender_items * request.sender_payload_bytes];
        ch.recv_stream::<Items>(&mut items)?;
        ch.recv_stream::<Bytes>(&mut theirs)?;
        let at: HashMap<u128, usize> = items.into_iter().zip(0..).collect();
        let bins = request.receiver_items + 1;
        let of_sender: Vec<u8> = (0..bins * (1 + width(&request))).map(|_| rng.block() as u8).collect();
        let (bits, bytes) = of_sender.split_at(bins);
        let bits: Vec<u8> = bits.iter().map(|bit| bit & 1).collect();
        ch.send_stream::<Back>(&bits)?;
        ch.send_stream::<Back>(bytes)?;
        let (mut membership, mut payloads) = (Vec::new(), bytes.to_vec());
        for bin in 0..bins {
            let found = input.items.get(bin).and_then(|item| at.get(item).copied());
            membership.push((bits[bin] == 1) != found.is_some());
            let Some(i) = found else { continue };
            let (a, b) = (request.sender_payload_bytes, request.receiver_payload_bytes);
            let plain = theirs[i * a..][..a].iter().chain(&input.payloads[bin * b..][..b]);
            payloads[bin * (a + b)..].iter_mut().zip(plain).for_each(|(share, byte)| *share ^= byte);
        }
        let items = (0..bins).map(|bin| (bin < request.receiver_items).then_some(bin as u32)).collect();
        Ok(ReceiverShares { items, membership, payloads })
    }
}
