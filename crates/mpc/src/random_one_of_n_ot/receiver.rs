//! The right column of the figure: gets one entry of each table.

use vesica_kernels::aes::Aes128;
use vesica_party::{Abort, Channel, Party};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::silent::bulk;
use crate::tasks::Lookups;

/// The receiver, set up: all is done before any input.
#[derive(Debug)]
pub struct Receiver(Lookups);

impl Party for Receiver {
    type Params = bulk::Params;
    type Input = ();
    type Output = Lookups;

    fn setup(params: &bulk::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = Lookups { width: params.width, entries: Vec::new() };
        if params.len > 0 {
            let mut vole = bulk::Receiver::setup(params, ch, rng)?;
            // Not before: until here the peer has shown nothing.
            output.entries = vec![0; params.len];
            for entries in output.entries.chunks_mut(params.batch_len()) {
                next_entries(&mut vole, entries, ch)?;
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Lookups, Abort> {
        Ok(self.0)
    }
}

/// Makes all entries, a batch at a time, and gives each batch to `keep` with the number of its first
/// entry. They are wiped afterwards.
pub(crate) fn each_batch_of_entries(
    params: &bulk::Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(usize, &[u8]),
) -> Result<(), Abort> {
    if params.len == 0 {
        return Ok(());
    }
    let mut vole = bulk::Receiver::setup(params, ch, rng)?;
    let batch = params.batch_len();
    let mut entries = Secret::new(vec![0; batch.min(params.len)]);
    for first in (0..params.len).step_by(batch) {
        let entries = &mut entries[..batch.min(params.len - first)];
        next_entries(&mut vole, entries, ch)?;
        keep(first, entries);
    }
    Ok(())
}

/// The entries of the next batch: the choice in the low bits, the table's bit there in the highest.
fn next_entries(vole: &mut bulk::Receiver, entries: &mut [u8], ch: &mut Channel) -> Result<(), Abort> {
    let c = vole.next_batch(entries, ch, look_up)?;
    add_choices(entries, &c);
    Ok(())
}

/// The bits of the tables at `a`, each in the highest bit of its entry.
pub(crate) fn look_up(pi: &Aes128, a: &[u128], entries: &mut [u8]) {
    let mut bits = [0; 64];
    for (a, entries) in a.chunks(bits.len()).zip(entries.chunks_mut(bits.len())) {
        pi.mmo_tables(a, &[0], &mut bits[..a.len()]);
        entries.iter_mut().zip(&bits).for_each(|(entry, &bit)| *entry = (bit as u8) << 7);
    }
}

/// Puts the choices into the low bits of their entries.
pub(crate) fn add_choices(entries: &mut [u8], choices: &[u8]) {
    entries.iter_mut().zip(choices).for_each(|(entry, choice)| *entry |= choice);
}
