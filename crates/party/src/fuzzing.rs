//! Plain functions for fuzzing: each takes any bytes and must neither panic nor allocate more than
//! a small multiple of them.

use std::io;

pub use crate::channel::feed::Fed;
use crate::channel::wire::{HEADER_BYTES, Header, Kind};
use crate::service::{State, StateError, StateReader, StateWriter, read_state, write_state};
use crate::transport::proxy::Proxy;
use crate::transport::relay;
use crate::transport::tls::{Day, Identity, PublicKey, Revocation, Succession, read_locked};
use crate::{Malformed, Message, Reader, Step, Writer};

/// Splits bytes into frames as the reader thread does; how many were well-formed.
pub fn frames(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() {
        let Ok(header) = Header::parse(header) else { break };
        let Some((body, rest)) = rest.split_at_checked(header.length) else { break };
        match header.kind {
            Kind::Abort => drop(crate::channel::parse_abort(body)),
            Kind::Open => assert!(crate::channel::Open::parse(body).is_ok()),
            _ => {}
        }
        bytes = rest;
        count += 1;
    }
    count
}

/// Takes bytes apart with sizes that they choose themselves.
pub fn reader(bytes: &[u8]) {
    fn take(bytes: &mut Reader<'_>) -> Result<(), Malformed> {
        loop {
            let count = bytes.u64()?;
            let count = usize::try_from(count).map_err(|_| Malformed("too many"))?;
            match count % 4 {
                0 => drop(bytes.elements::<u128>(count / 4)?),
                1 => drop(bytes.bytes(count / 4)?.len()),
                2 => drop(bytes.array::<7>()?),
                _ => drop(bytes.u32()?),
            }
        }
    }
    // Ends by the first error, at the latest at the end of the input.
    let _ = take(&mut Reader::new(bytes));
}

/// Takes bytes as a peer's frames, as the reader thread does.
pub fn conversation(bytes: &[u8]) -> Fed {
    crate::channel::feed::feed(bytes)
}

/// Takes bytes as a state file whose body is numbers with their count before them; what is read
/// must be written alike. Whether it is one.
pub fn state(bytes: &[u8]) -> bool {
    let mut source = bytes;
    let read: Result<Numbers, _> = read_state(&mut source, bytes.len() as u64, u64::MAX);
    let Ok(numbers) = read else { return false };
    let mut again = Vec::new();
    let written = write_state(&numbers, &mut again);
    assert!(written.is_ok() && again == bytes, "a state is not written as it was read");
    true
}

/// Well-formed inputs of [`state`].
pub fn state_seeds() -> Vec<Vec<u8>> {
    let seed = |numbers: &[u64]| {
        let mut bytes = Vec::new();
        write_state(&Numbers(numbers.to_vec()), &mut bytes).ok().map(|()| bytes)
    };
    [&[][..], &[1], &[1 << 40, 2, 3]].into_iter().filter_map(seed).collect()
}

struct Numbers(Vec<u64>);

impl State for Numbers {
    const FORMAT: &'static str = "numbers 1";

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.u64(self.0.len() as u64)?;
        out.elements(&self.0)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let count = bytes.count()?;
        Ok(Self(bytes.elements(count)?))
    }
}

/// Reads a text as a private key, as a public one and as what a key's owner says of it; what is read must read back. How many
/// it is.
pub fn keys(text: &str) -> usize {
    let identity = Identity::from_pem(text);
    if let Some(identity) = &identity {
        let again = Identity::from_pem(&identity.to_pem()).map(|again| again.public());
        assert_eq!(again, Some(identity.public()), "a private key does not read back");
    }
    let public: Option<PublicKey> = text.parse().ok();
    if let Some(public) = public {
        assert_eq!(public.to_string().parse().ok(), Some(public), "a public key does not read back");
    }
    let (succession, revocation) = (text.parse::<Succession>(), text.parse::<Revocation>());
    if let Ok(succession) = &succession {
        assert_eq!(succession.to_string().parse().as_ref(), Ok(succession), "a succession does not read back");
    }
    if let Ok(revocation) = &revocation {
        assert_eq!(revocation.to_string().parse().as_ref(), Ok(revocation), "a revocation does not read back");
    }
    read_locked(text);
    usize::from(identity.is_some())
        + usize::from(public.is_some())
        + usize::from(succession.is_ok())
        + usize::from(revocation.is_ok())
}

