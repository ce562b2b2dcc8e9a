//! The right column of the figure.

use std::io;

use vesica_party::service::{self, State, StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel, Phase, Stream};
use vesica_structures::hashing::Parts;
use vesica_structures::rlwe::bfv::{
    Ciphertext, Coefficients, Encryptor, NoiseExhausted, Plain, Poly, PublicKey, Scheme, SecretKey, Seed, Values,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::hashing::{Hashing, Place, limb};
use super::messages::{Answers, ClientKeys, Differences, MaskSeed, Masks, Seeds, ServerKey, Table};
use super::params::{ITEMS_AN_ENROLMENT, SEED_BYTES, SENT_PRIMES, half_bytes, scheme};
use super::server::{automorphisms, hide};
use crate::bfv::ciphertexts::{read_half, read_halves, read_key, receive_half, receive_short, send_half, send_short};
use crate::ecdh::{CHUNKS_IN_FLIGHT, ask};
use crate::recurrent::scramble::uniform;
use crate::recurrent::{check_items_asked, matches_of, read_params};
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput, SealedPayloads};

/// A client that holds the encrypted table of a server's set.
#[derive(Debug)]
pub struct Client {
    pub(super) params: Params,
    pub(super) key: SecretKey,
    /// Arrow 1.
    seeds: [u8; SEED_BYTES],
    /// Arrow 2.
    public: Vec<u8>,
    /// The server's public key.
    pub(super) server: PublicKey,
    /// Arrow 3.
    pub(super) table: Vec<u8>,
    /// Items asked about so far.
    pub(super) asked: u64,
}

/// `D` for each limb of an item, and the first halves of the encrypted masks.
type Question = (Vec<Ciphertext<Coefficients>>, Vec<Poly<Values>>);

impl service::Client for Client {
    type Params = Params;
    type Query = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn enrol(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let scheme = scheme();
        // Step 1.
        let mut seeds = [0; SEED_BYTES];
        ch.recv_stream::<Seeds>(&mut seeds)?;
        // Step 2.
        let (public, half) = receive_half::<ServerKey>(scheme, ch)?;
        let server = PublicKey::new(scheme, &cipher_seed(&seeds), 0, half);
        // Step 3.
        let mut table = Vec::new();
        for _ in 0..params.ciphertexts() {
            table.extend_from_slice(&receive_half::<Table>(scheme, ch)?.0);
        }
        let client = Self { params: *params, key: SecretKey::new(scheme, rng), seeds, public, server, table, asked: 0 };
        client.send_keys(ch, rng)?;
        Ok(client)
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn resume(&mut self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        self.send_keys(ch, rng)
    }

    fn check(&self, query: &IntersectReceiverInput) -> Result<(), Abort> {
        query.check(self.params.query_items)?;
        self.params.check_items(&query.items)?;
        check_items_asked(self.asked, self.params.query_items, ITEMS_AN_ENROLMENT)
    }

    fn query(
        &mut self,
        _: u64,
        query: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        self.check(&query)?;
        self.asked += self.params.query_items as u64;
        let _phase = ch.phase(Phase::Equality);
        let scheme = scheme();
        let items = Secret::new(query.items);
        let parts = Hashing::new(&self.params, self.hash_seed()).parts(&items);
        // Step 5. A fresh seed for each query: a state that is read twice repeats no ciphertext.
        let mut masks = self.key.encryptor(scheme, rng);
        if !parts.is_empty() {
            ch.send_stream::<MaskSeed>(&masks.seed().to_bytes())?;
        }
        let (mut found, mut unread) = (Secret::new(Vec::with_capacity(parts.len())), 0);
        let send = |&parts: &Parts, ch: &mut Channel| {
            let (differences, halves) = self.differences(parts, &mut masks, rng)?;
            // Steps 6 and 7.
            differences.iter().try_for_each(|difference| send_short::<Differences>(scheme, difference, ch))?;
            halves.iter().try_for_each(|half| send_half::<Masks>(scheme, half, ch))
        };
        let take = |(), ch: &mut Channel| {
            // Step 8.
            let answers: Result<Vec<_>, Abort> =
                (0..self.params.limbs()).map(|_| receive_short::<Answers>(scheme, SENT_PRIMES, ch)).collect();
            // Exhausted noise is no reason to stop: the server must not see by that what it said.
            let is_match = self.is_match(scheme, &answers?);
            unread += usize::from(is_match.is_err());
            found.push(is_match.unwrap_or(false));
            Ok(())
        };
        ask(CHUNKS_IN_FLIGHT, parts.iter(), ch, send, take)?;
        Ok(IntersectReceiverOutput { matches: matches_of(&found), payloads: SealedPayloads::default(), unread })
    }
}

fn cipher_seed(seeds: &[u8; SEED_BYTES]) -> Seed {
    let mut seed = [0; 32];
    seed.copy_from_slice(&seeds[16..]);
    Seed::from_bytes(seed)
}

impl Client {
    /// Whether so many queries may still be asked.
    pub fn has_left(&self, queries: u64) -> bool {
        let items = queries.saturating_mul(self.params.query_items as u64);
        self.asked.saturating_add(items) <= ITEMS_AN_ENROLMENT
    }

    pub(super) fn hash_seed(&self) -> u128 {
        let mut seed = [0; 16];
        seed.copy_from_slice(&self.seeds[..16]);
        u128::from_le_bytes(seed)
    }

