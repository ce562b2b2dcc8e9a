//! The words between a party and a relay, which joins two parties that can only dial.
//!
//! ```text
//! party                                relay
//!   magic, ticket --------------------->
//!   <------------- a magic of the relay's own
//!   <------------- WAITING, again every 15 s
//!   <------------- a REFUSED_..., and the end
//!   <------------- LISTENER to the party that came first, CONNECTOR to the other one
//!   <============= all bytes of the other party ===========>
//! ```
//!
//! A ticket says which two belong together. It protects nothing else: who the other party is, TLS between the two shows.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::str::FromStr;
use std::time::Duration;

/// What a party says first. The last byte is the version.
const MAGIC: [u8; 8] = *b"vsrelay\x01";

/// What a relay says first, so that nothing else that answers is taken for one. The last byte is the version.
pub const ANSWER: [u8; 8] = *b"vsjoins\x01";

/// Bytes of a ticket.
const TICKET_BYTES: usize = 32;

/// How often a party that waits hears that the relay is still there, so that nothing on the way forgets the connection.
pub const STILL_THERE: Duration = Duration::from_secs(15);

/// What a ticket's text begins with.
const WORD: &str = "vesica-ticket-";

/// Digits in a row by which a text is taken for a ticket, or for a part of one: half of it.
const TELLING_DIGITS: usize = TICKET_BYTES;

/// What two parties show a relay to be joined. Whoever has it can take the place of one of them, and is then found out by
/// its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket([u8; TICKET_BYTES]);

impl Ticket {
    /// That of these bytes, 16 of which are random and 16 of which may be a relay's mark on them.
    pub fn new(random: [u8; 16], mark: [u8; 16]) -> Self {
        let mut bytes = [0; TICKET_BYTES];
        let (head, tail) = bytes.split_at_mut(16);
        head.copy_from_slice(&random);
        tail.copy_from_slice(&mark);
        Self(bytes)
    }

    /// The random bytes and the mark.
    pub fn parts(&self) -> ([u8; 16], [u8; 16]) {
        let (mut random, mut mark) = ([0; 16], [0; 16]);
        let (head, tail) = self.0.split_at(16);
        random.copy_from_slice(head);
        mark.copy_from_slice(tail);
        (random, mark)
    }

    /// A short name of it, for logs, from which it does not follow.
    pub fn name(&self) -> String {
        blake3::derive_key("vesica relay ticket name v1", &self.0).iter().take(4).map(|b| format!("{b:02x}")).collect()
    }

    /// Its text, which is secret.
    pub fn reveal(&self) -> String {
        let digits = self.0.iter().map(|byte| format!("{byte:02x}"));
        std::iter::once(WORD.to_owned()).chain(digits).collect()
    }

    /// Whether a text is to be a ticket, perhaps a damaged one, and not the name of a file. Such a text is secret.
    pub fn is_meant_by(text: &str) -> bool {
        let whole: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        whole.contains(WORD.trim_end_matches('-'))
            || whole.split(|c: char| !c.is_ascii_hexdigit()).any(|digits| digits.len() >= TELLING_DIGITS)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.name())
    }
}

/// A text is no ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no ticket of a relay, which is vesica-ticket- and 64 digits behind it")]
pub struct NotATicket;

impl FromStr for Ticket {
    type Err = NotATicket;

    fn from_str(text: &str) -> Result<Self, NotATicket> {
        let mut bytes = [0; TICKET_BYTES];
        text.strip_prefix(WORD).and_then(|digits| unhex(digits, &mut bytes)).ok_or(NotATicket)?;
        Ok(Self(bytes))
    }
}

/// Reads two hexadecimal digits a byte; nothing where there are not just as many.
pub fn unhex(digits: &str, bytes: &mut [u8]) -> Option<()> {
    if digits.len() != 2 * bytes.len() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(())
}

/// A word of the relay's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The other party is not there yet.
    Waiting,
    /// The other party is there, and opens the TLS session.
    Listener,
    /// The other party is there, and this one opens the TLS session.
    Connector,
    /// The relay does not join this party with another one.
    Refused(Refusal),
}

/// Why a relay does not join a party with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This relay has not made the ticket.
    Unknown,
    /// Two parties are joined by the ticket at the moment.
    InUse,
    /// As many bytes as the relay allows have gone by the ticket.
    Spent,
    /// The other party did not come within the relay's patience.
    Alone,
    /// The relay has as many connections as it takes, in all or from this address.
    Full,
    /// This address has connected too often in the last minute.
    TooOften,
    /// The relay stops.
    Stopping,
    /// The relay does not speak this version.
    Version,
}

impl Word {
    const ALL: [Self; 11] = [
        Self::Waiting,
        Self::Listener,
        Self::Connector,
        Self::Refused(Refusal::Unknown),
        Self::Refused(Refusal::InUse),
        Self::Refused(Refusal::Spent),
        Self::Refused(Refusal::Alone),
        Self::Refused(Refusal::Full),
        Self::Refused(Refusal::TooOften),
        Self::Refused(Refusal::Stopping),
        Self::Refused(Refusal::Version),
    ];

    /// The byte that stands for it.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Waiting => b'w',
            Self::Listener => b'l',
            Self::Connector => b'c',
            Self::Refused(refusal) => match refusal {
                Refusal::Unknown => b'U',
                Refusal::InUse => b'I',
                Refusal::Spent => b'Q',
                Refusal::Alone => b'A',
                Refusal::Full => b'F',
                Refusal::TooOften => b'R',
                Refusal::Stopping => b'S',
                Refusal::Version => b'V',
            },
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.byte() == byte)
    }
}

