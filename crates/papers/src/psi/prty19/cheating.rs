//! Senders that cheat in `spot-low:oracle=random`: the receiver finds what the ideal functionality gives it for the items
//! that the sender asked for, or stops.

use std::iter::{repeat, repeat_n};

use vesica_mpc::base_ot::mr19::messages::{ReceiverPoints, SenderPoint, TRANSFERS_PER_MESSAGE};
use vesica_mpc::ot_extension::CHUNKS;
use vesica_mpc::ot_extension::messages::{Answer, Challenge, Corrections, TagSums, TreeSums};
use vesica_party::transport::memory;
use vesica_party::{Abort, Channel, Message, Party, Role, Row, Security, Step, Stream};
use vesica_structures::ot_rows::{COLUMNS, Columns};
use vesica_structures::polynomial::{LANES, Row as Bits};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagSorter;
use vesica_testkit::{assert_uniform, options, side, transcript_of, try_two_party};

use super::keys::{Keys, Part};
use super::messages::{Polynomials, ReceiverSalt, Salt, Table, Tags};
use super::params::Layout;
use super::rows::{SenderColumns, SenderRows};
use super::{Params, Prty19, Receiver, SpotLow, low, table};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

/// Items of both sides.
const N: usize = 60;

/// What either table is chosen by.
const CHOICES: [&str; 2] = ["oracle=random", "oracle=random,okvs=clustered"];

fn request(sender_items: usize) -> IntersectRequest {
    let security = Security::SemiHonest;
    IntersectRequest { sender_items, receiver_items: N, security, payload_bytes: 0, both_learn: false, runs: 1 }
}

fn variant(choices: &str) -> &'static Row<Prty19<SpotLow>> {
    Row::chosen(choices).expect("a variant")
}

fn params(choices: &str) -> Params {
    variant(choices).params(&request(N)).expect("served")
}

/// The receiver's items.
fn items() -> Vec<u128> {
    let mut rng = SecretRng::insecure_from_seed(5);
    (0..N).map(|_| rng.block()).collect()
}

fn honest_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<u32>, Abort> {
    let receiver = Receiver::<SpotLow>::setup(params, ch, rng)?;
    Ok(receiver.run(IntersectReceiverInput { items: items() }, ch, rng)?.matches)
}

/// That `result` blames the peer at this step.
#[track_caller]
fn assert_blamed<T: std::fmt::Debug>(result: Result<T, Abort>, expected: Step) {
    match result {
        Err(Abort::PeerMisbehaved(step, _)) if (step.protocol, step.number) == (expected.protocol, expected.number) => {
        }
        other => panic!("expected blame at {expected}, got {other:?}"),
    }
}

/// What a sender has that followed the protocol up to arrow 2.
struct Asked {
    keys: Keys,
    /// `Q(x) + s P(x)` of each item that it asked for.
    rows: Vec<Bits>,
}

impl Asked {
    /// The tags of the items, which are distinct.
    fn tags(&self) -> Vec<u128> {
        self.keys.output(Part::Tag, &self.rows).clone()
    }
}

