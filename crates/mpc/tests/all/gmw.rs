//! Circuits on shares against their evaluation in the clear.

use std::ops::RangeInclusive;
use std::sync::Arc;

use vesica_mpc::bits::Bits;
use vesica_mpc::gmw::{Builder, Circuit, Evaluator, Params, Wire, open_to_receiver, open_to_sender};
use vesica_mpc::peqt::AndTreeEquality;
use vesica_party::{Abort, Channel, Entry, Party, Protocol, Task};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{conformance, faults, try_two_party, two_party};

/// An evaluation as a protocol, for the suites: the circuit is random, by its seed.
enum Gmw {}

#[derive(Debug)]
struct Evaluation;

#[derive(Clone, Debug)]
struct Shape {
    seed: u64,
    gates: usize,
    instances: usize,
}

/// Shares with the shape they are for, which the predicate needs.
#[derive(Clone)]
struct Shares(Shape, Vec<Bits>);

struct Side(Evaluator);

impl Party for Side {
    type Params = Params;
    type Input = Shares;
    type Output = Vec<Bits>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(Evaluator::setup(params, ch, rng)?))
    }

    fn run(self, input: Shares, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<Bits>, Abort> {
        self.0.run(input.1, ch, rng)
    }
}

impl Task for Evaluation {
    const NAME: &'static str = "evaluation";
    type Request = Shape;
    type SenderInput = Shares;
    type ReceiverInput = Shares;
    type SenderOutput = Vec<Bits>;
    type ReceiverOutput = Vec<Bits>;

    fn holds(sent: &Shares, asked: &Shares, sender: &Vec<Bits>, receiver: &Vec<Bits>) -> Result<(), String> {
        let circuit = random_circuit(&sent.0);
        let inputs = sums(&sent.1, &asked.1);
        let outputs = sums(sender, receiver);
        for i in 0..sent.0.instances {
            let plain = circuit.evaluate(&inputs.iter().map(|input| input.get(i)).collect::<Vec<_>>());
            if plain.len() != outputs.len() || (0..plain.len()).any(|j| plain[j] != outputs[j].get(i)) {
                return Err(format!("instance {i} is wrong"));
            }
        }
        Ok(())
    }
}

impl Protocol for Gmw {
    const ENTRY: Entry = Entry { id: "gmw", task: Evaluation::NAME, ..<AndTreeEquality as Protocol>::ENTRY };
    type Task = Evaluation;
    type Params = Params;
    type Sender = Side;
    type Receiver = Side;

    fn derive(shape: &Shape) -> Result<Params, Unsupported> {
        Params::new(Arc::new(random_circuit(shape)), shape.instances)
    }

    fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
        params.predicted_bytes()
    }
}

fn sums(a: &[Bits], b: &[Bits]) -> Vec<Bits> {
    let sum = |(a, b): (&Bits, &Bits)| {
        let mut sum = a.clone();
        sum ^= b;
        sum
    };
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(sum).collect()
}

/// Gates of all kinds between wires at random, near ones more often; the last few are outputs, with
/// an input and the same wire twice.
fn random_circuit(shape: &Shape) -> Circuit {
    let mut rng = SecretRng::insecure_from_seed(shape.seed);
    let mut draw = |below: usize| (rng.block() % below as u128) as usize;
    let mut builder = Builder::new();
    let mut wires: Vec<Wire> = builder.input_word(5);
    let input = wires[3];
    wires.push(builder.constant(true));
    wires.push(builder.constant(false));
    for _ in 0..shape.gates {
        let near = wires.len().min(12);
        let (a, b) = (wires[wires.len() - 1 - draw(near)], wires[draw(wires.len())]);
        let wire = match draw(6) {
            0 => builder.not(a),
            1 => builder.xor(a, b),
            2 => builder.or(a, b),
            3 => {
                let condition = wires[draw(wires.len())];
                builder.select(condition, a, b)
            }
            _ => builder.and(a, b),
        };
        wires.push(wire);
    }
    let last = wires[wires.len() - 1];
    let outputs = [&wires[wires.len() - 4..], &[input, last]].concat();
    builder.finish(&outputs)
}

