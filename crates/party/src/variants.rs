//! Variants of a row as data: what the row leaves open, how a variant is named, and how a name is
//! understood.
//!
//! A variant is named by its row and the values that are not the default, in the order in which the
//! row lists its choices: `rr22:okvs=band`, `rs21:okvs=band,tags=sorted`. This one spelling is the
//! variant's id: both sides agree on it, and reports and receipts state it. What a user types may
//! also name an alias of the row, default values, and choices in another order
//! ([`Entry::canonical`]).

use vesica_structures::facts::Unsupported;

use crate::{Entry, Mode, Registered, Task};

/// Something that a row leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What stands before the `=`.
    pub name: &'static str,
    /// What is chosen, in one sentence.
    pub what: &'static str,
    /// The values; the first is the default.
    pub values: &'static [ChoiceValue],
}

/// A value of a [`Choice`], and what it changes of the row's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceValue {
    /// What stands behind the `=`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub what: &'static str,
    /// Where the row differs from its paper with this value. Those of the default are among the
    /// row's own, and make way for those of another value.
    pub deviations: &'static [&'static str],
    /// Security, assumptions and leakage, if they are not those of the row.
    pub modes: Option<&'static [Mode]>,
}

impl ChoiceValue {
    /// A value with the security and the deviations of the row.
    pub const fn new(name: &'static str, what: &'static str) -> Self {
        Self { name, what, deviations: &[], modes: None }
    }

    /// The same value with further deviations.
    pub const fn deviating(self, deviations: &'static [&'static str]) -> Self {
        Self { deviations, ..self }
    }
}

impl Choice {
    fn value(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|value| value.name == name)
    }

    /// All assignments of a value, as a user types them: `okvs=clustered or okvs=band`.
    fn assignments(&self, separator: &str) -> String {
        self.values.iter().map(|value| format!("{}={}", self.name, value.name)).collect::<Vec<_>>().join(separator)
    }
}

/// The deviations of a variant, from those of its row: what the default value says makes way for
/// what the chosen value says.
///
/// ```
/// use vesica_party::ChoiceValue;
///
/// const TREE: ChoiceValue = ChoiceValue::new("tree", "A tree.").deviating(&["A tree of ANDs."]);
/// const CUBIC: ChoiceValue = ChoiceValue::new("cubic", "Cubes.").deviating(&["Polynomials."]);
/// const ALL: &[&str] = vesica_party::deviations![&["A tree of ANDs.", "Bins."], TREE => CUBIC];
/// assert_eq!(ALL, ["Bins.", "Polynomials."]);
/// ```
#[macro_export]
macro_rules! deviations {
    ($row:expr, $default:expr => $chosen:expr) => {{
        const ROW: &[&str] = $row;
        const DEFAULT: &[&str] = $default.deviations;
        const CHOSEN: &[&str] = $chosen.deviations;
        const LEN: usize = $crate::assume::replaced_count(ROW, DEFAULT, CHOSEN);
        const ALL: [&str; LEN] = $crate::assume::replaced(ROW, DEFAULT, CHOSEN);
        &ALL
    }};
}

/// What separates a row's name from the choices.
const CHOICES: char = ':';

/// The row's name in what a user typed, and the choices behind it.
pub fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once(CHOICES).map_or((name, None), |(row, choices)| (row, Some(choices)))
}

impl Entry {
    /// The description of a variant, from that of its row: `id` is the variant's canonical
    /// spelling, `deviations` are all of its deviations, and `modes` all of its modes.
    pub const fn variant(self, id: &'static str, deviations: &'static [&'static str], modes: &'static [Mode]) -> Self {
        Self { id, aliases: &[], variants: &[], deviations, modes, ..self }
    }

    /// Whether it describes a variant of a row.
    pub fn is_variant(&self) -> bool {
        self.id.contains(CHOICES)
    }

    /// The id of the row, for a variant; else the own.
    pub fn row_id(&self) -> &'static str {
        split(self.id).0
    }

    /// Whether `name` is the id or an alias.
    pub fn answers_to(&self, name: &str) -> bool {
        self.id == name || self.aliases.contains(&name)
    }

