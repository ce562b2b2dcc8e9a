//! The tree of a test: which inputs are multiplied in which layer, and what that costs.

use std::ops::RangeInclusive;

use vesica_party::Role;
use vesica_structures::facts::Unsupported;

use crate::OtSource;
use crate::polynomials::Polynomials;

/// Words of a plane that are worked on at a time, 64 tests each: a message of all planes stays
/// below 2 MiB.
pub(super) const WORDS_PER_PIECE: usize = 1 << 10;

/// The most bits of a value.
pub const MOST_WIDTH: u32 = 128;

/// How a test multiplies the `width` bits `x_i + y_i + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Three at a time; in the first layer the sender's values are coefficients of its random
    /// polynomials. The one to use.
    Cubic,
    /// Two at a time, as circuits do.
    AndTree,
    /// Four at a time in the first layer (a 1-of-16 OT a leaf), then two at a time.
    Leaves,
}

/// What both sides agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Number of tests.
    pub len: usize,
    /// Bits of a value.
    pub width: u32,
    /// How.
    pub variant: Variant,
    /// Where the random tables come from.
    pub source: OtSource,
    layers: Vec<Layer>,
}

/// A product of some inputs of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Inputs, at most 4; one alone is passed on.
    pub inputs: usize,
    /// Whether the owner's inputs are coefficients of its polynomial: that of all variables but `i`
    /// is its input `i`.
    pub free: bool,
}

impl Group {
    /// Whether the coefficient of `set`, which is not empty, is corrected by a message.
    pub fn corrects(&self, set: usize) -> bool {
        !(self.free && set.count_ones() as usize == self.inputs - 1)
    }

    /// Masked inputs that the chooser sends.
    pub fn masked(&self) -> usize {
        if self.inputs == 1 { 0 } else { self.inputs }
    }

    /// Corrections that the owner sends.
    pub fn corrections(&self) -> usize {
        if self.inputs == 1 { 0 } else { (1..1 << self.inputs).filter(|&set| self.corrects(set)).count() }
    }
}

/// Products side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub groups: Vec<Group>,
    /// Who owns the polynomials; the other one chooses points.
    pub owner: Role,
}

impl Layer {
    fn new(inputs: usize, at_a_time: usize, free: bool, owner: Role) -> Self {
        let sizes = (0..inputs).step_by(at_a_time).map(|first| at_a_time.min(inputs - first));
        Self { groups: sizes.map(|inputs| Group { inputs, free }).collect(), owner }
    }

    /// Planes of masked inputs in all.
    pub fn masked(&self) -> usize {
        self.groups.iter().map(Group::masked).sum()
    }

    /// Planes of corrections in all.
    pub fn corrections(&self) -> usize {
        self.groups.iter().map(Group::corrections).sum()
    }
}

impl Params {
    /// For so many tests of values of `width` bits.
    ///
    /// # Errors
    /// If the width is not in 1 to [`MOST_WIDTH`], or there are more tests than there are correlations
    /// to be had.
    pub fn new(len: usize, width: u32) -> Result<Self, Unsupported> {
        Self::with(len, width, Variant::Cubic)
    }

