//! The part that both columns share: a side goes through the layers piece by piece, and is owner
//! and chooser in turn.
//!
//! Message 0 has the masked inputs of layer 0, message `s` the corrections of layer `s - 1` and the
//! masked inputs of layer `s`. The two sides take turns: whoever owns a layer is the chooser of the
//! next. Pieces overlap: a side starts [`PIECES_IN_FLIGHT`] pieces before it needs the answer to
//! the first, so that neither a slow link's delay nor the other side's work makes it wait. All
//! messages of a few pieces fit a channel's queue, and a side never blocks on sending.

use std::collections::VecDeque;
use std::ops::Range;

use vesica_party::{Abort, Channel, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::gates;
use super::messages::{FirstMasked, FromReceiver, FromSender};
use super::params::{Layer, Params, WORDS_PER_PIECE};
use crate::bits::{Bits, transpose_64};
use crate::polynomials::Polynomials;
use crate::tasks::{Lookups, Tables};

/// Pieces that are under way before the first answer must have come.
const PIECES_IN_FLIGHT: usize = 4;

/// One side, set up.
pub(super) struct Tree {
    params: Params,
    role: Role,
    /// For each layer, for each of its groups the coefficients if this side owns it, else the
    /// evaluations. Nothing for inputs that are passed on.
    material: Vec<Vec<Secret<Vec<Vec<u64>>>>>,
}

/// A piece between two messages.
struct Piece {
    words: Range<usize>,
    /// This side's inputs of the layer that comes next, plane after plane.
    inputs: Secret<Vec<u64>>,
    /// The chooser's masked inputs of that layer, where this side owns it.
    masked: Vec<u64>,
}

impl Tree {
    /// Makes the polynomials.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let role = ch.role();
        Self::with(params, role, |owner, polynomials| match (owner, role) {
            (Role::Sender, Role::Sender) => polynomials.own(ch, rng),
            (Role::Sender, Role::Receiver) => polynomials.evaluate(ch, rng),
            (Role::Receiver, Role::Receiver) => ch.reversed(|ch| polynomials.own(ch, rng)),
            (Role::Receiver, Role::Sender) => ch.reversed(|ch| polynomials.evaluate(ch, rng)),
        })
    }

    /// Takes random tables that exist already: those that this side owns, and lookups in the
    /// others, both in the order of [`Params::tables`].
    pub fn from_tables(params: &Params, role: Role, own: &[Tables], seen: &[Lookups]) -> Result<Self, Abort> {
        let (mut own, mut seen) = (own.iter(), seen.iter());
        Self::with(params, role, |owner, polynomials| {
            let missing =
                || Unsupported::new("fewer random tables than the tests take", "give those that the parameters name");
            match owner == role {
                _ if polynomials.groups == 0 => Ok(Vec::new()),
                true => Ok(polynomials.own_from(own.next().ok_or_else(missing)?)?),
                false => Ok(polynomials.evaluate_from(seen.next().ok_or_else(missing)?)?),
            }
        })
    }

    /// With polynomials that `make` makes for one owner at a time.
    fn with(
        params: &Params,
        role: Role,
        mut make: impl FnMut(Role, Polynomials) -> Result<Vec<Secret<Vec<Vec<u64>>>>, Abort>,
    ) -> Result<Self, Abort> {
        let mut material: Vec<Vec<_>> = params
            .layers()
            .iter()
            .map(|layer| layer.groups.iter().map(|_| Secret::new(Vec::new())).collect())
            .collect();
        for (owner, polynomials) in params.correlations() {
            let made = make(owner, polynomials)?;
            let owned = params.layers().iter().zip(&mut material).filter(|(layer, _)| layer.owner == owner);
            let places = owned.flat_map(|(layer, material)| layer.groups.iter().zip(material));
            let places = places.filter(|(group, _)| group.inputs == polynomials.variables as usize);
            places.zip(made).for_each(|((_, place), made)| *place = made);
        }
        Ok(Self { params: params.clone(), role, material })
    }

    /// The number of tests and their width.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The coefficients of the polynomials of the first layer.
    pub fn first(&self) -> &[Secret<Vec<Vec<u64>>>] {
        &self.material[0]
    }

    /// Shares of the products of all bits of the factors; those of a test are the sums of both
    /// sides' `factors`, below `2^width` and laid out like [`Sender::values`](super::Sender::values).
    pub fn run(mut self, factors: &[u64], ch: &mut Channel) -> Result<Bits, Abort> {
        let messages = self.params.layers().len() + 1;
        let pieces = self.params.words().div_ceil(WORDS_PER_PIECE);
        // How many answers of the peer's a message waits for.
        let waits = |message: usize| (message + usize::from(self.role == Role::Receiver)) / 2;
        let mut under_way: Vec<VecDeque<Piece>> = (0..messages).map(|_| VecDeque::new()).collect();
        let mut shares = vec![0; self.params.words()];
        for tick in 0..pieces + PIECES_IN_FLIGHT * waits(messages - 1) {
            for number in 0..messages {
                let Some(piece) = tick.checked_sub(PIECES_IN_FLIGHT * waits(number)).filter(|&piece| piece < pieces)
                else {
                    continue;
                };
                let piece = match number {
                    0 => Some(self.start(piece, factors)),
                    _ => under_way[number - 1].pop_front(),
                };
                // There is one: a piece comes here as often as to the message before.
                let Some(mut piece) = piece else { continue };
                if self.speaks(number) {
                    self.speak(number, &mut piece, ch)?;
                } else {
                    self.listen(number, &mut piece, ch)?;
                }
                if number + 1 < messages {
                    under_way[number].push_back(piece);
                } else {
                    shares[piece.words.clone()].copy_from_slice(&piece.inputs);
                }
            }
        }
        self.material.clear();
        Ok(Bits::from_words(shares, self.params.len))
    }

    /// Whether message `number` is this side's.
    fn speaks(&self, number: usize) -> bool {
        (number % 2 == 1) == (self.role == Role::Sender)
    }

    /// The piece with the bits of its factors in planes.
    fn start(&self, piece: usize, factors: &[u64]) -> Piece {
        let words = piece * WORDS_PER_PIECE..((piece + 1) * WORDS_PER_PIECE).min(self.params.words());
        let len = words.len();
        let mut inputs = Secret::new(vec![0; self.params.width as usize * len]);
        for (planes, factors) in inputs.chunks_mut(64 * len).zip(factors.chunks(self.params.len)) {
            for (i, factors) in factors[words.start * 64..].chunks(64).take(len).enumerate() {
                let mut square = Secret::new([0u64; 64]);
                square[..factors.len()].copy_from_slice(factors);
                transpose_64(&mut square);
                planes.chunks_exact_mut(len).zip(square.iter()).for_each(|(plane, word)| plane[i] = *word);
            }
        }
        Piece { words, inputs, masked: Vec::new() }
    }

    fn speak(&self, number: usize, piece: &mut Piece, ch: &mut Channel) -> Result<(), Abort> {
        let len = piece.words.len();
        let (corrections, masked) = self.params.message_planes(number);
        let mut message = vec![0; (corrections + masked) * len];
        let (corrections, masked) = message.split_at_mut(corrections * len);
        if number > 0 {
            piece.inputs = self.own(number - 1, piece, corrections);
        }
        if number < self.params.layers().len() {
            self.mask(number, piece, masked);
        }
        match number {
            _ if message.is_empty() => Ok(()),
            0 => ch.send(&FirstMasked(message)),
            _ if self.role == Role::Sender => ch.send(&FromSender(message)),
            _ => ch.send(&FromReceiver(message)),
        }
    }

    fn listen(&self, number: usize, piece: &mut Piece, ch: &mut Channel) -> Result<(), Abort> {
        let len = piece.words.len();
        let (corrections, masked) = self.params.message_planes(number);
        let words = (corrections + masked) * len;
        let mut message = match number {
            _ if words == 0 => Vec::new(),
            0 => ch.recv::<FirstMasked>(words)?.0,
            _ if self.role == Role::Sender => ch.recv::<FromReceiver>(words)?.0,
            _ => ch.recv::<FromSender>(words)?.0,
        };
        piece.masked = message.split_off(corrections * len);
        if number > 0 {
            piece.inputs = self.choose(number - 1, piece, &message);
        }
        Ok(())
    }

    /// The owner's half of a layer: its shares of the products; fills in the corrections.
    fn own(&self, layer: usize, piece: &Piece, mut corrections: &mut [u64]) -> Secret<Vec<u64>> {
        let mut masked = &piece.masked[..];
        self.products(layer, piece, |group, material, inputs, share| {
            let mine = take(&mut masked, group.masked() * share.len());
            let (sent, rest) = std::mem::take(&mut corrections).split_at_mut(group.corrections() * share.len());
            corrections = rest;
            gates::own(group, material, piece.words.clone(), inputs, mine, sent, share);
        })
    }

    /// The chooser's half of a layer.
    fn choose(&self, layer: usize, piece: &Piece, mut corrections: &[u64]) -> Secret<Vec<u64>> {
        self.products(layer, piece, |group, material, inputs, share| {
            let mine = take(&mut corrections, group.corrections() * share.len());
            gates::choose(group, material, piece.words.clone(), inputs, mine, share);
        })
    }

    /// Goes through the groups of a layer with their material, inputs and shares.
    fn products(
        &self,
        layer: usize,
        piece: &Piece,
        mut product: impl FnMut(super::params::Group, &[Vec<u64>], &[u64], &mut [u64]),
    ) -> Secret<Vec<u64>> {
        let len = piece.words.len();
        let groups = &self.params.layers()[layer].groups;
        let mut inputs = &piece.inputs[..];
        let mut shares = Secret::new(vec![0; groups.len() * len]);
        for ((&group, material), share) in groups.iter().zip(&self.material[layer]).zip(shares.chunks_exact_mut(len)) {
            product(group, material, take(&mut inputs, group.inputs * len), share);
        }
        shares
    }

    /// The chooser's masked inputs of a layer.
    fn mask(&self, layer: usize, piece: &Piece, masked: &mut [u64]) {
        let len = piece.words.len();
        let Layer { groups, .. } = &self.params.layers()[layer];
        let mut inputs = piece.inputs.chunks_exact(len);
        let mut masked = masked.chunks_exact_mut(len);
        for (group, evaluations) in groups.iter().zip(&self.material[layer]) {
            let points = inputs.by_ref().take(group.inputs).zip(evaluations.iter());
            for (input, point) in points {
                let Some(masked) = masked.next() else { return };
                let point = &point[piece.words.clone()];
                masked.iter_mut().zip(input).zip(point).for_each(|((masked, input), point)| *masked = input ^ point);
            }
        }
    }
}

/// The first `count` words, which go away.
fn take<'a>(words: &mut &'a [u64], count: usize) -> &'a [u64] {
    let (head, rest) = words.split_at(count);
    *words = rest;
    head
}
