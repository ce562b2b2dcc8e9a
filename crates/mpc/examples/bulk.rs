//! Nanoseconds an element of random tables and random OTs in bulk, for each side.

use std::time::Instant;

use vesica_kernels::memory::HugePages;
use vesica_mpc::one_of_n::OneOfN;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Party, Phase, Protocol, Security};
use vesica_testkit::try_two_party;

#[global_allocator]
static MEMORY: HugePages = HugePages;

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap()
}

fn main() {
    let len: usize = std::env::args().nth(1).map_or(1 << 22, |a| 1 << a.parse::<u32>().unwrap());
    for _ in 0..5 {
        let params = OneOfN::derive(&CorrelationRequest { len, security: Security::SemiHonest, width: Some(3) }).unwrap();
        let start = Instant::now();
        let (s, r) = try_two_party(
            |ch, rng| one_thread().install(|| <OneOfN as Protocol>::Sender::setup(&params, ch, rng)?.run((), ch, rng)),
            |ch, rng| one_thread().install(|| <OneOfN as Protocol>::Receiver::setup(&params, ch, rng)?.run((), ch, rng)),
        );
        let ns = |s: f64| s * 1e9 / len as f64;
        println!(
            "wall {:.1}; sender expand {:.1}, receiver expand {:.1} ns, base {:.1}+{:.1} ms, bytes {}",
            ns(start.elapsed().as_secs_f64()),
            ns(s.tally.phase(Phase::Expand).seconds),
            ns(r.tally.phase(Phase::Expand).seconds),
            1e3 * s.tally.phase(Phase::BaseOt).seconds,
            1e3 * s.tally.phase(Phase::OtExtension).seconds,
            s.tally.total().sent_payload + r.tally.total().sent_payload
        );
        s.result.unwrap();
        r.result.unwrap();
    }
}
