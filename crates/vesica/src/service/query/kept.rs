//! What a client keeps in a file between two runs.

use std::io;
use std::path::Path;

use vesica_party::service::{Enrolled, State, StateError, StateReader, StateWriter};

use crate::failure::Failure;
use crate::service::prepared::{self, check_format, read_description, write_format};
use crate::service::{Description, TableService};

/// What a client keeps between two connections, and between two runs.
pub(super) struct Kept<S: TableService> {
    pub description: Description,
    pub enrolled: Enrolled<S::Client>,
}

impl<S: TableService> Kept<S> {
    /// What an earlier run has left, if that was of the same protocol.
    pub fn load(path: &Path) -> Result<Option<Self>, Failure> {
        Ok(prepared::load::<Stored<S>>(path)?.and_then(|stored| stored.0))
    }
}

/// What a state file held, if that is of the protocol `S`.
struct Stored<S: TableService>(Option<Kept<S>>);

const FORMAT: &str = "vesica enrolled client 1";

impl<S: TableService> State for Kept<S> {
    const FORMAT: &'static str = FORMAT;

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        let description = self.description.to_bytes().map_err(|failure| io::Error::other(failure.fault))?;
        out.u64(description.len() as u64)?;
        out.bytes(&description)?;
        write_format::<S::Client>(out)?;
        self.enrolled.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        Stored::read(bytes)?.0.ok_or(StateError::Damaged("it holds the state of another protocol"))
    }
}

impl<S: TableService> State for Stored<S> {
    const FORMAT: &'static str = FORMAT;

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |kept| kept.write(out))
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let description = read_description(bytes)?;
        if description.protocol == S::ENTRY.id {
            check_format::<S::Client>(bytes)?;
            return Ok(Self(Some(Kept { description, enrolled: Enrolled::read(bytes)? })));
        }
        // The server has gone over to another protocol: this enrolment is of no use any more.
        let mut part = [0; 4096];
        while bytes.remaining() > 0 {
            let count = bytes.remaining().min(part.len() as u64) as usize;
            bytes.fill(part.get_mut(..count).unwrap_or_default())?;
        }
        Ok(Self(None))
    }
}
