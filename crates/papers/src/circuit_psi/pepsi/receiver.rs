//! The right column of the figure.

use vesica_mpc::peqt;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::fields::Gf64;
use vesica_structures::packing::{packed_len, unpack};
use vesica_structures::rlwe::bfv::SecretKey;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Parts;
use super::codewords::{Codeword, Codewords, columns};
use super::equality::{INVERSE, PLAIN};
use super::messages::{Answers, Corrections, Keys, Question};
use super::params::{LIMB_BYTES, SHARE_BITS};
use vesica_protocols::bfv::ciphertexts::{exhausted, receive_short, send_half};
use vesica_protocols::bfv::keys;
use vesica_protocols::circuit_psi::bins::Hashes;
use vesica_protocols::circuit_psi::matching::{place, receive_salt, unmatched};
use vesica_protocols::circuit_psi::{Asked, Matched, Params};

/// Columns of codewords that are written out at a time.
const COLUMNS_AT_A_TIME: usize = 16;

/// The receiver, set up. Empty where a set is.
pub struct Receiver {
    pub(super) params: Params<Parts>,
    pub(super) parts: Option<(Hashes, peqt::Receiver, SecretKey)>,
}

/// What the receiver decrypts, added up over the copies of its table.
struct Decrypted {
    /// For each bin, the receiver's share of the match.
    shares: Secret<Vec<u64>>,
    /// For each bin and limb, the limb under the sender's mask, or something random.
    limbs: Secret<Vec<u64>>,
}

impl Receiver {
    /// Steps 1 and 4, and all that needs no input.
    pub(super) fn setup(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((parts, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = receive_salt(params, ch)?;
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Receiver::setup(peqt, ch, rng)?;
        drop(phase);
        // Step 4.
        let scheme = &parts.form.ring().scheme;
        let key = SecretKey::new(scheme, rng);
        keys::send::<Keys>(scheme, &key, ch, rng)?;
        Ok(Self { params: params.clone(), parts: Some((hashes, peqt, key)) })
    }

    /// Steps 2 and 5 to 8.
    pub(super) fn run(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        let Self { params, parts } = self;
        let (Some((hashes, peqt, key)), Some((parts, _))) = (parts, &params.parts) else {
            return Ok(unmatched(&params));
        };
        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let (items, asked) = place(&hashes, items, params.bins)?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        ask(params.bins, parts, &asked, &key, ch, rng)?;
        let decrypted = decrypt(params.bins, parts, &key, ch)?;
        drop(phase);
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        let mut bytes = vec![0; packed_len(params.bins, SHARE_BITS)];
        ch.recv_stream::<Corrections>(&mut bytes)?;
        let mut corrections = vec![Gf64(0); params.bins];
        unpack(&bytes, SHARE_BITS, &mut corrections).ok_or(Abort::PeerMisbehaved(Corrections::STEP, "stray bits"))?;
        let compared = decrypted.shares.iter().zip(&corrections).map(|(share, correction)| share ^ correction.0);
        let compared = Secret::new(compared.collect::<Vec<u64>>());
        let carried = joined(&decrypted.limbs, parts.limbs, params.carried_bytes);
        Ok(Matched { items, membership: peqt.test(&compared, ch)?, carried })
    }
}

/// Step 5.
fn ask(
    bins: usize,
    parts: &Parts,
    asked: &Asked,
    key: &SecretKey,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let scheme = &parts.form.ring().scheme;
    let own = Codewords::new(parts.item_bits).all(&asked.keys);
    let mut in_bins: Secret<Vec<Option<u32>>> = Secret::new(vec![None; bins]);
    asked.bins.iter().zip(0..).for_each(|(&bin, number)| in_bins[bin as usize] = Some(number));
    let mut encryptor = key.encryptor(scheme, rng);
    ch.send_stream::<Question>(&encryptor.seed().to_bytes())?;
    for batch in 0..parts.batches {
        let codeword = |slot: usize| -> Option<&Codeword> {
            let (bin, _) = parts.place(bins, batch, slot)?;
            own.get(in_bins[bin]? as usize)
        };
        for first in (0..parts.codeword_bits).step_by(COLUMNS_AT_A_TIME) {
            let count = COLUMNS_AT_A_TIME.min(parts.codeword_bits - first);
            for column in columns(first, count, scheme.slots(), codeword) {
                let plain = Secret::new(scheme.encode(&column));
                send_half::<Question>(scheme, &encryptor.encrypt(&plain, rng), ch)?;
            }
        }
    }
    Ok(())
}

/// Step 7. Shares and limbs of the copies of a bin are added up.
fn decrypt(bins: usize, parts: &Parts, key: &SecretKey, ch: &mut Channel) -> Result<Decrypted, Abort> {
    let ring = parts.form.ring();
    let mut sums = Decrypted { shares: Secret::new(vec![0; bins]), limbs: Secret::new(vec![0; bins * parts.limbs]) };
    for batch in 0..parts.batches {
        for number in 0..=parts.limbs {
            let answer = receive_short::<Answers>(&ring.scheme, ring.sent_primes, ch)?;
            let plain = Secret::new(ring.scheme.decrypt(&answer, key).map_err(|_| exhausted::<Answers>())?);
            let slots = Secret::new(ring.scheme.decode(&plain));
            for (slot, &value) in slots.iter().enumerate() {
                let Some((bin, _)) = parts.place(bins, batch, slot) else { continue };
                match number.checked_sub(1) {
                    None => sums.shares[bin] = (sums.shares[bin] + value * INVERSE) % PLAIN,
                    Some(limb) => {
                        let sum = &mut sums.limbs[bin * parts.limbs + limb];
                        *sum = (*sum + value) % PLAIN;
                    }
                }
            }
        }
    }
    Ok(sums)
}

/// The bytes of limbs, bin by bin.
fn joined(limbs: &[u64], limbs_per_bin: usize, bytes_per_bin: usize) -> Secret<Vec<u8>> {
    let mut carried = Secret::new(Vec::with_capacity(limbs.len() * LIMB_BYTES));
    for limbs in limbs.chunks(limbs_per_bin.max(1)) {
        for (number, limb) in limbs.iter().enumerate() {
            let bytes = LIMB_BYTES.min(bytes_per_bin - number * LIMB_BYTES);
            carried.extend_from_slice(&limb.to_le_bytes()[..bytes]);
        }
    }
    carried
}
