//! The left column of the figure.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_core::Rng;
use rayon::prelude::*;
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase, exit_code};
use vesica_structures::rlwe::bfv::{Ciphertext, PublicKey, SwitchKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::{Answers, ClientKeys, HashSeeds, Question};
use super::params::{ANSWERS_OF_A_SET, HASH_SEED_BYTES, ring};
use vesica_protocols::bfv::ciphertexts::send_short;
use vesica_protocols::bfv::hide;
use vesica_protocols::bfv::keys;
use vesica_protocols::recurrent::read_params;
use vesica_protocols::recurrent::scramble::Scramble;
use vesica_protocols::recurrent::sizes::take_from_budget;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};
use vesica_protocols::unbalanced::evaluation::{all_powers, value};
use vesica_protocols::unbalanced::polynomials::Polynomials;
use vesica_protocols::unbalanced::query::receive_powers;

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    /// Arrow 1.
    seeds: [u8; HASH_SEED_BYTES],
    pub(super) polynomials: Polynomials,
    /// Ciphertexts sent, to all clients.
    pub(super) answered: AtomicU64,
}

/// What the server keeps of a client on one connection.
#[derive(Debug)]
pub struct Session {
    pub(super) public: PublicKey,
    pub(super) product: SwitchKey,
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    type Session = Session;
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        set.check(params.set_items, 0)?;
        let mut seeds = [0; HASH_SEED_BYTES];
        rng.fill_bytes(&mut seeds);
        let mut items = Secret::new(set.items);
        if params.shape.groups == 0 {
            items.clear();
        }
        // Equal items are one.
        items.par_sort_unstable();
        items.dedup();
        let (positions, limbs) =
            if items.is_empty() { (Vec::new(), Secret::new(Vec::new())) } else { params.hash(&seeds, &items) };
        let polynomials = Polynomials::new(&ring().scheme, params.shape, &positions, &limbs, Some(rng))
            .map_err(|_| Abort::StatisticalFailure("a bin of the set is fuller than any should be"))?;
        Ok(Self { id: StateId::random(rng), params: *params, seeds, polynomials, answered: AtomicU64::new(0) })
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
            // Step 1.
            ch.send_stream::<HashSeeds>(&self.seeds)?;
        }
        // Step 2.
        let (public, product) = keys::receive::<ClientKeys>(&ring().scheme, ch)?;
        Ok(Session { public, product })
    }

    fn answer(
        &self,
        session: &mut Session,
        _: Query,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let nothing = IntersectSenderOutput { matches: None };
        if self.params.query_items == 0 {
            return Ok(nothing);
        }
        let _phase = ch.phase(Phase::Match);
        let (ring, shape) = (ring(), self.params.shape);
        let powers = shape.powers();
        // Step 3.
        let mut fresh = receive_powers::<Question>(&shape, ch)?;
        // A client that breaks off before has used up nothing of the set's budget.
        self.count(shape.ciphertexts() as u64)?;
        for group in 0..shape.groups {
            let columns: Vec<_> = (0..shape.columns_per_group())
                .map(|_| all_powers(ring, &powers, fresh.by_ref().take(powers.sent.len()).collect(), &session.product))
                .collect();
            for part in 0..shape.parts {
                // Step 4.
                for scrambled in self.scrambled(group, part, &columns, rng) {
                    let answer = hide(ring, &session.public, &ring.scheme.ciphertext_coefficients(scrambled), rng);
                    send_short::<Answers>(&ring.scheme, &answer, ch)?;
                }
            }
        }
        Ok(nothing)
    }
}

impl Server {
    /// The values of a part for all limbs, multiplied by random elements of the extension field.
    pub(super) fn scrambled(
        &self,
        group: usize,
        part: usize,
        powers: &[Vec<Ciphertext<Values>>],
        rng: &mut SecretRng,
    ) -> Vec<Ciphertext<Values>> {
        let ring = ring();
        let first = group * powers.len();
        let value = |(limb, powers): (usize, &Vec<_>)| value(ring, &self.polynomials, first + limb, part, powers);
        let values: Vec<_> = powers.par_iter().enumerate().map(value).collect();
        Scramble::new(&ring.scheme, values.len(), ring.kept_primes, rng).apply(&ring.scheme, &values)
    }

    /// Takes these ciphertexts from what the set may still answer with.
    fn count(&self, ciphertexts: u64) -> Result<(), Abort> {
        take_from_budget(&self.answered, ciphertexts, ANSWERS_OF_A_SET).map_err(|before| Abort::Local {
            code: exit_code::REFUSED,
            fault: format!("this prepared set has answered with {before} ciphertexts of at most {ANSWERS_OF_A_SET}"),
            mend: "prepare the set again".into(),
        })
    }
}

impl State for Server {
    const FORMAT: &'static str = "clr17 server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        out.elements(&self.params.to_words())?;
        out.u64(self.answered.load(Ordering::Relaxed))?;
        out.bytes(&self.seeds)?;
        out.elements(self.polynomials.coefficients())
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = read_params(bytes, Params::from_words)?;
        let answered = bytes.u64()?;
        if answered > ANSWERS_OF_A_SET {
            return Err(StateError::Damaged("it has answered more than a set may"));
        }
        let seeds = bytes.array()?;
        let coefficients = bytes.elements(params.shape.plaintexts() * ring().scheme.slots())?;
        let polynomials = Polynomials::from_coefficients(&ring().scheme, params.shape, coefficients)
            .ok_or(StateError::Damaged("a coefficient is no residue"))?;
        Ok(Self { id, params, seeds, polynomials, answered: AtomicU64::new(answered) })
    }
}
