//! The messages of the session around a protocol: opening, configuration, sizes, choice, session,
//! transcript, closing.
//!
//! Roles of the task are not yet agreed when they travel, so here the side that connected is the
//! "sender" and the side that listened the "receiver".

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use vesica_party::{Abort, Channel, Malformed, Message, Reader, Role, Step, Writer};

use super::Hello;
use super::negotiator::MOST_TASK_BYTES;
use crate::failure::{Failure, code};
use crate::key::Kind;

const PROTOCOL: &str = "vesica-session";

/// The first bytes of every session, of every version.
const MAGIC: [u8; 8] = *b"vesica\0\n";

/// What a message holds, whichever side sends it.
pub(crate) trait Body: Sized {
    /// The message's number in the session: arrow `2 NUMBER - 1` from the connector, `2 NUMBER`
    /// from the listener.
    const NUMBER: u8;
    /// What the message carries, in words.
    const CARRIES: &'static str;
    /// Lengths of valid encodings.
    const LENGTHS: RangeInclusive<usize>;

    fn write(&self, out: &mut Writer);
    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed>;
}

struct FromConnector<B>(B);
struct FromListener<B>(B);

impl<B: Body> Message for FromConnector<B> {
    const STEP: Step = Step { protocol: PROTOCOL, number: 2 * B::NUMBER - 1, from: Role::Sender, carries: B::CARRIES };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        B::LENGTHS
    }

    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        B::read(bytes).map(Self)
    }
}

impl<B: Body> Message for FromListener<B> {
    const STEP: Step = Step { protocol: PROTOCOL, number: 2 * B::NUMBER, from: Role::Receiver, carries: B::CARRIES };
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        B::LENGTHS
    }

    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        B::read(bytes).map(Self)
    }
}

/// Sends `body` as the connector or listener that this side is.
pub(crate) fn send<B: Body>(ch: &mut Channel, body: B) -> Result<(), Abort> {
    match ch.role() {
        Role::Sender => ch.send(&FromConnector(body)),
        Role::Receiver => ch.send(&FromListener(body)),
    }
}

/// Receives the other side's.
pub(crate) fn recv<B: Body>(ch: &mut Channel) -> Result<B, Abort> {
    match ch.role() {
        Role::Sender => ch.recv::<FromListener<B>>(()).map(|message| message.0),
        Role::Receiver => ch.recv::<FromConnector<B>>(()).map(|message| message.0),
    }
}

/// The arrow on which the other side sends a `B`.
pub(crate) fn peers_step<B: Body>(ch: &Channel) -> Step {
    match ch.role() {
        Role::Sender => FromListener::<B>::STEP,
        Role::Receiver => FromConnector::<B>::STEP,
    }
}

/// Says which version of the wire format follows. This message never changes.
pub(crate) struct Opening {
    pub wire_version: u32,
}

impl Body for Opening {
    const NUMBER: u8 = 1;
    const CARRIES: &'static str = "wire version";
    const LENGTHS: RangeInclusive<usize> = 12..=12;

    fn write(&self, out: &mut Writer) {
        out.bytes(&MAGIC);
        out.u32(self.wire_version);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        match bytes.array()? == MAGIC {
            true => Ok(Self { wire_version: bytes.u32()? }),
            false => Err(Malformed("the first bytes are not those of vesica")),
        }
    }
}

fn write_json(value: &impl Serialize, out: &mut Writer) {
    // Serialising these plain structs into memory cannot fail; an empty body would be refused by the
    // peer.
    out.bytes(&serde_json::to_vec(value).unwrap_or_default());
}

fn read_json<T: DeserializeOwned>(bytes: &mut Reader<'_>) -> Result<T, Malformed> {
    serde_json::from_slice(bytes.rest()).map_err(|_| Malformed("not the JSON object that is due here"))
}

/// Most bytes of a message's own fields, beside the task's words.
const MOST_FIELD_BYTES: usize = 64 << 10;

/// Lengths of messages with the task's words: the words behind their length, then the other fields.
const WITH_TASK_LENGTHS: RangeInclusive<usize> = 6..=4 + MOST_TASK_BYTES + MOST_FIELD_BYTES;

fn write_with_task(task: &[u8], value: &impl Serialize, out: &mut Writer) {
    out.u32(task.len() as u32);
    out.bytes(task);
    write_json(value, out);
}

fn read_with_task<T: DeserializeOwned>(bytes: &mut Reader<'_>) -> Result<(Vec<u8>, T), Malformed> {
    let length = bytes.u32()? as usize;
    if length > MOST_TASK_BYTES {
        return Err(Malformed("more words of the task than any task has"));
    }
    let task = bytes.bytes(length)?.to_vec();
    if bytes.remaining() > MOST_FIELD_BYTES {
        return Err(Malformed("more fields than are due here"));
    }
    Ok((task, read_json(bytes)?))
}

