//! What server and client say to each other beside the service's own messages.
//!
//! ```text
//!  client (receiver)                                   server (sender)
//!      --- (1) next: describe, if the client wants to ------->
//!      <-- (5) the server's description ----------------------
//!      --- (1) next: join ----------------------------------->
//!      --- (2) known state or none, terms, nonce ------------>
//!      <-- (3) present state, nonce ---------------------------
//!          enrol or rejoin            with                 admit
//!      --- (1) next: query ---------------------------------->
//!          query                      with                answer
//!      <-- (4) present state, whether the server goes on ------
//!      --- (1) next: leave ---------------------------------->
//! ```
//!
//! A client asks as often as it likes. If (4) names another state than the one that the client has
//! joined, it joins again before it asks again; the server refuses one more query from the replaced
//! state. If (4) says that the server stops, the client leaves. No message of a query waits for one
//! of these.

use std::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

use super::{Service, StateId};
use crate::message::{Malformed, Message, Reader, Writer};
use crate::{Channel, Fixed, Role, Step};

const fn step(number: u8, from: Role, carries: &'static str) -> Step {
    Step { protocol: "service", number, from, carries }
}

/// (1) What the client does next.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Next(u8);

impl Next {
    pub(super) const JOIN: Self = Self(1);
    pub(super) const QUERY: Self = Self(2);
    pub(super) const LEAVE: Self = Self(3);
    pub(super) const DESCRIBE: Self = Self(4);

    /// What it is, if it is one of the above.
    pub(super) fn parse(self) -> Option<Request> {
        match self.0 {
            1 => Some(Request::Join),
            2 => Some(Request::Query),
            3 => Some(Request::Leave),
            4 => Some(Request::Describe),
            _ => None,
        }
    }
}

impl Fixed for Next {
    const STEP: Step = step(1, Role::Receiver, "what comes next");
}

/// What a client may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Join,
    Query,
    Leave,
    Describe,
}

/// (2) Who joins.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Join {
    /// The state that the client was enrolled with; zero if it is not enrolled.
    pub known: [u8; 16],
    /// See [`terms`].
    pub terms: [u8; 32],
    pub nonce: [u8; 16],
}

impl Fixed for Join {
    const STEP: Step = step(2, Role::Receiver, "who joins, and on which terms");
}

/// (3) What the client has joined.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Welcome {
    pub state: [u8; 16],
    pub nonce: [u8; 16],
}

impl Fixed for Welcome {
    const STEP: Step = step(3, Role::Sender, "the server's state");
}

/// (4) How the server stands after an answer.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Answered {
    pub state: [u8; 16],
    /// Not zero if the server stops: this was the last answer on this connection.
    pub stops: u8,
}

impl Fixed for Answered {
    const STEP: Step = step(4, Role::Sender, "how the server stands after an answer");
}

/// (5) What the server says of itself to a client that knows nothing of it yet.
pub(super) struct Description(pub Vec<u8>);

impl Message for Description {
    const STEP: Step = step(5, Role::Sender, "the server's description");
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        0..=super::MOST_DESCRIPTION_BYTES
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(Self(bytes.rest().to_vec()))
    }
}

/// A hash of what both sides must agree on: the service and its parameters.
pub(super) fn terms<S: Service>(params: &S::Params) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-23 terms of a service v1");
    hasher.update(&(S::ENTRY.id.len() as u64).to_le_bytes());
    hasher.update(S::ENTRY.id.as_bytes());
    hasher.update(&S::terms(params));
    *hasher.finalize().as_bytes()
}

/// Binds what follows to what the server has said of itself.
pub(super) fn bind_description(ch: &mut Channel, description: &[u8]) {
    ch.bind_session(blake3::derive_key("vesica 2026-11-24 description of a service v1", description));
}

/// Binds what follows to this connection, to the state, to both sides' nonces, and to what the
/// channel was bound to before: the description, if the client asked for it.
pub(super) fn bind(ch: &mut Channel, join: &Join, welcome: &Welcome) {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-23 session of a service v2");
    hasher.update(&[u8::from(ch.exporter().is_some())]);
    hasher.update(&ch.exporter().unwrap_or_default());
    hasher.update(&ch.session());
    hasher.update(bytemuck::bytes_of(join));
    hasher.update(bytemuck::bytes_of(welcome));
    ch.bind_session(*hasher.finalize().as_bytes());
}

/// The state that a message names.
pub(super) fn state(bytes: [u8; 16], step: Step) -> Result<StateId, crate::Abort> {
    StateId::from_bytes(bytes).ok_or(crate::Abort::PeerMisbehaved(step, "a state without an identifier"))
}
