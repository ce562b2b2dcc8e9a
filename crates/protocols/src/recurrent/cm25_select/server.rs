//! The left column of the figure.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rlwe::bfv::{
    Automorphism, Ciphertext, Coefficients, GaloisKey, PublicKey, Scheme, SecretKey, Seed, Values, Workspace,
};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::hashing::{Hashing, slots};
use super::messages::{Answers, ClientKeys, Differences, MaskSeed, Masks, Seeds, ServerKey, Table};
use super::params::{
    CHOICES, CLIENT_SEED_BYTES, FLOOD_BITS, ITEMS_OF_A_SET, SEED_BYTES, SENT_PRIMES, half_bytes, scheme,
};
use crate::bfv::ciphertexts::{
    bytes_of_half, exhausted, read_half, read_halves, read_key, receive_half, receive_halves, receive_seed,
    receive_short, send_short,
};
use crate::recurrent::scramble::Scramble;
use crate::recurrent::{count_answered, read_params};
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    pub(super) key: SecretKey,
    /// Arrow 1.
    seeds: [u8; SEED_BYTES],
    /// Arrow 2.
    public: Vec<u8>,
    /// Arrow 3.
    table: Vec<u8>,
    /// Items answered, of all clients.
    pub(super) answered: AtomicU64,
}

/// What the server keeps of a client on one connection.
#[derive(Debug)]
pub struct Session {
    pub(super) public: PublicKey,
    /// For each move, the keys among which its digit chooses.
    moves: Vec<[GaloisKey; CHOICES]>,
    workspace: Workspace,
}

/// The automorphisms that a client has keys for, by moves. The digits of base 4 of a number say by how
/// many times the number of classes the rows are rotated; the last one has only a bit of it, and says
/// by its other bit whether the rows are exchanged.
pub(super) fn automorphisms<'a>(
    scheme: &'a Scheme,
    params: &Params,
) -> impl Iterator<Item = [Automorphism; CHOICES]> + use<'a> {
    let (classes, moves) = (params.tables.classes, params.moves());
    (0..moves).map(move |digit| {
        let unit = classes << (2 * digit);
        if digit + 1 < moves {
            return [1, 2, 3].map(|times| Automorphism::rotation(scheme, times * unit));
        }
        let (rotation, swap) = (Automorphism::rotation(scheme, unit), Automorphism::swap(scheme));
        let both = rotation.and(scheme, &swap);
        [rotation, swap, both]
    })
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = Session;
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        // Fewer items leave more bins empty, which are encrypted like the others.
        set.check(set.items.len().min(params.set_items), 0)?;
        params.check_items(&set.items)?;
        let (scheme, hash_seed) = (scheme(), rng.block());
        let table = Hashing::new(params, hash_seed).table(&set.items)?;
        let key = SecretKey::new(scheme, rng);
        let mut encryptor = key.encryptor(scheme, rng);
        let mut seeds = [0; SEED_BYTES];
        seeds[..16].copy_from_slice(&hash_seed.to_le_bytes());
        seeds[16..].copy_from_slice(&encryptor.seed().to_bytes());
        let public = bytes_of_half(scheme, &encryptor.public_key(rng));
        let mut encrypted = Vec::with_capacity(params.ciphertexts() * half_bytes());
        for group in 0..params.groups() {
            for limb in 0..params.limbs() {
                let slots = Secret::new(slots(&table, params.tables.bins, group, limb));
                let plain = Secret::new(scheme.encode(&slots));
                scheme.write_poly(&encryptor.encrypt(&plain, rng), &mut encrypted);
            }
        }
        let id = StateId::random(rng);
        Ok(Self { id, params: *params, key, seeds, public, table: encrypted, answered: AtomicU64::new(0) })
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn admit(
        &self,
        _: &ClientIdentity,
        standing: Standing,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Session, Abort> {
        if standing != Standing::Current {
            // Steps 1 to 3.
            ch.send_stream::<Seeds>(&self.seeds)?;
            ch.send_stream::<ServerKey>(&self.public)?;
            self.table.chunks(half_bytes()).try_for_each(|half| ch.send_stream::<Table>(half))?;
        }
        // Step 4.
        let scheme = scheme();
        let seed = receive_seed::<ClientKeys>(ch)?;
        let (_, half) = receive_half::<ClientKeys>(scheme, ch)?;
        let public = PublicKey::new(scheme, &seed, 0, half);
        let mut number = 1;
        let mut moves = Vec::with_capacity(self.params.moves() as usize);
        for automorphisms in automorphisms(scheme, &self.params) {
            let mut key = |automorphism| {
                let halves = receive_halves::<ClientKeys>(scheme, scheme.digits(), ch)?;
                let key = GaloisKey::new(scheme, automorphism, &seed, number, halves);
                number += scheme.digits() as u64;
                Ok::<_, Abort>(key)
            };
            let [first, second, third] = automorphisms;
            moves.push([key(first)?, key(second)?, key(third)?]);
        }
        Ok(Session { public, moves, workspace: Workspace::default() })
    }

    fn answer(
        &self,
        session: &mut Session,
        _: Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let _phase = ch.phase(Phase::Equality);
        count_answered(&self.answered, self.params.query_items, ITEMS_OF_A_SET)?;
        let (scheme, limbs) = (scheme(), self.params.limbs());
        // Step 5.
        let mut seed = [0; CLIENT_SEED_BYTES];
        if self.params.query_items > 0 {
            ch.recv_stream::<MaskSeed>(&mut seed)?;
        }
        let seed = Seed::from_bytes(seed);
        for item in 0..self.params.query_items {
            // Steps 6 and 7.
            let differences: Result<Vec<_>, Abort> =
                (0..limbs).map(|_| receive_short::<Differences>(scheme, SENT_PRIMES, ch)).collect();
            let masks: Result<Vec<_>, Abort> = (0..limbs)
                .map(|limb| {
                    let (_, half) = receive_half::<Masks>(scheme, ch)?;
                    Ok(scheme.expand(&seed, (item * limbs + limb) as u64, half))
                })
                .collect();
            // Step 8.
            let (differences, masks) = (differences?, masks?);
            for answer in self.compare(session, &differences, masks, rng)? {
                send_short::<Answers>(scheme, &hide(scheme, &session.public, answer, rng), ch)?;
            }
        }
        Ok(IntersectSenderOutput { matches: None })
    }
}

