//! Joins on a cluster: the driver's conversation, and what workers do. Which jobs a cluster runs for it, the modules in
//! `python/vesica` know.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_pyarrow::FromPyArrow;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde::Serialize;
use vesica::Failure;
use vesica::cluster::keys::{self, Categories, Records, Share, ShareCounts, Widths};
use vesica::cluster::{
    self, Attempt, Beside, Commit, Counts, Division, Inside, Learned, Machines, Received, Stop, Ticket,
};
use vesica::failure::code;
use vesica::key::KeySpec;
use vesica::receipt::{from_hex, to_hex};
use vesica::table::{
    Collected, Delivered, Head, Join, KeyStats, NewKeys, PayloadSchema, Sink, TableError, keep_batch, write_new_keys,
    write_own_rows,
};
use vesica::threads;
use vesica::words::counted;
use vesica_cli::embed::{self, Flag, OnCluster};

use crate::arrow::ArrowTable;
use crate::failure::{defect, raised};
use crate::outcome::Outcome;
use crate::run::{of_run, on_table, refuse_after_fork};
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
    let (ran, result) = on_table(py, &tell, table, move |memory| {
        let spec = embed::key_spec(&flags)?;
        let mut machines = PyMachines { machines, spec };
        embed::on_cluster(&command, &flags, &mut OnCluster { memory, inside: &inside, machines: &mut machines })
    })?;
    of_run(py, &ran, &result)
}

/// The keys of the rows that one task reads, for `vesica::cluster::keys`.
#[pyclass]
pub struct KeyPart(keys::KeyPart);

#[pymethods]
impl KeyPart {
    /// Of a table with this key, and what is read beside it, in so many shares.
    #[new]
    fn new(py: Python<'_>, flags: Vec<Flag>, beside: &str, shares: u32) -> PyResult<Self> {
        let spec = embed::key_spec(&flags).map_err(|failure| raised(py, &failure))?;
        Ok(Self(keys::KeyPart::new(spec, &read_beside(py, beside)?, shares)))
    }

    /// Takes the rows that follow, with the columns that are needed and no more.
    fn add(&mut self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        // Rows of errors are counted within this part.
        let table = Table::of_arrow(py, "a part of the DataFrame", None, rows)?;
        let part = &mut self.0;
        py.detach(|| part.add(&table.batches)).map_err(|failure| raised(py, &failure))
    }

    /// Bytes of all sections so far.
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The sections so far, which are empty from here on.
    fn take_sections<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        as_bytes(py, &self.0.take_sections())
    }

    /// How many rows there are, their counts, and what records stand beside keys, as texts.
    fn counts(&self, py: Python<'_>) -> PyResult<(u32, String, Option<String>)> {
        let (counts, records) = self.0.counts().map_err(|failure| raised(py, &failure))?;
        let records = (records != Records::default()).then(|| to_text(py, &records)).transpose()?;
        Ok((self.0.rows(), counts, records))
    }

    /// The names of the part's groups, by the numbers that stand beside its keys.
    fn categories(&self) -> Categories {
        self.0.categories().clone()
    }
}

/// All groups of the table in their order, from those of its parts; and for each part, the places of its groups among them.
#[pyfunction]
pub fn agree_on_groups(py: Python<'_>, beside: &str, parts: Vec<Categories>) -> PyResult<(Categories, Vec<Vec<u32>>)> {
    let column = read_beside(py, beside)?.group_by.unwrap_or_default();
    keys::agree_on_groups(&column, &parts).map_err(|failure| raised(py, &failure))
}

/// Puts the sections of a share together, each with the number of its file of rows; `places` are those of the groups, by
/// files. Gives the distinct keys, the rows of each, and counts as a text.
#[pyfunction]
pub fn merge_share<'py>(
    py: Python<'py>,
    flags: Vec<Flag>,
    beside: &str,
    places: Vec<Vec<u32>>,
    sections: Vec<(u32, PyBackedBytes)>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, String)> {
    let beside = read_beside(py, beside)?;
    let merged = py.detach(|| {
        let alternatives = embed::key_spec(&flags)?.alternatives().count();
        keys::merge(&beside, alternatives, &places, &sections)
    });
    let Share { keys, rows, counts } = merged.map_err(|failure| raised(py, &failure))?;
    Ok((PyBytes::new(py, &keys), PyBytes::new(py, &rows), to_text(py, &counts)?))
}

