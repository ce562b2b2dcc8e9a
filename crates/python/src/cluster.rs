//! Joins on a cluster: the driver's conversation, and what workers do. Which jobs a cluster runs for it, the modules in
//! `python/vesica` know.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use vesica::Failure;
use vesica::cluster::{self, Attempt, Commit, Counts, Division, Inside, Learned, Machines, Stop, Ticket};
use vesica::failure::code;
use vesica::key::{Digest, KeySpec};
use vesica::receipt::{from_hex, to_hex};
use vesica::table::{
    KeyStats, KeyTable, NO_KEY, ValueColumn, ValueDuplicates, ValueSpec, collect_keys, collect_values,
};
use vesica::threads;
use vesica::words::counted;
use vesica_cli::embed::{self, Flag, OnCluster};

use crate::arrow::{self, ArrowTable};
use crate::failure::{defect, raised};
use crate::outcome::Outcome;
use crate::run::{on_table, refuse_after_fork};
use crate::table::Table;

/// Time between two looks at a job of the cluster.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the partner is told when the own cluster fails.
const CLUSTER_FAILED: &str = "its cluster failed";

/// Runs `vesica receive` or `vesica send` on a cluster. `table` has the columns and no rows. Workers dial `host` (by
/// default the host of `bind`) at the port that `bind` gives or gets. `machines` is an object with the methods
/// `begin(kind, argument)`, `poll()`, `cancel()` and `slots()`; `tell` is as for `join`. Rows stay with the machines, so
/// that what it returns has the report, and numbers if these are the result.
#[pyfunction]
pub fn on_cluster(
    py: Python<'_>,
    command: String,
    flags: Vec<Flag>,
    table: &Table,
    rendezvous: (String, Option<String>),
    machines: Py<PyAny>,
    tell: Py<PyAny>,
) -> PyResult<Outcome> {
    let (bind, host) = rendezvous;
    let inside = Inside { bind, host };
    let (report, result) = on_table(py, &tell, table, move |memory| {
        let spec = embed::key_spec(&flags)?;
        let mut machines = PyMachines { machines, spec };
        let report =
            embed::on_cluster(&command, &flags, &mut OnCluster { memory, inside: &inside, machines: &mut machines })?;
        serde_json::to_string(&report).map_err(|error| defect(&error.to_string()))
    })?;
    Ok(Outcome::new(report, false, &result))
}

/// Columns of values of a DataFrame, for executors.
#[derive(Serialize, Deserialize)]
struct Values {
    columns: Vec<ValueColumn>,
    /// Whether the values of rows that share a key are added up; else they must be the same.
    sum: bool,
}

/// The digest of the key of each row of `rows`, which has the columns that are named and no more, as a column of 32
/// bytes or null; behind it a column for each of the `values` that the driver named, as integers in units of its scale:
/// in the first row of a key what all its rows here say together, before any clamping, and null in others. And counts of
/// these rows, for the driver.
#[pyfunction]
#[pyo3(signature = (flags, values, rows))]
pub fn key_digests(
    py: Python<'_>,
    flags: Vec<Flag>,
    values: Option<&str>,
    rows: &Bound<'_, PyAny>,
) -> PyResult<(ArrowTable, String)> {
    // Rows of errors are counted within this part.
    let table = Table::of_arrow(py, "a part of the DataFrame", None, rows)?;
    let digests = py.detach(|| {
        let spec = embed::key_spec(&flags)?;
        let values: Option<Values> =
            values.map(serde_json::from_str).transpose().map_err(|_| defect("columns of values"))?;
        let values = values.map(|Values { columns, sum }| ValueSpec {
            columns: columns.into_iter().map(|column| ValueColumn { clamp: None, ..column }).collect(),
            duplicates: if sum { ValueDuplicates::Sum } else { ValueDuplicates::Refuse },
            ..ValueSpec::default()
        });
        let keys = match &values {
            Some(values) => collect_values(&table.batches, &spec, values)?,
            None => collect_keys(&table.batches, &spec)?,
        };
        let mut column = BinaryBuilder::with_capacity(keys.row_key.len(), 32 * keys.digests.len());
        for &key in &keys.row_key {
            match keys.digests.get(key as usize).filter(|_| key != NO_KEY) {
                Some(digest) => column.append_value(to_bytes(digest)),
                None => column.append_null(),
            }
        }
        let mut columns = vec![("digest".to_owned(), Arc::new(column.finish()) as ArrayRef)];
        let width = values.as_ref().map_or(0, |values| values.columns.len());
        for place in 0..width {
            columns.push((format!("value_{place}"), value_column(&keys, place, width)));
        }
        Ok((columns, keys.stats.to_part()))
    });
    let (columns, counts) = digests.map_err(|failure: Failure| raised(py, &failure))?;
    Ok((table_of(columns)?, counts))
}

