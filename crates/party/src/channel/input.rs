//! The input of a connection, and the frame that is on its way.

use std::io::{self, Read};

use super::frame::{HEADER_BYTES, Header};

/// Size of the buffer for small frames at first, in bytes: a server has many connections on which
/// little comes.
const LEAST_BUFFER_BYTES: usize = 1 << 10;

/// Size of the buffer once a read has filled it, in bytes.
pub(super) const BUFFER_BYTES: usize = 16 << 10;

/// The input of a connection, which is taken apart into frames.
pub(super) struct Input {
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) buffer: Vec<u8>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The header of the frame that is on its way, or the first bytes of it.
    pub(super) header: [u8; HEADER_BYTES],
    /// Its body, once the header is there.
    pub(super) body: Option<(Header, Vec<u8>)>,
    /// Bytes that are there of the header, or of the body.
    pub(super) filled: usize,
}

impl Input {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Self {
        let buffer = vec![0; LEAST_BUFFER_BYTES];
        Self { reader, buffer, start: 0, end: 0, header: [0; HEADER_BYTES], body: None, filled: 0 }
    }

    /// Gives memory back that a connection does not need while little comes.
    pub(super) fn shrink(&mut self) {
        if self.start == self.end && self.buffer.len() > LEAST_BUFFER_BYTES {
            self.buffer = vec![0; LEAST_BUFFER_BYTES];
            (self.start, self.end) = (0, 0);
        }
    }
}

/// Reads at least one byte, or fails.
pub(super) fn read_some(reader: &mut dyn Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(out) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => return Ok(count),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
}
