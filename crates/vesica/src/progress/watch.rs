//! The thread that looks at a run while it goes on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use vesica_party::Meter;

use super::outlook::{Expected, Outlook};
use super::{Progress, Stage};
use crate::session::Events;
use crate::table::{Position, Source};

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What tells how far a stage has come.
#[derive(Clone, Debug)]
pub(crate) enum Gauge {
    /// Nothing.
    Nothing,
    /// The place in a table, or in a list of questions, once it is known.
    Position(Arc<OnceLock<Position>>),
    /// The bytes of the channels, against what was expected of them.
    Traffic(Expected),
}

impl Gauge {
    /// A position that is known.
    pub fn of(position: Position) -> Self {
        Self::Position(Arc::new(OnceLock::from(position)))
    }

    /// That of another pass over `source`, which is about to begin.
    pub fn pass(source: &dyn Source) -> Self {
        let position = OnceLock::new();
        begin_pass(source, &position);
        Self::Position(Arc::new(position))
    }
}

/// Tells that a pass over `source` is about to begin, if its position can be told.
pub(crate) fn begin_pass(source: &dyn Source, told: &OnceLock<Position>) {
    if let Some(position) = source.position() {
        position.set(0);
        let _ = told.set(position);
    }
}

/// Tells of the stages of a run, and of the progress within each. Dropped, it stops looking.
pub(crate) struct Watch<'a> {
    shared: Arc<Shared>,
    events: &'a dyn Events,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    has_ended: bool,
    current: Option<Current>,
    /// Those of all open connections.
    meters: Vec<Meter>,
    /// Bytes that were sent and received over connections that are closed.
    closed: [u64; 2],
}

/// The stage that goes on.
#[derive(Debug)]
struct Current {
    stage: Stage,
    began: Instant,
    gauge: Gauge,
    outlook: Outlook,
    /// Bytes before it began.
    bytes_before: u64,
}

impl<'a> Watch<'a> {
    /// Starts to look, on a thread of `scope`. Where the system gives no thread, stages are told all the
    /// same.
    pub fn start(scope: &'a Scope<'a, '_>, events: &'a dyn Events) -> Self {
        let shared = Arc::new(Shared::default());
        let watched = shared.clone();
        let _ = thread::Builder::new().spawn_scoped(scope, move || watched.look(events));
        Self { shared, events }
    }

    /// Tells that a stage begins.
    pub fn enter(&self, stage: Stage, gauge: Gauge) {
        let mut state = self.shared.lock();
        self.events.stage(&stage);
        let planned = match &gauge {
            Gauge::Traffic(expected) => expected.seconds,
            Gauge::Nothing | Gauge::Position(_) => None,
        };
        let bytes_before = state.bytes().iter().sum();
        let (began, outlook) = (Instant::now(), Outlook::new(planned));
        state.current = Some(Current { stage, began, gauge, outlook, bytes_before });
    }

    /// From now on the bytes of another connection count too.
    pub fn count(&self, meter: Meter) {
        self.shared.lock().meters.push(meter);
    }

    /// Keeps the bytes so far, and lets go of the connections: a meter would keep their sockets open.
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = state.bytes();
        state.meters.clear();
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.shared.lock().has_ended = true;
        self.shared.ended.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of the progress until the watch is dropped.
    fn look(&self, events: &dyn Events) {
        let mut state = self.lock();
        loop {
            let waited = self.ended.wait_timeout_while(state, LOOK_EVERY, |state| !state.has_ended);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.has_ended {
                return;
            }
            // Under the lock, so that nothing is told of a stage that has ended.
            if let Some(progress) = state.progress() {
                events.progress(&progress);
            }
        }
    }
}

impl State {
    /// Bytes sent and received.
    fn bytes(&self) -> [u64; 2] {
        let [sent, received] = self.closed;
        let sum = |of: fn(&Meter) -> u64| self.meters.iter().map(of).sum::<u64>();
        [sent + sum(Meter::sent), received + sum(Meter::received)]
    }

