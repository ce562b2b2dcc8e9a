//! What protocols allocate, counted: in a process of its own, since the counting allocator serves
//! all of it. Its tests run one after the other.

mod declared;
mod fit;
mod measure;
mod predicted;

use vesica::party::Entry;
use vesica_kernels::counting::Counting;

#[global_allocator]
static MEMORY: Counting = Counting;

/// Before any protocol is asked for.
fn begin() {}

/// Whether this program measures the protocol: those of papers are measured by `vesica-lab`'s tests.
fn is_measured(_: &Entry) -> bool {
    true
}
