//! Both sides on two threads over memory: OTs, VOLE, tables, and what makes use of them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use vesica_mpc::base_ot::{BaseOt, BaseOts, Co15, Csw20, MlKem, Np01};
use vesica_mpc::iknp03::{Iknp03, Kos15};
use vesica_mpc::inner_product::InnerProduct;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::share_conversion::{BitsToRing, Multiplexer, count_bits};
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::tasks::{
    BitsToRingRequest, CorrelationRequest, InnerProductRequest, MultiplexRequest, RingVector, RingVectors, SharedBits,
    SharedRows,
};
use vesica_party::{Party, Phase, Protocol, Security, Task};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_testkit::{Side, try_two_party};

/// The length of a clustered table of 2^20 items.
const TABLE: usize = 1_426_063;

/// One run: both sides' tallies, and the longer of the two runs after the set-up, in seconds.
fn two_sides<P: Protocol>(
    request: &<P::Task as Task>::Request,
    sent: <P::Task as Task>::SenderInput,
    asked: <P::Task as Task>::ReceiverInput,
) -> (Side<()>, Side<()>, f64) {
    let params = P::derive(request).unwrap();
    let longest = Mutex::new(0.0f64);
    let time = |start: Instant| {
        let mut longest = longest.lock().unwrap();
        *longest = longest.max(start.elapsed().as_secs_f64());
    };
    let (sender, receiver) = try_two_party(
        |ch, rng| {
            let party = P::Sender::setup(&params, ch, rng)?;
            let start = Instant::now();
            party.run(sent, ch, rng).map(|_| time(start))
        },
        |ch, rng| {
            let party = P::Receiver::setup(&params, ch, rng)?;
            let start = Instant::now();
            party.run(asked, ch, rng).map(|_| time(start))
        },
    );
    let longest = *longest.lock().unwrap();
    (sender, receiver, longest)
}

fn run<P>(len: usize, width: Option<u32>, security: Security, phases: bool)
where
    P: Protocol,
    P::Task: Task<Request = CorrelationRequest, SenderInput = (), ReceiverInput = ()>,
{
    let (sender, receiver, _) = two_sides::<P>(&CorrelationRequest { len, security, width }, (), ());
    if phases {
        for (role, tally) in [("sender", &sender.tally), ("receiver", &receiver.tally)] {
            let parts: Vec<String> = [Phase::BaseOt, Phase::OtExtension, Phase::Expand, Phase::Check]
                .iter()
                .map(|&phase| format!("{} {:.1} ms", phase.name(), 1e3 * tally.phase(phase).seconds))
                .collect();
            eprintln!(
                "{} of {len}, {security}, {role}: {}, {} bytes",
                P::ENTRY.id,
                parts.join(", "),
                tally.total().sent_payload
            );
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
            group.bench_function(name, |bencher| {
                bencher.iter(|| run::<$protocol>($len, $width, Security::$security, false))
            });
        };
    }
    case!(BaseOt, 128, Malicious);
    case!(BaseOts<Csw20>, 128, Malicious);
    case!(BaseOts<MlKem>, 128, Malicious);
    case!(BaseOts<Np01>, 128, SemiHonest);
    case!(BaseOts<Co15>, 128, SemiHonest);
    case!(OtExtension, 1 << 16, Malicious);
    case!(Kos15, 1 << 16, Malicious);
    case!(Iknp03, 1 << 16, SemiHonest);
    case!(SilentVole<Gf64>, TABLE, SemiHonest);
    case!(SilentVole<Gf128>, TABLE, Malicious);
    case!(OneOfN, 1 << 20, Some(3), SemiHonest);
    case!(SilentOt, 1 << 20, SemiHonest);
    group.finish();
}

/// Bins of a circuit PSI of 2^20 items.
const BINS: usize = 1_331_693;

/// What follows a circuit PSI, at its size, the set-up apart: least and median of 5 runs.
fn shares(_: &mut Criterion) {
    fn measure<P: Protocol>(
        request: &<P::Task as Task>::Request,
        sent: &<P::Task as Task>::SenderInput,
        asked: &<P::Task as Task>::ReceiverInput,
    ) {
        let mut bytes = 0;
        let mut seconds: Vec<f64> = (0..5)
            .map(|_| {
                let (sender, receiver, seconds) = two_sides::<P>(request, sent.clone(), asked.clone());
                bytes = sender.tally.total().sent_payload + receiver.tally.total().sent_payload;
                sender.result.and(receiver.result).map(|()| seconds).unwrap()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        eprintln!(
            "{} with {request:?}: {:.3} s, median {:.3} s, {bytes} bytes with the set-up",
            P::ENTRY.id,
            seconds[0],
            seconds[2]
        );
    }
    let security = Security::SemiHonest;
    let words: Vec<u64> = (0..BINS as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let bits: Vec<bool> = words.iter().map(|word| word >> 40 & 1 == 1).collect();
    let shared = SharedBits { bits: bits.clone() };
    measure::<BitsToRing>(&BitsToRingRequest { len: BINS, bits: count_bits(BINS), security }, &shared, &shared);
    let rows = SharedRows { bits: bits.clone(), values: words.clone() };
    measure::<Multiplexer<u64>>(
        &MultiplexRequest { len: BINS, masked: 1, width: 1, bits: 64, security },
        &shared,
        &rows,
    );
    let rows = SharedRows { bits, values: vec![7u8; 8 * BINS] };
    measure::<Multiplexer<u8>>(&MultiplexRequest { len: BINS, masked: 8, width: 8, bits: 8, security }, &shared, &rows);
    let (u, y) = (RingVector { values: words.clone() }, RingVectors { vectors: vec![words] });
    measure::<InnerProduct>(&InnerProductRequest { len: BINS, vectors: 1, products: 1, bits: 63, security }, &u, &y);
}

criterion_group!(benches, correlations, shares);
criterion_main!(benches);
