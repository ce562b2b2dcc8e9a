//! A builder of circuits from gates, with words of several bits. Words are little-endian: the
//! lowest bit first.

use super::circuit::{Circuit, Gate, Wire};

/// Puts a circuit together. AND gates cost traffic, all others nothing; constants are folded.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    gates: Vec<Gate>,
    inputs: u32,
}

impl Builder {
    /// A circuit without gates.
    pub fn new() -> Self {
        Self::default()
    }

    #[expect(clippy::expect_used, reason = "circuits are this program's own")]
    fn gate(&mut self, gate: Gate) -> Wire {
        let wire = Wire(u32::try_from(self.gates.len()).expect("fewer than 2^32 gates"));
        assert!(gate.reads().all(|read| read < wire), "a gate reads wires of its own circuit");
        self.gates.push(gate);
        wire
    }

    fn known(&self, wire: Wire) -> Option<bool> {
        match self.gates.get(wire.index()) {
            Some(Gate::Constant(bit)) => Some(*bit),
            _ => None,
        }
    }

    /// The next input. Shares are given in the order of these calls.
    pub fn input(&mut self) -> Wire {
        self.inputs += 1;
        self.gate(Gate::Input(self.inputs - 1))
    }

    /// The next `width` inputs, as a word.
    pub fn input_word(&mut self, width: usize) -> Vec<Wire> {
        (0..width).map(|_| self.input()).collect()
    }

    /// A known bit.
    pub fn constant(&mut self, bit: bool) -> Wire {
        self.gate(Gate::Constant(bit))
    }

    /// The low `width` bits of a known number.
    pub fn constant_word(&mut self, number: u64, width: usize) -> Vec<Wire> {
        (0..width).map(|i| self.constant(number.checked_shr(i as u32).unwrap_or(0) & 1 == 1)).collect()
    }

    /// Negation.
    pub fn not(&mut self, a: Wire) -> Wire {
        match self.known(a) {
            Some(bit) => self.constant(!bit),
            None => self.gate(Gate::Not(a)),
        }
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            _ if a == b => self.constant(false),
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) => self.not(b),
            (_, Some(true)) => self.not(a),
            _ => self.gate(Gate::Xor(a, b)),
        }
    }

    /// Conjunction: the gate that costs.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.known(a), self.known(b)) {
            _ if a == b => a,
            (Some(false), _) | (_, Some(false)) => self.constant(false),
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ => self.gate(Gate::And(a, b)),
        }
    }

    /// Disjunction, for one AND.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        let (both, either) = (self.and(a, b), self.xor(a, b));
        self.xor(both, either)
    }

    /// `a` where `condition` is 1, else `b`; for one AND.
    pub fn select(&mut self, condition: Wire, a: Wire, b: Wire) -> Wire {
        let differ = self.xor(a, b);
        let change = self.and(condition, differ);
        self.xor(b, change)
    }

    /// [`select`](Self::select) bit by bit.
    ///
    /// # Panics
    /// If the words differ in width; so do all that take two words.
    pub fn select_word(&mut self, condition: Wire, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        pairs(a, b).map(|(a, b)| self.select(condition, a, b)).collect()
    }

    /// Exclusive or bit by bit.
    pub fn xor_word(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        pairs(a, b).map(|(a, b)| self.xor(a, b)).collect()
    }

    /// Whether all are 1, as a tree: one AND fewer than bits, in `log2` rounds.
    pub fn all(&mut self, bits: &[Wire]) -> Wire {
        let mut bits = bits.to_vec();
        while bits.len() > 1 {
            bits = bits.chunks(2).map(|pair| if let [a, b] = *pair { self.and(a, b) } else { pair[0] }).collect();
        }
        bits.first().copied().unwrap_or_else(|| self.constant(true))
    }

    /// Whether two words are equal.
    pub fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let same: Vec<Wire> = pairs(a, b)
            .map(|(a, b)| {
                let differ = self.xor(a, b);
                self.not(differ)
            })
            .collect();
        self.all(&same)
    }

    /// The sum and its carry: one AND a bit, as many rounds.
    pub fn add_with_carry(&mut self, a: &[Wire], b: &[Wire]) -> (Vec<Wire>, Wire) {
        let mut carry = self.constant(false);
        let sum = pairs(a, b)
            .map(|(a, b)| {
                let (with_a, with_b) = (self.xor(a, carry), self.xor(b, carry));
                let sum = self.xor(with_a, b);
                let change = self.and(with_a, with_b);
                carry = self.xor(carry, change);
                sum
            })
            .collect();
        (sum, carry)
    }

    /// The sum modulo `2^width`.
    pub fn add(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        self.add_with_carry(a, b).0
    }

    /// The sum modulo `2^width` in `log2` rounds, for about `log2` times as many ANDs (Sklansky's
    /// parallel prefix): for few instances over a slow link.
    pub fn add_in_few_rounds(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let differ = self.xor_word(a, b);
        // Of the bits from the start of a block up to each: whether they make a carry, and whether they
        // pass one on.
        let mut carries: Vec<(Wire, Wire)> =
            pairs(a, b).zip(&differ).map(|((a, b), &differ)| (self.and(a, b), differ)).collect();
        let mut block = 1;
        while block < carries.len() {
            for i in (0..carries.len()).filter(|i| i & block != 0) {
                let ((makes, passes), (below, passes_below)) = (carries[i], carries[(i & !(block - 1)) - 1]);
                let passed = self.and(passes, below);
                carries[i] = (self.xor(makes, passed), self.and(passes, passes_below));
            }
            block *= 2;
        }
        let zero = self.constant(false);
        let carried = std::iter::once(zero).chain(carries.iter().map(|&(carry, _)| carry));
        differ.iter().zip(carried).map(|(&differ, carry)| self.xor(differ, carry)).collect()
    }

    /// Whether `a >= b` as numbers without sign: three ANDs a bit, in about `log2` rounds.
    pub fn at_least(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        // Of each part of the words: whether a is below b there, and whether they are equal.
        let mut parts: Vec<(Wire, Wire)> = pairs(a, b)
            .map(|(a, b)| {
                let differ = self.xor(a, b);
                (self.and(differ, b), self.not(differ))
            })
            .collect();
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| match *pair {
                    [(low_below, low_equal), (high_below, high_equal)] => {
                        let by_low = self.and(high_equal, low_below);
                        (self.xor(high_below, by_low), self.and(high_equal, low_equal))
                    }
                    _ => pair[0],
                })
                .collect();
        }
        match parts.first() {
            Some((below, _)) => self.not(*below),
            None => self.constant(true),
        }
    }

    /// Ends the circuit, and sorts its gates into rounds.
    pub fn finish(self, outputs: &[Wire]) -> Circuit {
        assert!(outputs.iter().all(|wire| wire.index() < self.gates.len()), "outputs are wires of the circuit");
        Circuit::schedule(self.gates, outputs.to_vec())
    }
}

