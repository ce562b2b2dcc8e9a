//! PSI by a circuit PSI whose shares are opened to the receiver: what PsiBench (section 5.1, "share
//! recovery") compares circuit PSI by.
//!
//! ```text
//!   Sender: X, payloads                                               Receiver: Y
//!
//!   shares b_j, z_j           [ circuit PSI: for each bin j ]         the item y of bin j, shares b'_j, z'_j
//!                                1. all b_j
//!      ------------------------------------------------------------------------>
//!                                                                     y matches if b_j + b'_j = 1
//!                                2. (labelled) all z_j
//!      ------------------------------------------------------------------------>
//!                                                                     its payload: z_j + z'_j
//! ```
//!
//! | here | what |
//! |---|---|
//! | `b_j`, `b'_j` | exclusive-or shares of whether the item of bin `j` is common |
//! | `z_j`, `z'_j` | exclusive-or shares of the sender's payload if it is, else of zeros |
//!
//! # Why it is secure
//!
//! The circuit PSI gives each side shares that are uniform on their own. For the receiver, the
//! sender's shares are those that make its own ones up to the result, which it may know. To the
//! sender nothing more is sent. Both sides cannot learn: the sender would see which bins matched, and
//! with it where the receiver placed its items.

mod messages;
mod receiver;
mod rows;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Entry, Protocol};
use vesica_structures::facts::Unsupported;

pub use receiver::Receiver;
pub use rows::{Cgs22, Psty19, Rs21};
pub use sender::Sender;

use vesica_protocols::circuit_psi::CircuitRow;
use vesica_protocols::tasks::{Intersect, IntersectRequest, SharesRequest};

/// Which circuit PSI is opened, and the description of the row.
pub trait Opened: Send + Sync + 'static {
    /// The circuit PSI.
    type Circuit: CircuitRow<Params: Clone, Sender: Send, Receiver: Send>;
    /// The protocol's description.
    const ENTRY: Entry;
}

/// PSI by opening the shares of a circuit PSI.
#[derive(Debug)]
pub struct OpenedShares<O>(PhantomData<fn() -> O>);

impl<O: Opened> Protocol for OpenedShares<O> {
    const ENTRY: Entry = O::ENTRY;
    type Task = Intersect;
    type Params = Params<O>;
    type Sender = Sender<O>;
    type Receiver = Receiver<O>;

    fn derive(request: &IntersectRequest) -> Result<Params<O>, Unsupported> {
        Self::derive_chosen(request, &Self::ENTRY)
    }

    fn derive_chosen(request: &IntersectRequest, entry: &'static Entry) -> Result<Params<O>, Unsupported> {
        entry.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn, .. } = request;
        if both_learn {
            return Err(Unsupported::new(
                "a sender that learns its matches, from a protocol that opens shares of the receiver's bins",
                "choose another protocol, or let only the receiver learn",
            ));
        }
        let shares = SharesRequest {
            sender_items,
            receiver_items,
            security,
            sender_payload_bytes: payload_bytes,
            receiver_payload_bytes: 0,
        };
        // The choices of the row are those of its circuit PSI.
        let circuit = O::Circuit::derive_chosen(&shares, entry)?;
        Ok(Params { circuit, sender_items, receiver_items, payload_bytes })
    }

    fn predicted_bytes(params: &Params<O>) -> RangeInclusive<u64> {
        let circuit = O::Circuit::predicted_bytes(&params.circuit);
        let bins = params.bins();
        let opened = (size_of::<u64>() * bins.div_ceil(64) + bins * params.payload_bytes) as u64;
        circuit.start() + opened..=circuit.end() + opened
    }
}

/// The parameters that both sides derive from the request.
pub struct Params<O: Opened> {
    circuit: <O::Circuit as Protocol>::Params,
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Width of a payload, in bytes.
    pub payload_bytes: usize,
}

impl<O: Opened> Params<O> {
    /// Bins whose shares are opened; none where a set is empty.
    fn bins(&self) -> usize {
        if self.sender_items == 0 || self.receiver_items == 0 { 0 } else { O::Circuit::bins(&self.circuit) }
    }
}

impl<O: Opened> Clone for Params<O> {
    fn clone(&self) -> Self {
        let Self { circuit, sender_items, receiver_items, payload_bytes } = self;
        Self {
            circuit: circuit.clone(),
            sender_items: *sender_items,
            receiver_items: *receiver_items,
            payload_bytes: *payload_bytes,
        }
    }
}