/// A private key as PEM, its public key's line, and the lines of a successor and of a revocation.
pub fn key_seeds() -> Option<[String; 4]> {
    let (identity, next) = (Identity::generate().ok()?, Identity::generate().ok()?);
    let succession = Succession::sign(&identity, &next, Day::today())?;
    let revocation = Revocation::sign(&identity)?;
    Some([identity.to_pem().to_string(), identity.public().to_string(), succession.to_string(), revocation.to_string()])
}

/// A message in a crate's list of its messages: what a fuzzer needs of it, without its type.
#[derive(Clone, Copy)]
pub struct AnyMessage {
    /// The arrow of the figure.
    pub step: Step,
    /// Takes any bytes, of which the first chooses a shape. Whether the others were a message of
    /// that shape, to their end.
    pub read: fn(&[u8]) -> bool,
    /// Bytes that `read` reads so, for the shapes of some numbers.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

impl AnyMessage {
    /// The list's element for `M`.
    pub const fn of<M: Message<Shape: NumberedShape>>() -> Self {
        Self { step: M::STEP, read: read_message::<M>, seeds: message_seeds::<M> }
    }
}

impl std::fmt::Debug for AnyMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyMessage").field("step", &self.step).finish_non_exhaustive()
    }
}

/// A shape of messages that a fuzzer chooses by a number.
pub trait NumberedShape: Sized {
    /// The shape; `None` for numbers that stand for none.
    fn numbered(number: u8) -> Option<Self>;
}

impl NumberedShape for () {
    fn numbered(_: u8) -> Option<Self> {
        Some(())
    }
}

impl NumberedShape for bool {
    fn numbered(number: u8) -> Option<Self> {
        Some(number & 1 == 1)
    }
}

/// Counts.
impl NumberedShape for usize {
    fn numbered(number: u8) -> Option<Self> {
        Some(number.into())
    }
}

/// Reads a message as a channel does, and writes it again.
fn read_message<M: Message<Shape: NumberedShape>>(bytes: &[u8]) -> bool {
    let Some((&number, body)) = bytes.split_first() else { return false };
    let (Some(shape), Some(again)) = (M::Shape::numbered(number), M::Shape::numbered(number)) else { return false };
    let lengths = M::len(&shape);
    let mut reader = Reader::new(body);
    let read = M::read(&mut reader, again);
    // The channel refuses other lengths before it reads.
    let (Ok(message), 0, true) = (read, reader.remaining(), lengths.contains(&body.len())) else { return false };
    let mut writer = Writer::default();
    message.write(&mut writer);
    assert_eq!(writer.into_bytes(), body, "{} has two encodings", M::STEP);
    true
}

/// Zeros of the least length of each of some shapes.
fn message_seeds<M: Message<Shape: NumberedShape>>() -> Vec<Vec<u8>> {
    let seed = |number: u8| {
        let length = *M::len(&M::Shape::numbered(number)?).start();
        Some([&[number][..], &vec![0; length]].concat())
    };
    [0, 1, 2, 9].into_iter().filter_map(seed).collect()
}

/// The list of a file's messages, for its crate's list: `messages![SenderPoint, ReceiverPoints];`.
#[macro_export]
macro_rules! messages {
    ($($message:ty),+ $(,)?) => {
        /// The messages of this file that are read from a frame.
        pub(crate) const MESSAGES: &[$crate::fuzzing::AnyMessage] = &[$($crate::fuzzing::AnyMessage::of::<$message>()),+];
    };
}

/// Takes bytes as a proxy's answers, to `CONNECT` of HTTP or as SOCKS 5. Whether they grant the connection.
pub fn proxy(bytes: &[u8], is_http: bool) -> bool {
    crate::transport::proxy::fuzz(bytes, is_http)
}

/// Takes a text as the URL of a proxy. Whether it is one; what is shown of it is one, too.
pub fn proxy_url(text: &str) -> bool {
    Proxy::parse(text).is_ok_and(|proxy| {
        assert!(Proxy::parse(&proxy.to_string()).is_ok(), "what is shown of a proxy is none");
        true
    })
}

/// Takes bytes as what a party shows a relay. Whether it is a ticket.
pub fn ticket(mut bytes: &[u8]) -> bool {
    matches!(relay::shown(&mut bytes), Ok(Ok(_)))
}
