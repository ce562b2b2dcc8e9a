//! `rr17-ec`: transfers in one direction, and commitments. The figure is in the [folder above](super).

pub(super) mod groups;
mod receiver;
mod search;
mod sender;

pub use groups::Layout;
pub use receiver::Receiver;
pub(super) use search::CANDIDATES;
pub use sender::Sender;
