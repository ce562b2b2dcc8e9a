//! What it is to be a party: roles, messages, the channel, failures, and the contracts that every protocol fulfils.
#![forbid(unsafe_code)]

mod abort;
#[doc(hidden)]
pub mod assume;
mod channel;
mod entry;
pub mod fuzzing;
mod message;
mod phase;
mod protocol;
mod role;
mod task;
pub mod transport;
pub mod variants;

pub use abort::{Abort, PeerFault};
pub use channel::{Canceller, Channel, ChannelOptions, Count, PhaseGuard, Tally, wire};
pub use entry::{Entry, Extra, Leak, Learner, Mode, Resistance, Security, Status};
pub use message::{Fixed, Malformed, Message, Reader, Stream, Writer};
pub use phase::Phase;
pub use protocol::{AnyParty, AnyReceiver, AnySender, Party, Protocol, Registered, Row};
pub use role::{Role, Step};
pub use task::Task;
pub use variants::{Choice, ChoiceValue};