/// In the first row of each key its value in this column.
fn value_column(keys: &KeyTable, place: usize, width: usize) -> ArrayRef {
    let all = keys.values.as_ref().map_or(&[][..], |values| &values.values);
    let mut next = 0;
    // Keys are numbered as they first come.
    let of_row = |&key: &u32| {
        (key == next).then(|| {
            next += 1;
            all.get(key as usize * width + place).copied()
        })?
    };
    Arc::new(keys.row_key.iter().map(of_row).collect::<Int64Array>())
}

/// The bucket of each digest of `digests`, which has one column of 32 bytes.
#[pyfunction]
pub fn bucket_numbers(py: Python<'_>, division: &str, digests: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let division: Division =
        serde_json::from_str(division).map_err(|_| raised(py, &defect("a division into buckets cannot be read")))?;
    let (digests, _) = read_keys(arrow::read(digests)?).map_err(|failure| raised(py, &failure))?;
    let numbers = py.detach(|| division.buckets_of(digests.into_iter().collect()));
    let numbers: Int32Array = numbers.into_iter().map(|number| Some(i32::from(number))).collect();
    table_of(vec![("bucket".to_owned(), Arc::new(numbers) as ArrayRef)])
}

/// Runs one bucket with the partner's worker, on `cores` threads; `keys` has the digests of its keys, and behind them a
/// column for each of the sender's values.
#[pyfunction]
pub fn run_ticket(py: Python<'_>, ticket: &str, keys: &Bound<'_, PyAny>, cores: NonZeroUsize) -> PyResult<RanTicket> {
    let keys = arrow::read(keys)?;
    let ran = py.detach(|| {
        refuse_after_fork()?;
        // Another task of this process may have begun with another number.
        let _ = threads::set(Some(cores));
        let ticket = read_ticket(ticket)?;
        let (digests, values) = read_keys(keys)?;
        let ran = cluster::run(&ticket, digests.into_iter().collect(), values)?;
        Ok((ticket, ran))
    });
    ran.map(|ran| RanTicket(Mutex::new(Some(ran)))).map_err(|failure: Failure| raised(py, &failure))
}

/// A ticket that was run. What it gave is opened when all tickets of the task were run.
#[pyclass(frozen)]
pub struct RanTicket(Mutex<Option<(Ticket, cluster::Ran)>>);

#[pymethods]
impl RanTicket {
    /// The transcript in hexadecimal, and what this side learned under the ticket's mask, a bit for each key or totals; of
    /// a side that learns nothing `None`. It can be opened once.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
        let ran = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (ticket, ran) = ran.ok_or_else(|| raised(py, &defect("a ticket was opened twice")))?;
        let Attempt { transcript, mut learned } = ran.open(&ticket);
        if let Some(learned) = &mut learned {
            ticket.mask(learned);
        }
        Ok((to_hex(&transcript), learned.map(|bytes| PyBytes::new(py, &bytes))))
    }
}

/// What `RanTicket.open` returned for this ticket, without the mask; and what it says: how many keys matched, or totals.
#[pyfunction]
pub fn unmasked<'py>(py: Python<'py>, ticket: &str, mut learned: Vec<u8>) -> PyResult<(Bound<'py, PyBytes>, Given)> {
    let ticket = read_ticket(ticket).map_err(|failure| raised(py, &failure))?;
    ticket.mask(&mut learned);
    let given = ticket.learned(&learned).ok_or_else(|| raised(py, &defect("what a worker returned cannot be read")))?;
    let given = match given {
        Learned::Matched(keys) => Given::Matched(keys),
        Learned::Totals(totals) => Given::Totals(totals),
    };
    Ok((PyBytes::new(py, &learned), given))
}

