//! Ideal functionalities: what a protocol computes, independent of how it does so.

/// An ideal functionality, as a predicate over both sides' inputs and outputs.
pub trait Task: 'static {
    /// The name on the command line, for example `intersect`.
    const NAME: &'static str;
    /// The public parameters on which both sides agree.
    type Request: Clone + Send + Sync + std::fmt::Debug;
    /// The sender's input.
    type SenderInput: Clone + Send;
    /// The receiver's input.
    type ReceiverInput: Clone + Send;
    /// What the sender learns.
    type SenderOutput: Send;
    /// What the receiver learns.
    type ReceiverOutput: Send;

    /// Whether the outputs are what the functionality gives for the inputs; if not, how they
    /// differ.
    fn holds(
        sent: &Self::SenderInput,
        asked: &Self::ReceiverInput,
        sender_out: &Self::SenderOutput,
        receiver_out: &Self::ReceiverOutput,
    ) -> Result<(), String>;

    /// [`holds`](Self::holds), but items that only the receiver has may match, and are counted. Any other
    /// difference remains one. For protocols whose [entry](crate::Entry::false_match_bits) says that they
    /// do so; a task without such protocols need not tell false matches apart.
    fn holds_but_for_false_matches(
        sent: &Self::SenderInput,
        asked: &Self::ReceiverInput,
        sender_out: &Self::SenderOutput,
        receiver_out: &Self::ReceiverOutput,
    ) -> Result<FalseMatches, String> {
        Self::holds(sent, asked, sender_out, receiver_out).map(|()| FalseMatches::default())
    }
}

/// Items that only the receiver has, and that match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FalseMatches {
    /// How many of them match.
    pub found: usize,
    /// How many items only the receiver has.
    pub among: usize,
}
