use proptest::prelude::*;

use super::*;
use crate::testing::{block, blocks, lengths, on_every_backend, words};

/// A block written as the standards write it, first byte first.
fn hex(text: &str) -> u128 {
    u128::from_str_radix(text, 16).unwrap().swap_bytes()
}

/// `AES_key(x)`, one at a time and with nothing of ours around it.
fn reference(key: u128, x: u128) -> u128 {
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
    let mut block = x.to_le_bytes().into();
    ::aes::Aes128::new(&key.to_le_bytes().into()).encrypt_block(&mut block);
    u128::from_le_bytes(block.into())
}

#[test]
fn fips_197_appendix_b_and_c1() {
    for (key, plain, cipher) in [
        ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
        ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ] {
        let (key, plain, cipher) = (hex(key), hex(plain), hex(cipher));
        let encrypted = on_every_backend(|| {
            let mut blocks = [plain; 3];
            Aes128::new(key).encrypt(&mut blocks);
            blocks
        });
        assert_eq!(encrypted, [cipher; 3]);
        let mut out = [0];
        davies_meyer(&[key], &[plain], &mut out);
        assert_eq!(out, [cipher ^ plain]);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn fips_197_appendix_a1_key_expansion() {
    if !Backend::Avx2.is_available() {
        return;
    }
    // SAFETY: the machine has the features of Avx2.
    let keys = unsafe { aesni::round_keys(hex("2b7e151628aed2a6abf7158809cf4f3c")) };
    assert_eq!(keys[1], hex("a0fafe1788542cb123a339392a6c7605"));
    assert_eq!(keys[10], hex("d014f9a8c9ee2589e13f0cc8b6630ca6"));
}

#[test]
fn sp_800_38a_f_1_1_ecb() {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
    let plain = [
        "6bc1bee22e409f96e93d7e117393172a",
        "ae2d8a571e03ac9c9eb76fac45af8e51",
        "30c81c46a35ce411e5fbc1191a0a52ef",
        "f69f2445df4f9b17ad2b417be66c3710",
    ];
    let cipher = [
        "3ad77bb40d7a3660a89ecaf32466ef97",
        "f5d3d58503b9699de785895a96fdbaaf",
        "43b1cd7f598ece23881b00e3ed030688",
        "7b0c785e27e8ad3f8223207104725dd4",
    ];
    let encrypted = on_every_backend(|| {
        let mut blocks = plain.map(hex);
        Aes128::new(key).encrypt(&mut blocks);
        blocks
    });
    assert_eq!(encrypted, cipher.map(hex));
}

#[test]
fn every_pass_is_its_formula_at_every_length() {
    for len in lengths() {
        let (x, y) = (words(len as u64, len), words(1000 + len as u64, len));
        let (k0, k1) = (words(2, 2)[0], words(2, 2)[1]);
        let pi = |x: u128| reference(k0, x);

        let encrypted = on_every_backend(|| {
            let mut out = x.clone();
            Aes128::new(k0).encrypt(&mut out);
            out
        });
        assert_eq!(encrypted, x.iter().map(|&x| pi(x)).collect::<Vec<_>>());

        let mmo = on_every_backend(|| {
            let mut out = vec![0; len];
            Aes128::new(k0).mmo(&x, &mut out);
            let mut in_place = x.clone();
            Aes128::new(k0).mmo_in_place(&mut in_place);
            assert_eq!(in_place, out);
            out
        });
        assert_eq!(mmo, x.iter().map(|&x| pi(x) ^ x).collect::<Vec<_>>());

        let tmmo = on_every_backend(|| {
            let mut out = vec![0; len];
            Aes128::new(k0).tmmo(&x, &y, &mut out);
            out
        });
        assert_eq!(tmmo, x.iter().zip(&y).map(|(&x, &y)| pi(pi(x) ^ y) ^ pi(x)).collect::<Vec<_>>());

        for places in [1, 2, 4, 8, 16] {
            let offsets = words(7, places);
            let tables = on_every_backend(|| {
                let mut out = vec![0xffff; len];
                Aes128::new(k0).mmo_tables(&x, &offsets, &mut out);
                out
            });
            let table =
                |x: u128| (0..places).map(|j| (((pi(x ^ offsets[j]) ^ x ^ offsets[j]) & 1) as u16) << j).sum::<u16>();
            assert_eq!(tables, x.iter().map(|&x| table(x)).collect::<Vec<_>>(), "{places} places");
        }

        let (children, sums) = on_every_backend(|| {
            let mut out = vec![0; 2 * len];
            let sums = GgmPrg::new(k0, k1).expand(&x, &mut out);
            (out, sums)
        });
        let sum = |side: usize| children.iter().skip(side).step_by(2).fold(0, |sum, child| sum ^ child);
        assert_eq!(sums, [sum(0), sum(1)]);
        assert_eq!(children, x.iter().flat_map(|&x| [pi(x) ^ x, reference(k1, x) ^ x]).collect::<Vec<_>>());

        let hashed = on_every_backend(|| {
            let mut out = vec![0; len];
            davies_meyer(&x, &y, &mut out);
            out
        });
        assert_eq!(hashed, x.iter().zip(&y).map(|(&x, &y)| reference(x, y) ^ y).collect::<Vec<_>>());
    }
}

#[test]
fn bits_are_those_of_a_hash_of_each_block() {
    for seed in 0..10 {
        let (key, x) = (words(seed, 1)[0], words(100 + seed, 128).try_into().unwrap());
        let bits = on_every_backend(|| Aes128::new(key).mmo_bits(&x));
        for (i, x) in x.into_iter().enumerate() {
            assert_eq!(bits >> i & 1, (reference(key, x) ^ x) & 1, "bit {i}");
        }
    }
}

#[test]
fn counters_carry_into_the_high_half_and_wrap() {
    let low_half = u128::from(u64::MAX);
    for first in [0, low_half - 40, low_half - 3, low_half, u128::MAX - 20, u128::MAX] {
        for len in lengths().take(70) {
            let stream = on_every_backend(|| {
                let mut out = vec![0; len];
                Aes128::new(7).ctr(first, &mut out);
                out
            });
            for (i, &block) in stream.iter().enumerate() {
                assert_eq!(block, reference(7, first.wrapping_add(i as u128)), "{first:x} + {i}");
            }
        }
    }
}

#[test]
fn a_key_keeps_the_backend_it_was_made_on() {
    for backend in Backend::available() {
        let key = crate::with_backend(backend, || Aes128::new(3));
        assert_eq!(key.backend(), backend);
        let mut x = [5];
        key.encrypt(&mut x);
        assert_eq!(x, [reference(3, 5)]);
        assert_eq!(format!("{key:?}"), "Aes128(..)", "a key must not be printed");
    }
}

proptest! {
    #[test]
    fn backends_agree(key in block(), other in block(), x in blocks(), y in blocks()) {
        let len = x.len().min(y.len());
        let (x, y) = (&x[..len], &y[..len]);
        on_every_backend(|| {
            let mut outs = vec![vec![0; len]; 4];
            let cipher = Aes128::new(key);
            cipher.mmo(x, &mut outs[0]);
            cipher.tmmo(x, y, &mut outs[1]);
            cipher.ctr(other, &mut outs[2]);
            davies_meyer(x, y, &mut outs[3]);
            let mut children = vec![0; 2 * len];
            GgmPrg::new(key, other).expand(x, &mut children);
            (outs, children)
        });
    }
}
