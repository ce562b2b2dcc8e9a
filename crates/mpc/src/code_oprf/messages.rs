//! The arrows of the figure.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::RangeInclusive;

use vesica_party::fuzzing::NumberedShape;
use vesica_party::{Malformed, Message, Reader, Role, Step, Writer};

use super::codes::{Bch, Code};

vesica_party::arrows! { C::ENTRY.id =>
    /// Arrow 1: `d_i = t_i + u_i + C(y_i)`, row after row.
    pub stream<C: Code> Corrections[u8] = 1, Receiver, "corrections to code words";
}

vesica_party::arrows! { Bch::ENTRY.id =>
    /// Arrow 2: the point of the universal hash. Of all codes only [`Bch`] has a malicious mode.
    #[derive(Debug)]
    pub fixed Challenge(u128) = 2, Sender, "the challenge of the consistency check";
}

/// Arrow 3: the hashes of the keys, bit by bit, and of the columns of `t`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `R` of each bit of the keys.
    pub keys: Vec<u128>,
    /// `R` of each column of `t`.
    pub columns: Vec<u128>,
}

/// How many of both there are.
#[derive(Clone, Copy, Debug)]
pub struct AnswerShape {
    /// How many hashes [`Answer::keys`] has.
    pub key_bits: usize,
    /// Columns.
    pub width: usize,
}

impl NumberedShape for AnswerShape {
    fn numbered(number: u8) -> Option<Self> {
        let number = usize::from(number);
        Some(Self { key_bits: number, width: 2 * number })
    }
}

impl Message for Answer {
    const STEP: Step = Step {
        protocol: Bch::ENTRY.id,
        number: 3,
        from: Role::Receiver,
        carries: "the answer to the consistency check",
    };
    type Shape = AnswerShape;

    fn len(shape: &AnswerShape) -> RangeInclusive<usize> {
        let bytes = 16 * (shape.key_bits + shape.width);
        bytes..=bytes
    }

    fn write(&self, out: &mut Writer) {
        out.elements(&self.keys);
        out.elements(&self.columns);
    }

    fn read(bytes: &mut Reader<'_>, shape: AnswerShape) -> Result<Self, Malformed> {
        Ok(Self { keys: bytes.elements(shape.key_bits)?, columns: bytes.elements(shape.width)? })
    }
}

vesica_party::messages![Challenge, Answer];
