//! Labels: a payload under the keystream of its item, as numbers that polynomials take at the item's
//! limbs.

use vesica_structures::fields::Gf64;
use vesica_structures::packing::{pack, packed_len, unpack};

use super::ring::LIMB_BITS;

/// The point at which a free place has its value, by its number in the part: no limb of any item.
pub fn no_limb(place: u64) -> u64 {
    (1 << LIMB_BITS) + place
}

/// Cuts the bytes of a sealed payload into as many limbs as `out` has room for. Those that are beyond the
/// bytes are zero.
pub fn to_limbs(sealed: &[u8], out: &mut [u32]) {
    let mut bytes = vec![0; packed_len(out.len(), LIMB_BITS)];
    bytes[..sealed.len()].copy_from_slice(sealed);
    let mut limbs = vec![Gf64::default(); out.len()];
    // Bits behind the last limb are behind the last byte: there are at least as many bits as the payload has.
    let _is_clean = unpack(&bytes, LIMB_BITS, &mut limbs);
    out.iter_mut().zip(&limbs).for_each(|(out, limb)| *out = limb.0 as u32);
}

/// The bytes that [`to_limbs`] cut, of which `sealed` has room for. Of a number that is no limb, it takes
/// the low bits.
pub fn from_limbs(limbs: &[Gf64], sealed: &mut [u8]) {
    let mut bytes = Vec::new();
    pack(limbs, LIMB_BITS, &mut bytes);
    sealed.copy_from_slice(&bytes[..sealed.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_come_back_from_their_limbs() {
        for (bytes, limbs) in [(1, 1), (2, 1), (16, 8), (17, 8), (17, 12), (100, 48), (1024, 482)] {
            let payload: Vec<u8> = (0..bytes).map(|i| (i * 37 + 255) as u8).collect();
            let mut cut = vec![u32::MAX; limbs];
            to_limbs(&payload, &mut cut);
            assert!(cut.iter().all(|&limb| limb < 1 << LIMB_BITS));
            let limbs: Vec<Gf64> = cut.iter().map(|&limb| Gf64(limb.into())).collect();
            let mut found = vec![0; bytes];
            from_limbs(&limbs, &mut found);
            assert_eq!(found, payload);
        }
    }
}
