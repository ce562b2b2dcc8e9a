//! The left column of the figure: gets whole tables.

use vesica_party::{Abort, Channel, Party};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::silent::bulk;
use crate::tasks::Tables;

/// The sender, set up: all is done before any input.
#[derive(Debug)]
pub struct Sender(Tables);

impl Party for Sender {
    type Params = bulk::Params;
    type Input = ();
    type Output = Tables;

    fn setup(params: &bulk::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut output = Tables { width: params.width, tables: Vec::new() };
        if params.len > 0 {
            let mut vole = bulk::Sender::setup(params, ch, rng)?;
            // Not before: until here the peer has shown nothing.
            output.tables = vec![0; params.len];
            for tables in output.tables.chunks_mut(params.batch_len()) {
                next_tables(&mut vole, params.width, tables, ch)?;
            }
        }
        Ok(Self(output))
    }

    fn run(self, (): (), _: &mut Channel, _: &mut SecretRng) -> Result<Tables, Abort> {
        Ok(self.0)
    }
}

/// Makes all tables, a batch at a time, and gives each batch to `keep` with the number of its first
/// table. They are wiped afterwards.
pub(crate) fn each_batch_of_tables(
    params: &bulk::Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
    mut keep: impl FnMut(usize, &[u16]),
) -> Result<(), Abort> {
    if params.len == 0 {
        return Ok(());
    }
    let mut vole = bulk::Sender::setup(params, ch, rng)?;
    let batch = params.batch_len();
    let mut tables = Secret::new(vec![0; batch.min(params.len)]);
    for first in (0..params.len).step_by(batch) {
        let tables = &mut tables[..batch.min(params.len - first)];
        next_tables(&mut vole, params.width, tables, ch)?;
        keep(first, tables);
    }
    Ok(())
}

/// The tables of the next batch, for choices of `width` bits.
fn next_tables(vole: &mut bulk::Sender, width: u32, tables: &mut [u16], ch: &mut Channel) -> Result<(), Abort> {
    let offsets = offsets(vole.delta(), width);
    vole.next_batch(tables, ch, |pi, b, tables| pi.mmo_tables(b, &offsets, tables))
}

/// `delta` times each choice of `width` bits.
pub(crate) fn offsets(delta: Gf128, width: u32) -> Secret<Vec<u128>> {
    Secret::new((0..1 << width).map(|j| (delta * Gf128(j)).0).collect())
}