    /// The canonical spelling of the variant of this row with these choices, written as
    /// `name=value`, separated by commas.
    ///
    /// # Errors
    /// If the row lacks a choice or a value of that name, or one choice is made twice.
    pub fn canonical(&self, choices: &str) -> Result<String, Unsupported> {
        let mut chosen: Vec<Option<usize>> = vec![None; self.variants.len()];
        for assignment in choices.split(',') {
            let (place, value) = self.assignment(assignment)?;
            match chosen.get_mut(place) {
                Some(slot @ None) => *slot = Some(value),
                _ => {
                    return Err(Unsupported::new(
                        format_args!("the choices {choices:?} of protocol {} make one choice twice", self.id),
                        "give each choice one value",
                    ));
                }
            }
        }
        let others = self.variants.iter().zip(chosen).filter_map(|(choice, value)| {
            let value = choice.values.get(value.filter(|&value| value > 0)?)?;
            Some(format!("{}={}", choice.name, value.name))
        });
        let others: Vec<String> = others.collect();
        Ok(if others.is_empty() { self.id.to_owned() } else { format!("{}{CHOICES}{}", self.id, others.join(",")) })
    }

    /// The numbers of a choice and of its value.
    fn assignment(&self, assignment: &str) -> Result<(usize, usize), Unsupported> {
        let id = self.id;
        if self.variants.is_empty() {
            return Err(Unsupported::new(
                format_args!("protocol {id} has no variants"),
                format_args!("omit the choices: {id}"),
            ));
        }
        let Some((name, value)) = assignment.split_once('=') else {
            return Err(Unsupported::new(
                format_args!("{assignment:?} is no choice of protocol {id}"),
                format_args!("write a name and a value, for example {id}{CHOICES}{}", self.example()),
            ));
        };
        let Some((place, choice)) = self.variants.iter().enumerate().find(|(_, choice)| choice.name == name) else {
            let known: Vec<String> = self.variants.iter().map(|choice| choice.assignments(" or ")).collect();
            return Err(Unsupported::new(
                format_args!("protocol {id} has no choice {name:?}"),
                format_args!("its choices are {}", known.join("; ")),
            ));
        };
        let Some(value) = choice.value(value) else {
            return Err(Unsupported::new(
                format_args!("the choice {name} of protocol {id} has no value {value:?}"),
                format_args!("choose {}", choice.assignments(" or ")),
            ));
        };
        Ok((place, value))
    }

    /// A choice that changes something.
    fn example(&self) -> String {
        let other = |choice: &Choice| Some(format!("{}={}", choice.name, choice.values.get(1)?.name));
        self.variants.iter().find_map(other).unwrap_or_default()
    }
}

/// The description that `name` names, of `entries` of rows and of their variants: a row by its id
/// or an alias, or a variant by its row and choices. `None` if there is no such row.
///
/// # Errors
/// If the row has no such variant.
pub fn find<'a>(entries: &[&'a Entry], name: &str) -> Result<Option<&'a Entry>, Unsupported> {
    let (row, choices) = split(name);
    let Some(row) = entries.iter().copied().find(|entry| entry.answers_to(row)) else {
        return Ok(None);
    };
    let Some(choices) = choices else { return Ok(Some(row)) };
    let canonical = row.canonical(choices)?;
    let found = entries.iter().copied().find(|entry| entry.id == canonical);
    found.map(Some).ok_or_else(|| {
        let of_row = entries.iter().filter(|entry| entry.row_id() == row.id);
        let known: Vec<&str> = of_row.map(|entry| entry.id).collect();
        Unsupported::new(
            format_args!("the variant {canonical} does not exist in this version"),
            format_args!("choose one of {}", known.join(" ")),
        )
    })
}

/// The protocol that `name` names among these rows and their variants, as [`find`] finds it.
///
/// # Errors
/// If the row has no such variant.
pub fn resolve<T: Task>(
    rows: impl IntoIterator<Item = &'static dyn Registered<T>>,
    name: &str,
) -> Result<Option<&'static dyn Registered<T>>, Unsupported> {
    let all: Vec<_> = with_variants(rows).collect();
    let entries: Vec<&'static Entry> = all.iter().map(|row| row.entry()).collect();
    let found = find(&entries, name)?;
    Ok(found.and_then(|entry| all.into_iter().find(|row| row.entry().id == entry.id)))
}

