//! Fast loops of the Vesica private set operations engine, each with a portable twin.
//!
//! Every kernel is a safe function over slices. Which code runs is chosen at run time (see
//! [`backend`]): the same call gives the same result on every backend, and the tests compare them.
//! Blocks are `u128`, their bytes little-endian (`to_le_bytes`).
//!
//! - **Ciphers and hashes**: [`aes`], [`blake3`], [`sha256`].
//! - **Fields**: [`clmul`] and [`gf64`] (characteristic two), [`ntt`] (prime fields), [`ristretto`]
//!   (points times one scalar).
//! - **Linear algebra over GF(2)**: [`transpose`], [`band`], [`selection`], [`xor`].
//! - **Matrices of whole numbers**: [`columns`] adds up weighted rows.
//! - **Codes**: [`accumulate`] and [`gather`] are the two halves of the expand-convolute code.
//! - **Allocators**: [`memory`] takes huge pages, [`counting`] counts for tests.
//!
//! This is the only crate of the engine with `unsafe`: calls into functions compiled for a target
//! feature, each guarded by [`backend`], and the allocators of [`memory`] and [`counting`].
//! The kernels of [`aes`], [`blake3`], [`clmul`], [`columns`], [`gf64`], [`ntt`], [`ristretto`], [`sha256`],
//! [`transpose`] and [`xor`] branch on no data they are given and index nothing by it: only
//! lengths, which are public, decide their running time.

#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod dispatch;

pub mod accumulate;
pub mod aes;
pub mod band;
pub mod blake3;
pub mod clmul;
pub mod columns;
pub mod counting;
pub mod gather;
pub mod gf64;
pub mod memory;
pub mod ntt;
pub mod ristretto;
pub mod selection;
pub mod sha256;
pub mod transpose;
pub mod xor;

#[cfg(test)]
mod testing;

pub use dispatch::{Backend, BackendError, backend, backend_from_env, with_backend};
