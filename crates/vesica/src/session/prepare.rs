//! The part of a run that needs no peer: the places of the output and the receipt, and the input's
//! keys. It goes on while the peer is waited for.

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use vesica_party::Channel;

use super::deadline::Deadline;
use super::files::Files;
use super::{Config, Destination, Interrupt};
use crate::failure::{Failure, code};
use crate::handshake::Hello;
use crate::progress::{Gauge, begin_pass};
use crate::resume::{self, Record, RunFolder};
use crate::table::{KeyTable, Place, Position, Sink, Source};
use crate::task::{AnyJob, ResultKind};
use crate::threads;

/// Time between two checks of an interruption and of the channel.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// How long a run that ends early waits for the output's place, so as to leave nothing there.
/// Longer than making a file takes; what takes longer is an input or output that is a pipe, and
/// those leave nothing.
const WAIT_FOR_PLACES: Duration = Duration::from_secs(1);

/// The own table, once it has been read.
pub(super) struct Prepared {
    pub source: Box<dyn Source>,
    pub table: KeyTable,
    pub placed: Placed,
    /// Keys of the table; items behind them are dummies.
    pub distinct: usize,
    /// The record of the run, if it is kept in one.
    pub record: Option<Record>,
}

/// Where the results of a run go.
pub(super) struct Placed {
    /// The result, if this side has one.
    pub sink: Option<Box<dyn Sink>>,
    /// The receipt, if one is wanted.
    pub receipt: Option<Place>,
}

impl Placed {
    /// What the user is to hear of the places.
    pub fn notices(&self) -> impl Iterator<Item = String> {
        let sink = self.sink.as_ref().and_then(|sink| sink.notice());
        sink.into_iter().chain(self.receipt.as_ref().and_then(Place::swept))
    }
}

/// A preparation on a thread of its own, which does not hold on to the places: whoever drops this,
/// drops them.
pub(super) struct Preparation {
    placed: mpsc::Receiver<(Placed, Option<Arc<RunFolder>>)>,
    outcome: mpsc::Receiver<Outcome>,
    position: Arc<OnceLock<Position>>,
    early: Option<Outcome>,
    failed_at: Option<Instant>,
}

type Outcome = Result<(Box<dyn Source>, KeyTable, Option<Record>), Failure>;

impl Preparation {
    pub fn start(config: &Config, job: &dyn AnyJob, hello: &Hello) -> Self {
        let ((place, placed), (done, outcome)) = (mpsc::channel(), mpsc::channel());
        let (columns, source) = (job.columns(), config.source.clone());
        let (memory, work, may_divide) = (config.memory, config.work.clone(), hello.may_divide);
        let run = config.resume.then(|| resume::name(config, hello));
        let places = Places::of(config, job);
        // Not joined: an interrupted run does not wait for a long table. Nobody may be there to take the
        // outcome then.
        let position = Arc::new(OnceLock::new());
        let told = position.clone();
        let prepare = move || {
            places.files.check()?;
            let opened = source.table.open()?;
            let mut record = work.as_ref().zip(run).map(|(work, run)| Record::open(work, &run)).transpose()?;
            // A run that has ended takes nothing, and the places are dropped here.
            let _ = place.send((places.make(&*opened)?, record.as_ref().map(Record::run_folder)));
            begin_pass(&*opened, &told);
            let hash_key = record.as_ref().map(Record::table_key);
            let table = match &work {
                Some(work) => columns.read_spilled(&*opened, &source.key, work, hash_key.as_ref())?,
                None => columns.read_or_spill(&*opened, &source.key, memory, may_divide)?,
            };
            if let (Some(record), Some(hash)) = (&mut record, table.spilled.as_ref().and_then(|keys| keys.hash())) {
                record.check_table(&hash)?;
            }
            Ok((opened, table, record))
        };
        let refused = done.clone();
        let prepare = move || _ = done.send(prepare().map_err(Failure::without_details));
        if let Err(failure) = threads::start("vesica-table", prepare) {
            let _ = refused.send(Err(failure.without_details()));
        }
        Self { placed, outcome, position, early: None, failed_at: None }
    }