/// The keys of a share in a section for each bucket, with a record of these widths beside each.
#[pyfunction]
pub fn divide_share<'py>(
    py: Python<'py>,
    division: &str,
    beside: &str,
    widths: Widths,
    share: PyBackedBytes,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (division, beside) = (read_division(py, division)?, read_beside(py, beside)?);
    let sections = py.detach(|| keys::divide(&division, &beside, widths, &share));
    Ok(as_bytes(py, &sections.map_err(|failure| raised(py, &failure))?))
}

/// What an attempt gave: the transcript in hexadecimal; what this side learned in numbers under the ticket's mask; which
/// keys matched, in encrypted sections; and what is left for the next pass, encrypted.
type Attempted<'py> =
    (String, Option<Bound<'py, PyBytes>>, Option<Vec<Bound<'py, PyBytes>>>, Option<Bound<'py, PyBytes>>);

/// Runs one bucket with the partner's worker, on `cores` threads; `sections` are the bucket's of all shares, and `state`
/// is what the worker of the pass before has left.
#[pyfunction]
pub fn run_ticket<'py>(
    py: Python<'py>,
    ticket: &str,
    sections: Vec<PyBackedBytes>,
    state: Option<PyBackedBytes>,
    cores: NonZeroUsize,
) -> PyResult<Attempted<'py>> {
    let ran = py.detach(|| {
        refuse_after_fork()?;
        // Another task of this process may have begun with another number.
        let _ = threads::set(Some(cores));
        let ticket = read_ticket(ticket)?;
        let mut attempt = cluster::run(&ticket, &sections, state.map(|state| state.to_vec()))?;
        if let Some(learned) = &mut attempt.learned {
            ticket.mask(learned);
        }
        Ok(attempt)
    });
    let Attempt { transcript, learned, matched, state } = ran.map_err(|failure: Failure| raised(py, &failure))?;
    let bytes = |bytes: Option<Vec<u8>>| bytes.map(|bytes| PyBytes::new(py, &bytes));
    let matched = matched.map(|sections| as_bytes(py, &sections));
    Ok((to_hex(&transcript), bytes(learned), matched, bytes(state)))
}

/// What a worker returned for this ticket, without the mask: how many keys matched, or totals.
#[pyfunction]
pub fn unmasked(py: Python<'_>, ticket: &str, mut learned: Vec<u8>) -> PyResult<Given> {
    let ticket = read_ticket(ticket).map_err(|failure| raised(py, &failure))?;
    ticket.mask(&mut learned);
    match ticket.learned(&learned).ok_or_else(|| raised(py, &defect("what a worker returned cannot be read")))? {
        Learned::Matched(keys) | Learned::New(keys) => Ok(Given::Keys(keys)),
        Learned::Totals(totals) => Ok(Given::Totals(totals)),
    }
}

/// The key of what the worker of a ticket left in files, in hexadecimal.
#[pyfunction]
pub fn seal_key(py: Python<'_>, ticket: &str) -> PyResult<String> {
    let ticket = read_ticket(ticket).map_err(|failure| raised(py, &failure))?;
    Ok(to_hex(&ticket.seal_key()))
}

/// The rows of a share that match, in a section for each of `files` files of rows. `terms` are the division, what is read
/// beside keys, and what the partner gives; `share` is its number, its keys and their rows. `matched` gives for a bucket
/// the key of its worker's files in hexadecimal, and what matched of this share there.
#[pyfunction]
pub fn find_rows<'py>(
    py: Python<'py>,
    terms: (String, String, Option<String>),
    share: (u32, PyBackedBytes, PyBackedBytes),
    files: usize,
    matched: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let ((division, beside, received), (number, share, rows)) = (terms, share);
    let (division, beside) = (read_division(py, &division)?, read_beside(py, &beside)?);
    let width = read_payload(py, received.as_deref())?.map_or(0, |payload| payload.width);
    let matched = |bucket: u32| {
        let (key, section): (String, PyBackedBytes) =
            matched.call1((bucket,)).and_then(|found| found.extract()).map_err(failure)?;
        let key = from_hex(&key).ok_or_else(|| defect("the key of what a worker left"))?;
        keys::open_matched(&key, number, section.to_vec())
    };
    let found = keys::find(&division, &beside, (&share, &rows), (width, files), matched);
    Ok(as_bytes(py, &found.map_err(|failure| raised(py, &failure))?))
}