/// A sender of these items that follows the protocol up to arrow 2, but for `spoil`, which changes the keys of columns and
/// `s`.
fn ask(
    params: &Params,
    asked: &[u128],
    spoil: impl FnOnce(&mut SenderColumns),
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Asked, Abort> {
    let keys = Keys::of_sender(params, ch, rng)?;
    let mut own = SenderColumns::setup(params, ch, rng)?;
    spoil(&mut own);
    let rows = SenderRows { params, keys: &keys, own: &own };
    let arranged = match params.layout {
        Layout::Low { bins } => low::corrected_rows(&rows, bins, asked, ch)?,
        Layout::Table { bins } => table::corrected_rows(&rows, bins, asked, ch)?,
        Layout::Fast(_) => unreachable!("a row of spot-low"),
    };
    let mut of_items = vec![Bits::default(); asked.len()];
    for (&item, row) in arranged.bins.order.iter().zip(arranged.rows.iter()) {
        of_items[item as usize] = *row;
    }
    Ok(Asked { keys, rows: of_items })
}

/// The matches of the receiver whose sender asks for these items and sends what `cheat` makes of their tags.
fn matches(
    params: &Params,
    asked: &[u128],
    cheat: impl Fn(Asked, &mut SecretRng) -> Vec<u128> + Sync,
) -> Result<Vec<u32>, Abort> {
    let send = |ch: &mut Channel, rng: &mut SecretRng| {
        let asked = ask(params, asked, |_| (), ch, rng)?;
        send_tags(params, &cheat(asked, rng), ch)
    };
    try_two_party(send, |ch, rng| honest_receiver(params, ch, rng)).1.result
}

/// Arrow 3.
fn send_tags(params: &Params, sent: &[u128], ch: &mut Channel) -> Result<(), Abort> {
    let mut sorter = TagSorter::new(sent.len(), params.finish.tag_bits);
    sorter.add(sent, repeat(()));
    tags::send::<Tags, ()>(sorter, sent.len(), params.finish.tag_bits, ch).map(drop)
}

/// Tags that belong to no item match none, as if the sender had other items.
#[test]
fn wrong_tags_match_nothing() {
    for params in CHOICES.map(params) {
        assert_eq!(matches(&params, &items(), |asked, _| asked.tags()).unwrap().len(), N, "the honest ones match");
        let random = matches(&params, &items(), |asked, rng| asked.tags().iter().map(|_| rng.block()).collect());
        assert_eq!(random.unwrap(), [0; 0]);
        // The other outputs of the right rows, and tags that differ in a bit.
        let proofs = |asked: Asked, _: &mut SecretRng| asked.keys.output(Part::Proof, &asked.rows).clone();
        assert_eq!(matches(&params, &items(), proofs).unwrap(), [0; 0]);
        for bit in [0, 64, 127] {
            let flipped = |asked: Asked, _: &mut SecretRng| asked.tags().iter().map(|tag| tag ^ 1 << bit).collect();
            assert_eq!(matches(&params, &items(), flipped).unwrap(), [0; 0], "bit {bit}");
        }
    }
}

/// With the tags of some of its items, and others that belong to nobody, those match, as if it had these items alone.
#[test]
fn tags_that_are_withheld_withhold_their_items() {
    for params in CHOICES.map(params) {
        let half = |asked: Asked, rng: &mut SecretRng| {
            let each = asked.tags().into_iter().enumerate();
            each.map(|(item, tag)| if item % 2 == 0 { tag } else { rng.block() }).collect()
        };
        assert_eq!(matches(&params, &items(), half).unwrap(), (0..N as u32).step_by(2).collect::<Vec<_>>());
    }
}

/// A tag that comes many times is one match.
#[test]
fn a_tag_that_comes_twice_counts_once() {
    for params in CHOICES.map(params) {
        let flood = |asked: Asked, _: &mut SecretRng| {
            let tags = asked.tags();
            repeat_n(tags[7], N - 1).chain([tags[9]]).collect()
        };
        assert_eq!(matches(&params, &items(), flood).unwrap(), [7, 9]);
    }
}

/// A sender that asks for more items than it declared can send as many tags as it declared, and no more match.
#[test]
fn items_beyond_the_declared_number_do_not_match() {
    for params in CHOICES.map(params) {
        let others = items().iter().map(|item| item ^ 1).collect::<Vec<_>>();
        let more = [others, items()].concat();
        let last = |asked: Asked, _: &mut SecretRng| asked.tags()[20..][..N].to_vec();
        assert_eq!(matches(&params, &more, last).unwrap(), (0..20).collect::<Vec<_>>());
        // All of them are longer than the arrow.
        let all = matches(&params, &more, |asked, _| asked.tags());
        assert!(matches!(&all, Err(Abort::PeerMisbehaved(step, _)) if step.number == Tags::STEP.number), "{all:?}");
    }
}

/// A row serves the item that it was asked for: with the coordinate of another the tag belongs to nobody.
#[test]
fn a_row_is_no_tag_of_another_item() {
    for params in CHOICES.map(params) {
        let exchanged = |mut asked: Asked, _: &mut SecretRng| {
            let coordinates: Vec<u64> = asked.rows.iter().map(|row| row[LANES]).collect();
            asked.rows.iter_mut().zip(coordinates.iter().rev()).for_each(|(row, &other)| row[LANES] = other);
            asked.tags()
        };
        assert_eq!(matches(&params, &items(), exchanged).unwrap(), [0; 0]);
    }
}

/// What a sender gets with another `s` than that of its OTs, or with other keys, are rows of no item.
#[test]
fn another_secret_or_other_keys_than_those_of_the_ots_match_nothing() {
    let spoils: [fn(&mut SenderColumns); 2] = [
        |own| own.secret.iter_mut().for_each(|word| *word = !*word),
        |own| own.columns = Columns::new((0..COLUMNS).map(|column| column as u128)),
    ];
    for (params, spoil) in CHOICES.map(params).iter().flat_map(|params| spoils.map(|spoil| (params, spoil))) {
        let (_, receiver) = try_two_party(
            |ch, rng| send_tags(params, &ask(params, &items(), spoil, ch, rng)?.tags(), ch),
            |ch, rng| honest_receiver(params, ch, rng),
        );
        assert_eq!(receiver.result.unwrap(), [0; 0]);
    }
}

#[test]
fn malformed_or_missing_tags_stop_the_run() {
    for params in CHOICES.map(params) {
        let sends = |send: &(dyn Fn(&mut Channel) -> Result<(), Abort> + Sync)| {
            let script = |ch: &mut Channel, rng: &mut SecretRng| {
                ask(&params, &items(), |_| (), ch, rng)?;
                send(ch)
            };
            try_two_party(script, |ch, rng| honest_receiver(&params, ch, rng)).1.result
        };
        for length in [0, u32::MAX] {
            assert_blamed(sends(&|ch| ch.send_stream::<Tags>(&length.to_le_bytes())), Tags::STEP);
        }
        // Those of fewer items, well coded.
        let mut rng = SecretRng::insecure_from_seed(6);
        let few: Vec<u128> = (0..N / 2).map(|_| rng.block()).collect();
        let result = sends(&|ch| send_tags(&params, &few, ch));
        assert!(result.is_err(), "{result:?}");
        assert!(sends(&|_| Ok(())).is_err(), "no tags at all");
    }
}

/// The sender of the other mode draws the salt. Here it gets no say in it.
#[test]
fn a_salt_of_the_sender_is_refused() {
    let params = params(CHOICES[0]);
    let (_, receiver) = try_two_party(
        |ch, _| {
            ch.send(&Salt([1; 32]))?;
            ch.recv::<ReceiverSalt>(()).map(drop)
        },
        |ch, rng| honest_receiver(&params, ch, rng),
    );
    assert!(receiver.result.is_err());
}

/// What the receiver sends is uniform to a sender that has one key of each column.
#[test]
fn what_comes_from_the_receiver_looks_random() {
    for (choices, step) in CHOICES.into_iter().zip([Polynomials::STEP, Table::STEP]) {
        let sent = IntersectSenderInput { items: vec![7 << 100], payloads: Vec::new() };
        let transcript = transcript_of(variant(choices), &request(1), sent, IntersectReceiverInput { items: items() });
        assert_uniform(&transcript.of(step.protocol, step.number), choices);
    }
}

/// Passes a message on.
fn pass<M: Message>(from: &mut Channel, to: &mut Channel, shape: M::Shape) -> Result<(), Abort> {
    to.send(&from.recv::<M>(shape)?)
}

/// Passes the salt and the messages of the OTs on, of which the sender is the receiver; `change` gets the number of a chunk
/// and its corrections.
fn relay(change: fn(usize, &mut [u128]), up: &mut Channel, down: &mut Channel) -> Result<(), Abort> {
    pass::<ReceiverSalt>(down, up, ())?;
    // The roles of the base OTs are swapped once more, which leaves them as they are here.
    pass::<SenderPoint>(up, down, ())?;
    (0..128 / TRANSFERS_PER_MESSAGE).try_for_each(|_| pass::<ReceiverPoints>(down, up, TRANSFERS_PER_MESSAGE))?;
    up.reversed(|up| {
        down.reversed(|down| {
            pass::<TreeSums>(up, down, ())?;
            pass::<TagSums>(up, down, ())?;
            for chunk in 1..CHUNKS {
                // Four blocks for 448 bits, and one of the check.
                let mut blocks = [0; 5];
                up.recv_stream::<Corrections>(&mut blocks)?;
                change(chunk, &mut blocks);
                down.send_stream::<Corrections>(&blocks)?;
            }
            pass::<Challenge>(down, up, ())?;
            pass::<Answer>(up, down, ())
        })
    })
}

/// As receiver of the OTs the sender might correct chunks of the extension towards different choices: their check tells.
#[test]
fn inconsistent_messages_of_the_ots_stop_the_run() {
    let params = params(CHOICES[0]);
    let set_up = |change: fn(usize, &mut [u128])| {
        let ((sender_end, relay_up), (relay_down, receiver_end)) = (memory::pair(), memory::pair());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                side(sender_end, Role::Sender, options(), |ch, rng| {
                    Keys::of_sender(&params, ch, rng)?;
                    SenderColumns::setup(&params, ch, rng).map(drop)
                })
            });
            scope.spawn(|| {
                side(relay_up, Role::Receiver, options(), |up, _| {
                    side(relay_down, Role::Sender, options(), |down, _| relay(change, up, down)).result
                })
            });
            side(receiver_end, Role::Receiver, options(), |ch, rng| {
                Receiver::<SpotLow>::setup(&params, ch, rng).map(drop)
            })
            .result
        })
    };
    set_up(|_, _| ()).expect("the relay alone changes nothing");
    assert_blamed(set_up(|chunk, blocks| blocks[0] ^= u128::from(chunk == 9)), Answer::STEP);
}
