//! What one party computes alone, with its way to the other one: tables of an OKVS, and filters of tags.

use std::ops::RangeInclusive;

use vesica::task::{Sample, SampleRun};
use vesica_party::{Abort, Channel, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::filters::{self, Demand};
use vesica_structures::okvs::{self, AnyOkvs, FreeCells, Okvs as _};
use vesica_structures::rng::SecretRng;

use super::{Block, Cells, FilterBytes};
use crate::Settings;

/// `-log2` of the failures that are borne: the statistical security that papers measure with.
const FAILURE_BITS: u32 = 40;

/// The tables' rows are keyed by it. Keys are made up, so that it may be known before them.
const SEED: u128 = 0x7665_7369_6361;

/// An OKVS: the sender encodes a value of 128 bits for each of its items, and the receiver decodes at all of its own.
pub(super) struct Okvs;

/// What is programmed at an item.
fn value_at(item: u128) -> Gf128 {
    Gf128(item.rotate_left(64) ^ SEED)
}

fn store(id: &str, settings: &Settings) -> Result<AnyOkvs, Unsupported> {
    let kind = okvs::Kind::named(id).ok_or_else(|| no_such(id))?;
    kind.store(settings.sender_items, FAILURE_BITS, SEED)
}

fn no_such(id: &str) -> Unsupported {
    Unsupported::new(format_args!("there is no {id:?}"), "see `vesica-lab bench block --help`")
}

impl Block for Okvs {
    fn name(&self) -> &'static str {
        "okvs"
    }

    fn ids(&self) -> Vec<&'static str> {
        okvs::Kind::ALL.map(okvs::Kind::name).into()
    }

    fn predicted_bytes(&self, id: &str, settings: &Settings) -> Result<RangeInclusive<u64>, Unsupported> {
        let bytes = 16 * store(id, settings)?.len() as u64;
        Ok(bytes..=bytes)
    }

    fn set_up(
        &self,
        id: &str,
        settings: &Settings,
        role: Role,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<SampleRun, Abort> {
        let store = store(id, settings)?;
        Ok(match role {
            Role::Sender => Box::new(move |sample, ch, rng| {
                let keys = sample.digests();
                let values: Vec<Gf128> = keys.iter().map(|key| value_at(*key)).collect();
                let table = store
                    .encode_vartime(&keys, &values, FreeCells::Random(rng))
                    .map_err(|_| Abort::StatisticalFailure("the table could not be encoded"))?;
                let table: Vec<u128> = table.into_iter().map(|cell| cell.0).collect();
                ch.send_stream::<Cells>(&table)?;
                Ok(Box::new(|_, _| Ok(true)))
            }),
            Role::Receiver => Box::new(move |sample, ch, _| {
                let keys = sample.digests();
                let mut table = vec![0u128; store.len()];
                ch.recv_stream::<Cells>(&mut table)?;
                let table: Vec<Gf128> = table.into_iter().map(Gf128).collect();
                let mut out = vec![Gf128::default(); keys.len()];
                store.decode(&table, &keys, &mut out);
                Ok(Box::new(move |sample, _| {
                    let common: Vec<bool> = is_common(sample);
                    let right = keys.iter().zip(&out).zip(common);
                    Ok(right.into_iter().all(|((key, value), is_common)| (*value == value_at(*key)) == is_common))
                }))
            }),
        })
    }
}

/// For each item whether both sides have it.
fn is_common(sample: &Sample) -> Vec<bool> {
    let mut common = vec![false; sample.items().count()];
    for &place in &sample.common {
        if let Some(is_common) = common.get_mut(place as usize) {
            *is_common = true;
        }
    }
    common
}

/// A filter: the sender makes one of tags of its items, and the receiver looks all of its own up.
pub(super) struct Filter;

fn kind_name(kind: filters::Kind) -> &'static str {
    match kind {
        filters::Kind::Bloom => "bloom",
        filters::Kind::Cuckoo => "cuckoo",
        filters::Kind::Vacuum => "vacuum",
        filters::Kind::Fuse => "fuse",
    }
}

fn filter(id: &str, settings: &Settings) -> Result<(filters::Kind, Demand), Unsupported> {
    let kind = filters::Kind::ALL.into_iter().find(|kind| kind_name(*kind) == id).ok_or_else(|| no_such(id))?;
    let demand = Demand { tags: settings.sender_items, look_ups: settings.receiver_items, error_bits: FAILURE_BITS };
    Ok((kind, demand))
}

fn no_filter(failure: &filters::KindError) -> Unsupported {
    Unsupported::new(failure, "measure another kind, or fewer items")
}

impl Block for Filter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn ids(&self) -> Vec<&'static str> {
        filters::Kind::ALL.map(kind_name).into()
    }

    fn predicted_bytes(&self, id: &str, settings: &Settings) -> Result<RangeInclusive<u64>, Unsupported> {
        let (kind, demand) = filter(id, settings)?;
        let bytes = kind.bytes(&demand)? as u64;
        Ok(bytes..=bytes)
    }

    fn set_up(
        &self,
        id: &str,
        settings: &Settings,
        role: Role,
        _: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<SampleRun, Abort> {
        let (kind, demand) = filter(id, settings)?;
        let failed = |failure: filters::KindError| Abort::from(no_filter(&failure));
        Ok(match role {
            Role::Sender => Box::new(move |sample, ch, _| {
                let built = kind.build(&demand, &mut sample.digests()).map_err(failed)?;
                ch.send_stream::<FilterBytes>(&built)?;
                Ok(Box::new(|_, _| Ok(true)))
            }),
            Role::Receiver => Box::new(move |sample, ch, _| {
                let tags = sample.digests();
                let mut bytes = vec![0; kind.bytes(&demand)?];
                ch.recv_stream::<FilterBytes>(&mut bytes)?;
                let mut found = vec![false; tags.len()];
                kind.parse(&demand, bytes).map_err(failed)?.look_up(&tags, &mut found);
                Ok(Box::new(move |sample, _| Ok(found == is_common(sample))))
            }),
        })
    }
}
