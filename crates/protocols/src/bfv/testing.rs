//! Statistics of noise, for tests.

/// The standard deviation of noise, whose mean is zero.
pub fn deviation(noise: &[f64]) -> f64 {
    (noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64).sqrt()
}

/// The normalised correlation of what is seen with what is guessed: about 0, with deviation 1, where
/// they are independent, and the square root of their number (64 or more) where they are the same.
pub fn correlation(seen: &[f64], guessed: &[f64]) -> f64 {
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    product(seen, guessed) / (product(seen, seen) / seen.len() as f64 * product(guessed, guessed)).sqrt()
}