    /// Notes an outcome that is there already, and gives the failure once it has waited for
    /// `tell_for` for the peer to come.
    pub fn overdue_failure(
        &mut self,
        tell_for: Duration,
        announce: impl FnOnce(Failure) -> Failure,
    ) -> Option<Failure> {
        if self.early.is_none() {
            self.early = match self.outcome.try_recv() {
                Ok(Ok(outcome)) => Some(Ok(outcome)),
                Ok(Err(failure)) => Some(Err(announce(failure))),
                Err(TryRecvError::Disconnected) => Some(Err(announce(panicked()))),
                Err(TryRecvError::Empty) => None,
            };
            self.failed_at = self.failure().map(|_| Instant::now());
        }
        match (self.failure(), self.failed_at) {
            (Some(failure), Some(at)) if at.elapsed() >= tell_for => Some(failure.clone()),
            _ => None,
        }
    }

    /// Tells how much of the table was read.
    pub fn gauge(&self) -> Gauge {
        Gauge::Position(self.position.clone())
    }

    /// The failure, if there is one by now.
    pub fn failure(&self) -> Option<&Failure> {
        self.early.as_ref().and_then(|outcome| outcome.as_ref().err())
    }

    /// Waits for the outcome, but not beyond an interruption, the deadline or the end of the
    /// conversation with the partner.
    pub fn finish(
        mut self,
        ch: &Channel,
        interrupt: &Interrupt,
        deadline: Option<Deadline>,
    ) -> Result<Prepared, Failure> {
        let (source, table, record) = match self.early.take() {
            Some(outcome) => outcome?,
            None => self.wait(ch, interrupt, deadline)?,
        };
        let (placed, _) = self.placed.recv().map_err(|_| panicked())?;
        let distinct = table.distinct();
        Ok(Prepared { source, table, placed, distinct, record })
    }

    fn wait(&self, ch: &Channel, interrupt: &Interrupt, deadline: Option<Deadline>) -> Outcome {
        loop {
            match self.outcome.recv_timeout(CHECK_EVERY) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(reason) = interrupt.reason() {
                return Err(reason);
            }
            if let Some(deadline) = deadline {
                deadline.check("the input was read")?;
            }
            ch.check()?;
        }
    }
}

impl Drop for Preparation {
    /// The thread may be about to make a file that nobody would remove, and goes on when the run has ended.
    fn drop(&mut self) {
        if let Ok((_, Some(record))) = self.placed.recv_timeout(WAIT_FOR_PLACES) {
            record.remove_if_not_begun();
        }
    }
}

pub(super) fn panicked() -> Failure {
    Failure::new(
        code::INTERNAL,
        "reading the input ended with a defect of vesica",
        "please report it with the version and the kind of the input",
    )
}

/// Where a configuration says that results go.
pub(super) struct Places {
    pub files: Files,
    result: Option<ResultKind>,
    destination: Option<Destination>,
    receipt: Option<String>,
    force: bool,
}

impl Places {
    pub fn of(config: &Config, job: &dyn AnyJob) -> Self {
        Self {
            files: Files::of(config),
            result: job.result_kind(),
            destination: config.destination.clone(),
            receipt: config.receipt.as_ref().map(|path| path.display().to_string()),
            force: config.force,
        }
    }

    /// Makes the places ready for a result with rows of `source`. What is dropped without being finished leaves no
    /// file.
    pub fn make(&self, source: &dyn Source) -> Result<Placed, Failure> {
        let Self { result, destination, receipt, force, .. } = self;
        let sink = destination.as_ref().zip(*result).map(|(to, kind)| to.sink.open(kind, source)).transpose()?;
        let receipt = receipt.as_ref().map(|path| Place::file(path, *force)).transpose()?;
        Ok(Placed { sink, receipt })
    }
}
