//! The ends of a channel: finished by both sides, aborted by one, dropped, or cancelled from
//! another thread.

use std::fmt;
use std::net;
use std::sync::Arc;
use std::thread;

use super::forks::Slot;
use super::shared::Shared;
use super::{Channel, Tally};
use crate::{Abort, exit_code};

impl Channel {
    /// A handle with which another thread ends the run.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.shared.clone())
    }

    /// Closes the channel cleanly: waits until everything is sent and the peer has finished, too.
    /// On a fork, ends only the fork.
    ///
    /// # Errors
    /// If the channel fails before that, or the peer has sent messages that this side never
    /// received. The peer is then told.
    pub fn finish(mut self) -> Result<Tally, Abort> {
        if self.slot == Slot::ROOT {
            if let Err(failure) = self.exchange_finish() {
                self.close(&failure);
                return Err(failure);
            }
            if self.shared.direct.is_some() {
                self.close_direct(None);
            } else {
                self.shared.wait_ended(self.shared.options.drain_for, |state| state.reader_done);
            }
            // Both sides have all; how the transport closes matters no more.
            let _ = self.shared.shutdown.close(net::Shutdown::Both);
            self.closed = true;
        }
        Ok(self.tally())
    }

    /// Tells the peer of a failure and closes the connection; waits at most
    /// [`ChannelOptions::drain_for`](super::ChannelOptions::drain_for) for the peer to receive
    /// the report. On a fork, sends only the report.
    pub fn abort(mut self, failure: &Abort) {
        self.close(failure);
    }

    fn close(&mut self, failure: &Abort) {
        self.closed = true;
        if self.shared.direct.is_some() {
            self.close_direct(Some(failure));
            let _ = self.shared.shutdown.close(net::Shutdown::Both);
            return;
        }
        self.shared.tell(failure);
        if self.slot != Slot::ROOT {
            return;
        }
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
        self.shared.wait_ended(self.shared.options.drain_for, |state| state.writer_done && state.reader_done);
        // The failure that led here is what counts.
        let _ = self.shared.shutdown.close(net::Shutdown::Both);
    }

    fn exchange_finish(&mut self) -> Result<(), Abort> {
        if self.shared.direct.is_some() {
            return self.finish_direct();
        }
        let shared = &self.shared;
        let mut state = shared.lock();
        state.finishing = true;
        shared.work.notify_all();
        loop {
            if self.partial.is_some() || state.leftover() {
                return Err(shared.misbehaved("more than this side has use for"));
            }
            if state.finish_sent && state.peer_finished && state.writer_done {
                return Ok(());
            }
            state = shared.wait(state, &shared.ended)?;
        }
    }

    /// Tells the peer that nothing more comes on this fork.
    fn end_fork(&mut self) {
        let mut state = self.shared.lock();
        if let Some((frame, _)) = self.partial.take() {
            // For `finish` to notice that nobody took the rest.
            state.forks[self.slot].inbox.push_front(frame);
        }
        state.forks[self.slot].closing = true;
        state.make_ready(self.slot);
        self.shared.work.notify_one();
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.clock.book();
        if self.closed {
            return;
        }
        if self.slot != Slot::ROOT && !thread::panicking() {
            self.leave_transcript();
            self.end_fork();
            return;
        }
        let known = self.shared.lock().failure.as_ref().map(Abort::again);
        self.close(&known.unwrap_or_else(|| Abort::Local {
            code: exit_code::INTERNAL,
            fault: "it stopped before the end of the run".into(),
            mend: "look at what that side printed".into(),
        }));
    }
}

/// A handle with which another thread ends a run, for example on a signal.
#[derive(Clone)]
pub struct Canceller(Arc<Shared>);

impl Canceller {
    /// Makes every call on the channel and its forks fail with `reason`, and tells the peer. Does
    /// not block.
    pub fn cancel(&self, reason: &Abort) {
        self.0.tell(reason);
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canceller(..)")
    }
}
