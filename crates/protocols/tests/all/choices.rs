//! Choices: every combination of values is a variant, which says of itself what its values say.

use std::collections::HashSet;

use vesica_mpc::base_ot::{self, MlKem, Mr19, Scheme};
use vesica_mpc::tasks::{RandomOneOfNOt, RandomOt};
use vesica_party::variants::resolve;
use vesica_party::{Assumption, ChoiceValue, Entry, Mode, Task};
use vesica_testkit::{Runnable, Trials, conformance_of};

use crate::inputs::{Example, Suite};
use crate::registry;
use crate::registry::trials_of;

/// The values that a description has chosen, of the choices of its row.
fn chosen(row: &Entry, entry: &Entry) -> Vec<&'static ChoiceValue> {
    let value = |(choice, own): (&vesica_party::Choice, &vesica_party::Choice)| {
        choice.values.iter().find(|value| value.name == own.values[0].name).expect("a value of the row")
    };
    row.variants.iter().zip(entry.variants).map(value).collect()
}

/// No two values of a combination change what its row's modes reveal, which does not add up as rounds and assumptions
/// do.
fn assert_changes_are_apart(row: &Entry, values: &[&ChoiceValue], id: &str) {
    for mode in row.modes {
        let others: Vec<&Mode> = values
            .iter()
            .filter_map(|value| value.modes)
            .filter_map(|modes| modes.iter().find(|other| other.security == mode.security))
            .collect();
        let changes = others.iter().filter(|other| other.leakage != mode.leakage).count();
        assert!(changes < 2, "{id}: two values change what the mode {} reveals", mode.security);
    }
}

/// Goes through all combinations of all rows.
struct Combinations(usize);

impl Suite for Combinations {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        for row in rows.iter().filter(|row| !row.entry().is_variant()) {
            let entry = row.entry();
            for choice in entry.variants {
                assert!(choice.values.len() > 1 && choice.what.ends_with('.'), "{}: {}", entry.id, choice.name);
                assert!(choice.values.iter().all(|value| value.what.ends_with('.')), "{}: {}", entry.id, choice.name);
                let default = choice.values[0].deviations;
                assert!(
                    default.iter().all(|deviation| entry.deviations.contains(deviation)),
                    "{}: the row does not say what the default of {} does",
                    entry.id,
                    choice.name
                );
            }
            let mut ids = HashSet::new();
            for variant in entry.combinations() {
                let values = chosen(entry, variant);
                let typed: Vec<String> = variant
                    .variants
                    .iter()
                    .rev()
                    .map(|choice| format!("{}={}", choice.name, choice.values[0].name))
                    .collect();
                let name = format!("{}:{}", entry.aliases.first().unwrap_or(&entry.id), typed.join(","));
                let found = resolve(rows.iter().copied(), &name).expect("a variant").expect("a row").entry();
                assert!(std::ptr::eq(found, variant), "{name}: {}", found.id);
                let changed: Vec<&ChoiceValue> = values
                    .into_iter()
                    .filter(|value| entry.variants.iter().all(|own| own.values[0] != **value))
                    .collect();
                for value in &changed {
                    let is_said = |deviation| variant.deviations.contains(deviation);
                    assert!(value.deviations.iter().all(is_said), "{name}");
                }
                assert_changes_are_apart(entry, &changed, variant.id);
                assert_eq!(
                    (variant.task, variant.paper, variant.status, variant.row_id()),
                    (entry.task, entry.paper, entry.status, entry.id)
                );
                assert!(variant.is_variant() && variant.aliases.is_empty() && ids.insert(variant.id), "{name}");
            }
            self.0 += ids.len();
        }
    }
}

#[test]
fn every_combination_of_values_is_a_variant_that_says_what_it_changes() {
    let mut suite = Combinations(0);
    suite.all();
    assert!(suite.0 > 10, "{} combinations", suite.0);
    let values = registry::own_entries().flat_map(|entry| entry.variants);
    assert!(values.map(|choice| choice.values.len() - 1).sum::<usize>() > 8);
}

