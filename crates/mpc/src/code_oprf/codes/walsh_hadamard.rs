//! The Walsh-Hadamard code of KK13, for keys of 8 bits.

use vesica_party::{CostClass, Entry, Mode, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use super::linear::LinearCode;
use super::{Code, CodeKeys};
use crate::ot_extension;
use crate::tasks::{BatchPrfRequest, OneOfNOt};

const KEY_BITS: u32 = 8;

/// Bits of a code word: one for each of the `2^8` linear functions of a key.
const WIDTH: usize = 1 << KEY_BITS;

/// A code word has all linear functions of the key, of which half differ between any two keys.
pub struct WalshHadamard(LinearCode);

impl std::fmt::Debug for WalshHadamard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WalshHadamard")
    }
}

impl Code for WalshHadamard {
    type Row = [u128; 2];
    type Task = OneOfNOt;
    const ENTRY: Entry = Entry {
        id: "ot-kk13",
        aliases: &[],
        variants: &[],
        task: OneOfNOt::NAME,
        paper: Paper {
            key: "KK13",
            title: "Improved OT Extension for Transferring Short Secrets",
            reference: "V. Kolesnikov, R. Kumaresan, CRYPTO 2013, ePrint 2013/491",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "messages are random, and the sender makes those that it asks for",
            "keys of fewer than 8 bits are served by the code for 8",
            "the 256 OTs of keys are themselves extended from 128 (SoftSpokenOT)",
            "the correction travels row by row and not column by column",
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), ot_extension::ASSUMPTIONS, &[])],
    };

    fn width(request: &BatchPrfRequest) -> Result<usize, Unsupported> {
        if request.key_bits > KEY_BITS {
            return Err(Unsupported::new(
                format_args!("choices of {} bits by the Walsh-Hadamard code", request.key_bits),
                format_args!("ask for at most {KEY_BITS}, or split a choice"),
            ));
        }
        Ok(WIDTH)
    }

    fn new(_: &CodeKeys, request: &BatchPrfRequest) -> Result<Self, Unsupported> {
        let width = Self::width(request)?;
        // Column j is the linear function that sums the bits of the key that j names.
        let row = |bit: u32| -> [u128; 2] {
            std::array::from_fn(|q| (0..128).map(|j| ((128 * q as u128 + j) >> bit & 1) << j).sum())
        };
        Ok(Self(LinearCode::new(&(0..KEY_BITS).map(row).collect::<Vec<_>>(), width)))
    }

    fn words(&self, keys: &[u128], each: impl FnMut(usize, [u128; 2])) {
        self.0.words(keys.len(), |number, _| keys[number], each);
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    fn request(key_bits: u32) -> BatchPrfRequest {
        let security = Security::SemiHonest;
        BatchPrfRequest { instances: 1, key_bits, evaluations: 1, evaluations_in_all: 1, blocks: 1, security }
    }

    #[test]
    fn any_two_of_all_words_differ_in_128_places() {
        let mut words = Vec::new();
        let code = WalshHadamard::new(&[0; 4], &request(8)).unwrap();
        code.words(&(0..256).collect::<Vec<u128>>(), |_, word| words.push(word));
        for (i, one) in words.iter().enumerate() {
            for other in &words[..i] {
                assert_eq!((one[0] ^ other[0]).count_ones() + (one[1] ^ other[1]).count_ones(), 128);
            }
        }
        assert_eq!(words.len(), 256);
    }

    #[test]
    fn wider_keys_are_refused() {
        assert_eq!(WalshHadamard::width(&request(3)), Ok(256));
        assert!(WalshHadamard::width(&request(9)).is_err());
    }
}
