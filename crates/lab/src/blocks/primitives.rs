//! Groups and hash functions: the primitives that PsiBench exchanges in its protocols (its section 6.2).

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use sha2::{Digest, Sha256, Sha512};
use vesica::task::{Sample, SampleRun};
use vesica_party::{Abort, Channel, Role, Stream};
use vesica_protocols::ecdh::exponent::{Exponent, Message};
use vesica_protocols::psi::hfh99::{PointOf, Variant};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::{Block, Points};
use crate::Settings;

/// Half of a Diffie-Hellman PSI: the sender hashes its items to the group, multiplies them by an exponent and sends them,
/// and the receiver multiplies what comes by another one. All in one thread.
pub(super) struct Group<V>(pub(super) &'static str, PhantomData<fn() -> V>);

impl<V> Group<V> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self(name, PhantomData)
    }
}

impl<V: Variant> Block for Group<V> {
    fn name(&self) -> &'static str {
        "group"
    }

    fn ids(&self) -> Vec<&'static str> {
        vec![self.0]
    }

    fn predicted_bytes(&self, _: &str, settings: &Settings) -> Result<RangeInclusive<u64>, Unsupported> {
        let bytes = (settings.sender_items * size_of::<PointOf<V>>()) as u64;
        Ok(bytes..=bytes)
    }

    fn set_up(
        &self,
        _: &str,
        settings: &Settings,
        role: Role,
        _: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<SampleRun, Abort> {
        let exponent = V::Exponent::random(rng);
        let items = settings.sender_items;
        Ok(match role {
            Role::Sender => Box::new(move |sample, ch, _| {
                let messages: Vec<Message> = sample.digests().into_iter().map(message).collect();
                let mut points = vec![bytemuck::Zeroable::zeroed(); messages.len()];
                exponent.hash_and_multiply(V::DOMAIN, &messages, &mut points);
                ch.send_stream::<Points>(bytemuck::cast_slice::<PointOf<V>, u8>(&points))?;
                Ok(Box::new(|_, _| Ok(true)))
            }),
            Role::Receiver => Box::new(move |_, ch, _| {
                let mut bytes = vec![0; items * size_of::<PointOf<V>>()];
                ch.recv_stream::<Points>(&mut bytes)?;
                let mut points: Vec<PointOf<V>> = bytemuck::pod_collect_to_vec(&bytes);
                if !exponent.multiply(&mut points) {
                    return Err(Abort::PeerMisbehaved(Points::STEP, "a point is not valid"));
                }
                // Taking the exponent off again gives what came.
                Ok(Box::new(move |_, _| {
                    let is_back = exponent.inverse().multiply(&mut points);
                    Ok(is_back && bytemuck::cast_slice::<PointOf<V>, u8>(&points) == bytes)
                }))
            }),
        })
    }
}

/// The message of an item, whose session is zero.
fn message(item: u128) -> Message {
    let mut message = [0; 48];
    if let Some(place) = message.last_chunk_mut() {
        *place = item.to_le_bytes();
    }
    message
}

/// A hash function: the sender hashes all its items, one by one, and sends nothing.
pub(super) struct Hash;

/// The functions by their names.
type Function = fn(&[u8]) -> [u8; 32];

const FUNCTIONS: [(&str, Function); 3] = [
    ("blake3", |item| *blake3::hash(item).as_bytes()),
    ("sha-256", |item| Sha256::digest(item).into()),
    ("sha-512", |item| {
        let digest = Sha512::digest(item);
        digest.first_chunk().copied().unwrap_or_default()
    }),
];

impl Block for Hash {
    fn name(&self) -> &'static str {
        "hash"
    }

    fn ids(&self) -> Vec<&'static str> {
        FUNCTIONS.map(|(name, _)| name).into()
    }

    fn predicted_bytes(&self, _: &str, _: &Settings) -> Result<RangeInclusive<u64>, Unsupported> {
        Ok(0..=0)
    }

    fn set_up(
        &self,
        id: &str,
        _: &Settings,
        role: Role,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<SampleRun, Abort> {
        let function = FUNCTIONS.iter().find(|(name, _)| *name == id).map(|(_, function)| *function);
        Ok(Box::new(move |sample: &Sample, _, _| {
            let mut outputs = Vec::new();
            if let (Role::Sender, Some(function)) = (role, function) {
                outputs.extend(sample.items().map(function));
            }
            Ok(Box::new(move |sample, _| {
                let expected = if role == Role::Sender { sample.items().count() } else { 0 };
                Ok(outputs.len() == expected && outputs.iter().all(|output| *output != [0; 32]))
            }))
        }))
    }
}
