//! The leak, and the polynomials.

use std::collections::HashSet;

use vesica_mpc::tasks::PrfOutputs;
use vesica_structures::fields::Gf128;
use vesica_structures::polynomial::evaluate;
use vesica_testkit::two_party;

use super::*;

const N: usize = 2000;

/// The receiver's items with the number of matches that it sees in their bin, and that bin's load.
fn seen(common: usize) -> Vec<(u32, usize, usize)> {
    let params = Params::derive(N, N).unwrap();
    let sent: Vec<u128> = (0..N as u128).collect();
    let own: Vec<u128> = (0..common as u128).chain((1 << 64..).take(N - common)).collect();
    let (_, (bins, found)) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.ask(&sent, ch, rng),
        |ch, rng| {
            let receiver = Receiver::setup(&params, ch, rng)?;
            let bins = Bins::new(ch, &params, &receiver.salt, &own, params.coefficients)?;
            Ok((bins, receiver.test(&own, ch, rng)?))
        },
    );
    let matches = |bin: usize| {
        (bin * params.places_per_bin..(bin + 1) * params.places_per_bin).filter(|&place| found.get(place)).count()
    };
    let of_bin =
        |(bin, items): (usize, &[u32])| items.iter().map(|&item| (item, matches(bin), items.len())).collect::<Vec<_>>();
    bins.iter().enumerate().flat_map(of_bin).collect()
}

/// The leak. 30 of 2000 items are common: given a union, every item of the receiver may be one. Here
/// the receiver is sure of most of its items that they are not, and is right; and where all items
/// of a bin match it is sure that they are.
#[test]
fn the_receiver_rules_items_out_by_bins_without_a_match() {
    let (common, all) = (30, seen(30));
    assert_eq!(all.len(), N);
    let ruled_out: Vec<u32> = all.iter().filter(|(_, matches, _)| *matches == 0).map(|(item, ..)| *item).collect();
    assert!(ruled_out.len() > N / 2, "{}", ruled_out.len());
    assert!(ruled_out.iter().all(|&item| item as usize >= common));
    let sure = seen(N);
    assert!(sure.iter().all(|(_, matches, load)| matches == load));
}

/// Where a bin's items match is a random place: the sender's places of the first bin do not come in
/// the order of its items, with dummies last.
#[test]
fn places_of_a_bin_are_in_a_random_order() {
    let params = Params::derive(N, N).unwrap();
    let items: Vec<u128> = (0..N as u128).collect();
    let (places, found) = two_party(
        |ch, rng| Sender::setup(&params, ch, rng)?.ask(&items, ch, rng),
        |ch, rng| Receiver::setup(&params, ch, rng)?.test(&items, ch, rng),
    );
    let held: Vec<u32> = places.iter().copied().filter(|&item| item != vesica_protocols::membership::NO_ITEM).collect();
    assert_eq!(held.iter().collect::<HashSet<_>>().len(), N);
    assert!(
        places.iter().zip(found.iter()).all(|(&item, found)| found == (item != vesica_protocols::membership::NO_ITEM))
    );
    for bin in places.chunks(params.places_per_bin) {
        let of_bin: Vec<u32> =
            bin.iter().copied().filter(|&item| item != vesica_protocols::membership::NO_ITEM).collect();
        assert!(of_bin.len() < 8 || (!of_bin.is_sorted() && bin[..of_bin.len()] != of_bin));
    }
}

/// A polynomial takes the place's target under the place's function, at the keys alone.
#[test]
fn a_polynomial_is_programmed_at_the_keys_and_random_elsewhere() {
    let (keys, targets) = ([3u128, 7, 8], [40u128, 50]);
    let outputs = PrfOutputs { values: (100..106).collect() };
    let polynomials = receiver::program(&keys, &outputs, &targets, 8, SecretRng::insecure_from_seed(1)).unwrap();
    let [first, second]: [&[u128]; 2] = std::array::from_fn(|place| &polynomials[8 * place..][..8]);
    let at = |polynomial: &[u128], key| evaluate(bytemuck::cast_slice(polynomial), Gf128(key)).0;
    assert_eq!(keys.map(|key| at(first, key)), [100 ^ 40, 101 ^ 40, 102 ^ 40]);
    assert_eq!(keys.map(|key| at(second, key)), [103 ^ 50, 104 ^ 50, 105 ^ 50]);
    let others: HashSet<u128> = (10..200).flat_map(|key| [at(first, key), at(second, key)]).collect();
    assert!(others.len() == 380 && others.iter().all(|value| value >> 32 != 0));
    // Without keys, all of a polynomial is random: the sender cannot tell how full a bin is.
    let of_empty = |seed| {
        receiver::program(&[], &PrfOutputs { values: vec![] }, &targets, 8, SecretRng::insecure_from_seed(seed))
            .unwrap()
    };
    let coefficients: HashSet<u128> = [of_empty(1), of_empty(2)].concat().into_iter().collect();
    assert!(coefficients.len() == 32 && !coefficients.contains(&0));
    assert!(
        receiver::program(&[1; 9], &PrfOutputs { values: vec![] }, &[], 8, SecretRng::insecure_from_seed(1)).is_err()
    );
}
