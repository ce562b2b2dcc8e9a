//! Variants of a row as data: what the row leaves open, how a variant is named, and how a name is
//! understood.
//!
//! A variant is named by its row and the values that are not the default, in the order in which the
//! row lists its choices: `rr22:okvs=band`, `rs21:okvs=band,tags=sorted`. This one spelling is the
//! variant's id: both sides agree on it, and reports and receipts state it. What a user types may
//! also name an alias of the row, default values, and choices in another order ([`Entry::with`]).
//!
//! No list has all variants, for choices combine freely. The description of a variant is made when somebody asks for
//! it, from that of its row and from what the chosen values change; a protocol derives its parameters from that
//! description ([`Protocol::derive_chosen`](crate::Protocol::derive_chosen)).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use vesica_structures::facts::Unsupported;

use crate::{Assumption, Choice, ChoiceValue, Entry, Mode, Registered, Resistance, Task};

impl Choice {
    fn value(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|value| value.name == name)
    }

    /// All assignments of a value, as a user types them: `okvs=clustered or okvs=band`.
    fn assignments(&self, separator: &str) -> String {
        self.values.iter().map(|value| format!("{}={}", self.name, value.name)).collect::<Vec<_>>().join(separator)
    }
}

/// What separates a row's name from the choices.
const CHOICES: char = ':';

/// The row's name in what a user typed, and the choices behind it.
pub fn split(name: &str) -> (&str, Option<&str>) {
    name.split_once(CHOICES).map_or((name, None), |(row, choices)| (row, Some(choices)))
}

/// The ids of the variants by each choice alone that the id of a variant makes.
pub fn by_one_choice(id: &str) -> impl Iterator<Item = String> {
    let (row, choices) = split(id);
    choices.into_iter().flat_map(|choices| choices.split(',')).map(move |choice| format!("{row}{CHOICES}{choice}"))
}

impl Entry {
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

