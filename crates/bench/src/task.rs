//! A party's part in each task, and whether its whole output is right.

use std::collections::HashSet;

use vesica_party::{Abort, Channel, Role, Step, Stream};
use vesica_protocols::any::{ReceiverParty, SenderParty, SetTask};
use vesica_protocols::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateSenderInput, IntersectReceiverInput, IntersectReceiverOutput, IntersectSenderInput,
    ReceiverShares, SenderShares, SharesInput,
};
use vesica_structures::rng::SecretRng;

use crate::Settings;
use crate::inputs::{self, Inputs};

/// The sender's shares, handed over after the clock has stopped: only both together can be checked.
enum Check {}

impl Stream for Check {
    const STEP: Step = Step { protocol: "vesica-bench", number: 1, from: Role::Sender, carries: "shares to be checked" };
    type Element = u8;
}

/// What a party has at the end.
pub enum Output {
    /// Nothing, as it should.
    Nothing,
    /// Something that it was not to learn.
    TooMuch,
    Matches(IntersectReceiverOutput),
    Numbers(AggregateOutput),
    OfSender(SenderShares),
    OfReceiver(ReceiverShares),
}

/// The sender's run.
pub fn send(party: SenderParty, settings: &Settings, inputs: &Inputs, ch: &mut Channel, rng: &mut SecretRng) -> Result<Output, Abort> {
    let width = settings.item_bytes;
    let items = inputs::digests(&inputs.bytes, width);
    let payloads = inputs.payloads.clone();
    Ok(match party {
        SenderParty::Intersect(party) => match party.run(IntersectSenderInput { items, payloads }, ch, rng)?.matches {
            None => Output::Nothing,
            Some(_) => Output::TooMuch,
        },
        SenderParty::Aggregate(party) => {
            let values = inputs::values(Role::Sender, &inputs.bytes, width, settings.columns);
            party.run(AggregateSenderInput { items, values, noise: Vec::new() }, ch, rng)?;
            Output::Nothing
        }
        SenderParty::Shares(party) => Output::OfSender(party.run(SharesInput { items, payloads }, ch, rng)?),
    })
}

/// The receiver's run.
pub fn receive(
    party: ReceiverParty,
    task: SetTask,
    settings: &Settings,
    inputs: &Inputs,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Output, Abort> {
    let width = settings.item_bytes;
    let items = inputs::digests(&inputs.bytes, width);
    Ok(match party {
        ReceiverParty::Intersect(party) => Output::Matches(party.run(IntersectReceiverInput { items }, ch, rng)?),
        ReceiverParty::Aggregate(party) => {
            let values = inputs::values(Role::Receiver, &inputs.bytes, width, usize::from(task == SetTask::JoinAndCompute));
            let groups = inputs::groups(&inputs.bytes, width, settings.groups);
            Output::Numbers(party.run(AggregateReceiverInput { items, values, groups }, ch, rng)?)
        }
        ReceiverParty::Shares(party) => Output::OfReceiver(party.run(SharesInput { items, payloads: inputs.payloads.clone() }, ch, rng)?),
    })
}

impl Output {
    /// Whether it is right. Parties of the task `shares` speak once more.
    pub fn check(&self, task: SetTask, settings: &Settings, inputs: &Inputs, ch: &mut Channel) -> Result<bool, Abort> {
        let width = settings.item_bytes;
        let item = |i: u32| &inputs.bytes[i as usize * width..][..width];
        Ok(match self {
            Self::Nothing => true,
            Self::TooMuch => false,
            Self::Matches(output) => {
                let expected = inputs.common.iter().flat_map(|&i| inputs::payload(Role::Sender, item(i), settings.payload_bytes));
                output.matches == inputs.common && output.payloads.opened().into_iter().eq(expected)
            }
            Self::Numbers(output) => output.groups == numbers(task, settings, inputs),
            Self::OfSender(shares) => {
                let membership: Vec<u8> = shares.membership.iter().copied().map(u8::from).collect();
                ch.send_stream::<Check>(&membership)?;
                ch.send_stream::<Check>(&shares.payloads)?;
                true
            }
            Self::OfReceiver(shares) => {
                let mut membership = vec![0; shares.membership.len()];
                let mut payloads = vec![0; shares.payloads.len()];
                ch.recv_stream::<Check>(&mut membership)?;
                ch.recv_stream::<Check>(&mut payloads)?;
                let both = settings.payload_bytes + settings.receiver_payload_bytes;
                let common: HashSet<u32> = inputs.common.iter().copied().collect();
                let found = shares.items.iter().flatten().filter(|i| common.contains(i)).count();
                found == common.len()
                    && shares.items.iter().enumerate().all(|(bin, placed)| {
                        let common = placed.filter(|i| common.contains(i));
                        let expected = common.map_or(vec![0; both], |i| {
                            let theirs = inputs::payload(Role::Sender, item(i), settings.payload_bytes);
                            [theirs, inputs::payload(Role::Receiver, item(i), settings.receiver_payload_bytes)].concat()
                        });
                        let plain = payloads[bin * both..][..both].iter().zip(&shares.payloads[bin * both..][..both]).map(|(a, b)| a ^ b);
                        ((membership[bin] == 1) ^ shares.membership[bin]) == common.is_some() && plain.eq(expected)
                    })
            }
        })
    }
}

/// The plain function of an aggregate.
fn numbers(task: SetTask, settings: &Settings, inputs: &Inputs) -> Vec<Option<Vec<u64>>> {
    let width = settings.item_bytes;
    let results = settings.columns.max(1);
    let groups = inputs::groups(&inputs.bytes, width, settings.groups);
    let mut sums = vec![(0, vec![0u64; results]); settings.groups];
    for &i in &inputs.common {
        let item = &inputs.bytes[i as usize * width..][..width];
        let (count, sums) = &mut sums[groups.get(i as usize).map_or(0, |&group| group as usize)];
        *count += 1;
        let factor = if task == SetTask::JoinAndCompute { inputs::values(Role::Receiver, item, width, 1)[0] } else { 1 };
        let values = if settings.columns == 0 { vec![1] } else { inputs::values(Role::Sender, item, width, settings.columns) };
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.wrapping_add(value.wrapping_mul(factor));
        }
    }
    sums.into_iter().map(|(count, sums)| (count >= settings.at_least || settings.at_least <= 1).then_some(sums)).collect()
}
