//! What only this side sees, once the partner is gone: the receipt, the output, the report.

use std::time::Duration;

use vesica_party::Tally;
use vesica_party::transport::KeyExchange;

use super::advice::{self, Matched};
use super::agree::Carried;
use super::close::PartnerGone;
use super::context::Context;
use super::prepare::Prepared;
use super::revealed::revealed;
use super::work::ProtocolOutcome;
use super::write::Writing;
use super::{Config, TaskAgreement};
use crate::failure::Failure;
use crate::progress::{Gauge, Stage};
use crate::receipt::{Receipt, to_hex};
use crate::report::{OutputReport, PhaseReport, Report, ValueReport};
use crate::resume;
use crate::table::{KeyTable, Place};
use crate::task::{Finished, ResultSet};
use crate::threads;

impl PartnerGone {
    /// Looks at the result, writes it and reports.
    pub fn deliver(self, ctx: &Context<'_>) -> Result<Report, Failure> {
        let Self { carried, outcome, receipt, tally, gone_after } = self;
        let ProtocolOutcome { result, matched_elsewhere, new_elsewhere, cluster, .. } = outcome;
        let Carried { agreement, own, padded, key_notes, mut warnings, record, .. } = carried;
        let Prepared { source, table, placed, distinct, .. } = own;
        // A cluster leaves nothing but a few numbers to be written here.
        let is_long = cluster.is_none();
        if is_long && let Some(reason) = ctx.interrupt.reason() {
            ctx.events.notice(&format!(
                "{}, but the run was complete by then and keeps its result; a second signal gives it up",
                reason.fault
            ));
        }
        let finished = Finished { table: &table, distinct, session: &agreement.session, entry: agreement.entry };
        let result = result.map(|result| result(&finished));
        let matched_keys = result.as_ref().and_then(ResultSet::matched_keys).or(matched_elsewhere);
        let matched_by_alternative = match &result {
            Some(ResultSet::Keep { keys, .. }) if ctx.config.source.key.has_alternatives() => {
                Some(table.by_alternative(keys))
            }
            _ => None,
        };
        let is_exact = agreement.terms.disclosure().noise.is_none();
        let counted = matched_keys.or_else(|| counted(ctx.config, result.as_ref()?).filter(|_| is_exact));
        // First: a result that cannot be written must not take along the proof of the run, which the
        // partner has.
        let receipt = receipt.zip(placed.receipt).and_then(|(receipt, place)| save(&receipt, place, &mut warnings));
        let output = match (placed.sink, result) {
            (Some(sink), Some(result)) => {
                if is_long {
                    ctx.watch.enter(Stage::Writing, Gauge::pass(&*source));
                }
                let writing = Writing { config: ctx.config, source: &*source, table: &table, distinct };
                Some(writing.write(result, sink)?)
            }
            // The machines of a cluster will write the rows.
            _ => new_elsewhere.map(|new| OutputReport {
                path: source.name().to_owned(),
                rows: table.stats.rows + new,
                new_rows: Some(new),
                totals: Vec::new(),
            }),
        };
        // The result is there, and nothing has to be run again.
        if let Some((folder, _lock)) = record
            && let Err(error) = resume::remove(&folder)
        {
            warnings.push(format!("cannot remove the record of the run in {}: {error}; remove it", folder.display()));
        }
        let partner = agreement.peer_items(ctx.config.role);
        // Of a union, the other keys of the partner are common.
        let new_rows = output.as_ref().and_then(|output: &OutputReport| output.new_rows);
        if let Some(keys) = counted.or_else(|| Some(partner.saturating_sub(new_rows?))) {
            let by_alternative = matched_by_alternative.clone();
            let matched = Matched { keys, own: distinct as u64, partner, by_alternative };
            let (key, stats) = (&ctx.config.source.key, &table.stats);
            warnings.extend(advice::causes(&matched, key, stats, &stats.kinds(), &agreement.peer_key_kinds));
        }
        let done = Done {
            agreement,
            table,
            own_items: padded as u64,
            matched_keys,
            matched_by_alternative,
            output,
            receipt,
            tally,
            gone_after,
            traffic_of_workers: cluster.map_or((0, 0), |cluster| cluster.traffic),
            key_notes,
            warnings,
        };
        Ok(done.report(ctx))
    }
}

