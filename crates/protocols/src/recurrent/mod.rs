//! Recurrent protocols: a server prepares a large set once, and clients ask about small sets, again
//! and again. One folder a paper. Each is a [`Service`](vesica_party::service::Service), and its
//! [`OneShot`](vesica_party::service::OneShot) is the row of a registry.

pub mod cm25_select;
pub mod rfc9497;
