//! The peer's points, kept as they come.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_party::{Abort, Channel, Stream};
use vesica_structures::secret::Secret;

use super::{POINT_BYTES, POINTS_PER_CHUNK, Point};

/// Points of a peer that said how many will come, in chunks. What is held, and wiped at the end, is
/// what has come: the peer's word costs no memory.
#[derive(Debug)]
pub struct Arrived {
    left: usize,
    chunks: Vec<Secret<Vec<Point>>>,
}

impl Arrived {
    /// None yet of `count`.
    pub fn new(count: usize) -> Self {
        Self { left: count, chunks: Vec::new() }
    }

    /// The number of points that are still to come.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Receives the next chunk, if one is due, and keeps what `blinding` makes of it, point by
    /// point.
    pub fn take<S: Stream<Element = Point>>(
        &mut self,
        ch: &mut Channel,
        blinding: impl FnOnce(Vec<Point>) -> Result<Secret<Vec<Point>>, Abort>,
    ) -> Result<(), Abort> {
        if self.left == 0 {
            return Ok(());
        }
        let mut points = vec![[0; POINT_BYTES]; self.left.min(POINTS_PER_CHUNK)];
        ch.recv_stream::<S>(&mut points)?;
        self.left -= points.len();
        self.chunks.push(blinding(points)?);
        Ok(())
    }

    /// The number of points that have come.
    pub fn points(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// The points that have come, chunk by chunk.
    pub fn chunks(&self) -> &[Secret<Vec<Point>>] {
        &self.chunks
    }

    /// All of them by ascending encoding, in one piece; each chunk goes as soon as it is copied.
    pub fn sorted(self) -> Secret<Vec<Point>> {
        let mut points = Secret::new(Vec::<Point>::with_capacity(self.points()));
        for chunk in self.chunks {
            points.extend_from_slice(&chunk);
        }
        points.sort_unstable();
        points
    }
}
