//! How far the reading of a table has come, for another thread.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a pass over a table has come. Clones are the same count, and any thread may read it.
#[derive(Clone, Debug)]
pub struct Position(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    passed: AtomicU64,
    all: u64,
}

impl Position {
    /// That of a table of so many units, such as bytes or rows.
    pub fn of(all: u64) -> Self {
        Self(Arc::new(Counts { passed: AtomicU64::new(0), all }))
    }

    /// Says how many units the pass has left behind; 0 when a pass begins.
    pub fn set(&self, passed: u64) {
        self.0.passed.store(passed, Ordering::Relaxed);
    }

    /// The share of the table that the pass has left behind, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let passed = self.0.passed.load(Ordering::Relaxed).min(self.0.all);
        passed as f64 / self.0.all.max(1) as f64
    }
}

/// A stream whose bytes count as passed when they are read.
pub(crate) struct CountingReader<R> {
    inner: R,
    position: Position,
    passed: u64,
}

impl<R> CountingReader<R> {
    /// Counts on from `passed`.
    pub fn new(inner: R, position: Position, passed: u64) -> Self {
        Self { inner, position, passed }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.passed += count as u64;
        self.position.set(self.passed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_share_of_all_units_and_never_more_than_one() {
        let position = Position::of(200);
        let mut bytes = CountingReader::new(&[0; 100][..], position.clone(), 50);
        assert_eq!(position.fraction(), 0.0);
        bytes.read_exact(&mut [0; 50]).expect("there");
        assert_eq!(position.fraction(), 0.5);
        position.set(300);
        assert_eq!((position.fraction(), Position::of(0).fraction()), (1.0, 0.0));
    }
}
