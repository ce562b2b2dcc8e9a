//! The arrows of OT extension.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

use super::leaves::SHAPE;
use super::params::CHUNKS;

/// The protocol's name in steps.
const NAME: &str = "ot-extension";

/// Arrow 1: for each tree and each level below the first, the sums of the left and of the right
/// nodes, each under the pad of its base OT.
#[derive(Clone, Debug)]
pub struct TreeSums(pub Vec<[u128; 2]>);

impl Message for TreeSums {
    const STEP: Step = Step { protocol: NAME, number: 1, from: Role::Receiver, carries: "sums of the small trees" };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        let bytes = CHUNKS * SHAPE.sums() * 32;
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&self.0);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(Self(bytes.elements(CHUNKS * SHAPE.sums())?))
    }
}

/// Arrow 2: the sum of the leaf tags of each tree, and the hash of all tags.
#[derive(Clone, Debug)]
pub struct TagSums {
    /// A sum a tree.
    pub sums: Vec<[u128; 2]>,
    /// The hash of every leaf's tag.
    pub digest: [u8; 32],
}

impl Message for TagSums {
    const STEP: Step =
        Step { protocol: NAME, number: 2, from: Role::Receiver, carries: "tags of the small trees' leaves" };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        let bytes = CHUNKS * 32 + 32;
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&self.sums);
        out.bytes(&self.digest);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(Self { sums: bytes.elements(CHUNKS)?, digest: bytes.array()? })
    }
}

vesica_party::arrows! { NAME =>
    /// Arrow 3: `d_j = u_0 + u_j` for each tree but the first, in blocks of 128 bits.
    pub stream Corrections[u128] = 3, Receiver, "corrections to one vector of bits";
    /// Arrow 4: the point of the universal hash.
    #[derive(Debug)]
    pub fixed Challenge(u128) = 4, Sender, "the challenge of the consistency check";
}

/// Arrow 5: the hashes of the bits and of the 128 columns.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `R(u)`.
    pub bits: u128,
    /// `R(V[n])`.
    pub columns: Vec<u128>,
}

impl Message for Answer {
    const STEP: Step =
        Step { protocol: NAME, number: 5, from: Role::Receiver, carries: "the answer to the consistency check" };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        129 * 16..=129 * 16
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&[self.bits]);
        out.elements(&self.columns);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(Self { bits: u128::from_le_bytes(bytes.array()?), columns: bytes.elements(128)? })
    }
}

vesica_party::messages![TreeSums, TagSums, Challenge, Answer];
