//! The right column of the figure.

use vesica_mpc::oprf::{ValueField, table, values};
use vesica_mpc::silent;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{AnyOkvs, Arrangement, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::correlation;
use super::messages::{FinishArrows, Table};
use super::oprf::{Kept, room_for_part};
use super::params::Params;
use super::salt::{AwaitedOffset, Keys, toss_as_receiver};
use crate::passes::{self, Commit, Compare, Finish, LaterPasses};
use crate::psi::finish;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    correlation: Option<Correlation>,
}

/// The result of the set-up, unless a set is empty.
struct Correlation {
    keys: Keys,
    offset: Option<AwaitedOffset>,
    vole: Vole,
}

/// The VOLE's right side: `c` in `B`, and `a` in `F` once it is run.
enum Vole {
    Gf64(silent::Receiver<Gf64>),
    Gf128(silent::Receiver<Gf128>),
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let correlation = if params.is_empty() { None } else { Some(Correlation::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), correlation })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        passes::run(self, input, ch, rng)
    }
}

impl Commit for Receiver {
    fn commit(
        self,
        input: &IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Compare<IntersectReceiverInput, IntersectReceiverOutput>, Abort> {
        let params = self.params;
        params.finish.check_receiver(input)?;
        let Some(Correlation { keys, offset, vole }) = self.correlation else {
            return Ok(Compare::ended(IntersectReceiverOutput::default()));
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
    ) -> Result<Compare<IntersectReceiverInput, IntersectReceiverOutput>, Unsupported> {
        let nothing = IntersectReceiverOutput::default();
        Kept::<finish::Receiver>::again(params, params.finish.receiver_items, (keys, kept), nothing)
    }
}

impl LaterPasses<IntersectReceiverInput, IntersectReceiverOutput> for Kept<finish::Receiver> {
    fn compare(
        self: Box<Self>,
        values: Secret<Vec<Gf128>>,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<Finish<IntersectReceiverOutput>, Abort> {
        let kept = self.with_values(values)?;
        kept.params.check_receiver(&input)?;
        let phase = ch.phase(Phase::Decode);
        let (tags, inner) = kept.into_tags(finish::Receiver::new, &input.items);
        drop(phase);
        // Steps 8 and 9.
        let (output, proofs) = tags.receive::<FinishArrows>(input, inner, ch)?;
        // Step 10.
        Ok(match proofs.are_due() {
            true => Finish::Last(
                output,
                Box::new(move |output, ch| proofs.tell::<FinishArrows>(&output.matches, ch).map(|()| output)),
            ),
            false => Finish::Done(output),
        })
    }

    fn finish(
        self: Box<Self>,
        values: Secret<Vec<Gf128>>,
        input: &IntersectReceiverInput,
        found: IntersectReceiverOutput,
        ch: &mut Channel,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let mut kept = self.with_values(values)?;
        kept.params.check_receiver(input)?;
        kept.params.check_matches(&found.matches)?;
        // Step 10.
        kept.proofs(&input.items, ch).tell::<FinishArrows>(&found.matches, ch)?;
        Ok(found)
    }
}

impl Correlation {
    /// Steps 1 to 4, and the VOLE's set-up.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = toss_as_receiver(params, ch, rng)?;
        let offset = match params.security {
            Security::SemiHonest => None,
            Security::Malicious => Some(AwaitedOffset::receive(ch)?),
        };
        let vole = match params.field {
            ValueField::Gf64 => Vole::Gf64(correlation::as_receiver(params, ch, rng)?),
            ValueField::Gf128 => Vole::Gf128(correlation::as_receiver(params, ch, rng)?),
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
    /// Sends the whole table, finishes the VOLE while the sender decodes, and has the offset opened.
    fn run<B: Value>(
        &self,
        vole: silent::Receiver<B>,
        offset: Option<AwaitedOffset>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Kept<finish::Receiver>, Abort> {
        self.send_table(vole.values(), ch)?;
        let share = offset.as_ref().map_or(Ok(0), |offset| offset.send_share(ch, rng))?;
        let mut vole = vole.run((), ch, rng)?;
        let a = Secret::new(std::mem::take(&mut vole.a));
        drop(vole);
        let Self { params, keys, okvs, items } = *self;
        // w = 0 where there is no offset: then tags have nothing to wait for.
        let tags = offset.is_none().then(|| finish::Receiver::new(&params.finish));
        let mut kept = Kept::new(&params.finish, keys, params.finish.receiver_items, tags);
        let parts = okvs.parts().len();
        let mut room = room_for_part(items, parts);
        let _phase = ch.phase(Phase::Decode);
        for part in 0..parts {
            let range = items.part(part);
            let inner = &mut room[..range.len()];
            okvs.decode_part(&a, items, part, inner);
            kept.take(items, range, inner);
        }
        drop(a);
        if let Some(offset) = offset {
            kept.set_offset(offset.check_opening(share, ch)?);
        }
        Ok(kept)
    }

    /// Step 5: `P` with `Decode(P, y) = H_B(y)`, sent as `A = P + c`, each part as soon as it is
    /// encoded.
    fn send_table<B: Value>(&self, c: &[B], ch: &mut Channel) -> Result<(), Abort> {
        let phase = ch.phase(Phase::HashItems);
        let values = values::<B>(self.keys.values, self.items.keys(), self.params.value_bits);
        drop(phase);
        let _phase = ch.phase(Phase::Encode);
        // The whole table is masked by c, so that its free cells may be zero.
        let pairs = (self.items, &values[..]);
        table::encode_and_send_vartime::<Table, B>(
            self.okvs,
            pairs,
            FreeCells::Zero,
            table::under(c),
            self.params.value_bits,
            ch,
        )
    }
}