/// Combinations of several values compute what their row computes, or are refused with a mend.
struct Combined(Trials);

impl Suite for Combined {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        for row in rows.iter().filter(|row| !row.entry().is_variant()) {
            let several = row.entry().combinations().filter(|entry| entry.id.matches('=').count() > 1);
            for variant in several.map(|entry| row.variant(entry)) {
                for mode in variant.entry().modes {
                    self.0.trial(format_args!("{} {}", variant.entry().id, mode.security), || {
                        let (request, sent, asked) = T::example(variant, mode.security, [60, 50], 20, 2);
                        match variant.predicted_bytes(&request) {
                            Ok(_) => {
                                conformance_of(variant, &request, sent, asked).assert_rounds(mode);
                            }
                            Err(refused) => {
                                assert!(
                                    variant.entry().id.contains("compare=") && !refused.mend.is_empty(),
                                    "{refused}"
                                );
                            }
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn combinations_compute_what_their_rows_compute() {
    let mut suite = Combined(trials_of("combinations"));
    suite.all();
    suite.0.end();
}

/// Rows that extend base OTs, and fall to a quantum computer for no other reason: each leaves the choice of them, and
/// computes the same on those from ML-KEM.
struct OnBaseOts(Trials, usize);

/// Bytes of 128 base OTs.
fn base_ots<S: Scheme>() -> u64 {
    S::predicted_bytes(128)
}

impl Suite for OnBaseOts {
    fn rows<T: Example>(&mut self, rows: &[Runnable<T>]) {
        for row in rows.iter().filter(|row| !row.entry().is_variant()) {
            let entry = row.entry();
            let assumptions = || entry.modes.iter().flat_map(|mode| mode.assumptions);
            let other = |what: &&Assumption| what.falls_to_quantum && !base_ot::ASSUMPTIONS.contains(what);
            // The rows of LTSXQ26 run their OTs as their paper has them; all but one of them are broken.
            let chooses = assumptions().any(|what| base_ot::ASSUMPTIONS[0] == *what)
                && assumptions().find(other).is_none()
                && entry.broken().is_none()
                && entry.id != "ltsxq26-wide";
            // Building blocks run with what the row that is built from them has chosen.
            let chooses = chooses && ![RandomOt::NAME, RandomOneOfNOt::NAME].contains(&entry.task);
            assert_eq!(entry.variants.contains(&base_ot::CHOICE), chooses, "{}", entry.id);
            if !chooses {
                continue;
            }
            self.1 += 1;
            let variant = entry.with("base-ot=ml-kem").expect("a variant");
            assert_eq!(variant.modes.len(), entry.modes.len(), "{}", entry.id);
            for mode in variant.modes {
                self.0.trial(format_args!("{} {}", variant.id, mode.security), || {
                    assert_eq!(mode.falls_to_quantum(), None);
                    let of = |row: Runnable<T>| {
                        let (request, sent, asked) = T::example(row, mode.security, [60, 50], 20, 2);
                        let run = conformance_of(row, &request, sent, asked);
                        run.assert_rounds(mode);
                        run.base_ot_bytes
                    };
                    let (classical, hidden) = (of(*row), of(row.variant(variant)));
                    let runs = classical / base_ots::<Mr19>();
                    assert!(runs > 0 && classical == runs * base_ots::<Mr19>(), "{classical} bytes of base OTs");
                    assert_eq!(hidden, runs * base_ots::<MlKem>(), "all base OTs are from ML-KEM");
                });
            }
        }
    }
}

#[test]
fn rows_on_base_ots_run_on_those_from_ml_kem() {
    let mut suite = OnBaseOts(trials_of("base OTs"), 0);
    suite.all();
    assert!(suite.1 > 10, "{} rows", suite.1);
    suite.0.end();
}
