//! Telephone numbers to E.164, by the rules of libphonenumber in its Rust port `rlibphonenumber`.
//!
//! What is no valid number of any country is unmatchable, and so is a number with an extension:
//! without it, it would be the key of the whole switchboard. A number that a program took for a quantity
//! (`4930123456.0`) is unmatchable, too: the library would read it as another subscriber's.

use std::fmt;

use rlibphonenumber::{CountryCodeSource, PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, Region};

use crate::key::{SpecError, Unmatchable, notation};

/// Name, own version and that of the rules, since other rules read some texts as other numbers. The
/// version is the one that Cargo.toml pins.
pub(crate) const AGREED_NAME: &str = "e164@3+rlibphonenumber-2.2.15";

/// How `e164` reads a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phone {
    country: String,
    region: Region,
    /// Country calling code, without `+`.
    calling_code: String,
    bare: Option<Bare>,
}

/// Which reading is taken of a *bare* number: one without `+` or international prefix that begins
/// with the country's own calling code, where both readings are valid numbers. `491511234567` in
/// Germany is a number of Emden (`0491 511234567`) or a mobile one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// A number of the country, which begins with these digits.
    National,
    /// The digits are the calling code.
    International,
    /// Neither: the value is unmatchable.
    Refuse,
}

/// How a value was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// There is no other.
    Only,
    /// A bare number as a number of the country.
    BareNational,
    /// A bare number as an international one.
    BareInternational,
}

impl Phone {
    /// Reads `COUNTRY[:bare=national|international|refuse]`.
    pub fn parse(argument: &str) -> Result<Self, SpecError> {
        let (country, bare) =
            argument.split_once(':').map_or((argument, None), |(country, bare)| (country, Some(bare)));
        let bare = match bare {
            None => None,
            Some("bare=national") => Some(Bare::National),
            Some("bare=international") => Some(Bare::International),
            Some("bare=refuse") => Some(Bare::Refuse),
            Some(other) => return Err(SpecError::Bare(other.to_owned())),
        };
        let unknown = || SpecError::UnknownCountry(country.to_owned());
        let name = country.to_ascii_uppercase();
        // The library has codes of its own for what is no country.
        let letters = name.len() == 2 && name.bytes().all(|b| b.is_ascii_uppercase());
        let region: Region = name.parse().ok().filter(|_| letters).ok_or_else(unknown)?;
        let calling_code = PHONE_NUMBER_UTIL.get_country_code_for_region(region).ok_or_else(unknown)?.to_string();
        Ok(Self { country: name, region, calling_code, bare })
    }

    /// Country calling code, without `+`.
    pub fn calling_code(&self) -> &str {
        &self.calling_code
    }

    /// Whether the user said how bare numbers are to be read.
    pub fn decides_bare_numbers(&self) -> bool {
        self.bare.is_some()
    }

    /// Appends `+` and the digits of the number.
    pub(crate) fn read(&self, value: &str, out: &mut String) -> Result<Reading, Unmatchable> {
        if notation::is_number_and_no_telephone(value) {
            return Err(Unmatchable);
        }
        let number = PHONE_NUMBER_UTIL.parse_and_keep_raw_input(value, Some(self.region)).map_err(|_| Unmatchable)?;
        let own = e164(&number);
        let source = number.country_code_source();
        let bare = match source {
            CountryCodeSource::FromNumberWithoutPlusSign => true,
            CountryCodeSource::FromDefaultCountry => {
                let mut digits =
                    value.chars().filter_map(|c| c.to_digit(10)).map(|digit| char::from(b'0' + digit as u8));
                self.calling_code.chars().all(|c| digits.next() == Some(c))
            }
            _ => false,
        };
        let (number, reading) = if bare { self.bare(value, own, source)? } else { (own, Reading::Only) };
        out.push_str(&number.ok_or(Unmatchable)?);
        Ok(reading)
    }

    /// Chooses between the two readings of a bare number, of which `own` is the library's.
    fn bare(
        &self,
        value: &str,
        own: Option<String>,
        source: CountryCodeSource,
    ) -> Result<(Option<String>, Reading), Unmatchable> {
        let read =
            |text: String| PHONE_NUMBER_UTIL.parse(text, Some(self.region)).ok().and_then(|number| e164(&number));
        let own_is_national = source == CountryCodeSource::FromDefaultCountry;
        let (national, international) = if own_is_national {
            (own, read(format!("+{}", value.trim())))
        } else {
            (read(format!("+{} {}", self.calling_code, value.trim())), own)
        };
        if national == international {
            return Ok((national, Reading::Only));
        }
        let both = national.is_some() && international.is_some();
        let take_national = match self.bare {
            Some(Bare::Refuse) if both => return Err(Unmatchable),
            Some(Bare::National) if both => true,
            Some(Bare::International) if both => false,
            // Said or not: the one reading that is a number. Unsaid, the library's stands even if only the other one is
            // a number.
            Some(_) => national.is_some(),
            None => own_is_national,
        };
        Ok(if take_national { (national, Reading::BareNational) } else { (international, Reading::BareInternational) })
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e164:{}", self.country)?;
        match self.bare {
            None => Ok(()),
            Some(Bare::National) => f.write_str(":bare=national"),
            Some(Bare::International) => f.write_str(":bare=international"),
            Some(Bare::Refuse) => f.write_str(":bare=refuse"),
        }
    }
}

/// The number's E.164 form, if it is valid and has no extension.
fn e164(number: &PhoneNumber) -> Option<String> {
    let whole = number.extension.as_ref().is_none_or(|extension| extension.is_empty());
    (whole && PHONE_NUMBER_UTIL.is_valid_number(number))
        .then(|| PHONE_NUMBER_UTIL.format(number, PhoneNumberFormat::E164).into_owned())
}
