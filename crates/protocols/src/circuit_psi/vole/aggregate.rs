//! Figures 17 to 19: the receiver learns what the shares add up to.
//!
//! ```text
//!   Sender                                                            Receiver
//!      share of q_i              [ 1 to 8: Figure 16 ]                share of q_i
//!      a_i                       [ counts or multiplexer ]            b_i with a_i + b_i = q_i, or q_i x_i for each value of x
//!                                9. the sum of a_i, and noise
//!      ------------------------------------------------------------------------>
//!                                                                     adds the sum of b_i
//! ```

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use rand_core::Rng;
use vesica_mpc::share_conversion::{
    BitsParams, BitsReceiver, BitsSender, BitsToRing, MultiplexParams, MultiplexReceiver, MultiplexSender, Multiplexer,
};
use vesica_mpc::tasks::{BitsToRingRequest, MultiplexRequest, SharedBits, SharedRows};
use vesica_party::{Abort, Channel, Entry, Party, Phase, Protocol, Task};
use vesica_structures::facts::{Unsupported, ceil_log2};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Opened;
use super::{Variant, matching, params};
use crate::tasks::{AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput};

/// What distinguishes one aggregate from another.
pub trait AggregateRow: Send + Sync + 'static {
    /// The description.
    const ENTRY: Entry;
    /// What is computed.
    type Task: Task<
            Request = AggregateRequest,
            SenderInput = AggregateSenderInput,
            ReceiverInput = AggregateReceiverInput,
            SenderOutput = (),
            ReceiverOutput = AggregateOutput,
        >;
    /// The circuit PSI below it.
    type Variant: Variant;
    /// Whether the receiver brings values.
    const VALUED: bool;
}

/// The aggregate of row `R`.
pub struct Aggregate<R>(PhantomData<fn() -> R>);

/// What both sides agree on.
#[derive(Clone, Debug)]
pub struct Params {
    request: AggregateRequest,
    matching: params::Params,
    /// `None` where a set is empty.
    conversion: Option<Conversion<BitsParams, MultiplexParams<u64>>>,
    /// Results are modulo `2^bits` until the last step.
    bits: u32,
}

/// Of a count, and of columns of values.
#[derive(Clone, Copy, Debug)]
enum Conversion<C, M> {
    Count(C),
    Columns(M),
}

impl<R: AggregateRow> Protocol for Aggregate<R> {
    const ENTRY: Entry = R::ENTRY;
    type Task = R::Task;
    type Params = Params;
    type Sender = Sender<R>;
    type Receiver = Receiver<R>;

    fn derive(request: &AggregateRequest) -> Result<Params, Unsupported> {
        request.check_sizes()?;
        let &AggregateRequest { sender_items, receiver_items, security, columns, groups, at_least, noisy } = request;
        if R::VALUED || groups > 1 || at_least > 1 {
            return Err(Unsupported::new("values of the receiver, groups, or a threshold", "leave them out"));
        }
        let matching = params::Params::derive::<R::Variant>(sender_items, receiver_items, security, 8 * columns)?;
        // Noise may lead below zero.
        let bits = if columns > 0 || noisy { 64 } else { ceil_log2(matching.bins + 1) };
        let len = matching.bins;
        let conversion = match columns {
            _ if matching.is_empty() => None,
            0 => Some(Conversion::Count(BitsToRing::derive(&BitsToRingRequest { len, bits, security })?)),
            width => Some(Conversion::Columns(Multiplexer::<u64>::derive(&MultiplexRequest { len, width, bits, security })?)),
        };
        Ok(Params { request: *request, matching, conversion, bits })
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let matching = params.matching.predicted_bytes();
        let conversion = match &params.conversion {
            None if params.request.noisy => 0..=0,
            None => return 0..=0,
            Some(Conversion::Count(count)) => BitsToRing::predicted_bytes(count),
            Some(Conversion::Columns(columns)) => Multiplexer::<u64>::predicted_bytes(columns),
        };
        let opened = 8 * params.results() as u64;
        matching.start() + conversion.start() + opened..=matching.end() + conversion.end() + opened
    }
}

impl Params {
    /// Results in all.
    fn results(&self) -> usize {
        self.request.groups * self.request.results()
    }
}

