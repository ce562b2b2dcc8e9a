//! The part of a run that needs no peer: the output's place and the input's keys. It goes on while the peer is waited for.

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use vesica_party::Channel;

use super::deadline::Deadline;
use super::{Config, Destination, Interrupt, Source};
use crate::failure::{Failure, code};
use crate::plan::SetTask;
use crate::table::{Format, Input, KeyTable, Output, Place, read_keys, read_values};

/// Time between two looks at an interruption and at the channel.
const LOOK: Duration = Duration::from_millis(20);

/// How long a run that ends early waits for the output's place, so as to leave nothing there. Longer than making a file takes; what takes
/// longer is an input or output that is a pipe, and those leave nothing.
const PLACING: Duration = Duration::from_secs(1);

/// What the preparation gives.
pub(super) struct Prepared {
    pub input: Input,
    pub table: KeyTable,
    /// Where the result goes, if this side has one.
    pub output: Option<Destined>,
}

/// Where a result goes.
pub(super) enum Destined {
    /// Own rows.
    Table(Output),
    /// Numbers or shares.
    Bytes(Place),
}

/// A preparation on a thread of its own, which does not hold on to the output's place: whoever drops this, drops the place.
pub(super) struct Preparation {
    placed: mpsc::Receiver<Option<Destined>>,
    outcome: mpsc::Receiver<Outcome>,
    early: Option<Outcome>,
    failed_at: Option<Instant>,
}

type Outcome = Result<(Input, KeyTable), Failure>;

impl Preparation {
    pub fn start(config: &Config) -> Self {
        let ((place, placed), (done, outcome)) = (mpsc::channel(), mpsc::channel());
        let (task, source, destination) = (config.task, config.source.clone(), config.destination.clone());
        // Not joined: an interrupted run does not wait for a long table. Nobody may be there to take the outcome then.
        thread::spawn(move || _ = done.send(prepare(task, &source, destination.as_ref(), &place).map_err(Failure::without_details)));
        Self { placed, outcome, early: None, failed_at: None }
    }

    /// Notes an outcome that is there already, and gives the failure once it has waited for `tell_for` for the peer to come.
    pub fn overdue_failure(&mut self, tell_for: Duration, announce: impl FnOnce(Failure) -> Failure) -> Option<Failure> {
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

    /// The failure, if there is one by now.
    pub fn failure(&self) -> Option<&Failure> {
        self.early.as_ref().and_then(|outcome| outcome.as_ref().err())
    }

    /// Waits for the outcome, but not beyond an interruption, the deadline or the end of the conversation with the partner.
    pub fn finish(mut self, ch: &Channel, interrupt: &Interrupt, deadline: Option<Deadline>) -> Result<Prepared, Failure> {
        let (input, table) = match self.early.take() {
            Some(outcome) => outcome?,
            None => self.wait(ch, interrupt, deadline)?,
        };
        let output = self.placed.recv().map_err(|_| panicked())?;
        Ok(Prepared { input, table, output })
    }

    fn wait(&self, ch: &Channel, interrupt: &Interrupt, deadline: Option<Deadline>) -> Outcome {
        loop {
            match self.outcome.recv_timeout(LOOK) {
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
    /// The thread may be about to make a file that nobody would remove.
    fn drop(&mut self) {
        drop(self.placed.recv_timeout(PLACING));
    }
}

fn panicked() -> Failure {
    Failure::new(
        code::INTERNAL,
        "reading the input ended with a defect of vesica",
        "please report it with the version and the kind of the input",
    )
}

fn prepare(task: SetTask, source: &Source, destination: Option<&Destination>, place: &mpsc::Sender<Option<Destined>>) -> Outcome {
    let input = Input::open(&source.path, &source.options)?;
    let output = destination.map(|to| destined(task, to, &input)).transpose()?;
    // A run that has ended takes nothing, and the place is dropped here.
    let _ = place.send(output);
    let table = match task {
        SetTask::Intersect => read_keys(&input, &source.key, source.payload.as_ref())?,
        _ => read_values(&input, &source.key, &source.values)?,
    };
    Ok((input, table))
}

fn destined(task: SetTask, to: &Destination, input: &Input) -> Result<Destined, Failure> {
    if task == SetTask::Intersect {
        return Ok(Destined::Table(Output::create(&to.path, &to.options, input)?));
    }
    if task.is_aggregate() && Format::of_name(&to.path).is_some_and(|format| format != Format::Csv) {
        return Err(Failure::new(
            code::USAGE,
            format_args!("the result of the task {task} is a few numbers, and is written as CSV or JSON"),
            "give --output a name that ends in .csv or .json",
        ));
    }
    Ok(Destined::Bytes(Place::create(&to.path, to.options.force)?))
}
