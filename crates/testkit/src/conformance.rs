//! One call that runs a protocol and checks what every protocol must fulfil.

use vesica_party::transport::{Connection, memory};
use vesica_party::{ChannelOptions, FalseMatches, Mode, Phase, Protocol, Registered, Row, Tally, Task, Turns};

use crate::pair::{Side, options, two_party_over};

/// A protocol as the registries hold it.
pub type Runnable<T> = &'static dyn Registered<T>;

/// A request of a task, and inputs to it of the sender and of the receiver.
pub type ExampleOf<T> = (<T as Task>::Request, <T as Task>::SenderInput, <T as Task>::ReceiverInput);

/// Both sides of one run over `ends`.
pub type Sides<T> = (Side<<T as Task>::SenderOutput>, Side<<T as Task>::ReceiverOutput>);

/// What a conforming run gave.
pub struct Run<T: Task> {
    /// The sender's output.
    pub sender: T::SenderOutput,
    /// The receiver's output.
    pub receiver: T::ReceiverOutput,
    /// Bytes of messages that both sent, without frames.
    pub payload_bytes: u64,
    /// Those of them that make base OTs.
    pub base_ot_bytes: u64,
    /// Messages of the longest chain in which each waits for the one before.
    pub rounds: usize,
    /// Items that only the receiver has, and that match, where the entry allows for some.
    pub false_matches: usize,
}

impl<T: Task> Run<T> {
    /// Checks that the run took no more rounds than its mode says. An aggregate's groups and
    /// thresholds are no part of that.
    ///
    /// # Panics
    /// If it took more.
    pub fn assert_rounds(&self, mode: &Mode) {
        assert!(self.rounds <= mode.rounds.most, "{} rounds, and the entry says {}", self.rounds, mode.rounds);
    }
}

/// The registry row of `P`, for the calls that take one.
pub fn row<P: Protocol>() -> Runnable<P::Task> {
    const { &Row::<P>::new() }
}

