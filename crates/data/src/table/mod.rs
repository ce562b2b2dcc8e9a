//! Tables: a first pass for keys and payload, and a second pass that gives the rows of a result to
//! a sink.
//!
//! ```text
//! OpenSource::open --> Source --> read_keys --> KeyTable { distinct digests, row -> key, statistics, payload }
//!                        |           |  (the protocol runs on the digests)
//! OpenSink::open ----> Sink <--- write_matches(source, table, matches) --> Sink::finish makes the result visible
//! ```
//!
//! A [`Source`] is a file, several files or standard input ([`SourceFile`]: CSV, JSON lines, Parquet, Arrow IPC), or
//! record batches in memory ([`Batches`]); a [`Sink`] is a file or standard output ([`SinkFile`]) or memory
//! ([`Collected`]).
//!
//! Both passes stream; memory is 32 bytes a distinct key, and 4 bytes a row for each alternative of the
//! key, besides one block of the file. CSV is UTF-8 with a header row (RFC 4180: quotes, doubled
//! quotes, line breaks in quoted fields; LF, CRLF or CR line ends; a byte-order mark is passed over).
//!
//! The rooms, each of which uses only those below it:
//!
//! - `write`: the second pass, and where its rows go: files, standard output, memory.
//! - `read`: the first pass: keys, and what is read beside them; counts and faults.
//! - `files`: opening a table file; several files, and folders, as one table; copies of what can be read only once.
//! - `formats`: reading and writing each file format, and record batches in memory.
//! - The files in this folder, `payload` and `values`: what the rooms tell each other.

mod column_names;
mod error;
mod extension;
mod files;
mod format;
pub(crate) mod formats;
mod identity;
mod kept_rows;
mod mend;
mod open;
mod packing;
mod payload;
mod position;
mod read;
mod sink;
mod source;
pub(crate) mod values;
mod write;

pub use error::{Blame, TableError};
pub use files::{Input, InputOptions, Parts, SourceFile, TableFile, name_matches};
pub use format::Format;
pub use formats::arrow::batches::Batches;
pub use formats::arrow::columns::{keep_batch, scan_batch};
pub use identity::FileIdentity;
pub use kept_rows::{AscendingRows, Join, KeptRows, Matches, NO_KEY};
pub use open::{OpenSink, OpenSource};
pub use packing::Packing;
pub use payload::{
    Duplicates, KeyKind, MAX_PAYLOAD_WIDTH, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable,
    PayloadUnit, ReceivedPayload, UnionKeys, UnionSpec, key_schema,
};
pub use position::Position;
pub use read::{
    AllKeys, AlternativeStats, BesideKeys, ColumnStats, Examined, Fault, KeyStats, KeyTable, LISTED_ROWS,
    MOST_INTEGER_BITS, SomeKeys, SpilledKeys, collect_keys, collect_part, examine, examine_spilled, read_integers,
    read_keys, read_keys_within, read_spilled, read_union_within, read_values, read_values_within,
};
pub use sink::{CsvHead, Head, ResultKind, RowBatch, Sink, WriteStats, write_new_rows, write_rows};
pub use source::{Cell, CellForm, Scanner, ScannerPart, Source, Stored, Wanted};
pub use values::{
    Clamp, ExpectedRange, MAX_GROUPS, ResultTable, ValueColumn, ValueDuplicates, ValueSpec, ValueTable, decimal,
};
pub use write::{
    Collected, Delivered, NewKeys, Output, OutputOptions, Place, STANDARD_OUTPUT, SinkFile, UnionStats, write_matches,
    write_new_keys, write_own_rows, write_spilled_matches, write_union,
};

pub(crate) use formats::csv::CsvReader;
pub(crate) use formats::parquet::check::fuzz as fuzz_parquet_structures;
pub(crate) use formats::text_block::LONGEST_VALUE;
pub(crate) use kept_rows::borrowed;
pub(crate) use position::CountingReader;
pub(crate) use read::NamedColumns;
pub(crate) use sink::ROWS_PER_BATCH;
