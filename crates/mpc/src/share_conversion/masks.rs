//! Masks, and their products with shared bits: the upper half of the second figure of the parent
//! module.

use std::ops::Range;

use vesica_party::{Abort, Channel};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::transfer::{Chooser, Holder, Shape};
use crate::tasks::Share;

/// The left column: who has the masks.
pub(super) struct Masked<E: Share> {
    shape: Shape<E>,
    pairs: Holder<E>,
    /// `t_i`, row by row.
    masks: Secret<Vec<E>>,
}

impl<E: Share> Masked<E> {
    pub fn setup(shape: Shape<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let pairs = Holder::setup(shape, ch, rng)?;
        let mut masks = Secret::new(vec![E::default(); shape.len * shape.width]);
        for rows in shape.pieces() {
            let (zeros, ones) = (pairs.pads(rows.clone(), 0), pairs.pads(rows.clone(), 1));
            let pads = zeros.iter().zip(ones.iter());
            masks[shape.elements(&rows)]
                .iter_mut()
                .zip(pads)
                .for_each(|(mask, (&zero, &one))| *mask = one.minus(zero).low(shape.bits));
        }
        Ok(Self { shape, pairs, masks })
    }

    pub fn masks(&self) -> &[E] {
        &self.masks
    }

    /// Step 1; then takes its shares of `q_i t_i` from the first elements of each row of `shares`,
    /// which has `width`.
    pub fn subtract(&self, p: &[bool], shares: &mut [E], width: usize, ch: &mut Channel) -> Result<(), Abort> {
        let (shape, flips) = (&self.shape, self.pairs.flips(ch)?);
        for rows in shape.pieces() {
            let zeros = self.pairs.pads(rows.clone(), 0);
            let pads = zeros.chunks_exact(shape.width).zip(self.masks[shape.elements(&rows)].chunks_exact(shape.width));
            let shares = shares[rows.start * width..].chunks_exact_mut(width);
            for ((row, shares), (zeros, masks)) in rows.zip(shares).zip(pads) {
                let e = p[row] ^ flips[row];
                for (share, (zero, mask)) in shares.iter_mut().zip(zeros.iter().zip(masks)) {
                    *share = share.plus(zero.flipped(e)).minus(mask.times(e));
                }
            }
        }
        Ok(())
    }
}

/// The right column: whose bits choose between the pads. Step 1 is `send_flips`.
pub(super) struct Unmasked<E> {
    shape: Shape<E>,
    pub chooser: Chooser<E>,
}

impl<E: Share> Unmasked<E> {
    pub fn setup(shape: Shape<E>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { shape, chooser: Chooser::setup(shape, ch, rng)? })
    }

    /// Takes `v_i` from the first elements of each of some rows of `shares`, and adds `2 v_i` to
    /// those of `numbers`, which has these rows only. Both have `width` elements a row.
    pub fn subtract(&self, rows: Range<usize>, o: &[bool], shares: &mut [E], numbers: &mut [E], width: usize) {
        let pads = self.chooser.pads(rows.clone());
        let elements = shares[rows.start * width..].chunks_exact_mut(width).zip(numbers.chunks_exact_mut(width));
        for ((row, pads), (shares, numbers)) in rows.zip(pads.chunks_exact(self.shape.width)).zip(elements) {
            let flip = self.chooser.flip(row, o);
            for (pad, (share, number)) in pads.iter().zip(shares.iter_mut().zip(numbers)) {
                let v = pad.flipped(flip);
                *share = share.minus(v);
                *number = number.plus(v).plus(v);
            }
        }
    }
}
