//! `vesica check`.

use std::fmt::Write;

use serde_json::{Value, json};
use vesica::Failure;
use vesica::failure::code;
use vesica::invisible::visible;
use vesica::key::KeySpec;
use vesica::party::Role;
use vesica::profile::{self, ColumnProfile, Comparison, Examples, MeetingRows, Profile};
use vesica::table::{Join, KeyTable, Source, TableFile};
use vesica::task::{self, Flags, Side};
use vesica::words::counted;

use crate::args::{CheckArgs, SideName};
use crate::commands::sides::{input_options, key_spec, names, usage};
use crate::outcome::{Outcome, print};

pub fn run(args: CheckArgs) -> Outcome {
    let open = |path: &str| -> Result<TableFile, Failure> {
        Ok(TableFile::open(path, &input_options(args.format.as_deref(), args.delimiter.as_deref())?)?)
    };
    print(&text(&args, &open)?)
}

/// What is printed on standard output. `open` opens the tables that the arguments name.
pub fn text(args: &CheckArgs, open: &dyn Fn(&str) -> Result<TableFile, Failure>) -> Result<String, Failure> {
    let spec = key_spec(&args.key, &args.or_key, &args.normalise, &args.null_words)?;
    let task = task::find(&args.task)?;
    if spec.has_alternatives() && !task.takes_or_keys() {
        let fault = format!("--or-key is for intersections (the task is {task})");
        return Err(usage(&fault, "omit it, or say --task intersect"));
    }
    if args.second.as_deref() == Some("-") && args.file == "-" {
        return Err(usage("both tables are standard input", "name a file for one of them"));
    }
    let table = open(&args.file)?;
    let input = table.source();
    let profile = profile::check_file(&table, &spec)?;
    let examples = profile::examples(input, &spec, args.show_keys)?;
    let columns = columns(args, input, &spec)?;
    let comparison = match &args.second {
        Some(second) => {
            let second_spec = second_spec(args)?;
            let second = open(second)?;
            Some(profile::compare([(input, &spec), (second.source(), &second_spec)])?)
        }
        None => None,
    };
    if args.json {
        return Ok(format!("{}\n", as_json(&profile, &examples, columns.as_ref(), comparison.as_ref())?));
    }
    let mut text = describe(&profile);
    describe_examples(&examples, spec.has_alternatives(), &mut text);
    if let Some(columns) = &columns {
        text.push_str(&columns.describe());
    }
    for warning in &profile.warnings {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(comparison) = &comparison {
        describe_comparison(comparison, args.show_keys > 0, &mut text);
    }
    Ok(text)
}

/// The key of the second table: that of the first, unless the flags say otherwise.
fn second_spec(args: &CheckArgs) -> Result<KeySpec, Failure> {
    let is_own = !args.second_key.is_empty();
    let key = if is_own { &args.second_key } else { &args.key };
    let or_key = if is_own || !args.second_or_key.is_empty() { &args.second_or_key } else { &args.or_key };
    let has_own_columns = is_own || !args.second_or_key.is_empty() || !args.second_normalise.is_empty();
    let normalise = if has_own_columns { &args.second_normalise } else { &args.normalise };
    key_spec(key, or_key, normalise, &args.null_words)
}

/// Columns that a run would take beside the key.
struct CheckedColumns {
    task: &'static str,
    names: Vec<String>,
    payload_bytes: usize,
    clamped: Vec<(String, u64)>,
    groups: Option<usize>,
}

/// Reads the columns that the flags name as a run would.
///
/// # Errors
/// As of the run: for flags that the task does not take, and for values that do not fit.
fn columns(args: &CheckArgs, input: &dyn Source, spec: &KeySpec) -> Result<Option<CheckedColumns>, Failure> {
    let task = task::find(&args.task)?;
    let named = names(args.payload.clone());
    if named.is_empty() && args.group_by.is_none() && args.scale.is_empty() && args.clamp.is_empty() {
        return Ok(None);
    }
    let flags = Flags {
        payload: named.clone(),
        payload_duplicates: args.payload_duplicates.clone(),
        scale: args.scale.clone(),
        clamp: args.clamp.clone(),
        group_by: args.group_by.clone(),
        ..Flags::default()
    };
    let role = if args.side == SideName::Send { Role::Sender } else { Role::Receiver };
    let settings = task.settings(role, &flags)?;
    let output = (role == Role::Receiver || task.result_kind(role, &settings).is_some()).then_some(Join::Inner);
    let job = task.configure(&Side {
        role,
        settings: &settings,
        or_keys: spec.has_alternatives(),
        buckets: 1,
        work: false,
        resume: false,
        output,
    })?;
    let KeyTable { payload, values, .. } = job.columns().read(input, spec, None)?;
    let clamped = values.as_ref().map(|values| {
        settings.values.columns.iter().map(|column| column.name.clone()).zip(values.clamped.iter().copied()).collect()
    });
    Ok(Some(CheckedColumns {
        task: task.name(),
        names: named,
        payload_bytes: payload.map_or(0, |payload| payload.schema.width),
        clamped: clamped.unwrap_or_default(),
        groups: values.filter(|values| !values.categories.is_empty()).map(|values| values.categories.len()),
    }))
}

impl CheckedColumns {
    fn describe(&self) -> String {
        let mut text = format!("\ntask {}: the columns are usable\n", self.task);
        if !self.names.is_empty() {
            let _ = writeln!(text, "  columns: {}", self.names.join(", "));
        }
        if self.payload_bytes > 0 {
            let _ = writeln!(text, "  the payload of each key takes {}", counted(self.payload_bytes, "byte", "bytes"));
        }
        for (name, count) in self.clamped.iter().filter(|(_, count)| *count > 0) {
            let values = counted(*count, "value is", "values are");
            let _ = writeln!(text, "  {values} outside of the range of column {name}");
        }
        if let Some(groups) = self.groups {
            let counted = counted(groups, "group", "groups");
            let _ = writeln!(text, "  {counted}: the sender must allow that with --max-groups {groups}");
        }
        text
    }

    fn json(&self) -> Value {
        let clamped: serde_json::Map<String, Value> =
            self.clamped.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
        json!({
            "task": self.task,
            "names": self.names,
            "payload_bytes": self.payload_bytes,
            "clamped": clamped,
            "groups": self.groups,
        })
    }
}

fn as_json(
    profile: &Profile,
    examples: &Examples,
    columns: Option<&CheckedColumns>,
    comparison: Option<&Comparison>,
) -> Result<String, Failure> {
    let failed = |error: serde_json::Error| {
        Failure::new(code::INTERNAL, format_args!("the profile cannot be written: {error}"), "please report this")
    };
    let mut object = serde_json::to_value(profile).map_err(failed)?;
    if let Value::Object(fields) = &mut object {
        fields.insert("examples".into(), serde_json::to_value(examples).map_err(failed)?);
        fields.insert("checked_columns".into(), columns.map_or(Value::Null, CheckedColumns::json));
        fields.insert("comparison".into(), serde_json::to_value(comparison).map_err(failed)?);
    }
    serde_json::to_string(&object).map_err(failed)
}

fn describe(profile: &Profile) -> String {
    let keys = &profile.keys;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}: {}{}{}, {}",
        profile.path,
        profile.format.name(),
        profile.packing.map_or(String::new(), |packing| format!(" ({})", packing.name())),
        if profile.files > 1 { format!(" in {} files", profile.files) } else { String::new() },
        counted(profile.bytes, "byte", "bytes")
    );
    let distinct = |keys| counted(keys, "distinct key", "distinct keys");
    let _ = writeln!(text, "{}, {}", counted(keys.rows, "row", "rows"), distinct(keys.distinct));
    for (number, alternative) in (1..).zip(&keys.alternatives).filter(|_| keys.alternatives.len() > 1) {
        let names = alternative.columns.join(", ");
        let _ = writeln!(
            text,
            "alternative {number} ({names}): {} a key, {}",
            counted(alternative.rows, "row has", "rows have"),
            distinct(alternative.distinct)
        );
    }
    let _ = writeln!(
        text,
        "{} with a null or empty key, {} with a key that a normaliser refused: these never match",
        counted(keys.null_rows, "row", "rows"),
        keys.unmatchable_rows
    );
    let _ = writeln!(text, "{} an earlier key", counted(keys.duplicate_rows, "row repeats", "rows repeat"));
    for column in &profile.columns {
        describe_column(column, &mut text);
    }
    text
}

