//! Both sides' outputs fulfil the task, and the bytes are the predicted ones, for every protocol,
//! mode and length.

use vesica_mpc::base_ot::{BaseOt, BaseOts, Co15, Csw20, MlKem, Np01};
use vesica_mpc::iknp03::{Iknp03, Kos15};
use vesica_mpc::opprf::{Opprf, Store};
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::small_field_vole::SmallFieldVole;
use vesica_mpc::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use vesica_mpc::tables_of_ots::TablesOf;
use vesica_mpc::tasks::{
    CorrelationRequest, OpprfRequest, PrfOutputs, Programmed, SubfieldVole, VoleReceiver, VoleSender,
};
use vesica_party::{Party, Protocol, Security, Task};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{Band, Clustered};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, two_party};

/// [`conformance`] for correlations, which have no inputs.
fn conforms<P>(len: usize, security: Security)
where
    P: Protocol,
    P::Task: Task<Request = CorrelationRequest, SenderInput = (), ReceiverInput = ()>,
{
    conformance::<P>(&CorrelationRequest { len, security, width: None }, (), ());
}

const MODES: [Security; 2] = [Security::SemiHonest, Security::Malicious];

#[test]
fn base_ot() {
    for security in MODES {
        for len in [0, 1, 2, 100, 300] {
            conforms::<BaseOt>(len, security);
            conforms::<BaseOts<Csw20>>(len, security);
            conforms::<BaseOts<MlKem>>(len, security);
        }
    }
}

#[test]
fn semi_honest_base_ot() {
    for len in [0, 1, 2, 100, 300] {
        conforms::<BaseOts<Np01>>(len, Security::SemiHonest);
        conforms::<BaseOts<Co15>>(len, Security::SemiHonest);
    }
}

/// At the ends of blocks of 128 rows and of pieces.
#[test]
fn ot_extension_by_columns() {
    for len in [0, 1, 2, 127, 128, 129, 8191, 8192, 8193, 1 << 14] {
        conforms::<Iknp03>(len, Security::SemiHonest);
        conforms::<Kos15>(len, Security::Malicious);
    }
}

#[test]
fn ot_extension() {
    for security in MODES {
        for len in [0, 1, 2, 100, 128, 5000, 1 << 14] {
            conforms::<OtExtension>(len, security);
        }
    }
}

#[test]
fn one_of_n() {
    for width in 1..=4 {
        for len in [0, 1, 2, 100, 5000, 1 << 14, 1 << 16] {
            let request = CorrelationRequest { len, security: Security::SemiHonest, width: Some(width) };
            conformance::<OneOfN>(&request, (), ());
            conformance::<SoftSpokenOneOfN>(&request, (), ());
            // Batches of OTs end within tables of three bits.
            conformance::<TablesOf<Iknp03>>(&request, (), ());
        }
    }
}

/// Three batches of one bit a table, ten of four, the last of which is cut short.
#[test]
fn one_of_n_without_lpn_in_batches() {
    for (width, bytes) in [(1, 1.875), (2, 3.75), (3, 240.0 / 42.0), (4, 7.5)] {
        let request = CorrelationRequest { len: 300_007, security: Security::SemiHonest, width: Some(width) };
        let run = conformance::<SoftSpokenOneOfN>(&request, (), ());
        // Base OTs and trees take 11,808 bytes.
        let expected = bytes * 300_007.0 + 11_808.0;
        assert!((run.payload_bytes as f64 - expected).abs() < 300.0, "{width} bits: {} bytes", run.payload_bytes);
        let counts = run.receiver.entries.iter().fold([0usize; 256], |mut counts, &entry| {
            counts[usize::from(entry)] += 1;
            counts
        });
        // Choices and bits are uniform: within eight deviations of the mean.
        let mean = 300_007.0 / f64::from(2 << width);
        let (zeros, ones) = (&counts[..1 << width], &counts[128..][..1 << width]);
        let far = |count: &usize| (*count as f64 - mean).abs() > 8.0 * mean.sqrt();
        assert!(!zeros.iter().chain(ones).any(far), "{width} bits: {counts:?}");
    }
}

#[test]
fn tables_without_lpn_are_refused_where_others_are() {
    let refused = |len, security, width| {
        SoftSpokenOneOfN::derive(&CorrelationRequest { len, security, width: Some(width) }).is_err()
    };
    assert!(refused(9, Security::Malicious, 3));
    assert!(refused(9, Security::SemiHonest, 0) && refused(9, Security::SemiHonest, 5));
    assert!(refused((1 << 28) + 1, Security::SemiHonest, 3) && !refused(1 << 28, Security::SemiHonest, 4));
}

