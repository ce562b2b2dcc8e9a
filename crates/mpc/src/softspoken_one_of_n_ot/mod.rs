//! Random 1-of-2^k oblivious transfer of bits from VOLE over small fields, without LPN: the other
//! raw material of circuits, beside [`crate::random_one_of_n_ot`].
//!
//! ```text
//!     sender                                                    receiver
//!     delta            [ 128 base OTs and the small trees, once ]
//!   for each batch:
//!     b                [ columns of k bits a table: a = b + delta c ]          c, a
//!   table_i[j] = lowest bit of H(b_i + delta j), j < 2^k        choice_i = c_i,  bit_i = lowest bit of H(a_i)
//! ```
//!
//! The figure of the trees and columns is that of [`crate::ot_extension`]: a value of `k` bits takes
//! `k` of its rows, the rows of its bits times 1, 2, 4 and 8. `H` is that of `silent::bulk`, under a
//! key for every 16 tables. Of the receiver's corrections a table takes `15 k / 8` bytes, a little
//! more for `k` of 3, as a block of 128 bits has 42 values of 3 bits.
//!
//! **What batches share** is `delta` and the trees. Each has columns of its own, further down the
//! leaves' streams, and hash keys of its own. Both sides hold no more than one batch beside what they
//! keep of all tables.
//!
//! **Security** (semi-honest). The corrections are masked by the leaf of each tree that the sender
//! lacks, so that `c` is uniform to it. The receiver knows all `a_i`, which are pseudo-random: two
//! inputs of `H` under one key meet with the probability that `silent::bulk` states, and else all
//! places of a table but `c_i` are pseudo-random to it. A corrupt receiver may learn bits of `delta`
//! by corrections of its choice: no check is made, which is why there is no malicious mode.

mod receiver;
mod sender;

use std::ops::{Range, RangeInclusive};

use rayon::prelude::*;
use vesica_kernels::aes::Aes128;
use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Security, Status, Task, assumptions};
use vesica_structures::facts::Unsupported;
use vesica_structures::secret::Secret;

use crate::binding::Binding;
use crate::ot_extension::{self, Columns};
use crate::random_one_of_n_ot::{MAX_LEN, check};
use crate::silent::bulk::{self, Hashes, batch_binding};
use crate::tasks::{CorrelationRequest, RandomOneOfNOt};

pub use receiver::Receiver;
pub use sender::Sender;

/// Blocks of 128 bits of each column in a batch, whose columns take 2 MiB.
const BLOCKS_PER_BATCH: usize = 1 << 10;

/// Blocks that a thread reads and hashes at a time: as many that no two parts share a hash key.
const BLOCKS_PER_PART: usize = 64;

/// Random tables from VOLE over small fields.
#[derive(Debug)]
pub enum SoftSpokenOneOfN {}

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number of tables.
    len: usize,
    /// `k`.
    width: u32,
}

impl Protocol for SoftSpokenOneOfN {
    const ENTRY: Entry = Entry {
        id: "ot-softspoken-1-of-n",
        aliases: &[],
        variants: &[],
        task: RandomOneOfNOt::NAME,
        paper: ot_extension::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "the choices are values of k bits, which k rows of the extension make one VOLE element of",
            "batches share one set of base OTs and trees; each goes on in the leaves' streams where the one before \
             ended",
            "bits are the lowest ones of MMO hashes without tweaks [GKWY20], under a key for every 16 tables: a \
             search for delta takes 2^124 calls of the cipher for choices of one bit, and at least 2^122, 2^121, 2^120 \
             for two, three, four bits, as one call tests a guess for all multiples of delta",
        ],
        modes: &[Mode::semi_honest(
            Rounds::exactly(2),
            assumptions![ot_extension::ASSUMPTIONS, &[bulk::CORRELATION_ROBUST]],
            &[],
        )],
    };
    type Task = RandomOneOfNOt;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &CorrelationRequest) -> Result<Params, Unsupported> {
        let width = check(request)?;
        if request.len > MAX_LEN {
            return Err(Unsupported::new(
                format_args!("{} random tables in one run", request.len),
                format_args!("ask for at most {MAX_LEN} at a time"),
            ));
        }
        Ok(Params { len: request.len, width })
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let correlation = ot_extension::Params { blocks: params.blocks(params.len), security: Security::SemiHonest };
        let bytes = if params.len == 0 { 0 } else { correlation.predicted_bytes() };
        bytes..=bytes
    }
}