fn pairs<'a>(a: &'a [Wire], b: &'a [Wire]) -> impl Iterator<Item = (Wire, Wire)> + 'a {
    assert_eq!(a.len(), b.len(), "words of one width");
    a.iter().copied().zip(b.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(number: u64, width: usize) -> impl Iterator<Item = bool> {
        (0..width).map(move |i| number >> i & 1 == 1)
    }

    fn number(bits: &[bool]) -> u64 {
        bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit))
    }

    #[test]
    fn words_are_numbers() {
        for width in 0..=5 {
            let mut builder = Builder::new();
            let (a, b) = (builder.input_word(width), builder.input_word(width));
            let condition = builder.input();
            let (sum, carry) = builder.add_with_carry(&a, &b);
            let (at_least, equal) = (builder.at_least(&a, &b), builder.equal(&a, &b));
            let chosen = builder.select_word(condition, &a, &b);
            let five = builder.constant_word(5, width);
            let (plus_five, not_five) = (builder.add(&a, &five), builder.equal(&a, &five));
            let either = builder.or(at_least, condition);
            let quick = builder.add_in_few_rounds(&a, &b);
            let outputs =
                [sum, vec![carry], chosen, plus_five, quick, vec![at_least, equal, not_five, either]].concat();
            let circuit = builder.finish(&outputs);
            assert_eq!((circuit.inputs(), circuit.outputs()), (2 * width + 1, outputs.len()));
            let all = 1 << width;
            for (x, y, c) in (0..all).flat_map(|x| (0..all).flat_map(move |y| [(x, y, false), (x, y, true)])) {
                let inputs: Vec<bool> = bits(x, width).chain(bits(y, width)).chain([c]).collect();
                let out = circuit.evaluate(&inputs);
                let (sum, rest) = out.split_at(width + 1);
                let (chosen, rest) = rest.split_at(width);
                let (plus_five, rest) = rest.split_at(width);
                let (quick, rest) = rest.split_at(width);
                assert_eq!(number(quick), (x + y) % all);
                assert_eq!(number(sum), x + y);
                assert_eq!(number(chosen), if c { x } else { y });
                assert_eq!(number(plus_five), (x + 5) % all);
                assert_eq!(rest, [x >= y, x == y, x == 5 % all, x >= y || c]);
            }
        }
    }

    #[test]
    fn gates_cost_what_they_say() {
        let count = |build: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>| {
            let mut builder = Builder::new();
            let (a, b) = (builder.input_word(64), builder.input_word(64));
            let outputs = build(&mut builder, &a, &b);
            let circuit = builder.finish(&outputs);
            (circuit.ands(), circuit.depth())
        };
        assert_eq!(count(|builder, a, b| builder.add(a, b)), (63, 63));
        assert_eq!(count(|builder, a, b| builder.add_in_few_rounds(a, b)).1, 7);
        assert_eq!(count(|builder, a, b| vec![builder.equal(a, b)]), (63, 6));
        assert_eq!(count(|builder, a, b| vec![builder.at_least(a, b)]).1, 7);
        assert_eq!(count(|builder, a, b| builder.xor_word(a, b)), (0, 0));
        // A gate that nothing depends on costs nothing, nor one with a constant.
        let unused = |builder: &mut Builder, a: &[Wire], b: &[Wire]| {
            builder.add(a, b);
            let zero = builder.constant(false);
            vec![builder.and(zero, a[0])]
        };
        assert_eq!(count(unused), (0, 0));
    }
}
