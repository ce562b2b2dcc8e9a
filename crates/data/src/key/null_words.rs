//! Words that programs write where a value is missing, such as `\N` and `NULL`. Under a key they are values like
//! others: records without the value would match each other, and strangers get each other's payload.

use crate::key::SpecError;

/// What becomes of such words in key columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NullWords {
    /// Nobody has said. They are values, which are warned of. A run refuses a table that has one on many rows, or one
    /// that is never a value.
    #[default]
    Undecided,
    /// They are values, and nothing is said of them.
    Keep,
    /// These are nulls. Others are values, which are warned of.
    Empty(Box<EmptyWords>),
}

/// Words that are nulls. White space around them does not count, capitals do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyWords {
    words: Vec<String>,
    /// Whether a word begins with this byte.
    first: [bool; 256],
}

impl NullWords {
    /// What `--null-words` says: nothing, `keep`, or words.
    ///
    /// # Errors
    /// For a word without a character that is seen, and for `keep` among words.
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Self, SpecError> {
        let words: Vec<String> = words.iter().map(|word| word.as_ref().trim().to_owned()).collect();
        match &words[..] {
            [] => return Ok(Self::Undecided),
            [only] if only == "keep" => return Ok(Self::Keep),
            several if several.iter().any(|word| word == "keep" || word.is_empty()) => {
                return Err(SpecError::NullWords);
            }
            _ => {}
        }
        let mut first = [false; 256];
        for byte in words.iter().filter_map(|word| word.bytes().next()) {
            if let Some(begins) = first.get_mut(usize::from(byte)) {
                *begins = true;
            }
        }
        Ok(Self::Empty(Box::new(EmptyWords { words, first })))
    }

    /// Whether a cell with this value is null.
    #[inline]
    pub(crate) fn is_null(&self, value: &[u8]) -> bool {
        match self {
            Self::Undecided | Self::Keep => false,
            Self::Empty(empty) => empty.has(trimmed(value)),
        }
    }

    /// Whether nobody has said what becomes of a word that is not among those given.
    pub(crate) fn are_told(&self) -> bool {
        *self != Self::Keep
    }
}

impl EmptyWords {
    fn has(&self, value: &[u8]) -> bool {
        let begins = value.first().and_then(|&byte| self.first.get(usize::from(byte))).copied();
        begins == Some(true) && self.words.iter().any(|word| word.as_bytes() == value)
    }
}

/// The value without white space at its ends, as the normaliser `trim` takes it off: a word behind a no-break space would
/// be a key otherwise.
fn trimmed(value: &[u8]) -> &[u8] {
    let is_seen = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if is_seen(value.first()) && is_seen(value.last()) {
        return value;
    }
    std::str::from_utf8(value).map_or_else(|_| value.trim_ascii(), |text| text.trim().as_bytes())
}

/// How many words of the list are never a value of a key: marks that a program made up so that no value is like them.
const MARKS: usize = 29;

/// Words for a missing value: first those that are never a value, then those that are somebody's name, country or code
/// somewhere.
const WORDS: [&str; 53] = [
    // PostgreSQL, MySQL, Hive; database tools; Go; pandas; spreadsheets and R.
    "\\N",
    "(null)",
    "(NULL)",
    "[null]",
    "[NULL]",
    "<null>",
    "<NULL>",
    "<nil>",
    "<NA>",
    "NaT",
    "NaN",
    "-NaN",
    "-nan",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "#NULL!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#DIV/0!",
    "#NUM!",
    "N/A",
    "n/a",
    "N/a",
    "<none>",
    "<None>",
    "<empty>",
    "<unset>",
    // A surname is Null, a town None, a country NA, a first name Nan.
    "NULL",
    "null",
    "Null",
    "NONE",
    "None",
    "none",
    "NA",
    "na",
    "NAN",
    "nan",
    "nil",
    "N.A.",
    "n.a.",
    "UNKNOWN",
    "Unknown",
    "unknown",
    "undefined",
    "missing",
    "-",
    "--",
    "---",
    "?",
    ".",
    "..",
];

