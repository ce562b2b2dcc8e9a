//! What protocols of papers allocate, by the tests that the product's are held against.

#[path = "../../../vesica/tests/memory/declared.rs"]
mod declared;
#[path = "../../../vesica/tests/memory/fit.rs"]
mod fit;
#[path = "../../../vesica/tests/memory/measure.rs"]
mod measure;
#[path = "../../../vesica/tests/memory/predicted.rs"]
mod predicted;
mod tables;

use vesica::party::Entry;
use vesica_kernels::counting::Counting;

#[global_allocator]
static MEMORY: Counting = Counting;

/// Before any protocol is asked for.
fn begin() {
    vesica_lab::install();
}

/// Whether this program measures the protocol: the product's are measured by its own tests.
fn is_measured(entry: &Entry) -> bool {
    vesica_papers::registry::own_entries().any(|own| own.row_id() == entry.row_id())
        && !vesica::protocols::registry::own_entries().any(|product| product.id == entry.id)
}
