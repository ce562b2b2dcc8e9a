//! Random orders: what a list says of its owner's table is gone once it was shuffled.

use crate::rng::SecretRng;
use crate::secret::Secret;

/// A uniformly random order of `0..count` (Fisher-Yates, from draws of 128 bits: its bias is below `2^-63` for any count that fits).
///
/// Its memory accesses depend on it; a program on the same machine that watches caches may learn it.
///
/// # Panics
/// If `count` is above `u32::MAX`.
pub fn random_order(count: usize, rng: &mut SecretRng) -> Secret<Vec<u32>> {
    let count = u32::try_from(count).expect("indices of 32 bits");
    let mut order: Secret<Vec<u32>> = Secret::new((0..count).collect());
    for last in (1..order.len()).rev() {
        order.swap(last, (rng.block() % (last as u128 + 1)) as usize);
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
            *seen.entry(random_order(4, &mut rng).clone()).or_default() += 1;
        }
        assert_eq!(seen.len(), 24);
        // Of 1000 expected, five standard deviations.
        assert!(seen.values().all(|&count| (845..=1155).contains(&count)), "{seen:?}");
        assert!(random_order(0, &mut rng).is_empty());
    }
}