/// Runs set-up and protocol on both sides over `ends`.
pub fn run_over<T: Task>(
    ends: (Connection, Connection),
    options: ChannelOptions,
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> Sides<T> {
    two_party_over(
        ends,
        options,
        move |ch, rng| protocol.sender(request, ch, rng)?.run(sender_input, ch, rng),
        move |ch, rng| protocol.receiver(request, ch, rng)?.run(receiver_input, ch, rng),
    )
}

/// [`run_over`], and the rounds of the run; none if a side failed.
pub fn run_counted<T: Task>(
    ends: (Connection, Connection),
    options: ChannelOptions,
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> (Sides<T>, Option<usize>) {
    let mut turns: [Option<Turns>; 2] = Default::default();
    let [of_sender, of_receiver] = &mut turns;
    let sides = two_party_over(
        ends,
        ChannelOptions { turns: true, ..options },
        move |ch, rng| {
            let output = protocol.sender(request, ch, rng)?.run(sender_input, ch, rng)?;
            *of_sender = ch.turns();
            Ok(output)
        },
        move |ch, rng| {
            let output = protocol.receiver(request, ch, rng)?.run(receiver_input, ch, rng)?;
            *of_receiver = ch.turns();
            Ok(output)
        },
    );
    let [sender, receiver] = turns;
    (sides, sender.zip(receiver).and_then(|(sender, receiver)| Turns::rounds(&sender, &receiver)))
}

/// Runs protocol `P` and checks that both sides succeed, that `Task::holds`, that the measured
/// payload bytes lie within `predicted_bytes`, and that each side received what the other sent.
///
/// # Panics
/// If one of these fails; the message names the protocol and the request.
pub fn conformance<P: Protocol>(
    request: &<P::Task as Task>::Request,
    sender_input: <P::Task as Task>::SenderInput,
    receiver_input: <P::Task as Task>::ReceiverInput,
) -> Run<P::Task> {
    conformance_of(row::<P>(), request, sender_input, receiver_input)
}

/// [`conformance`] of a registry's row.
///
/// # Panics
/// As [`conformance`].
pub fn conformance_of<T: Task>(
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> Run<T> {
    conformance_over(memory::pair(), protocol, request, sender_input, receiver_input)
}

/// [`conformance_of`] over `ends`.
///
/// # Panics
/// As [`conformance`].
pub(crate) fn conformance_over<T: Task>(
    ends: (Connection, Connection),
    protocol: Runnable<T>,
    request: &T::Request,
    sender_input: T::SenderInput,
    receiver_input: T::ReceiverInput,
) -> Run<T> {
    let what = format!("{} with {request:?}", protocol.entry().id);
    let predicted = protocol.predicted_bytes(request).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let inputs = (sender_input.clone(), receiver_input.clone());
    let ((sent, received), rounds) = run_counted(ends, options(), protocol, request, inputs.0, inputs.1);
    let (sender, receiver) = match (sent.result, received.result) {
        (Ok(sender), Ok(receiver)) => (sender, receiver),
        (sender, receiver) => {
            panic!(
                "{what}: sender {:?}; receiver {:?}",
                sender.err().map(|e| e.to_string()),
                receiver.err().map(|e| e.to_string())
            )
        }
    };
    let held = match protocol.entry().false_match_bits() {
        None => T::holds(&sender_input, &receiver_input, &sender, &receiver).map(|()| 0),
        Some(bits) => T::holds_but_for_false_matches(&sender_input, &receiver_input, &sender, &receiver)
            .and_then(|matches| plausible(matches, bits)),
    };
    let false_matches = held.unwrap_or_else(|difference| panic!("{what}: {difference}"));
    let of_base_ots = |tally: &Tally| tally.phases.get(&Phase::BaseOt).map_or(0, |count| count.sent_payload);
    let base_ot_bytes = of_base_ots(&sent.tally) + of_base_ots(&received.tally);
    let (sent, received) = (sent.tally.total(), received.tally.total());
    assert_eq!(sent.sent_payload, received.received_payload, "{what}: bytes from the sender that arrived");
    assert_eq!(received.sent_payload, sent.received_payload, "{what}: bytes from the receiver that arrived");
    let payload_bytes = sent.sent_payload + received.sent_payload;
    assert!(predicted.contains(&payload_bytes), "{what}: {payload_bytes} bytes of messages, predicted {predicted:?}");
    let rounds = rounds.unwrap_or_else(|| panic!("{what}: a side received what the other did not send"));
    Run { sender, receiver, payload_bytes, base_ot_bytes, rounds, false_matches }
}

/// More false matches than this are an error: so many have a probability of at most `2^-FALSE_BITS`.
const FALSE_BITS: f64 = 20.0;

/// The number of false matches, if each item that only the receiver has may match with probability
/// `2^-bits`. Of `n` items `k` match with probability at most `(n choose k) 2^(-k bits)`, and the binomial
/// coefficient is at most `(e n / k)^k`.
fn plausible(FalseMatches { found, among }: FalseMatches, bits: u32) -> Result<usize, String> {
    let chosen = (std::f64::consts::E * among as f64 / found as f64).log2();
    let improbable = (f64::from(bits) - chosen) * found as f64;
    if found == 0 || improbable < FALSE_BITS {
        return Ok(found);
    }
    Err(format!("{found} false matches among {among} items, each with a probability of up to 2^-{bits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_false_matches_than_chance_gives_are_an_error() {
        let of = |found, among, bits| plausible(FalseMatches { found, among }, bits);
        assert_eq!((of(0, 0, 13), of(0, 7, 13), of(2, 7, 13)), (Ok(0), Ok(0), Ok(2)));
        assert!(of(3, 7, 13).is_err_and(|error| error.contains("3 false matches among 7")));
        // Of 2^13 items one is expected.
        assert_eq!((of(8, 1 << 13, 13), of(20, 1 << 13, 13).is_err()), (Ok(8), true));
    }
}