/// Runs an OPPRF in which the two sides have `common` keys in common.
fn programmed<O: Store>(
    receiver_keys: usize,
    sender_keys: usize,
    common: usize,
    output_bits: u32,
    wide: bool,
) -> (Programmed, PrfOutputs) {
    let mut rng = SecretRng::insecure_from_seed(common as u64);
    let request =
        OpprfRequest { receiver_keys, sender_keys, output_bits, security: Security::SemiHonest, wide, runs: 1 };
    let keys: Vec<u128> = (0..receiver_keys + sender_keys).map(|_| rng.block()).collect();
    let values = (0..sender_keys * output_bits.div_ceil(128) as usize).map(|_| rng.block()).collect();
    let sent = Programmed { keys: keys[receiver_keys - common..][..sender_keys].to_vec(), values };
    let run = conformance::<Opprf<O>>(&request, sent.clone(), keys[..receiver_keys].to_vec());
    (sent, run.receiver)
}

#[test]
fn opprf() {
    for (receiver, sender, common) in
        [(0, 3, 0), (3, 0, 0), (1, 1, 0), (1, 1, 1), (2, 6, 2), (1000, 3000, 999), (3000, 50, 50), (300, 20_000, 1)]
    {
        for output_bits in [1, 63, 64, 65, 127, 128, 300] {
            programmed::<Band>(receiver, sender, common, output_bits, false);
            programmed::<Clustered>(receiver, sender, common, output_bits, output_bits > 64);
        }
    }
}

/// Elsewhere outputs are those of a random function: no two alike, half of all bits set, and as
/// wide as agreed.
#[test]
fn opprf_is_random_where_it_is_not_programmed() {
    let (_, outputs) = programmed::<Band>(2000, 900, 0, 63, false);
    let values = &outputs.values;
    let mut sorted = values.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 2000);
    let ones: u32 = values.iter().map(|value| value.count_ones()).sum();
    // 63000 on average, with a deviation of 177.
    assert!((61_500..64_500).contains(&ones) && values.iter().all(|value| value >> 63 == 0), "{ones}");
}

#[test]
fn silent_ot() {
    for len in [0, 1, 2, 100, 5000, 1 << 14, 1 << 18] {
        conforms::<SilentOt>(len, Security::SemiHonest);
    }
}

#[test]
fn bulk_correlations_send_nothing_for_nothing_and_little_for_many() {
    let bytes = |len| {
        let request = CorrelationRequest { len, security: Security::SemiHonest, width: Some(3) };
        *OneOfN::predicted_bytes(&OneOfN::derive(&request).unwrap()).end()
    };
    assert_eq!(bytes(0), 0);
    // What circuit PSI of 2^20 items takes.
    assert!(bytes(31 * 1_331_692) <= 4_000_000, "{} bytes", bytes(31 * 1_331_692));
    let malicious = CorrelationRequest { len: 9, security: Security::Malicious, width: None };
    assert!(OneOfN::derive(&malicious).is_err() && SilentOt::derive(&malicious).is_err());
    let five_bits = CorrelationRequest { len: 9, security: Security::SemiHonest, width: Some(5) };
    assert!(OneOfN::derive(&five_bits).is_err());
}

#[test]
fn small_field_vole() {
    for security in MODES {
        for len in [0, 1, 2, 100, 5000] {
            conforms::<SmallFieldVole<Gf64>>(len, security);
            conforms::<SmallFieldVole<Gf128>>(len, security);
        }
    }
}

#[test]
fn silent_vole() {
    for security in MODES {
        for len in [0, 1, 2, 100, 5000, 1 << 14, 1 << 17] {
            conforms::<SilentVole<Gf64>>(len, security);
            conforms::<SilentVole<Gf128>>(len, security);
        }
    }
}

#[test]
fn values_of_a_width_asked_for_stay_below_it() {
    fn stays_below<P, B: Value>(len: usize, width: u32, security: Security)
    where
        P: Protocol<Task = SubfieldVole<B>>,
        P::Sender: Party<Params = P::Params, Input = (), Output = VoleSender>,
        P::Receiver: Party<Params = P::Params, Input = (), Output = VoleReceiver<B>>,
    {
        let params = P::derive(&CorrelationRequest { len, security, width: Some(width) }).unwrap();
        let (sender, receiver) = two_party(
            |ch, rng| P::Sender::setup(&params, ch, rng)?.run((), ch, rng),
            |ch, rng| P::Receiver::setup(&params, ch, rng)?.run((), ch, rng),
        );
        assert_eq!(SubfieldVole::<B>::holds(&(), &(), &sender, &receiver), Ok(()));
        let union = receiver.c.iter().fold(0, |union, c| union | c.embed().0);
        assert_eq!(union, u128::MAX >> (128 - width), "{len} values of {width} bits");
    }
    for security in MODES {
        for len in [100, 1 << 14] {
            stays_below::<SilentVole<Gf64>, _>(len, 61, security);
            stays_below::<SilentVole<Gf128>, _>(len, 66, security);
            stays_below::<SmallFieldVole<Gf64>, Gf64>(len, 7, security);
        }
    }
    for width in [0, 65] {
        assert!(
            SilentVole::<Gf64>::derive(&CorrelationRequest {
                len: 9,
                security: Security::SemiHonest,
                width: Some(width)
            })
            .is_err()
        );
        assert!(
            SmallFieldVole::<Gf64>::derive(&CorrelationRequest {
                len: 9,
                security: Security::SemiHonest,
                width: Some(width)
            })
            .is_err()
        );
    }
}
