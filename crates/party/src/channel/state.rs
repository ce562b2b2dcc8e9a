//! The state under a connection's lock: the forks' queues, and the progress of the conversation.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::fork::{Fork, Frame};
use super::forks::{Forks, Slot};
use super::frame::{HEADER_BYTES, Kind, Open, control, set_fork};
use crate::{Abort, BaseOtChoice};

/// Longest body of the frames into which a streamed message is cut.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// Buffers of chunks that are kept for reuse, against a page fault for every 4 KiB received or
/// sent.
const SPARE_BUFFERS: usize = 32;
/// Forks that one side may open before the other does, unless that one's options say otherwise.
pub(super) const EARLY_FORKS: usize = 16;

/// A bound on what is left of a conversation.
#[derive(Clone)]
pub(super) struct TimeLimit {
    pub end: Instant,
    /// What must be over by then, in words.
    pub what: &'static str,
    pub after: Duration,
}

/// The state under the lock.
pub(super) struct State {
    pub forks: Forks<Fork>,
    /// Forks by parent and index.
    children: BTreeMap<(Slot, u16), Slot>,
    /// This side's number of a fork -> fork.
    pub ours: Vec<Slot>,
    /// The peer's number of a fork -> fork.
    pub theirs: Vec<Slot>,
    /// Forks that may have something to send, each once.
    pub ready: VecDeque<Slot>,
    /// Frames without a step, sent before all others.
    pub control: VecDeque<Vec<u8>>,
    pub failure: Option<Abort>,
    /// A time limit that was set during the conversation, beside the deadline of the options.
    pub time_limit: Option<TimeLimit>,
    /// The abort frame, to be sent before all else.
    pub goodbye: Option<Vec<u8>>,
    pub told: bool,
    /// Whether this side has nothing more to send.
    pub finishing: bool,
    pub finish_sent: bool,
    pub peer_finished: bool,
    /// Whether this side has given up, so that the writer ends.
    pub closing: bool,
    pub writer_done: bool,
    pub reader_done: bool,
    pub session: [u8; 32],
    pub base_ot: BaseOtChoice,
    spare: Vec<Vec<u8>>,
}

impl State {
    pub(super) fn new() -> Self {
        let mut root = Fork::new(Slot::ROOT, 0, Vec::new());
        root.opened = true;
        root.our_id = Some(0);
        root.their_id = Some(0);
        Self {
            forks: Forks::new(root),
            children: BTreeMap::new(),
            ours: vec![Slot::ROOT],
            theirs: vec![Slot::ROOT],
            ready: VecDeque::new(),
            control: VecDeque::new(),
            failure: None,
            time_limit: None,
            goodbye: None,
            told: false,
            finishing: false,
            finish_sent: false,
            peer_finished: false,
            closing: false,
            writer_done: false,
            reader_done: false,
            session: [0; 32],
            base_ot: BaseOtChoice::default(),
            spare: Vec::new(),
        }
    }

    /// The fork `index` of `parent`, made if neither side has opened it yet.
    pub(super) fn child(&mut self, parent: Slot, index: u16) -> Slot {
        if let Some(fork) = self.children.get(&(parent, index)) {
            return *fork;
        }
        let mut path = self.forks[parent].path.clone();
        path.push(index);
        let fork = self.forks.add(Fork::new(parent, index, path));
        self.children.insert((parent, index), fork);
        fork
    }

    /// Marks a fork as having something to send.
    pub(super) fn make_ready(&mut self, fork: Slot) {
        if !std::mem::replace(&mut self.forks[fork].queued, true) {
            self.ready.push_back(fork);
        }
    }

    /// Forks that this side has announced and the peer has not opened.
    fn early(&self) -> usize {
        self.forks.iter().filter(|fork| fork.our_id.is_some() && fork.their_id.is_none()).count()
    }

    /// The next frames to write, in order: control frames, then forks in turn, each as far as its
    /// credit goes, up to about `limit` bytes.
    pub(super) fn take_frames(&mut self, limit: usize, frames: &mut Vec<Vec<u8>>) {
        let mut bytes = 0;
        while let Some(frame) = self.control.pop_front() {
            frames.push(frame);
        }
        while bytes < limit {
            let Some(slot) = self.ready.pop_front() else { return };
            self.forks[slot].queued = false;
            let Some(id) = self.announce(slot, frames) else { continue };
            let fork = &mut self.forks[slot];
            if fork.out.is_empty() && fork.closing && !fork.close_sent {
                fork.close_sent = true;
                frames.push(control(Kind::Close, id, &[]));
            }
            if !fork.out.front().is_some_and(|frame| fork.has_credit(frame.len())) {
                continue;
            }
            let Some(mut frame) = fork.out.pop_front() else { continue };
            set_fork(&mut frame, id);
            fork.charge(frame.len());
            bytes += frame.len();
            frames.push(frame);
            if !fork.out.is_empty() || fork.closing {
                self.make_ready(slot);
            }
        }
    }

    /// The number under which this side sends on a fork. The first time, the frame that opens it is
    /// sent before; `None` if it must wait: for this side to open it, for its parent, or for
    /// the peer, who is behind with too many.
    fn announce(&mut self, slot: Slot, frames: &mut Vec<Vec<u8>>) -> Option<u16> {
        if let Some(id) = self.forks[slot].our_id {
            return Some(id);
        }
        let fork = &self.forks[slot];
        let parent = self.forks[fork.parent].our_id?;
        if !fork.opened || (fork.their_id.is_none() && self.early() >= EARLY_FORKS) {
            return None;
        }
        let id = u16::try_from(self.ours.len()).ok()?;
        frames.push(Open { parent, index: fork.index, label: fork.label.unwrap_or_default() }.to_frame(id));
        self.ours.push(slot);
        self.forks[slot].our_id = Some(id);
        self.retry_unannounced();
        Some(id)
    }

    /// Marks the forks that wait to be announced as ready again.
    pub(super) fn retry_unannounced(&mut self) {
        for slot in self.forks.slots() {
            if self.forks[slot].opened && self.forks[slot].our_id.is_none() {
                self.make_ready(slot);
            }
        }
    }

    /// Gives the peer what was taken from a fork, once it is worth a frame.
    pub(super) fn grant(&mut self, slot: Slot, frame: &Frame) -> bool {
        let fork = &mut self.forks[slot];
        let Some(id) = fork.their_id else { return false };
        let Some(credit) = fork.taken_frame(frame) else { return false };
        self.control.push_back(control(Kind::Credit, id, &credit.to_le_bytes()));
        true
    }

    /// Whether the peer has sent frames that no caller has taken.
    pub(super) fn leftover(&self) -> bool {
        self.forks.iter().any(|fork| !fork.inbox.is_empty())
    }

    /// A buffer of `length` bytes of any content.
    pub(super) fn buffer(&mut self, length: usize) -> Vec<u8> {
        match self.spare.pop() {
            Some(mut buffer) if length <= CHUNK_BYTES + HEADER_BYTES => {
                buffer.resize(length, 0);
                buffer
            }
            spare => {
                self.spare.extend(spare);
                vec![0; length]
            }
        }
    }

    /// Gives spare buffers back to the system.
    pub(super) fn forget_spare(&mut self) {
        self.spare = Vec::new();
    }

    /// Takes a buffer back.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS && (CHUNK_BYTES / 2..=CHUNK_BYTES * 2).contains(&buffer.capacity()) {
            self.spare.push(buffer);
        }
    }
}