    fn progress(&mut self) -> Option<Progress> {
        let [sent_bytes, received_bytes] = self.bytes();
        let phase = self.meters.last().map(|meter| meter.phase().name());
        let current = self.current.as_mut()?;
        let (part, expected_bytes) = match &current.gauge {
            Gauge::Nothing => (None, None),
            Gauge::Position(position) => (position.get().map(Position::fraction), None),
            Gauge::Traffic(Expected { bytes: None, .. }) => (None, None),
            Gauge::Traffic(Expected { bytes: Some(bytes), .. }) => {
                let done = (sent_bytes + received_bytes).saturating_sub(current.bytes_before);
                (Some(done as f64 / (*bytes).max(1) as f64), Some(current.bytes_before.saturating_add(*bytes)))
            }
        };
        let view = current.outlook.look(current.began.elapsed().as_secs_f64(), part);
        Some(Progress {
            stage: current.stage.clone(),
            fraction: view.fraction,
            seconds_left: view.seconds_left,
            sent_bytes,
            received_bytes,
            expected_bytes,
            phase: phase.filter(|_| current.stage.protocol().is_some()),
        })
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::transport::memory;
    use vesica_party::{Channel, ChannelOptions, Role};

    use super::*;
    use crate::handshake::messages::{Opening, recv, send};
    use crate::session::Silent;

    /// Keeps what it hears.
    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Heard {
        fn add(&self, text: String) {
            self.0.lock().expect("no panic").push(text);
        }

        fn all(&self) -> Vec<String> {
            self.0.lock().expect("no panic").clone()
        }
    }

    impl Events for Heard {
        fn stage(&self, stage: &Stage) {
            self.add(format!("{} begins", stage.name()));
        }

        fn progress(&self, progress: &Progress) {
            self.add(format!("{} {:?}", progress.stage.name(), progress.fraction));
        }
    }

    #[test]
    fn progress_is_told_a_few_times_a_second_and_of_the_current_stage() {
        let heard = Heard::default();
        let position = Position::of(10);
        let began = Instant::now();
        thread::scope(|scope| {
            let watch = Watch::start(scope, &heard);
            watch.enter(Stage::Waiting, Gauge::Nothing);
            thread::sleep(3 * LOOK_EVERY / 2);
            watch.enter(Stage::Reading, Gauge::of(position.clone()));
            position.set(4);
            thread::sleep(5 * LOOK_EVERY);
        });
        let heard = heard.all();
        let (waiting, reading) = heard.split_at(heard.iter().position(|text| text == "reading begins").expect("begun"));
        assert_eq!(waiting.first().map(String::as_str), Some("waiting begins"));
        assert!(waiting.iter().skip(1).all(|text| text == "waiting None"), "{waiting:?}");
        let told = reading.iter().skip(1).inspect(|text| assert_eq!(*text, "reading Some(0.4)")).count();
        let most = began.elapsed().div_duration_f64(LOOK_EVERY) + 1.0;
        assert!(told >= 1 && told as f64 <= most, "{told} times");
    }

    /// Neither a run that ends nor one that panics waits for the next look.
    #[test]
    fn the_end_is_not_delayed() {
        for panics in [false, true] {
            let began = Instant::now();
            let outcome = std::panic::catch_unwind(|| {
                let heard = Heard::default();
                thread::scope(|scope| {
                    let watch = Watch::start(scope, &heard);
                    watch.enter(Stage::Closing, Gauge::Nothing);
                    if panics {
                        std::panic::resume_unwind(Box::new("on purpose"));
                    }
                });
            });
            assert_eq!(outcome.is_err(), panics);
            assert!(began.elapsed() < LOOK_EVERY / 2, "{:?}", began.elapsed());
        }
    }

    /// A channel that has sent something before, and sends more now.
    #[test]
    fn the_bytes_of_a_stage_are_those_since_it_began() {
        let (end, peer) = memory::pair();
        let sent = |ch: &mut Channel| send(ch, Opening { wire_version: 1 }).expect("sent");
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut ch = Channel::open(peer, Role::Receiver, ChannelOptions::default()).expect("open");
                (0..3).for_each(|_| _ = recv::<Opening>(&mut ch).expect("received"));
                sent(&mut ch);
                // Waits for the other end, which is dropped.
                assert!(ch.finish().is_err());
            });
            let mut ch = Channel::open(end, Role::Sender, ChannelOptions::default()).expect("open");
            sent(&mut ch);
            let (quiet, shared) = (Silent, Arc::new(Shared::default()));
            let watch = Watch { shared: shared.clone(), events: &quiet };
            watch.count(ch.meter());
            watch.enter(Stage::Running("vole-fast"), Gauge::Traffic(Expected { seconds: None, bytes: Some(1000) }));
            let before = ch.tally().total().sent();
            let look = || shared.lock().progress().expect("a stage");
            let first = look();
            assert_eq!(
                (first.fraction, first.sent_bytes, first.expected_bytes),
                (Some(0.0), before, Some(before + 1000))
            );
            (0..2).for_each(|_| sent(&mut ch));
            let more = ch.tally().total().sent() - before;
            assert!(more > 0);
            assert_eq!(look().fraction, Some(more as f64 / 1000.0));
            assert_eq!(look().phase, Some("other"));
            recv::<Opening>(&mut ch).expect("received");
            assert!(look().received_bytes > 0);
        });
    }
}
