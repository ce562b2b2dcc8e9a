//! The one source of secret randomness.

use std::fmt;
use std::hint::black_box;

use rand_chacha::ChaCha20Rng;
use rand_core::{Infallible, Rng, SeedableRng, TryCryptoRng, TryRng};

use crate::secret::Secret;

/// A cryptographically secure generator (ChaCha20), seeded by the operating system; cloned never,
/// split by `child`.
pub struct SecretRng(ChaCha20Rng);

impl SecretRng {
    /// A generator seeded with 256 bits from the operating system.
    pub fn from_os() -> Result<Self, getrandom::Error> {
        let mut seed = zeroize::Zeroizing::new([0u8; 32]);
        getrandom::fill(seed.as_mut())?;
        Ok(Self(ChaCha20Rng::from_seed(*seed)))
    }

    /// The generator of a secret seed, which gives the same each time: for what has to come out as before.
    pub fn from_seed(seed: &Secret<[u8; 32]>) -> Self {
        Self(ChaCha20Rng::from_seed(**seed))
    }

    /// A generator with a known seed. INSECURE: for tests, golden transcripts and benchmarks only.
    pub fn insecure_from_seed(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    /// An independent generator, for a thread or a sub-protocol of its own.
    pub fn child(&mut self) -> Self {
        let mut seed = zeroize::Zeroizing::new([0u8; 32]);
        self.0.fill_bytes(seed.as_mut());
        Self(ChaCha20Rng::from_seed(*seed))
    }

    /// A uniform 128-bit string.
    pub fn block(&mut self) -> u128 {
        let mut bytes = [0u8; 16];
        self.0.fill_bytes(&mut bytes);
        u128::from_le_bytes(bytes)
    }
}

impl Drop for SecretRng {
    fn drop(&mut self) {
        // The library keeps the seed, and up to 256 bytes that it has given: keys may be among them.
        self.0 = ChaCha20Rng::from_seed([0; 32]);
        black_box(&self.0);
    }
}

impl TryRng for SecretRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(dst);
        Ok(())
    }
}

impl TryCryptoRng for SecretRng {}

impl fmt::Debug for SecretRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretRng(..)")
    }
}
