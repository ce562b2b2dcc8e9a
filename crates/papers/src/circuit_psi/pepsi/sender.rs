//! The left column of the figure.

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::Gf64;
use vesica_structures::packing::pack;
use vesica_structures::rlwe::bfv::{Ciphertext, Coefficients, PublicKey, SwitchKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Parts;
use super::equality::{INVERSE, PLAIN};
use super::messages::{Answers, Corrections, Keys, Question};
use super::params::{LIMB_BYTES, SHARE_BITS};
use super::rows::Rows;
use vesica_protocols::bfv::ciphertexts::{receive_halves, receive_seed, send_short};
use vesica_protocols::bfv::keys;
use vesica_protocols::bfv::{hide, residue};
use vesica_protocols::circuit_psi::bins::Hashes;
use vesica_protocols::circuit_psi::matching::send_salt;
use vesica_protocols::circuit_psi::{Carry, Params};

/// The sender, set up. Empty where a set is.
pub struct Sender {
    pub(super) params: Params<Parts>,
    pub(super) parts: Option<(Hashes, peqt::Sender, ReceiverKeys)>,
}

/// Arrow 4.
pub(super) struct ReceiverKeys {
    pub public: PublicKey,
    pub product: SwitchKey,
}

/// What the sender's ciphertexts are masked by.
pub(super) struct Masks {
    /// For each slot of each batch, a residue: minus the sender's share of the match, times `16!`.
    pub matches: Secret<Vec<u64>>,
    /// For each limb of each bin, the number that a bin without a match gives.
    pub unmatched: Secret<Vec<u64>>,
    /// For each slot of each batch and each limb, a residue: those of a bin add up to its `unmatched`.
    pub limbs: Secret<Vec<u64>>,
}

/// The limb of this number of a payload, lowest byte first.
pub(super) fn limb(payload: &[u8], number: usize) -> u64 {
    let bytes = payload.chunks(LIMB_BYTES).nth(number).unwrap_or(&[]);
    bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))
}

impl Masks {
    pub fn new(params: &Params<Parts>, parts: &Parts, rng: &mut SecretRng) -> Self {
        let slots = parts.batches * parts.form.ring().scheme.slots();
        let residues = |count: usize, rng: &mut SecretRng| {
            Secret::new((0..count).map(|_| residue(PLAIN, rng)).collect::<Vec<_>>())
        };
        let matches = residues(slots, rng);
        let mut limbs = residues(slots * parts.limbs, rng);
        // As wide as what a match gives: the last limb may be a single byte.
        let mut bytes = Secret::new(vec![0; params.carried_bytes]);
        let mut unmatched = Secret::new(Vec::with_capacity(params.bins * parts.limbs));
        for bin in 0..params.bins {
            rng.fill_bytes(&mut bytes);
            unmatched.extend((0..parts.limbs).map(|number| limb(&bytes, number)));
            for number in 0..parts.limbs {
                let place = |replica: usize| (replica * params.bins + bin) * parts.limbs + number;
                let others: u64 = (1..parts.replicas).map(|replica| limbs[place(replica)]).sum();
                limbs[place(0)] = (unmatched[bin * parts.limbs + number] + PLAIN - others % PLAIN) % PLAIN;
            }
        }
        Self { matches, unmatched, limbs }
    }

    /// The sender's shares of the matches, plus one: what the receiver's shares are equal to where there
    /// is a match.
    pub fn targets(&self, bins: usize, replicas: usize) -> Secret<Vec<u64>> {
        let sum = |bin: usize| (0..replicas).map(|replica| self.matches[replica * bins + bin]).sum::<u64>() % PLAIN;
        Secret::new((0..bins).map(|bin| (sum(bin) * INVERSE + 1) % PLAIN).collect())
    }
}

impl Sender {
    /// Steps 1 and 4, and all that needs no input.
    pub(super) fn setup(params: &Params<Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((parts, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = send_salt(params, ch, rng)?;
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Sender::setup(peqt, ch, rng)?;
        drop(phase);
        // Step 4.
        let (public, product) = keys::receive::<Keys>(&parts.form.ring().scheme, ch)?;
        let keys = ReceiverKeys { public, product };
        Ok(Self { params: params.clone(), parts: Some((hashes, peqt, keys)) })
    }

    /// Steps 3 and 5 to 8: shares of membership.
    pub(super) fn run(
        self,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let Self { params, parts } = self;
        let (Some((hashes, peqt, keys)), Some((parts, _))) = (parts, &params.parts) else {
            return Ok(Bits::zeros(params.bins));
        };
        // Step 3.
        let phase = ch.phase(Phase::HashItems);
        let rows = Rows::new(&params, parts, &hashes, items, carry)?;
        drop(phase);
        let phase = ch.phase(Phase::Match);
        let hidden = Masks::new(&params, parts, rng);
        let scheme = &parts.form.ring().scheme;
        // Step 5. All questions come before the first answer: neither side waits for the other to read.
        let seed = receive_seed::<Question>(ch)?;
        let mut answers = Vec::with_capacity(parts.answers());
        for batch in 0..parts.batches {
            let first = (batch * parts.codeword_bits) as u64;
            let halves = receive_halves::<Question>(scheme, parts.codeword_bits, ch)?;
            let bits: Vec<_> =
                halves.into_iter().zip(first..).map(|(half, number)| scheme.expand(&seed, number, half)).collect();
            // Step 6.
            let sums = rows.sums(batch, &bits, &keys.product, &hidden);
            answers.extend(masked(parts, batch, sums, &hidden).into_iter().map(|sum| finish(parts, &keys, sum, rng)));
        }
        // Step 7.
        answers.iter().try_for_each(|answer| send_short::<Answers>(scheme, answer, ch))?;
        drop(phase);
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        let targets = hidden.targets(params.bins, parts.replicas);
        let corrections: Vec<_> = targets.iter().zip(peqt.values()).map(|(target, r)| Gf64(target ^ r)).collect();
        let mut bytes = Vec::new();
        pack(&corrections, SHARE_BITS, &mut bytes);
        ch.send_stream::<Corrections>(&bytes)?;
        peqt.test(ch)
    }
}

/// Step 6: the sums of a batch, plus their masks.
pub(super) fn masked(
    parts: &Parts,
    batch: usize,
    mut sums: Vec<Ciphertext<Values>>,
    masks: &Masks,
) -> Vec<Ciphertext<Values>> {
    let scheme = &parts.form.ring().scheme;
    let places = batch * scheme.slots()..(batch + 1) * scheme.slots();
    for (number, sum) in sums.iter_mut().enumerate() {
        let mask: Secret<Vec<u64>> = Secret::new(match number.checked_sub(1) {
            None => masks.matches[places.clone()].to_vec(),
            Some(limb) => places.clone().map(|place| masks.limbs[place * parts.limbs + limb]).collect(),
        });
        scheme.add_plain(sum, &Secret::new(scheme.encode(&mask)));
    }
    sums
}

/// What travels of a masked sum.
fn finish(
    parts: &Parts,
    keys: &ReceiverKeys,
    sum: Ciphertext<Values>,
    rng: &mut SecretRng,
) -> Ciphertext<Coefficients> {
    let ring = parts.form.ring();
    hide(ring, &keys.public, &kept(parts, sum), rng)
}

/// A sum with the kept primes.
pub(super) fn kept(parts: &Parts, sum: Ciphertext<Values>) -> Ciphertext<Coefficients> {
    let ring = parts.form.ring();
    let mut kept = ring.scheme.ciphertext_coefficients(sum);
    ring.scheme.switch_down(&mut kept, ring.kept_primes);
    kept
}
