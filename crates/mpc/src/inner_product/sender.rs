//! The left column of the figure: encrypts its vector.

use rand_core::Rng;
use rayon::prelude::*;
use vesica_party::{Abort, Channel, Message, Party};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blocks, Key, Reply};
use super::params::DEGREE;
use super::ring::{Prime, Ring};
use super::sampling::{Small, error, ternary};
use super::{NAME, Params};
use crate::binding::Binding;
use crate::tasks::{RingVector, Shares};

/// Blocks that are encrypted side by side.
pub(super) const BLOCKS_PER_MESSAGE: usize = 8;

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// None where there is nothing to do.
    key: Option<SecretKey>,
}

/// What decrypts.
pub(super) struct SecretKey {
    pub ring: Ring,
    seed: Binding,
    /// The values of `s` modulo each prime.
    s: Vec<Secret<Vec<u64>>>,
}

impl SecretKey {
    pub fn new(params: &Params, seed: Binding, rng: &mut SecretRng) -> Self {
        let ring = Ring::new(params);
        let s = ternary(rng);
        let values = |prime: &Prime| {
            let mut values = Secret::new(vec![0; DEGREE]);
            prime.small(&s, &mut values);
            values
        };
        let s = ring.primes.iter().map(values).collect();
        Self { ring, seed, s }
    }

    /// `E(x) + e - a s`, packed; what `x` is too short for is zero.
    pub fn encrypt(&self, block: usize, x: &[u64], error: &Small) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sum = Secret::new(vec![0; DEGREE]);
        let mut a = vec![0; DEGREE];
        for (prime, s) in self.ring.primes.iter().zip(&self.s) {
            let modulus = prime.modulus;
            let padded = x.iter().copied().chain(std::iter::repeat(0));
            for (sum, (x, &error)) in sum.iter_mut().zip(padded.zip(error.iter())) {
                *sum = prime.encode(x) + modulus.signed(i64::from(error));
            }
            prime.ntt.forward(&mut sum);
            prime.uniform(&self.seed, block, &mut a);
            for (b, (&s, &sum)) in a.iter_mut().zip(s.iter().zip(sum.iter())) {
                *b = modulus.below(sum + modulus.p() - modulus.reduce(u128::from(*b) * u128::from(s)));
            }
            prime.write(&a, &mut bytes);
        }
        bytes
    }

    /// The residues of `b' + (a s)_(N - 1)`.
    pub fn decrypt(&self, params: &Params, reply: &Reply) -> Result<Vec<u64>, Abort> {
        let misbehaved = |fault: vesica_party::Malformed| Abort::PeerMisbehaved(Reply::STEP, fault.0);
        let mut b = self.ring.read_number(&reply.b).map_err(misbehaved)?;
        let mut a = vec![0; DEGREE];
        let parts = self.ring.primes.iter().zip(&self.s).zip(reply.a.chunks_exact(params.part_bytes()));
        for (b, ((prime, s), bytes)) in b.iter_mut().zip(parts) {
            prime.read(bytes, &mut a).map_err(misbehaved)?;
            *b = prime.modulus.below(*b + prime.last_coefficient(&mut a, s));
        }
        Ok(b)
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = RingVector;
    type Output = Shares<u64>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.is_empty() {
            return Ok(Self { params: *params, key: None });
        }
        // Step 1.
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let key = SecretKey::new(params, Binding::new(ch, NAME).extend("seed", &seed), rng);
        ch.send(&Key { seed, zero: key.encrypt(0, &[], &error(rng)) })?;
        Ok(Self { params: *params, key: Some(key) })
    }

    fn run(self, input: RingVector, ch: &mut Channel, rng: &mut SecretRng) -> Result<Shares<u64>, Abort> {
        let Self { params, key } = self;
        if input.values.len() != params.len {
            let what = format_args!("the vector has {} elements", input.values.len());
            return Err(Unsupported::new(what, format_args!("give {}, as agreed", params.len)).into());
        }
        let mut shares = Shares { bits: 64, width: params.vectors, values: vec![0; params.vectors] };
        let Some(key) = key else { return Ok(shares) };
        // Step 2.
        for (batch, x) in input.values.chunks(BLOCKS_PER_MESSAGE * DEGREE).enumerate() {
            let blocks: Vec<_> = x
                .chunks(DEGREE)
                .zip(1 + batch * BLOCKS_PER_MESSAGE..)
                .map(|(x, block)| (block, x, error(rng)))
                .collect();
            let encrypted: Vec<_> = blocks.par_iter().map(|(block, x, error)| key.encrypt(*block, x, error)).collect();
            encrypted.iter().try_for_each(|bytes| ch.send_stream::<Blocks>(bytes))?;
        }
        // Step 3.
        for share in &mut shares.values {
            let reply = ch.recv(params)?;
            *share = key.ring.decode(&Secret::new(key.decrypt(&params, &reply)?));
        }
        Ok(shares)
    }
}
