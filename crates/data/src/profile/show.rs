//! The report as text.

use std::fmt;

use crate::profile::{ColumnProfile, Profile};
use crate::table::AlternativeStats;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packing = self.packing.map_or(String::new(), |packing| format!(", {}", packing.name()));
        let files = if self.files > 1 { format!(" in {} files", self.files) } else { String::new() };
        writeln!(
            f,
            "{}: {}{packing}{files}, {} bytes, {} rows",
            self.path,
            self.format.name(),
            self.bytes,
            self.keys.rows
        )?;
        if let Some(csv) = &self.csv {
            let delimiter = if csv.delimiter == '\t' { "tab".to_owned() } else { format!("'{}'", csv.delimiter) };
            let mark = if csv.byte_order_mark { ", byte-order mark" } else { "" };
            writeln!(f, "  {} columns, delimiter {delimiter}, line end {}{mark}", csv.header_columns, csv.line_end)?;
        }
        let keys = &self.keys;
        writeln!(f, "Key")?;
        writeln!(
            f,
            "  {} distinct keys, {} rows repeat one of {} keys",
            keys.distinct, keys.duplicate_rows, self.repeated_keys
        )?;
        if keys.alternatives.len() > 1 {
            for (number, alternative) in (1..).zip(&keys.alternatives) {
                let names = alternative.columns.join("`, `");
                let AlternativeStats { rows, distinct, .. } = alternative;
                writeln!(f, "  alternative {number} (`{names}`): {rows} rows have a key, {distinct} distinct keys")?;
            }
        }
        if self.repeated_keys > 0 {
            let top: Vec<String> = self.top_multiplicities.iter().map(u64::to_string).collect();
            writeln!(f, "  rows of the most frequent keys: {}", top.join(", "))?;
        }
        writeln!(
            f,
            "  {} rows never match for a null or empty key, {} because a normaliser refuses",
            keys.null_rows, keys.unmatchable_rows
        )?;
        for (column, stats) in self.columns.iter().zip(&keys.columns) {
            show_column(column, stats.empty, f)?;
        }
        for (index, warning) in self.warnings.iter().enumerate() {
            if index == 0 {
                writeln!(f, "Worth a look")?;
            }
            writeln!(f, "  {warning}")?;
        }
        Ok(())
    }
}

fn show_column(column: &ColumnProfile, empty: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "Column `{}` ({}, written as {})", column.name, column.kind, column.written.kind())?;
    let (values, nulls, shortest, longest) = (column.values, column.nulls, column.shortest, column.longest);
    writeln!(f, "  {values} values of {shortest} to {longest} bytes, {nulls} null, {empty} empty after normalising")?;
    for effect in &column.normalisers {
        writeln!(f, "  {:<8} would change {}, refuse {}", effect.normaliser, effect.changes, effect.refuses)?;
    }
    Ok(())
}
