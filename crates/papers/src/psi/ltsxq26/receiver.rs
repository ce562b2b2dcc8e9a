//! The right column of the figure.

use std::marker::PhantomData;
use std::ops::Range;

use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::OtPairs;
use vesica_party::{Abort, Channel, Message, Party, Phase, Protocol};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::TagFinder;

use super::messages::{Commitment, Omega, Randomness, Table, Tags};
use super::oracle::{self, Oracle};
use super::params::Params;
use super::view::View;
use super::{Bits, Variant};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver<V> {
    pub(super) params: Params,
    keys: Option<Keys>,
    variant: PhantomData<fn() -> V>,
}

/// The result of the set-up, unless a set is empty.
pub(super) struct Keys {
    /// The pairs `(a_i, b_i)`.
    pub(super) transfers: OtPairs,
    /// Figure 15: `tau_1` and `tau`.
    promise: Option<Commitment>,
}

/// Step 3: what the receiver encodes, and what its tags are made of. Wiped on drop.
pub struct Own<V: Variant> {
    /// `Y`.
    pub items: Secret<Vec<u128>>,
    /// `A(y)` of each item.
    pub a: Secret<Vec<Bits<V>>>,
    /// `D(y) = A(y) + B(y)` of each item.
    pub d: Secret<Vec<Bits<V>>>,
}

impl<V: Variant> Party for Receiver<V> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = if params.is_empty() { None } else { Some(Keys::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), keys, variant: PhantomData })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let phase = ch.phase(Phase::HashItems);
        let own = self.hash(input)?;
        drop(phase);
        self.exchange(&own, None, ch, rng)
    }
}

impl Keys {
    /// Steps 1 and 2.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let promise = if params.is_malicious() { Some(ch.recv(())?) } else { None };
        let transfers =
            ch.reversed(|ch| <BaseOt as Protocol>::Sender::setup(&params.transfers(), ch, rng)?.run((), ch, rng))?;
        Ok(Self { transfers, promise })
    }

    /// Figure 15: `tau`.
    pub(super) fn tau(&self) -> Option<u128> {
        self.promise.as_ref().map(|promise| promise.tau)
    }
}

impl<V: Variant> Receiver<V> {
    /// Step 3, which is local.
    ///
    /// # Errors
    /// If the input is not of the agreed size.
    pub fn hash(&self, input: IntersectReceiverInput) -> Result<Own<V>, Abort> {
        input.check(self.params.receiver_items)?;
        let items = Secret::new(input.items);
        let Some(keys) = &self.keys else {
            return Ok(Own { items, a: Secret::new(Vec::new()), d: Secret::new(Vec::new()) });
        };
        let [a, mut d] = [0, 1].map(|slot| {
            let keys = Secret::new(keys.transfers.pairs.iter().map(|pair| pair[slot]).collect::<Vec<u128>>());
            oracle::bits::<V::Oracle>(&keys, self.keys.as_ref().and_then(Keys::tau), &items)
        });
        for (d, &a) in d.iter_mut().zip(&*a) {
            *d += a;
        }
        Ok(Own { items, a, d })
    }

    /// Steps 4 and 5: sends the table of what step 3 gave, and gives `w`; nothing where a set is
    /// empty. `seen` takes down what the receiver holds.
    pub(crate) fn encode(
        &self,
        own: &Own<V>,
        seen: Option<&mut View<V>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<u128>, Abort> {
        let params = &self.params;
        let Some(keys) = &self.keys else { return Ok(None) };
        let phase = ch.phase(Phase::Encode);
        let (r, offset) = (rng.block(), keys.promise.is_some().then(|| rng.block()));
        ch.send(&Randomness { r, offset })?;
        let okvs = params.store(r)?;
        let items = okvs.arrange(&own.items);
        let values = Secret::new(items.arranged(&own.d));
        let mut whole = if seen.is_some() { vec![Bits::<V>::default(); okvs.len()] } else { Vec::new() };
        let keep = |place: Range<usize>, cells: &mut [Bits<V>]| {
            if let Some(whole) = whole.get_mut(place) {
                whole.copy_from_slice(cells);
            }
        };
        // The table itself is sent: its free cells must be random.
        table::encode_and_send_vartime::<Table, Bits<V>>(
            &okvs,
            (&items, &values),
            FreeCells::Random(rng),
            keep,
            params.width as u32,
            ch,
        )?;
        drop(phase);

        let Omega(theirs) = ch.recv(())?;
        if keys.promise.as_ref().is_some_and(|promise| promise.commitment != V::Oracle::commit(theirs)) {
            return Err(Abort::PeerMisbehaved(Omega::STEP, "the offset is not the one committed to"));
        }
        let omega = theirs ^ offset.unwrap_or(0);
        if let Some(seen) = seen {
            seen.fill(keys, r, whole, omega);
        }
        Ok(Some(omega))
    }

    /// Steps 4 to 7 for what step 3 gave.
    pub(super) fn exchange(
        self,
        own: &Own<V>,
        mut seen: Option<&mut View<V>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Some(omega) = self.encode(own, seen.as_deref_mut(), ch, rng)? else {
            return Ok(IntersectReceiverOutput::default());
        };

        // Step 6; in Figure 15 step 7.
        let params = &self.params;
        let phase = ch.phase(Phase::Match);
        let mut inputs = Secret::new(own.a.to_vec());
        let mut finder = TagFinder::new(params.receiver_items, params.tag_bits, false);
        finder.add(&oracle::outer::<V::Oracle>(params.security, omega, &own.items, &mut inputs), 0..);
        drop(inputs);
        finder.prepare();
        drop(phase);
        let phase = ch.phase(Phase::Masks);
        tags::receive_each::<Tags>(params.coding, params.sender_items, params.tag_bits, ch, |tags| {
            finder.find(tags);
            if let Some(seen) = &mut seen {
                seen.tags.extend_from_slice(tags);
            }
        })?;
        drop(phase);
        Ok(IntersectReceiverOutput { matches: finder.found().list(), ..IntersectReceiverOutput::default() })
    }
}
