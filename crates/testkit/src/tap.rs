//! A look at, or a hand in, the frames that one side sends.

use std::io::{self, Write};
use std::net;
use std::sync::Arc;

use vesica_party::transport::{Connection, Shutdown};
use vesica_party::wire::{HEADER_BYTES, Header, Kind};

/// A whole frame as sent.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub header: Header,
    pub body: Vec<u8>,
}

impl Frame {
    /// Whether it is the conversation's and not the threads' (whose times nobody controls).
    pub fn counts(&self) -> bool {
        !matches!(self.header.kind, Kind::Ping | Kind::Credit)
    }

    /// Header and body; the header's length is that of the body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Header { length: self.body.len(), ..self.header }.to_bytes().to_vec();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// What happens to a frame.
pub(crate) enum Passed {
    /// These bytes are written in its place.
    Bytes(Vec<u8>),
    /// These bytes are written, then the connection is gone.
    Cut(Vec<u8>),
}

/// Sees every frame that one side sends.
pub(crate) trait Hook: Send + 'static {
    fn pass(&mut self, frame: Frame) -> Passed;
}

/// Puts a hook into what `connection` sends.
pub(crate) fn tap(connection: Connection, hook: impl Hook) -> Connection {
    let writer = Tap { inner: connection.writer, shutdown: connection.shutdown.clone(), pending: Vec::new(), hook };
    Connection { writer: Box::new(writer), ..connection }
}

struct Tap<H> {
    inner: Box<dyn Write + Send>,
    shutdown: Arc<dyn Shutdown>,
    /// The start of a frame whose rest is not yet written.
    pending: Vec<u8>,
    hook: H,
}

impl<H: Hook> Write for Tap<H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some(frame) = first_frame(&mut self.pending)? {
            match self.hook.pass(frame) {
                Passed::Bytes(bytes) => self.inner.write_all(&bytes)?,
                Passed::Cut(bytes) => {
                    self.inner.write_all(&bytes)?;
                    self.shutdown.close(net::Shutdown::Both)?;
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Takes the first frame off the bytes, if it is whole.
fn first_frame(pending: &mut Vec<u8>) -> io::Result<Option<Frame>> {
    let Some(header) = pending.first_chunk() else { return Ok(None) };
    let header = Header::parse(header).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))?;
    let Some(body) = pending.get(HEADER_BYTES..HEADER_BYTES + header.length) else { return Ok(None) };
    let frame = Frame { header, body: body.to_vec() };
    pending.drain(..HEADER_BYTES + header.length);
    Ok(Some(frame))
}
