//! Joins on a cluster: the driver's conversation, and what workers do. Which jobs a cluster runs for it, the modules in
//! `python/vesica` know.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;
use pyo3_arrow::input::AnyRecordBatch;
use vesica::Failure;
use vesica::cluster::{self, Attempt, Commit, Division, Inside, Machines, Outcome, Stop, Ticket, places};
use vesica::failure::code;
use vesica::key::{Digest, KeySpec};
use vesica::receipt::{from_hex, to_hex};
use vesica::table::{KeyStats, NO_KEY, collect_keys};
use vesica::threads;
use vesica_cli::embed::{self, Flag, OnCluster};

use crate::failure::{defect, raised};
use crate::run::{held, refuse_after_fork};
use crate::table::Table;

/// Time between two looks at a job of the cluster.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the partner is told when the own cluster fails.
const CLUSTER_FAILED: &str = "its cluster failed";

/// Runs `vesica receive` or `vesica send` on a cluster. `table` has the columns and no rows. Workers dial `host` (by
/// default the host of `bind`) at the port that `bind` gives or gets. `machines` is an object with the methods
/// `begin(kind, argument)`, `poll()`, `cancel()` and `slots()`; `tell` is as for `join`. Returns the report.
#[pyfunction]
pub fn on_cluster(
    py: Python<'_>,
    command: String,
    flags: Vec<Flag>,
    table: &Table,
    rendezvous: (String, Option<String>),
    machines: Py<PyAny>,
    tell: Py<PyAny>,
) -> PyResult<String> {
    let table = Arc::new(table.batches.clone());
    let (bind, host) = rendezvous;
    let inside = Inside { bind, host };
    held(py, &tell, move |interrupt, events| {
        let spec = embed::key_spec(&flags)?;
        let mut machines = PyMachines { machines, spec };
        let mut cluster = OnCluster { table, inside: &inside, machines: &mut machines, interrupt, events };
        let report = embed::on_cluster(&command, &flags, &mut cluster)?;
        serde_json::to_string(&report).map_err(|error| defect(&error.to_string()))
    })
}

/// The digest of the key of each row of `rows`, which has the key columns and no more, as a column of 32 bytes or
/// null; and counts of these rows, for the driver.
#[pyfunction]
pub fn key_digests(py: Python<'_>, flags: Vec<Flag>, rows: AnyRecordBatch) -> PyResult<(PyTable, String)> {
    let table = Table::of_arrow(py, "the DataFrame", None, rows)?;
    let digests = py.detach(|| {
        let spec = embed::key_spec(&flags)?;
        let keys = collect_keys(&table.batches, &spec)?;
        let mut column = BinaryBuilder::with_capacity(keys.row_key.len(), 32 * keys.digests.len());
        for &key in &keys.row_key {
            match keys.digests.get(key as usize).filter(|_| key != NO_KEY) {
                Some(digest) => column.append_value(to_bytes(digest)),
                None => column.append_null(),
            }
        }
        Ok((Arc::new(column.finish()) as ArrayRef, keys.stats.to_part()))
    });
    let (column, counts) = digests.map_err(|failure: Failure| raised(py, &failure))?;
    Ok((one_column("digest", column)?, counts))
}

/// The bucket of each digest of `digests`, which has one column of 32 bytes.
#[pyfunction]
pub fn bucket_numbers(py: Python<'_>, division: &str, digests: AnyRecordBatch) -> PyResult<PyTable> {
    let division: Division =
        serde_json::from_str(division).map_err(|_| raised(py, &defect("a division into buckets cannot be read")))?;
    let digests = read_digests(digests).map_err(|failure| raised(py, &failure))?;
    let numbers = py.detach(|| division.buckets_of(digests.into_iter().collect()));
    let numbers: Int32Array = numbers.into_iter().map(|number| Some(i32::from(number))).collect();
    one_column("bucket", Arc::new(numbers))
}

/// Runs one bucket with the partner's worker, on `cores` threads; `digests` are those of its keys. Returns the
/// transcript in hexadecimal, and a bit for each key under the ticket's mask; of a side that learns nothing `None`.
#[pyfunction]
pub fn run_ticket<'py>(
    py: Python<'py>,
    ticket: &str,
    digests: AnyRecordBatch,
    cores: NonZeroUsize,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    let ran = py.detach(|| {
        refuse_after_fork()?;
        // Another task of this process may have begun with another number.
        let _ = threads::set(cores);
        let ticket = read_ticket(ticket)?;
        let mut ran = cluster::run(&ticket, read_digests(digests)?.into_iter().collect())?;
        if let Some(bits) = &mut ran.matched {
            ticket.mask(bits);
        }
        Ok(ran)
    });
    let Attempt { transcript, matched } = ran.map_err(|failure: Failure| raised(py, &failure))?;
    Ok((to_hex(&transcript), matched.map(|bits| PyBytes::new(py, &bits))))
}

