//! Nanoseconds an element of bulk correlations: whole protocols, each side on one thread, and the
//! parts they are made of.
//!
//! `cargo run --release -p vesica-mpc --example bulk -- 22` takes 2^22 elements; the least of five
//! runs is printed.

use std::time::Instant;

use vesica_kernels::accumulate::{convolve, convolve_u4};
use vesica_kernels::aes::{Aes128, GgmPrg};
use vesica_kernels::gather::{LINE, gather, gather_u8};
use vesica_kernels::memory::HugePages;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent::params::expander_weight;
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Party, Phase, Protocol, Security, Task};
use vesica_testkit::try_two_party;

#[global_allocator]
static MEMORY: HugePages = HugePages;

const RUNS: usize = 5;

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

/// The least of some runs, which give seconds.
fn least<const N: usize>(mut run: impl FnMut() -> [f64; N]) -> [f64; N] {
    (0..RUNS).fold([f64::INFINITY; N], |least, _| {
        let seconds = run();
        std::array::from_fn(|i| least[i].min(seconds[i]))
    })
}

fn protocol<P>(len: usize, width: Option<u32>)
where
    P: Protocol,
    P::Task: Task<Request = CorrelationRequest, SenderInput = (), ReceiverInput = ()>,
{
    let params =
        P::derive(&CorrelationRequest { len, security: Security::SemiHonest, width }).expect("a length that is served");
    let [wall, sender, receiver] = least(|| {
        let start = Instant::now();
        let (sender, receiver) = try_two_party(
            |ch, rng| one_thread().install(|| P::Sender::setup(&params, ch, rng)?.run((), ch, rng)),
            |ch, rng| one_thread().install(|| P::Receiver::setup(&params, ch, rng)?.run((), ch, rng)),
        );
        let wall = start.elapsed().as_secs_f64();
        let _outputs = (sender.result.expect("a sender"), receiver.result.expect("a receiver"));
        [wall, sender.tally.phase(Phase::Expand).seconds, receiver.tally.phase(Phase::Expand).seconds]
    });
    let ns = |seconds: f64| seconds * 1e9 / len as f64;
    let bytes = P::predicted_bytes(&params).end() / 1000;
    println!(
        "{}: {:.1} ns in all; expansion: sender {:.1}, receiver {:.1}; {bytes} kB",
        P::ENTRY.id,
        ns(wall),
        ns(sender),
        ns(receiver)
    );
}

/// The kernels, on vectors as a batch of `len` has them.
fn parts(len: usize) {
    let part = |name: &str, run: &mut dyn FnMut()| {
        let [seconds] = least(|| {
            let start = Instant::now();
            run();
            [start.elapsed().as_secs_f64()]
        });
        println!("  {name}: {:.1}", seconds * 1e9 / len as f64);
    };
    let block = 2 * len / 762 / 32 * 32 + 32;
    let (positions, weight) = (762 * block, expander_weight(len, 3));
    let (mut x, mut narrow) = (vec![1u128; positions], vec![1u8; positions]);
    let (mut sums, mut narrow_sums, mut tables) = (vec![0u128; len], vec![0u8; len], vec![0u16; len]);
    let (cipher, prg) = (Aes128::new(1), GgmPrg::new(2, 3));
    let mut words = vec![0u128; positions / 4];
    cipher.ctr(0, &mut words);
    let words: &[u32] = bytemuck::cast_slice(&words);
    let draws = &words[..len / LINE];
    let stratum = |s: usize| s * (positions / LINE) / weight * LINE..(s + 1) * (positions / LINE) / weight * LINE;

    // All levels together have twice the leaves: the last one twice, into the cache.
    let mut leaves = vec![0; block];
    part("trees", &mut || {
        x.chunks(block).for_each(|x| (0..2).for_each(|_| _ = prg.expand(&x[..block / 2], &mut leaves)))
    });
    part("convolve", &mut || convolve(&mut x, words));
    part("gather", &mut || {
        for (sums, draws) in sums.chunks_mut(1 << 14).zip(draws.chunks(1 << 12)) {
            (0..weight).for_each(|s| gather(sums, &x[stratum(s)], draws));
        }
    });
    part("taps and draws", &mut || {
        let mut space = vec![0; 1024];
        (0..positions / 4096 + weight * len / 16384).for_each(|i| cipher.ctr(i as u128, &mut space));
    });
    part("hash to tables of 8 (sender)", &mut || cipher.mmo_tables(&sums, &[0, 1, 2, 3, 4, 5, 6, 7], &mut tables));
    part("hash to one bit (receiver)", &mut || cipher.mmo_tables(&sums, &[0], &mut tables));
    part("convolve c (receiver)", &mut || convolve_u4(&mut narrow, words));
    part("gather c (receiver)", &mut || {
        (0..weight).for_each(|s| gather_u8(&mut narrow_sums, &narrow[stratum(s)], draws))
    });
}

fn main() {
    let log: u32 =
        std::env::args().nth(1).map_or(Ok(22), |log| log.parse()).expect("the logarithm of a number of elements");
    println!("2^{log} elements, ns an element");
    protocol::<OneOfN>(1 << log, Some(3));
    protocol::<SilentOt>(1 << log, None);
    println!("parts, on one thread with nothing beside it:");
    parts(1 << log.min(22));
}
