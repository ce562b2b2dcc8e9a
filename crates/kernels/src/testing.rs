//! What the kernels' tests share: inputs, and runs on each backend.

use proptest::prelude::*;

use crate::{Backend, with_backend};

/// Lengths around every group size (4, 8, 16, 128, 512) and its multiples.
pub fn lengths() -> impl Iterator<Item = usize> {
    (0..70).chain([127, 128, 129, 255, 256, 511, 512, 513, 1000])
}

/// `len` words that depend on `seed` only (SplitMix64's outputs, two to a word).
pub fn words(seed: u64, len: usize) -> Vec<u128> {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..len).map(|_| u128::from(next()) << 64 | u128::from(next())).collect()
}

/// A block: arbitrary, or with few or nearly all bits, where carries and reductions go wrong.
pub fn block() -> impl Strategy<Value = u128> {
    prop_oneof![any::<u128>(), Just(0), Just(u128::MAX), Just(u128::from(u64::MAX)), (0u32..128).prop_map(|i| 1 << i),]
}

/// Up to 69 blocks.
pub fn blocks() -> impl Strategy<Value = Vec<u128>> {
    proptest::collection::vec(block(), 0..70)
}

/// Checks that `kernel` gives on every backend of this machine what it gives on the portable one,
/// and returns that.
pub fn on_every_backend<R: PartialEq + std::fmt::Debug>(kernel: impl Fn() -> R) -> R {
    let expected = with_backend(Backend::Portable, &kernel);
    for backend in Backend::available() {
        let got = with_backend(backend, &kernel);
        assert!(got == expected, "{} differs from portable:\n{got:?}\n{expected:?}", backend.name());
    }
    expected
}
