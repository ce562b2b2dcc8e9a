//! The right column of the figure.

use std::fmt;

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::lowmc::{self, RoundKeys};
use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::okvs::{Band, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Salt, Table};
use super::{Params, store};

/// The receiver, set up.
pub struct Receiver {
    matching: lowmc::Params,
    indicator_bits: u32,
    store: Band,
}

impl Receiver {
    /// Step 1.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let store = store(params, ch, &salt)?;
        Ok(Self { matching: params.matching.clone(), indicator_bits: params.indicator_bits, store })
    }

    /// Steps 2, 3, 5 and 6; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let (key, indicator) = secrets(self.indicator_bits, rng);
        let keys = RoundKeys::new(*key);
        self.send_table(&keys, indicator, items, ch, rng)?;
        let _phase = ch.phase(Phase::Equality);
        lowmc::test(&self.matching, &keys, indicator, ch, rng)
    }

    /// Steps 2 and 3.
    pub(super) fn send_table(
        &self,
        keys: &RoundKeys,
        indicator: u64,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let phase = ch.phase(Phase::HashItems);
        let arranged = self.store.arrange(items);
        let ciphertexts = keys.encrypt(&plaintexts(items.len(), indicator, self.indicator_bits, rng));
        let values = Secret::new(ciphertexts.iter().map(|&block| Gf128(block)).collect::<Vec<_>>());
        drop((phase, ciphertexts));
        let _phase = ch.phase(Phase::Encode);
        table::encode_and_send_vartime::<Table, Gf128>(
            &self.store,
            (&arranged, &values),
            FreeCells::Random(rng),
            |_, _| (),
            Gf128::BITS,
            ch,
        )
    }
}

/// The key of the cipher and the indicator.
pub(super) fn secrets(indicator_bits: u32, rng: &mut SecretRng) -> (Secret<u128>, u64) {
    (Secret::new(rng.block()), rng.next_u64() >> (u64::BITS - indicator_bits))
}

/// Step 2: as many distinct blocks that start with the indicator, and are random beyond it.
pub(super) fn plaintexts(len: usize, indicator: u64, indicator_bits: u32, rng: &mut SecretRng) -> Secret<Vec<u128>> {
    let top = u128::from(indicator) << (u128::BITS - indicator_bits);
    let mut blocks = Secret::new(vec![0; len]);
    loop {
        blocks.iter_mut().for_each(|block| *block = top | rng.block() >> indicator_bits);
        let mut sorted = Secret::new(blocks.to_vec());
        sorted.sort_unstable();
        if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
            return blocks;
        }
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(..)")
    }
}
