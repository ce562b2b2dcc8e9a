//! What the values of one column look like.

use crate::key::{KeyColumn, KindCounts, Looks, Normaliser, Pitfall, pitfalls};
use crate::table::ColumnStats;
use crate::words::counted;

/// Counts over the values of one key column that are neither null nor empty, before any normaliser.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ColumnProfile {
    /// Name of the column.
    pub name: String,
    /// Type, as in [`ColumnStats::kind`].
    pub kind: &'static str,
    /// Nulls.
    pub nulls: u64,
    /// Values counted here.
    pub values: u64,
    /// Bytes of the shortest value.
    pub shortest: usize,
    /// Bytes of the longest value.
    pub longest: usize,
    /// White space at an end.
    pub outer_space: u64,
    /// At least one upper-case letter.
    pub with_upper_case: u64,
    /// Letters, none of them upper case.
    pub only_lower_case: u64,
    /// Digits behind a leading zero.
    pub leading_zero: u64,
    /// Read as an e-mail address.
    pub like_email: u64,
    /// `+` or digits with the punctuation of telephone numbers, 7 to 15 digits.
    pub like_phone: u64,
    /// Read as an ISO 8601 date.
    pub like_date: u64,
    /// Three numbers with dots or slashes, as dates of many countries are written.
    pub like_local_date: u64,
    /// Words that programs write where a value is missing, such as `\N` and `NULL`, as far as they become keys.
    pub like_null: u64,
    /// Not UTF-8 (binary columns).
    pub not_text: u64,
    /// How the values are written.
    pub written: KindCounts,
    /// Details of their notation.
    pub looks: Looks,
    /// What each normaliser would do alone.
    pub normalisers: Vec<NormaliserEffect>,
}

/// What one normaliser would do to a column.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NormaliserEffect {
    /// As it is declared, for example `e164:DE`.
    pub normaliser: String,
    /// Values that it would change.
    pub changes: u64,
    /// Values that it would refuse; their rows would never match.
    pub refuses: u64,
}

/// Looks at each value of a column.
pub(super) struct Inspector {
    profile: ColumnProfile,
    normalisers: Vec<Normaliser>,
    scratch: String,
}

impl Inspector {
    /// Besides those without arguments, the normalisers that the column declares are tried.
    pub fn new(column: &KeyColumn, stats: &ColumnStats) -> Self {
        let mut normalisers = vec![
            Normaliser::Trim,
            Normaliser::Lower,
            Normaliser::Nfc,
            Normaliser::Email,
            Normaliser::Digits,
            Normaliser::Date(None),
            Normaliser::Int,
            Normaliser::Decimal,
            Normaliser::Bool,
        ];
        for declared in &column.normalisers {
            if !normalisers.contains(declared) {
                normalisers.push(declared.clone());
            }
        }
        let effect =
            |normaliser: &Normaliser| NormaliserEffect { normaliser: normaliser.to_string(), changes: 0, refuses: 0 };
        let profile = ColumnProfile {
            name: column.name.clone(),
            kind: stats.kind,
            nulls: stats.nulls,
            like_null: stats.null_words.total(),
            shortest: usize::MAX,
            normalisers: normalisers.iter().map(effect).collect(),
            ..ColumnProfile::default()
        };
        Self { profile, normalisers, scratch: String::new() }
    }

    pub fn value(&mut self, value: &[u8]) {
        if value.is_empty() {
            return;
        }
        let p = &mut self.profile;
        p.values += 1;
        p.shortest = p.shortest.min(value.len());
        p.longest = p.longest.max(value.len());
        let form = p.written.count(value);
        p.looks.count(form, value);
        let Ok(text) = std::str::from_utf8(value) else {
            p.not_text += 1;
            return;
        };
        p.outer_space += u64::from(text.trim().len() != text.len());
        let upper = text.chars().any(char::is_uppercase);
        p.with_upper_case += u64::from(upper);
        p.only_lower_case += u64::from(!upper && text.chars().any(char::is_lowercase));
        p.leading_zero +=
            u64::from(text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()));
        p.like_phone += u64::from(like_phone(text));
        p.like_local_date += u64::from(like_local_date(text));
        for (normaliser, effect) in self.normalisers.iter().zip(&mut p.normalisers) {
            self.scratch.clear();
            match normaliser.apply(text, &mut self.scratch) {
                Ok(()) => {
                    effect.changes += u64::from(self.scratch != text);
                    p.like_email += u64::from(*normaliser == Normaliser::Email);
                    p.like_date += u64::from(*normaliser == Normaliser::Date(None) && text.contains('-'));
                }
                Err(_) => effect.refuses += 1,
            }
        }
    }

    pub fn finish(mut self) -> ColumnProfile {
        if self.profile.values == 0 {
            self.profile.shortest = 0;
        }
        self.profile
    }
}

fn like_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let punctuated =
        text.starts_with(['+', '0', '(']) && text.chars().all(|c| c.is_ascii_digit() || " +-./()".contains(c));
    punctuated && (7..=15).contains(&digits)
}

fn like_local_date(text: &str) -> bool {
    ['.', '/'].into_iter().any(|separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        let numbers =
            parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
        parts.len() == 3 && numbers && parts.iter().filter(|part| part.len() == 4).count() == 1
    })
}

impl ColumnProfile {
    /// Appends what deserves a look. A column with declared normalisers was thought about: only
    /// hints about nulls remain.
    pub(super) fn warn(&self, normalised: bool, warnings: &mut Vec<String>) {
        let name = &self.name;
        let mut warn = |text: String| warnings.push(format!("`{name}`: {text}"));
        if self.nulls > 0 {
            warn(format!("{}, which never match", counted(self.nulls, "value is null", "values are null")));
        }
        if normalised {
            return;
        }
        let most = |count: u64| self.values > 0 && count * 10 >= self.values * 9;
        if self.outer_space > 0 {
            let values = counted(self.outer_space, "value has", "values have");
            warn(format!("{values} white space at an end: consider --normalise {name}=trim"));
        }
        if most(self.like_email) {
            warn(format!("the values look like e-mail addresses: consider --normalise {name}=email on both sides"));
        } else if self.with_upper_case > 0 && self.only_lower_case > 0 && self.written.kind().form.hash_size().is_none()
        {
            let (upper, lower) = (self.with_upper_case, self.only_lower_case);
            warn(format!(
                "{} upper-case letters and {} not: consider --normalise {name}=lower on both sides",
                counted(upper, "value has", "values have"),
                counted(lower, "has", "have")
            ));
        }
        if most(self.like_phone) && self.kind == "text" {
            warn(format!(
                "the values look like telephone numbers: consider --normalise {name}=e164:COUNTRY on both sides"
            ));
        }
        if most(self.like_local_date) {
            warn(format!(
                "the values look like dates that are not ISO 8601: consider --normalise {name}=date:FORMAT, for \
                 example date:%d.%m.%Y"
            ));
        }
        if self.leading_zero > 0 {
            let count = self.leading_zero;
            warn(format!(
                "{}, which differ from the same numbers without: see --normalise {name}=int",
                counted(count, "value with leading zeros", "values with leading zeros")
            ));
        }
        for Pitfall { what, normaliser, .. } in pitfalls(&self.written, &self.looks) {
            warn(format!("{what}: consider --normalise {name}={normaliser} on both sides"));
        }
        let nfc = self.normalisers.iter().find(|effect| effect.normaliser == "nfc").map_or(0, |effect| effect.changes);
        if nfc > 0 {
            let values = counted(nfc, "value is", "values are");
            warn(format!("{values} not in Unicode form C: consider --normalise {name}=nfc on both sides"));
        }
    }
}