/// What a side learned of a bucket, on its way through Python.
#[derive(FromPyObject, IntoPyObject)]
pub enum Given {
    /// How many keys matched.
    Matched(u64),
    /// Masked totals.
    Totals(Vec<u64>),
}

fn read_ticket(ticket: &str) -> Result<Ticket, Failure> {
    let unreadable = || Failure::new(code::INTERNAL, "a ticket cannot be read", "install one release on all machines");
    Ticket::from_json(ticket).ok_or_else(unreadable)
}

fn to_bytes([low, high]: Digest) -> [u8; 32] {
    let mut bytes = [0; 32];
    let (first, last) = bytes.split_at_mut(16);
    first.copy_from_slice(&low.to_le_bytes());
    last.copy_from_slice(&high.to_le_bytes());
    bytes
}

fn from_bytes(bytes: &[u8]) -> Option<Digest> {
    let (low, high) = bytes.split_at_checked(16)?;
    Some([u128::from_le_bytes(low.try_into().ok()?), u128::from_le_bytes(high.try_into().ok()?)])
}

/// The digests of the first column, and row by row the values of those behind it.
fn read_keys(rows: impl RecordBatchReader) -> Result<(Vec<Digest>, Vec<i64>), Failure> {
    let unreadable = || defect("columns of digests and values cannot be read");
    let (mut digests, mut values) = (Vec::new(), Vec::new());
    for batch in rows {
        let batch = batch.map_err(|_| unreadable())?;
        let [column, of_values @ ..] = batch.columns() else { return Err(unreadable()) };
        let column = cast(column, &DataType::LargeBinary).map_err(|_| unreadable())?;
        for bytes in column.as_binary::<i64>() {
            digests.push(bytes.and_then(from_bytes).ok_or_else(unreadable)?);
        }
        let of_values: Vec<&Int64Array> =
            of_values.iter().map(|column| column.as_primitive_opt()).collect::<Option<_>>().ok_or_else(unreadable)?;
        if of_values.iter().any(|column| column.null_count() > 0) {
            return Err(unreadable());
        }
        values.extend((0..batch.num_rows()).flat_map(|row| of_values.iter().map(move |column| column.value(row))));
    }
    Ok((digests, values))
}

fn table_of(columns: Vec<(String, ArrayRef)>) -> PyResult<ArrowTable> {
    let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let failed = |error: arrow_schema::ArrowError| pyo3::exceptions::PyValueError::new_err(error.to_string());
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(failed)?;
    Ok(ArrowTable::new(schema, vec![batch]))
}

/// A cluster that an object of Python speaks for. Its jobs go on in threads of Python.
struct PyMachines {
    machines: Py<PyAny>,
    spec: KeySpec,
}

