//! What a channel keeps of the messages that pass: turns, and the running transcript.

use blake3::Hasher;

use super::Channel;
use super::transcript::{Digests, WHOLE};
use super::turns::Turns;
use crate::Step;

impl Channel {
    /// Calls `body`, all of whose messages count as one, sent before `body` receives anything (see
    /// [`Turns`]): for questions of which the last wait for the first answers only so that no more
    /// than some are under way.
    pub fn one_message<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.shared.turns().begin_one_message();
        let result = body(self);
        self.shared.turns().end_one_message();
        result
    }

    /// The turns of this side so far, on all forks; `None` unless
    /// [`ChannelOptions::turns`](super::ChannelOptions::turns) asks for them.
    pub fn turns(&self) -> Option<Turns> {
        self.shared.options.turns.then(|| self.shared.turns().clone())
    }

    /// Notes `length` bytes of this fork, where turns are asked for.
    fn note_turn(&self, sent: bool, length: usize) {
        if self.shared.options.turns {
            let fork = self.shared.lock().forks[self.slot].path.clone();
            self.shared.turns().note(fork, sent, length);
        }
    }

    /// Hash of all messages and streams so far in both directions, on this fork and on those below
    /// it that have ended; `None` unless
    /// [`ChannelOptions::transcript`](super::ChannelOptions::transcript) asks for one.
    ///
    /// Both sides get the same value at the same point of the conversation: when each has received
    /// what the other one sent, and the forks on both sides have ended. It covers what the
    /// channel's caller said, and neither pings nor credits.
    pub fn transcript(&self) -> Option<[u8; 32]> {
        let transcript = self.transcript.as_ref()?;
        let path = self.shared.lock().forks[self.slot].path.clone();
        let mut whole = Hasher::new_derive_key(WHOLE);
        let mut add = |below: &[u16], digests: &Digests| {
            whole.update(&(below.len() as u64).to_le_bytes());
            for index in below {
                whole.update(&index.to_le_bytes());
            }
            whole.update(digests.as_flattened());
        };
        add(&[], &transcript.digests(self.shared.role));
        for (fork, digests) in &*self.shared.ended_forks() {
            if let Some(below) = fork.strip_prefix(path.as_slice()) {
                add(below, digests);
            }
        }
        Some(*whole.finalize().as_bytes())
    }

    /// Leaves an ending fork's digests for the channel that it came from.
    pub(super) fn leave_transcript(&self) {
        if let Some(transcript) = &self.transcript {
            let path = self.shared.lock().forks[self.slot].path.clone();
            self.shared.ended_forks().insert(path, transcript.digests(self.shared.role));
        }
    }

    pub(super) fn note_sent(&mut self, step: &Step, body: &[u8]) {
        self.note_turn(true, body.len() + 1);
        if let Some(transcript) = &mut self.transcript {
            transcript.sent.message(step, body);
        }
    }

    pub(super) fn note_sent_part(&mut self, step: &Step, bytes: &[u8]) {
        self.note_turn(true, bytes.len());
        if let Some(transcript) = &mut self.transcript {
            transcript.sent.part(step, bytes);
        }
    }

    pub(super) fn note_received(&mut self, step: &Step, body: &[u8]) {
        self.note_turn(false, body.len() + 1);
        if let Some(transcript) = &mut self.transcript {
            transcript.received.message(step, body);
        }
    }

    pub(super) fn note_received_part(&mut self, step: &Step, bytes: &[u8]) {
        self.note_turn(false, bytes.len());
        if let Some(transcript) = &mut self.transcript {
            transcript.received.part(step, bytes);
        }
    }
}
