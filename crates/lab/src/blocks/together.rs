//! Blocks that two parties run: their protocols are those of the registry of building blocks.

use std::ops::RangeInclusive;

use vesica::task::{Sample, SampleRun};
use vesica_mpc::bits::Bits;
use vesica_mpc::registry;
use vesica_mpc::tasks::{
    CorrelationRequest, Equality, EqualityRequest, Lookups, OpprfRequest, OtChosen, OtPairs, PrfOutputs, Programmed,
    ProgrammedPrf, RandomOneOfNOt, RandomOt, SubfieldVole, Tables, Tested, VoleReceiver, VoleSender,
};
use vesica_party::{Abort, Channel, Registered, Role, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::rng::SecretRng;

use super::{Block, Told, blocks};
use crate::Settings;

/// Bits of a choice of a random table, and of what an equality test by such tables takes at a time.
const TABLE_BITS: u32 = 4;

/// Bits of an output of an OPPRF and of a value that is tested for equality: those of circuit PSI on 2^20 items.
const WIDTH: u32 = 61;

/// A task of the registry, with what the harness adds: inputs and a check.
pub(super) struct Together<T: Task> {
    rows: fn() -> &'static [&'static dyn Registered<T>],
    request: fn(&Settings) -> T::Request,
    sender_input: fn(&Sample) -> T::SenderInput,
    receiver_input: fn(&Sample) -> T::ReceiverInput,
    /// What the receiver needs of the sender's output to check both.
    told: fn(&T::SenderOutput) -> Vec<u8>,
    /// How many bytes that is, by the receiver's output.
    told_bytes: fn(&T::ReceiverOutput) -> usize,
    /// Whether all of both outputs is right.
    is_right: fn(&Sample, &[u8], &T::ReceiverOutput) -> bool,
}

pub(super) const RANDOM_OT: &dyn Block = &Together::<RandomOt> {
    rows: registry::random_ot,
    request: correlations,
    sender_input: |_| (),
    receiver_input: |_| (),
    told: |OtPairs { pairs }| pairs.iter().flatten().flat_map(|block| block.to_le_bytes()).collect(),
    told_bytes: |output| 32 * output.chosen.len(),
    is_right: |_, told, OtChosen { choices, chosen }| {
        let (pairs, _) = told.as_chunks::<32>();
        let mut all = pairs.iter().zip(choices).zip(chosen);
        pairs.len() == chosen.len()
            && all.all(|((pair, choice), chosen)| blocks(pair).nth(usize::from(*choice)) == Some(*chosen))
    },
};

pub(super) const RANDOM_TABLES: &dyn Block = &Together::<RandomOneOfNOt> {
    rows: registry::random_tables,
    request: |settings| CorrelationRequest { width: Some(TABLE_BITS), ..correlations(settings) },
    sender_input: |_| (),
    receiver_input: |_| (),
    told: |Tables { tables, .. }: &Tables| tables.iter().flat_map(|table| table.to_le_bytes()).collect(),
    told_bytes: |output| 2 * output.entries.len(),
    is_right: |_, told, Lookups { entries, .. }: &Lookups| {
        let (tables, _) = told.as_chunks::<2>();
        let mut all = tables.iter().zip(entries);
        all.all(|(table, entry)| u16::from_le_bytes(*table) >> (entry & 0x7f) & 1 == u16::from(entry >> 7))
    },
};

pub(super) const VOLE_64: &dyn Block = &vole::<Gf64>(registry::vole_64);
pub(super) const VOLE_128: &dyn Block = &vole::<Gf128>(registry::vole_128);

const fn vole<B: Value>(
    rows: fn() -> &'static [&'static dyn Registered<SubfieldVole<B>>],
) -> Together<SubfieldVole<B>> {
    Together {
        rows,
        request: correlations,
        sender_input: |_| (),
        receiver_input: |_| (),
        told: |VoleSender { delta, b }: &VoleSender| {
            std::iter::once(delta).chain(b).flat_map(|element| element.0.to_le_bytes()).collect()
        },
        told_bytes: |output| 16 + 16 * output.a.len(),
        is_right: |_, told, VoleReceiver { c, a }: &VoleReceiver<B>| {
            let mut elements = blocks(told).map(Gf128);
            let Some(delta) = elements.next() else { return false };
            let mut all = elements.zip(c.iter().zip(a));
            all.all(|(b, (c, a))| *a == b + delta * c.embed())
        },
    }
}

