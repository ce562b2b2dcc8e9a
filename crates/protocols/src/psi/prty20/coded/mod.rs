//! The malicious mode: values of 192 bits, and corrections to words of a code of distance 168.
//!
//! A value of `H_1`, and a cell of the table, is a `Bits256` of which [`LongBch::WORD_BITS`] are used; a row is a
//! `Bits1024`, of which [`LongBch::WIDTH`] are.

mod check;
mod columns;
mod functions;

use vesica_mpc::code_oprf::{LongBch, ROWS_PER_BLOCK};

#[cfg(test)]
pub(super) use check::opening;
pub(super) use columns::{ReceiverColumns, SenderColumns};
#[cfg(test)]
pub(super) use functions::{Blake3Functions, SaltArrows};

/// Rows that are made for so many cells: whole blocks, and one block more with random words, which hides what the
/// receiver opens.
pub(super) const fn rows_made(cells: usize) -> usize {
    cells.next_multiple_of(ROWS_PER_BLOCK) + ROWS_PER_BLOCK
}

/// Hashes that the receiver opens: of each bit of the words, and of each column of `T`.
pub(super) const OPENED_HASHES: usize = LongBch::WORD_BITS + LongBch::WIDTH;
