//! Two-party building blocks that know nothing of sets. Each module states its functionality,
//! figure and glossary.
//!
//! - **Oblivious transfer**: [`base_ot`] makes a few OTs from public keys, [`ot_extension`] many
//!   from few (as [`iknp03`] does in the classic way), [`silent_ot`] millions with little traffic,
//!   [`random_one_of_n_ot`] random tables of up to 16 bits, [`softspoken_one_of_n_ot`] such tables
//!   without LPN, [`tables_of_ots`] such tables from any OTs, and [`code_oprf`] 1-of-N OT of blocks. [`OtSource`] names
//!   where circuits take tables and OTs from, and [`ot_parts`] has what OTs of other crates are built from.
//! - **Vector OLE**: [`small_field_vole`] makes short vectors, [`silent`] long ones from LPN.
//! - **Oblivious functions**: [`code_oprf`] is a batched OPRF from OT extension, [`oprf`] has the
//!   parts of an OPRF from VOLE, [`rfc9497`] those of the standard OPRF, and [`opprf`] is an OPRF
//!   whose sender programs some values.
//! - **Computing on shares**: [`gmw`] evaluates Boolean circuits, [`peqt`] tests equality,
//!   [`share_conversion`] turns shared bits into additive shares and multiplies by them,
//!   [`inner_product`] multiplies long vectors, [`permute_share`] permutes values in a hidden
//!   order, and [`lowmc`] is a cipher that is decrypted on shares.
//! - [`tasks`] are the ideal functionalities that tests hold these protocols to, and [`registry`]
//!   lists the protocols.
#![forbid(unsafe_code)]
// What a peer sends must not end the process. The modules of messages deny indexing as well.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod base_ot;
mod binding;
pub mod bits;
pub mod code_oprf;
pub mod gmw;
pub mod group;
#[doc(hidden)]
pub mod ideal;
pub mod iknp03;
pub mod inner_product;
pub mod lowmc;
pub mod opprf;
pub mod oprf;
pub mod ot_extension;
mod ot_source;
pub mod peqt;
pub mod permute_share;
mod polynomials;
mod pprf;
pub mod random_one_of_n_ot;
pub mod registry;
pub mod rfc9497;
pub mod share_conversion;
pub mod silent;
pub mod silent_ot;
pub mod small_field_vole;
pub mod softspoken_one_of_n_ot;
pub mod tables_of_ots;
pub mod tasks;

pub use ot_source::OtSource;

/// The parts of OT protocols, for those of other crates.
pub mod ot_parts {
    pub use crate::binding::Binding;
    pub use crate::ot_extension::{
        ASSUMPTIONS, Columns, CorrelationHash, Params as BaseParams, ReceiverCorrelation, SenderCorrelation, bit,
        receiver as base_receiver, sender as base_sender,
    };
    pub use crate::pprf::TreeShape;
    pub use crate::silent::bulk::{CORRELATION_ROBUST, ELEMENTS_PER_KEY, Hashes, batch_binding};
    pub use crate::silent::receiver::below;
    pub use crate::silent::trees::{flips, receive as receive_trees, send as send_trees, sender_pads};
}