fn shares(shape: &Shape, seed: u64) -> Shares {
    let mut rng = SecretRng::insecure_from_seed(seed);
    Shares(shape.clone(), (0..5).map(|_| Bits::random(shape.instances, &mut rng)).collect())
}

#[test]
fn random_circuits_conform() {
    let mut deepest = 0;
    for seed in 0..12 {
        let shape =
            Shape { seed, gates: 10 + 9 * seed as usize, instances: [0, 1, 2, 63, 64, 65, 1000][seed as usize % 7] };
        conformance::<Gmw>(&shape, shares(&shape, seed + 100), shares(&shape, seed + 200));
        deepest = deepest.max(random_circuit(&shape).depth());
    }
    assert!(deepest > 5, "circuits of depth {deepest} at most");
}

/// More instances than fit a message, more gates than fit another.
#[test]
fn rounds_of_many_messages() {
    let shape = Shape { seed: 5, gates: 12, instances: (1 << 20) + 100 };
    conformance::<Gmw>(&shape, shares(&shape, 1), shares(&shape, 2));
    let shape = Shape { seed: 6, gates: 2000, instances: 10_000 };
    conformance::<Gmw>(&shape, shares(&shape, 1), shares(&shape, 2));
}

#[test]
fn faults_end_both_sides() {
    let shape = Shape { seed: 3, gates: 10, instances: 70 };
    faults::<Gmw>(&shape, &shares(&shape, 1), &shares(&shape, 2));
}

#[test]
fn outputs_are_shared_afresh_and_opened_to_one_side() {
    let len = 10_000;
    let mut builder = Builder::new();
    let (a, b) = (builder.input(), builder.input());
    let both = builder.and(a, b);
    let params = Params::new(Arc::new(builder.finish(&[both])), len).unwrap();
    // The receiver's shares are zero: only what the gate adds hides the result.
    let (ones, zeros) = (Bits::ones(len), Bits::zeros(len));
    let (sender, receiver) = two_party(
        |ch, rng| {
            let shares = Evaluator::setup(&params, ch, rng)?.run(vec![ones.clone(), ones.clone()], ch, rng)?;
            assert!(open_to_receiver(&shares, ch)?.is_none());
            Ok((open_to_sender(&shares, ch)?, shares))
        },
        |ch, rng| {
            let shares = Evaluator::setup(&params, ch, rng)?.run(vec![zeros.clone(), zeros.clone()], ch, rng)?;
            let opened = open_to_receiver(&shares, ch)?;
            assert!(open_to_sender(&shares, ch)?.is_none());
            Ok((opened, shares))
        },
    );
    assert_eq!(receiver.0.as_deref(), Some(&[ones.clone()][..]));
    assert_eq!(sender.0, receiver.0);
    let balanced = (len / 2 - 400)..(len / 2 + 400);
    assert!(balanced.contains(&sender.1[0].count_ones()) && balanced.contains(&receiver.1[0].count_ones()));
}

#[test]
fn shares_of_another_shape_are_refused() {
    let shape = Shape { seed: 1, gates: 0, instances: 9 };
    let params = Gmw::derive(&shape).unwrap();
    for wrong in [vec![Bits::zeros(9); 4], vec![Bits::zeros(8); 5]] {
        let (sender, _) = try_two_party(
            |ch, rng| Evaluator::setup(&params, ch, rng)?.run(wrong, ch, rng),
            |ch, rng| Evaluator::setup(&params, ch, rng)?.run(vec![Bits::zeros(9); 5], ch, rng),
        );
        assert!(sender.result.unwrap_err().to_string().contains("for a circuit of 5"));
    }
}
