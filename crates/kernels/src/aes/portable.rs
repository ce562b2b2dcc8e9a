//! The portable twin: the `aes` crate, with the outer xors done around it.

use ::aes::Block;
use ::aes::cipher::{BlockCipherEncrypt, KeyInit};

use super::lanes;

/// Blocks handed to the `aes` crate at a time.
const LANES: usize = 16;

/// A key as the `aes` crate holds it (wiped on drop by its `zeroize` feature).
#[derive(Clone)]
pub(super) struct Cipher(::aes::Aes128);

impl Cipher {
    pub(super) fn new(key: u128) -> Self {
        Self(::aes::Aes128::new(&key.to_le_bytes().into()))
    }

    fn permute<const N: usize>(&self, x: &[u128; N]) -> [u128; N] {
        let mut blocks: [Block; N] = x.map(|x| x.to_le_bytes().into());
        self.0.encrypt_blocks(&mut blocks);
        blocks.map(|block| u128::from_le_bytes(block.into()))
    }

    pub(super) fn encrypt(&self, x: &mut [u128]) {
        lanes::map_in_place::<LANES>(x, |x| *x = self.permute(x));
    }

    pub(super) fn mmo(&self, x: &[u128], out: &mut [u128]) {
        lanes::map::<LANES, _>(x, out, |x, out| *out = xor(self.permute(x), x));
    }

    pub(super) fn mmo_in_place(&self, x: &mut [u128]) {
        lanes::map_in_place::<LANES>(x, |x| *x = xor(self.permute(x), x));
    }

    pub(super) fn mmo_bits(&self, x: &[u128; 128]) -> u128 {
        let (groups, _) = x.as_chunks();
        groups.iter().rev().fold(0, |bits, x| bits << LANES | u128::from(low_bits(xor(self.permute(x), x))))
    }

    pub(super) fn mmo_tables(&self, x: &[u128], offsets: &[u128], out: &mut [u16]) {
        lanes::by_places!(tables::<16, 8, 4, 2>(self, x, offsets, out));
    }

    pub(super) fn tmmo(&self, x: &[u128], tweak: &[u128], out: &mut [u128]) {
        lanes::map_pairs::<LANES>(x, tweak, out, |x, tweak, out| {
            let inner = self.permute(x);
            *out = xor(self.permute(&xor(inner, tweak)), &inner);
        });
    }

    pub(super) fn ctr(&self, first: u128, out: &mut [u128]) {
        lanes::count::<LANES>(first, out, |first, out| {
            *out = self.permute(&lanes::counters(first));
        });
    }
}

fn tables<const ELEMENTS: usize, const PLACES: usize>(
    cipher: &Cipher,
    x: &[u128],
    offsets: &[u128; PLACES],
    out: &mut [u16],
) {
    lanes::map(x, out, |x: &[u128; ELEMENTS], out| {
        let x: [u128; LANES] = lanes::shifted(x, offsets);
        lanes::tables(low_bits(xor(cipher.permute(&x), &x)), PLACES, out);
    });
}

/// The lowest bit of each block, that of the first one lowest.
fn low_bits(x: [u128; LANES]) -> u32 {
    x.iter().rev().fold(0, |bits, x| bits << 1 | (x & 1) as u32)
}

fn xor<const N: usize>(a: [u128; N], b: &[u128; N]) -> [u128; N] {
    std::array::from_fn(|i| a[i] ^ b[i])
}

pub(super) fn expand(left: &Cipher, right: &Cipher, parents: &[u128], children: &mut [u128]) -> [u128; 2] {
    lanes::double::<LANES>(parents, children, |parents, children| {
        let (left, right) = (xor(left.permute(parents), parents), xor(right.permute(parents), parents));
        for (pair, (left, right)) in children.iter_mut().zip(left.into_iter().zip(right)) {
            *pair = [left, right];
        }
    })
}

pub(super) fn davies_meyer(keys: &[u128], messages: &[u128], out: &mut [u128]) {
    for ((key, message), out) in keys.iter().zip(messages).zip(out) {
        let [cipher] = Cipher::new(*key).permute(&[*message]);
        *out = cipher ^ message;
    }
}
