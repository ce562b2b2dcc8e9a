//! INSECURE, for tests: a toy task by which the receiver gets the rows of its partner that it
//! lacks, and its only protocol, which sends all of them in the clear. This file is what a module
//! of `vesica_protocols::tasks` and a folder with a protocol are for a task that ships.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Entry, Party, Protocol, Registered, Row, Task};
use vesica_protocols::tasks::{Extent, IntersectReceiverInput, IntersectSenderInput, SetFunctionality};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

/// The receiver learns the payloads of the sender's items that it does not have, in the sender's
/// order.
pub(crate) enum NewRows {}

/// The public parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRowsRequest {
    extent: Extent,
    payload_bytes: usize,
}

/// What both sides agree on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRowsOptions {
    /// Width of the payload of each of the sender's items.
    pub payload_bytes: usize,
}

/// The protocols.
pub(crate) static REGISTRY: &[&dyn Registered<NewRows>] = &[&Row::<InTheClear>::new()];

/// The payloads of the sender's items that `asked` does not have.
fn new_rows(items: &[u128], payloads: &[u8], asked: &[u128], width: usize) -> Vec<u8> {
    let own: HashSet<&u128> = asked.iter().collect();
    let records = items.iter().zip(payloads.chunks_exact(width.max(1)));
    records.filter(|(item, _)| !own.contains(item)).flat_map(|(_, record)| record).copied().collect()
}

impl Task for NewRows {
    const NAME: &'static str = "insecure-new-rows";
    type Request = NewRowsRequest;
    type SenderInput = IntersectSenderInput;
    type ReceiverInput = IntersectReceiverInput;
    type SenderOutput = ();
    type ReceiverOutput = Vec<u8>;

    fn holds(
        sent: &IntersectSenderInput,
        asked: &IntersectReceiverInput,
        (): &(),
        out: &Vec<u8>,
    ) -> Result<(), String> {
        let width = sent.payloads.len().checked_div(sent.items.len()).unwrap_or(0);
        let expected = new_rows(&sent.items, &sent.payloads, &asked.items, width);
        if *out == expected { Ok(()) } else { Err(format!("{} bytes of new rows, not {}", out.len(), expected.len())) }
    }
}

impl SetFunctionality for NewRows {
    const SUMMARY: &'static str = "The receiver gets the payloads of the sender's items that it does not have.";
    type Options = NewRowsOptions;

    fn request(extent: &Extent, options: &NewRowsOptions) -> NewRowsRequest {
        NewRowsRequest { extent: *extent, payload_bytes: options.payload_bytes }
    }
}

vesica_party::arrows! { "insecure" =>
    stream Items[u128] = 5, Sender, "items";
    stream Records[u8] = 6, Sender, "records";
}

/// All of the sender's rows in the clear.
pub(crate) struct InTheClear;

pub(crate) struct Sender(NewRowsRequest);
pub(crate) struct Receiver(NewRowsRequest);

impl Protocol for InTheClear {
    const ENTRY: Entry = super::entry("insecure-plain", NewRows::NAME);
    type Task = NewRows;
    type Params = NewRowsRequest;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &NewRowsRequest) -> Result<NewRowsRequest, Unsupported> {
        super::semi_honest(request.extent.security)?;
        Ok(*request)
    }

    fn predicted_bytes(params: &NewRowsRequest) -> RangeInclusive<u64> {
        let bytes = (params.extent.sender_items * (16 + params.payload_bytes)) as u64;
        bytes..=bytes
    }
}

impl Party for Sender {
    type Params = NewRowsRequest;
    type Input = IntersectSenderInput;
    type Output = ();

    fn setup(params: &NewRowsRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: IntersectSenderInput, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        input.check(self.0.extent.sender_items, self.0.payload_bytes)?;
        ch.send_stream::<Items>(&input.items)?;
        ch.send_stream::<Records>(&input.payloads)
    }
}

impl Party for Receiver {
    type Params = NewRowsRequest;
    type Input = IntersectReceiverInput;
    type Output = Vec<u8>;

    fn setup(params: &NewRowsRequest, _: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(*params))
    }

    fn run(self, input: IntersectReceiverInput, ch: &mut Channel, _: &mut SecretRng) -> Result<Vec<u8>, Abort> {
        let Self(NewRowsRequest { extent, payload_bytes }) = self;
        input.check(extent.receiver_items)?;
        let mut items = vec![0; extent.sender_items];
        let mut records = vec![0; extent.sender_items * payload_bytes];
        ch.recv_stream::<Items>(&mut items)?;
        ch.recv_stream::<Records>(&mut records)?;
        Ok(new_rows(&items, &records, &input.items, payload_bytes))
    }
}
