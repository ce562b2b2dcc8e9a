//! The reader thread's work on any bytes, for fuzzing: no thread and no connection.

use std::io::{self, Cursor};
use std::net;

use super::forks::Slot;
use super::shared::Shared;
use super::{ChannelOptions, reader};
use crate::Role;
use crate::transport::{Connection, Shutdown};

/// The effect of a sequence of frames on the reader thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Number of forks that the frames opened.
    pub opened: usize,
    /// Number of forks that the frames closed.
    pub closed: usize,
    /// Number of frames of messages that wait in the forks' queues.
    pub queued: usize,
    /// Bytes of credit that the frames granted this side on the root channel.
    pub credited: i64,
    /// Whether the frames included the one after which nothing more comes.
    pub finished: bool,
}

struct Nowhere;

impl Shutdown for Nowhere {
    fn close(&self, _how: net::Shutdown) -> io::Result<()> {
        Ok(())
    }
}

/// Has the reader thread's body take the bytes as frames of a peer, with two forks of this side's
/// open and announced.
pub(crate) fn feed(bytes: &[u8]) -> Fed {
    let connection = Connection::new(Cursor::new(bytes.to_vec()), io::sink(), Nowhere);
    let shared = Shared::new(&connection, Role::Receiver, ChannelOptions::default());
    let credit = {
        let mut state = shared.lock();
        for index in 0..2 {
            let slot = state.child(Slot::ROOT, index);
            state.forks[slot].opened = true;
            state.make_ready(slot);
        }
        state.take_frames(usize::MAX, &mut Vec::new());
        // As if as much had been sent: credit for it may come.
        state.forks[Slot::ROOT].credit -= 1 << 20;
        state.forks[Slot::ROOT].credit
    };
    let Connection { reader: bytes, .. } = connection;
    reader::run(shared.clone(), bytes);
    let state = shared.lock();
    assert!(state.reader_done, "the reader thread ends with its input");
    Fed {
        opened: state.theirs.len() - 1,
        closed: state.forks.iter().filter(|fork| fork.their_end).count(),
        queued: state.forks.iter().map(|fork| fork.inbox.len()).sum(),
        credited: state.forks[Slot::ROOT].credit - credit,
        finished: state.peer_finished,
    }
}