fn describe_column(column: &ColumnProfile, text: &mut String) {
    let _ = writeln!(
        text,
        "\ncolumn {} ({}): {} of {} to {}, {}, written as {}",
        visible(&column.name),
        column.kind,
        counted(column.values, "value", "values"),
        column.shortest,
        counted(column.longest, "byte", "bytes"),
        counted(column.nulls, "null", "nulls"),
        column.written.kind()
    );
    let counts = [
        (column.outer_space, "with space around"),
        (column.with_upper_case, "with upper-case letters"),
        (column.leading_zero, "with leading zeros"),
        (column.like_email, "like e-mail addresses"),
        (column.like_phone, "like telephone numbers"),
        (column.like_date, "like ISO dates"),
        (column.like_local_date, "like dates in another notation"),
        (column.like_null, "that programs write where a value is missing (NULL, N/A)"),
        (column.not_text, "not text"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "  {count} {what}");
    }
    for effect in &column.normalisers {
        let _ = writeln!(
            text,
            "  {} would change {} and refuse {}",
            effect.normaliser,
            counted(effect.changes, "value", "values"),
            effect.refuses
        );
    }
}

fn describe_examples(examples: &Examples, has_alternatives: bool, text: &mut String) {
    if !examples.keys.is_empty() {
        let _ = writeln!(
            text,
            "\nthe first keys of this table, as it has them and as they are compared; do not pass them on:"
        );
    }
    for key in &examples.keys {
        let components: Vec<String> = key
            .components
            .iter()
            .map(|c| if c.value == c.key { c.key.clone() } else { format!("{} as {}", c.value, c.key) })
            .collect();
        let alternative = if has_alternatives { format!(", alternative {}", key.alternative) } else { String::new() };
        let _ = writeln!(text, "  row {}{alternative}: {}", key.row, components.join(", "));
    }
    for refused in examples.refused.iter().filter(|refused| refused.count > 0) {
        let _ = writeln!(
            text,
            "\n{} refused by the normalisers of column {}; the first:",
            counted(refused.count, "value is", "values are"),
            refused.column
        );
        for value in &refused.first {
            let shown = if value.value.is_empty() { String::new() } else { format!(": {}", value.value) };
            let _ = writeln!(text, "  row {}{shown}", value.row);
        }
    }
}

