//! `vesica check`.

use std::fmt::Write;

use vesica::Failure;
use vesica::failure::code;
use vesica::profile::{self, ColumnProfile, Profile};
use vesica::table::TableFile;

use crate::args::CheckArgs;
use crate::commands::join::{input_options, key_spec};
use crate::outcome::{Outcome, print};

pub fn run(args: CheckArgs) -> Outcome {
    let spec = key_spec(&args.key, &args.normalise)?;
    let options = input_options(args.format.as_deref(), args.delimiter.as_deref())?;
    let profile = profile::check_file(&TableFile::open(&args.file, &options)?, &spec)?;
    if args.json {
        let text = serde_json::to_string(&profile).map_err(|error| {
            Failure::new(code::INTERNAL, format_args!("the profile cannot be written: {error}"), "please report this")
        })?;
        return print(&format!("{text}\n"));
    }
    print(&describe(&profile))
}

fn describe(profile: &Profile) -> String {
    let keys = &profile.keys;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}: {}{}{}, {} bytes",
        profile.path,
        profile.format.name(),
        profile.packing.map_or(String::new(), |packing| format!(" ({})", packing.name())),
        if profile.files > 1 { format!(" in {} files", profile.files) } else { String::new() },
        profile.bytes
    );
    let _ = writeln!(text, "{} rows, {} distinct keys", keys.rows, keys.distinct);
    let _ = writeln!(
        text,
        "{} rows with a null or empty key, {} with a key that a normaliser refused: these never match",
        keys.null_rows, keys.unmatchable_rows
    );
    let _ = writeln!(text, "{} rows repeat an earlier key", keys.duplicate_rows);
    for column in &profile.columns {
        describe_column(column, &mut text);
    }
    for warning in &profile.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

fn describe_column(column: &ColumnProfile, text: &mut String) {
    let _ = writeln!(
        text,
        "\ncolumn {} ({}): {} values of {} to {} bytes, {} nulls, written as {}",
        column.name,
        column.kind,
        column.values,
        column.shortest,
        column.longest,
        column.nulls,
        column.written.kind()
    );
    let counts = [
        (column.outer_space, "have space around them"),
        (column.with_upper_case, "have upper-case letters"),
        (column.leading_zero, "have leading zeros"),
        (column.like_email, "look like e-mail addresses"),
        (column.like_phone, "look like telephone numbers"),
        (column.like_date, "look like ISO dates"),
        (column.like_local_date, "look like dates in another notation"),
        (column.like_null, "look like a word for nothing (NULL, N/A)"),
        (column.not_text, "are not text"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "  {count} {what}");
    }
    for effect in &column.normalisers {
        let _ = writeln!(
            text,
            "  {} would change {} values and refuse {}",
            effect.normaliser, effect.changes, effect.refuses
        );
    }
}
