//! The left column of the figure.

use std::io;

use rayon::prelude::*;
use vesica_mpc::rfc9497::{self, Mode, Output};
use vesica_party::service::{
    self, ClientIdentity, Query, Standing, State, StateError, StateId, StateReader, StateWriter,
};
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rlwe::bfv::SwitchKey;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::{Secret, WipedStack};

use super::Params;
use super::messages::{Answers, Blinded, Evaluated, ProductKey, Question};
use super::params::{fill_payload_keystream, ring};
use crate::bfv::ciphertexts::{receive_halves, receive_seed, send_rounded};
use crate::recurrent::items::refuse_twins;
use crate::recurrent::kept::{Evaluation, Keeper, Kept};
use crate::recurrent::oprf::evaluate;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};
use crate::unbalanced::Shape;
use crate::unbalanced::evaluation::{all_powers, label, shorten, value};
use crate::unbalanced::labels::to_limbs;
use crate::unbalanced::polynomials::Polynomials;
use crate::unbalanced::query::receive_powers;
use crate::unbalanced::ring::ANSWER_BITS;

/// Values that are computed before they are sent, 64 KiB each.
const VALUES_AT_A_TIME: usize = 64;

/// The server with a prepared set.
#[derive(Debug)]
pub struct Server {
    id: StateId,
    params: Params,
    key: rfc9497::SecretKey,
    polynomials: Polynomials,
}

impl Server {
    /// [`prepare`](service::Server::prepare), which takes what earlier attempts have kept.
    pub fn prepare_kept(params: &Params, set: &IntersectSenderInput, mut kept: Kept<'_>) -> Result<Self, Abort> {
        let key = rfc9497::SecretKey::random(Mode::Oprf, &mut kept.of_key);
        Self::under(params, key, set, Some(kept.keeper), &mut kept.of_rest)
    }

    fn under(
        params: &Params,
        key: rfc9497::SecretKey,
        set: &IntersectSenderInput,
        keeper: Option<&dyn Keeper>,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let shape = params.shape;
        set.check(params.set_items, shape.payload_bytes)?;
        if shape.payload_bytes > 0 {
            refuse_twins(&set.items)?;
        }
        let mut outputs: Secret<Vec<Output>> = Secret::new(Vec::new());
        if shape.groups > 0 {
            outputs.reserve_exact(set.items.len());
            // Without payloads, nothing takes the last bytes.
            let width = if shape.payload_bytes > 0 { size_of::<Output>() } else { 48 };
            Evaluation::new(&key, width, keeper).of(&set.items, |part| outputs.extend_from_slice(part))?;
        }
        let labels = labels(shape, set, &outputs);
        // The places of items in their bins are to say nothing of the order of the table. Equal items
        // are one.
        outputs.par_sort_unstable();
        outputs.dedup();
        let (positions, limbs) = (params.positions(&outputs), params.limbs(&outputs));
        drop(outputs);
        let scheme = &ring().scheme;
        let polynomials = if shape.payload_bytes > 0 {
            Polynomials::with_labels(scheme, shape, &positions, &limbs, &labels, rng)
        } else {
            Polynomials::new(scheme, shape, &positions, &limbs, None)
        };
        let polynomials = polynomials
            .map_err(|_| Abort::StatisticalFailure("the bins of the set are not like those of random items"))?;
        Ok(Self { id: StateId::random(rng), params: *params, key, polynomials })
    }
}

impl service::Server for Server {
    type Params = Params;
    type Set = IntersectSenderInput;
    /// The client's key for products.
    type Session = SwitchKey;
    type Output = IntersectSenderOutput;

    fn prepare(params: &Params, set: IntersectSenderInput, rng: &mut SecretRng) -> Result<Self, Abort> {
        let key = rfc9497::SecretKey::random(Mode::Oprf, rng);
        Self::under(params, key, &set, None, rng)
    }