impl PyMachines {
    /// Has a job done. `read` reads what it gives.
    fn job<T>(
        &self,
        kind: &str,
        argument: &str,
        stop: &Stop<'_>,
        read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, Failure> {
        Python::attach(|py| self.machines.call_method1(py, "begin", (kind, argument)).map(drop)).map_err(failure)?;
        loop {
            let given = Python::attach(|py| {
                let given = self.machines.call_method0(py, "poll")?;
                let given = given.bind(py);
                if given.is_none() { Ok(None) } else { read(given).map(Some) }
            });
            match given.map_err(failure)? {
                Some(given) => return Ok(given),
                None => thread::sleep(LOOK_EVERY),
            }
            if let Some(reason) = stop() {
                // Why the run ends is said already.
                let _ = Python::attach(|py| self.machines.call_method0(py, "cancel").map(drop));
                return Err(reason);
            }
        }
    }
}

/// How a ticket ended, as Python says it: the transcript in hexadecimal and what was learned; or an exit code, what
/// went wrong, and what to do.
#[derive(FromPyObject)]
enum Ended {
    Kept(String, Option<Given>),
    Failed(u8, String, String),
}

impl Machines for PyMachines {
    fn keys(&mut self, values: &ValueSpec, stop: &Stop<'_>) -> Result<Counts, Failure> {
        let sum = values.duplicates == ValueDuplicates::Sum;
        let values = serde_json::to_string(&Values { columns: values.columns.clone(), sum });
        let values = values.map_err(|error| defect(&error.to_string()))?;
        let (distinct, parts, clamped): (u64, Vec<String>, Vec<u64>) =
            self.job("keys", &values, stop, |given| given.extract())?;
        let parts = parts.iter().map(String::as_str);
        let stats = KeyStats::of_parts(&self.spec, parts, distinct).ok_or_else(|| defect("counts of a table"))?;
        if distinct == 0 {
            let fault = match stats.rows {
                0 => "the DataFrame has no rows".to_owned(),
                rows => format!("the DataFrame has {}, and none of them a usable key", counted(rows, "row", "rows")),
            };
            return Err(Failure::new(code::INPUT, fault, "name another key column, or look at its values"));
        }
        Ok(Counts { stats, clamped })
    }

    fn divide(&mut self, division: &Division, stop: &Stop<'_>) -> Result<Vec<usize>, Failure> {
        let division = serde_json::to_string(division).map_err(|error| defect(&error.to_string()))?;
        self.job("divide", &division, stop, |given| given.extract())
    }

    fn slots(&mut self) -> Result<u32, Failure> {
        Python::attach(|py| self.machines.call_method0(py, "slots")?.extract(py)).map_err(failure)
    }

    fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<cluster::Outcome>, Failure> {
        let named: Vec<_> = tickets.iter().map(|ticket| (ticket.bucket, ticket.attempt, ticket.to_json())).collect();
        let named: Vec<_> = named.iter().map(|(bucket, attempt, ticket)| (bucket, attempt, ticket.as_str())).collect();
        let argument = serde_json::to_string(&(workers, named)).map_err(|error| defect(&error.to_string()))?;
        let ended: Vec<Ended> = self.job("wave", &argument, stop, |given| given.extract())?;
        let outcome = |ended| match ended {
            Ended::Kept(transcript, given) => {
                let transcript = from_hex(&transcript).ok_or_else(|| defect("a transcript"))?;
                let learned = given.map(|given| match given {
                    Given::Matched(keys) => Learned::Matched(keys),
                    Given::Totals(totals) => Learned::Totals(totals),
                });
                Ok(cluster::Outcome::Kept { transcript, learned })
            }
            Ended::Failed(code, fault, mend) => {
                Ok(cluster::Outcome::Failed(Failure { told: Some(CLUSTER_FAILED), ..Failure::new(code, fault, mend) }))
            }
        };
        ended.into_iter().map(outcome).collect()
    }

    fn committed(&mut self, commit: &Commit, stop: &Stop<'_>) -> Result<(), Failure> {
        let commit = serde_json::to_string(commit).map_err(|error| defect(&error.to_string()))?;
        self.job("commit", &commit, stop, |_| Ok(()))
    }
}

/// What an exception of Python means: its own class says it, or the cluster failed.
fn failure(error: PyErr) -> Failure {
    let failure = Python::attach(|py| {
        let value = error.value(py);
        let text = |name: &str| value.getattr(name).and_then(|text| text.extract::<String>());
        match (value.getattr("exit_code").and_then(|code| code.extract::<u8>()), text("fault"), text("mend")) {
            (Ok(code), Ok(fault), Ok(mend)) => Failure::new(code, fault, mend),
            _ => {
                let kind = value.get_type().qualname().map_or_else(|_| "an exception".into(), |name| name.to_string());
                // Spark's texts are long, and may have values of rows in them. The exception itself is the cause of
                // ours.
                let fault = format!("the cluster failed with {kind}");
                Failure::new(code::OUTPUT, fault, "see the exception that caused this one, and the logs of Spark")
            }
        }
    });
    Failure { told: Some(CLUSTER_FAILED), ..failure }
}
