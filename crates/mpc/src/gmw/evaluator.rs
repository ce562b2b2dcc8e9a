//! One side of an evaluation. The channel says which one it is.

use std::fmt;
use std::ops::Range;

use vesica_party::{Abort, Channel, Party, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::circuit::{Circuit, Gate, Wire};
use super::messages::{Corrections, Masked};
use super::params::Params;
use crate::bits::Bits;
use crate::tasks::{Lookups, Tables};

/// Most words of a plane in a message.
const MAX_PLANE_WORDS_PER_MESSAGE: usize = 1 << 14;
/// About so many words of all planes of one kind in a message, so that it stays below 1 MiB.
const WORDS_PER_MESSAGE: usize = 1 << 15;
/// Messages that are under way before the first one of the peer is read.
const MESSAGES_IN_FLIGHT: usize = 4;

/// Bits of all instances, or nothing where a wire has no value yet or is not needed any more.
type Plane = Option<Secret<Vec<u64>>>;

/// One side, set up for a circuit and a number of instances.
pub struct Evaluator {
    params: Params,
    role: Role,
    /// Coefficients at the sender, evaluations at the receiver: one a gate, in the order of rounds.
    material: Vec<Secret<Vec<Vec<u64>>>>,
}

impl Party for Evaluator {
    type Params = Params;
    /// Shares of the inputs, each with a bit for every instance.
    type Input = Vec<Bits>;
    /// Shares of the outputs.
    type Output = Vec<Bits>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let (role, polynomials) = (ch.role(), params.polynomials());
        let material = match role {
            Role::Sender => polynomials.own(ch, rng)?,
            Role::Receiver => polynomials.evaluate(ch, rng)?,
        };
        Ok(Self { params: params.clone(), role, material })
    }

    fn run(mut self, shares: Vec<Bits>, ch: &mut Channel, _: &mut SecretRng) -> Result<Vec<Bits>, Abort> {
        let params = self.params.clone();
        let circuit = params.circuit();
        if shares.len() != circuit.inputs() || shares.iter().any(|shares| shares.len() != params.instances()) {
            return Err(Abort::Unsupported(Unsupported::new(
                format_args!("shares of {} inputs for a circuit of {}", shares.len(), circuit.inputs()),
                format_args!("give a share of each input in each of {} instances", params.instances()),
            )));
        }
        let mut planes: Vec<Plane> = circuit.gates.iter().map(|_| None).collect();
        let mut material = std::mem::take(&mut self.material).into_iter();
        for round in &circuit.rounds {
            let material: Vec<_> = material.by_ref().take(round.ands.len()).collect();
            self.ands(circuit, &round.ands, &material, &mut planes, ch)?;
            for &wire in &round.local {
                planes[wire.index()] = Some(self.local(circuit.gates[wire.index()], &shares, &planes));
            }
            round.done.iter().for_each(|wire| planes[wire.index()] = None);
        }
        let outputs =
            circuit.outputs.iter().map(|&wire| Bits::from_words(plane(&planes, wire).to_vec(), params.instances()));
        Ok(outputs.collect())
    }
}

impl Evaluator {
    /// The sender, set up with random tables that exist already: [`Params::tables`] of them, of 2
    /// variables, for one evaluation only.
    ///
    /// # Errors
    /// If there is another number of tables.
    pub fn from_tables(params: &Params, tables: &Tables) -> Result<Self, Unsupported> {
        let material = params.polynomials().own_from(tables)?;
        Ok(Self { params: params.clone(), role: Role::Sender, material })
    }

    /// The receiver, set up with lookups in such tables.
    ///
    /// # Errors
    /// As [`from_tables`](Self::from_tables).
    pub fn from_lookups(params: &Params, lookups: &Lookups) -> Result<Self, Unsupported> {
        let material = params.polynomials().evaluate_from(lookups)?;
        Ok(Self { params: params.clone(), role: Role::Receiver, material })
    }

    /// A gate that needs no message.
    fn local(&self, gate: Gate, shares: &[Bits], planes: &[Plane]) -> Secret<Vec<u64>> {
        // What is public belongs to the sender's share.
        let public = |bit: bool| if bit && self.role == Role::Sender { u64::MAX } else { 0 };
        Secret::new(match gate {
            Gate::Input(i) => shares[i as usize].words().to_vec(),
            Gate::Constant(bit) => vec![public(bit); self.params.words()],
            Gate::Not(a) => plane(planes, a).iter().map(|word| word ^ public(true)).collect(),
            Gate::Xor(a, b) | Gate::And(a, b) => {
                plane(planes, a).iter().zip(plane(planes, b)).map(|(a, b)| a ^ b).collect()
            }
        })
    }

