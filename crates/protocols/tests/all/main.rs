//! What must hold for every protocol of the product: one test binary, driven by the registries. The crate of papers runs the
//! same suites over its own.

mod assumed;
mod choices;
mod conformance;
mod faults;
mod filters;
mod golden;
mod inputs;
mod integers;
mod overlap;
mod passes;
mod registry;
mod shares;
mod without;
