//! Base oblivious transfers: a few random OTs from public-key operations, which everything else
//! extends.
//!
//! | row | paper | from | rounds | bytes a transfer | against |
//! |---|---|---|---|---|---|
//! | [`Mr19`] | Masny, Rindal, CCS 2019 | gap-CDH | 1 | 64 | malicious |
//! | [`Csw20`] | Canetti, Sarkar, Wang, PKC 2020 | CDH | 3 | 64 | malicious, but for guesses at choices |
//! | [`MlKem`] | Masny, Rindal, on ML-KEM-768 | module-LWE | 2 | 4,512 | malicious; no attack by a quantum computer is known |
//! | [`Np01`] | Naor, Pinkas, SODA 2001 | CDH | 2 | 32 | semi-honest |
//! | [`Co15`] | Chou, Orlandi, LATINCRYPT 2015 | CDH | 2 | 32 | semi-honest |
//!
//! [`Mr19`] is what the protocols of this crate use: it has the fewest rounds. Rows that extend base OTs offer [`MlKem`] in
//! its place ([`CHOICE`]). The others are there to be compared with it.
//!
//! A corrupt party may choose its own outputs (*endemic* OT). That is all that OT extension and the small
//! trees of [`crate::ot_extension`] need.

pub mod co15;
pub mod csw20;
pub mod ml_kem;
pub mod mr19;
pub mod np01;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use rand_core::Rng;
use subtle::{Choice, ConditionallySelectable};
use vesica_party::{
    Abort, Assumption, BaseOtChoice, Channel, ChoiceValue, Entry, Mode, Party, Protocol, Resistance, Rounds, Security,
    Step, assume,
};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::binding::Binding;
use crate::group::Encoded;
use crate::tasks::{CorrelationRequest, OtChosen, OtPairs, RandomOt};

pub use co15::Co15;
pub use csw20::Csw20;
pub use ml_kem::MlKem;
pub use mr19::Mr19;
pub use np01::Np01;

/// A way to make base OTs: what its row says, and its two sides.
pub trait Scheme: 'static {
    /// The row.
    const ENTRY: Entry;

    /// Bytes of all messages.
    fn predicted_bytes(transfers: usize) -> u64;

    /// The two keys of each transfer, and a binding to the messages that keys come from.
    ///
    /// # Errors
    /// If the receiver's messages do not come, or are not what the protocol allows.
    fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort>;

    /// The chosen key of each transfer, and a binding to the messages that keys come from.
    ///
    /// # Errors
    /// If the sender's messages do not come, or are not what the protocol allows.
    fn receive(
        choices: impl ExactSizeIterator<Item = Choice>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(ChosenKeys, Binding), Abort>;
}

/// The two keys of each transfer.
pub type KeyPairs = Secret<Vec<[u128; 2]>>;

/// The chosen key of each transfer.
pub type ChosenKeys = Secret<Vec<u128>>;

/// Random OT by base OTs alone.
#[derive(Debug)]
pub struct BaseOts<S>(PhantomData<fn() -> S>);

/// The base OT that the protocols of this crate use by default.
pub type BaseOt = BaseOts<Mr19>;

impl<S: Scheme> Protocol for BaseOts<S> {
    const ENTRY: Entry = S::ENTRY;
    type Task = RandomOt;
    type Params = CorrelationRequest;
    type Sender = Sender<S>;
    type Receiver = Receiver<S>;

    fn derive(request: &CorrelationRequest) -> Result<CorrelationRequest, Unsupported> {
        S::ENTRY.require(request.security)?;
        if request.len > MAX_TRANSFERS {
            return Err(Unsupported::new(
                format_args!("{} base OTs in one run", request.len),
                format_args!("ask for at most {MAX_TRANSFERS}, or use an OT extension"),
            ));
        }
        Ok(*request)
    }

    fn predicted_bytes(params: &CorrelationRequest) -> RangeInclusive<u64> {
        let bytes = S::predicted_bytes(params.len);
        bytes..=bytes
    }
}

