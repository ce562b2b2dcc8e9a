//! The harness on a toy protocol, honest and broken in the ways that it must notice.

use std::ops::RangeInclusive;

use vesica_party::{
    Abort, Channel, CostClass, Entry, Malformed, Message, Mode, Party, Phase, Protocol, Reader, Role, Rounds, Status,
    Step, Stream, Task, Writer,
};
use vesica_structures::facts::{Paper, Unsupported};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Trials, conformance, faults, golden, row, try_two_party, two_party};

/// The receiver learns the sum of both numbers.
struct Sum;

impl Task for Sum {
    const NAME: &'static str = "toy-sum";
    type Request = usize;
    type SenderInput = u64;
    type ReceiverInput = u64;
    type SenderOutput = ();
    type ReceiverOutput = u64;

    fn holds(sent: &u64, asked: &u64, _: &(), learned: &u64) -> Result<(), String> {
        if *learned == sent.wrapping_add(*asked) { Ok(()) } else { Err(format!("{sent} + {asked} is not {learned}")) }
    }
}

/// What is wrong with the toy.
const HONEST: u8 = 0;
const WRONG: u8 = 1;
const CHATTY: u8 = 2;
const PANICS: u8 = 3;
/// Takes a message more, and so a round.
const SLOW: u8 = 4;

struct Toy<const BUG: u8>;
struct ToySender<const BUG: u8>;
struct ToyReceiver<const BUG: u8>;

const fn step(number: u8, from: Role) -> Step {
    Step { protocol: "toy", number, from, carries: "a number" }
}

struct Ask(u64);
struct Answer(u64);
struct Pad;

macro_rules! number_message {
    ($name:ident, $step:expr) => {
        impl Message for $name {
            const STEP: Step = $step;
            type Shape = ();
            fn len(_: &()) -> RangeInclusive<usize> {
                8..=8
            }
            fn write(&self, out: &mut Writer) {
                out.u64(self.0);
            }
            fn read(bytes: &mut Reader<'_>, _: ()) -> Result<Self, Malformed> {
                Ok(Self(bytes.u64()?))
            }
        }
    };
}
number_message!(Ask, step(1, Role::Receiver));
number_message!(Answer, step(2, Role::Sender));

impl Stream for Pad {
    const STEP: Step = step(3, Role::Sender);
    type Element = u32;
}

impl<const BUG: u8> Protocol for Toy<BUG> {
    const ENTRY: Entry = Entry {
        id: "toy",
        aliases: &[],
        variants: &[],
        task: Sum::NAME,
        paper: Paper { key: "none", title: "none", reference: "this test" },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[],
        modes: &[Mode::semi_honest(Rounds::exactly(3), &[], &[])],
    };
    type Task = Sum;
    type Params = usize;
    type Sender = ToySender<BUG>;
    type Receiver = ToyReceiver<BUG>;

    fn derive(request: &usize) -> Result<usize, Unsupported> {
        Ok(*request)
    }

    fn predicted_bytes(pad: &usize) -> RangeInclusive<u64> {
        let bytes = 16 + 4 * *pad as u64 - u64::from(BUG == CHATTY) + 8 * u64::from(BUG == SLOW);
        bytes..=bytes
    }
}

impl<const BUG: u8> Party for ToySender<BUG> {
    type Params = usize;
    type Input = u64;
    type Output = ();

    fn setup(pad: &usize, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let _phase = ch.phase(Phase::Expand);
        let mut fork = ch.fork("pad")?;
        let pads: Vec<u32> = (0..*pad).map(|_| rng.block() as u32).collect();
        fork.send_stream::<Pad>(&pads)?;
        Ok(Self)
    }

    fn run(self, input: u64, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        let Ask(asked) = ch.recv(())?;
        ch.send(&Answer(asked.wrapping_add(input)))?;
        if BUG == SLOW {
            let Ask(_) = ch.recv(())?;
        }
        Ok(())
    }
}

impl<const BUG: u8> Party for ToyReceiver<BUG> {
    type Params = usize;
    type Input = u64;
    type Output = u64;

    fn setup(pad: &usize, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        let _phase = ch.phase(Phase::Expand);
        let mut fork = ch.fork("pad")?;
        fork.recv_stream::<Pad>(&mut vec![0; *pad])?;
        Ok(Self)
    }

    fn run(self, input: u64, ch: &mut Channel, _: &mut SecretRng) -> Result<u64, Abort> {
        ch.send(&Ask(input))?;
        let Answer(sum) = ch.recv(())?;
        if BUG == SLOW {
            ch.send(&Ask(sum))?;
        }
        if BUG == PANICS {
            assert_eq!(sum, 7, "the peer's number");
        }
        Ok(if BUG == WRONG { sum + 1 } else { sum })
    }
}

