//! What proofs rest on; and lists of a composition, put together from those of its parts when the
//! program is compiled.
#![expect(clippy::indexing_slicing, reason = "loops that end at the lengths; const functions have no iterators")]

use std::fmt;

use crate::Attack;

/// Something that a proof rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The statement.
    pub what: &'static str,
    /// The best known attack, where its work was counted and may be less than the 2^128 that parameters aim at.
    pub attack: Option<Attack>,
    /// Whether a large quantum computer refutes it in little time: it finds discrete logarithms, and factors numbers
    /// [P. Shor, "Polynomial-Time Algorithms for Prime Factorization and Discrete Logarithms on a Quantum Computer", SIAM
    /// Journal on Computing 26(5), 1997].
    pub falls_to_quantum: bool,
}

impl Assumption {
    /// A statement without an attack that is known to take less than parameters aim at.
    pub const fn new(what: &'static str) -> Self {
        Self { what, attack: None, falls_to_quantum: false }
    }

    /// A statement that does not hold for who can find discrete logarithms.
    pub const fn discrete_logarithm(what: &'static str) -> Self {
        Self { falls_to_quantum: true, ..Self::new(what) }
    }

    /// The statement with what the best attack takes.
    pub const fn attacked(self, attack: Attack) -> Self {
        Self { attack: Some(attack), ..self }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        self.attack.map_or(Ok(()), |attack| write!(f, " ({attack})"))
    }
}

/// A list of assumptions: texts, texts of what falls with discrete logarithms, and names of constants.
///
/// ```
/// use vesica_party::{Assumption, assume};
///
/// const ORACLE: Assumption = Assumption::new("BLAKE3 is a random oracle");
/// const ALL: &[Assumption] = assume![(discrete_logarithm "CDH on Ristretto"), "AES is a cipher", ORACLE];
/// assert_eq!(ALL[1..], [Assumption::new("AES is a cipher"), ORACLE]);
/// assert!(ALL[0].falls_to_quantum);
/// ```
#[macro_export]
macro_rules! assume {
    (@one $text:literal) => { $crate::Assumption::new($text) };
    (@one (discrete_logarithm $text:literal)) => { $crate::Assumption::discrete_logarithm($text) };
    (@one $known:ident) => { $known };
    ($($what:tt),+ $(,)?) => { &[$($crate::assume!(@one $what)),+] };
}

/// One list of assumptions from the lists of several parts, each assumption once.
///
/// ```
/// use vesica_party::{Assumption, assume, assumptions};
///
/// const PART: &[Assumption] = assume!["AES is a cipher"];
/// const WHOLE: &[Assumption] = assumptions![PART, assume!["BLAKE3 is a random oracle", "AES is a cipher"]];
/// assert_eq!(WHOLE, assume!["AES is a cipher", "BLAKE3 is a random oracle"]);
/// ```
#[macro_export]
macro_rules! assumptions {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&[$crate::Assumption]] = &[$($part),+];
        const LEN: usize = $crate::assume::united(PARTS);
        const ALL: [$crate::Assumption; LEN] = $crate::assume::union(PARTS);
        &ALL
    }};
}

/// How many different assumptions the parts have.
pub const fn united(parts: &[&[Assumption]]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < parts.len() {
        let mut j = 0;
        while j < parts[i].len() {
            count += is_first(parts, i, j) as usize;
            j += 1;
        }
        i += 1;
    }
    count
}

/// The different assumptions of the parts, in their order; `N` as [`united`] counts them.
pub const fn union<const N: usize>(parts: &[&[Assumption]]) -> [Assumption; N] {
    let mut all = [Assumption::new(""); N];
    let (mut count, mut i) = (0, 0);
    while i < parts.len() {
        let mut j = 0;
        while j < parts[i].len() {
            if is_first(parts, i, j) {
                all[count] = parts[i][j];
                count += 1;
            }
            j += 1;
        }
        i += 1;
    }
    all
}

/// Whether no earlier place has the assumption at place `at` of a part.
const fn is_first(parts: &[&[Assumption]], part: usize, at: usize) -> bool {
    let mut i = 0;
    while i <= part {
        let mut j = 0;
        let end = if i == part { at } else { parts[i].len() };
        while j < end {
            if is_equal(parts[i][j].what.as_bytes(), parts[part][at].what.as_bytes()) {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    true
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
