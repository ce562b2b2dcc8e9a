//! The queues and credits of one fork.
//!
//! A side may start a frame on a fork while its credit is positive; on a fork that the other side
//! has not opened yet, only if the credit covers the whole frame. Each frame costs its body and a
//! fixed charge, so that empty frames are not free either. The receiver hands the cost back when
//! its caller takes the frame.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar};

use super::forks::Slot;
use super::frame::{HEADER_BYTES, Header};

/// Bytes that may be under way on a fork before the receiver takes any; the frame that uses up the
/// last of it may exceed it.
pub(super) const WINDOW: i64 = crate::transport::WINDOW_BYTES as i64;
/// Bytes of credit that a frame costs beside those of its body.
const FRAME_COST: i64 = 64;
/// Credit is handed back in portions of at least this many bytes.
const PORTION: i64 = 1 << 20;

/// A frame received from the peer.
#[derive(Debug)]
pub(super) struct Frame {
    pub header: Header,
    pub body: Vec<u8>,
}

/// The state of a channel or fork, in both directions.
pub(super) struct Fork {
    pub parent: Slot,
    pub index: u16,
    /// Indices of the forks from the root to this one: its name on both sides.
    pub path: Vec<u16>,
    /// Whether this side has opened the fork.
    pub opened: bool,
    /// Hash of the label that the first side to open it gave.
    pub label: Option<u64>,
    pub our_id: Option<u16>,
    pub their_id: Option<u16>,
    /// Whether this side sends nothing more than what is queued, and whether the peer was told.
    pub closing: bool,
    pub close_sent: bool,
    /// Whether the peer has said that it sends nothing more on this fork.
    pub their_end: bool,
    /// Frames that wait to be sent.
    pub out: VecDeque<Vec<u8>>,
    /// Bytes in `out`.
    pub unsent: usize,
    /// Bytes of credit that the peer has granted this side and that are not spent.
    pub credit: i64,
    /// Whether the fork is in the writer's list of ready forks.
    pub queued: bool,
    /// Frames received from the peer that the caller has not taken yet.
    pub inbox: VecDeque<Frame>,
    /// Bytes of credit that this side has granted the peer and that are not spent.
    allowance: i64,
    /// Cost of the frames that the caller took since credit was last handed back.
    owed: i64,
    /// Numbers of frames that the caller has sent and taken.
    pub sent: u64,
    pub taken: u64,
    /// Condition variable that wakes the caller.
    pub wake: Arc<Condvar>,
}

impl Fork {
    pub(super) fn new(parent: Slot, index: u16, path: Vec<u16>) -> Self {
        Self {
            parent,
            index,
            path,
            opened: false,
            label: None,
            our_id: None,
            their_id: None,
            closing: false,
            close_sent: false,
            their_end: false,
            out: VecDeque::new(),
            unsent: 0,
            credit: WINDOW,
            queued: false,
            inbox: VecDeque::new(),
            allowance: WINDOW,
            owed: 0,
            sent: 0,
            taken: 0,
            wake: Arc::default(),
        }
    }

    /// Whether a frame (header included) may leave. That the peer opened a fork is known here only
    /// after the peer did.
    pub(super) fn has_credit(&self, length: usize) -> bool {
        self.credit >= if self.their_id.is_some() { 1 } else { cost(length - HEADER_BYTES) }
    }

    /// Pays for a frame (header included) that leaves the queue.
    pub(super) fn charge(&mut self, length: usize) {
        self.unsent -= length;
        self.credit -= cost(length - HEADER_BYTES);
        self.wake.notify_all();
    }

    /// Books a frame of the peer's; false if the peer had no credit for it.
    pub(super) fn admit(&mut self, length: usize) -> bool {
        let admitted = self.allowance >= if self.opened { 1 } else { cost(length) };
        self.allowance -= cost(length);
        admitted
    }

    /// Books credit from the peer; false if there never was so much to hand back.
    pub(super) fn credited(&mut self, credit: u32) -> bool {
        self.credit += i64::from(credit);
        self.credit <= WINDOW
    }

    /// Books a frame that the caller took; the credit to hand back, if it is worth a frame.
    pub(super) fn taken_frame(&mut self, frame: &Frame) -> Option<u32> {
        self.owed += cost(frame.header.length);
        if self.owed < PORTION {
            return None;
        }
        let credit = std::mem::take(&mut self.owed);
        self.allowance += credit;
        // At most WINDOW and one frame are under way.
        u32::try_from(credit).ok()
    }
}

fn cost(length: usize) -> i64 {
    length as i64 + FRAME_COST
}
