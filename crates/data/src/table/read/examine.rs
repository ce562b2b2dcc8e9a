//! All faults of a table's values with their rows, where a run would end at the first one.

use std::path::Path;

use crate::key::KeySpec;
use crate::table::read::beside::BesideKeys;
use crate::table::read::faults::{Fault, OnFault};
use crate::table::read::keys::{collect, collect_spilled, with_keys};
use crate::table::{KeyTable, Source, TableError};

/// What a whole table holds.
#[derive(Debug)]
pub struct Examined {
    /// The table, with made-up values in the places of faulty ones; or what kept it from being read to its end, which
    /// is the last of the faults, too.
    pub table: Result<KeyTable, TableError>,
    /// The faults, in the order in which each kind was found first.
    pub faults: Vec<Fault>,
}

/// Reads a whole table as a run does, and goes on behind faults of values and of rows.
pub fn examine(
    source: &dyn Source,
    spec: &KeySpec,
    beside: BesideKeys<'_>,
    room: &dyn Fn() -> Option<u64>,
) -> Examined {
    let mut on_fault = OnFault::counting();
    let read = collect(source, spec, beside, room, &mut on_fault);
    Examined::of(source, spec, read, on_fault)
}

/// [`examine`], with the keys and what is beside them in files of the folder `work`.
pub fn examine_spilled(source: &dyn Source, spec: &KeySpec, beside: BesideKeys<'_>, work: &Path) -> Examined {
    let mut on_fault = OnFault::counting();
    let read = collect_spilled(source, spec, beside, work, None, &mut on_fault);
    Examined::of(source, spec, read, on_fault)
}

impl Examined {
    fn of(source: &dyn Source, spec: &KeySpec, read: Result<KeyTable, TableError>, mut on_fault: OnFault) -> Self {
        let table = read.and_then(|table| with_keys(source, spec, table));
        if let Err(error) = &table {
            on_fault.add(Fault::of(error));
        }
        Self { table, faults: on_fault.into_faults() }
    }
}

