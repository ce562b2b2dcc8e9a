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
}