/// The rows of one file that match.
#[pyclass]
pub struct FoundRows {
    found: keys::FoundRows,
    /// What stands behind the own columns.
    received: Option<PayloadSchema>,
}

#[pymethods]
impl FoundRows {
    /// From the file's section of each share: rows to be joined in this way with what the partner gives.
    #[new]
    fn new(py: Python<'_>, join: &str, received: Option<&str>, sections: Vec<PyBackedBytes>) -> PyResult<Self> {
        let join: Join = serde_json::from_value(join.into()).map_err(|_| raised(py, &defect("a kind of join")))?;
        let received = read_payload(py, received)?;
        let found = keys::FoundRows::new(join, received.clone(), &sections);
        let received = received.filter(|_| join != Join::Difference);
        Ok(Self { found: found.map_err(|failure| raised(py, &failure))?, received })
    }

    /// What the next rows of the file become. Also of no rows, which gives the columns.
    fn keep(&mut self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        let kept = RecordBatch::from_pyarrow_bound(rows)?;
        let Self { found, received } = self;
        collected(py, |sink| {
            let all = found.next(kept.num_rows())?;
            sink.begin(&Head::of(NAME, kept.schema(), received.as_ref()))?;
            keep_batch(NAME, &kept, 0, &all, sink)
        })
    }
}

/// Some own rows as they are in a union with what the partner gives, `received`. `flags` name the key.
#[pyfunction]
pub fn own_rows(py: Python<'_>, flags: Vec<Flag>, received: &str, rows: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let rows = RecordBatch::from_pyarrow_bound(rows)?;
    let (columns, (_, payload)) = (key_columns(py, &flags)?, read_new_keys(py, received)?);
    collected(py, |sink| write_own_rows(NAME, &rows, (&columns, payload.as_ref()), sink))
}

/// The rows of keys that are new in a bucket, as they stand behind own `rows`, of which the columns count. `left` has the key
/// of what the worker of the bucket left, in hexadecimal, and what that is.
#[pyfunction]
pub fn new_rows(
    py: Python<'_>,
    flags: Vec<Flag>,
    received: &str,
    rows: &Bound<'_, PyAny>,
    left: (String, PyBackedBytes),
) -> PyResult<ArrowTable> {
    let own = RecordBatch::from_pyarrow_bound(rows)?;
    let (columns, (keys, payload)) = (key_columns(py, &flags)?, read_new_keys(py, received)?);
    let (key, section) = left;
    let key = from_hex(&key).ok_or_else(|| raised(py, &defect("the key of what a worker left")))?;
    let records = keys::open_matched(&key, 0, section.to_vec()).map_err(|failure| raised(py, &failure))?;
    let new = NewKeys { columns: &columns, keys: &keys, payload: payload.as_ref(), records: &records };
    collected(py, |sink| write_new_keys(NAME, own.schema(), &new, sink))
}

/// What users call the table.
const NAME: &str = "the DataFrame";

/// The rows that `write` gives to a sink.
fn collected(
    py: Python<'_>,
    write: impl FnOnce(&mut dyn Sink) -> Result<(), TableError> + Send,
) -> PyResult<ArrowTable> {
    let result = py.detach(|| {
        let collected = Collected::default();
        let mut sink = collected.rows();
        write(&mut *sink)?;
        sink.finish()?;
        Ok(collected.take())
    });
    match result.map_err(|error: TableError| raised(py, &error.into()))? {
        Some(Delivered::Rows { schema, batches }) => Ok(ArrowTable::new(schema, batches)),
        _ => Err(raised(py, &defect("rows became something else"))),
    }
}