/// The bits that `run_ticket` returned for this ticket without the mask, and how many are set.
#[pyfunction]
pub fn unmasked<'py>(py: Python<'py>, ticket: &str, mut bits: Vec<u8>) -> PyResult<(Bound<'py, PyBytes>, u32)> {
    read_ticket(ticket).map_err(|failure| raised(py, &failure))?.mask(&mut bits);
    Ok((PyBytes::new(py, &bits), places(&bits).count() as u32))
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

/// The digests of the only column.
fn read_digests(rows: AnyRecordBatch) -> Result<Vec<Digest>, Failure> {
    let unreadable = || defect("a column of digests cannot be read");
    let mut digests = Vec::new();
    for batch in rows.into_reader().map_err(|_| unreadable())? {
        let batch = batch.map_err(|_| unreadable())?;
        let [column] = batch.columns() else { return Err(unreadable()) };
        let column = cast(column, &DataType::LargeBinary).map_err(|_| unreadable())?;
        for bytes in column.as_binary::<i64>() {
            digests.push(bytes.and_then(from_bytes).ok_or_else(unreadable)?);
        }
    }
    Ok(digests)
}

fn one_column(name: &str, column: ArrayRef) -> PyResult<PyTable> {
    let schema = Arc::new(Schema::new(vec![Field::new(name, column.data_type().clone(), true)]));
    let failed = |error: arrow_schema::ArrowError| pyo3::exceptions::PyValueError::new_err(error.to_string());
    let batch = RecordBatch::try_new(schema.clone(), vec![column]).map_err(failed)?;
    PyTable::try_new(vec![batch], schema)
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

/// How a ticket ended, as Python says it: the transcript in hexadecimal and the number of matches; or an exit code, what
/// went wrong, and what to do.
#[derive(FromPyObject)]
enum Ended {
    Kept(String, Option<u32>),
    Failed(u8, String, String),
}

impl Machines for PyMachines {
    fn keys(&mut self, stop: &Stop<'_>) -> Result<KeyStats, Failure> {
        let (distinct, parts): (u64, Vec<String>) = self.job("keys", "", stop, |given| given.extract())?;
        let parts = parts.iter().map(String::as_str);
        let stats = KeyStats::of_parts(&self.spec, parts, distinct).ok_or_else(|| defect("counts of a table"))?;
        if distinct == 0 {
            let fault = match stats.rows {
                0 => "the DataFrame has no rows".to_owned(),
                rows => format!("none of the {rows} rows of the DataFrame has a usable key"),
            };
            return Err(Failure::new(code::INPUT, fault, "name another key column, or look at its values"));
        }
        Ok(stats)
    }

    fn divide(&mut self, division: &Division, stop: &Stop<'_>) -> Result<Vec<usize>, Failure> {
        let division = serde_json::to_string(division).map_err(|error| defect(&error.to_string()))?;
        self.job("divide", &division, stop, |given| given.extract())
    }

    fn slots(&mut self) -> Result<u32, Failure> {
        Python::attach(|py| self.machines.call_method0(py, "slots")?.extract(py)).map_err(failure)
    }

    fn wave(&mut self, tickets: &[Ticket], stop: &Stop<'_>) -> Result<Vec<Outcome>, Failure> {
        let named: Vec<_> = tickets.iter().map(|ticket| (ticket.bucket, ticket.attempt, ticket.to_json())).collect();
        let named: Vec<_> = named.iter().map(|(bucket, attempt, ticket)| (bucket, attempt, ticket.as_str())).collect();
        let argument = serde_json::to_string(&named).map_err(|error| defect(&error.to_string()))?;
        let ended: Vec<Ended> = self.job("wave", &argument, stop, |given| given.extract())?;
        let outcome = |ended| match ended {
            Ended::Kept(transcript, matched) => {
                let transcript = from_hex(&transcript).ok_or_else(|| defect("a transcript"))?;
                Ok(Outcome::Kept { transcript, matched })
            }
            Ended::Failed(code, fault, mend) => {
                Ok(Outcome::Failed(Failure { told: Some(CLUSTER_FAILED), ..Failure::new(code, fault, mend) }))
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
