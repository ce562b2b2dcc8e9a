//! Both sides on two threads over memory: OTs, VOLE and tables.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::one_of_n::OneOfN;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Party, Phase, Protocol, Security, Task};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_testkit::try_two_party;

/// The length of a clustered table of 2^20 items.
const TABLE: usize = 1_426_063;

fn run<P>(len: usize, width: Option<u32>, security: Security, phases: bool)
where
    P: Protocol,
    P::Task: Task<Request = CorrelationRequest, SenderInput = (), ReceiverInput = ()>,
{
    let params = P::derive(&CorrelationRequest { len, security, width }).unwrap();
    let (sender, receiver) = try_two_party(
        |ch, rng| P::Sender::setup(&params, ch, rng)?.run((), ch, rng),
        |ch, rng| P::Receiver::setup(&params, ch, rng)?.run((), ch, rng),
    );
    if phases {
        for (role, tally) in [("sender", &sender.tally), ("receiver", &receiver.tally)] {
            let parts: Vec<String> = [Phase::BaseOt, Phase::OtExtension, Phase::Expand, Phase::Check]
                .iter()
                .map(|&phase| format!("{} {:.1} ms", phase.name(), 1e3 * tally.phase(phase).seconds))
                .collect();
            eprintln!("{} of {len}, {security}, {role}: {}, {} bytes", P::ENTRY.id, parts.join(", "), tally.total().sent_payload);
        }
    }
    sender.result.unwrap();
    receiver.result.unwrap();
}

fn correlations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mpc");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    macro_rules! case {
        ($protocol:ty, $len:expr, $security:ident) => {
            case!($protocol, $len, None, $security)
        };
        ($protocol:ty, $len:expr, $width:expr, $security:ident) => {
            run::<$protocol>($len, $width, Security::$security, true);
            run::<$protocol>($len, $width, Security::$security, true);
            let name = format!("{} {} {}", <$protocol>::ENTRY.id, $len, Security::$security);
            group.bench_function(name, |bencher| bencher.iter(|| run::<$protocol>($len, $width, Security::$security, false)));
        };
    }
    case!(BaseOt, 128, Malicious);
    case!(OtExtension, 1 << 16, Malicious);
    case!(SilentVole<Gf64>, TABLE, SemiHonest);
    case!(SilentVole<Gf128>, TABLE, Malicious);
    case!(OneOfN, 1 << 20, Some(3), SemiHonest);
    case!(SilentOt, 1 << 20, SemiHonest);
    group.finish();
}

criterion_group!(benches, correlations);
criterion_main!(benches);
