//! What must hold for every protocol: one test binary, driven by the registries.

mod attack;
mod conformance;
mod docs;
mod faults;
mod golden;
mod inputs;
mod shares;