/// How many keys are common, where the result is that number alone.
fn counted(config: &Config, result: &ResultSet) -> Option<u64> {
    let ResultSet::Numbers { groups: None, output, .. } = result else { return None };
    let is_count = config.task.name() == "cardinality";
    match output.groups.as_slice() {
        [Some(numbers)] if is_count => numbers.first().copied(),
        _ => None,
    }
}

/// Writes the receipt. A lost receipt does not undo the result, which is there already.
fn save(receipt: &Receipt, place: Place, warnings: &mut Vec<String>) -> Option<String> {
    let path = place.path().to_owned();
    match place.write(&receipt.to_json()) {
        Ok(()) => Some(path),
        Err(error) => {
            warnings.push(format!("the receipt is lost: {error}"));
            None
        }
    }
}

/// What a run gave.
struct Done {
    agreement: TaskAgreement,
    table: KeyTable,
    own_items: u64,
    matched_keys: Option<u64>,
    matched_by_alternative: Option<Vec<u64>>,
    output: Option<OutputReport>,
    receipt: Option<String>,
    tally: Tally,
    gone_after: Duration,
    /// Bytes that workers of a cluster sent and received.
    traffic_of_workers: (u64, u64),
    key_notes: Vec<String>,
    warnings: Vec<String>,
}

impl Done {
    fn report(self, ctx: &Context<'_>) -> Report {
        let (config, agreement, total) = (ctx.config, &self.agreement, self.tally.total());
        let all = ctx.started.elapsed();
        let (sent, received) = self.traffic_of_workers;
        let (extent, disclosure) = (agreement.extent, agreement.terms.disclosure());
        Report {
            report_version: 2,
            ok: true,
            vesica: env!("CARGO_PKG_VERSION"),
            role: config.role,
            task: config.task.name(),
            protocol: agreement.entry.id,
            broken: agreement.entry.broken(),
            choice: agreement.why.clone(),
            security: extent.security,
            post_quantum: config.post_quantum,
            session: to_hex(&agreement.session),
            peer: agreement.peer_key.map(|key| key.fingerprint().to_string()),
            key_exchange: agreement.key_exchange.map(KeyExchange::name),
            policy: config.policy.as_ref().map(|policy| policy.digest_text()),
            own_items: self.own_items,
            peer_items: agreement.peer_items(config.role),
            buckets: agreement.buckets,
            peer_key_kinds: agreement.peer_key_kinds.clone(),
            matched_keys: self.matched_keys,
            matched_by_alternative: self.matched_by_alternative,
            output: self.output,
            payload_columns: disclosure.payload_columns,
            payload_bytes: disclosure.payload_bytes as u64,
            values: ValueReport::all(
                &disclosure.sender_values,
                &disclosure.receiver_values,
                config.role,
                self.table.values.as_ref().map_or(&[], |values| &values.clamped),
            ),
            input: self.table.stats,
            groups: disclosure.groups.map(|groups| groups as u64),
            reveal_if_at_least: disclosure.at_least,
            noise_epsilon: disclosure.noise,
            revealed: revealed(&*agreement.terms, agreement.entry, &extent, &config.source.key),
            receipt: self.receipt,
            threads: threads::count(),
            bytes_sent: total.sent() + sent,
            bytes_received: total.received() + received,
            seconds: all.as_secs_f64(),
            phases: PhaseReport::all(&self.tally, self.gone_after, all),
            key_notes: self.key_notes,
            warnings: self.warnings,
        }
    }
}
