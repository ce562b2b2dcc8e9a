//! Elements of F_3 ("trits") in lanes, their sums, and their form in messages.

use vesica_kernels::aes::Aes128;
use zeroize::Zeroize;

use super::batch::{STRIPES, WORDS};

/// A trit in each lane of a stripe: which of them are one, and which are two.
pub(super) type Trits = [[u64; WORDS]; 2];

/// A stripe of zeros.
pub(super) const ZERO: Trits = [[0; WORDS]; 2];

/// Five trits make a number below this, which a byte holds.
pub(super) const NUMBERS: u8 = 243;

/// Sums lane by lane.
#[inline(always)]
pub(super) fn sum([a1, a2]: &Trits, [b1, b2]: &Trits) -> Trits {
    let mut sums = ZERO;
    for word in 0..WORDS {
        let differ = (a1[word] | b2[word]) ^ (a2[word] | b1[word]);
        sums[0][word] = (a2[word] | b2[word]) ^ differ;
        sums[1][word] = (a1[word] | b1[word]) ^ differ;
    }
    sums
}

/// The negatives, lane by lane.
pub(super) fn negated(&[ones, twos]: &Trits) -> Trits {
    [twos, ones]
}

/// The trits where `mask` has ones, zeros elsewhere.
pub(super) fn masked(trits: &Trits, mask: u64) -> Trits {
    trits.map(|plane| plane.map(|word| word & mask))
}

/// The lowest bit of each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Eight bits as eight bytes.
fn spread(bits: u8) -> u64 {
    // Byte i keeps bit i, which is then moved to the byte's lowest place.
    let kept = u64::from(bits).wrapping_mul(LOWEST) & 0x8040_2010_0804_0201;
    (kept + 0x7f * LOWEST) >> 7 & LOWEST
}

/// The lowest bits of eight bytes as one byte.
fn gathered(bytes: u64) -> u64 {
    ((bytes & LOWEST).wrapping_mul(0x0102_0408_1020_4080)) >> 56
}

/// Writes a number for each lane of the first words of a stripe: its trits in all stripes are the
/// number's digits, the first stripe's the lowest one.
pub(super) fn pack(stripes: &[Trits; STRIPES], numbers: &mut [u8]) {
    for (word, numbers) in numbers.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        for (eight, numbers) in numbers.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let digits = stripes.iter().rev().fold(0, |digits, [ones, twos]| {
                let [ones, twos] = [ones, twos].map(|plane| spread((plane[word] >> (8 * eight)) as u8));
                // No byte exceeds 242.
                3 * digits + ones + 2 * twos
            });
            *numbers = digits.to_le_bytes();
        }
    }
}

/// What [`pack`] packed. The numbers are below 243; their lanes fill whole words, and other words
/// are zero.
pub(super) fn unpack(numbers: &[u8]) -> [Trits; STRIPES] {
    let mut stripes = [ZERO; STRIPES];
    for (word, numbers) in numbers.as_chunks::<64>().0.iter().enumerate() {
        let (mut rest, mut digits) = (*numbers, [0; 64]);
        for stripe in &mut stripes {
            for (digit, rest) in digits.iter_mut().zip(&mut rest) {
                // A third, rounded down, of any number below 512.
                let third = ((u16::from(*rest) * 171) >> 9) as u8;
                *digit = *rest - 3 * third;
                *rest = third;
            }
            for (eight, digits) in digits.as_chunks::<8>().0.iter().enumerate() {
                let digits = u64::from_le_bytes(*digits);
                stripe[0][word] |= gathered(digits) << (8 * eight);
                stripe[1][word] |= gathered(digits >> 1) << (8 * eight);
            }
        }
        rest.zeroize();
        digits.zeroize();
    }
    stripes
}

