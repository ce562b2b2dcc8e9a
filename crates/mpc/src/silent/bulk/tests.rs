use std::collections::HashSet;

use super::*;
use vesica_kernels::{Backend, with_backend};
use vesica_party::{Abort, Channel};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

/// `delta`, and `b`.
type SenderView = (Gf128, Vec<u128>);
/// `c`, and `a`.
type ReceiverView = (Vec<u8>, Vec<u128>);

fn send(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<SenderView, Abort> {
    let mut sender = Sender::setup(params, ch, rng)?;
    let mut b = vec![0; params.len];
    for b in b.chunks_mut(params.batch_len()) {
        sender.next_batch(b, ch, |_, b, out| out.copy_from_slice(b))?;
    }
    Ok((sender.delta(), b))
}

fn receive(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<ReceiverView, Abort> {
    let mut receiver = Receiver::setup(params, ch, rng)?;
    let (mut a, mut c) = (vec![0; params.len], Vec::new());
    for a in a.chunks_mut(params.batch_len()) {
        c.extend_from_slice(&receiver.next_batch(a, ch, |_, a, out| out.copy_from_slice(a))?);
    }
    Ok((c, a))
}

fn run(params: &Params, seed: u64) -> (SenderView, ReceiverView) {
    two_party(
        |ch, _| send(params, ch, &mut SecretRng::insecure_from_seed(seed)),
        |ch, _| receive(params, ch, &mut SecretRng::insecure_from_seed(!seed)),
    )
}

fn batches(params: &Params) -> usize {
    params.len.div_ceil(params.batch_len())
}

#[test]
fn batches_of_every_width_are_one_vole_under_one_delta() {
    for width in 1..=MAX_WIDTH {
        let direct = [1, 43, 300].map(|len| (Params { len, width, route: Route::Direct }, 1));
        let silent = [(50_000, 50_000, 1), (70_000, 30_000, 3), (60_001, 20_000, 4)];
        for (params, expected) in
            direct.into_iter().chain(silent.map(|(len, most, count)| (Params::in_batches(len, width, most), count)))
        {
            let len = params.len;
            assert_eq!(batches(&params), expected, "{len} values");
            let ((delta, b), (c, a)) = run(&params, 3);
            assert!(
                (0..len).all(|i| Gf128(a[i]) == Gf128(b[i]) + delta * Gf128(u128::from(c[i]))),
                "{len} values of {width} bits"
            );
            let counts = c.iter().fold([0; 256], |mut counts, &c| {
                counts[usize::from(c)] += 1;
                counts
            });
            assert_eq!(counts[1 << width..].iter().sum::<usize>(), 0);
            let expected = len as f64 / f64::from(1 << width);
            let far = |&count: &usize| (count as f64 - expected).abs() > 8.0 * expected.sqrt();
            assert!(len < 1000 || !counts[..1 << width].iter().any(far), "{counts:?} of {len}");
            assert_eq!(b.iter().collect::<HashSet<_>>().len(), len, "values of b are distinct, also over batches");
        }
    }
}

/// The hashes' keys are told apart by batch and by place, and hash the elements in order.
#[test]
fn keys_serve_sixteen_elements_and_never_again() {
    assert_eq!(ELEMENTS_PER_KEY, 16);
    let params = Params::in_batches(50_001, 3, 20_000);
    let keys = |ch: &mut Channel, rng: &mut SecretRng| {
        let mut sender = Sender::setup(&params, ch, rng)?;
        let mut out = vec![[0; 2]; params.len];
        for out in out.chunks_mut(params.batch_len()) {
            sender.next_batch(out, ch, |pi, b, out| {
                let mut zero = [0];
                pi.encrypt(&mut zero);
                out.iter_mut().zip(b).for_each(|(out, &b)| *out = [zero[0], b]);
            })?;
        }
        Ok(out)
    };
    let (keyed, _) = two_party(keys, |ch, rng| receive(&params, ch, rng));
    let mut seen = HashSet::new();
    for batch in keyed.chunks(params.batch_len()) {
        for hashed in batch.chunks(ELEMENTS_PER_KEY) {
            assert!(hashed.iter().all(|[key, _]| *key == hashed[0][0]) && seen.insert(hashed[0][0]));
        }
    }
    assert_eq!(seen.len(), 3 * params.batch_len().div_ceil(ELEMENTS_PER_KEY));
}

#[test]
fn batches_share_no_rows_and_no_keys() {
    let params = Params::in_batches(70_000, 3, 30_000);
    let Route::Batches(shape, count) = params.route else { panic!("long enough for trees") };
    let mut next = 0;
    for blocks in (0..count).map(|batch| shape.batch_blocks(batch)) {
        for (blocks, needed) in [(blocks.transfers, shape.transfers()), (blocks.values, 3 * shape.trees)] {
            assert!(blocks.start == next && 128 * blocks.len() >= needed);
            next = blocks.end;
        }
    }
    assert_eq!(next, params.correlation().blocks);

    let (receiver, _) = two_party(
        |ch, rng| {
            let mut sender = Sender::setup(&params, ch, rng)?;
            for _ in 0..count {
                sender.next_batch(&mut vec![(); params.batch_len()], ch, |_, _, _| ())?;
            }
            Ok(sender.base.binding)
        },
        |ch, rng| {
            let mut receiver = Receiver::setup(&params, ch, rng)?;
            for _ in 0..count {
                receiver.next_batch(&mut vec![(); params.batch_len()], ch, |_, _, _| ())?;
            }
            let (points, seeds): (Vec<Vec<usize>>, HashSet<u128>) =
                receiver.choices.iter().map(|(points, seed)| (points.to_vec(), *seed)).unzip();
            assert!(seeds.len() == count && points.iter().collect::<HashSet<_>>().len() == count);
            Ok(())
        },
    );
    let keys: HashSet<u128> = (0..count).map(|batch| batch_binding(receiver, batch).key("hashes", &[])).collect();
    assert_eq!(keys.len(), count);
}

#[test]
fn neither_threads_nor_backends_change_the_outputs() {
    // Trees are long enough for two threads.
    let params = Params::in_batches(200_001, 3, 110_000);
    let expected = run(&params, 5);
    assert!(run(&params, 6).0.0 != expected.0.0, "runs differ");
    for threads in [1, 3] {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let got = two_party(
            |ch, _| pool().install(|| send(&params, ch, &mut SecretRng::insecure_from_seed(5))),
            |ch, _| pool().install(|| receive(&params, ch, &mut SecretRng::insecure_from_seed(!5))),
        );
        assert!(got == expected, "{threads} threads");
    }
    for backend in Backend::available() {
        let got = two_party(
            |ch, _| with_backend(backend, || send(&params, ch, &mut SecretRng::insecure_from_seed(5))),
            |ch, _| with_backend(backend, || receive(&params, ch, &mut SecretRng::insecure_from_seed(!5))),
        );
        assert!(got == expected, "{}", backend.name());
    }
}