/// The most bytes of a word.
const LONGEST: usize = 9;

/// Whether a word begins with this byte, or a value may have white space before it.
static FIRST: [bool; 256] = first_bytes();

#[expect(clippy::indexing_slicing, reason = "computed while compiling: a wrong index is an error there")]
const fn first_bytes() -> [bool; 256] {
    let mut first = [false; 256];
    let mut at = 0;
    while at < WORDS.len() {
        first[WORDS[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    // White space of ASCII, and the first bytes of white space beyond it.
    let white = [b' ', b'\t', b'\n', b'\r', 0x0b, 0x0c, 0xc2, 0xe1, 0xe2, 0xe3];
    let mut at = 0;
    while at < white.len() {
        first[white[at] as usize] = true;
        at += 1;
    }
    first
}

/// A word of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct NullWord(u8);

impl NullWord {
    /// The word that the value is but for white space around it.
    #[inline]
    pub fn of(value: &[u8]) -> Option<Self> {
        let may_be = value.first().and_then(|&byte| FIRST.get(usize::from(byte))).copied();
        if may_be == Some(true) { Self::find(trimmed(value)) } else { None }
    }

    fn find(value: &[u8]) -> Option<Self> {
        if value.len() > LONGEST {
            return None;
        }
        let at = WORDS.iter().position(|word| word.as_bytes() == value)?;
        u8::try_from(at).ok().map(Self)
    }

    fn text(self) -> &'static str {
        WORDS.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// Whether no record has the word as a value.
    fn is_mark(self) -> bool {
        usize::from(self.0) < MARKS
    }
}

/// How many values of a column are which word for a missing value. Words of a fixed list, and never another value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NullWordCounts(Vec<(NullWord, u64)>);

impl NullWordCounts {
    /// Counts a value that is a key.
    pub(crate) fn count(&mut self, word: NullWord, values: u64) {
        match self.0.binary_search_by_key(&word, |&(known, _)| known) {
            Ok(at) => self.0.get_mut(at).into_iter().for_each(|(_, count)| *count += values),
            Err(at) => self.0.insert(at, (word, values)),
        }
    }

    /// Takes over the counts of further values.
    pub(crate) fn add(&mut self, more: Self) {
        more.0.into_iter().for_each(|(word, count)| self.count(word, count));
    }

    /// How many values are such a word.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The words, in an order that does not depend on the table.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|(word, _)| word.text())
    }

    /// The counts themselves, in an order of this release.
    pub(crate) fn counts(&self) -> &[(NullWord, u64)] {
        &self.0
    }

    /// The counts that [`Self::counts`] gave.
    pub(crate) fn of_counts(counts: Vec<(NullWord, u64)>) -> Self {
        let mut all = Self::default();
        counts.into_iter().for_each(|(word, count)| all.count(word, count));
        all
    }

    /// Those words that are on so many rows, or so surely no value, that a run wants to hear what they are.
    pub(crate) fn undecided(&self, column: &InColumn) -> Self {
        Self(self.0.iter().filter(|&&(word, count)| column.wants_decision(word, count)).copied().collect())
    }
}

impl serde::Serialize for NullWordCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(word, count)| (word.text(), count)))
    }
}

/// A word on one row in so many is on many rows. Of all surnames, no word of the list is so frequent.
const MANY: u64 = 100;

/// A word on so many times the rows of an average key is on many rows, where it is the whole key.
const OF_AVERAGE: u64 = 10;

/// What is known of a column in which words are.
pub(crate) struct InColumn {
    /// All rows of the table.
    pub rows: u64,
    /// Where the column is the whole key: its rows with a key, and how many different ones these are.
    pub alone: Option<(u64, u64)>,
    /// Values, and those of them that are two capitals.
    pub values: u64,
    pub two_capitals: u64,
}

