//! Boolean circuits in the order in which they are evaluated: rounds of AND gates, and what is
//! local between them.

/// A bit in a circuit under construction or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wire(pub(super) u32);

impl Wire {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A gate and what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Input(u32),
    Constant(bool),
    Not(Wire),
    Xor(Wire, Wire),
    And(Wire, Wire),
}

impl Gate {
    pub fn reads(&self) -> impl Iterator<Item = Wire> {
        let (a, b) = match *self {
            Self::Input(_) | Self::Constant(_) => (None, None),
            Self::Not(a) => (Some(a), None),
            Self::Xor(a, b) | Self::And(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

/// A circuit, made by a [`Builder`](super::Builder); gates that no output depends on are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub(super) gates: Vec<Gate>,
    pub(super) inputs: usize,
    pub(super) outputs: Vec<Wire>,
    pub(super) rounds: Vec<Round>,
}

/// The gates of one AND-depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Round {
    /// AND gates: their inputs are of earlier rounds. One message each way.
    pub ands: Vec<Wire>,
    /// Other gates, each after those it reads.
    pub local: Vec<Wire>,
    /// Wires that no later round reads.
    pub done: Vec<Wire>,
}

impl Circuit {
    /// Schedules gates, each of which reads earlier ones only.
    pub(super) fn schedule(gates: Vec<Gate>, outputs: Vec<Wire>) -> Self {
        let inputs = gates.iter().filter(|gate| matches!(gate, Gate::Input(_))).count();
        let mut needed = vec![false; gates.len()];
        outputs.iter().for_each(|wire| needed[wire.index()] = true);
        for (i, gate) in gates.iter().enumerate().rev() {
            if needed[i] {
                gate.reads().for_each(|wire| needed[wire.index()] = true);
            }
        }
        let mut rounds = vec![Round::default()];
        let mut depth = vec![0; gates.len()];
        let mut last_read = vec![0; gates.len()];
        for (i, gate) in gates.iter().enumerate().filter(|(i, _)| needed[*i]) {
            let deepest = gate.reads().map(|wire| depth[wire.index()]).max().unwrap_or(0);
            let is_and = matches!(gate, Gate::And(..));
            depth[i] = deepest + usize::from(is_and);
            rounds.resize_with(rounds.len().max(depth[i] + 1), Round::default);
            let round = &mut rounds[depth[i]];
            if is_and { &mut round.ands } else { &mut round.local }.push(Wire(i as u32));
            // One that nothing reads is an output.
            last_read[i] = depth[i];
            gate.reads().for_each(|wire| last_read[wire.index()] = last_read[wire.index()].max(depth[i]));
        }
        outputs.iter().for_each(|wire| needed[wire.index()] = false);
        for i in (0..gates.len()).filter(|&i| needed[i]) {
            rounds[last_read[i]].done.push(Wire(i as u32));
        }
        Self { gates, inputs, outputs, rounds }
    }

    /// Bits that an instance takes.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Bits that an instance gives.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// AND gates: each costs 5 bits an instance.
    pub fn ands(&self) -> usize {
        self.rounds.iter().map(|round| round.ands.len()).sum()
    }

    /// AND gates on the longest way through it: rounds, in each of which both sides send at the
    /// same time.
    pub fn depth(&self) -> usize {
        self.rounds.len() - 1
    }

    /// The outputs for inputs in the clear.
    ///
    /// # Panics
    /// If there is another number of inputs.
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.inputs, "as many inputs as the circuit has");
        let mut values = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let value = |wire: Wire| -> bool { values[wire.index()] };
            values.push(match *gate {
                Gate::Input(i) => inputs[i as usize],
                Gate::Constant(bit) => bit,
                Gate::Not(a) => !value(a),
                Gate::Xor(a, b) => value(a) ^ value(b),
                Gate::And(a, b) => value(a) & value(b),
            });
        }
        self.outputs.iter().map(|wire| values[wire.index()]).collect()
    }
}
