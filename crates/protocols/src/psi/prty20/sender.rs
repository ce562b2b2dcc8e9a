//! The left column of the figure.

use std::ops::Range;

use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::okvs::{Arrangement, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::keys::Keys;
use super::messages::{Corrections, FinishArrows};
use super::mode::{Functions, RowOf, SenderRows};
use super::{Params, coded, identity};
use crate::psi::finish;
use crate::psi::row_outputs::Collected;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender {
    params: Params,
    ready: Ready,
}

enum Ready {
    /// A set is empty.
    Nothing,
    SemiHonest(Box<SetUp<identity::SenderColumns>>),
    Malicious(Box<SetUp<coded::SenderColumns>>),
}

/// What the set-up gives.
pub(super) struct SetUp<S: SenderRows> {
    pub(super) keys: Keys<S::Functions>,
    pub(super) rows: S,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = match params.security {
            _ if params.is_empty() => Ready::Nothing,
            Security::SemiHonest => Ready::SemiHonest(Box::new(SetUp::new(params, ch, rng)?)),
            Security::Malicious => Ready::Malicious(Box::new(SetUp::new(params, ch, rng)?)),
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_sender(&input)?;
        match ready {
            Ready::Nothing => Ok(params.finish.no_matches()),
            Ready::SemiHonest(set_up) => set_up.run(&params, input, ch, rng),
            Ready::Malicious(set_up) => set_up.run(&params, input, ch, rng),
        }
    }
}

impl<S: SenderRows> SetUp<S> {
    /// The salt, and the OTs.
    pub(super) fn new(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { keys: S::Functions::send_salt(params, ch, rng)?, rows: S::setup(params, ch, rng)? })
    }

    fn run(
        self,
        params: &Params,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { keys, rows } = self;
        let finish = &params.finish;

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs(params)?;
        let items = okvs.arrange(&input.items);
        drop(phase);

        // Step 2: Q, part by part.
        let phase = ch.phase(Phase::Decode);
        let mut collected = keys.collect(params, finish::Sender::new(finish), finish.sender_items);
        let (cells, rows_made) = (okvs.len(), params.rows_made());
        let mut q = Secret::new(Vec::with_capacity(rows_made));
        let receive = |q: &mut Vec<RowOf<S>>, place: Range<usize>, ch: &mut Channel| {
            // Where nothing is decoded before the end, memory follows what has come.
            let rows_due = if S::IS_CHECKED { place.end } else { rows_made };
            // Parts of the band table come from its end.
            if q.len() < rows_due {
                q.resize(rows_due, RowOf::<S>::default());
            }
            let q_part = &mut q[place.clone()];
            q_part.copy_from_slice(&rows.rows(place.clone()));
            table::receive::<Corrections, RowOf<S>>(place.len(), params.width, ch, |cells, corrections| {
                rows.correct(&mut q_part[cells], corrections);
            })
        };
        let mut add = |q: &[RowOf<S>], part: usize| {
            add_items(&keys, &rows, (&okvs, &items), q, part, &mut collected);
        };
        for (part, place) in params.parts.iter().enumerate() {
            receive(&mut q, place.clone(), ch)?;
            if !S::IS_CHECKED {
                // The rows of the items that a part completes.
                add(&q[..cells], part);
            }
        }
        if S::IS_CHECKED {
            receive(&mut q, cells..rows_made, ch)?;
            // Steps 8 and 9.
            rows.check(&q, ch, rng)?;
            (0..params.parts.len()).for_each(|part| add(&q[..cells], part));
        }
        drop((phase, q));

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(&input, collected.stored, ch, rng)
    }
}

/// Takes the outputs of the items that a part of `q` completes.
fn add_items<S: SenderRows>(
    keys: &Keys<S::Functions>,
    rows: &S,
    (okvs, items): (&impl Okvs, &Arrangement),
    q: &[RowOf<S>],
    part: usize,
    collected: &mut Collected<finish::Sender>,
) {
    let own = items.part(part);
    let of_part = &items.keys()[own.clone()];
    let mut decoded = Secret::new(vec![RowOf::<S>::default(); of_part.len()]);
    okvs.decode_part(q, items, part, &mut decoded);
    rows.correct_by_values(&mut decoded, &keys.functions.values(of_part));
    keys.functions.add(of_part, &mut decoded, &items.places()[own], collected);
}
