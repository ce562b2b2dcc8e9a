//! What must hold for every protocol: one test binary, driven by the registries.

mod assumed;
mod conformance;
mod docs;
mod faults;
mod golden;
mod inputs;
mod integers;
mod ltsxq26;
mod ltsxq26_work;
mod overlap;
mod passes;
mod shares;
mod union;