/// Uniform trits in the first `words` words of each stripe: numbers below 243 among the bytes of
/// AES under `key`, from the counter `first` on, of which fewer than 2^32 are used. Other bytes are
/// passed over without a branch for each; how many there are, which the number of draws shows, says nothing
/// of those that are taken.
pub(super) fn random(key: u128, first: u128, words: usize) -> [Trits; STRIPES] {
    /// Blocks that nearly always have enough such bytes for a full batch: 19 of 20 bytes are.
    const BLOCKS: usize = 9 * WORDS / 2;
    let (mut blocks, mut numbers) = ([0u128; BLOCKS], [0; 64 * WORDS + 16 * BLOCKS]);
    let (stream, drawn) = (Aes128::new(key), (9 * words).div_ceil(2));
    let (mut taken, mut counter) = (0, first);
    while taken < 64 * words {
        let blocks = &mut blocks[..drawn];
        stream.ctr(counter, blocks);
        counter += drawn as u128;
        for &byte in bytemuck::cast_slice::<_, u8>(blocks) {
            numbers[taken] = byte;
            taken += usize::from(byte < NUMBERS);
        }
    }
    let stripes = unpack(&numbers[..64 * words]);
    blocks.zeroize();
    numbers.zeroize();
    stripes
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn trit([ones, twos]: &Trits, lane: usize) -> u8 {
        let [one, two] = [ones, twos].map(|plane| (plane[lane / 64] >> (lane % 64) & 1) as u8);
        assert!(one & two == 0, "a trit is one or two");
        one + 2 * two
    }

    /// A stripe of such trits, from the first lane on.
    pub fn stripe(trits: impl IntoIterator<Item = u8>) -> Trits {
        let mut stripe = ZERO;
        for (lane, trit) in trits.into_iter().enumerate().filter(|&(_, trit)| trit > 0) {
            stripe[usize::from(trit) - 1][lane / 64] |= 1 << (lane % 64);
        }
        stripe
    }

    #[test]
    fn sums_and_negatives_of_all_trits() {
        let [a, b] = [stripe((0..9).map(|i| i / 3)), stripe((0..9).map(|i| i % 3))];
        let (sums, negatives) = (sum(&a, &b), negated(&a));
        for i in 0..9u8 {
            assert_eq!(trit(&sums, i.into()), (i / 3 + i % 3) % 3);
            assert_eq!(trit(&negatives, i.into()), (3 - i / 3) % 3);
        }
        assert_eq!((masked(&a, u64::MAX), masked(&a, 0)), (a, ZERO));
    }

    #[test]
    fn every_number_is_packed_and_unpacked() {
        for words in 1..=WORDS {
            let numbers: Vec<u8> = (0..64 * words).map(|lane| (lane * 5 % 243) as u8).collect();
            let stripes = unpack(&numbers);
            for (lane, &number) in numbers.iter().enumerate() {
                let digits = stripes.iter().rev().fold(0, |digits, stripe| 3 * digits + trit(stripe, lane));
                assert_eq!(digits, number);
            }
            let mut packed = vec![0; numbers.len()];
            pack(&stripes, &mut packed);
            assert_eq!(packed, numbers);
            assert!(stripes.iter().flatten().all(|plane| plane[words..].iter().all(|&word| word == 0)));
        }
    }

    #[test]
    fn random_trits_are_uniform_in_every_stripe() {
        let mut counts = [[0u32; 3]; STRIPES];
        for batch in 0..20 {
            let stripes = random(5, batch << 32, WORDS);
            assert_eq!(stripes, random(5, batch << 32, WORDS), "both sides get the same");
            for (stripe, counts) in stripes.iter().zip(&mut counts) {
                (0..64 * WORDS).for_each(|lane| counts[usize::from(trit(stripe, lane))] += 1);
            }
        }
        let expected = 20.0 * 64.0 * WORDS as f64 / 3.0;
        for counts in counts {
            // Two degrees of freedom: 56 is passed once in 2^40 runs.
            let square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
            assert!(square < 56.0, "{counts:?}");
        }
        let differ = [random(6, 0, WORDS), random(5, 1 << 32, WORDS)];
        assert!(differ.iter().all(|other| *other != random(5, 0, WORDS)));
        // Fewer words are not the first ones of more.
        assert!(random(5, 0, 1).iter().flatten().all(|plane| plane[1..] == [0; WORDS - 1]));
    }
}
