//! The writer thread: sends queued frames, flushes when the queues are empty, and sends a sign of
//! life after a pause.

use std::io::{self, Write};
use std::net;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::frame::{Header, Kind, control};
use super::shared::Shared;
use super::state::CHUNK_BYTES;

/// Most bytes that are taken from the queues in one go. An abort frame waits for no more than
/// these.
pub(super) const BATCH_BYTES: usize = CHUNK_BYTES;
/// Frames up to this length are gathered, so that small ones share a system call.
const GATHER_BYTES: usize = 16 << 10;

/// The next action of the writer thread.
enum Work {
    Frames,
    Flush,
    /// Nothing was sent for a while.
    Ping,
    /// The abort frame; then the end.
    Goodbye(Vec<u8>),
    End,
}

/// The writer thread's body.
pub(super) fn run(shared: Arc<Shared>, writer: Box<dyn Write + Send>) {
    if let Err(fault) = write_all(&shared, writer) {
        shared.write_failed(fault);
    }
    // The peer may be gone already; then there is nobody to tell.
    let _ = shared.shutdown.close(net::Shutdown::Write);
    shared.lock().writer_done = true;
    shared.ended.notify_all();
}

fn write_all(shared: &Shared, mut writer: Box<dyn Write + Send>) -> io::Result<()> {
    let mut frames = Vec::new();
    let mut gathered = Vec::new();
    let mut flushed = true;
    loop {
        match next(shared, &mut frames, flushed) {
            Work::Frames => {
                let control = frames.iter().filter(|frame| is_control(frame)).map(Vec::len).sum();
                shared.count_control(control, 0);
                for frame in &frames {
                    if frame.len() <= GATHER_BYTES {
                        gathered.extend_from_slice(frame);
                    }
                    if frame.len() > GATHER_BYTES || gathered.len() > 3 * GATHER_BYTES {
                        writer.write_all(&gathered)?;
                        gathered.clear();
                    }
                    if frame.len() > GATHER_BYTES {
                        writer.write_all(frame)?;
                    }
                }
                writer.write_all(&gathered)?;
                gathered.clear();
                flushed = false;
            }
            Work::Flush => {
                writer.flush()?;
                flushed = true;
            }
            Work::Ping => {
                // An idle connection keeps no buffers: a server has many of these.
                gathered = Vec::new();
                let ping = control(Kind::Ping, 0, &[]);
                shared.count_control(ping.len(), 0);
                writer.write_all(&ping)?;
                writer.flush()?;
            }
            Work::Goodbye(frame) => {
                shared.count_control(frame.len(), 0);
                writer.write_all(&frame)?;
                return writer.flush();
            }
            Work::End => return writer.flush(),
        }
    }
}

/// Whether a frame belongs to no phase. Those that do were counted by the caller who sent them.
pub(super) fn is_control(frame: &[u8]) -> bool {
    let header = frame.first_chunk().and_then(|header| Header::parse(header).ok());
    header.is_some_and(|header| !matches!(header.kind, Kind::Message | Kind::Chunk))
}

/// Gives the written frames' buffers back and waits for more work.
fn next(shared: &Shared, frames: &mut Vec<Vec<u8>>, flushed: bool) -> Work {
    let mut state = shared.lock();
    for buffer in frames.drain(..) {
        state.recycle(buffer);
    }
    let ping_at = Instant::now() + shared.options.ping_every;
    loop {
        if let Some(frame) = state.goodbye.take() {
            return Work::Goodbye(frame);
        }
        // A peer that failed, or is gone, waits for the end of this side's output and for nothing else.
        let unheard = state.failure.as_ref().is_some_and(|failure| !failure.is_told());
        if state.closing || unheard || (state.finish_sent && state.peer_finished) {
            return Work::End;
        }
        // After a failure nothing is sent but its report.
        if state.failure.is_none() {
            state.take_frames(BATCH_BYTES, frames);
            if !frames.is_empty() {
                return Work::Frames;
            }
            if state.finishing && !state.finish_sent && state.forks.iter().all(|fork| fork.out.is_empty()) {
                state.finish_sent = true;
                shared.ended.notify_all();
                frames.push(control(Kind::Finish, 0, &[]));
                return Work::Frames;
            }
        }
        if !flushed {
            return Work::Flush;
        }
        let pause = ping_at.saturating_duration_since(Instant::now());
        if pause.is_zero() {
            state.forget_spare();
            return Work::Ping;
        }
        (state, _) = shared.work.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
    }
}