#[test]
fn conformance_accepts_the_honest_toy() {
    let run = conformance::<Toy<HONEST>>(&100, 3, 4);
    // The pad, the question, the answer.
    assert_eq!((run.receiver, run.payload_bytes, run.rounds), (7, 416, 3));
}

#[test]
#[should_panic(expected = "3 + 4 is not 8")]
fn conformance_notices_a_wrong_output() {
    conformance::<Toy<WRONG>>(&10, 3, 4);
}

#[test]
#[should_panic(expected = "56 bytes of messages, predicted 55..=55")]
fn conformance_notices_unpredicted_bytes() {
    conformance::<Toy<CHATTY>>(&10, 3, 4);
}

#[test]
fn faults_harm_nobody_beyond_an_error() {
    let harm = faults::<Toy<HONEST>>(&100, &3, &4);
    // Each way of the sender's 5 and the receiver's 4 frames (open, messages, close, finish) was struck
    // in 5 ways.
    assert_eq!(harm.failed + harm.unharmed, 45);
    assert!(harm.failed >= 18, "{harm:?}");
}

#[test]
#[should_panic(expected = "Flip at frame 3 from the sender: the receiver panicked: assertion")]
fn faults_notice_a_panic() {
    faults::<Toy<PANICS>>(&1, &3, &4);
}

#[test]
fn a_panic_and_a_wait_for_nothing_are_both_reported() {
    let (sent, received) = try_two_party(
        |ch, _| -> Result<(), Abort> {
            let Ask(_) = ch.recv(())?;
            panic!("no toys left")
        },
        |ch, _| {
            ch.send(&Ask(1))?;
            ch.recv::<Answer>(())
        },
    );
    assert!(sent.result.unwrap_err().to_string().contains("no toys left"));
    assert!(matches!(received.result, Err(Abort::PeerAborted(fault)) if fault.fault.contains("no toys left")));

    let (sent, received) = try_two_party(|ch, _| ch.recv::<Ask>(()).map(drop), |ch, _| ch.recv::<Answer>(()).map(drop));
    let texts = [sent.result.unwrap_err().to_string(), received.result.unwrap_err().to_string()];
    assert!(texts.iter().all(|text| text.contains("both sides wait")), "{texts:?}");
}

#[test]
fn generators_differ_by_side_and_repeat() {
    let draw = || two_party(|_, rng| Ok(rng.block()), |_, rng| Ok(rng.block()));
    assert_eq!(draw(), draw());
    assert_ne!(draw().0, draw().1);
}

#[test]
fn the_golden_transcript_stands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/toy.txt");
    golden(path, row::<Toy<HONEST>>(), &100_000, 3, 4);
}

#[test]
#[should_panic(expected = "differs; if that is meant, run with VESICA_BLESS=1")]
fn another_message_is_another_transcript() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/toy.txt");
    if std::env::var_os(vesica_testkit::BLESS).is_some() {
        panic!("differs; if that is meant, run with VESICA_BLESS=1 (not compared while files are written)");
    }
    golden(path, row::<Toy<HONEST>>(), &100_000, 3, 5);
}

#[test]
fn a_trial_that_fails_hides_none_after_it() {
    let mut ran = Vec::new();
    let mut trials = Trials::chosen_by("toys", None);
    for name in ["first", "second", "third"] {
        trials.trial(name, || {
            ran.push(name);
            assert!(name == "third", "no more toys");
        });
    }
    assert_eq!(ran, ["first", "second", "third"]);
    let failure = std::panic::catch_unwind(|| trials.end()).unwrap_err();
    let said = failure.downcast_ref::<String>().expect("a text");
    assert!(said.contains("2 of 3") && said.contains("first: no more toys") && said.contains("second"), "{said}");
    assert!(!said.contains("third"), "{said}");
}

#[test]
fn a_name_chooses_a_row_or_one_of_its_modes() {
    let ran = |chosen: &str| {
        let mut ran = 0;
        let mut trials = Trials::chosen_by("toys", Some(chosen.into()));
        trials.modes(&[row::<Toy<HONEST>>()], |_, _| ran += 1);
        trials.end();
        ran
    };
    assert_eq!((ran("toy"), ran("toy semi-honest"), ran("toy malicious"), ran("other")), (1, 1, 0, 0));
}

#[test]
#[should_panic(expected = "4 rounds, and the entry says 3")]
fn a_round_that_the_entry_does_not_have_is_noticed() {
    conformance::<Toy<HONEST>>(&10, 3, 4).assert_rounds(&Toy::<HONEST>::ENTRY.modes[0]);
    conformance::<Toy<SLOW>>(&10, 3, 4).assert_rounds(&Toy::<SLOW>::ENTRY.modes[0]);
}