/// The names of the key's columns.
fn key_columns(py: Python<'_>, flags: &[Flag]) -> PyResult<Vec<String>> {
    let spec = embed::key_spec(flags).map_err(|failure| raised(py, &failure))?;
    Ok(spec.columns().iter().map(|column| column.name.clone()).collect())
}

/// What a side learned of a bucket, on its way through Python.
#[derive(FromPyObject, IntoPyObject)]
pub enum Given {
    /// How many keys matched, or are new.
    Keys(u64),
    /// Masked totals.
    Totals(Vec<u64>),
}

fn read_ticket(ticket: &str) -> Result<Ticket, Failure> {
    let unreadable = || Failure::new(code::INTERNAL, "a ticket cannot be read", "install one release on all machines");
    Ticket::from_json(ticket).ok_or_else(unreadable)
}

fn read_beside(py: Python<'_>, text: &str) -> PyResult<Beside> {
    serde_json::from_str(text).map_err(|_| raised(py, &defect("what is read beside keys")))
}

fn read_division(py: Python<'_>, text: &str) -> PyResult<Division> {
    serde_json::from_str(text).map_err(|_| raised(py, &defect("a division into buckets")))
}

/// What the partner gives with each match.
fn read_payload(py: Python<'_>, text: Option<&str>) -> PyResult<Option<PayloadSchema>> {
    match text.map(serde_json::from_str).transpose() {
        Ok(None) => Ok(None),
        Ok(Some(Received::Payload(payload))) => Ok(Some(payload)),
        _ => Err(raised(py, &defect("what a payload is"))),
    }
}

/// What the partner gives of each new key: how keys travel, and a payload.
fn read_new_keys(py: Python<'_>, text: &str) -> PyResult<(PayloadSchema, Option<PayloadSchema>)> {
    match serde_json::from_str(text) {
        Ok(Received::NewKeys { keys, payload }) => Ok((keys, payload)),
        _ => Err(raised(py, &defect("what the partner gives of new keys"))),
    }
}

fn to_text(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| raised(py, &defect(&error.to_string())))
}

fn as_bytes<'py>(py: Python<'py>, sections: &[Vec<u8>]) -> Vec<Bound<'py, PyBytes>> {
    sections.iter().map(|section| PyBytes::new(py, section)).collect()
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

/// Refuses keys that have no value to compute with.
fn refuse_keys_without_value(beside: &Beside, without_value: &[u64]) -> Result<(), Failure> {
    let mut columns = beside.values.iter().zip(without_value);
    let Some((column, &count)) = columns.find(|(_, count)| **count > 0) else { return Ok(()) };
    let (name, keys) = (&column.name, counted(count, "key", "keys"));
    Err(match beside.adds_up {
        true => Failure::new(
            code::INPUT,
            format_args!("the values of {keys} in column {name:?} add up to more than 64 bits hold"),
            "choose fewer digits (scale=), or another column",
        ),
        false => Failure::new(
            code::INPUT,
            format_args!("{} rows that differ in column {name:?}", counted(count, "key has", "keys have")),
            "remove duplicate keys, or add up the values of each with payload_duplicates=\"sum\"",
        ),
    })
}

/// Refuses keys whose rows are in several groups.
fn refuse_keys_in_several_groups(beside: &Beside, keys: u64) -> Result<(), Failure> {
    if keys == 0 {
        return Ok(());
    }
    let column = beside.group_by.as_deref().unwrap_or_default();
    Err(Failure::new(
        code::INPUT,
        format_args!("{} rows in several groups of column {column:?}", counted(keys, "key has", "keys have")),
        "remove duplicate keys, or bring all rows of a key to one group",
    ))
}

/// How a ticket ended, as Python says it: the transcript in hexadecimal and what was learned; or an exit code, what
/// went wrong, and what to do.
#[derive(FromPyObject)]
enum Ended {
    Kept(String, Option<Given>),
    Failed(u8, String, String),
}

