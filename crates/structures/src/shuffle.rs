//! Random orders. A list that was shuffled says nothing of the order of its owner's table.

use rand_core::Rng;

use crate::rng::SecretRng;

/// A uniform order of `0..count` (Fisher and Yates).
///
/// Its memory accesses depend on it; a program on the same machine that watches caches may learn
/// it.
///
/// # Panics
/// If `count` is above `u32::MAX`.
pub fn random_order(count: usize, rng: &mut SecretRng) -> Vec<u32> {
    let count = u32::try_from(count).expect("indices of 32 bits");
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        // Lemire: a draw scaled to `0..=last`, rejected where the scaling would favour some results.
        let span = last as u64 + 1;
        let chosen = loop {
            let wide = u128::from(rng.next_u64()) * u128::from(span);
            if wide as u64 >= span.wrapping_neg() % span {
                break (wide >> 64) as usize;
            }
        };
        order.swap(last, chosen);
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn all_orders_come_about_equally_often() {
        let mut rng = SecretRng::insecure_from_seed(3);
        let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
        for _ in 0..24_000 {
            *seen.entry(random_order(4, &mut rng)).or_default() += 1;
        }
        assert_eq!(seen.len(), 24);
        // Of 1000 expected, five standard deviations.
        assert!(seen.values().all(|&count| (845..=1155).contains(&count)), "{seen:?}");
        assert!(random_order(0, &mut rng).is_empty());
        let mut large = random_order(1000, &mut rng);
        large.sort_unstable();
        assert!(large.into_iter().eq(0..1000));
    }
}
