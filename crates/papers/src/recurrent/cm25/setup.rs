//! What the sender sends once, and keeps in its state.

use std::io;

use vesica_party::service::{StateError, StateReader, StateWriter};
use vesica_party::{Abort, Channel};
use vesica_structures::rlwe::bfv::{Poly, Scheme, Seed, Values};

use super::Params;
use super::messages::{Seeds, ServerKeys, Table};
use vesica_protocols::bfv::ciphertexts::{bytes_of_half, read_half, receive_half, receive_halves, send_half};

/// Bytes of the seeds that the sender sends first.
pub(super) const SEED_BYTES: usize = 16 + 32;

/// What the sender sends once (step 3): the first halves of ciphertexts under its key, numbered one
/// after the other.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The key of the hash functions.
    pub hash_key: u128,
    /// What the second halves come from.
    pub seed: Seed,
    /// The key for products: one for each digit.
    pub product: Vec<Poly<Values>>,
    /// An encryption of zero.
    pub public: Poly<Values>,
    /// The tables, block by block, limb by limb.
    pub cells: Vec<Poly<Values>>,
}

impl Setup {
    /// Halves of ciphertexts in it.
    pub(super) fn halves(params: &Params, scheme: &Scheme) -> usize {
        scheme.digits() + 1 + params.ciphertexts()
    }

    fn seeds(&self) -> [u8; SEED_BYTES] {
        let mut seeds = [0; SEED_BYTES];
        seeds[..16].copy_from_slice(&self.hash_key.to_le_bytes());
        seeds[16..].copy_from_slice(&self.seed.to_bytes());
        seeds
    }

    fn new(
        seeds: &[u8; SEED_BYTES],
        product: Vec<Poly<Values>>,
        public: Poly<Values>,
        cells: Vec<Poly<Values>>,
    ) -> Self {
        let (mut hash_key, mut seed) = ([0; 16], [0; 32]);
        hash_key.copy_from_slice(&seeds[..16]);
        seed.copy_from_slice(&seeds[16..]);
        Self { hash_key: u128::from_le_bytes(hash_key), seed: Seed::from_bytes(seed), product, public, cells }
    }

    /// Arrows 1 to 3.
    pub(super) fn send(&self, scheme: &Scheme, ch: &mut Channel) -> Result<(), Abort> {
        ch.send_stream::<Seeds>(&self.seeds())?;
        self.product.iter().chain([&self.public]).try_for_each(|half| send_half::<ServerKeys>(scheme, half, ch))?;
        self.cells.iter().try_for_each(|half| send_half::<Table>(scheme, half, ch))
    }

    /// The other end of [`send`](Self::send).
    pub(super) fn receive(params: &Params, scheme: &Scheme, ch: &mut Channel) -> Result<Self, Abort> {
        let mut seeds = [0; SEED_BYTES];
        ch.recv_stream::<Seeds>(&mut seeds)?;
        let product = receive_halves::<ServerKeys>(scheme, scheme.digits(), ch)?;
        let (_, public) = receive_half::<ServerKeys>(scheme, ch)?;
        let cells = receive_halves::<Table>(scheme, params.ciphertexts(), ch)?;
        Ok(Self::new(&seeds, product, public, cells))
    }

    /// Writes it to a state.
    pub(super) fn write(&self, scheme: &Scheme, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.seeds())?;
        let mut halves = self.product.iter().chain([&self.public]).chain(&self.cells);
        halves.try_for_each(|half| out.bytes(&bytes_of_half(scheme, half)))
    }

    /// Reads it from a state.
    pub(super) fn read(params: &Params, scheme: &Scheme, bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let seeds = bytes.array()?;
        let mut halves = |count: usize| -> Result<Vec<Poly<Values>>, StateError> {
            (0..count).map(|_| Ok(read_half(scheme, bytes)?.1)).collect()
        };
        let product = halves(scheme.digits())?;
        let public = halves(1)?.pop().ok_or(StateError::Damaged("it has no public key"))?;
        Ok(Self::new(&seeds, product, public, halves(params.ciphertexts())?))
    }
}