pub(super) const OPPRF: &dyn Block = &Together::<ProgrammedPrf> {
    rows: registry::opprf,
    request: |settings| OpprfRequest {
        receiver_keys: settings.receiver_items,
        sender_keys: settings.sender_items,
        output_bits: WIDTH,
        security: settings.security,
        wide: false,
        runs: 1,
    },
    sender_input: |sample| {
        let keys = sample.digests();
        Programmed { values: keys.iter().map(|key| programmed_at(*key)).collect(), keys }
    },
    receiver_input: Sample::digests,
    told: |()| Vec::new(),
    told_bytes: |_| 0,
    is_right: |sample, _, PrfOutputs { values }: &PrfOutputs| {
        let keys = sample.digests();
        let is_programmed = |place: &u32| {
            let at = *place as usize;
            keys.get(at).zip(values.get(at)).is_some_and(|(key, value)| *value == programmed_at(*key))
        };
        values.len() == keys.len() && sample.common.iter().all(is_programmed)
    },
};

/// What the sender programs at a key.
fn programmed_at(key: u128) -> u128 {
    key.rotate_left(64) & ((1 << WIDTH) - 1)
}

pub(super) const EQUALITY: &dyn Block = &Together::<Equality> {
    rows: registry::equality,
    request: |settings| EqualityRequest { len: settings.sender_items, width: WIDTH, security: settings.security },
    sender_input: |_| (),
    // The sender's values are random: none is equal but by chance.
    receiver_input: |sample| {
        sample.digests().into_iter().map(|digest| (programmed_at(digest) & u128::from(u64::MAX)) as u64).collect()
    },
    told: |Tested { values, shares }: &Tested| {
        let shares = (0..shares.len()).map(|test| u64::from(shares.get(test)));
        values
            .iter()
            .copied()
            .zip(shares)
            .flat_map(|(value, share)| [value, share])
            .flat_map(u64::to_le_bytes)
            .collect()
    },
    told_bytes: |output| 16 * output.len(),
    is_right: |sample, told, shares: &Bits| {
        let mut all = blocks(told).zip(sample.digests()).enumerate();
        all.all(|(test, (told, asked))| {
            let (value, share) = (told as u64, told >> 64 == 1);
            (share != shares.get(test)) == (u128::from(value) == programmed_at(asked))
        })
    },
};

/// As many correlations as the sender has items.
fn correlations(settings: &Settings) -> CorrelationRequest {
    CorrelationRequest { len: settings.sender_items, security: settings.security, width: None }
}

impl<T: Task> Together<T> {
    fn row(&self, id: &str) -> Result<&'static dyn Registered<T>, Unsupported> {
        let row = (self.rows)().iter().find(|row| row.entry().id == id).copied();
        row.ok_or_else(|| Unsupported::new(format_args!("there is no {id:?}"), "see `vesica-lab bench block --help`"))
    }
}

impl<T: Task> Block for Together<T>
where
    T::SenderOutput: 'static,
    T::ReceiverOutput: 'static,
{
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn ids(&self) -> Vec<&'static str> {
        (self.rows)().iter().map(|row| row.entry().id).collect()
    }

    fn predicted_bytes(&self, id: &str, settings: &Settings) -> Result<RangeInclusive<u64>, Unsupported> {
        self.row(id)?.predicted_bytes(&(self.request)(settings))
    }

    fn set_up(
        &self,
        id: &str,
        settings: &Settings,
        role: Role,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<SampleRun, Abort> {
        let (row, request) = (self.row(id)?, (self.request)(settings));
        let Self { sender_input, receiver_input, told, told_bytes, is_right, .. } = *self;
        Ok(match role {
            Role::Sender => {
                let party = row.sender(&request, ch, rng)?;
                Box::new(move |sample, ch, rng| {
                    let output = party.run(sender_input(sample), ch, rng)?;
                    let told = told(&output);
                    Ok(Box::new(move |_, ch| {
                        ch.send_stream::<Told>(&told)?;
                        Ok(true)
                    }))
                })
            }
            Role::Receiver => {
                let party = row.receiver(&request, ch, rng)?;
                Box::new(move |sample, ch, rng| {
                    let output = party.run(receiver_input(sample), ch, rng)?;
                    Ok(Box::new(move |sample, ch| {
                        let mut told = vec![0; told_bytes(&output)];
                        ch.recv_stream::<Told>(&mut told)?;
                        Ok(is_right(sample, &told, &output))
                    }))
                })
            }
        })
    }
}
