//! What must hold for every protocol of a paper: the suites of the product's crate over the registries of this one, and what
//! goes over all protocols of both.

#[path = "../../../protocols/tests/all/assumed.rs"]
mod assumed;
#[path = "../../../protocols/tests/all/choices.rs"]
mod choices;
#[path = "../../../protocols/tests/all/conformance.rs"]
mod conformance;
mod docs;
#[path = "../../../protocols/tests/all/faults.rs"]
mod faults;
#[path = "../../../protocols/tests/all/filters.rs"]
mod filters;
#[path = "../../../protocols/tests/all/golden.rs"]
mod golden;
#[path = "../../../protocols/tests/all/inputs.rs"]
mod inputs;
mod ltsxq26;
mod ltsxq26_work;
#[path = "../../../protocols/tests/all/overlap.rs"]
mod overlap;
#[path = "../../../protocols/tests/all/passes.rs"]
mod passes;
mod registry;
#[path = "../../../protocols/tests/all/shares.rs"]
mod shares;
mod union;
