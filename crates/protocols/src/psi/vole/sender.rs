//! The left column of the figure.

use std::marker::PhantomData;

use rayon::prelude::*;
use vesica_mpc::oprf::{ValueField, correct, table};
use vesica_mpc::silent;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{Arrangement, Okvs};
use vesica_structures::rng::SecretRng;

use super::correlation;
use super::messages::{FinishArrows, Table};
use super::oprf::{Output, Part};
use super::params::Params;
use super::salt::{CommittedOffset, Keys, toss_as_sender};
use crate::psi::finish;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender<O> {
    params: Params,
    correlation: Option<Correlation>,
    okvs: PhantomData<fn() -> O>,
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

impl<O: Okvs> Party for Sender<O> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let correlation = if params.is_empty() { None } else { Some(Correlation::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), correlation, okvs: PhantomData })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        params.finish.check_sender(&input)?;
        let Some(Correlation { keys, offset, vole }) = self.correlation else {
            return Ok(params.finish.no_matches());
        };

        // Steps 5 to 7.
        let phase = ch.phase(Phase::HashItems);
        let okvs = O::new(params.finish.receiver_items, params.encoding_bits, keys.rows)?;
        let items = okvs.arrange(&input.items);
        drop(phase);
        let evaluation = Evaluation { params, keys: &keys, okvs: &okvs, items: &items };
        let (tags, output) = match vole {
            Vole::Gf64(vole) => evaluation.run(vole, offset, ch, rng)?,
            Vole::Gf128(vole) => evaluation.run(vole, offset, ch, rng)?,
        };

        // Steps 8 to 10.
        tags.finish::<FinishArrows>(&input, output, ch, rng)
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
struct Evaluation<'a, O> {
    params: &'a Params,
    keys: &'a Keys,
    okvs: &'a O,
    items: &'a Arrangement,
}

impl<'a, O: Okvs> Evaluation<'a, O> {
    /// Receives the whole table, decoding part by part as it comes, opens the offset, and gives the
    /// tags and what all outputs follow from.
    fn run<B: Value>(
        &self,
        vole: silent::Sender<B>,
        offset: Option<CommittedOffset>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(finish::Sender, Output<'a>), Abort> {
        let mut vole = vole.run((), ch, rng)?;
        let mut tags = finish::Sender::new(&self.params.finish);
        let mut output = Output::new(self.keys, self.items);
        let _phase = ch.phase(Phase::Decode);
        // K = b + delta A, instead of b.
        let (delta, k) = (vole.delta, &mut vole.b);
        for (part, cells) in self.okvs.parts().into_iter().enumerate() {
            let k_part = &mut k[cells];
            table::receive::<Table, B>(k_part.len(), self.params.value_bits, ch, |place, a| {
                let piece = a.len().div_ceil(rayon::current_num_threads());
                k_part[place]
                    .par_chunks_mut(piece)
                    .zip(a.par_chunks(piece))
                    .for_each(|(k, a)| B::scale_add(k, delta, a));
            })?;
            let range = self.items.part(part);
            let inner = &mut output.inner[range.clone()];
            self.okvs.decode_part(k, self.items, part, inner);
            correct::<B>(self.keys.values, &self.items.keys()[range.clone()], self.params.value_bits, delta, inner);
            if offset.is_none() {
                // w = 0: nothing to wait for.
                output.each(Part::Tag, range, |outputs, places| tags.add(outputs, places));
            }
        }
        drop(vole);
        if let Some(offset) = offset {
            output.offset = offset.open(ch)?;
            output.each(Part::Tag, 0..self.items.keys().len(), |outputs, places| tags.add(outputs, places));
        }
        Ok((tags, output))
    }
}