impl InColumn {
    fn wants_decision(&self, word: NullWord, count: u64) -> bool {
        if word.is_mark() {
            return count > 0;
        }
        let (others, codes) = (self.values.saturating_sub(count), self.two_capitals.saturating_sub(count));
        if word.text() == "NA" && others > 0 && codes.saturating_mul(10) >= others.saturating_mul(9) {
            // Namibia, among codes of countries.
            return false;
        }
        let is_frequent_key = self
            .alone
            .is_some_and(|(keyed, distinct)| count.saturating_mul(distinct) >= keyed.saturating_mul(OF_AVERAGE));
        count > 1 && (count.saturating_mul(MANY) >= self.rows || is_frequent_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_as_its_constants_say() {
        assert_eq!(WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
        assert_eq!(WORDS.get(MARKS), Some(&"NULL"));
        let different: std::collections::HashSet<_> = WORDS.iter().collect();
        assert_eq!(different.len(), WORDS.len());
        for word in WORDS {
            assert_eq!(NullWord::of(word.as_bytes()).map(NullWord::text), Some(word));
            assert_eq!(NullWord::of(format!(" {word}\t").as_bytes()).map(NullWord::text), Some(word));
            assert!(NullWord::of(format!("{word}x").as_bytes()).is_none(), "{word}");
        }
        for value in ["", " ", "42", "Ann", "Nullmeier", "NULLX", "-5", "nul", "\\", "N"] {
            assert!(NullWord::of(value.as_bytes()).is_none(), "{value}");
        }
    }

    #[test]
    fn a_flag_says_nothing_or_keep_or_words() {
        assert_eq!(NullWords::parse::<&str>(&[]), Ok(NullWords::Undecided));
        assert_eq!(NullWords::parse(&["keep"]), Ok(NullWords::Keep));
        assert_eq!(NullWords::parse(&["NULL", "keep"]), Err(SpecError::NullWords));
        assert_eq!(NullWords::parse(&["NULL", " "]), Err(SpecError::NullWords));
        let words = NullWords::parse(&["\\N", "kein Wert"]).unwrap();
        for (value, is_null) in [
            ("\\N", true),
            (" \\N ", true),
            ("kein Wert", true),
            ("Kein Wert", false),
            ("NULL", false),
            ("\\", false),
            ("", false),
        ] {
            assert_eq!(words.is_null(value.as_bytes()), is_null, "{value:?}");
        }
        assert!(!NullWords::Keep.is_null(b"NULL") && !NullWords::Undecided.is_null(b"\\N"));
    }

    #[test]
    fn a_decision_is_wanted_for_marks_and_for_words_on_many_rows() {
        let wants = |word: &str, count, rows, alone, two_capitals| {
            let column = InColumn { rows, alone, values: rows, two_capitals };
            column.wants_decision(NullWord::of(word.as_bytes()).unwrap(), count)
        };
        let unique = Some((1_000_000, 999_000));
        assert!(wants("\\N", 1, 1_000_000, unique, 0) && wants("#N/A", 1, 3, None, 0));
        // A person, or two of them.
        assert!(!wants("Null", 1, 1, None, 0) && !wants("NULL", 1, 50, None, 0) && !wants("NULL", 3, 1000, None, 0));
        assert!(wants("NULL", 2, 50, None, 0) && wants("NULL", 10, 1000, None, 0));
        // Among identifiers, ten rows of one value are no coincidence; among surnames they are.
        assert!(wants("NULL", 11, 1_000_000, unique, 0) && !wants("NULL", 9, 1_000_000, unique, 0));
        assert!(!wants("Null", 300, 1_000_000, Some((1_000_000, 20_000)), 0));
        // Codes of countries, and a column that is nothing but NA.
        assert!(!wants("NA", 30, 1000, None, 1000) && wants("NA", 30, 1000, None, 30) && wants("NA", 9, 9, None, 9));
    }
}
