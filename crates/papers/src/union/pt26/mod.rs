//! Mutual union by peeling a table: after Piske and Trieu, "Is PSI Really Faster Than PSU? Achieving
//! Efficient PSU with Invertible Bloom Filters" (EUROCRYPT 2026, ePrint 2026/376).
//!
//! **What is the paper's and what is ours.** Of the paper we had the abstract, and not the text. From
//! it come the idea (items of the union are peeled from the two parties' invertible Bloom lookup
//! tables, without a table of the union) and the means (OTs, and an OPRF for tests of equality). The
//! condition on a bin, the messages, the transfer of records, the second table, all parameters and the
//! argument below are this project's. Nobody outside has reviewed them.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y, records w_y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   r_i, k_i[r_i]                [ random OTs, roles swapped ]        k_i[0], k_i[1]
//!   delta, b                     [ VOLE: a = b + delta c ]            c, a
//!
//!   For each table, each item in one bin of each part. In each round, for each bin of the round, a test i:
//!   A: nothing, one item, many                                        B: nothing, one item, many
//!                                2. f_i = r_i + (A is nothing)
//!      ------------------------------------------------------------------------>
//!                                3. name(B) + G(k_i[1 + f_i]),  d_i = point(B) + c_i
//!      <------------------------------------------------------------------------
//!   A': name(B) if A is nothing, else A
//!   b_i += delta d_i
//!                                4. name(A) + G(b_i),  v_i = H(b_i + delta point(A'))
//!      ------------------------------------------------------------------------>
//!                                                                     the bin opens if B is nothing and name(A)
//!                                                                     is not `many`, or B is one item and
//!                                                                     v_i = H(a_i)
//!                                5. which bins open, and a digest of their names
//!      <------------------------------------------------------------------------
//!   names of the items in open bins: both sides know them, and take out those that they have
//!                                6. for each item w_y or 0, + G(k_i[1 + f_i])
//!      <------------------------------------------------------------------------
//!                                7. for each item w_x or 0, + G(b_i)
//!      ------------------------------------------------------------------------>
//!   The bins of the next round: those that an item came out of, and that are not open
//! ```
//!
//! | here | what |
//! |---|---|
//! | `name(x)` | a hash of `name_bits` of an item, which no two items of the union share; 0 for nothing, 1 for many |
//! | `point(x)` | the low `point_bits` of an item's name; 0 for nothing, random for many |
//! | `G`, `H` | `pads`: AES as an ideal cipher under a key for each use, the input added |
//! | test `i` | numbered over all rounds of all tables |
//! | part | of a table: each hash function has bins of its own |
//!
//! # Which bins open
//!
//! Let `U` be what the union's table has in a bin, `A` and `B` what the sides have there, so that `U` is
//! their union as sets. A bin opens exactly if `U` has at most one item:
//!
//! | | `B` is nothing | `B` is one item | `B` is many |
//! |---|---|---|---|
//! | `A` is nothing | opens: the receiver reads 0 | opens: the sender has copied the item, `v_i = H(a_i)` | the sender copies 1, the receiver has a random point |
//! | `A` is one item | opens: the receiver reads the item | opens if they are equal | the receiver has a random point |
//! | `A` is many | the receiver reads 1 | the sender has a random point | both have random points |
//!
//! `H` of the receiver's point is that of `a_i`, since `b_i + delta d_i = a_i + delta point(B)`. With
//! the point 0 the receiver knows `b_i + delta d_i` and reads `name(A)`: the OPRF is the OT in that
//! direction. A side that has nothing in a bin *copies* what the other side says; nothing else tells
//! a bin with an item of one side from a bin with the same item of both.
//!
//! # What either side sees
//!
//! **Claim.** But for the failures below, the bins of each round, which of them open, and the names in
//! these follow from the names of the union and the salt. By induction: the first round of a table
//! tests all bins. If the claim holds up to a round, both sides have taken out the same items of the
//! union, and `U` is what the union's table then has in the bin; by the table above `U` decides on
//! opening; and the bins of the next round are computed from the names. A second table has the items of
//! the union that the first one has left.
//!
//! So a simulator that has the union and a side's own set computes lists, results and names, and for
//! each test what the side itself has in the bin. The OTs and the VOLE are semi-honest ones whose
//! outputs are random.
//!
//! - **A corrupt sender.** *Arrow 3, names*: where it has nothing, `B = U`, which the simulator knows.
//!   Elsewhere `k_i[1 + f_i]` is the block that it lacks: uniform. *Arrow 3, points*: uniform under
//!   `c_i`. *Arrow 5*: the claim. *Arrow 6*: the block opens exactly the records of items that it has
//!   nothing of, and these are its output; others are uniform, whatever they hold.
//! - **A corrupt receiver.** *Arrow 2*: uniform under `r_i`. *Arrow 4, names*: where it has nothing,
//!   `A = U`. Elsewhere its point is not zero, and the pad is the cipher at `a_i + delta point(B)`,
//!   uniform to who does not know `delta`. *Arrow 4, values*: where it has one item, `v_i` is `H(a_i)`
//!   if the bin opens, by the table; where it and the sender have nothing, too, and the name says so;
//!   elsewhere the two points differ, and `v_i` is the cipher at `a_i + delta (point(B) + point(A'))`:
//!   uniform. *Arrow 7*: the pad is that of arrow 4's name, under other keys of the cipher.
//!
//! In particular neither side learns which of its own items are common: it sees its item's bin open
//! whether or not the other side has the item too, and a record come that it cannot open. It learns how
//! many are common, from the size of the union, which the task gives it. The digest is of what the sender
//! knows by then; a side whose tables differ from the other's stops there.
//!
//! **Failures** have probability `2^-40` in all, by `params` and, for one of them, by experiments: two
//! names of the union are equal, points or values are equal by chance or a point is zero, a table leaves
//! items, there are more tests than OTs. The last two end the run with an error, on both sides, which
//! follows from the union and the salt, as all lists do. The others may show or hide an item, or end the
//! run: then it shows which side has what in a bin.
//!
//! **Rounds.** Their number is fixed by the sizes: a round without bins tests the first bin again. How
//! many tests a round has follows from the union, and whoever sees the length of messages learns it, as
//! well as the size of the union.
//!
//! **Order.** Sets must be fixed before the salt. New records come in an order that follows from the
//! names.
//!
//! **Fairness.** In each round the sender first gets the receiver's names of the items that it may lack,
//! then the receiver gets the sender's and the results, and then the sender its records before the
//! receiver has its own. Either may stop with a part of the union; a run that has come to arrow 3 counts
//! as a whole one.

