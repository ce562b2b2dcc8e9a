//! The protocol of the agreed task: its inputs from the table, its result into a file.

use vesica_party::{Abort, Channel, Role};
use vesica_protocols::any::{ReceiverParty, SenderParty};
use vesica_protocols::tasks::{
    AggregateOutput, AggregateReceiverInput, AggregateRequest, AggregateSenderInput, IntersectReceiverInput, IntersectSenderInput,
    ReceiverShares, SealedPayloads, SenderShares, SharesInput,
};
use vesica_structures::rng::SecretRng;

use super::Config;
use crate::failure::{Failure, code};
use crate::handshake::Agreement;
use crate::plan::SetTask;
use crate::receipt::to_hex;
use crate::report::OutputReport;
use crate::shares::{Header, NO_ROW, ShareFile};
use crate::table::{self, Join, KeyTable, MAX_GROUPS, Matches, NO_KEY, ReceivedPayload, ResultTable, Sink, write_matches};

// `vesica-data` knows no protocol, so it has this limit of its own.
const _: () = assert!(MAX_GROUPS == AggregateRequest::MOST_GROUPS);

/// What this side learned.
pub(super) enum Learned {
    /// Own matches, and the payloads that came with them.
    Matches { matches: Vec<u32>, payloads: SealedPayloads },
    /// Numbers about the intersection.
    Numbers(AggregateOutput),
    /// Shares of the sender.
    OfSender(SenderShares),
    /// Shares of the receiver.
    OfReceiver(ReceiverShares),
}

/// Runs the protocol in the task's roles on `items`, the table's keys with dummies behind them. `None`: this side learns nothing.
pub(super) fn compute(
    role: Role,
    ch: &mut Channel,
    agreement: &Agreement,
    items: Vec<u128>,
    table: &mut KeyTable,
    rng: &mut SecretRng,
) -> Result<Option<Learned>, Abort> {
    let body = |ch: &mut Channel| match role {
        Role::Sender => send(ch, agreement, items, table, rng),
        Role::Receiver => receive(ch, agreement, items, table, rng).map(Some),
    };
    if ch.role() == role { body(ch) } else { ch.reversed(body) }
}

fn send(
    ch: &mut Channel,
    agreement: &Agreement,
    items: Vec<u128>,
    table: &mut KeyTable,
    rng: &mut SecretRng,
) -> Result<Option<Learned>, Abort> {
    let terms = &agreement.terms;
    Ok(match agreement.row.sender(terms, ch, rng)? {
        SenderParty::Intersect(party) => {
            let mut payloads = table.payload.as_mut().map(|payload| std::mem::take(&mut payload.bytes)).unwrap_or_default();
            payloads.resize(items.len() * terms.payload_bytes, 0);
            let output = party.run(IntersectSenderInput { items, payloads }, ch, rng)?;
            output.matches.map(|matches| Learned::Matches { matches, payloads: SealedPayloads::default() })
        }
        SenderParty::Aggregate(party) => {
            let values = values(table, items.len(), terms.columns);
            let group: Vec<_> = agreement.noise_scales.iter().collect();
            // Room for all of it at once: a vector that grows leaves copies behind, which nobody wipes.
            let mut noise = Vec::with_capacity(terms.groups * group.len());
            noise.extend((0..terms.groups).flat_map(|_| &group).map(|scale| scale.sample(rng) as u64));
            party.run(AggregateSenderInput { items, values, noise }, ch, rng)?;
            None
        }
        SenderParty::Shares(party) => {
            let payloads = bytes(values(table, items.len(), agreement.sender_values.len()));
            Some(Learned::OfSender(party.run(SharesInput { items, payloads }, ch, rng)?))
        }
    })
}

fn receive(ch: &mut Channel, agreement: &Agreement, items: Vec<u128>, table: &mut KeyTable, rng: &mut SecretRng) -> Result<Learned, Abort> {
    let terms = &agreement.terms;
    let columns = agreement.receiver_values.len();
    Ok(match agreement.row.receiver(terms, ch, rng)? {
        ReceiverParty::Intersect(party) => {
            let output = party.run(IntersectReceiverInput { items }, ch, rng)?;
            Learned::Matches { matches: output.matches, payloads: output.payloads }
        }
        ReceiverParty::Aggregate(party) => {
            let values = values(table, items.len(), columns);
            let mut groups = match &table.values {
                Some(values) if terms.groups > 1 => values.groups.clone(),
                _ => Vec::new(),
            };
            // A dummy never matches, so that its group does not matter.
            groups.resize(if terms.groups > 1 { items.len() } else { 0 }, 0);
            Learned::Numbers(party.run(AggregateReceiverInput { items, values, groups }, ch, rng)?)
        }
        ReceiverParty::Shares(party) => {
            let payloads = bytes(values(table, items.len(), columns));
            Learned::OfReceiver(party.run(SharesInput { items, payloads }, ch, rng)?)
        }
    })
}

