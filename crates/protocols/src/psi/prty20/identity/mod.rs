//! The semi-honest mode: the identity instead of a code, so that values have as many bits as rows.

mod columns;
mod functions;

pub(super) use columns::{ReceiverColumns, SenderColumns};

/// A cell of the table, and a row: of its 512 bits as many are used as the width says.
type Row = vesica_structures::fields::Bits512;
