//! A result on its way to where it is to go.

use vesica_protocols::tasks::NewRecords;

use super::Config;
use crate::failure::Failure;
use crate::report::OutputReport;
use crate::table::{
    Join, KeyTable, Matches, NewKeys, ReceivedPayload, ResultTable, Sink, Source, write_matches, write_new_rows,
    write_spilled_matches, write_union,
};
use crate::task::{ResultSet, dummy_matched, refuse_unread};

/// What a result refers to.
pub(super) struct Writing<'a> {
    pub config: &'a Config,
    pub source: &'a dyn Source,
    pub table: &'a KeyTable,
    /// Number of keys in the table; items behind them are dummies.
    pub distinct: usize,
}

impl Writing<'_> {
    /// Which own rows are the result.
    fn join(&self) -> Join {
        self.config.destination.as_ref().map_or(Join::Inner, |to| to.join)
    }

    /// Gives the result to its sink.
    pub fn write(&self, result: ResultSet, mut sink: Box<dyn Sink>) -> Result<OutputReport, Failure> {
        let path = sink.name().to_owned();
        let (mut new_rows, mut totals) = (None, Vec::new());
        let rows = match result {
            ResultSet::Keep { keys, payload, unread } => {
                refuse_unread(unread)?;
                // Dummies come after the keys.
                if keys.last().is_some_and(|&last| last as usize >= self.distinct) {
                    return Err(dummy_matched());
                }
                let payload = payload.map(|(schema, records)| (schema, records.open()));
                let payload = payload.as_ref().map(|(schema, bytes)| ReceivedPayload { schema, bytes });
                write_matches(self.source, self.table, &Matches { keys: &keys, payload }, self.join(), sink)?.rows
            }
            ResultSet::Union { keys, payload, records } => {
                let columns: Vec<String> =
                    self.config.source.key.columns().iter().map(|column| column.name.clone()).collect();
                let mut records = records.into_iter().map(NewRecords::open);
                let mut all = records.next().unwrap_or_default();
                records.for_each(|of_bucket| all.extend(of_bucket));
                let new = NewKeys { columns: &columns, keys: &keys, payload: payload.as_ref(), records: &all };
                let stats = write_union(self.source, self.table, &new, sink)?;
                new_rows = Some(stats.new_rows);
                stats.written.rows
            }
            ResultSet::KeepInWorkFolder(matches) => {
                refuse_unread(matches.unread)?;
                let join = self.join();
                let (schema, rows) = matches.into_rows(join)?;
                write_spilled_matches(self.source, self.table, &rows, schema.as_ref(), join, sink)?.rows
            }
            ResultSet::NewRows { schema, records } => {
                write_new_rows(ReceivedPayload { schema: &schema, bytes: &records.open() }, &mut *sink)?.rows
            }
            ResultSet::Numbers { columns, groups, output } => {
                let groups = groups.as_ref().map(|(name, categories)| (name.as_str(), categories.as_slice()));
                let numbers = ResultTable { columns, groups, results: &output.groups };
                sink.numbers(&numbers)?;
                sink.finish()?;
                totals = numbers.totals();
                output.groups.len() as u64
            }
            ResultSet::Shares(shares) => {
                sink.shares(&shares.to_bytes())?;
                sink.finish()?;
                shares.membership.len() as u64
            }
        };
        Ok(OutputReport { path, rows, new_rows, totals })
    }
}