    /// Step 4, with keys of which only the secret one is the same each time.
    fn send_keys(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let scheme = scheme();
        let mut keys = self.key.encryptor(scheme, rng);
        ch.send_stream::<ClientKeys>(&keys.seed().to_bytes())?;
        send_half::<ClientKeys>(scheme, &keys.public_key(rng), ch)?;
        for automorphism in automorphisms(scheme, &self.params).flatten() {
            for half in keys.galois_key(&automorphism, rng) {
                send_half::<ClientKeys>(scheme, &half, ch)?;
            }
        }
        Ok(())
    }

    /// The ciphertext of a limb of a group of the server's bins.
    fn ciphertext(&self, scheme: &Scheme, group: usize, limb: usize) -> Result<Ciphertext<Values>, Abort> {
        let index = group * self.params.limbs() + limb;
        let bytes = self.table.get(index * half_bytes()..(index + 1) * half_bytes());
        // All were read once, as they came.
        let half = bytes.and_then(|bytes| scheme.read_poly(bytes, scheme.all_primes()));
        let half = half.ok_or(Abort::PeerMisbehaved(Table::STEP, "a polynomial is malformed"))?;
        Ok(scheme.expand(&cipher_seed(&self.seeds), 1 + index as u64, half))
    }

    /// `D` for all limbs of an item, and the encrypted masks.
    pub(super) fn differences(
        &self,
        parts: Parts,
        masks: &mut Encryptor<'_>,
        rng: &mut SecretRng,
    ) -> Result<Question, Abort> {
        let (scheme, selections) = (scheme(), self.selections(scheme(), parts));
        let mut differences = Vec::with_capacity(self.params.limbs());
        let mut halves = Vec::with_capacity(self.params.limbs());
        for index in 0..self.params.limbs() {
            let (selected, mask) = self.select(scheme, &selections, index, rng)?;
            halves.push(masks.encrypt(&mask, rng));
            differences.push(hide(scheme, &self.server, selected, rng));
        }
        Ok((differences, halves))
    }

    /// For each hash function, the item's bin and what selects it, which serve all limbs.
    pub(super) fn selections(&self, scheme: &Scheme, parts: Parts) -> Vec<(Place, Secret<Poly<Values>>)> {
        let selection = |place: Place| {
            let mut selection = Secret::new(vec![0; scheme.slots()]);
            selection[place.slot] = 1;
            let selection = Secret::new(scheme.encode(&selection));
            (place, Secret::new(scheme.multiplier(&selection, scheme.all_primes())))
        };
        Hashing::new(&self.params, self.hash_seed()).places(parts).into_iter().map(selection).collect()
    }

    /// `D` of a limb before it is hidden, and its mask.
    pub(super) fn select(
        &self,
        scheme: &Scheme,
        selections: &[(Place, Secret<Poly<Values>>)],
        index: usize,
        rng: &mut SecretRng,
    ) -> Result<(Ciphertext<Values>, Secret<Plain>), Abort> {
        let mut mask = Secret::new(vec![0; scheme.slots()]);
        mask.iter_mut().for_each(|slot| *slot = uniform(rng));
        // What is not asked about becomes a dummy, 1, and what is asked about is compared.
        let t = scheme.plain_modulus();
        let mut added = Secret::new(mask.iter().map(|slot| slot + 1).collect::<Vec<u64>>());
        let mut products = Vec::with_capacity(selections.len());
        for (place, factor) in selections {
            products.push((self.ciphertext(scheme, place.group, index)?, factor));
            added[place.slot] += t - 1 - limb(place.right, index);
        }
        added.iter_mut().for_each(|slot| *slot = (*slot).min(slot.wrapping_sub(t)));
        let pairs: Vec<_> = products.iter().map(|(ciphertext, factor)| (ciphertext, &***factor)).collect();
        let mut selected = scheme.combine(&pairs);
        scheme.add_plain(&mut selected, &Secret::new(scheme.encode(&added)));
        Ok((selected, Secret::new(scheme.encode(&mask))))
    }

    /// Whether a slot is zero in all limbs. The work does not depend on the answer.
    ///
    /// # Errors
    /// If the noise of a ciphertext is exhausted.
    fn is_match(&self, scheme: &Scheme, answers: &[Ciphertext<Coefficients>]) -> Result<bool, NoiseExhausted> {
        let mut union = Secret::new(vec![0; scheme.slots()]);
        for answer in answers {
            let plain = scheme.decrypt(answer, &self.key)?;
            let slots = Secret::new(scheme.decode(&Secret::new(plain)));
            union.iter_mut().zip(&*slots).for_each(|(all, &slot)| *all |= slot);
        }
        Ok(union.iter().fold(false, |any, &slot| any | (slot == 0)))
    }
}

impl State for Client {
    const FORMAT: &'static str = "cm25-select client 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.params.to_words())?;
        out.u64(self.asked)?;
        out.bytes(&self.seeds)?;
        out.bytes(&self.key.to_bytes(scheme()))?;
        out.bytes(&self.public)?;
        out.bytes(&self.table)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let params = read_params(bytes, Params::from_words)?;
        let asked = bytes.u64()?;
        if asked > ITEMS_AN_ENROLMENT {
            return Err(StateError::Damaged("it has asked more than a client may"));
        }
        let seeds = bytes.array()?;
        let key = read_key(scheme(), bytes)?;
        let (public, half) = read_half(scheme(), bytes)?;
        let server = PublicKey::new(scheme(), &cipher_seed(&seeds), 0, half);
        let table = read_halves(scheme(), params.ciphertexts(), bytes)?;
        Ok(Self { params, key, seeds, public, server, table, asked })
    }
}
