//! What stands above OT and VOLE, over a trusted dealer: no set-up, no expansion, only the block
//! itself.

use std::sync::Arc;

use vesica_mpc::bits::Bits;
use vesica_mpc::gmw::{self, Builder, Evaluator};
use vesica_mpc::ideal::InsecureDealer;
use vesica_mpc::opprf::{self, Opprf, Store};
use vesica_mpc::oprf::ValueField;
use vesica_mpc::peqt::{self, Variant};
use vesica_mpc::permute_share::bits::BitNetwork;
use vesica_mpc::permute_share::{self, SwitchingNetwork};
use vesica_mpc::share_conversion::{BitsReceiver, BitsSender, BitsToRing};
use vesica_mpc::tasks::{
    self, BitsToPermute, BitsToRingRequest, Equality, OpprfRequest, PermuteBitsRequest, PermuteShare, PermuteShareBits,
    PermuteShareRequest, Programmed, ProgrammedPrf, SharedBits, ToPermute,
};
use vesica_party::{Abort, Party, Protocol, Role, Security, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::okvs::{Band, Clustered};
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

const SEED: u64 = 7;
const SEMI_HONEST: Security = Security::SemiHonest;

fn random_bits(rng: &mut SecretRng, len: usize) -> Vec<bool> {
    (0..len).map(|_| rng.block() & 1 == 1).collect()
}

/// An adder of two words of 8 bits, in many instances, against addition.
#[test]
fn gmw() {
    for instances in [1, 63, 64, 65, 1000] {
        let mut builder = Builder::new();
        let (a, b) = (builder.input_word(8), builder.input_word(8));
        let mut carry = builder.constant(false);
        let mut sum = Vec::new();
        for (&a, &b) in a.iter().zip(&b) {
            let (either, both) = (builder.xor(a, b), builder.and(a, b));
            sum.push(builder.xor(either, carry));
            let carried = builder.and(either, carry);
            carry = builder.xor(both, carried);
        }
        let params = gmw::Params::new(Arc::new(builder.finish(&sum)), instances).unwrap();
        let (tables, lookups) = InsecureDealer::new(SEED).random_tables(params.tables(), 2);
        let rng = &mut SecretRng::insecure_from_seed(instances as u64);
        let mut shares = || -> Vec<Bits> { (0..16).map(|_| Bits::random(instances, rng)).collect() };
        let (ours, theirs) = (shares(), shares());
        let (sent, received) = two_party(
            |ch, rng| Evaluator::from_tables(&params, &tables)?.run(ours.clone(), ch, rng),
            |ch, rng| Evaluator::from_lookups(&params, &lookups)?.run(theirs.clone(), ch, rng),
        );
        let word = |a: &[Bits], b: &[Bits], i: usize| -> u8 {
            a.iter().zip(b).enumerate().fold(0, |word, (bit, (a, b))| word | u8::from(a.get(i) ^ b.get(i)) << bit)
        };
        for i in 0..instances {
            let expected = word(&ours[..8], &theirs[..8], i).wrapping_add(word(&ours[8..], &theirs[8..], i));
            assert_eq!(word(&sent, &received, i), expected, "instance {i} of {instances}");
        }
        let (short, _) = InsecureDealer::new(SEED).random_tables(params.tables() - 1, 2);
        assert!(Evaluator::from_tables(&params, &short).is_err());
    }
}

#[test]
fn equality_tests() {
    for variant in [Variant::Cubic, Variant::AndTree, Variant::Leaves] {
        for (len, width) in [(1, 1), (1, 4), (64, 7), (1000, 63), (333, 64)] {
            let params = peqt::Params::with(len, width, variant).unwrap();
            let mut dealer = InsecureDealer::new(SEED);
            // For each side, by its role: the tables that it owns, and lookups in those of the
            // other one.
            let (mut own, mut seen) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
            for (owner, count, variables) in params.tables() {
                let (tables, lookups) = dealer.random_tables(count, variables);
                own[owner as usize].push(tables);
                seen[owner.peer() as usize].push(lookups);
            }
            let [s, r] = [Role::Sender as usize, Role::Receiver as usize];
            let sender =
                peqt::Sender::from_tables(&params, &own[s], &seen[s], &mut SecretRng::insecure_from_seed(1)).unwrap();
            let receiver = peqt::Receiver::from_tables(&params, &own[r], &seen[r]).unwrap();
            // Every third value differs in one bit.
            let differ =
                |(i, value): (usize, &u64)| if i % 3 == 0 { value ^ 1 << (i % width as usize) } else { *value };
            let values: Vec<u64> = sender.values().iter().enumerate().map(differ).collect();
            let asked = values.clone();
            let (tested, shares) =
                two_party(|ch, rng| sender.run((), ch, rng), move |ch, rng| receiver.run(asked, ch, rng));
            Equality::holds(&(), &values, &tested, &shares)
                .unwrap_or_else(|wrong| panic!("{variant:?} {len} {width}: {wrong}"));
        }
    }
    let params = peqt::Params::new(10, 9).unwrap();
    assert!(peqt::Receiver::from_tables(&params, &[], &[]).is_err());
}

#[test]
fn shares_of_bits() {
    for len in [1, 8, 9, 5003] {
        let params = BitsToRing::derive(&BitsToRingRequest { len, bits: 33, security: SEMI_HONEST }).unwrap();
        let (pairs, chosen) = InsecureDealer::new(SEED).random_ots(len);
        let rng = &mut SecretRng::insecure_from_seed(len as u64);
        let [sent, asked] = [0, 1].map(|_| SharedBits { bits: random_bits(rng, len) });
        let (ours, theirs) = (sent.clone(), asked.clone());
        let (sender, receiver) = two_party(
            |ch, rng| BitsSender::from_ots(&params, pairs)?.run(ours, ch, rng),
            |ch, rng| BitsReceiver::from_ots(&params, chosen)?.run(theirs, ch, rng),
        );
        tasks::BitsToRing::holds(&sent, &asked, &sender, &receiver).unwrap();
        let (short, _) = InsecureDealer::new(SEED).random_ots(len - 1);
        assert!(BitsSender::from_ots(&params, short).is_err());
    }
}

#[test]
fn permute_and_share() {
    for len in [1, 2, 3, 8, 100, 1000] {
        let request = PermuteShareRequest { len, bits: 50, security: SEMI_HONEST };
        let params = SwitchingNetwork::<Gf64>::derive(&request).unwrap();
        let (pairs, chosen) = InsecureDealer::new(SEED).random_ots(params.switches());
        let rng = &mut SecretRng::insecure_from_seed(len as u64);
        let mut draw = || -> Vec<Gf64> { (0..len).map(|_| Gf64(rng.block() as u64 >> 14)).collect() };
        let sent = ToPermute { values: draw(), shares: draw() };
        let mut order: Vec<u32> = (0..len as u32).collect();
        (1..len).for_each(|i| order.swap(i, (rng.block() % (i as u128 + 1)) as usize));
        let (ours, theirs) = (sent.clone(), order.clone());
        let ((), permuted) = two_party(
            |ch, rng| permute_share::Sender::from_ots(&params, &pairs)?.run(ours, ch, rng),
            |ch, rng| permute_share::Receiver::from_ots(&params, &chosen)?.run(theirs, ch, rng),
        );
        PermuteShare::<Gf64>::holds(&sent, &order, &(), &permuted).unwrap();
    }
}

/// All orders of five bits, each of random ones.
#[test]
fn permute_and_share_bits() {
    let len = 5;
    let params = <BitNetwork>::derive(&PermuteBitsRequest { len, kept: len, security: SEMI_HONEST }).unwrap();
    let orders = (0..5u32.pow(5)).map(|code| (0..5).map(|i| code / 5u32.pow(i) % 5).collect::<Vec<u32>>());
    let is_order = |order: &Vec<u32>| (0..5).all(|i| order.contains(&i));
    let mut dealer = InsecureDealer::new(SEED);
    let rng = &mut SecretRng::insecure_from_seed(SEED);
    let mut served = 0;
    for order in orders.filter(is_order) {
        let (tables, lookups) = dealer.random_tables(params.switches(), 1);
        let sent = BitsToPermute { values: Bits::random(len, rng), shares: Bits::random(len, rng) };
        let (ours, theirs) = (sent.clone(), order.clone());
        let ((), permuted) = two_party(
            |ch, rng| permute_share::bits::Sender::from_tables(&params, &tables)?.run(ours, ch, rng),
            |ch, rng| permute_share::bits::Receiver::from_lookups(&params, &lookups)?.run(theirs, ch, rng),
        );
        PermuteShareBits::holds(&sent, &order, &(), &permuted).unwrap();
        served += 1;
    }
    assert_eq!(served, 120);
    for (count, width) in [(params.switches() - 1, 1), (params.switches(), 2)] {
        let (tables, lookups) = dealer.random_tables(count, width);
        assert!(permute_share::bits::Sender::from_tables(&params, &tables).is_err());
        assert!(permute_share::bits::Receiver::from_lookups(&params, &lookups).is_err());
    }
}

/// Keys of which the two sides have `common` in common; what is programmed is what is learned.
fn program<O: Store>(receiver_keys: usize, sender_keys: usize, common: usize, wide: bool) -> Result<(), Unsupported> {
    let request = OpprfRequest { receiver_keys, sender_keys, output_bits: 100, security: SEMI_HONEST, wide, runs: 1 };
    let params = Opprf::<O>::derive(&request)?;
    let (len, field, width) = params.vole()?.expect("both have keys");
    let rng = &mut SecretRng::insecure_from_seed(common as u64);
    let keys: Vec<u128> = (0..receiver_keys + sender_keys).map(|_| rng.block()).collect();
    let values = (0..sender_keys).map(|_| rng.block() >> 28).collect();
    let sent = Programmed { keys: keys[receiver_keys - common..][..sender_keys].to_vec(), values };
    let asked = keys[..receiver_keys].to_vec();
    let (ours, theirs) = (sent.clone(), asked.clone());
    let dealer = &mut InsecureDealer::new(SEED);
    let ((), outputs) = match field {
        ValueField::Gf64 => {
            let (left, right) = dealer.vole::<Gf64>(len, width);
            two_party(
                |ch, rng| opprf::Sender::from_vole::<Gf64>(&params, left, ch, rng)?.run(ours, ch, rng),
                |ch, rng| opprf::Receiver::from_vole(&params, right, ch)?.run(theirs, ch, rng),
            )
        }
        ValueField::Gf128 => {
            let (left, right) = dealer.vole::<Gf128>(len, width);
            two_party(
                |ch, rng| opprf::Sender::from_vole::<Gf128>(&params, left, ch, rng)?.run(ours, ch, rng),
                |ch, rng| opprf::Receiver::from_wide_vole(&params, right, ch)?.run(theirs, ch, rng),
            )
        }
    };
    ProgrammedPrf::holds(&sent, &asked, &(), &outputs).unwrap();
    let matches = asked
        .iter()
        .zip(&outputs.values)
        .filter(|(key, value)| sent.keys.iter().zip(&sent.values).any(|(k, v)| k == *key && v == *value));
    assert_eq!(matches.count(), common);
    Ok(())
}

#[test]
fn opprf() {
    for (receiver, sender, common) in [(1, 1, 0), (1, 1, 1), (300, 200, 17), (2, 60, 2)] {
        program::<Band>(receiver, sender, common, false).unwrap();
        program::<Clustered>(receiver, sender, common, true).unwrap();
    }
}

/// A side that has another correlation than the run takes is told, before anything is sent.
#[test]
fn another_vole_than_the_run_takes_is_refused() {
    let request = OpprfRequest {
        receiver_keys: 9,
        sender_keys: 9,
        output_bits: 100,
        security: SEMI_HONEST,
        wide: false,
        runs: 1,
    };
    let params = Opprf::<Band>::derive(&request).unwrap();
    let (len, _, width) = params.vole().unwrap().expect("both have keys");
    let dealer = &mut InsecureDealer::new(SEED);
    let (left, right) = dealer.vole::<Gf64>(len - 1, width);
    let (_, wide) = dealer.vole::<Gf128>(len, width);
    two_party(
        |ch, rng| {
            let refused = opprf::Sender::from_vole::<Gf64>(&params, left, ch, rng);
            assert!(matches!(refused, Err(Abort::Unsupported(_))));
            Ok(())
        },
        |ch, _| {
            assert!(matches!(opprf::Receiver::from_vole(&params, right, ch), Err(Abort::Unsupported(_))));
            assert!(matches!(opprf::Receiver::from_wide_vole(&params, wide, ch), Err(Abort::Unsupported(_))));
            Ok(())
        },
    );
}
