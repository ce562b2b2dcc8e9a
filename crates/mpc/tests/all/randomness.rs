//! Outputs look random, differ between runs, and do not depend on the backend.

use std::collections::HashSet;

use vesica_kernels::{Backend, with_backend};
use vesica_mpc::silent::SilentVole;
use vesica_mpc::tasks::{CorrelationRequest, VoleReceiver, VoleSender};
use vesica_party::{Party, Protocol, Security};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

fn run<B: Value>(len: usize, security: Security, seed: u64, backend: Backend) -> (VoleSender, VoleReceiver<B>) {
    let params = SilentVole::<B>::derive(&CorrelationRequest { len, security, width: None }).unwrap();
    two_party(
        |ch, _| {
            let rng = &mut SecretRng::insecure_from_seed(seed);
            with_backend(backend, || <SilentVole<B> as Protocol>::Sender::setup(&params, ch, rng)?.run((), ch, rng))
        },
        |ch, _| {
            let rng = &mut SecretRng::insecure_from_seed(!seed);
            with_backend(backend, || <SilentVole<B> as Protocol>::Receiver::setup(&params, ch, rng)?.run((), ch, rng))
        },
    )
}

/// A count of ones among `bits` fair bits within eight standard deviations (2^-50).
fn is_balanced(ones: u64, bits: u64) -> bool {
    (ones as f64 - bits as f64 / 2.0).abs() < 8.0 * (bits as f64).sqrt() / 2.0
}

#[test]
fn outputs_are_balanced_and_distinct() {
    let len = 20_000;
    let (sender, receiver) = run::<Gf128>(len, Security::Malicious, 7, vesica_kernels::backend());
    for vector in [&sender.b, &receiver.a, &receiver.c] {
        let ones: u64 = vector.iter().map(|x| u64::from(x.0.count_ones())).sum();
        assert!(is_balanced(ones, 128 * len as u64), "{ones} ones");
        for bit in 0..128 {
            let ones = vector.iter().filter(|x| x.0 >> bit & 1 == 1).count();
            assert!(is_balanced(ones as u64, len as u64), "bit {bit}: {ones} ones");
        }
        assert_eq!(vector.iter().map(|x| x.0).collect::<HashSet<_>>().len(), len);
    }
    let (_, receiver) = run::<Gf64>(len, Security::SemiHonest, 7, vesica_kernels::backend());
    assert_eq!(receiver.c.iter().map(|x| x.0).collect::<HashSet<_>>().len(), len);
}

#[test]
fn runs_differ_and_backends_agree() {
    let (first, _) = run::<Gf64>(9000, Security::Malicious, 1, Backend::Portable);
    let (other, _) = run::<Gf64>(9000, Security::Malicious, 2, vesica_kernels::backend());
    assert_ne!(first.delta, other.delta);
    assert_ne!(first.b[..10], other.b[..10]);
    for backend in Backend::available() {
        let (again, _) = run::<Gf64>(9000, Security::Malicious, 1, backend);
        assert_eq!(again.delta, first.delta, "{}", backend.name());
        assert!(again.b == first.b, "{}", backend.name());
    }
}
