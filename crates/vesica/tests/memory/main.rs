//! What protocols allocate, counted: in a process of its own, since the counting allocator serves
//! all of it. Its tests run one after the other.

mod declared;
mod fit;
mod measure;
mod predicted;

use vesica_kernels::counting::Counting;

#[global_allocator]
static MEMORY: Counting = Counting;
