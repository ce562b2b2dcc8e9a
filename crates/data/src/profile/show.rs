//! The report as text.

use std::fmt;

use crate::profile::{ColumnProfile, Profile};
use crate::table::AlternativeStats;
use crate::words::counted;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packing = self.packing.map_or(String::new(), |packing| format!(", {}", packing.name()));
        let files = if self.files > 1 { format!(" in {} files", self.files) } else { String::new() };
        writeln!(
            f,
            "{}: {}{packing}{files}, {}, {}",
            self.path,
            self.format.name(),
            counted(self.bytes, "byte", "bytes"),
            counted(self.keys.rows, "row", "rows")
        )?;
        if let Some(csv) = &self.csv {
            let delimiter = if csv.delimiter == '\t' { "tab".to_owned() } else { format!("'{}'", csv.delimiter) };
            let mark = if csv.byte_order_mark { ", byte-order mark" } else { "" };
            let columns = counted(csv.header_columns, "column", "columns");
            writeln!(f, "  {columns}, delimiter {delimiter}, line end {}{mark}", csv.line_end)?;
        }
        let keys = &self.keys;
        writeln!(f, "Key")?;
        writeln!(
            f,
            "  {}, {} one of {}",
            counted(keys.distinct, "distinct key", "distinct keys"),
            counted(keys.duplicate_rows, "row repeats", "rows repeat"),
            counted(self.repeated_keys, "key", "keys")
        )?;
        if keys.alternatives.len() > 1 {
            for (number, alternative) in (1..).zip(&keys.alternatives) {
                let names = alternative.columns.join("`, `");
                let AlternativeStats { rows, distinct, .. } = alternative;
                let (rows, distinct) =
                    (counted(*rows, "row has", "rows have"), counted(*distinct, "distinct key", "distinct keys"));
                writeln!(f, "  alternative {number} (`{names}`): {rows} a key, {distinct}")?;
            }
        }
        if self.repeated_keys > 0 {
            let top: Vec<String> = self.top_multiplicities.iter().map(u64::to_string).collect();
            writeln!(f, "  rows of the most frequent keys: {}", top.join(", "))?;
        }
        writeln!(
            f,
            "  {} for a null or empty key, {} because a normaliser refuses",
            counted(keys.null_rows, "row never matches", "rows never match"),
            keys.unmatchable_rows
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
    let (values, longest) = (counted(values, "value", "values"), counted(longest, "byte", "bytes"));
    writeln!(f, "  {values} of {shortest} to {longest}, {nulls} null, {empty} empty after normalising")?;
    for effect in &column.normalisers {
        writeln!(f, "  {:<8} would change {}, refuse {}", effect.normaliser, effect.changes, effect.refuses)?;
    }
    Ok(())
}
