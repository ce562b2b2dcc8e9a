//! The result of an aggregate as text: CSV, or JSON where the name ends in `.json`.

use serde_json::{Map, Number, Value, json};

use crate::table::ResultTable;
use crate::table::formats::csv::write_field;
use crate::table::formats::json_lines::LARGEST_EXACT;

impl ResultTable<'_> {
    /// As CSV. A missing number, and a missing group's name, is an empty field; where it is the
    /// only one of its line `""`, since readers pass over an empty line.
    pub fn csv(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let head = self.groups.map(|(name, _)| Some(name));
        line(&mut text, head.into_iter().chain(self.columns.iter().map(|(name, _)| Some(name.as_str()))));
        for (group, results) in self.rows() {
            line(&mut text, self.groups.map(|_| group).into_iter().chain(results.iter().map(Option::as_deref)));
        }
        text
    }

    /// As JSON: an array of objects.
    pub fn json(&self) -> Vec<u8> {
        // Plain values into memory: serialising cannot fail.
        let mut text = serde_json::to_vec_pretty(&self.objects().collect::<Value>()).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// As JSON lines: an object a line, as [`Self::json`] has them.
    pub fn json_lines(&self) -> Vec<u8> {
        self.objects().fold(Vec::new(), |mut text, object| {
            text.extend(serde_json::to_vec(&object).unwrap_or_default());
            text.push(b'\n');
            text
        })
    }

    /// Each row as an object. Whole numbers that every reader takes exactly are numbers,
    /// larger ones and decimals are text; a missing one is null.
    fn objects(&self) -> impl Iterator<Item = Value> {
        self.rows().map(|(group, results)| {
            let mut object = Map::new();
            if let Some((name, _)) = self.groups {
                object.insert(name.to_owned(), group.into());
            }
            for ((name, scale), result) in self.columns.iter().zip(results) {
                let number = |text: String| match text.parse::<i64>() {
                    Ok(whole) if *scale == 0 && whole.unsigned_abs() <= LARGEST_EXACT => {
                        Value::Number(Number::from(whole))
                    }
                    _ => json!(text),
                };
                object.insert(name.clone(), result.map_or(Value::Null, number));
            }
            Value::Object(object)
        })
    }
}

/// Appends a line of CSV.
fn line<'a>(text: &mut Vec<u8>, cells: impl Iterator<Item = Option<&'a str>>) {
    let start = text.len();
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            text.push(b',');
        }
        if let Some(cell) = cell {
            write_field(cell, b',', text);
        }
    }
    if text.len() == start {
        text.extend_from_slice(b"\"\"");
    }
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Decimal128Type, Int64Type};

    use super::*;

    #[test]
    fn results_are_exact_decimals_and_what_is_kept_back_is_empty() {
        let names = [None, Some("a,b".into()), Some("c".into())];
        let results = [Some(vec![u64::MAX, 7]), None, Some(vec![123_456, i64::MAX as u64])];
        let columns = vec![("amount".into(), 2), ("count".into(), 0)];
        let table = ResultTable { columns, groups: Some(("region", &names)), results: &results };
        assert_eq!(
            String::from_utf8(table.csv()).expect("text"),
            "region,amount,count\n,-0.01,7\n\"a,b\",,\nc,1234.56,9223372036854775807\n"
        );
        let json: Value = serde_json::from_slice(&table.json()).expect("JSON");
        let lines: Vec<Value> =
            table.json_lines().split(|&byte| byte == b'\n').flat_map(serde_json::from_slice).collect();
        assert_eq!(Value::Array(lines), json);
        assert_eq!(json[0], json!({ "region": null, "amount": "-0.01", "count": 7 }));
        assert_eq!(json[1], json!({ "region": "a,b", "amount": null, "count": null }));
        let batch = table.batch().expect("columns");
        assert_eq!(batch.column(0).as_string::<i32>().iter().collect::<Vec<_>>(), [None, Some("a,b"), Some("c")]);
        let amounts = batch.column(1).as_primitive::<Decimal128Type>();
        assert_eq!(
            (amounts.value_as_string(0), amounts.is_null(1), amounts.value_as_string(2)),
            ("-0.01".into(), true, "1234.56".into())
        );
        assert_eq!(
            batch.column(2).as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
            [Some(7), None, Some(i64::MAX)]
        );
        let one = |results: &[Option<Vec<u64>>]| {
            ResultTable { columns: vec![("cardinality".into(), 0)], groups: None, results }.csv()
        };
        assert!(table.totals().is_empty(), "names of groups are cells");
        assert_eq!(one(&[Some(vec![3])]), b"cardinality\n3\n");
        let columns = vec![("amount".into(), 2), ("count".into(), 0)];
        let whole =
            |results: &[Option<Vec<u64>>]| ResultTable { columns: columns.clone(), groups: None, results }.totals();
        let named = |amount, count| vec![("amount".to_owned(), amount), ("count".to_owned(), count)];
        assert_eq!(whole(&[Some(vec![123_456, 7])]), named(Some("1234.56".to_owned()), Some("7".to_owned())));
        assert_eq!(whole(&[None]), named(None, None));
        // An empty line would be no row.
        assert_eq!(one(&[None]), b"cardinality\n\"\"\n");
    }

    #[test]
    fn integers_that_readers_round_are_text() {
        let largest = (1i64 << 53) - 1;
        for (value, expected) in [
            (largest, json!(largest)),
            (-largest, json!(-largest)),
            (largest + 1, json!("9007199254740992")),
            (-largest - 1, json!("-9007199254740992")),
            (9_007_199_254_740_993, json!("9007199254740993")),
            (i64::MAX, json!("9223372036854775807")),
            (i64::MIN, json!("-9223372036854775808")),
        ] {
            let results = [Some(vec![value as u64])];
            let text = ResultTable { columns: vec![("sum".into(), 0)], groups: None, results: &results }.json();
            assert_eq!(serde_json::from_slice::<Value>(&text).expect("JSON"), json!([{ "sum": expected }]));
        }
    }
}
