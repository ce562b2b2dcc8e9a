//! What two sides tell each other of a run that broke off, behind the handshake, both at once.

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Reader, Writer};

use crate::buckets::MOST_BUCKETS;
use crate::handshake::messages::Body;

/// What a side has finished of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// What the run is; zeros if the side has no record of one.
    pub run: [u8; 32],
    /// How many attempts at buckets the side has begun.
    pub attempts: u64,
    /// Whether the side has begun with the second pass, of a run that has one.
    pub compares: bool,
    /// For each pass and bucket the hash of all that was said until the bucket was through; zeros if it is not. One pass
    /// after the other; of a run for totals, behind the buckets that of the step which shows them.
    pub buckets: Vec<[u8; 32]>,
}

impl Unfinished {
    /// Whether the side has finished all buckets, of which there are so many.
    pub fn is_complete(&self, buckets: u32) -> bool {
        let last = self.buckets.len().saturating_sub(buckets as usize);
        self.run != [0; 32] && self.buckets.iter().skip(last).all(|bucket| *bucket != [0; 32])
    }

    /// Whether a bucket is through a pass.
    pub fn has_finished_any(&self) -> bool {
        self.buckets.iter().any(|bucket| *bucket != [0; 32])
    }
}

impl Body for Unfinished {
    const NUMBER: u8 = 12;
    const CARRIES: &'static str = "buckets that are finished";
    const LENGTHS: RangeInclusive<usize> = 41..=41 + 2 * 32 * (MOST_BUCKETS as usize + 1);

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.run);
        out.bytes(&self.attempts.to_le_bytes());
        out.bytes(&[u8::from(self.compares)]);
        self.buckets.iter().for_each(|bucket| out.bytes(bucket));
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (run, attempts) = (bytes.array()?, u64::from_le_bytes(bytes.array()?));
        let compares = match bytes.array()? {
            [0] => false,
            [1] => true,
            [_] => return Err(Malformed("a second pass that has neither begun nor not begun")),
        };
        let mut buckets = Vec::with_capacity(bytes.remaining() / 32);
        while bytes.remaining() > 0 {
            buckets.push(bytes.array()?);
        }
        Ok(Self { run, attempts, compares, buckets })
    }
}

/// All buckets of a side are through the first pass, and it can prove it after a crash: so is its partner before either
/// begins with the second.
#[derive(Debug)]
pub(crate) struct AllCommitted;

impl Body for AllCommitted {
    const NUMBER: u8 = 13;
    const CARRIES: &'static str = "that all buckets are through the first pass";
    const LENGTHS: RangeInclusive<usize> = 0..=0;

    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}