    /// Parameters for a given variant.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    pub fn with(len: usize, width: u32, variant: Variant) -> Result<Self, Unsupported> {
        if !(1..=MOST_WIDTH).contains(&width) {
            return Err(Unsupported::new(
                format_args!("equality of values of {width} bits"),
                format_args!("use 1 to {MOST_WIDTH} bits: hash longer values"),
            ));
        }
        let (first, later) = match variant {
            Variant::Cubic => (3, 3),
            Variant::AndTree => (2, 2),
            Variant::Leaves => (4, 2),
        };
        let mut layers = vec![Layer::new(width as usize, first, variant == Variant::Cubic, Role::Sender)];
        while let Some(last) = layers.last().filter(|last| last.groups.len() > 1) {
            layers.push(Layer::new(last.groups.len(), later, false, last.owner.peer()));
        }
        Self { len, width, variant, source: OtSource::SILENT, layers }.with_tables_from(OtSource::SILENT)
    }

    /// The same tests on random tables from another source.
    ///
    /// # Errors
    /// If there are more tests than there are tables to be had.
    pub fn with_tables_from(self, source: OtSource) -> Result<Self, Unsupported> {
        let params = Self { source, ..self };
        params.correlations().try_for_each(|(_, polynomials)| polynomials.check())?;
        Ok(params)
    }

    /// The layers, the first one first. The sender owns the first, the receiver the second, and so
    /// on.
    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Words of a value: 64 bits each, the last one perhaps partly used.
    pub fn value_words(&self) -> usize {
        self.width.div_ceil(64) as usize
    }

    /// Words of a plane.
    pub(super) fn words(&self) -> usize {
        self.len.div_ceil(64)
    }

    /// Planes of message `number`: corrections of the layer before it, masked inputs of the layer
    /// after it.
    pub(super) fn message_planes(&self, number: usize) -> (usize, usize) {
        let before = number.checked_sub(1).and_then(|layer| self.layers.get(layer));
        (before.map_or(0, Layer::corrections), self.layers.get(number).map_or(0, Layer::masked))
    }

    /// The polynomials: by owner, and for each by the number of variables; within one of these in
    /// the order of layers and groups.
    pub(super) fn correlations(&self) -> impl Iterator<Item = (Role, Polynomials)> {
        let kinds = [Role::Sender, Role::Receiver]
            .into_iter()
            .flat_map(|owner| (2..=4).map(move |variables| (owner, variables)));
        kinds.map(|(owner, variables)| {
            let owned = self.layers.iter().filter(|layer| layer.owner == owner).flat_map(|layer| &layer.groups);
            let groups = owned.filter(|group| group.inputs == variables as usize).count();
            (owner, Polynomials { groups, variables, len: self.len, source: self.source })
        })
    }

    /// Random tables that all tests take, in the order in which they are used: who owns them, how
    /// many they are, and of how many variables.
    pub fn tables(&self) -> Vec<(Role, usize, u32)> {
        let used = self.correlations().filter(|(_, polynomials)| polynomials.groups > 0);
        used.map(|(owner, polynomials)| (owner, polynomials.groups * self.len, polynomials.variables)).collect()
    }

    /// Random polynomials that a test takes.
    pub fn elements(&self) -> usize {
        self.correlations().map(|(_, polynomials)| polynomials.groups).sum()
    }

    /// Bits that both sides together send for a test once they are set up.
    pub fn online_bits(&self) -> usize {
        self.layers.iter().map(|layer| layer.masked() + layer.corrections()).sum()
    }

    /// Bytes of all messages, set-up included.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let online = (self.words() * 8 * self.online_bits()) as u64;
        let setup = self.correlations().map(|(_, polynomials)| polynomials.predicted_bytes());
        setup.fold(online..=online, |sum, part| sum.start() + part.start()..=sum.end() + part.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_63_bits_cost_what_is_claimed() {
        for (variant, elements, bits) in
            [(Variant::Cubic, 31, 247), (Variant::AndTree, 62, 310), (Variant::Leaves, 31, 370)]
        {
            let params = Params::with(1, 63, variant).unwrap();
            assert_eq!((params.elements(), params.online_bits()), (elements, bits), "{variant:?}");
        }
        let sizes: Vec<usize> = Params::new(1, 63).unwrap().layers().iter().map(|layer| layer.groups.len()).collect();
        assert_eq!(sizes, [21, 7, 3, 1]);
    }

    #[test]
    fn widths_out_of_range_and_too_many_tests_are_refused() {
        assert!(Params::new(1, 0).is_err() && Params::new(1, MOST_WIDTH + 1).is_err());
        assert!([64, 65, MOST_WIDTH].map(|width| Params::new(1, width).unwrap().value_words()) == [1, 2, 2]);
        assert!(Params::new(usize::MAX / 2, 63).is_err());
    }
}