    fn state_id(&self) -> StateId {
        self.id
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn admit(&self, _: &ClientIdentity, _: Standing, ch: &mut Channel, _: &mut SecretRng) -> Result<SwitchKey, Abort> {
        // Step 1.
        let scheme = &ring().scheme;
        let seed = receive_seed::<ProductKey>(ch)?;
        Ok(SwitchKey::new(scheme, &seed, 0, receive_halves::<ProductKey>(scheme, scheme.digits(), ch)?))
    }

    fn answer(
        &self,
        key: &mut SwitchKey,
        _: Query,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let nothing = IntersectSenderOutput { matches: None };
        if self.params.query_items == 0 {
            return Ok(nothing);
        }
        let phase = ch.phase(Phase::HashItems);
        // Steps 2 and 3.
        evaluate::<Blinded, Evaluated>(&self.key, self.params.query_items, ch)?;
        drop(phase);
        let _phase = ch.phase(Phase::Match);
        let (ring, shape) = (ring(), self.params.shape);
        let powers = shape.powers();
        // Step 4.
        let mut fresh = receive_powers::<Question>(&shape, ch)?;
        for column in 0..shape.columns() {
            let sent = fresh.by_ref().take(powers.sent.len()).collect();
            let powers = all_powers(ring, &powers, sent, key);
            let value = |&number: &usize| {
                let (part, number) = (number / shape.values(), number % shape.values());
                let value = match number {
                    0 => value(ring, &self.polynomials, column, part, &powers),
                    number => label(ring, &self.polynomials, column, part, number, &powers),
                };
                shorten(ring, value)
            };
            let numbers: Vec<usize> = (0..shape.parts * shape.values()).collect();
            for numbers in numbers.chunks(VALUES_AT_A_TIME) {
                let values: Vec<_> = numbers.par_iter().map(value).collect();
                // Step 5.
                values.iter().try_for_each(|value| send_rounded::<Answers>(&ring.scheme, value, ANSWER_BITS, ch))?;
            }
        }
        Ok(nothing)
    }
}

/// The sealed payloads of a set as limbs, in the order of the items' outputs.
pub(super) fn labels(shape: Shape, set: &IntersectSenderInput, outputs: &[Output]) -> Vec<u32> {
    let width = shape.payload_bytes;
    // Where nothing is asked, there are no outputs.
    if width == 0 || outputs.is_empty() {
        return Vec::new();
    }
    let mut order: Secret<Vec<u32>> = Secret::new((0..outputs.len() as u32).collect());
    order.par_sort_unstable_by_key(|&item| &outputs[item as usize]);
    let limbs = shape.labels() * shape.limbs;
    let mut labels = vec![0; limbs * outputs.len()];
    labels.par_chunks_exact_mut(limbs).zip(&*order).for_each_init(
        || WipedStack,
        |_, (out, &item)| {
            let item = item as usize;
            let mut sealed = vec![0; width];
            fill_payload_keystream(&outputs[item], set.items[item], &mut sealed);
            sealed.iter_mut().zip(&set.payloads[item * width..]).for_each(|(byte, payload)| *byte ^= payload);
            to_limbs(&sealed, out);
        },
    );
    labels
}

impl State for Server {
    const FORMAT: &'static str = "cmdg21 server 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&self.id.to_bytes())?;
        self.params.write(out)?;
        out.bytes(self.key.as_bytes())?;
        out.elements(self.polynomials.coefficients())
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let id = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("the state has no identifier"))?;
        let params = Params::read(bytes)?;
        let mut key = Secret::new([0; 32]);
        bytes.fill(&mut key[..])?;
        let key =
            rfc9497::SecretKey::from_bytes(Mode::Oprf, &key).ok_or(StateError::Damaged("its key is malformed"))?;
        let coefficients = bytes.elements(params.shape.plaintexts() * ring().scheme.slots())?;
        let polynomials = Polynomials::from_coefficients(&ring().scheme, params.shape, coefficients)
            .ok_or(StateError::Damaged("a coefficient is no residue"))?;
        Ok(Self { id, params, key, polynomials })
    }
}
