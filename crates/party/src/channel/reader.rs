//! Input: sorts frames into the forks' queues, within the credit that each was granted. A thread of the
//! channel does that, or whoever uses a channel without threads.

use std::io::{self, Read};
use std::sync::Arc;

use super::fork::Frame;
use super::frame::{HEADER_BYTES, Header, Kind, Open, parse_abort};
use super::input::{BUFFER_BYTES, Input, read_some};
use super::shared::Shared;
use crate::Abort;

/// The reader thread's body.
pub(super) fn run(shared: Arc<Shared>, reader: Box<dyn Read + Send>) {
    let mut input = Input::new(reader);
    let failure = loop {
        if let Err(failure) = input.one_frame(&shared) {
            break failure;
        }
    };
    if !shared.is_over() {
        shared.fail(failure);
    }
    // Whatever still comes is taken, so that the peer's writes end and no reset destroys a report on
    // its way.
    while input.discard(&shared).is_ok() {}
    shared.lock().reader_done = true;
    shared.ended.notify_all();
}

/// Takes in a whole frame.
fn sort(shared: &Shared, header: Header, body: Vec<u8>) -> Result<(), Abort> {
    if matches!(header.kind, Kind::Message | Kind::Chunk) {
        return data(shared, header, body);
    }
    shared.count_control(0, HEADER_BYTES + header.length);
    match header.kind {
        Kind::Abort => Err(Abort::PeerAborted(parse_abort(&body))),
        Kind::Ping => Ok(()),
        _ if shared.lock().peer_finished => Err(shared.misbehaved("a frame after the last one")),
        Kind::Open => open(shared, header.fork, &body),
        Kind::Close => close(shared, header.fork),
        Kind::Credit => credit(shared, header.fork, &body),
        Kind::Finish => {
            let mut state = shared.lock();
            state.peer_finished = true;
            for fork in state.forks.iter() {
                fork.wake.notify_all();
            }
            drop(state);
            shared.work.notify_all();
            shared.ended.notify_all();
            Ok(())
        }
        Kind::Message | Kind::Chunk => Ok(()),
    }
}

fn closed(fault: io::Error) -> Abort {
    match fault.kind() {
        io::ErrorKind::UnexpectedEof => Abort::Link(io::Error::new(fault.kind(), "the partner closed it")),
        _ => Abort::Link(fault),
    }
}

/// Admits a frame of a message, and only then allocates its body.
fn admit(shared: &Shared, header: Header) -> Result<Vec<u8>, Abort> {
    let mut state = shared.lock();
    if state.peer_finished {
        return Err(shared.misbehaved("a frame after the last one"));
    }
    let Some(&slot) = state.theirs.get(usize::from(header.fork)) else {
        return Err(shared.misbehaved("a frame for a fork that it did not open"));
    };
    if state.forks[slot].their_end {
        return Err(shared.misbehaved("a frame for a fork that it closed"));
    }
    if !state.forks[slot].admit(header.length) {
        return Err(shared.misbehaved("more on a fork than it had credit for"));
    }
    Ok(state.buffer(header.length))
}

/// Queues a frame of a message that was admitted.
fn data(shared: &Shared, header: Header, body: Vec<u8>) -> Result<(), Abort> {
    let mut state = shared.lock();
    let Some(&slot) = state.theirs.get(usize::from(header.fork)) else { return Ok(()) };
    let fork = &mut state.forks[slot];
    fork.inbox.push_back(Frame { header, body });
    fork.wake.notify_all();
    if state.finishing {
        shared.ended.notify_all();
    }
    Ok(())
}

fn open(shared: &Shared, id: u16, body: &[u8]) -> Result<(), Abort> {
    let open = Open::parse(body).map_err(|fault| shared.misbehaved(fault.0))?;
    let mut state = shared.lock();
    if usize::from(id) != state.theirs.len() {
        return Err(shared.misbehaved("a fork opened out of order"));
    }
    let Some(&parent) = state.theirs.get(usize::from(open.parent)) else {
        return Err(shared.misbehaved("a fork of a fork that it did not open"));
    };
    let slot = state.child(parent, open.index);
    let early = state.forks.iter().filter(|fork| fork.their_id.is_some() && !fork.opened).count();
    let fork = &mut state.forks[slot];
    if fork.their_id.is_some() {
        return Err(shared.misbehaved("a fork opened twice"));
    }
    if *fork.label.get_or_insert(open.label) != open.label {
        return Err(shared.misbehaved(OTHER_FORK));
    }
    if !fork.opened && early >= shared.options.early_forks {
        return Err(shared.misbehaved("more forks than may be opened ahead of this side"));
    }
    fork.their_id = Some(id);
    state.theirs.push(slot);
    state.make_ready(slot);
    state.retry_unannounced();
    shared.work.notify_all();
    Ok(())
}