/// The sender, set up.
pub struct Sender<R: AggregateRow> {
    params: Params,
    conversion: Option<Conversion<BitsSender, MultiplexSender<u64>>>,
    matching: matching::Sender<R::Variant>,
}

impl<R: AggregateRow> Party for Sender<R> {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let conversion = match &params.conversion {
            None => None,
            Some(Conversion::Count(count)) => Some(Conversion::Count(BitsSender::setup(count, ch, rng)?)),
            Some(Conversion::Columns(columns)) => Some(Conversion::Columns(MultiplexSender::setup(columns, ch, rng)?)),
        };
        Ok(Self { params: params.clone(), conversion, matching: matching::Sender::setup(&params.matching, ch, rng)? })
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, conversion, matching } = self;
        input.check(&params.request)?;
        let columns = params.request.columns;
        // Step 5: the hint carries x + tau, and the sender's share is -tau.
        let mut masks = Secret::new(vec![0u64; params.matching.bins * columns]);
        rng.fill_bytes(bytemuck::cast_slice_mut(&mut masks));
        let carry = |item: usize, bin: usize, out: &mut [u8]| {
            let values = input.values[item * columns..][..columns].iter().zip(&masks[bin * columns..][..columns]);
            for (out, (value, mask)) in out.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                *out = value.wrapping_add(*mask).to_le_bytes();
            }
        };
        let membership = matching.run(&input.items, carry, ch, rng)?;
        masks.iter_mut().for_each(|mask| *mask = mask.wrapping_neg());

        let _phase = ch.phase(Phase::Payload);
        let bits: Vec<bool> = membership.iter().collect();
        let mut results = match conversion {
            None if params.request.noisy => vec![0; params.results()],
            None => return Ok(()),
            Some(Conversion::Count(count)) => count.run(SharedBits { bits }, ch, rng)?.column_sums(),
            Some(Conversion::Columns(columns)) => {
                let values = std::mem::take(&mut *masks);
                columns.run(SharedRows { bits, values }, ch, rng)?.column_sums()
            }
        };
        for (result, noise) in results.iter_mut().zip(&input.noise) {
            *result = result.wrapping_add(*noise);
        }
        // Step 9.
        ch.send(&Opened(results))
    }
}

/// The receiver, set up.
pub struct Receiver<R: AggregateRow> {
    params: Params,
    conversion: Option<Conversion<BitsReceiver, MultiplexReceiver<u64>>>,
    matching: matching::Receiver<R::Variant>,
}

impl<R: AggregateRow> Party for Receiver<R> {
    type Params = Params;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let conversion = match &params.conversion {
            None => None,
            Some(Conversion::Count(count)) => Some(Conversion::Count(BitsReceiver::setup(count, ch, rng)?)),
            Some(Conversion::Columns(columns)) => Some(Conversion::Columns(MultiplexReceiver::setup(columns, ch, rng)?)),
        };
        Ok(Self { params: params.clone(), conversion, matching: matching::Receiver::setup(&params.matching, ch, rng)? })
    }

    fn run(self, input: AggregateReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        let Self { params, conversion, matching } = self;
        input.check(&params.request, R::VALUED)?;
        let matched = matching.run(&input.items, ch, rng)?;

        let _phase = ch.phase(Phase::Payload);
        let bits: Vec<bool> = matched.membership.iter().collect();
        let own = match conversion {
            None if params.request.noisy => vec![0; params.results()],
            None => return Ok(output(&params, vec![0; params.results()])),
            Some(Conversion::Count(count)) => count.run(SharedBits { bits }, ch, rng)?.column_sums(),
            Some(Conversion::Columns(columns)) => {
                let values = matched.carried.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value)).collect();
                columns.run(SharedRows { bits, values }, ch, rng)?.column_sums()
            }
        };
        // Step 9.
        let Opened(theirs) = ch.recv(params.results())?;
        let low = u64::MAX >> (64 - params.bits);
        Ok(output(&params, own.iter().zip(theirs).map(|(own, theirs)| own.wrapping_add(theirs) & low).collect()))
    }
}

fn output(params: &Params, results: Vec<u64>) -> AggregateOutput {
    AggregateOutput { groups: results.chunks(params.request.results()).map(|group| Some(group.to_vec())).collect() }
}