impl Server {
    /// Counts at least so many items as answered: a state that was read may say fewer than were, if
    /// somebody has counted on since it was written.
    pub fn raise_answered(&self, items: u64) {
        self.answered.fetch_max(items, Ordering::Relaxed);
    }

    /// `E` for all limbs of an item, before it is hidden.
    pub(super) fn compare(
        &self,
        session: &mut Session,
        differences: &[Ciphertext<Coefficients>],
        mut masks: Vec<Ciphertext<Values>>,
        rng: &mut SecretRng,
    ) -> Result<Vec<Ciphertext<Values>>, Abort> {
        let scheme = scheme();
        for (difference, mask) in differences.iter().zip(&mut masks) {
            let plain = scheme.decrypt(difference, &self.key).map_err(|_| exhausted::<Differences>())?;
            scheme.subtract_plain(mask, &Secret::new(plain));
        }
        let scrambled = Scramble::new(scheme, masks.len(), scheme.all_primes(), rng).apply(scheme, &masks);
        Ok(session.shuffle(scheme, scrambled, rng))
    }
}

impl Session {
    /// Rotates the rows by a random multiple of the number of classes, and exchanges them or not: each
    /// slot comes to any place of its class with the same probability. The work is the same for every
    /// number.
    pub(super) fn shuffle(
        &mut self,
        scheme: &Scheme,
        mut limbs: Vec<Ciphertext<Values>>,
        rng: &mut SecretRng,
    ) -> Vec<Ciphertext<Values>> {
        let draw = Secret::new(rng.next_u32());
        self.shuffle_by(scheme, &mut limbs, &draw);
        limbs
    }

    /// Moves slots by the lowest bits of a number: two bits a move.
    pub(super) fn shuffle_by(&mut self, scheme: &Scheme, limbs: &mut [Ciphertext<Values>], draw: &Secret<u32>) {
        let digits =
            Secret::new((0..self.moves.len()).map(|digit| (**draw >> (2 * digit) & 3) as usize).collect::<Vec<_>>());
        scheme.apply_chosen(limbs, &self.moves, &digits, &mut self.workspace);
    }
}

/// What travels of a ciphertext to who decrypts it.
pub(super) fn hide(
    scheme: &Scheme,
    key: &PublicKey,
    ciphertext: Ciphertext<Values>,
    rng: &mut SecretRng,
) -> Ciphertext<Coefficients> {
    let mut hidden = drown(scheme, key, ciphertext, rng);
    scheme.switch_down(&mut hidden, SENT_PRIMES);
    hidden
}

/// Adds a fresh encryption of zero and drowns the noise.
pub(super) fn drown(
    scheme: &Scheme,
    key: &PublicKey,
    mut ciphertext: Ciphertext<Values>,
    rng: &mut SecretRng,
) -> Ciphertext<Coefficients> {
    scheme.add(&mut ciphertext, &key.zero(scheme, rng));
    let mut drowned = scheme.ciphertext_coefficients(ciphertext);
    scheme.flood(&mut drowned, FLOOD_BITS, rng);
    drowned
}

impl State for Server {
    const FORMAT: &'static str = "cm25-select server 2";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.u64(self.answered.load(Ordering::Relaxed))?;
        out.bytes(&self.seeds)?;
        out.bytes(&self.key.to_bytes(scheme()))?;
        out.bytes(&self.public)?;
        out.bytes(&self.table)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let answered = bytes.u64()?;
        if answered > ITEMS_OF_A_SET {
            return Err(StateError::Damaged("it has answered more than a set may"));
        }
        let answered = AtomicU64::new(answered);
        let seeds = bytes.array()?;
        let key = read_key(scheme(), bytes)?;
        let (public, _) = read_half(scheme(), bytes)?;
        let table = read_halves(scheme(), params.ciphertexts(), bytes)?;
        Ok(Self { id, params, key, seeds, public, table, answered })
    }
}
