//! What the owner of a key says of it, signed: that another key takes its place ([`Succession`]), and that nobody may
//! accept it any more ([`Revocation`]). Each is one line of text, like a public key.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use super::identity::{Identity, PublicKey};
use super::text;

const SUCCESSION_TAG: &str = "vesica-succession";
const REVOCATION_TAG: &str = "vesica-revocation";

/// What a signature is for: no signature of another text of ours counts here, and none of these elsewhere.
const SUCCESSION_DOMAIN: &[u8] = b"vesica 2026-11-30 succession of an identity v1\0";
const REVOCATION_DOMAIN: &[u8] = b"vesica 2026-11-30 revocation of an identity v1\0";

const KEY: usize = 32;
const DAY: usize = 4;
const SIGNATURE: usize = 64;
const SUCCESSION: usize = 2 * KEY + DAY + 2 * SIGNATURE;
const REVOCATION: usize = KEY + DAY + SIGNATURE;

/// A day of the calendar in UTC, by its number from 1970-01-01 on. Its text is `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(u32);

const SECONDS_PER_DAY: u64 = 86_400;

impl Day {
    /// The day on which we are by this machine's clock.
    pub fn today() -> Self {
        Self::of(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    /// The day of so many seconds since 1970, by UTC.
    pub fn of(seconds: u64) -> Self {
        Self(u32::try_from(seconds / SECONDS_PER_DAY).unwrap_or(u32::MAX))
    }

    /// So many days later.
    #[cfg(test)]
    pub(super) fn plus(self, days: u32) -> Self {
        Self(self.0.saturating_add(days))
    }
}

/// Days from 1970-01-01 to the first of March of year 0, and days of 400 years of the Gregorian calendar.
const EPOCH_FROM_MARCH_0: u64 = 719_468;
const DAYS_OF_400_YEARS: u64 = 146_097;

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Years begin in March here, so that a leap day is the last of its year.
        let days = u64::from(self.0) + EPOCH_FROM_MARCH_0;
        let (era, of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A text that is no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a day from 1970-01-01 on, of the form YYYY-MM-DD")]
pub struct NotADay;

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<u64>().map_err(|_| NotADay));
        let mut part = || parts.next().unwrap_or(Err(NotADay));
        let (year, month, day) = (part()?, part()?, part()?);
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Err(NotADay);
        }
        let year = year - u64::from(month <= 2);
        let month_from_march = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let year_of_era = year % 400;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        let days = (year / 400 * DAYS_OF_400_YEARS + of_era).checked_sub(EPOCH_FROM_MARCH_0).ok_or(NotADay)?;
        let day = Self(u32::try_from(days).map_err(|_| NotADay)?);
        // What the calendar does not have, such as the 30th of February, is written otherwise again.
        if day.to_string() == text { Ok(day) } else { Err(NotADay) }
    }
}

/// Why a line is no statement of the owner of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAStatement {
    /// The line has another form.
    #[error("not a line of the form `{0} BASE64 comment`")]
    Malformed(&'static str),
    /// A signature is wrong: somebody else has written or changed it.
    #[error("its signature is wrong: it was damaged, or somebody else has made it")]
    Forged,
}

/// That one key takes the place of another, with the last day on which the other is good. Both keys have signed it: the old
/// one says who follows, and the new one that its owner agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Succession {
    /// The key that is replaced.
    pub old: PublicKey,
    /// The key that follows.
    pub new: PublicKey,
    /// The last day, in UTC, on which partners accept the old key, too.
    pub until: Day,
    signatures: [[u8; SIGNATURE]; 2],
}

fn succession_bytes(old: &PublicKey, new: &PublicKey, until: Day) -> Vec<u8> {
    [SUCCESSION_DOMAIN, old.as_bytes(), new.as_bytes(), &until.0.to_le_bytes()].concat()
}

impl Succession {
    /// Has both identities sign; `None` if they are the same, or the library fails.
    pub fn sign(old: &Identity, new: &Identity, until: Day) -> Option<Self> {
        let message = succession_bytes(&old.public(), &new.public(), until);
        let signatures = [old.sign(&message)?, new.sign(&message)?];
        (old.public() != new.public()).then_some(Self { old: old.public(), new: new.public(), until, signatures })
    }
}

impl fmt::Display for Succession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [by_old, by_new] = &self.signatures;
        let day = self.until.0.to_le_bytes();
        let bytes = [&self.old.as_bytes()[..], self.new.as_bytes(), &day, by_old, by_new].concat();
        write!(f, "{SUCCESSION_TAG} {}", text::base64(&bytes))
    }
}

impl FromStr for Succession {
    type Err = NotAStatement;

    /// Reads a line as `Display` writes it, with or without a comment after it, and checks both signatures.
    fn from_str(line: &str) -> Result<Self, NotAStatement> {
        let bytes: [u8; SUCCESSION] = bytes_of(line, SUCCESSION_TAG)?;
        let read =
            |mut parts: Parts<'_>| Some((parts.key()?, parts.key()?, parts.day()?, [parts.take()?, parts.take()?]));
        let (old, new, until, signatures) = read(Parts(&bytes)).ok_or(NotAStatement::Malformed(SUCCESSION_TAG))?;
        let message = succession_bytes(&old, &new, until);
        let [by_old, by_new] = &signatures;
        match old != new && old.verifies(&message, by_old) && new.verifies(&message, by_new) {
            true => Ok(Self { old, new, until, signatures }),
            false => Err(NotAStatement::Forged),
        }
    }
}