impl From<TableError> for Examined {
    /// A table that cannot be opened.
    fn from(error: TableError) -> Self {
        let faults = vec![Fault::of(&error)];
        Self { table: Err(error), faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Duplicates, Format, Input, InputOptions, PayloadSpec, ValueSpec};

    fn spec(key: &str, normalise: &[&str]) -> KeySpec {
        KeySpec::parse(&[key], normalise).expect("a key")
    }

    fn input(text: &[u8], format: Format) -> Input {
        let options = InputOptions { format: Some(format), delimiter: None };
        Input::spooled(text, "in", &options).expect("an input")
    }

    /// Where and what, how many, the rows, and whether a run ends at it.
    type Brief = (String, u64, Vec<u64>, bool);

    fn brief(faults: &[Fault]) -> Vec<Brief> {
        let each = faults.iter().map(|fault| {
            let what: Vec<&str> = fault.what.split(' ').take(4).collect();
            let place = fault.column.as_deref().unwrap_or("row");
            (format!("{place} {}", what.join(" ")), fault.count, fault.rows.clone(), fault.ends_run)
        });
        each.collect()
    }

    fn values() -> ValueSpec {
        let columns = ["n".to_owned(), "m".to_owned()];
        ValueSpec { group_by: Some("g".into()), ..ValueSpec::parse(&columns, &[], &[]).expect("columns") }
    }

    #[test]
    fn faults_of_values_are_counted_by_kind_and_column_and_reading_goes_on() {
        let mut text =
            String::from("id,n,m,g\n1,5,5,a\n2,x,1.5,a\n3,,7,b\n1,6,5,a\n2,1,1,a\n4,y,1,a\n1,5,5,b\n,z,z,a\n");
        (0..20).for_each(|row| text.push_str(&format!("{},q,1,a\n", 10 + row)));
        let input = input(text.as_bytes(), Format::Csv);
        let Examined { table, faults } = examine(&input, &spec("id", &[]), BesideKeys::Values(&values()), &|| None);
        let table = table.expect("read to the end");
        assert_eq!((table.stats.rows, table.stats.distinct, table.stats.null_rows), (28, 24, 1));
        let first_ten: Vec<u64> = [2, 6].into_iter().chain(9..17).collect();
        assert_eq!(
            brief(&faults),
            [
                ("n is not a decimal".into(), 22, first_ten, true),
                ("m has more than the".into(), 1, vec![2], true),
                ("n is missing".into(), 1, vec![3], true),
                ("row has the key of".into(), 2, vec![4, 7], true),
            ]
        );
        // A run ends at the first one.
        let error = crate::table::read_values(&input, &spec("id", &[]), &values()).expect_err("a fault");
        assert!(matches!(error, TableError::UnfitNumber { row: 2, .. }), "{error}");
    }

    #[test]
    fn rows_that_cannot_be_read_and_refused_keys_are_counted() {
        let text = b"day,n\n2026-01-31,1\n2026-02-31,2\n2026-01-01\n\xff,3\nx,4\n2026-01-02,5\n";
        let key = spec("day", &["day=date"]);
        let payload = PayloadSpec { columns: vec!["n".into()], duplicates: Duplicates::Refuse };
        let Examined { table, faults } =
            examine(&input(text, Format::Csv), &key, BesideKeys::Payload(&payload), &|| None);
        let table = table.expect("read to the end");
        assert_eq!((table.stats.rows, table.stats.distinct, table.stats.unmatchable_rows), (6, 2, 2));
        assert_eq!(
            brief(&faults),
            [
                ("day is refused by a".into(), 2, vec![2, 5], false),
                ("row has not as many".into(), 1, vec![4], true),
                ("row is not UTF-8 text".into(), 1, vec![5], true),
            ]
        );
        // What follows a faulty line stands in its own row.
        assert_eq!(table.payload.expect("a payload").bytes, [1, 1, b'1', 1, 1, b'5']);
    }

    #[test]
    fn lines_of_json_that_are_no_rows_are_counted() {
        let many = "{\"id\":\"k\",\"n\":1}\n".repeat(1024);
        let text =
            format!("{many}{{\"id\":\"a\",\"n\":[1]}}\n{{\"id\"\n{{\"n\":2,\"id\":\"b\"}}\n{{\"n\":7,\"id\":\"k\"}}\n");
        let spec_of = ValueSpec::parse(&["n".to_owned()], &[], &[]).expect("columns");
        let source = input(text.as_bytes(), Format::JsonLines);
        let Examined { table, faults } = examine(&source, &spec("id", &[]), BesideKeys::Values(&spec_of), &|| None);
        let table = table.expect("read to the end");
        assert_eq!((table.stats.rows, table.stats.distinct), (1028, 2));
        assert_eq!(table.values.expect("values").values, [1, 2]);
        let lines: Vec<_> = faults.iter().map(|fault| (fault.rows.clone(), fault.file.is_some())).collect();
        assert_eq!(lines, [(vec![1025], true), (vec![1026], true), (vec![1028], false)], "{faults:?}");
    }

    #[test]
    fn payloads_that_differ_or_are_too_wide_are_counted() {
        let wide = "w".repeat(1 << 17);
        let text = format!("id,p\n1,{wide}\n1,a\n2,b\n2,c\n3,d\n3,{wide}\n");
        let payload = PayloadSpec { columns: vec!["p".into()], duplicates: Duplicates::Refuse };
        let Examined { table, faults } =
            examine(&input(text.as_bytes(), Format::Csv), &spec("id", &[]), BesideKeys::Payload(&payload), &|| None);
        assert_eq!(table.expect("read to the end").stats.distinct, 3);
        assert_eq!(
            brief(&faults),
            [("row has a payload of".into(), 2, vec![1, 6], true), ("row has the key of".into(), 1, vec![4], true)]
        );
    }

    #[test]
    fn what_no_row_is_guilty_of_is_the_last_fault() {
        for (text, what) in [("\n", "in is empty"), ("x\n1\n", "in has no column `id`"), ("id,x\n,1\n", "no row of in")]
        {
            let Examined { table, faults } =
                examine(&input(text.as_bytes(), Format::Csv), &spec("id", &[]), BesideKeys::Nothing, &|| None);
            assert!(table.is_err() && faults.len() == 1 && faults[0].rows.is_empty(), "{faults:?}");
            assert!(faults[0].what.starts_with(what) && faults[0].ends_run, "{faults:?}");
        }
    }
}