/// Refuses own words that are too long for their message: the partner would refuse them as
/// misbehaviour.
fn check_with_task(task: &[u8], value: &impl Serialize) -> Result<(), Failure> {
    let refuse = |columns, bytes: usize, most: usize, mend| {
        let fault = format_args!("what the partner must know of the {columns} takes {bytes} bytes, more than {most}");
        Err(Failure::new(code::USAGE, fault, mend))
    };
    if task.len() > MOST_TASK_BYTES {
        let mend = "name fewer columns with --payload and --partner-clamp, or give them shorter names";
        return refuse("columns", task.len(), MOST_TASK_BYTES, mend);
    }
    // Serialising these plain structs into memory cannot fail.
    let fields = serde_json::to_vec(value).unwrap_or_default().len();
    if fields > MOST_FIELD_BYTES {
        let mend = "name fewer columns with --key and --or-key, or fewer normalisers with --normalise";
        return refuse("key columns", fields, MOST_FIELD_BYTES, mend);
    }
    Ok(())
}

impl Hello {
    /// Refuses a configuration that is too long for its message, whatever the time and the
    /// randomness will be.
    pub(crate) fn check_length(&self) -> Result<(), Failure> {
        // The more digits a number has, the longer is its JSON.
        let most = [u8::MAX; 32];
        let longest = Self { clock: u64::MAX, policy: Some(most), nonce: most, salt_commitment: most, ..self.clone() };
        check_with_task(&longest.proposal, &longest)
    }
}

impl Body for Hello {
    const NUMBER: u8 = 2;
    const CARRIES: &'static str = "configuration";
    const LENGTHS: RangeInclusive<usize> = WITH_TASK_LENGTHS;

    fn write(&self, out: &mut Writer) {
        write_with_task(&self.proposal, self, out);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (proposal, fields) = read_with_task::<Self>(bytes)?;
        Ok(Self { proposal, ..fields })
    }
}

/// How much a side brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sizes {
    /// Distinct keys, dummies of `--pad-to` included.
    pub items: u64,
    /// The share of the salt that the configuration commits to.
    pub salt_share: super::salt::Share,
    /// How the values of each key column are written, in key order.
    pub key_kinds: Vec<Kind>,
    /// What the side says of the task now that it has read its table: bytes that the task reads.
    /// They travel before the other fields.
    #[serde(skip)]
    pub measure: Vec<u8>,
}

impl Sizes {
    /// Refuses sizes that are too long for their message.
    pub(crate) fn check_length(&self) -> Result<(), Failure> {
        check_with_task(&self.measure, self)
    }
}

impl Body for Sizes {
    const NUMBER: u8 = 3;
    const CARRIES: &'static str = "sizes";
    const LENGTHS: RangeInclusive<usize> = WITH_TASK_LENGTHS;

    fn write(&self, out: &mut Writer) {
        write_with_task(&self.measure, self, out);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (measure, fields) = read_with_task::<Self>(bytes)?;
        if !fields.key_kinds.iter().all(|kind| kind.is_sound()) {
            return Err(Malformed("a kind of key column that no side finds"));
        }
        Ok(Self { measure, ..fields })
    }
}

/// The receiver's choice of protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    /// Id of the protocol.
    pub protocol: String,
}

impl Body for Choice {
    const NUMBER: u8 = 4;
    const CARRIES: &'static str = "choice of protocol";
    const LENGTHS: RangeInclusive<usize> = 2..=1 << 10;

    fn write(&self, out: &mut Writer) {
        write_json(self, out);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        read_json(bytes)
    }
}

/// Whether a run on the whole tables fits in the memory that a side has for it. Said of large tables alone, where both
/// sides let their keys be divided into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fits(pub bool);

impl Body for Fits {
    const NUMBER: u8 = 14;
    const CARRIES: &'static str = "whether the whole tables fit in memory";
    const LENGTHS: RangeInclusive<usize> = 1..=1;

    fn write(&self, out: &mut Writer) {
        out.bytes(&[u8::from(self.0)]);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        match bytes.array()? {
            [0] => Ok(Self(false)),
            [1] => Ok(Self(true)),
            [_] => Err(Malformed("tables that neither fit in memory nor do not")),
        }
    }
}

/// A side has agreed to everything, and this is the session it will run.
pub(crate) struct Ready {
    pub session: [u8; 32],
}

impl Body for Ready {
    const NUMBER: u8 = 5;
    const CARRIES: &'static str = "session id";
    const LENGTHS: RangeInclusive<usize> = 32..=32;

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.session);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { session: bytes.array()? })
    }
}

/// A side has run the protocol, and this is what it saw of it.
pub(crate) struct Seen {
    /// Hash of all that was said on the channel until then.
    pub transcript: [u8; 32],
}

impl Body for Seen {
    const NUMBER: u8 = 6;
    const CARRIES: &'static str = "transcript hash";
    const LENGTHS: RangeInclusive<usize> = 32..=32;

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.transcript);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { transcript: bytes.array()? })
    }
}

/// A side is done: its result, if it has one, is on disk.
pub(crate) struct Closing {
    /// The side's signature under the receipt; zero where no receipt is made (plaintext).
    pub signature: [u8; 64],
}

impl Body for Closing {
    const NUMBER: u8 = 7;
    const CARRIES: &'static str = "completion and receipt signature";
    const LENGTHS: RangeInclusive<usize> = 64..=64;

    fn write(&self, out: &mut Writer) {
        out.bytes(&self.signature);
    }

    fn read(bytes: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { signature: bytes.array()? })
    }
}
