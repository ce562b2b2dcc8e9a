//! Tables: a first pass for keys and payload, and a second pass that gives the rows of a result to
//! a sink.
//!
//! ```text
//! OpenSource::open --> Source --> read_keys --> KeyTable { distinct digests, row -> key, statistics, payload }
//!                        |           |  (the protocol runs on the digests)
//! OpenSink::open ----> Sink <--- write_matches(source, table, matches) --> Sink::finish makes the result visible
//! ```
//!
//! A [`Source`] is a file, several files or standard input ([`SourceFile`]: CSV, JSON lines, Parquet, Arrow
//! IPC)
//! or record batches in memory ([`Batches`]); a [`Sink`] is a file or standard output ([`SinkFile`]) or
//! memory ([`Collected`]).
//!
//! Both passes stream; memory is 32 bytes a distinct key, and 4 bytes a row for each alternative of the
//! key, besides one block of the file. CSV is UTF-8 with a header row (RFC 4180: quotes, doubled
//! quotes, line breaks in quoted fields; LF, CRLF or CR line ends; a byte-order mark is passed over).

mod along;
mod batches;
mod block;
mod bytes_at;
mod collect;
mod collected;
mod columnar;
pub(crate) mod csv;
mod distinct;
mod ending;
mod error;
mod extension;
mod faults;
mod file;
mod foreign;
mod identity;
mod input;
mod integers;
mod ipc_check;
mod json_lines;
mod managed;
mod named_columns;
mod output;
mod packing;
mod parquet_check;
mod parquet_file;
mod part_names;
mod partial;
mod partitions;
mod parts;
mod payload;
mod place;
mod position;
mod row_digests;
mod sink;
mod source;
mod stats;
pub(crate) mod values;
mod write;

pub use along::Along;
pub use batches::{Batches, keep_batch, scan_batch};
pub use collect::{
    KeyTable, NO_KEY, collect_keys, collect_values, read_integers, read_keys, read_keys_within, read_union_within,
    read_values,
};
pub use collected::{Collected, Delivered};
pub use error::{Blame, TableError};
pub use faults::{Examined, Fault, LISTED_ROWS, examine};
pub use file::{SinkFile, SourceFile, TableFile};
pub use identity::FileIdentity;
pub use input::{Format, Input, InputOptions};
pub use integers::MOST_INTEGER_BITS;
pub use output::{Output, OutputOptions};
pub use packing::Packing;
pub use parts::Parts;
pub use payload::{
    Duplicates, KeyKind, MAX_PAYLOAD_WIDTH, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable,
    PayloadUnit, ReceivedPayload, UnionKeys, UnionSpec, key_schema,
};
pub use place::{Place, STANDARD_OUTPUT};
pub use position::Position;
pub use sink::{CsvHead, Head, OpenSink, ResultKind, RowBatch, Sink, write_new_rows, write_rows};
pub use source::{Cell, CellForm, OpenSource, Scanner, ScannerPart, Source, Stored, Wanted};
pub use stats::{AlternativeStats, ColumnStats, KeyStats};
pub use values::{
    Clamp, ExpectedRange, MAX_GROUPS, ResultTable, ValueColumn, ValueDuplicates, ValueSpec, ValueTable, decimal,
};
pub use write::{Join, KeptRows, Matches, NewKeys, UnionStats, WriteStats, write_matches, write_union};

pub(crate) use block::LONGEST_VALUE;
pub(crate) use columnar::{ColumnarReader, canonical_kind};
pub(crate) use csv::{CsvReader, write_field};
pub(crate) use named_columns::NamedColumns;
pub(crate) use parquet_check::fuzz as fuzz_parquet_structures;
pub(crate) use position::Counted;

/// Rows that become columns together, in either direction.
pub(crate) const ROWS_PER_BATCH: usize = 8192;