/// That nobody may accept a key any more, because its owner says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The key.
    pub key: PublicKey,
    /// The day on which its owner has said it. A key counts as revoked whatever the day is.
    pub day: Day,
    signature: [u8; SIGNATURE],
}

fn revocation_bytes(key: &PublicKey, day: Day) -> Vec<u8> {
    [REVOCATION_DOMAIN, key.as_bytes(), &day.0.to_le_bytes()].concat()
}

impl Revocation {
    /// Has the identity sign that it is revoked today; `None` if the library fails.
    pub fn sign(identity: &Identity) -> Option<Self> {
        let (key, day) = (identity.public(), Day::today());
        Some(Self { key, day, signature: identity.sign(&revocation_bytes(&key, day))? })
    }
}

impl fmt::Display for Revocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.key.as_bytes()[..], &self.day.0.to_le_bytes(), &self.signature].concat();
        write!(f, "{REVOCATION_TAG} {}", text::base64(&bytes))
    }
}

impl FromStr for Revocation {
    type Err = NotAStatement;

    /// Reads a line as `Display` writes it, with or without a comment after it, and checks the signature.
    fn from_str(line: &str) -> Result<Self, NotAStatement> {
        let bytes: [u8; REVOCATION] = bytes_of(line, REVOCATION_TAG)?;
        let read = |mut parts: Parts<'_>| Some((parts.key()?, parts.day()?, parts.take()?));
        let (key, day, signature) = read(Parts(&bytes)).ok_or(NotAStatement::Malformed(REVOCATION_TAG))?;
        match key.verifies(&revocation_bytes(&key, day), &signature) {
            true => Ok(Self { key, day, signature }),
            false => Err(NotAStatement::Forged),
        }
    }
}

/// The bytes of a line that begins with this word.
fn bytes_of<const N: usize>(line: &str, tag: &'static str) -> Result<[u8; N], NotAStatement> {
    text::of_line(line, tag).ok_or(NotAStatement::Malformed(tag))
}

/// Parts of fixed lengths, one after the other.
struct Parts<'a>(&'a [u8]);

impl Parts<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (part, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*part)
    }

    fn key(&mut self) -> Option<PublicKey> {
        self.take().map(PublicKey::from_bytes)
    }

    fn day(&mut self) -> Option<Day> {
        self.take().map(|bytes| Day(u32::from_le_bytes(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity::generate().expect("randomness")
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, number) in [
            ("1970-01-01", 0),
            ("2000-02-29", 11_016),
            ("2026-11-30", 20_787),
            ("2100-03-01", 47_541),
            ("9999-12-31", 2_932_896),
        ] {
            assert_eq!((text.parse(), Day(number).to_string().as_str()), (Ok(Day(number)), text));
        }
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-2-1",
            "2026-02-29",
            "2026-13-01",
            "1969-12-31",
            "2026-11-31",
            "2026-11-30 ",
            "+2026-11-30",
        ] {
            assert_eq!(text.parse::<Day>(), Err(NotADay), "{text}");
        }
    }

    /// Every bit of a statement is signed, or is the signature.
    #[test]
    fn a_statement_reads_back_and_no_other_is_believed() {
        let (old, new) = (identity(), identity());
        let day: Day = "2027-01-31".parse().expect("a day");
        let succession = Succession::sign(&old, &new, day).expect("signed");
        let revocation = Revocation::sign(&old).expect("signed");
        assert_eq!(format!("\u{feff}{succession} ours").parse(), Ok(succession.clone()));
        assert_eq!(format!("{revocation} ours").parse(), Ok(revocation.clone()));
        assert!(Succession::sign(&old, &old, day).is_none());
        for place in 0..SUCCESSION {
            let line = succession.to_string();
            let mut bytes: [u8; SUCCESSION] = bytes_of(&line, SUCCESSION_TAG).expect("bytes");
            bytes[place] ^= 1;
            let line = format!("{SUCCESSION_TAG} {}", text::base64(&bytes));
            assert_eq!(line.parse::<Succession>(), Err(NotAStatement::Forged), "byte {place}");
        }
        for place in 0..REVOCATION {
            let line = revocation.to_string();
            let mut bytes: [u8; REVOCATION] = bytes_of(&line, REVOCATION_TAG).expect("bytes");
            bytes[place] ^= 1;
            let line = format!("{REVOCATION_TAG} {}", text::base64(&bytes));
            assert_eq!(line.parse::<Revocation>(), Err(NotAStatement::Forged), "byte {place}");
        }
    }

    /// A key that the other's owner does not hold cannot be made its successor, and the old one's owner alone names one.
    #[test]
    fn both_keys_must_sign() {
        let (old, new, other) = (identity(), identity(), identity());
        let day = Day::today();
        let message = succession_bytes(&old.public(), &new.public(), day);
        let sign = |identity: &Identity| identity.sign(&message).expect("signed");
        for (by_old, by_new, is_good) in
            [(&old, &new, true), (&old, &old, false), (&new, &new, false), (&other, &new, false)]
        {
            let signatures = [sign(by_old), sign(by_new)];
            let line = Succession { old: old.public(), new: new.public(), until: day, signatures }.to_string();
            assert_eq!(line.parse::<Succession>().is_ok(), is_good);
        }
    }

    #[test]
    fn other_lines_are_no_statements() {
        for line in ["", "vesica-succession", "vesica-revocation AAAA", "vesica-ed25519 AAAA", "vesica-succession !"] {
            assert!(line.parse::<Succession>().is_err() && line.parse::<Revocation>().is_err(), "{line}");
        }
    }
}