impl Machines for PyMachines {
    fn keys(&mut self, beside: &Beside, stop: &Stop<'_>) -> Result<Counts, Failure> {
        let text = serde_json::to_string(beside).map_err(|error| defect(&error.to_string()))?;
        let (parts, records, shares, categories): (Vec<String>, Vec<String>, Vec<String>, Categories) =
            self.job("keys", &text, stop, |given| given.extract())?;
        let mut counts = ShareCounts::none(self.spec.alternatives().count(), beside);
        for share in &shares {
            counts.add(&serde_json::from_str(share).map_err(|_| defect("counts of a share"))?);
        }
        let ShareCounts { distinct, clamped, without_value, totals, differing, in_several_groups } = counts;
        let stats = KeyStats::of_parts(&self.spec, parts.iter().map(String::as_str), &distinct);
        let stats = stats.ok_or_else(|| defect("counts of a table"))?;
        if stats.distinct == 0 {
            let fault = match stats.rows {
                0 => "the DataFrame has no rows".to_owned(),
                rows => format!("the DataFrame has {}, and none of them a usable key", counted(rows, "row", "rows")),
            };
            return Err(Failure::new(code::INPUT, fault, "name another key column, or look at its values"));
        }
        refuse_keys_without_value(beside, &without_value)?;
        refuse_keys_in_several_groups(beside, in_several_groups)?;
        if differing > 0 {
            let fault =
                format!("{} rows that differ in the columns of payload=", counted(differing, "key has", "keys have"));
            return Err(Failure::new(code::INPUT, fault, "remove duplicate keys, or name columns that are the same"));
        }
        let records = records.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<_>, _>>();
        let records = records.map_err(|_| defect("what records are"))?;
        let records = keys::records_of_parts(&records).ok_or_else(|| defect("records of parts"))?;
        Ok(Counts { stats, clamped, totals, records, categories })
    }

    fn divide(
        &mut self,
        division: &Division,
        widths: Widths,
        received: Option<&Received>,
        stop: &Stop<'_>,
    ) -> Result<Vec<usize>, Failure> {
        let text = |value: Result<String, serde_json::Error>| value.map_err(|error| defect(&error.to_string()));
        let division = text(serde_json::to_string(division))?;
        let received = received.map(|received| text(serde_json::to_string(received))).transpose()?;
        let argument = text(serde_json::to_string(&(division, widths, received)))?;
        self.job("divide", &argument, stop, |given| given.extract())
    }

    fn slots(&mut self) -> Result<u32, Failure> {
        Python::attach(|py| self.machines.call_method0(py, "slots")?.extract(py)).map_err(failure)
    }

    fn wave(&mut self, tickets: &[Ticket], workers: usize, stop: &Stop<'_>) -> Result<Vec<cluster::Outcome>, Failure> {
        let texts: Vec<_> = tickets.iter().map(Ticket::to_json).collect();
        let named = tickets.iter().zip(&texts);
        let named: Vec<_> =
            named.map(|(ticket, text)| (ticket.bucket, ticket.attempt, ticket.left_by(), text.as_str())).collect();
        let argument = serde_json::to_string(&(workers, named)).map_err(|error| defect(&error.to_string()))?;
        let ended: Vec<Ended> = self.job("wave", &argument, stop, |given| given.extract())?;
        let outcome = |(ended, ticket): (Ended, &Ticket)| match ended {
            Ended::Kept(transcript, given) => {
                let transcript = from_hex(&transcript).ok_or_else(|| defect("a transcript"))?;
                let learned = given.map(|given| match given {
                    Given::Keys(keys) => ticket.learned(&keys.to_le_bytes()).ok_or_else(|| defect("a number of keys")),
                    Given::Totals(totals) => Ok(Learned::Totals(totals)),
                });
                Ok(cluster::Outcome::Kept { transcript, learned: learned.transpose()? })
            }
            Ended::Failed(code, fault, mend) => {
                Ok(cluster::Outcome::Failed(Failure { told: Some(CLUSTER_FAILED), ..Failure::new(code, fault, mend) }))
            }
        };
        ended.into_iter().zip(tickets).map(outcome).collect()
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
