//! Random oblivious transfer on Ristretto: the Diffie-Hellman instance of *Endemic Oblivious
//! Transfer* [MR19, Figure 8].
//!
//! ```text
//!        sender                                                      receiver, bits s_1 .. s_n
//!   c random, A = c G
//!                       ------ 1: A ------------------------------->
//!                                                                    for each i: a_i random, R_i[1 - s_i] a random point,
//!                                                                    R_i[s_i] = a_i G - H(i, s_i, R_i[1 - s_i])
//!                       <----- 2: R_1[0], R_1[1], .. R_n[0], R_n[1] --   16 pairs a message
//!   k_i[j] = K(i, j, c (R_i[j] + H(i, j, R_i[1 - j])))                k_i[s_i] = K(i, s_i, a_i A)
//! ```
//!
//! | paper | here |
//! |---|---|
//! | `H_0, H_1` | `slot_hash`: [`crate::group::hash_to_group`] of session, index, slot and the other slot's point |
//! | `m_A`, `(r_0, r_1)` | [`messages::SenderPoint`], [`messages::ReceiverPoints`] |
//! | key derivation | `transfer_key`: BLAKE3 keyed with the hash of both messages |
//!
//! Both points of a slot pair are uniform whatever the bit, so the bits are hidden from any sender.
//! A corrupt receiver knows the discrete logarithm behind at most one slot (gap-CDH, random
//! oracle). *Endemic*: whoever is corrupt may choose its own outputs; that is all that OT extension
//! and the small trees of [`crate::ot_extension`] need.

pub mod messages;
mod receiver;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::CompressedRistretto;
use vesica_party::{CostClass, Entry, Mode, Protocol, Resistance, Rounds, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use crate::binding::Binding;
use crate::tasks::{CorrelationRequest, RandomOt};

pub(crate) use receiver::receive;
pub(crate) use sender::send;

/// The protocol's name in steps.
pub(crate) const NAME: &str = "base-ot";

/// Domain separation tag for hashing to the group.
const GROUP_DST: &[u8] = b"vesica-v1-endemic-ot-with-ristretto255_XMD:SHA-512_R255MAP_RO_";

pub(crate) const ASSUMPTIONS: &[&str] = &["gap-CDH on Ristretto", "random oracles (SHA-512, BLAKE3)"];

/// Random OT from Diffie-Hellman key agreement; secure against active parties in either mode.
#[derive(Debug)]
pub struct BaseOt(PhantomData<()>);

impl Protocol for BaseOt {
    const ENTRY: Entry = Entry {
        id: "ot-mr19",
        aliases: &["base-ot"],
        variants: &[],
        task: RandomOt::NAME,
        paper: Paper {
            key: "MR19",
            title: "Endemic Oblivious Transfer",
            reference: "D. Masny, P. Rindal, CCS 2019, ePrint 2019/706",
        },
        status: Status::Recommended,
        cost: CostClass::GroupOperations,
        map_and_compare: None,
        deviations: &[
            "one Diffie-Hellman message of the sender serves all transfers of a run: hashes are bound to the \
             transfer's index and slot",
            "keys are hashes of twice the shared point, which compress in a batch; doubling permutes the group",
        ],
        modes: &[
            mode(Security::SemiHonest, Resistance::Malicious, 1, ASSUMPTIONS),
            mode(Security::Malicious, Resistance::Malicious, 1, ASSUMPTIONS),
        ],
    };
    type Task = RandomOt;
    type Params = CorrelationRequest;
    type Sender = sender::Sender;
    type Receiver = receiver::Receiver;

    fn derive(request: &CorrelationRequest) -> Result<CorrelationRequest, Unsupported> {
        if request.len > MAX_TRANSFERS {
            return Err(Unsupported::new(
                format_args!("{} base OTs in one run", request.len),
                format_args!("ask for at most {MAX_TRANSFERS}, or use an OT extension"),
            ));
        }
        Ok(*request)
    }

    fn predicted_bytes(params: &CorrelationRequest) -> RangeInclusive<u64> {
        let bytes = predicted_bytes(params.len);
        bytes..=bytes
    }
}

/// A bound on transfers a run: each costs three multiplications on the curve.
const MAX_TRANSFERS: usize = 1 << 16;

/// Bytes of both messages: 32 and 64 a transfer.
pub(crate) fn predicted_bytes(transfers: usize) -> u64 {
    32 + 64 * transfers as u64
}

/// A mode that holds equally against either party.
pub(crate) const fn mode(
    security: Security,
    against: Resistance,
    rounds: usize,
    assumptions: &'static [&'static str],
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

/// `H(index, slot, other)`.
fn slot_hash(binding: Binding, index: usize, slot: u8, other: &CompressedRistretto) -> RistrettoPoint {
    let message = binding.digest("slot", &[&(index as u64).to_le_bytes(), &[slot], other.as_bytes()]);
    crate::group::hash_to_group(GROUP_DST, &message)
}

/// The key of a slot from the encoding of twice the shared point; `binding` covers both messages.
fn transfer_key(binding: Binding, index: usize, slot: u8, shared: &CompressedRistretto) -> u128 {
    binding.key("key", &[&(index as u64).to_le_bytes(), &[slot], shared.as_bytes()])
}

/// Binds to both messages.
fn bind_messages(binding: Binding, sender: &CompressedRistretto, receiver: &[[CompressedRistretto; 2]]) -> Binding {
    let points = receiver.as_flattened().iter().flat_map(|point| *point.as_bytes());
    binding.extend("messages", &sender.as_bytes().iter().copied().chain(points).collect::<Vec<u8>>())
}
