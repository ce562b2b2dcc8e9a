//! Every fault at every frame: neither side may panic or hang.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use vesica_party::transport::memory;
use vesica_party::wire::Kind;
use vesica_party::{Abort, ChannelOptions, Protocol, Role, Task};

use crate::conformance::{Runnable, Sides, row, run_over};
use crate::pair::{is_panic, options};
use crate::tap::{Frame, Hook, Passed, tap};

/// What is done to one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The link is gone in the middle of it.
    Cut,
    /// A bit of its body is flipped (of its step, if the body is empty).
    Flip,
    /// A bit of its step number is flipped.
    Misstep,
    /// It is sent with half its body.
    Truncate,
    /// It is sent after the next one.
    Swap,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Cut, Self::Flip, Self::Misstep, Self::Truncate, Self::Swap];

    /// Whether no run can end well on both sides after it.
    fn is_fatal(self) -> bool {
        matches!(self, Self::Cut | Self::Misstep)
    }
}

/// Which faults a frame meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thorough {
    /// Each of them.
    Every,
    /// One of them, in turn from frame to frame, and fewer frames: for a row whose runs take long,
    /// and whose parts meet every fault in tests of their own. Each fault is met, however few
    /// frames there are.
    InTurn,
}

impl Thorough {
    /// Frames of each direction at which faults are placed, at most, evenly spread and with the
    /// first and the last one.
    const fn frames(self) -> usize {
        match self {
            Self::Every => 40,
            Self::InTurn => 10,
        }
    }

    /// A fault for each run, at one of `frames`.
    fn spots(self, frames: &[(Role, usize)]) -> Vec<Spot> {
        let spot = |(&(from, frame), &fault): (&(Role, usize), &Fault)| Spot { fault, from, frame };
        match self {
            Self::Every => {
                frames.iter().flat_map(|frame| Fault::ALL.iter().map(move |fault| (frame, fault))).map(spot).collect()
            }
            Self::InTurn => {
                let runs = frames.len().max(Fault::ALL.len());
                frames.iter().cycle().zip(Fault::ALL.iter().cycle()).take(runs).map(spot).collect()
            }
        }
    }
}

/// A fault at a frame.
#[derive(Clone, Copy, Debug)]
struct Spot {
    fault: Fault,
    from: Role,
    /// Counted from 0 among what `from` sends, pings and credits apart.
    frame: usize,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at frame {} from the {}", self.fault, self.frame, self.from)
    }
}

/// How the runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// Runs in which at least one side failed.
    pub failed: usize,
    /// Runs in which both succeeded though the fault was there.
    pub unharmed: usize,
}

/// A run that takes longer is stuck.
const STUCK: Duration = Duration::from_secs(20);

/// Runs protocol `P` with every fault at every frame of either direction.
///
/// # Panics
/// If a side panics or a run does not end; the message names the fault and the frame.
pub fn faults<P: Protocol>(
    request: &<P::Task as Task>::Request,
    sender_input: &<P::Task as Task>::SenderInput,
    receiver_input: &<P::Task as Task>::ReceiverInput,
) -> Harm {
    faults_of(row::<P>(), request, sender_input, receiver_input, Thorough::Every)
}

/// [`faults`] of a registry's row, or one fault a frame.
///
/// # Panics
/// As [`faults`].
pub fn faults_of<T: Task>(
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: &T::SenderInput,
    receiver_input: &T::ReceiverInput,
    thorough: Thorough,
) -> Harm {
    let run = |spot| faulty_run(protocol, request.clone(), sender_input.clone(), receiver_input.clone(), spot);
    let what = |spot: Spot| format!("{} with {request:?}, {spot}", protocol.entry().id);
    let frames = run(None).unwrap_or_else(|stuck| panic!("{}: {stuck} without any fault", protocol.entry().id)).frames;
    let frames: Vec<(Role, usize)> = [(Role::Sender, frames[0]), (Role::Receiver, frames[1])]
        .into_iter()
        .flat_map(|(from, frames)| spread(frames, thorough.frames()).map(move |frame| (from, frame)))
        .collect();
    let mut harm = Harm::default();
    for spot in thorough.spots(&frames) {
        let outcome = run(Some(spot)).unwrap_or_else(|stuck| panic!("{}: {stuck}", what(spot)));
        if outcome.failed {
            harm.failed += 1;
        } else if outcome.struck {
            assert!(!spot.fault.is_fatal(), "{}: neither side noticed", what(spot));
            harm.unharmed += 1;
        }
        // Else nothing was done: into how many frames a stream goes depends on time, and this frame did not come.
    }
    harm
}

/// Up to `most` numbers below `count`.
fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |i| if taken < 2 { i } else { i * (count - 1) / (taken - 1) })
}

