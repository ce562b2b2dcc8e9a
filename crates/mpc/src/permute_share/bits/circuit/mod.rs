//! Permute and share for single bits by a Boolean circuit: a network of switches, each an AND gate,
//! evaluated by [`crate::gmw`]. Huang, Evans and Katz (NDSS 2012) shuffle so, with garbled circuits;
//! Chandran, Schneider, Stillger and Weinert (ASIACCS 2025, sections 6.3.1 and 6.3.2) shuffle shares
//! so, and make their share translation from it.
//!
//! ```text
//!   Sender: bits v, chosen shares z                                   Receiver: order pi
//!                                                                     s = settings of the network for pi
//!   its shares: of the wires v, of the settings 0                     its shares: 0, and s
//!
//!   for each layer, at each switch with the wires u and l:
//!            <==[ t = s AND (u + l), in shares: one round of GMW for all switches of the layer ]==>
//!   u, l := u + t, l + t                                              u, l := u + t, l + t
//!
//!   in the end, its shares being w:
//!                                1. w + z
//!      ------------------------------------------------------------------------>
//!                                                                     its shares + w + z
//! ```
//!
//! A switch swaps its wires if `s = 1`, since it then adds `u + l` to both. GMW's shares of `t` are
//! fresh, and nothing is opened but `w` under `z`, which is uniform. To the sender, the settings are
//! inputs of the other side. That some of them are always 0 in a Benes network
//! ([`vesica_structures::permutation`]) is known beforehand, and shows nothing of the order.
//!
//! Against [the network of OTs](super), a gate does not use that one side knows the setting: it takes
//! five bits instead of two, and a round for each of the `2 ceil(log2 n) - 1` layers.

mod layers;
mod messages;
mod params;
mod receiver;
mod sender;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, CostClass, Entry, Mode, Party, Protocol, Rounds, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::permutation::Network;
use vesica_structures::rng::SecretRng;

use self::layers::{each_run, width};
use super::words::Words;
use super::{Shape, Waksman};
use crate::bits::Bits;
use crate::gmw::Evaluator;
use crate::random_one_of_n_ot::OneOfN;
use crate::tasks::{PermuteBitsRequest, PermuteShareBits};

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// Permute and share for single bits by a circuit of switches.
#[derive(Debug)]
pub struct SwitchCircuit<N = Waksman>(PhantomData<fn() -> N>);

impl<N: Shape> Protocol for SwitchCircuit<N> {
    const ENTRY: Entry = Entry {
        id: match N::NETWORK {
            Network::Waksman => "permute-share-1-circuit",
            Network::Benes => "permute-share-1-circuit-benes",
        },
        aliases: &[],
        variants: &[],
        task: PermuteShareBits::NAME,
        paper: Paper {
            key: "HEK12",
            title: "Private Set Intersection: Are Garbled Circuits Better than Custom Protocols?",
            reference: "Y. Huang, D. Evans, J. Katz. NDSS 2012",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[
            "GMW instead of garbled circuits, with a random table of four bits for each gate instead of triples",
            match N::NETWORK {
                Network::Waksman => "Waksman's network for any number of wires, instead of one of a power of two",
                Network::Benes => {
                    "a Benes network for any number of wires (Chang, Melhem 1997), instead of Waksman's of a power of two"
                }
            },
        ],
        modes: &[Mode { rounds: Rounds::between(11, 43), ..<OneOfN as Protocol>::ENTRY.modes[0] }],
    };
    type Task = PermuteShareBits;
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    fn derive(request: &PermuteBitsRequest) -> Result<Params, Unsupported> {
        Params::derive(request, N::NETWORK)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        let bytes = params.predicted_bytes();
        bytes..=bytes
    }
}

/// All layers on shares of the wires; without settings the own share of them is zero.
fn switch_all(
    params: &Params,
    layers: Vec<Evaluator>,
    settings: Option<&Words>,
    wires: &mut Words,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let &Params { network, len, .. } = params;
    for (layer, evaluator) in layers.into_iter().enumerate() {
        let width = width(network, len, layer);
        let (mut own_settings, mut sums, mut at) = (Words::zeros(width), Words::zeros(width), 0);
        each_run(network, len, layer, |run, first| {
            let used = u64::MAX >> (64 - run.len);
            own_settings.add(at, settings.map_or(0, |settings| settings.word_at(first) & used));
            sums.add(at, (wires.word_at(run.upper) ^ wires.word_at(run.lower)) & used);
            at += run.len;
        });
        let added = evaluator.run(vec![own_settings.first(width), sums.first(width)], ch, rng)?;
        let added = Words::of(added.first().unwrap_or(&Bits::default()));
        let mut at = 0;
        each_run(network, len, layer, |run, _| {
            let added = added.word_at(at) & (u64::MAX >> (64 - run.len));
            wires.add(run.upper, added);
            wires.add(run.lower, added);
            at += run.len;
        });
    }
    Ok(())
}