/// The table's values in `Z_2^64`, `columns` for each of `items`; zeros for dummies.
fn values(table: &KeyTable, items: usize, columns: usize) -> Vec<u64> {
    let mut values: Vec<u64> = table.values.iter().flat_map(|values| &values.values).map(|&value| value as u64).collect();
    values.resize(items * columns, 0);
    values
}

fn bytes(values: Vec<u64>) -> Vec<u8> {
    values.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// A result on its way to its sink.
pub(super) struct Writing<'a> {
    pub config: &'a Config,
    pub agreement: &'a Agreement,
    pub source: &'a dyn table::Source,
    pub table: &'a KeyTable,
    /// Keys of the table; items behind them are dummies.
    pub distinct: usize,
}

impl Writing<'_> {
    /// Writes what was learned to where it is to go.
    pub fn write(&self, learned: Learned, mut sink: Box<dyn Sink>) -> Result<OutputReport, Failure> {
        let path = sink.name().to_owned();
        let rows = match learned {
            Learned::Matches { matches, payloads } => {
                // Dummies come after the keys and match with negligible probability, unless the peer found a way to make them.
                if matches.last().is_some_and(|&last| last as usize >= self.distinct) {
                    return Err(Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", "do not trust this partner's software"));
                }
                let payloads = payloads.open();
                let join = self.config.destination.as_ref().map_or(Join::Inner, |to| to.join);
                let payload = match self.config.role {
                    Role::Receiver => self.agreement.payload.as_ref().map(|schema| ReceivedPayload { schema, bytes: &payloads }),
                    Role::Sender => None,
                };
                write_matches(self.source, self.table, &Matches { keys: &matches, payload }, join, sink)?.rows
            }
            Learned::Numbers(numbers) => {
                sink.numbers(&self.result_table(&numbers.groups))?;
                sink.finish()?;
                numbers.groups.len() as u64
            }
            Learned::OfSender(shares) => {
                let bins = shares.membership.len();
                sink.shares(&ShareFile::of_sender(self.header(bins), shares).to_bytes())?;
                sink.finish()?;
                bins as u64
            }
            Learned::OfReceiver(shares) => {
                let bins = shares.membership.len();
                sink.shares(&ShareFile::of_receiver(self.header(bins), shares, &self.first_rows()).to_bytes())?;
                sink.finish()?;
                bins as u64
            }
        };
        Ok(OutputReport { path, rows })
    }

    fn result_table<'b>(&'b self, results: &'b [Option<Vec<u64>>]) -> ResultTable<'b> {
        let Agreement { sender_values, receiver_values, .. } = self.agreement;
        let mut columns: Vec<(String, u8)> = sender_values.iter().map(|column| (column.name.clone(), column.scale)).collect();
        match self.agreement.terms.task {
            SetTask::Cardinality => columns.push(("cardinality".into(), 0)),
            SetTask::JoinAndCompute => {
                for (name, scale) in &mut columns {
                    for factor in receiver_values {
                        name.push_str(&format!("_times_{}", factor.name));
                        *scale += factor.scale;
                    }
                }
            }
            _ => {}
        }
        let categories = self.table.values.as_ref().map_or(&[][..], |values| &values.categories);
        ResultTable { results, columns, groups: self.config.source.values.group_by.as_deref().map(|name| (name, categories)) }
    }

    fn header(&self, bins: usize) -> Header {
        Header {
            role: self.config.role,
            session: to_hex(&self.agreement.session),
            protocol: self.agreement.row.entry().id.into(),
            bins: bins as u64,
            sender_columns: self.agreement.sender_values.clone(),
            receiver_columns: self.agreement.receiver_values.clone(),
        }
    }

    /// For each key the place of its first row.
    fn first_rows(&self) -> Vec<u32> {
        let mut first = vec![NO_ROW; self.distinct];
        for (row, &key) in (0u32..).zip(&self.table.row_key) {
            if key != NO_KEY
                && let Some(first) = first.get_mut(key as usize)
                && *first == NO_ROW
            {
                *first = row;
            }
        }
        first
    }
}
