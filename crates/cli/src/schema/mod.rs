//! JSON Schemas of the files that people write and of what the command writes for programs (`vesica config --schema`).
//!
//! Those of what the command writes are made from the types that are written. Those of settings are made from the lists
//! by which settings are read ([`files`]).

mod files;

use clap::ValueEnum;
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Value, json};
use vesica::log;
use vesica::receipt::Receipt;
use vesica::report::Report;
use vesica::service::QueryReport;

use self::files::with;
use crate::outcome::FailureReport;
use crate::stderr::SaidLine;

/// What there is a schema of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A job file, for `vesica run`
    Job,
    /// The file of partners, for --peers
    Peers,
    /// A policy in a file of its own
    Policy,
    /// What --json of `receive`, `send` and `run` prints, but for a dry run
    Report,
    /// What --json of `query` prints
    QueryReport,
    /// What --receipt writes
    Receipt,
    /// A line of the log of runs
    LogLine,
    /// A line of --progress json
    ProgressLine,
}

/// The schema, by the draft 2020-12.
pub fn of(kind: Kind) -> Value {
    let schema = match kind {
        Kind::Job => files::job(),
        Kind::Peers => files::peers(),
        Kind::Policy => files::policy(),
        Kind::Report => report::<Report>(),
        Kind::QueryReport => report::<QueryReport>(),
        Kind::Receipt => written::<Receipt>(),
        Kind::LogLine => written::<log::Line>(),
        Kind::ProgressLine => written::<SaidLine<'static>>(),
    };
    let name = kind.to_possible_value();
    let about = name.as_ref().and_then(|name| name.get_help()).map(ToString::to_string);
    let schema = with(schema, "$schema", "https://json-schema.org/draft/2020-12/schema".into());
    with(schema, "title", about.into())
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema of a type as it is written.
fn written<T: JsonSchema>() -> Value {
    let mut generator = generator();
    let root = generator.subschema_for::<T>();
    json!({ "allOf": [root], "$defs": generator.take_definitions(true) })
}

/// The schema of a report, and of the failure that is printed instead if a run fails.
fn report<T: JsonSchema>() -> Value {
    let mut generator = generator();
    let (failure, report) = (generator.subschema_for::<FailureReport<'static>>(), generator.subschema_for::<T>());
    json!({
        "if": { "required": ["error"] },
        "then": failure,
        "else": report,
        "$defs": generator.take_definitions(true),
    })
}
