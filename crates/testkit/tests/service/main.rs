//! The toy service through all that is written for protocols and for services.

mod clients;
mod replaced;
mod state;
mod suites;
mod support;
