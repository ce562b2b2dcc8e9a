//! The reader thread: sorts frames into the forks' queues, within the credit that each was granted.

use std::io::{self, Read};
use std::sync::Arc;

use super::fork::Frame;
use super::frame::{HEADER_BYTES, Header, Kind, Open, parse_abort};
use super::shared::Shared;
use crate::Abort;

/// Size of the buffer for small frames at first, in bytes: a server has many connections on which
/// little comes.
const LEAST_BUFFER_BYTES: usize = 1 << 10;

/// Size of the buffer once a read has filled it, in bytes.
const BUFFER_BYTES: usize = 16 << 10;

/// The reader thread's body.
pub(super) fn run(shared: Arc<Shared>, reader: Box<dyn Read + Send>) {
    let mut input = Input { shared: &shared, reader, buffer: vec![0; LEAST_BUFFER_BYTES], start: 0, end: 0 };
    let failure = loop {
        if let Err(failure) = one_frame(&mut input) {
            break failure;
        }
    };
    let over = {
        let state = shared.lock();
        state.peer_finished && state.finish_sent
    };
    if !over {
        shared.fail(failure);
    }
    // Whatever still comes is taken, so that the peer's writes end and no reset destroys a report on
    // its way.
    input.drain();
    shared.lock().reader_done = true;
    shared.ended.notify_all();
}

/// Reads and sorts one frame.
fn one_frame(input: &mut Input<'_>) -> Result<(), Abort> {
    let shared = input.shared;
    let mut bytes = [0; HEADER_BYTES];
    input.exact(&mut bytes).map_err(closed)?;
    let header = Header::parse(&bytes).map_err(|fault| shared.misbehaved(fault.0))?;
    if matches!(header.kind, Kind::Message | Kind::Chunk) {
        return data(input, header);
    }
    let mut body = vec![0; header.length];
    input.exact(&mut body).map_err(closed)?;
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

/// Admits a frame of a message before its body is allocated.
fn data(input: &mut Input<'_>, header: Header) -> Result<(), Abort> {
    let shared = input.shared;
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
    let mut body = state.buffer(header.length);
    drop(state);
    input.exact(&mut body).map_err(closed)?;
    let mut state = shared.lock();
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

/// Buffered input that notes every sign of life.
struct Input<'a> {
    shared: &'a Shared,
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input<'_> {
    /// Fills `out`; what is long bypasses the buffer.
    #[expect(
        clippy::indexing_slicing,
        reason = "start <= end <= buffer.len(), and a reader gives no more bytes than it has room for"
    )]
    fn exact(&mut self, mut out: &mut [u8]) -> io::Result<()> {
        loop {
            let buffered = &self.buffer[self.start..self.end];
            let count = buffered.len().min(out.len());
            let (head, tail) = out.split_at_mut(count);
            head.copy_from_slice(&buffered[..count]);
            self.start += count;
            out = tail;
            if out.is_empty() {
                return Ok(());
            }
            while out.len() >= self.buffer.len() {
                let count = read_some(&mut self.reader, out)?;
                self.shared.hear();
                out = &mut out[count..];
            }
            if out.is_empty() {
                return Ok(());
            }
            if self.end == self.buffer.len() && self.end < BUFFER_BYTES {
                self.buffer = vec![0; BUFFER_BYTES];
            }
            (self.start, self.end) = (0, 0);
            self.end = read_some(&mut self.reader, &mut self.buffer)?;
            self.shared.hear();
        }
    }

    /// Reads on until the input ends or the channel is closed.
    fn drain(&mut self) {
        while read_some(&mut self.reader, &mut self.buffer).is_ok() {
            self.shared.hear();
        }
    }
}

/// Reads at least one byte, or fails.
fn read_some(reader: &mut dyn Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(out) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => return Ok(count),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
}