/// A bound on transfers a run: each costs some multiplications on the curve, or some encapsulations.
const MAX_TRANSFERS: usize = 1 << 16;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender<S>(KeyPairs, PhantomData<fn() -> S>);

impl<S: Scheme> Party for Sender<S> {
    type Params = CorrelationRequest;
    type Input = ();
    type Output = OtPairs;

    fn setup(params: &CorrelationRequest, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(S::send(params.len, ch, rng)?.0, PhantomData))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtPairs, Abort> {
        Ok(OtPairs { pairs: self.0.clone() })
    }
}

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver<S> {
    choices: Secret<Vec<bool>>,
    chosen: ChosenKeys,
    scheme: PhantomData<fn() -> S>,
}

impl<S: Scheme> Party for Receiver<S> {
    type Params = CorrelationRequest;
    type Input = ();
    type Output = OtChosen;

    fn setup(params: &CorrelationRequest, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let choices: Secret<Vec<bool>> = Secret::new((0..params.len).map(|_| rng.next_u32() & 1 == 1).collect());
        let (chosen, _) = S::receive(choices.iter().map(|&bit| Choice::from(u8::from(bit))), ch, rng)?;
        Ok(Self { choices, chosen, scheme: PhantomData })
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<OtChosen, Abort> {
        Ok(OtChosen { choices: self.choices.clone(), chosen: self.chosen.clone() })
    }
}

/// Makes the keys of base OTs, for a protocol of this crate that extends them.
pub(crate) fn send(transfers: usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<(KeyPairs, Binding), Abort> {
    match ch.base_ot() {
        BaseOtChoice::Mr19 => Mr19::send(transfers, ch, rng),
        BaseOtChoice::MlKem => MlKem::send(transfers, ch, rng),
    }
}

/// The other side of [`send`].
pub(crate) fn receive(
    choices: impl ExactSizeIterator<Item = Choice>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(ChosenKeys, Binding), Abort> {
    match ch.base_ot() {
        BaseOtChoice::Mr19 => Mr19::receive(choices, ch, rng),
        BaseOtChoice::MlKem => MlKem::receive(choices, ch, rng),
    }
}

/// Bytes of [`send`] and [`receive`] together.
pub(crate) fn predicted_bytes(transfers: usize) -> u64 {
    match BaseOtChoice::counted() {
        BaseOtChoice::Mr19 => Mr19::predicted_bytes(transfers),
        BaseOtChoice::MlKem => MlKem::predicted_bytes(transfers),
    }
}

/// The choice of base OTs, of each row that extends them.
pub const CHOICE: vesica_party::Choice = vesica_party::Choice {
    name: BaseOtChoice::CHOICE,
    what: "What the base OTs are made from, which all other OTs and VOLEs of a run are extended from.",
    values: &[
        ChoiceValue::new(BaseOtChoice::Mr19.name(), "ot-mr19, from a Diffie-Hellman key agreement: 8 KB for 128."),
        ChoiceValue {
            replaced: &[[ASSUMPTIONS[0], ml_kem::ASSUMPTIONS[0]], [ASSUMPTIONS[1], ml_kem::ASSUMPTIONS[1]]],
            ..ChoiceValue::new(
                BaseOtChoice::MlKem.name(),
                "ot-mr19-ml-kem, from ML-KEM-768: 578 KB for 128, and no attack by a quantum computer is known.",
            )
            .deviating(&[
                "Base OTs from ML-KEM-768: that it fits the theorem of MR19 is our reading, in the model of classical \
                 random oracles (ot-mr19-ml-kem).",
            ])
        },
    ],
};

/// What the base OTs of this crate rest on by default.
pub const ASSUMPTIONS: &[Assumption] =
    assume![(discrete_logarithm "gap-CDH on Ristretto"), "random oracles (SHA-512, BLAKE3)"];

/// What the rows that need only CDH rest on.
const CDH: &[Assumption] = assume![(discrete_logarithm "CDH on Ristretto"), "random oracles (SHA-512, BLAKE3)"];

/// A deviation of all rows on Ristretto.
const DOUBLED: &str =
    "keys are hashes of twice the shared point, which compress in a batch; doubling permutes the group";

/// A mode that holds equally against either party.
pub(crate) const fn mode(
    security: Security,
    against: Resistance,
    rounds: usize,
    assumptions: &'static [Assumption],
) -> Mode {
    Mode {
        security,
        corrupt_sender: against,
        corrupt_receiver: against,
        rounds: Rounds::exactly(rounds),
        assumptions,
        leakage: &[],
    }
}

/// The point of a peer's encoding in a message of `step`; the neutral point is refused.
fn decode(encoded: &[u8; 32], step: Step) -> Result<RistrettoPoint, Abort> {
    let point = CompressedRistretto(*encoded).decompress();
    let point = point.ok_or(Abort::PeerMisbehaved(step, "not a point of the group"))?;
    if point.is_identity() {
        return Err(Abort::PeerMisbehaved(step, "the neutral point"));
    }
    Ok(point)
}

fn bind_points(session: Binding, messages: &[&[[u8; 32]]]) -> Binding {
    session.extend("messages", &messages.concat().concat())
}

/// The key of a slot from what both sides share of it, such as the encoding of twice a point; `binding` covers all
/// messages.
fn key(binding: Binding, index: usize, slot: u8, shared: &[u8]) -> u128 {
    binding.key("key", &[&(index as u64).to_le_bytes(), &[slot], shared])
}

/// The encodings of twice each shared point.
fn encode(shared: &[RistrettoPoint]) -> Secret<Vec<Encoded>> {
    let encoded = Secret::new(RistrettoPoint::double_and_compress_batch(shared));
    Secret::new(encoded.iter().map(CompressedRistretto::to_bytes).collect())
}

/// The keys of both slots from the [encoded](encode) points of both, transfer by transfer.
fn key_pairs(binding: Binding, encoded: &[Encoded]) -> KeyPairs {
    let (transfers, _) = encoded.as_chunks::<2>();
    let of_slot = |i: usize, slot: u8, pair: &[Encoded; 2]| key(binding, i, slot, &pair[usize::from(slot)]);
    Secret::new(transfers.iter().enumerate().map(|(i, pair)| [0, 1].map(|slot| of_slot(i, slot, pair))).collect())
}

/// The keys of the chosen slots from their [encoded](encode) points.
fn chosen_keys(binding: Binding, slots: &[u8], encoded: &[Encoded]) -> ChosenKeys {
    let keys = encoded.iter().zip(slots).enumerate();
    Secret::new(keys.map(|(i, (shared, &slot))| key(binding, i, slot, shared)).collect())
}

/// `zero` where `choice` is 0, else `one`.
fn select<const BYTES: usize>(zero: &[u8; BYTES], one: &[u8; BYTES], choice: Choice) -> [u8; BYTES] {
    let mut selected = [0; BYTES];
    for (byte, (zero, one)) in selected.iter_mut().zip(zero.iter().zip(one)) {
        *byte = u8::conditional_select(zero, one, choice);
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_testkit::two_party;

    #[test]
    fn keys_depend_on_all_that_they_are_bound_to() {
        let bindings =
            |ch: &mut Channel, _: &mut SecretRng| Ok::<_, Abort>(["one", "other"].map(|id| Binding::new(ch, id)));
        let ([binding, other], _) = two_party(bindings, bindings);
        let keys = [
            key(binding, 0, 0, &[7; 32]),
            key(other, 0, 0, &[7; 32]),
            key(binding, 1, 0, &[7; 32]),
            key(binding, 0, 1, &[7; 32]),
            key(binding, 0, 0, &[8; 32]),
        ];
        for (i, one) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(one), "key {i}");
        }
    }
}
