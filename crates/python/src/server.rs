//! A server of a table in memory.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pyo3::prelude::*;
use vesica::Failure;
use vesica::failure::code;
use vesica::party::Abort;
use vesica::party::service::{ClientIdentity, Query, Stop};
use vesica::service::{Quota, Serve, ServeLog};
use vesica::table::{Batches, OpenSource, Source, TableError};
use vesica::threads;
use vesica::words::counted;
use vesica_cli::embed::{self, Flag, client_name};

use crate::failure::raised;
use crate::run::refuse_after_fork;
use crate::table::Table;

/// A table whose rows can be replaced while it is served.
#[derive(Clone, Debug)]
struct Replaceable(Arc<Mutex<Batches>>);

impl Replaceable {
    fn current(&self) -> Batches {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl OpenSource for Replaceable {
    fn name(&self) -> String {
        OpenSource::name(&self.current())
    }

    fn open(&self) -> Result<Box<dyn Source>, TableError> {
        OpenSource::open(&self.current())
    }
}

/// A server that answers clients on threads of its own until it is stopped.
#[pyclass(frozen)]
pub struct Server {
    /// Nothing once it is stopped: then the address and the state file are free.
    serve: Mutex<Option<Arc<dyn Serve>>>,
    stop: Stop,
    table: Replaceable,
    log: Arc<Log>,
    running: Mutex<Option<JoinHandle<()>>>,
    address: String,
    metrics: Option<String>,
    keys: u64,
    protocol: String,
}

#[pymethods]
impl Server {
    /// Starts `vesica serve` on a table. `tell(kind, text)` hears `warning` and `info`.
    #[staticmethod]
    fn start(py: Python<'_>, flags: Vec<Flag>, table: &Table, tell: Py<PyAny>) -> PyResult<Self> {
        refuse_after_fork().map_err(|failure| raised(py, &failure))?;
        let table = Replaceable(Arc::new(Mutex::new(table.batches.clone())));
        let told = tell.clone_ref(py);
        let log = Arc::new(Log::new(tell).map_err(|failure| raised(py, &failure))?);
        let source: Arc<dyn OpenSource> = Arc::new(table.clone());
        let warnings = Mutex::new(Vec::new());
        let warn = |text: &str| warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        let started = py.detach(|| embed::serve(&flags, source, &*log, &warn));
        for text in warnings.into_inner().unwrap_or_else(PoisonError::into_inner) {
            told.call1(py, ("warning", text))?;
        }
        let (serve, started) = started.map_err(|failure| raised(py, &failure))?;
        let stop = Stop::new();
        let running = thread::Builder::new().name("vesica".into()).spawn({
            let (serve, stop, log) = (serve.clone(), stop.clone(), log.clone());
            move || serve.run(&stop, &*log)
        });
        let running = running.map_err(|error| raised(py, &threads::no_thread(&error).into()))?;
        Ok(Self {
            serve: Mutex::new(Some(serve)),
            stop,
            table,
            log,
            running: Mutex::new(Some(running)),
            address: started.address,
            metrics: started.metrics,
            keys: started.keys,
            protocol: started.protocol,
        })
    }

    /// The address at which it listens.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// The address of the metrics page, if there is one.
    #[getter]
    fn metrics(&self) -> Option<&str> {
        self.metrics.as_deref()
    }

    /// Distinct keys of the table with which it was started.
    #[getter]
    fn keys(&self) -> u64 {
        self.keys
    }

    /// The protocol's id.
    #[getter]
    fn protocol(&self) -> &str {
        &self.protocol
    }

    /// Serves these rows from now on. Returns how many distinct keys there were before, and are now.
    fn reload(&self, py: Python<'_>, table: &Table) -> PyResult<(u64, u64)> {
        let serve = self.serving().map_err(|failure| raised(py, &failure))?;
        let before = self.table.current();
        *self.table.0.lock().unwrap_or_else(PoisonError::into_inner) = table.batches.clone();
        let reloaded = py.detach(|| serve.reload(&*self.log));
        reloaded.map(|reloaded| (reloaded.before, reloaded.now)).map_err(|failure| {
            *self.table.0.lock().unwrap_or_else(PoisonError::into_inner) = before;
            raised(py, &failure)
        })
    }

    /// Prepares the table under a new secret key.
    fn rotate(&self, py: Python<'_>) -> PyResult<()> {
        let serve = self.serving().map_err(|failure| raised(py, &failure))?;
        py.detach(|| serve.rotate(&*self.log)).map(drop).map_err(|failure| raised(py, &failure))
    }

    /// Whether it still runs.
    #[getter]
    fn is_running(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops it: connections that are open end their query first.
    fn stop(&self, py: Python<'_>) {
        self.stop.stop();
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running {
            // It has no result, and a panic in it was told by the hook.
            let _ = py.detach(|| running.join());
        }
        let serve = self.serve.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(serve));
    }
}

impl Server {
    fn serving(&self) -> Result<Arc<dyn Serve>, Failure> {
        let serve = self.serve.lock().unwrap_or_else(PoisonError::into_inner).clone();
        serve.ok_or_else(|| Failure::new(code::REFUSED, "the server is stopped", "start another one"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Hands on what a server says to Python, on a thread of its own: no client waits for the interpreter or a slow
/// callback.
struct Log(Mutex<Sender<(&'static str, String)>>);

impl Log {
    fn new(tell: Py<PyAny>) -> Result<Self, Failure> {
        let (sender, receiver) = mpsc::channel::<(&str, String)>();
        threads::start("vesica-log", move || {
            for (kind, text) in receiver {
                // Not while the interpreter shuts down. What the callback raises has nobody to hear it.
                let _ = Python::try_attach(|py| tell.call1(py, (kind, text)).map(drop));
            }
        })?;
        Ok(Self(Mutex::new(sender)))
    }

    fn say(&self, kind: &'static str, text: impl Into<String>) {
        // The thread above ends with this sender only.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send((kind, text.into()));
    }
}

impl ServeLog for Log {
    fn stage(&self, name: &str) {
        self.say("info", name);
    }

    fn warning(&self, text: &str) {
        self.say("warning", text);
    }

    fn joined(&self, client: &ClientIdentity) {
        self.say("info", format!("the client {} joined", client_name(client)));
    }

    fn volume(&self, client: &ClientIdentity, items: u64, threshold: Quota) {
        let client = client_name(client);
        let asked = counted(items, "item", "items");
        self.say("warning", format!("the client {client} has asked about {asked}, more than {threshold}"));
    }

    fn answered(&self, _query: &Query, _took: Duration) {}

    fn ended(&self, client: Option<&ClientIdentity>, from: &str, outcome: &Result<(), Abort>) {
        let who = client.map_or_else(|| from.to_owned(), client_name);
        match outcome {
            Ok(()) => self.say("info", format!("the connection of {who} ended")),
            Err(abort) => self.say("info", format!("the connection of {who} failed: {abort}")),
        }
    }
}