mod messages;
mod pads;
pub mod params;
mod peeling;
mod receiver;
mod records;
#[cfg(test)]
mod secrecy;
mod sender;
#[cfg(test)]
mod tests;

use std::ops::{Range, RangeInclusive};

use vesica_mpc::base_ot;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{
    Abort, Channel, CostClass, Entry, Mode, Phase, Protocol, Rounds, Status, Stream, Task, assume, assumptions,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::fields::Gf128;
use vesica_structures::packing::{pack, packed_len, unpack};
use vesica_structures::secret::Secret;

use self::messages::Digest;
use self::peeling::{Hashes, Left, MANY, Peeling};
use vesica_protocols::styles;
use vesica_protocols::tasks::{SIZES, Union, UnionRequest};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

pub(crate) use messages::MESSAGES;

/// `pt26`.
#[derive(Clone, Copy, Debug)]
pub enum Pt26 {}

impl Protocol for Pt26 {
    const ENTRY: Entry = Entry {
        id: "pt26",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "PT26",
            title: "Is PSI Really Faster Than PSU? Achieving Efficient PSU with Invertible Bloom Filters",
            reference: "Piske, Trieu. EUROCRYPT 2026, ePrint 2026/376",
        },
        // No times are recorded yet by which `auto` could choose it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::PEELING),
        deviations: &[
            "Only the paper's abstract was at hand: peeling of two tables, equality tests from OT and an OPRF. The \
             condition on a bin, the messages and all parameters are ours, and nobody outside has reviewed them.",
            "Each test takes an OT in one direction, and an OPRF from VOLE whose value at zero replaces the OT in the \
             other one.",
            "Tables hold short names of items. The records, of any width, come when an item does, one in each \
             direction, under a pad that the other side has only if it lacks the item.",
            "A second table of eight hash functions takes the at most 128 items that the first one leaves. That it \
             leaves no more after its rounds rests on experiments; all else is within 2^-40 by bounds.",
            "Either side has parts of its result before the other has its own, and may stop there: in each round the \
             sender gets its records first.",
        ],
        modes: &[Mode::semi_honest(
            Rounds::between(40, 88),
            assumptions![
                <SilentVole<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
                <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
                assume!["AES-128 as an ideal cipher"],
            ],
            &[SIZES],
        )],
    };
    type Task = Union;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &UnionRequest) -> Result<Params, Unsupported> {
        Self::ENTRY.require(request.security)?;
        Params::derive(request)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

/// Tests that travel at a time: whole bytes, however wide they are.
const TESTS_PER_PIECE: usize = 1 << 13;

/// Bytes that are hashed at a time.
const DIGEST_PIECE: usize = 1 << 16;

/// What a partner does that shows more items than both sides declared.
const TOO_MANY: &str = "more items come out of the tables than both sides have";

/// All rounds of all tables. `round` gets the table, the number of the round's first test, and what
/// has not come out.
fn rounds(
    params: &Params,
    hashes: &Hashes,
    items: &[u128],
    ch: &mut Channel,
    mut round: impl FnMut(&mut Peeling<'_>, usize, &mut Left, &mut Channel) -> Result<(), Abort>,
) -> Result<(), Abort> {
    let mut is_done = params.tables.is_empty();
    let names = hashes.names(items);
    let mut left = Left { own: Secret::new(vec![true; items.len()]), room: params.most_items() };
    let mut tests = 0;
    for (number, table) in params.tables.iter().enumerate() {
        let phase = ch.phase(Phase::HashItems);
        let mut peeling = Peeling::new(params, number, hashes, &names, &left);
        drop(phase);
        for _ in 0..table.rounds {
            let first = tests;
            tests += peeling.tests();
            if tests > params.tests {
                return Err(Abort::StatisticalFailure("there are more bins to test than there are OTs for"));
            }
            round(&mut peeling, first, &mut left, ch)?;
        }
        is_done = peeling.is_done();
    }
    // The first is known to both sides, and so does not show whose items they are.
    if !is_done || left.own.iter().any(|&left| left) {
        return Err(Abort::StatisticalFailure("some items do not come out of the tables"));
    }
    Ok(())
}

/// The digest of arrow 5. Both sides know what goes into it.
fn digest(found: &[u128]) -> Digest {
    const ENTRY: usize = 4 + size_of::<u128>();
    let mut hasher = blake3::Hasher::new_derive_key("vesica v1 pt26 2026 names in open bins");
    let mut bytes = Secret::new(vec![0; DIGEST_PIECE]);
    for (tests, found) in (0u32..).step_by(DIGEST_PIECE / ENTRY).zip(found.chunks(DIGEST_PIECE / ENTRY)) {
        let mut len = 0;
        for (test, &name) in (tests..).zip(found) {
            bytes[len..][..4].copy_from_slice(&test.to_le_bytes());
            bytes[len + 4..][..ENTRY - 4].copy_from_slice(&name.to_le_bytes());
            len += if name == MANY { 0 } else { ENTRY };
        }
        hasher.update(&bytes[..len]);
    }
    let mut digest = [0; 16];
    hasher.finalize_xof().fill(&mut digest);
    Digest(digest)
}

/// Space for what belongs to the tests of a piece.
fn space() -> Secret<Vec<u128>> {
    Secret::new(vec![0; TESTS_PER_PIECE])
}

/// The tests of a round, piece by piece.
fn pieces(tests: usize) -> impl Iterator<Item = Range<usize>> {
    (0..tests).step_by(TESTS_PER_PIECE).map(move |start| start..tests.min(start + TESTS_PER_PIECE))
}

/// Sends the low `width` bits of each value, packed.
fn send_packed<S: Stream<Element = u8>>(
    values: &[u128],
    width: u32,
    packed: &mut Vec<u8>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    packed.clear();
    pack(bytemuck::cast_slice::<u128, Gf128>(values), width, packed);
    ch.send_stream::<S>(packed)
}

/// Receives packed values of `width` bits.
fn receive_packed<S: Stream<Element = u8>>(
    values: &mut [u128],
    width: u32,
    packed: &mut Vec<u8>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    packed.resize(packed_len(values.len(), width), 0);
    ch.recv_stream::<S>(packed)?;
    let values = bytemuck::cast_slice_mut::<u128, Gf128>(values);
    unpack(packed, width, values).ok_or(Abort::PeerMisbehaved(S::STEP, "bits beyond the last value"))
}
