//! Arrows 8 to 10: what has changed since a client was there last, signed.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use vesica_party::service::{StateError, StateId, StateReader, StateWriter};
use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Abort, Channel, Malformed, Phase, Reader, Stream, Writer, exit_code};

use super::Params;
use super::messages::{Change, Head, Verdict};
use crate::recurrent::delta::Delta;
use crate::recurrent::filter::Shape;

/// Most versions before the present one from which a client may come. Older ones fetch everything.
pub(super) const MOST_STEPS: usize = 64;

/// Changes are kept while together they have at most this part of a set's items. Each takes twice
/// the bytes of an item of the list, so that fetching them all is at most a quarter of fetching
/// the list.
pub(super) const KEPT_PART: usize = 8;

/// Changes since an earlier version that are kept as they are sent.
pub(super) const MOST_COMPOSED: usize = 4;

/// Bytes of a change that are sent and received at a time.
const BYTES_PER_PART: usize = 1 << 18;

/// Bytes of arrow 8.
pub(super) const HEAD_BYTES: usize = 1 + 4 * 8 + 32 + 64;

/// The change that was taken.
pub(super) const TAKEN: u8 = 1;
/// The change was refused, and everything is asked for.
pub(super) const REFUSED: u8 = 2;

/// What arrow 8 says, but for the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The version that the client has.
    pub(super) from: u64,
    /// The version that it gets.
    pub(super) to: u64,
    /// Tags that go, and tags that come.
    pub(super) count: u64,
    /// Bytes of arrow 9.
    pub(super) bytes: u64,
    /// The digest of the whole list afterwards.
    pub(super) digest: [u8; 32],
}

impl Extent {
    fn write(&self, out: &mut Writer) {
        [self.from, self.to, self.count, self.bytes].iter().for_each(|&number| out.u64(number));
        out.bytes(&self.digest);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let [from, to, count, length] = [bytes.u64()?, bytes.u64()?, bytes.u64()?, bytes.u64()?];
        Ok(Self { from, to, count, bytes: length, digest: bytes.array()? })
    }

    /// What is signed. The session is bound to what the server has said of itself, to the states
    /// before and after, and to numbers that both sides have drawn for this conversation: nobody
    /// can use a signature a second time.
    fn statement(&self, params: &Params, ch: &Channel) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(b"vesica update of a set v1\n");
        out.bytes(&ch.session());
        out.elements(&params.to_words());
        self.write(&mut out);
        out.into_bytes()
    }
}

/// Says that everything follows.
pub(super) fn send_none(ch: &mut Channel) -> Result<(), Abort> {
    ch.send_stream::<Head>(&[0; HEAD_BYTES])
}

/// Sends arrows 8 and 9, and receives arrow 10; whether the client took the change.
pub(super) fn send(
    extent: &Extent,
    change: &[u8],
    (params, signer): (&Params, &Identity),
    ch: &mut Channel,
) -> Result<bool, Abort> {
    let signature = signer.sign(&extent.statement(params, ch)).ok_or_else(|| Abort::Local {
        code: exit_code::INTERNAL,
        fault: "the update of a set cannot be signed".into(),
        mend: "report it to whoever runs the server".into(),
    })?;
    let mut head = Writer::default();
    head.bytes(&[1]);
    extent.write(&mut head);
    head.bytes(&signature);
    ch.send_stream::<Head>(&head.into_bytes())?;
    let phase = ch.phase(Phase::Masks);
    change.chunks(BYTES_PER_PART).try_for_each(|part| ch.send_stream::<Change>(part))?;
    drop(phase);
    let mut verdict = [0];
    ch.recv_stream::<Verdict>(&mut verdict)?;
    match verdict {
        [TAKEN] => Ok(true),
        [REFUSED] => Ok(false),
        _ => Err(Abort::PeerMisbehaved(Verdict::STEP, "it neither took the change nor refused it")),
    }
}

/// Receives arrow 8, which must be signed by `signer`; `None` if everything follows.
pub(super) fn receive_head(params: &Params, signer: &PublicKey, ch: &mut Channel) -> Result<Option<Extent>, Abort> {
    let mut head = [0; HEAD_BYTES];
    ch.recv_stream::<Head>(&mut head)?;
    let malformed = |what| Abort::PeerMisbehaved(Head::STEP, what);
    let mut read = Reader::new(&head);
    let [kind] = read.array().map_err(|Malformed(what)| malformed(what))?;
    if kind == 0 {
        return Ok(None);
    }
    let extent = Extent::read(&mut read).map_err(|Malformed(what)| malformed(what))?;
    let signature = read.array().map_err(|Malformed(what)| malformed(what))?;
    if kind != 1 || !signer.verifies(&extent.statement(params, ch), &signature) {
        return Err(malformed(
            "the update is not signed with the key that the server gave this client when it enrolled",
        ));
    }
    let possible = usize::try_from(extent.count).ok().filter(|&count| count <= params.sizes.set_items);
    match possible.map(|count| Delta::bytes(&params.shape(), count)) {
        Some(lengths) if lengths.contains(&extent.bytes) => Ok(Some(extent)),
        _ => Err(malformed("an update of an impossible length")),
    }
}