    /// All AND gates of a round.
    fn ands(
        &self,
        circuit: &Circuit,
        ands: &[Wire],
        material: &[Secret<Vec<Vec<u64>>>],
        planes: &mut [Plane],
        ch: &mut Channel,
    ) -> Result<(), Abort> {
        let words = self.params.words();
        let mut results: Vec<_> = ands.iter().map(|_| Secret::new(vec![0; words])).collect();
        let part = words.min(MAX_PLANE_WORDS_PER_MESSAGE);
        let gates_at_a_time = (WORDS_PER_MESSAGE / part.max(1)).max(1);
        let parts = (0..words).step_by(part.max(1)).map(|first| first..(first + part).min(words));
        let messages: Vec<(Range<usize>, Range<usize>)> = parts
            .flat_map(|words| {
                let gates = (0..ands.len()).step_by(gates_at_a_time);
                gates.map(move |first| (words.clone(), first..(first + gates_at_a_time).min(ands.len())))
            })
            .collect();
        let inputs = |gate: usize| match circuit.gates[ands[gate].index()] {
            Gate::And(u, v) => [plane(planes, u), plane(planes, v)],
            _ => [&[][..]; 2],
        };
        for i in 0..messages.len() + MESSAGES_IN_FLIGHT {
            if let Some((words, gates)) = messages.get(i) {
                let message =
                    gates.clone().flat_map(|gate| self.message(inputs(gate), &material[gate], words)).collect();
                match self.role {
                    Role::Sender => ch.send(&Corrections(message))?,
                    Role::Receiver => ch.send(&Masked(message))?,
                }
            }
            if let Some((words, gates)) = i.checked_sub(MESSAGES_IN_FLIGHT).and_then(|i| messages.get(i)) {
                let len = words.len();
                let message = match self.role {
                    Role::Sender => ch.recv::<Masked>(2 * len * gates.len())?.0,
                    Role::Receiver => ch.recv::<Corrections>(3 * len * gates.len())?.0,
                };
                for (gate, message) in gates.clone().zip(message.chunks_exact(message.len() / gates.len())) {
                    self.result(inputs(gate), &material[gate], message, words, &mut results[gate]);
                }
            }
        }
        ands.iter().zip(results).for_each(|(wire, result)| planes[wire.index()] = Some(result));
        Ok(())
    }

    /// What this side sends for a gate.
    fn message(&self, [u, v]: [&[u64]; 2], material: &[Vec<u64>], words: &Range<usize>) -> Vec<u64> {
        let sum = |a: &[u64], b: &[u64]| -> Vec<u64> {
            a[words.clone()].iter().zip(&b[words.clone()]).map(|(a, b)| a ^ b).collect()
        };
        match self.role {
            // Arrow 2. The coefficients are in the order of sets: none, c_1, c_2, both.
            Role::Sender => [sum(&material[1], v), sum(&material[2], u), material[3][words.clone()].to_vec()].concat(),
            // Arrow 1.
            Role::Receiver => [sum(&material[0], u), sum(&material[1], v)].concat(),
        }
    }

    /// This side's share of a gate, from what the other one sent.
    fn result(
        &self,
        [u, v]: [&[u64]; 2],
        material: &[Vec<u64>],
        message: &[u64],
        words: &Range<usize>,
        result: &mut [u64],
    ) {
        let len = words.len();
        for (i, word) in words.clone().enumerate() {
            let (u, v) = (u[word], v[word]);
            let got = |plane: usize| message[plane * len + i];
            result[word] = match self.role {
                Role::Sender => u & v ^ u & got(1) ^ v & got(0) ^ material[0][word],
                Role::Receiver => {
                    let (c1, c2) = (material[0][word], material[1][word]);
                    u & v ^ material[2][word] ^ got(0) & c1 ^ got(1) & c2 ^ got(2) & c1 & c2
                }
            };
        }
    }
}

/// A wire's bits. The schedule has them made before they are read.
fn plane(planes: &[Plane], wire: Wire) -> &[u64] {
    planes[wire.index()].as_ref().map_or(&[], |plane| plane)
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Evaluator({} instances)", self.params.instances())
    }
}
