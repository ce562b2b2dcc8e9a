//! Tables on disk: opening them, a first pass for keys and payload, a second pass that writes the rows of the result.
//!
//! ```text
//! Input::open --> read_keys --> KeyTable { distinct digests, row -> key, statistics, payload }
//!                                  |  (the protocol runs on the digests)
//! Output::create ------------> write_matches(input, table, matches) --> file under its final name
//! ```
//!
//! Both passes stream; memory is 32 bytes a distinct key and 4 bytes a row, besides one block of the file. CSV is UTF-8 with a header
//! row (RFC 4180: quotes, doubled quotes, line breaks in quoted fields; LF, CRLF or CR line ends; a byte-order mark is passed over).

mod bytes_at;
mod collect;
mod columnar;
pub(crate) mod csv;
mod distinct;
pub mod ending;
mod error;
mod input;
mod ipc_check;
mod output;
mod parquet_check;
mod partial;
mod payload;
pub(crate) mod values;
mod write;

pub use collect::{ColumnStats, KeyStats, KeyTable, NO_KEY, read_keys, read_values};
pub use error::{Blame, TableError};
pub use input::{Format, Input, InputOptions};
pub use output::{Output, OutputOptions, Place};
pub use payload::{
    Duplicates, MAX_PAYLOAD_WIDTH, PayloadField, PayloadKind, PayloadSchema, PayloadSpec, PayloadTable, PayloadUnit, ReceivedPayload,
};
pub use values::{Clamp, ExpectedRange, MAX_GROUPS, ResultTable, ValueColumn, ValueDuplicates, ValueSpec, ValueTable, decimal};
pub use write::{Join, Matches, WriteStats, write_matches};

pub(crate) use collect::{collect_keys, for_each_cell};
pub(crate) use columnar::{ColumnarReader, canonical_kind};
pub(crate) use csv::{CsvReader, LONGEST_RECORD as LONGEST_VALUE, write_field};
pub(crate) use parquet_check::fuzz as fuzz_parquet_structures;
pub use write::new_rows;