struct Outcome {
    frames: [usize; 2],
    failed: bool,
    struck: bool,
}

/// One run, on a thread that is left behind if it is stuck.
fn faulty_run<T: Task>(
    protocol: Runnable<T>,
    request: T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
    spot: Option<Spot>,
) -> Result<Outcome, String> {
    let (report, outcome) = mpsc::channel();
    thread::spawn(move || {
        let counts: [Arc<AtomicUsize>; 2] = Default::default();
        let hook = |from: Role, count: &Arc<AtomicUsize>| Striker {
            spot: spot.filter(|spot| spot.from == from),
            seen: count.clone(),
            held: None,
        };
        let (sender, receiver) = memory::pair();
        let ends = (tap(sender, hook(Role::Sender, &counts[0])), tap(receiver, hook(Role::Receiver, &counts[1])));
        let options = ChannelOptions { deadline: Some(STUCK), ping_every: Duration::from_millis(20), ..options() };
        let sides = run_over(ends, options, protocol, &request, sender_input, receiver_input);
        let frames = [counts[0].load(Ordering::SeqCst), counts[1].load(Ordering::SeqCst)];
        // Nobody listens any more if the run was given up.
        let _ = report.send(judge::<T>(&sides).map(|failed| Outcome {
            frames,
            failed,
            struck: spot.is_some_and(|spot| frames[spot.from as usize] > spot.frame),
        }));
    });
    outcome
        .recv_timeout(STUCK + Duration::from_secs(20))
        .unwrap_or_else(|_| Err("a side hangs outside of the channel".into()))
}

/// Whether a side failed; an error if one panicked or was stuck.
fn judge<T: Task>((sent, received): &Sides<T>) -> Result<bool, String> {
    let failures = [(Role::Sender, sent.result.as_ref().err()), (Role::Receiver, received.result.as_ref().err())];
    for (role, failure) in failures {
        match failure {
            Some(failure) if is_panic(failure) => return Err(format!("the {role} {failure}")),
            Some(Abort::Timeout { what, .. }) => return Err(format!("the {role} was stuck ({what})")),
            _ => {}
        }
    }
    Ok(failures.iter().any(|(_, failure)| failure.is_some()))
}

/// Strikes one frame.
struct Striker {
    spot: Option<Spot>,
    seen: Arc<AtomicUsize>,
    /// A frame that goes out after the next one.
    held: Option<Vec<u8>>,
}

impl Hook for Striker {
    fn pass(&mut self, mut frame: Frame) -> Passed {
        if let Some(held) = self.held.take() {
            self.seen.fetch_add(usize::from(frame.counts()), Ordering::SeqCst);
            let mut bytes = frame.to_bytes();
            bytes.extend_from_slice(&held);
            return Passed::Bytes(bytes);
        }
        if !frame.counts() {
            return Passed::Bytes(frame.to_bytes());
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        let Some(spot) = self.spot.filter(|spot| spot.frame == number) else { return Passed::Bytes(frame.to_bytes()) };
        match spot.fault {
            Fault::Cut => {
                let bytes = frame.to_bytes();
                return Passed::Cut(bytes[..bytes.len() / 2].to_vec());
            }
            Fault::Flip => flip(&mut frame, number),
            Fault::Misstep => frame.header.step ^= 1,
            Fault::Truncate => frame.body.truncate(frame.body.len() / 2),
            Fault::Swap => {
                self.held = Some(frame.to_bytes());
                return Passed::Bytes(Vec::new());
            }
        }
        Passed::Bytes(frame.to_bytes())
    }
}

/// Flips a bit, another one at each frame. Of an open frame only the label: with another fork's
/// number both sides would rightly wait.
fn flip(frame: &mut Frame, number: usize) {
    let start = if frame.header.kind == Kind::Open { 4 } else { 0 };
    let bits = 8 * (frame.body.len() - start);
    if bits == 0 {
        frame.header.step ^= 1;
        return;
    }
    let bit = number.wrapping_mul(0x9e37_79b9) % bits;
    frame.body[start + bit / 8] ^= 1 << (bit % 8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_met_in_turn_too_and_every_frame() {
        for count in [0, 1, 4, 5, 7, 40] {
            let frames: Vec<_> = (0..count).map(|frame| (Role::Sender, frame)).collect();
            assert_eq!(Thorough::Every.spots(&frames).len(), count * Fault::ALL.len());
            let spots = Thorough::InTurn.spots(&frames);
            assert!((0..count).all(|frame| spots.iter().any(|spot| spot.frame == frame)), "{spots:?}");
            assert!(
                count == 0 || Fault::ALL.iter().all(|fault| spots.iter().any(|spot| spot.fault == *fault)),
                "{spots:?}"
            );
        }
    }
}