    /// The name of the value of a choice: in the description of a variant the chosen one, in that of a row the
    /// default. Empty if there is no such choice.
    pub fn chosen(&self, choice: &str) -> &'static str {
        let choice = self.variants.iter().find(|own| own.name == choice);
        choice.and_then(|choice| choice.values.first()).map_or("", |value| value.name)
    }

    /// The description of the variant of this row with these choices, written as `name=value`,
    /// separated by commas; of the row itself if they are the defaults.
    ///
    /// # Errors
    /// If the row lacks a choice or a value of that name, or one choice is made twice.
    pub fn with(&'static self, choices: &str) -> Result<&'static Self, Unsupported> {
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
        let chosen: Vec<usize> = chosen.into_iter().map(Option::unwrap_or_default).collect();
        Ok(self.with_values(&chosen))
    }

    /// The descriptions of all variants of this row that differ from it in one choice.
    pub fn alternatives(&'static self) -> impl Iterator<Item = &'static Self> {
        let places = self.variants.iter().enumerate();
        let single = places.flat_map(|(place, choice)| (1..choice.values.len()).map(move |value| (place, value)));
        single.map(|(place, value)| {
            let chosen: Vec<usize> =
                (0..self.variants.len()).map(|other| if other == place { value } else { 0 }).collect();
            self.with_values(&chosen)
        })
    }

    /// The descriptions of all variants of this row, of which there are as many as combinations of values.
    pub fn combinations(&'static self) -> impl Iterator<Item = &'static Self> {
        let count: usize = self.variants.iter().map(|choice| choice.values.len()).product();
        (1..count).map(|mut number| {
            let digits = self.variants.iter().map(|choice| {
                let value = number % choice.values.len();
                number /= choice.values.len();
                value
            });
            self.with_values(&digits.collect::<Vec<_>>())
        })
    }

    /// The description with these values, by their places. It is made once in a process.
    fn with_values(&'static self, chosen: &[usize]) -> &'static Self {
        /// By the address of the row's description and the values.
        static MADE: Mutex<BTreeMap<(usize, Vec<usize>), &'static Entry>> = Mutex::new(BTreeMap::new());

        if chosen.iter().all(|&value| value == 0) {
            return self;
        }
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let address = std::ptr::from_ref(self).addr();
        made.entry((address, chosen.to_vec())).or_insert_with(|| Box::leak(Box::new(self.made_with(chosen))))
    }

    fn made_with(&self, chosen: &[usize]) -> Self {
        let (mut names, mut variants, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut deviations = self.deviations.to_vec();
        for (choice, &place) in self.variants.iter().zip(chosen) {
            let Some(value) = choice.values.get(place) else { continue };
            variants.push(Choice { values: std::slice::from_ref(value), ..*choice });
            if place > 0 {
                names.push(format!("{}={}", choice.name, value.name));
                let default = choice.values.first().map_or(&[][..], |default| default.deviations);
                deviations.retain(|deviation| !default.contains(deviation));
                deviations.extend(value.deviations);
                values.push(value);
            }
        }
        Self {
            id: format!("{}{CHOICES}{}", self.id, names.join(",")).leak(),
            aliases: &[],
            variants: variants.leak(),
            cost: values.iter().find_map(|value| value.cost).unwrap_or(self.cost),
            deviations: deviations.leak(),
            modes: self.modes_with(&values).leak(),
            ..*self
        }
    }

    /// The modes that all of these values have, each with all that they change of it: what they add to the number of
    /// rounds adds up, and what one of several values rests on stays.
    fn modes_with(&self, values: &[&ChoiceValue]) -> Vec<Mode> {
        let replaced: Vec<[Assumption; 2]> = values.iter().flat_map(|value| value.replaced).copied().collect();
        let changed = self.modes.iter().filter_map(|own| {
            let (mut mode, mut assumptions) = (*own, Vec::new());
            for modes in values.iter().filter_map(|value| value.modes) {
                let other = modes.iter().find(|other| other.security == own.security)?;
                mode.corrupt_sender = changed(own.corrupt_sender, mode.corrupt_sender, other.corrupt_sender);
                mode.corrupt_receiver = changed(own.corrupt_receiver, mode.corrupt_receiver, other.corrupt_receiver);
                mode.rounds = mode.rounds.changed(own.rounds, other.rounds);
                if other.assumptions != own.assumptions {
                    assumptions.push(other.assumptions);
                }
                if other.leakage != own.leakage {
                    mode.leakage = other.leakage;
                }
            }
            let most = values.iter().map(|value| value.sender_at_most).min();
            mode.corrupt_sender = most.map_or(mode.corrupt_sender, |most| most.min(mode.corrupt_sender));
            mode.assumptions = match assumptions[..] {
                [] => own.assumptions,
                [only] => only,
                _ => assumptions.concat().leak(),
            };
            mode.assumptions = replace(mode.assumptions, &replaced);
            Some(mode)
        });
        changed.collect()
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

/// The resistance where a row has `own`, values before have made it `so_far`, and one more value says `other`: of those
/// that differ from the row's the least.
fn changed(own: Resistance, so_far: Resistance, other: Resistance) -> Resistance {
    match (so_far == own, other == own) {
        (_, true) => so_far,
        (true, false) => other,
        (false, false) => so_far.min(other),
    }
}

/// The assumptions with those that make way replaced, each once.
fn replace(assumptions: &'static [Assumption], replaced: &[[Assumption; 2]]) -> &'static [Assumption] {
    let mut all: Vec<Assumption> = Vec::with_capacity(assumptions.len());
    for own in assumptions {
        let new = replaced.iter().find(|[old, _]| old == own).map_or(*own, |[_, new]| *new);
        if !all.contains(&new) {
            all.push(new);
        }
    }
    if all == assumptions { assumptions } else { all.leak() }
}

/// The description of the row or variant that differs from `entry` in the value of one choice, among those of rows. `None`
/// if its row has no such choice or value.
pub fn with_value(
    rows: impl IntoIterator<Item = &'static Entry>,
    entry: &Entry,
    choice: &str,
    value: &str,
) -> Option<&'static Entry> {
    let row = rows.into_iter().find(|row| row.id == entry.row_id())?;
    let others = entry.variants.iter().filter(|own| own.name != choice);
    let others = others.filter_map(|own| Some(format!("{}={}", own.name, own.values.first()?.name)));
    let choices: Vec<String> = others.chain([format!("{choice}={value}")]).collect();
    row.with(&choices.join(",")).ok()
}

/// The description that `name` names, of those of rows: a row by its id or an alias, or a variant by
/// its row and choices. `None` if there is no such row.
///
/// # Errors
/// If the row has no such variant.
pub fn find(rows: impl IntoIterator<Item = &'static Entry>, name: &str) -> Result<Option<&'static Entry>, Unsupported> {
    let (row, choices) = split(name);
    let row = rows.into_iter().find(|entry| entry.answers_to(row));
    match (row, choices) {
        (Some(row), Some(choices)) => row.with(choices).map(Some),
        (row, _) => Ok(row),
    }
}

/// The protocol that `name` names among these rows and their variants, as [`find`] finds it.
///
/// # Errors
/// If the row has no such variant.
pub fn resolve<T: Task>(
    rows: impl IntoIterator<Item = &'static dyn Registered<T>>,
    name: &str,
) -> Result<Option<&'static dyn Registered<T>>, Unsupported> {
    let (row, choices) = split(name);
    let row = rows.into_iter().find(|own| own.entry().answers_to(row));
    match (row, choices) {
        (Some(row), Some(choices)) => row.entry().with(choices).map(|entry| Some(row.variant(entry))),
        (row, _) => Ok(row),
    }
}

/// Each row, and behind it its variants that differ from it in one choice.
pub fn with_variants<T: Task>(
    rows: impl IntoIterator<Item = &'static dyn Registered<T>>,
) -> impl Iterator<Item = &'static dyn Registered<T>> {
    rows.into_iter()
        .flat_map(|row| std::iter::once(row).chain(row.entry().alternatives().map(move |entry| row.variant(entry))))
}

#[cfg(test)]
mod tests {
    use vesica_structures::facts::Paper;

    use super::*;
    use crate::{CostClass, Rounds, Security, Status, assume};

    static ENTRY: Entry = Entry {
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
            assert_eq!(ENTRY.with(typed).map(|entry| entry.id), Ok(canonical), "{typed}");
        }
        assert_eq!(split("row:fruit=pear"), ("row", Some("fruit=pear")));
        assert_eq!((split("row"), split("row:")), (("row", None), ("row", Some(""))));
    }

    #[test]
    fn names_find_rows_and_their_variants() {
        static OTHER: Entry = Entry { id: "other", aliases: &[], variants: &[], ..ENTRY };
        let found = |name| find([&ENTRY, &OTHER], name).map(|entry| entry.map(|entry| entry.id));
        assert_eq!(found("alias"), Ok(Some("row")));
        assert_eq!(found("alias:drink=water,fruit=pear"), Ok(Some("row:fruit=pear")));
        assert_eq!((found("nothing"), found("nothing:fruit=pear")), (Ok(None), Ok(None)));
        let both = ENTRY.with("drink=tea,fruit=pear").expect("a variant");
        assert_eq!((both.id, both.row_id(), both.is_variant()), ("row:fruit=pear,drink=tea", "row", true));
        assert_eq!((both.chosen("drink"), ENTRY.chosen("drink"), both.chosen("bread")), ("tea", "water", ""));
        assert!(std::ptr::eq(both, ENTRY.with("fruit=pear,drink=tea").expect("the same")), "made once");
        assert!(!ENTRY.is_variant() && found("other:fruit=pear").is_err());
        let ids = |entries: &mut dyn Iterator<Item = &'static Entry>| entries.map(|entry| entry.id).collect::<Vec<_>>();
        assert_eq!(ids(&mut ENTRY.alternatives()), ["row:fruit=pear", "row:drink=tea", "row:drink=juice"]);
        assert_eq!(ENTRY.combinations().count(), 5);
    }

    /// What a value says makes way, and what others change stays changed.
    #[test]
    fn choices_change_what_they_say_and_no_more() {
        const PLAIN: Mode = Mode::semi_honest(Rounds::exactly(3), assume!["oranges"], &[]);
        const STRICT: Mode = Mode { security: Security::Malicious, ..PLAIN };
        const SLOWER: Mode = Mode { rounds: Rounds::exactly(9), corrupt_sender: Resistance::Malicious, ..PLAIN };
        const OTHER: Mode = Mode { assumptions: assume!["leaves"], ..PLAIN };
        static ROW: Entry = Entry {
            variants: &[
                Choice {
                    name: "fruit",
                    what: "What to eat.",
                    values: &[
                        ChoiceValue::new("apple", "Green.").deviating(&["An apple."]),
                        ChoiceValue {
                            modes: Some(&[SLOWER, STRICT]),
                            ..ChoiceValue::new("pear", "Soft.").deviating(&["A pear."])
                        },
                    ],
                },
                Choice {
                    name: "drink",
                    what: "What to drink.",
                    values: &[
                        ChoiceValue::new("water", "Cold."),
                        ChoiceValue {
                            modes: Some(&[OTHER]),
                            cost: Some(CostClass::Lattice),
                            sender_at_most: Resistance::SemiHonest,
                            ..ChoiceValue::new("tea", "Hot.").deviating(&["Tea."])
                        },
                    ],
                },
            ],
            deviations: &["An apple.", "Bread."],
            modes: &[PLAIN, STRICT],
            ..ENTRY
        };
        let [pear, tea, both] =
            ["fruit=pear", "drink=tea", "fruit=pear,drink=tea"].map(|choices| ROW.with(choices).expect("a variant"));
        assert_eq!(pear.deviations, ["Bread.", "A pear."]);
        assert_eq!(both.deviations, ["Bread.", "A pear.", "Tea."]);
        assert_eq!((pear.cost, tea.cost, both.cost), (CostClass::Symmetric, CostClass::Lattice, CostClass::Lattice));
        assert_eq!(pear.modes, [SLOWER, STRICT]);
        assert_eq!(tea.modes, [OTHER]);
        // Tea permits no more of the sender than the row does.
        assert_eq!(both.modes, [Mode { rounds: SLOWER.rounds, ..OTHER }]);
    }

    /// Rounds of two values add up; what one of them still rests on stays, and stands once.
    #[test]
    fn values_that_change_the_same_mode_add_up() {
        const fn rests(rounds: Rounds, assumptions: &'static [Assumption]) -> Mode {
            Mode::semi_honest(rounds, assumptions, &[])
        }
        const TEA: Mode = rests(Rounds::between(2, 6), assume!["leaves", "pears"]);
        const BOTH: Mode = rests(Rounds::between(4, 8), assume!["oranges", "pears", "leaves"]);
        static ROW: Entry = Entry {
            variants: &[
                Choice {
                    name: "fruit",
                    what: "What to eat.",
                    values: &[
                        ChoiceValue::new("apple", "Green."),
                        ChoiceValue {
                            modes: Some(&[rests(Rounds::between(5, 9), assume!["oranges", "pears"])]),
                            ..ChoiceValue::new("pear", "Soft.")
                        },
                    ],
                },
                Choice {
                    name: "drink",
                    what: "What to drink.",
                    values: &[
                        ChoiceValue::new("water", "Cold."),
                        ChoiceValue { modes: Some(&[TEA]), ..ChoiceValue::new("tea", "Hot.") },
                    ],
                },
            ],
            modes: &[rests(Rounds::between(3, 7), assume!["oranges", "apples"])],
            ..ENTRY
        };
        let modes = |choices| ROW.with(choices).expect("a variant").modes;
        assert_eq!(modes("drink=tea"), [TEA]);
        assert_eq!(modes("fruit=pear,drink=tea"), [BOTH]);
    }

    /// A value may raise or lower what the row resists; one that says what the row says changes nothing.
    #[test]
    fn of_resistances_that_differ_from_the_rows_the_least_counts() {
        use Resistance::{Malicious, None, SemiHonest};
        for (own, values, wanted) in [
            (SemiHonest, [Malicious, SemiHonest], Malicious),
            (SemiHonest, [SemiHonest, Malicious], Malicious),
            (SemiHonest, [Malicious, None], None),
            (Malicious, [SemiHonest, Malicious], SemiHonest),
            (Malicious, [Malicious, Malicious], Malicious),
        ] {
            let found = values.into_iter().fold(own, |so_far, other| changed(own, so_far, other));
            assert_eq!(found, wanted, "{own}: {values:?}");
        }
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
            let refused = ENTRY.with(typed).expect_err(typed);
            assert!(refused.what.contains(named) && refused.mend.contains(mend), "{typed}: {refused:?}");
        }
        static PLAIN: Entry = Entry { variants: &[], ..ENTRY };
        assert!(PLAIN.with("fruit=pear").expect_err("no choices").what.contains("no variants"));
    }
}
