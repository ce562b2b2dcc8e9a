//! What only this side sees, once the server is gone: the rows that match, and the report.

use vesica_party::transport::KeyExchange;
use vesica_protocols::tasks::SealedPayloads;

use super::ask::{Answered, AnswersSoFar};
use super::describe::Inquiry;
use super::report::QueryReport;
use super::terms::trust;
use super::{Context, Own};
use crate::failure::Failure;
use crate::progress::{Gauge, Stage};
use crate::report::OutputReport;
use crate::service::leak_of_prefix;
use crate::session::advice::{self, Matched};
use crate::table::{Join, KeyTable, Matches, PayloadSchema, ReceivedPayload, write_matches};
use crate::task::refuse_unread;

impl Answered {
    /// Writes the rows that match and reports.
    pub fn deliver(self, ctx: &Context<'_>) -> Result<QueryReport, Failure> {
        ctx.interrupt.complete();
        let Self { inquiry, answers: AnswersSoFar { asked, matches, payloads, unread, .. }, enrolment, bytes } = self;
        let Inquiry {
            own: Own { source, sink, table, .. },
            description,
            questions,
            key_exchange,
            server_key,
            mut warnings,
        } = inquiry;
        let config = ctx.config;
        warnings.extend(advice::empty(&table.stats));
        // Not before: a server must not see by the client's messages whether its answers could be read.
        refuse_unread(unread)?;
        if matches.is_empty() {
            let (own, partner) = (table.stats.distinct, description.capacity);
            let matched = Matched { keys: 0, own, partner, by_alternative: None };
            let kinds = table.stats.kinds();
            warnings.extend(advice::causes(&matched, &config.source.key, &table.stats, &kinds, &description.key_kinds));
        }
        ctx.watch.enter(Stage::Writing, Gauge::pass(&*source));
        let payloads: Vec<u8> = payloads.into_iter().flat_map(SealedPayloads::open).collect();
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        let (mut matches, mut payloads) = in_order(&questions.order, &matches, payloads, width);
        let unreadable = match &description.payload {
            Some(schema) if config.destination.join != Join::Difference => {
                drop_unreadable(schema, &mut matches, &mut payloads, &table)
            }
            _ => Vec::new(),
        };
        let payload = description.payload.as_ref().map(|schema| ReceivedPayload { schema, bytes: &payloads });
        let path = sink.name().to_owned();
        let kept_rows = Matches { keys: &matches, payload };
        let rows = write_matches(&*source, &table, &kept_rows, config.destination.join, sink)?.rows;
        Ok(QueryReport {
            ok: unreadable.is_empty(),
            vesica: env!("CARGO_PKG_VERSION"),
            protocol: description.protocol.clone(),
            security: description.security,
            server: server_key.map(|key| key.fingerprint().to_string()),
            key_exchange: key_exchange.map(KeyExchange::name),
            rows: table.stats.rows,
            keys: questions.items() as u64,
            matched_keys: matches.len() as u64,
            unreadable,
            set_items: description.capacity,
            queries: asked as u64,
            items_per_query: description.items_per_query,
            leak_prefix: description.leak_prefix,
            slow_hash: description.slow_hash.clone(),
            integer_bits: description.integer_bits,
            leaked: description.leak_prefix.map(leak_of_prefix).into_iter().collect(),
            trusted: trust(&description).into_iter().collect(),
            enrolment,
            output: OutputReport { path, rows, new_rows: None, totals: Vec::new() },
            bytes_sent: bytes[0],
            bytes_received: bytes[1],
            seconds: ctx.started.elapsed().as_secs_f64(),
            warnings,
        })
    }
}

/// The keys that matched, ascending, with the records of each: `matches` are places in the order in
/// which keys were asked about.
fn in_order(order: &[u32], matches: &[u32], payloads: Vec<u8>, width: usize) -> (Vec<u32>, Vec<u8>) {
    let mut found: Vec<(u32, usize)> =
        matches.iter().enumerate().filter_map(|(place, &asked)| Some((*order.get(asked as usize)?, place))).collect();
    found.sort_unstable();
    let record = |&(_, place): &(u32, usize)| payloads.get(place * width..(place + 1) * width).unwrap_or_default();
    let sorted = found.iter().flat_map(record).copied().collect();
    (found.iter().map(|&(key, _)| key).collect(), sorted)
}

/// Takes out matches whose record is none, and gives the first row of each. The server is gone by
/// now: it cannot see which records a client could read.
fn drop_unreadable(
    schema: &PayloadSchema,
    matches: &mut Vec<u32>,
    payloads: &mut Vec<u8>,
    table: &KeyTable,
) -> Vec<u64> {
    let readable: Vec<bool> =
        payloads.chunks_exact(schema.width.max(1)).map(|record| schema.check_record(record).is_ok()).collect();
    if readable.len() != matches.len() || readable.iter().all(|&is_readable| is_readable) {
        return Vec::new();
    }
    let row_of = |key: u32| table.row_key.iter().position(|&of_row| of_row == key).map_or(0, |row| row as u64 + 1);
    let bad = matches.iter().zip(&readable).filter(|&(_, &is_readable)| !is_readable);
    let mut rows: Vec<u64> = bad.map(|(&key, _)| row_of(key)).collect();
    rows.sort_unstable();
    let good = payloads.chunks_exact(schema.width.max(1)).zip(&readable).filter(|&(_, &is_readable)| is_readable);
    *payloads = good.flat_map(|(record, _)| record).copied().collect();
    let mut kept = readable.iter();
    matches.retain(|_| kept.next().copied().unwrap_or(true));
    rows
}
