//! What two drivers say for each wave, behind the handshake and before the goodbye, both at once; and what the sender
//! says behind the last wave.

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Malformed, Reader, Writer};
use vesica_protocols::tasks::AggregateRequest;

use super::{MOST_SLOTS, Stage};
use crate::handshake::messages::{Body, peers_step, recv};

/// A side is ready for a wave of at most this many buckets.
#[derive(Debug)]
pub(crate) struct Slots {
    pub slots: u32,
}

impl Body for Slots {
    const NUMBER: u8 = 8;
    const CARRIES: &'static str = "free slots";
    const LENGTHS: RangeInclusive<usize> = 4..=4;

    fn write(&self, out: &mut Writer) {
        out.u32(self.slots);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        match bytes.u32()? {
            slots @ 1..=MOST_SLOTS => Ok(Self { slots }),
            _ => Err(Malformed("a number of slots that no cluster has")),
        }
    }
}

/// What the partner must know of a side's worker.
#[derive(Clone, Copy)]
pub(crate) struct WorkerKey {
    /// Its public key, made for this attempt alone.
    pub public: [u8; 32],
    /// The pass of the link to it. That of the side that listens counts.
    pub link: [u8; 32],
}

const KEY_BYTES: usize = 64;

/// The keys of a side's workers, for each bucket of the wave in their order.
pub(crate) struct WorkerKeys(pub Vec<WorkerKey>);

impl Body for WorkerKeys {
    const NUMBER: u8 = 9;
    const CARRIES: &'static str = "keys of workers";
    const LENGTHS: RangeInclusive<usize> = KEY_BYTES..=KEY_BYTES * MOST_SLOTS as usize;

    fn write(&self, out: &mut Writer) {
        for key in &self.0 {
            out.bytes(&key.public);
            out.bytes(&key.link);
        }
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut keys = Vec::with_capacity(bytes.remaining() / KEY_BYTES);
        while bytes.remaining() > 0 {
            keys.push(WorkerKey { public: bytes.array()?, link: bytes.array()? });
        }
        Ok(Self(keys))
    }
}

/// What a side says of a wave when it is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The side's signature under [`Ended::signed_bytes`]; zeros without keys.
    pub signature: [u8; 64],
    /// The transcript of each bucket of the wave, in their order, where the side has kept what it learned.
    pub kept: Vec<Option<[u8; 32]>>,
}

impl Ended {
    /// What a side signs: of which session, wave and pass, what both sides have signed before, and of each bucket which
    /// attempt it kept.
    pub fn signed_bytes(
        (session, previous): (&[u8; 32], &[u8; 32]),
        (wave, stage): (u32, Stage),
        buckets: &[(u32, u32)],
        kept: &[Option<[u8; 32]>],
    ) -> Vec<u8> {
        let mut bytes = match stage {
            Stage::Whole => b"vesica commit v2\n".to_vec(),
            Stage::Commit => b"vesica commit v2 of pass 1\n".to_vec(),
            Stage::Compare => b"vesica commit v2 of pass 2\n".to_vec(),
            Stage::Finish => b"vesica commit v2 of pass 3\n".to_vec(),
        };
        bytes.extend(session);
        bytes.extend(previous);
        bytes.extend(wave.to_le_bytes());
        for ((bucket, attempt), kept) in buckets.iter().zip(kept) {
            bytes.extend(bucket.to_le_bytes());
            bytes.extend(attempt.to_le_bytes());
            bytes.push(u8::from(kept.is_some()));
            bytes.extend(kept.unwrap_or_default());
        }
        bytes
    }
}

/// What the sender's masks of all buckets that count add up to, less what it adds to the totals; a number for each total.
pub(crate) struct Unmask(pub Vec<u64>);

impl Unmask {
    /// Receives the sender's, of so many totals.
    ///
    /// # Errors
    /// If they are of another number, or the conversation fails.
    pub fn receive(ch: &mut Channel, totals: usize) -> Result<Vec<u64>, Abort> {
        let Self(masks) = recv(ch)?;
        match masks.len() == totals {
            true => Ok(masks),
            false => {
                let what = "masks of another number of totals than there are";
                Err(Abort::PeerMisbehaved(peers_step::<Self>(ch), what))
            }
        }
    }
}

impl Body for Unmask {
    const NUMBER: u8 = 11;
    const CARRIES: &'static str = "the sum of all masks";
    const LENGTHS: RangeInclusive<usize> = 8..=8 * AggregateRequest::MOST_COLUMNS * AggregateRequest::MOST_GROUPS;

    fn write(&self, out: &mut Writer) {
        out.elements(&self.0);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = bytes.remaining() / 8;
        bytes.elements(count).map(Self)
    }
}

const ENDED_BYTES: usize = 33;

impl Body for Ended {
    const NUMBER: u8 = 10;
    const CARRIES: &'static str = "what was kept";
    const LENGTHS: RangeInclusive<usize> = 64 + ENDED_BYTES..=64 + ENDED_BYTES * MOST_SLOTS as usize;

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.signature);
        for kept in &self.kept {
            out.bytes(&[u8::from(kept.is_some())]);
            out.bytes(&kept.unwrap_or_default());
        }
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let signature = bytes.array()?;
        let mut kept = Vec::with_capacity(bytes.remaining() / ENDED_BYTES);
        while bytes.remaining() > 0 {
            let [is_kept] = bytes.array()?;
            let transcript = bytes.array()?;
            kept.push(match (is_kept, transcript) {
                (1, transcript) => Some(transcript),
                (0, transcript) if transcript == [0; 32] => None,
                _ => return Err(Malformed("a bucket that is neither kept nor lost")),
            });
        }
        Ok(Self { signature, kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_reads_back_and_nothing_else_does() {
        let kept = vec![Some([7; 32]), None, Some([0; 32])];
        let ended = Ended { signature: [3; 64], kept: kept.clone() };
        let mut out = Writer::default();
        ended.write(&mut out);
        let mut bytes = out.into_bytes();
        assert!(Ended::LENGTHS.contains(&bytes.len()));
        assert_eq!(Ended::read(&mut Reader::new(&bytes)).expect("its own bytes").kept, kept);
        bytes[64] = 2;
        assert!(Ended::read(&mut Reader::new(&bytes)).is_err());
        bytes[64] = 0;
        assert!(Ended::read(&mut Reader::new(&bytes)).is_err(), "a lost bucket has no transcript");
    }

    #[test]
    fn what_is_signed_tells_all_waves_apart() {
        let of = |session: u8, wave, bucket, attempt, kept| {
            Ended::signed_bytes((&[session; 32], &[0; 32]), (wave, Stage::Whole), &[(bucket, attempt)], &[kept])
        };
        let of_pass = |stage| Ended::signed_bytes((&[0; 32], &[0; 32]), (0, stage), &[(0, 0)], &[None]);
        let all = [
            Ended::signed_bytes((&[0; 32], &[1; 32]), (0, Stage::Whole), &[(0, 0)], &[None]),
            of_pass(Stage::Commit),
            of_pass(Stage::Compare),
            of_pass(Stage::Finish),
            of(0, 0, 0, 0, None),
            of(1, 0, 0, 0, None),
            of(0, 1, 0, 0, None),
            of(0, 0, 1, 0, None),
            of(0, 0, 0, 1, None),
            of(0, 0, 0, 0, Some([0; 32])),
            of(0, 0, 0, 0, Some([1; 32])),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(all.iter().skip(place + 1).all(|other| one != other));
        }
    }
}
