//! The same targets under libFuzzer: `VESICA_TARGET=name cargo +nightly fuzz run target`.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use vesica_fuzz::{TARGETS, Target};

static CHOSEN: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("VESICA_TARGET").expect("VESICA_TARGET names the target");
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("VESICA_TARGET is one of the targets in crates/fuzz/src/lib.rs")
});

fuzz_target!(|bytes: &[u8]| {
    (CHOSEN.run)(bytes);
});