/// Receives arrow 9. Memory follows what arrives.
pub(super) fn receive_change(extent: &Extent, ch: &mut Channel) -> Result<Vec<u8>, Abort> {
    let _phase = ch.phase(Phase::Masks);
    let length = usize::try_from(extent.bytes).map_err(|_| Abort::PeerMisbehaved(Head::STEP, "an update too long"))?;
    let mut change = Vec::new();
    while change.len() < length {
        let mut part = vec![0; BYTES_PER_PART.min(length - change.len())];
        ch.recv_stream::<Change>(&mut part)?;
        change.extend_from_slice(&part);
    }
    Ok(change)
}

/// The latest changes, each from a state to the next one.
#[derive(Debug, Default)]
pub(super) struct History {
    past: VecDeque<Arc<Past>>,
    /// The changes that clients asked for last, each from one state to the present one.
    composed: Mutex<VecDeque<Arc<Composed>>>,
}

#[derive(Debug)]
struct Past {
    from: StateId,
    delta: Delta,
}

/// All changes since a state, as they are sent.
#[derive(Debug)]
pub(super) struct Composed {
    from: StateId,
    /// How many changes they were.
    pub(super) steps: u64,
    /// Tags that go, and tags that come.
    pub(super) count: u64,
    pub(super) bytes: Vec<u8>,
}

impl History {
    fn of(past: VecDeque<Arc<Past>>) -> Self {
        Self { past, composed: Mutex::default() }
    }

    /// With one more change, and without those that are too old or too much.
    pub(super) fn with(&self, from: StateId, delta: Delta, shape: &Shape) -> Self {
        let mut kept = self.past.clone();
        kept.push_back(Arc::new(Past { from, delta }));
        let mut items: usize = kept.iter().map(|past| past.delta.len()).sum();
        while kept.len() > MOST_STEPS || items > shape.items / KEPT_PART {
            let Some(first) = kept.pop_front() else { break };
            items -= first.delta.len();
        }
        Self::of(kept)
    }

    /// All changes since a state; `None` if they are not kept any more. To compose them takes 100 to 200
    /// MB for a million tags, and depends on the state alone: so it is done once for all who come from
    /// there, and for one state at a time.
    pub(super) fn composed(&self, known: StateId, shape: &Shape) -> Option<Arc<Composed>> {
        self.place_of(known)?;
        let mut kept = self.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|composed| composed.from == known).and_then(|place| kept.remove(place));
        let composed = match found {
            Some(composed) => composed,
            None => {
                let (delta, steps) = self.since(known, shape)?;
                let (count, bytes) = (delta.len() as u64, delta.to_bytes(shape));
                Arc::new(Composed { from: known, steps, count, bytes })
            }
        };
        if kept.len() >= MOST_COMPOSED {
            kept.pop_front();
        }
        kept.push_back(composed.clone());
        Some(composed)
    }

    fn place_of(&self, known: StateId) -> Option<usize> {
        self.past.iter().position(|past| past.from == known)
    }

    /// All changes since a state, as one, and how many they were; `None` if they are not kept any
    /// more.
    pub(super) fn since(&self, known: StateId, shape: &Shape) -> Option<(Delta, u64)> {
        let first = self.place_of(known)?;
        let since = self.past.iter().skip(first).map(|past| &past.delta);
        Some((Delta::of_all(since, shape), (self.past.len() - first) as u64))
    }

    /// Writes it as a part of a state.
    pub(super) fn write(&self, shape: &Shape, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.u64(self.past.len() as u64)?;
        self.past.iter().try_for_each(|past| {
            out.bytes(&past.from.to_bytes())?;
            past.delta.write(shape, out)
        })
    }

    /// Reads what `write` wrote.
    pub(super) fn read(shape: &Shape, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let count = bytes.count()?;
        if count > MOST_STEPS {
            return Err(StateError::Damaged("it has more changes than are kept"));
        }
        let mut kept = VecDeque::new();
        for _ in 0..count {
            let from = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("a change of no state"))?;
            kept.push_back(Arc::new(Past { from, delta: Delta::read(shape, bytes)? }));
        }
        Ok(Self::of(kept))
    }
}
