//! Calls of the engine. A run goes on in a thread of its own, without the interpreter's lock. The thread that called
//! hands what happens to Python's callback, and looks for signals between.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use vesica::Failure;
use vesica::failure::code;
use vesica::progress::{Progress, Stage};
use vesica::session::{Events, Interrupt};
use vesica::task;
use vesica::threads;
use vesica_cli::embed::{self, Flag, InMemory, Ran};

use crate::failure::{defect, raised};
use crate::outcome::{Outcome, Placed};
use crate::table::Table;

/// Time between two looks at signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a run that was interrupted may take to tell the partner, before it is left to itself.
const GOODBYE: Duration = Duration::from_millis(500);

/// What a run says while it goes on.
enum Event {
    Listening(String),
    Connected,
    Notice(String),
    Warning(String),
    Stage(Stage),
    Progress(Progress),
}

/// What the thread of a run says.
enum FromRun<T> {
    Event(Event),
    Done(Result<T, Failure>),
}

/// Runs `vesica receive` or `vesica send` on a table. `tell(kind, value)` hears what happens: `listening` (the
/// address), `connected`, `notice` and `warning` (texts), `stage` and `progress` (dictionaries), and `look` (nothing) while
/// nothing happens. If it raises, the run ends.
#[pyfunction]
pub fn join(py: Python<'_>, command: String, flags: Vec<Flag>, table: &Table, tell: Py<PyAny>) -> PyResult<Outcome> {
    let (ran, result) = on_table(py, &tell, table, move |memory| embed::join(&command, &flags, memory))?;
    of_run(py, &ran, &result)
}

/// What a run or a dry run left.
pub fn of_run(py: Python<'_>, ran: &Ran, result: &Placed) -> PyResult<Outcome> {
    let (report, is_dry_run) = match ran {
        Ran::Run(report) => (serde_json::to_string(report), false),
        Ran::DryRun(found) => (serde_json::to_string(found), true),
    };
    Ok(Outcome::new(report.map_err(|error| raised(py, &defect(&error.to_string())))?, is_dry_run, result))
}

/// Runs `vesica query` on a table; `tell` as for `join`.
#[pyfunction]
pub fn query(py: Python<'_>, flags: Vec<Flag>, table: &Table, tell: Py<PyAny>) -> PyResult<Outcome> {
    let (report, result) = on_table(py, &tell, table, move |memory| {
        let report = embed::query(&flags, memory)?;
        match report.failure() {
            Some(failure) => Err(failure),
            None => serde_json::to_string(&report).map_err(|error| defect(&error.to_string())),
        }
    })?;
    Ok(Outcome::new(report, false, &result))
}

/// What `vesica plan --json` prints; `tell` hears `notice` and `warning`.
#[pyfunction]
pub fn plan(py: Python<'_>, flags: Vec<Flag>, tell: Py<PyAny>) -> PyResult<String> {
    held(py, &tell, move |_, events| embed::plan(&flags, &|text| events.notice(text), &|text| events.warning(text)))
}

/// What `vesica protocols --json` prints.
#[pyfunction]
#[pyo3(signature = (name=None))]
pub fn protocols(py: Python<'_>, name: Option<&str>) -> PyResult<String> {
    embed::protocols(name).map_err(|failure| raised(py, &failure))
}

/// The settings of a command, as a list in JSON: of each its name as a flag, what it takes, the values that it knows, its
/// default and its help.
#[pyfunction]
pub fn settings(py: Python<'_>, command: &str) -> PyResult<String> {
    let settings = embed::settings(command)
        .and_then(|settings| serde_json::to_string(&settings).map_err(|error| defect(&error.to_string())));
    settings.map_err(|failure| raised(py, &failure))
}

/// The flags that are no arguments of Python.
#[pyfunction]
pub fn no_arguments() -> Vec<&'static str> {
    embed::no_arguments()
}

/// The names of all tasks.
#[pyfunction]
pub fn tasks() -> Vec<&'static str> {
    task::names()
}

/// What `vesica receipt --json` prints of the receipt `file`.
#[pyfunction]
pub fn receipt(py: Python<'_>, file: PathBuf, flags: Vec<Flag>) -> PyResult<String> {
    embed::receipt(&file, &flags).map_err(|failure| raised(py, &failure))
}

/// What `vesica check --json` prints of a table.
#[pyfunction]
pub fn check(py: Python<'_>, flags: Vec<Flag>, table: &Table) -> PyResult<String> {
    let batches = table.batches.clone();
    held(py, &py.None(), move |_, _| embed::check(&flags, &batches))
}

/// The command line. `program` is what starts it. Returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, program: PathBuf, arguments: Vec<OsString>) -> u8 {
    py.detach(|| vesica_cli::run_inside(program, &arguments))
}

/// Calls the engine on another thread for a table, and returns what it returns and leaves as a result.
pub fn on_table<T: Send + 'static>(
    py: Python<'_>,
    tell: &Py<PyAny>,
    table: &Table,
    call: impl FnOnce(&InMemory<'_>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<(T, Placed)> {
    let (table, result) = (Arc::new(table.batches.clone()), Placed::default());
    let sink = Arc::new(result.clone());
    let done = held(py, tell, move |interrupt, events| call(&InMemory { table, result: sink, interrupt, events }))?;
    Ok((done, result))
}