impl Params {
    /// Tables that one block of each column gives.
    fn tables_per_block(&self) -> usize {
        128 / self.width as usize
    }

    /// Blocks of each column for so many tables.
    fn blocks(&self, tables: usize) -> usize {
        tables.div_ceil(self.tables_per_block())
    }

    /// The tables of each batch: whole blocks in all but the last.
    fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (len, batch) = (self.len, BLOCKS_PER_BATCH * self.tables_per_block());
        (0..len).step_by(batch).map(move |first| first..len.min(first + batch))
    }
}

/// Hashes the elements of batch `number`, which has columns and hash keys of its own, on all threads:
/// `consume` turns some of them into as many of `out`.
fn hash_batch<O: Send>(
    params: &Params,
    columns: &Columns,
    (binding, number): (Binding, usize),
    out: &mut [O],
    consume: impl Fn(&Aes128, &[u128], &mut [O]) + Sync,
) {
    let hashes = Hashes::new(batch_binding(binding, number));
    let per_part = BLOCKS_PER_PART * params.tables_per_block();
    out.par_chunks_mut(per_part).enumerate().for_each(|(part, out)| {
        let first = part * BLOCKS_PER_PART;
        let elements = Secret::new(columns.digits(first..first + params.blocks(out.len()), params.width));
        hashes.each(part * per_part, bytemuck::cast_slice(&elements), out, &consume);
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use vesica_party::{Abort, Channel};
    use vesica_structures::fields::Gf128;
    use vesica_structures::rng::SecretRng;
    use vesica_testkit::two_party;

    use super::*;
    use crate::ot_extension::{ReceiverTrees, SenderTrees, narrow_digits};
    use crate::silent::bulk::ELEMENTS_PER_KEY;

    #[test]
    fn batches_cover_all_tables_once_and_send_what_is_predicted() {
        for width in 1..=4 {
            let batch = BLOCKS_PER_BATCH * (128 / width as usize);
            for len in [0, 1, batch - 1, batch, batch + 1, 3 * batch + 5] {
                let params = Params { len, width };
                let (mut next, mut blocks) = (0, 0);
                for tables in params.batches() {
                    assert!(tables.start == next && tables.len() <= batch && !tables.is_empty());
                    blocks += params.blocks(tables.len());
                    next = tables.end;
                }
                assert_eq!((next, blocks), (len, params.blocks(len)), "{len} tables of {width} bits");
            }
        }
    }

    /// What a batch of `blocks` blocks is to the receiver: bits `u` and column 0 of `V`.
    type Part = (Vec<u128>, Vec<u128>);

    /// Parts of these sizes, one after the other; both sides' VOLE of `width` bits is checked.
    /// `rewind` takes the receiver's and the sender's counters back before each part.
    fn parts(sizes: &[usize], width: u32, rewind: bool) -> Vec<Part> {
        let (sent, got) = two_party(
            |ch: &mut Channel, rng: &mut SecretRng| {
                let mut trees = SenderTrees::setup(false, ch, rng)?;
                let mut all = Vec::new();
                for &blocks in sizes {
                    if rewind {
                        trees.rewind();
                    }
                    all.push(trees.next_columns(blocks, ch)?.digits(0..blocks, width));
                }
                Ok::<_, Abort>((Gf128(*trees.delta), all))
            },
            |ch, rng| {
                let mut trees = ReceiverTrees::setup(false, ch, rng)?;
                let mut all = Vec::new();
                for &blocks in sizes {
                    if rewind {
                        trees.rewind();
                    }
                    let (bits, columns) = trees.next_columns(blocks, ch)?;
                    let digits = (columns.digits(0..blocks, width), narrow_digits(&bits, width));
                    all.push((digits, (bits.to_vec(), columns.column(0).to_vec())));
                }
                Ok(all)
            },
        );
        let (delta, sent) = sent;
        for (b, ((a, c), _)) in sent.iter().zip(&got) {
            let holds = |i: usize| a[i] == b[i] + delta * Gf128(u128::from(c[i]));
            assert!(a.len() == b.len() && a.len() == c.len() && (0..a.len()).all(holds));
        }
        got.into_iter().map(|(_, part)| part).collect()
    }

    /// Whether no block of any part's bits or columns is also in another place of any part.
    fn are_independent(parts: &[Part]) -> bool {
        let blocks: Vec<u128> = parts.iter().flat_map(|(bits, column)| [&bits[..], column].concat()).collect();
        blocks.iter().collect::<HashSet<_>>().len() == blocks.len()
    }

    /// Parts are VOLE under one `delta` and share no block of a stream; where a counter is used
    /// again, the test sees it.
    #[test]
    fn parts_go_on_where_the_one_before_ended() {
        // The strips of a stream have 16 blocks.
        for sizes in [&[1, 1, 1][..], &[20, 5, 17], &[3, 64, 1, 40]] {
            for width in [1, 3, 4] {
                assert!(are_independent(&parts(sizes, width, false)), "{sizes:?}, {width} bits");
                assert!(!are_independent(&parts(sizes, width, true)), "{sizes:?}, {width} bits: planted reuse");
            }
        }
    }

    /// However columns are cut into parts, they are the same.
    #[test]
    fn parts_are_the_pieces_of_one_correlation() {
        let run = |sizes: &'static [usize]| {
            let (_, parts) = two_party(
                |ch, _| {
                    let mut trees = SenderTrees::setup(false, ch, &mut SecretRng::insecure_from_seed(1))?;
                    sizes.iter().try_for_each(|&blocks| trees.next_columns(blocks, ch).map(drop))
                },
                |ch, _| {
                    let mut trees = ReceiverTrees::setup(false, ch, &mut SecretRng::insecure_from_seed(2))?;
                    sizes.iter().map(|&blocks| Ok(trees.next_columns(blocks, ch)?.0)).collect::<Result<Vec<_>, Abort>>()
                },
            );
            parts.iter().flat_map(|bits: &Secret<Vec<u128>>| bits.to_vec()).collect::<Vec<u128>>()
        };
        assert_eq!(run(&[50]), run(&[7, 16, 27]));
    }

    /// The parts of a batch that threads hash side by side have the keys that one thread would use, and
    /// no other batch has one of them.
    #[test]
    fn every_sixteen_tables_have_a_key_of_their_own() {
        for width in 1..=4 {
            let params = Params { len: 3 * BLOCKS_PER_PART * (128 / width as usize) + 21, width };
            let blocks = params.blocks(params.len);
            let (binding, columns) = two_party(
                |ch, rng| {
                    let mut trees = SenderTrees::setup(false, ch, rng)?;
                    let columns = trees.next_columns(blocks, ch)?;
                    Ok((trees.binding, columns))
                },
                |ch, rng| ReceiverTrees::setup(false, ch, rng)?.next_columns(blocks, ch).map(drop),
            )
            .0;
            let elements = columns.digits(0..blocks, width);
            let mut seen = HashSet::new();
            for batch in [0, 1, 2, 50] {
                let mut keyed = vec![[0; 2]; params.len];
                hash_batch(&params, &columns, (binding, batch), &mut keyed, |pi, x, out| {
                    let mut zero = [0];
                    pi.encrypt(&mut zero);
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out = [zero[0], x]);
                });
                assert!(keyed.iter().zip(&elements).all(|([_, x], element)| *x == element.0), "{width} bits");
                for of_key in keyed.chunks(ELEMENTS_PER_KEY) {
                    assert!(of_key.iter().all(|[key, _]| *key == of_key[0][0]) && seen.insert(of_key[0][0]));
                }
            }
        }
    }
}
