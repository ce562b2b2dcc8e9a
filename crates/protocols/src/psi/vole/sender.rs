//! The left column of the figure.

use rayon::prelude::*;
use vesica_mpc::oprf::{ValueField, correct, table};
use vesica_mpc::silent;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{AnyOkvs, Arrangement, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::correlation;
use super::messages::{FinishArrows, Table};
use super::oprf::{Kept, room_for_part};
use super::params::Params;
use super::salt::{CommittedOffset, Keys, toss_as_sender};
use crate::passes::{self, Commit, Compare, Finish, LaterPasses};
use crate::psi::finish;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender {
    params: Params,
    correlation: Option<Correlation>,
}

/// The result of the set-up, unless a set is empty.
struct Correlation {
    keys: Keys,
    offset: Option<CommittedOffset>,
    vole: Vole,
}

/// The VOLE's left side, `delta` and `b` over `F`, for `c` in `B`.
enum Vole {
    Gf64(silent::Sender<Gf64>),
    Gf128(silent::Sender<Gf128>),
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let correlation = if params.is_empty() { None } else { Some(Correlation::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), correlation })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        passes::run(self, input, ch, rng)
    }
}

impl Commit for Sender {
    fn commit(
        self,
        input: &IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<IntersectSenderInput, IntersectSenderOutput>, Abort> {
        let params = self.params;
        params.finish.check_sender(input)?;
        let Some(Correlation { keys, offset, vole }) = self.correlation else {
            return Ok(Compare::ended(params.finish.no_matches()));
        };

        // Steps 5 to 7.
        let phase = ch.phase(Phase::HashItems);
        let okvs = params.okvs.store(params.finish.receiver_items, params.encoding_bits, keys.rows)?;
        let items = okvs.arrange(&input.items);
        drop(phase);
        let evaluation = Evaluation { params: &params, keys: &keys, okvs: &okvs, items: &items };
        let kept = match vole {
            Vole::Gf64(vole) => evaluation.run(vole, offset, ch, rng)?,
            Vole::Gf128(vole) => evaluation.run(vole, offset, ch, rng)?,
        };
        Ok(kept.into_compare())
    }

    fn again(
        params: &Params,
        keys: &[u8],
        kept: Secret<Vec<Gf128>>,
    ) -> Result<Compare<IntersectSenderInput, IntersectSenderOutput>, Unsupported> {
        let finish = &params.finish;
        Kept::<finish::Sender>::again(params, finish.sender_items, (keys, kept), finish.no_matches())
    }
}

impl LaterPasses<IntersectSenderInput, IntersectSenderOutput> for Kept<finish::Sender> {
    fn compare(
        self: Box<Self>,
        values: Secret<Vec<Gf128>>,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Finish<IntersectSenderOutput>, Abort> {
        let kept = self.with_values(values)?;
        kept.params.check_sender(&input)?;
        let phase = ch.phase(Phase::Decode);
        let (tags, inner) = kept.into_tags(finish::Sender::new, &input.items);
        drop(phase);
        // Steps 8 and 9.
        let proofs = tags.send::<FinishArrows>(&input, inner, ch, rng)?;
        // Step 10.
        let nothing = IntersectSenderOutput { matches: None };
        Ok(match proofs.are_due() {
            true => Finish::Last(nothing, Box::new(move |_, ch| proofs.learn::<FinishArrows>(ch))),
            false => Finish::Done(nothing),
        })
    }

    fn finish(
        self: Box<Self>,
        values: Secret<Vec<Gf128>>,
        input: &IntersectSenderInput,
        _: IntersectSenderOutput,
        ch: &mut Channel,
    ) -> Result<IntersectSenderOutput, Abort> {
        let mut kept = self.with_values(values)?;
        kept.params.check_sender(input)?;
        // Step 10.
        kept.proofs(&input.items, ch).learn::<FinishArrows>(ch)
    }
}

impl Correlation {
    /// Steps 1 to 4, and the VOLE's set-up.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = toss_as_sender(params, ch, rng)?;
        let offset = match params.security {
            Security::SemiHonest => None,
            Security::Malicious => Some(CommittedOffset::send(ch, rng)?),
        };
        let vole = match params.field {
            ValueField::Gf64 => Vole::Gf64(correlation::as_sender(params, ch, rng)?),
            ValueField::Gf128 => Vole::Gf128(correlation::as_sender(params, ch, rng)?),
        };
        Ok(Self { keys, offset, vole })
    }
}

/// Steps 5 to 7.
struct Evaluation<'a> {
    params: &'a Params,
    keys: &'a Keys,
    okvs: &'a AnyOkvs,
    items: &'a Arrangement,
}

impl Evaluation<'_> {
    /// Receives the whole table, decoding part by part as it comes, and opens the offset.
    fn run<B: Value>(
        &self,
        vole: silent::Sender<B>,
        offset: Option<CommittedOffset>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Kept<finish::Sender>, Abort> {
        let mut vole = vole.run((), ch, rng)?;
        let Self { params, keys, okvs, items } = *self;
        // w = 0 where there is no offset: then tags have nothing to wait for.
        let tags = offset.is_none().then(|| finish::Sender::new(&params.finish));
        let mut kept = Kept::new(&params.finish, keys, params.finish.sender_items, tags);
        let parts = okvs.parts();
        let mut room = room_for_part(items, parts.len());
        let _phase = ch.phase(Phase::Decode);
        // K = b + delta A, instead of b.
        let (delta, k) = (vole.delta, &mut vole.b);
        for (part, cells) in parts.into_iter().enumerate() {
            let k_part = &mut k[cells];
            table::receive::<Table, B>(k_part.len(), params.value_bits, ch, |place, a| {
                let piece = a.len().div_ceil(rayon::current_num_threads());
                k_part[place]
                    .par_chunks_mut(piece)
                    .zip(a.par_chunks(piece))
                    .for_each(|(k, a)| B::scale_add(k, delta, a));
            })?;
            let range = items.part(part);
            let inner = &mut room[..range.len()];
            okvs.decode_part(k, items, part, inner);
            correct::<B>(keys.values, &items.keys()[range.clone()], params.value_bits, delta, inner);
            kept.take(items, range, inner);
        }
        if let Some(offset) = offset {
            kept.set_offset(offset.open(ch)?);
        }
        Ok(kept)
    }
}