/// Calls the engine on another thread, and returns what it returns.
pub fn held<T: Send + 'static>(
    py: Python<'_>,
    tell: &Py<PyAny>,
    call: impl FnOnce(&Interrupt, &dyn Events) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    refuse_after_fork().map_err(|failure| raised(py, &failure))?;
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let interrupt = Interrupt::default();
    let started = thread::Builder::new().name("vesica".into()).spawn({
        let interrupt = interrupt.clone();
        move || {
            let events = Told(Mutex::new(sender.clone()));
            let done = catch_unwind(AssertUnwindSafe(|| call(&interrupt, &events)));
            let done = done.unwrap_or_else(|_| Err(defect("vesica has a defect and stopped")));
            // Nobody listens if the call was interrupted.
            let _ = sender.send(FromRun::Done(done));
        }
    });
    started.map_err(|error| raised(py, &threads::no_thread(&error).into()))?;
    match listen(py, tell, &receiver) {
        Ok(done) => done.map_err(|failure| raised(py, &failure)),
        Err(error) => {
            let fault = match error.is_instance_of::<PyKeyboardInterrupt>(py) {
                true => "interrupted by SIGINT",
                false => "the program of the partner ended the run",
            };
            interrupt.raise(Failure::new(code::INTERRUPTED, fault, "start again when you are ready"));
            py.detach(|| wait_for_end(&receiver));
            Err(error)
        }
    }
}

/// Hands events on until the run is done.
fn listen<T: Send>(
    py: Python<'_>,
    tell: &Py<PyAny>,
    receiver: &Mutex<Receiver<FromRun<T>>>,
) -> PyResult<Result<T, Failure>> {
    loop {
        let said = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK_EVERY));
        match said {
            Ok(FromRun::Done(done)) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(defect("the thread of the run has ended"))),
            _ if tell.is_none(py) => {}
            Ok(FromRun::Event(event)) => hand_on(py, tell, &event)?,
            // Whoever listens may want to end the run.
            Err(RecvTimeoutError::Timeout) => drop(tell.call1(py, ("look", py.None()))?),
        }
        py.check_signals()?;
    }
}

/// Waits until a run that was interrupted has ended, but not for long.
fn wait_for_end<T>(receiver: &Mutex<Receiver<FromRun<T>>>) {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    let end = Instant::now() + GOODBYE;
    while let Ok(FromRun::Event(_)) = receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {}
}

fn hand_on(py: Python<'_>, tell: &Py<PyAny>, event: &Event) -> PyResult<()> {
    match event {
        Event::Listening(address) => tell.call1(py, ("listening", address)),
        Event::Connected => tell.call1(py, ("connected", py.None())),
        Event::Notice(text) => tell.call1(py, ("notice", text)),
        Event::Warning(text) => tell.call1(py, ("warning", text)),
        Event::Stage(stage) => {
            let fields = PyDict::new(py);
            fields.set_item("stage", stage.name())?;
            fields.set_item("protocol", stage.protocol())?;
            fields.set_item("text", stage.to_string())?;
            tell.call1(py, ("stage", fields))
        }
        Event::Progress(progress) => {
            let fields = PyDict::new(py);
            fields.set_item("stage", progress.stage.name())?;
            fields.set_item("protocol", progress.stage.protocol())?;
            fields.set_item("text", progress.stage.to_string())?;
            fields.set_item("fraction", progress.fraction)?;
            fields.set_item("seconds_left", progress.seconds_left)?;
            fields.set_item("sent_bytes", progress.sent_bytes)?;
            fields.set_item("received_bytes", progress.received_bytes)?;
            fields.set_item("expected_bytes", progress.expected_bytes)?;
            tell.call1(py, ("progress", fields))
        }
    }
    .map(drop)
}

/// Passes events on to the thread that called.
struct Told<T>(Mutex<Sender<FromRun<T>>>);

impl<T> Told<T> {
    fn say(&self, event: Event) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(FromRun::Event(event));
    }
}

impl<T: Send> Events for Told<T> {
    fn listening(&self, address: SocketAddr) {
        self.say(Event::Listening(address.to_string()));
    }

    fn connected(&self) {
        self.say(Event::Connected);
    }

    fn notice(&self, text: &str) {
        self.say(Event::Notice(text.to_owned()));
    }

    fn warning(&self, text: &str) {
        self.say(Event::Warning(text.to_owned()));
    }

    fn stage(&self, stage: &Stage) {
        self.say(Event::Stage(stage.clone()));
    }

    fn progress(&self, progress: &Progress) {
        self.say(Event::Progress(progress.clone()));
    }
}

/// A forked process has no threads but the one that forked, so that the pool of the parent computes nothing in it and
/// a run would wait for ever.
pub fn refuse_after_fork() -> Result<(), Failure> {
    static FIRST: OnceLock<u32> = OnceLock::new();
    if *FIRST.get_or_init(process::id) == process::id() {
        return Ok(());
    }
    Err(Failure::new(
        code::REFUSED,
        "this process was forked from one that had used vesica, and has none of its threads",
        "start processes with multiprocessing's \"spawn\" or \"forkserver\", or use vesica first in the new process",
    ))
}
