//! What either side sees, and how often a bit may be wrong.

use std::collections::HashSet;

use vesica_mpc::lowmc::RoundKeys;
use vesica_party::Abort;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{assert_uniform, try_two_party, two_party};

use super::messages::Salt;
use super::*;

const N: usize = 60;

/// The receiver's items.
fn own() -> Vec<u128> {
    (0..N as u128).collect()
}

/// A test of `asked` against [`own`] with parameters of its own.
fn run(params: &Params, asked: &[u128]) -> (Vec<u32>, Vec<bool>) {
    let (order, found) = two_party(
        |ch, rng| Zcl23Sk::ask(Zcl23Sk::sender(params, ch, rng)?, asked, ch, rng).map(|order| order.to_vec()),
        |ch, rng| Zcl23Sk::test(Zcl23Sk::receiver(params, ch, rng)?, &own(), ch, rng),
    );
    (order, found.iter().collect())
}

/// The bits are those of the items, at places in another order than the sender's.
#[test]
fn places_are_in_another_order_than_items() {
    let params = Params::derive(N, N).unwrap();
    let asked: Vec<u128> = (N as u128 / 2..).take(N).collect();
    let (order, found) = run(&params, &asked);
    assert!(order.iter().zip(&found).all(|(&item, found)| own().contains(&asked[item as usize]) == *found));
    assert_eq!(order.iter().collect::<HashSet<_>>().len(), N);
    assert_ne!(order, (0..N as u32).collect::<Vec<_>>());
}

/// With an indicator of 5 bits, one new item in 32 is taken for a common one.
#[test]
fn new_items_are_found_as_often_as_the_width_says() {
    let asked: Vec<u128> = (1 << 64..).take(4096).collect();
    let mut params = Params::derive(asked.len(), N).unwrap();
    params.indicator_bits = 5;
    params.matching = vesica_mpc::lowmc::Params::new(asked.len(), 5).unwrap();
    let found = run(&params, &asked).1.into_iter().filter(|found| *found).count();
    // 128 on average, with a deviation of 11.1.
    assert!((72..184).contains(&found), "{found}");
}

/// What the sender decodes at common items: no two blocks are equal, also if the receiver draws a
/// key, an indicator and random bits anew for the same items and the same salt.
#[test]
fn ciphertexts_of_common_items_all_differ() {
    let params = Params::derive(N, N).unwrap();
    let decoded = [0, 1000].map(|skipped| {
        let (decoded, ()) = two_party(
            |ch, rng| Zcl23Sk::sender(&params, ch, rng)?.decode(&own(), ch).map(|decoded| decoded.to_vec()),
            |ch, rng| encode(&params, skipped, ch, rng),
        );
        decoded
    });
    assert_eq!(decoded.iter().flatten().collect::<HashSet<_>>().len(), 2 * N);
}

/// The receiver's steps up to the table, with other random values for each number of `skipped` ones,
/// but always the same salt.
fn encode(params: &Params, skipped: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
    let receiver = Zcl23Sk::receiver(params, ch, rng)?;
    (0..skipped).for_each(|_| {
        rng.block();
    });
    let (key, indicator) = receiver::secrets(params.indicator_bits, rng);
    receiver.send_table(&RoundKeys::new(*key), indicator, &own(), ch, rng)
}

/// With a key that the sender knows, it would read the table at each of its items.
#[test]
fn keys_and_indicators_are_drawn_at_random() {
    let mut rng = SecretRng::insecure_from_seed(2);
    let (keys, indicators): (Vec<u128>, Vec<u64>) =
        std::iter::repeat_with(|| receiver::secrets(64, &mut rng)).take(1000).map(|(key, s)| (*key, s)).unzip();
    assert_uniform(bytemuck::cast_slice(&keys), "keys");
    assert_uniform(bytemuck::cast_slice(&indicators), "indicators");
}

#[test]
fn plaintexts_are_distinct_and_start_with_the_indicator() {
    let mut rng = SecretRng::insecure_from_seed(1);
    // Of 2^8 nonces 30 are mostly not distinct at the first try.
    let drawn = receiver::plaintexts(30, 5, 120, &mut rng);
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 30);
    assert!(drawn.iter().all(|block| block >> 8 == 5));
    let nonces: Vec<u64> = receiver::plaintexts(1000, 5, 64, &mut rng).iter().map(|&block| block as u64).collect();
    assert_uniform(bytemuck::cast_slice(&nonces), "nonces");
}

/// Without distinct keys there is no table.
#[test]
fn items_that_are_not_distinct_cannot_be_encoded() {
    let params = Params::derive(N, N).unwrap();
    let (_, receiver) = try_two_party(
        |ch, rng| Zcl23Sk::ask(Zcl23Sk::sender(&params, ch, rng)?, &own(), ch, rng).map(drop),
        |ch, rng| Zcl23Sk::test(Zcl23Sk::receiver(&params, ch, rng)?, &[7; N], ch, rng).map(drop),
    );
    assert!(matches!(receiver.result, Err(Abort::StatisticalFailure(_))));
}

/// The table is as random as the ciphertexts: no cell of it is that of another run with the same
/// items and the same salt.
#[test]
fn tables_of_the_same_items_have_no_cell_in_common() {
    let params = Params::derive(N, N).unwrap();
    let table = |skipped| {
        let (cells, ()) = two_party(
            |ch, _| {
                let Salt(_) = ch.recv(())?;
                let mut cells = vec![0; params.table_bytes as usize];
                ch.recv_stream::<messages::Table>(&mut cells)?;
                Ok(cells.as_chunks::<16>().0.iter().copied().collect::<HashSet<[u8; 16]>>())
            },
            |ch, rng| encode(&params, skipped, ch, rng),
        );
        cells
    };
    let (first, second) = (table(0), table(1000));
    assert!(first.len() as u64 == params.table_bytes / 16 && !first.contains(&[0; 16]));
    assert!(first.is_disjoint(&second));
}
