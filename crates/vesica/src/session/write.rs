//! A result on its way to a file.

use super::Config;
use super::prepare::OutputTarget;
use crate::failure::{Failure, code};
use crate::report::OutputReport;
use crate::table::{Input, Join, KeyTable, Matches, Place, ReceivedPayload, ending, new_rows, write_matches};
use crate::task::ResultSet;

/// What a result refers to.
pub(super) struct Writing<'a> {
    pub config: &'a Config,
    pub input: &'a Input,
    pub table: &'a KeyTable,
    /// Keys of the table; items behind them are dummies.
    pub distinct: usize,
}

impl Writing<'_> {
    /// Writes the result to where it is to go.
    pub fn write(&self, result: ResultSet, to: OutputTarget) -> Result<OutputReport, Failure> {
        match (result, to) {
            (ResultSet::Keep { keys, payload }, OutputTarget::Rows(output)) => {
                // Dummies come after the keys and match with negligible probability, unless the peer found a way to make them.
                if keys.last().is_some_and(|&last| last as usize >= self.distinct) {
                    return Err(Failure::new(code::PEER_MISBEHAVED, "a dummy item matched", "do not trust this partner's software"));
                }
                let payload = payload.map(|(schema, records)| (schema, records.open()));
                let payload = payload.as_ref().map(|(schema, bytes)| ReceivedPayload { schema, bytes });
                let path = output.path().to_owned();
                let join = self.config.destination.as_ref().map_or(Join::Inner, |to| to.join);
                let written = write_matches(self.input, self.table, &Matches { keys: &keys, payload }, join, output)?;
                Ok(OutputReport { path, rows: written.rows })
            }
            (ResultSet::NewRows { schema, records }, OutputTarget::Bytes(place)) => {
                let (bytes, rows) = new_rows(ReceivedPayload { schema: &schema, bytes: &records.open() })?;
                finish(place, &bytes, rows)
            }
            (ResultSet::Numbers { columns, groups, output }, OutputTarget::Bytes(place)) => {
                let table = ResultSet::table(&columns, groups.as_ref());
                let bytes = if ending::json_of_numbers(place.path())? { table.json(&output.groups) } else { table.csv(&output.groups) };
                finish(place, &bytes, output.groups.len())
            }
            (ResultSet::Shares(shares), OutputTarget::Bytes(place)) => finish(place, &shares.to_bytes(), shares.membership.len()),
            _ => Err(Failure::new(code::INTERNAL, "the result is not of the task's kind", "please report this")),
        }
    }
}

fn finish(place: Place, bytes: &[u8], rows: usize) -> Result<OutputReport, Failure> {
    let path = place.path().to_owned();
    place.write(bytes)?;
    Ok(OutputReport { path, rows: rows as u64 })
}
