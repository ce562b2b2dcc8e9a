//! The bins of items and the values programmed there: local work of a side.

use vesica_party::Channel;

use super::params::Params;
pub use crate::bins::Hashes;

impl Hashes {
    /// Bound to the session, the sizes and the salt.
    pub fn derive<P>(ch: &Channel, params: &Params<P>, salt: &[u8; 32]) -> Self {
        let sizes =
            [params.sender_items, params.receiver_items, params.bins, params.sigma as usize, params.carried_bytes];
        Self::new("vesica v1 circuit-psi 2026 salt to keys", ch, salt, &sizes, params.bins)
    }
}

/// `r` in the low `sigma` bits and the carried bytes behind it, as blocks of 128 bits.
pub fn join(r: u128, sigma: u32, carried: &[u8], mut out: impl FnMut(usize, u128)) {
    let mut block = r;
    let mut words = carried.chunks(16).map(word).peekable();
    let mut number = 0;
    // The last word may leave nothing for a block of its own.
    let bits = sigma as usize + 8 * carried.len();
    while number * 128 < bits {
        let word = words.next().unwrap_or(0);
        out(number, block | word << sigma);
        block = word >> (128 - sigma);
        number += 1;
    }
}

/// Takes apart what [`join`] has joined: gives `r`, and writes the carried bytes to `carried`.
pub fn split(sigma: u32, block: impl Fn(usize) -> u128, blocks: usize, carried: &mut [u8]) -> u128 {
    let at = |number: usize| if number < blocks { block(number) } else { 0 };
    for (number, bytes) in carried.chunks_mut(16).enumerate() {
        let word = at(number) >> sigma | at(number + 1) << (128 - sigma);
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
    at(0) & ((1 << sigma) - 1)
}

fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_comes_apart_again() {
        for sigma in [1, 44, 63, 64, 71] {
            for bytes in [0, 1, 7, 8, 9, 16, 17, 24, 40] {
                let carried: Vec<u8> = (0..bytes).map(|i| (i * 37 + 129) as u8).collect();
                let r = u128::MAX >> (128 - sigma);
                let mut blocks = Vec::new();
                join(r, sigma, &carried, |number, block| {
                    assert_eq!(number, blocks.len());
                    blocks.push(block);
                });
                let bits = sigma as usize + 8 * bytes;
                assert_eq!(blocks.len(), bits.div_ceil(128), "{bits} bits");
                if !bits.is_multiple_of(128) {
                    assert_eq!(blocks.last().unwrap() >> (bits % 128), 0, "{bits} bits");
                }
                let mut back = vec![0; bytes];
                assert_eq!(split(sigma, |number| blocks[number], blocks.len(), &mut back), r);
                assert_eq!(back, carried, "{bits} bits");
            }
        }
    }
}