fn describe_comparison(comparison: &Comparison, shows_values: bool, text: &mut String) {
    let Comparison { tables: [first, second], keys, common, alternatives, columns, meeting, .. } = comparison;
    let matched = |keys| counted(keys, "key matches", "keys match");
    let _ = writeln!(text, "\n{first} and {second}: {}, of {} and {}", matched(*common), keys[0], keys[1]);
    if comparison.is_refused {
        let _ = writeln!(text, "  the normalisers of the two tables differ: a run would be refused");
    }
    for (number, alternative) in (1..).zip(alternatives).filter(|_| alternatives.len() > 1) {
        let [ours, theirs] = alternative.columns.each_ref().map(|names| names.join(", "));
        let _ = writeln!(
            text,
            "  alternative {number} ({ours} and {theirs}): {}, of {} and {}",
            matched(alternative.common),
            alternative.keys[0],
            alternative.keys[1]
        );
    }
    for column in columns {
        let ([ours, theirs], [our_kind, their_kind]) = (&column.names, &column.kinds);
        let _ = writeln!(
            text,
            "  column {ours} and {theirs}: {} common, of {} and {}",
            counted(column.common, "value is", "values are"),
            column.values[0],
            column.values[1]
        );
        if our_kind != their_kind {
            let _ = writeln!(text, "    the first has {our_kind}, the second {their_kind}");
        }
        if let Some(advice) = &column.advice {
            let _ = writeln!(text, "    such columns meet under {advice}");
        }
    }
    let Some(meeting) = meeting else {
        if *common < keys[0].min(keys[1]) {
            let _ = writeln!(text, "  no known pair of normalisers makes more keys match");
        }
        return;
    };
    let [ours, theirs] = &meeting.rows;
    let _ = writeln!(
        text,
        "  {} instead of {} (of the first {ours} and {theirs} rows) with",
        matched(meeting.common),
        meeting.common_before
    );
    for (table, flags) in [first, second].into_iter().zip(&meeting.normalise) {
        let flags: Vec<String> = flags.iter().map(|flag| format!(" --normalise '{flag}'")).collect();
        let _ = writeln!(text, "    {table}:{}", if flags.is_empty() { " no flag".to_owned() } else { flags.concat() });
    }
    for MeetingRows { rows: [ours, theirs], values, key } in meeting.examples.iter().filter(|_| shows_values) {
        let [our_values, their_values] = [&values[0], &values[1]].map(|values| values.join(", "));
        let _ = writeln!(
            text,
            "  row {ours} ({our_values}) and row {theirs} ({their_values}) both become {}",
            key.join(", ")
        );
    }
}