/// Each row, and behind it its variants.
pub fn with_variants<T: Task>(
    rows: impl IntoIterator<Item = &'static dyn Registered<T>>,
) -> impl Iterator<Item = &'static dyn Registered<T>> {
    rows.into_iter().flat_map(|row| std::iter::once(row).chain(row.variants().iter().copied()))
}

#[cfg(test)]
mod tests {
    use vesica_structures::facts::Paper;

    use super::*;
    use crate::{CostClass, Status};

    const ENTRY: Entry = Entry {
        id: "row",
        aliases: &["alias"],
        variants: &[
            Choice {
                name: "fruit",
                what: "What to eat.",
                values: &[ChoiceValue::new("apple", "Green."), ChoiceValue::new("pear", "Soft.")],
            },
            Choice {
                name: "drink",
                what: "What to drink.",
                values: &[
                    ChoiceValue::new("water", "Cold."),
                    ChoiceValue::new("tea", "Hot."),
                    ChoiceValue::new("juice", "Sweet."),
                ],
            },
        ],
        task: "intersect",
        paper: Paper { key: "", title: "", reference: "" },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &[],
        modes: &[],
    };

    #[test]
    fn every_way_to_spell_a_variant_gives_the_same_name() {
        for (typed, canonical) in [
            ("fruit=apple", "row"),
            ("drink=water,fruit=apple", "row"),
            ("fruit=pear", "row:fruit=pear"),
            ("drink=water,fruit=pear", "row:fruit=pear"),
            ("drink=juice,fruit=pear", "row:fruit=pear,drink=juice"),
            ("fruit=apple,drink=tea", "row:drink=tea"),
        ] {
            assert_eq!(ENTRY.canonical(typed).as_deref(), Ok(canonical), "{typed}");
        }
        assert_eq!(split("row:fruit=pear"), ("row", Some("fruit=pear")));
        assert_eq!((split("row"), split("row:")), (("row", None), ("row", Some(""))));
    }

    #[test]
    fn names_find_rows_and_variants_among_entries() {
        let [pear, tea] = ["row:fruit=pear", "row:drink=tea"].map(|id| ENTRY.variant(id, &[], &[]));
        let other = Entry { id: "other", aliases: &[], variants: &[], ..ENTRY };
        let entries = [&ENTRY, &pear, &tea, &other];
        let found = |name| find(&entries, name).map(|entry| entry.map(|entry| entry.id));
        assert_eq!(found("alias"), Ok(Some("row")));
        assert_eq!(found("alias:drink=water,fruit=pear"), Ok(Some("row:fruit=pear")));
        assert_eq!((found("nothing"), found("nothing:fruit=pear")), (Ok(None), Ok(None)));
        let refused = found("row:fruit=pear,drink=tea").expect_err("it is not among them");
        assert!(refused.what.contains("row:fruit=pear,drink=tea"), "{refused:?}");
        assert!(refused.mend.ends_with("row row:fruit=pear row:drink=tea"), "{refused:?}");
        assert_eq!((pear.row_id(), pear.is_variant(), ENTRY.is_variant()), ("row", true, false));
    }

    #[test]
    fn what_does_not_exist_is_refused_with_what_does() {
        for (typed, named, mend) in [
            ("fruits=pear", "\"fruits\"", "fruit=apple or fruit=pear; drink=water or drink=tea or drink=juice"),
            ("drink=wine", "\"wine\"", "drink=water or drink=tea or drink=juice"),
            ("pear", "\"pear\"", "row:fruit=pear"),
            ("", "\"\"", "row:fruit=pear"),
            ("fruit=pear,", "\"\"", "row:fruit=pear"),
            ("fruit=pear,fruit=pear", "twice", "one value"),
            ("fruit=", "\"\"", "fruit=apple or fruit=pear"),
        ] {
            let refused = ENTRY.canonical(typed).expect_err(typed);
            assert!(refused.what.contains(named) && refused.mend.contains(mend), "{typed}: {refused:?}");
        }
        let plain = Entry { variants: &[], ..ENTRY };
        assert!(plain.canonical("fruit=pear").expect_err("no choices").what.contains("no variants"));
    }
}