/// Shows a relay the ticket.
///
/// # Errors
/// If the connection fails.
pub fn show(mut relay: &TcpStream, ticket: &Ticket) -> io::Result<()> {
    relay.set_write_timeout(Some(STILL_THERE))?;
    let mut greeting = MAGIC.to_vec();
    greeting.extend(ticket.0);
    relay.write_all(&greeting)?;
    relay.set_write_timeout(None)
}

/// What a party shows: its ticket, or what it gets instead of a place.
///
/// # Errors
/// If the connection fails.
pub fn shown(party: &mut impl Read) -> io::Result<Result<Ticket, Refusal>> {
    let (mut magic, mut ticket) = ([0; MAGIC.len()], [0; TICKET_BYTES]);
    party.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Ok(Err(Refusal::Version));
    }
    party.read_exact(&mut ticket)?;
    Ok(Ok(Ticket(ticket)))
}

/// What has come of a relay's answer.
#[derive(Debug, Default)]
pub struct Answer {
    /// How many bytes of [`ANSWER`].
    recognised: usize,
}

impl Answer {
    /// The relay's next word, if it comes within `wait`. A relay of another version refuses this one.
    ///
    /// # Errors
    /// If the connection fails or ends, or what answers is no relay (`InvalidData`).
    pub fn next_word(&mut self, relay: &TcpStream, wait: Duration) -> io::Result<Option<Word>> {
        relay.set_read_timeout(Some(wait))?;
        let heard = loop {
            match self.one_byte(relay) {
                Ok(None) => {}
                Ok(word) => break Ok(word),
                Err(fault)
                    if matches!(
                        fault.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
                    ) =>
                {
                    break Ok(None);
                }
                Err(fault) => break Err(fault),
            }
        };
        relay.set_read_timeout(None)?;
        heard
    }

    /// Takes one byte, and never one behind the last word, where TLS begins. `None` while it belongs to the answer.
    fn one_byte(&mut self, mut relay: impl Read) -> io::Result<Option<Word>> {
        let mut byte = [0];
        if relay.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(expected) = ANSWER.get(self.recognised) else {
            return Word::of_byte(byte[0]).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into());
        };
        let is_version = self.recognised + 1 == ANSWER.len();
        match byte[0] == *expected {
            true => self.recognised += 1,
            false if is_version => return Ok(Some(Word::Refused(Refusal::Version))),
            false => return Err(io::ErrorKind::InvalidData.into()),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_has_one_text_which_nothing_else_shows() {
        let ticket = Ticket::new([1; 16], [0xab; 16]);
        let text = ticket.reveal();
        assert_eq!((text.parse(), ticket.parts()), (Ok(ticket), ([1; 16], [0xab; 16])));
        for meant in
            [&text[..], &format!(" {text}\n"), &text[14..], &text[14..46], &format!("x{}", &text[1..]), "vesica-ticket"]
        {
            assert!(Ticket::is_meant_by(meant), "{meant}");
        }
        assert!(Ticket::is_meant_by(&text.to_uppercase()) && Ticket::is_meant_by(&text.replace("0101", "01 01")));
        for file in ["ticket.txt", "/tmp/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "./a/deadbeef/cafe.ticket", "fd:3"] {
            assert!(!Ticket::is_meant_by(file), "{file}");
        }
        assert!(!format!("{ticket:?}").contains("0101") && ticket.name().len() == 8);
        for bad in [&text[1..], &text[..text.len() - 1], &format!("{text}0"), &text.replace("01", "+1"), WORD, ""] {
            assert_eq!(bad.parse::<Ticket>(), Err(NotATicket), "{bad}");
        }
    }

    #[test]
    fn words_are_told_apart_and_a_greeting_is_read_as_it_was_written() {
        for word in Word::ALL {
            assert_eq!(Word::of_byte(word.byte()), Some(word));
        }
        assert_eq!(Word::of_byte(0x16), None);
        let first_word = |said: &[u8]| {
            let (mut answer, mut said) = (Answer::default(), said);
            loop {
                match answer.one_byte(&mut said) {
                    Ok(None) => {}
                    other => return other.map_err(|fault| fault.kind()),
                }
            }
        };
        let answer = |word: &[u8]| first_word(&[&ANSWER[..], word].concat());
        assert_eq!(answer(b"w"), Ok(Some(Word::Waiting)));
        assert_eq!(answer(b"x"), Err(io::ErrorKind::InvalidData));
        assert_eq!(first_word(b"vsjoins\x02"), Ok(Some(Word::Refused(Refusal::Version))));
        for other in [&b"SSH-2.0-OpenSSH\r\n"[..], b"w", b"V", b"HTTP/1.1 400"] {
            assert_eq!(first_word(other), Err(io::ErrorKind::InvalidData), "{other:?}");
        }
        let ticket = Ticket::new([2; 16], [3; 16]);
        let greeting = [&MAGIC[..], &ticket.0].concat();
        assert_eq!(shown(&mut &greeting[..]).unwrap(), Ok(ticket));
        assert_eq!(shown(&mut &b"GET / HTTP/1.1"[..]).unwrap(), Err(Refusal::Version));
        assert!(shown(&mut &greeting[..39]).is_err());
    }
}