/// What is said of a peer whose forks differ from this side's: the two programs are not the same.
pub(super) const OTHER_FORK: &str = "a fork with another label than this side's";

fn close(shared: &Shared, id: u16) -> Result<(), Abort> {
    let mut state = shared.lock();
    let slot = state.theirs.get(usize::from(id)).copied();
    match slot.map(|slot| &mut state.forks[slot]) {
        Some(fork) if id != 0 && !fork.their_end => {
            fork.their_end = true;
            fork.wake.notify_all();
            Ok(())
        }
        _ => Err(shared.misbehaved("the end of a fork that is not open")),
    }
}

fn credit(shared: &Shared, id: u16, body: &[u8]) -> Result<(), Abort> {
    let credit =
        body.try_into().map(u32::from_le_bytes).map_err(|_| shared.misbehaved("a credit of another length"))?;
    let mut state = shared.lock();
    let Some(&slot) = state.ours.get(usize::from(id)) else {
        return Err(shared.misbehaved("credit for a fork that this side did not open"));
    };
    if !state.forks[slot].credited(credit) {
        return Err(shared.misbehaved("more credit than was used"));
    }
    state.make_ready(slot);
    shared.work.notify_all();
    Ok(())
}

impl Input {
    /// Reads on to the end of a frame, and sorts it. False if the connection does not block, and has
    /// nothing more now.
    pub(super) fn one_frame(&mut self, shared: &Shared) -> Result<bool, Abort> {
        let (header, mut body) = match self.body.take() {
            Some(under_way) => under_way,
            None => {
                let mut bytes = self.header;
                let complete = self.fill(shared, &mut bytes).map_err(closed)?;
                self.header = bytes;
                if !complete {
                    return Ok(false);
                }
                let header = Header::parse(&bytes).map_err(|fault| shared.misbehaved(fault.0))?;
                let body = match header.kind {
                    Kind::Message | Kind::Chunk => admit(shared, header)?,
                    _ => vec![0; header.length],
                };
                (header, body)
            }
        };
        if !self.fill(shared, &mut body).map_err(closed)? {
            self.body = Some((header, body));
            return Ok(false);
        }
        sort(shared, header, body)?;
        Ok(true)
    }

    /// Fills `out` from `filled` on; what is long bypasses the buffer. False if the connection does
    /// not block, and has nothing more now.
    #[expect(
        clippy::indexing_slicing,
        reason = "filled <= out.len(), start <= end <= buffer.len(), and a reader gives no more bytes than it has room \
                  for"
    )]
    fn fill(&mut self, shared: &Shared, out: &mut [u8]) -> io::Result<bool> {
        loop {
            let left = &mut out[self.filled..];
            let buffered = &self.buffer[self.start..self.end];
            let count = buffered.len().min(left.len());
            left[..count].copy_from_slice(&buffered[..count]);
            self.start += count;
            self.filled += count;
            let left = &mut left[count..];
            if left.is_empty() {
                self.filled = 0;
                return Ok(true);
            }
            let read = if left.len() >= self.buffer.len() {
                read_some(&mut *self.reader, left).inspect(|count| self.filled += count)
            } else {
                if self.end == self.buffer.len() && self.end < BUFFER_BYTES {
                    self.buffer = vec![0; BUFFER_BYTES];
                }
                (self.start, self.end) = (0, 0);
                read_some(&mut *self.reader, &mut self.buffer).inspect(|count| self.end = *count)
            };
            match read {
                Ok(_) => shared.hear(),
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Reads something and forgets it; an error once the input has ended.
    pub(super) fn discard(&mut self, shared: &Shared) -> io::Result<()> {
        read_some(&mut *self.reader, &mut self.buffer).map(|_| shared.hear())
    }
}
