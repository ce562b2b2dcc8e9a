//! What a prepared set has answered, for all clients together, where that is bounded.
//!
//! A server counts for itself, and its state says how much when it is written. That is when the set
//! is prepared, and not again: a server that is killed would forget what it has answered since. So a
//! small file beside the state is ahead of the answers, as that of [quotas](super::quota) is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use vesica_party::service::StateId;
use vesica_party::{Abort, exit_code};

use super::quota;
use crate::bounded::read_text;
use crate::failure::{Failure, code};

/// Longest file of answered items.
const MOST_FILE_BYTES: u64 = 1 << 16;

/// A set's items are booked in as many parts, each with a write of the file.
const PARTS: u64 = 64;

/// The part of a set's items that is left when the log begins to warn: an eighth.
const LOW: u64 = 8;

/// Counts the items that the present set has answered, of at most `most`. An item is answered only
/// once the file says so.
pub(super) struct Answers {
    most: u64,
    counted: Mutex<Counted>,
    file: Option<PathBuf>,
}

#[derive(Default)]
struct Counted {
    /// The present set.
    set: String,
    /// Items that it has answered.
    used: u64,
    /// What the file says, by set: the present one, or that of the state file, and the announced one.
    booked: BTreeMap<String, u64>,
    /// The set that is about to be the present one.
    announced: Option<String>,
    /// How much the log knows of: that little is left, that nothing is.
    told: Told,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    #[default]
    Nothing,
    Low,
    Exhausted,
}

/// What became of items that a query asked for.
pub(super) struct Taken {
    /// Whether they may be answered.
    pub outcome: Result<(), Abort>,
    /// What the log should say: once when little is left, and once when nothing is.
    pub warning: Option<String>,
}

impl Answers {
    /// Reads `file`, if one is given and there.
    ///
    /// # Errors
    /// If it cannot be read, or is not what a server writes.
    pub fn open(most: u64, file: Option<PathBuf>) -> Result<Self, Failure> {
        let booked = file.as_deref().map(read).transpose()?.unwrap_or_default();
        Ok(Self { most, counted: Mutex::new(Counted { booked, ..Counted::default() }), file })
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with a set from a state file; gives how many items it has answered.
    ///
    /// # Errors
    /// If the file does not say.
    pub fn resume(&self, set: StateId) -> Result<u64, Failure> {
        let mut counted = self.lock();
        let name = name_of(set);
        let Some(&used) = counted.booked.get(&name) else {
            let file = self.file.as_deref().unwrap_or(Path::new("")).display().to_string();
            return Err(Failure::new(
                code::INPUT,
                format_args!(
                    "{file} does not say how many items the set in the state file has answered, and they are bounded"
                ),
                "restore it from the copy that the state file comes from; or prepare the set anew with --replace-state: \
                 then each client enrols again",
            ));
        };
        // What sets were announced and never served, by servers that were killed, is forgotten.
        counted.booked.retain(|of, _| *of == name);
        (counted.set, counted.used) = (name, used.min(self.most));
        Ok(counted.used)
    }

    /// Writes to the file that there is a set which has answered nothing. Before its state is written,
    /// so that no state is without a count; the present set keeps its own until then.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn announce(&self, set: StateId) -> Result<(), Failure> {
        let mut counted = self.lock();
        if let Some(dropped) = counted.announced.replace(name_of(set)) {
            counted.booked.remove(&dropped);
        }
        counted.booked.insert(name_of(set), 0);
        self.write(&counted.booked)
    }

    /// From now on, `set` is the present one, which was announced.
    pub fn begin(&self, set: StateId) {
        let mut counted = self.lock();
        (counted.set, counted.used, counted.told, counted.announced) = (name_of(set), 0, Told::Nothing, None);
        let Counted { set, booked, .. } = &mut *counted;
        booked.retain(|name, _| name == set);
    }

    /// Whether the present set has refused a query.
    pub fn is_exhausted(&self) -> bool {
        self.lock().told == Told::Exhausted
    }

    /// Takes `items` from what `set` may still answer. What was taken stays taken, however the query
    /// ends. A set before the present one counts for itself: no restart brings it back.
    pub fn take(&self, set: StateId, items: u64) -> Taken {
        let mut counted = self.lock();
        if counted.set != name_of(set) {
            return Taken { outcome: Ok(()), warning: None };
        }
        let after = counted.used.saturating_add(items);
        let (outcome, now) = if after > self.most {
            (Err(self.exhausted(counted.used)), Told::Exhausted)
        } else {
            let low = self.most - after < self.most / LOW;
            (self.book(&mut counted, after), if low { Told::Low } else { Told::Nothing })
        };
        let warning = (now > counted.told).then(|| {
            counted.told = now;
            let fault = if now == Told::Exhausted { "no query is answered any more" } else { "little is left" };
            format!(
                "the set has answered {} of the {} items that it may under one secret key: {fault}. SIGUSR1 makes a new \
                 key, and so does --rotate-after",
                counted.used, self.most
            )
        });
        Taken { outcome, warning }
    }

    fn book(&self, counted: &mut Counted, after: u64) -> Result<(), Abort> {
        let Counted { set, used, booked, .. } = counted;
        if after > booked.get(set).copied().unwrap_or(0) {
            let ahead = after.saturating_add(self.most / PARTS).min(self.most);
            booked.insert(set.clone(), ahead);
            self.write(booked).inspect_err(|_| {
                // The file says less than this.
                booked.insert(set.clone(), *used);
            })?;
        }
        *used = after;
        Ok(())
    }

    fn exhausted(&self, used: u64) -> Abort {
        Abort::Local {
            code: exit_code::REFUSED,
            fault: format!(
                "the server's set has answered {used} items, and may answer {} for all clients under one secret key",
                self.most
            ),
            mend: "ask whoever runs the server to make a new secret key (SIGUSR1, or --rotate-after)".into(),
        }
    }

    /// Writes to the file what was answered, no more: when the server stops.
    ///
    /// # Errors
    /// If it cannot be written. The file then says that more was.
    pub fn settle(&self) -> Result<(), Failure> {
        let mut counted = self.lock();
        let Counted { set, used, booked, .. } = &mut *counted;
        booked.insert(set.clone(), *used);
        self.write(booked)
    }

    fn write(&self, booked: &BTreeMap<String, u64>) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        let text =
            serde_json::to_string(booked).map_err(|error| Failure::new(code::INTERNAL, error, "please report this"))?;
        quota::write(file, &text).map_err(|error| {
            // Clients hear it, too: no path of the server's.
            let fault = format_args!("cannot write how many items the set has answered: {}", error.kind());
            Failure::new(code::OUTPUT, fault, "check the permissions and the room on the server's disk")
        })
    }
}

/// A set's name in the file.
fn name_of(set: StateId) -> String {
    format!("{:032x}", u128::from_be_bytes(set.to_bytes()))
}

fn read(file: &Path) -> Result<BTreeMap<String, u64>, Failure> {
    let unusable = |why: &dyn fmt::Display| {
        let fault = format_args!("cannot read how many items the set has answered in {}: {why}", file.display());
        Failure::new(code::INPUT, fault, "restore the file from a copy, or remove it and say --replace-state")
    };
    let text = match read_text(file, MOST_FILE_BYTES) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        read => read.map_err(|error| unusable(&error))?,
    };
    serde_json::from_str(&text).map_err(|_| unusable(&"it is not what `vesica serve` writes"))
}

#[cfg(test)]
mod tests {
    use vesica_structures::rng::SecretRng;

    use super::*;

    #[test]
    fn a_set_answers_so_many_items_over_all_restarts_and_a_new_one_begins_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("answered");
        let mut rng = SecretRng::insecure_from_seed(1);
        let [first, second] = [0; 2].map(|_| StateId::random(&mut rng));
        let open = || Answers::open(640, Some(file.clone())).expect("readable");
        let answers = open();
        assert_eq!(answers.resume(first).expect_err("of no set").code, code::INPUT);
        answers.announce(first).expect("written");
        answers.begin(first);
        answers.take(first, 4).outcome.expect("4 of 640");
        // Nobody stopped it: a 64th of all items counts as answered.
        let answers = open();
        assert_eq!(answers.resume(first).expect("counted"), 14);
        answers.take(first, 500).outcome.expect("514 of 640");
        answers.settle().expect("written");
        let answers = open();
        assert_eq!(answers.resume(first).expect("counted"), 514);
        let low = answers.take(first, 50);
        low.outcome.expect("564 of 640");
        assert!(low.warning.is_some_and(|text| text.contains("564 of the 640") && text.contains("SIGUSR1")));
        assert!(answers.take(first, 4).warning.is_none(), "once");
        let Taken { outcome, warning } = answers.take(first, 73);
        let refusal = outcome.expect_err("641 of 640").to_string();
        assert!(refusal.contains("answered 568 items, and may answer 640"), "{refusal}");
        assert!(warning.is_some_and(|text| text.contains("no query is answered any more")));
        answers.take(first, 72).outcome.expect("640 of 640");
        assert!(answers.take(first, 1).outcome.is_err() && answers.is_exhausted());
        // The new set's state may have been written or not when the server is killed.
        answers.announce(second).expect("written");
        assert_eq!(open().resume(first).expect("counted"), 640);
        assert_eq!(open().resume(second).expect("counted"), 0);
        answers.begin(second);
        assert!(!answers.is_exhausted());
        answers.take(second, 4).outcome.expect("4 of 640");
        answers.take(first, 600).outcome.expect("of a set that is on its way out");
        let third = StateId::random(&mut rng);
        answers.announce(third).expect("written");
        assert!(open().resume(first).is_err(), "gone with its set");
        // Its state could not be written, and another set was prepared.
        answers.announce(StateId::random(&mut rng)).expect("written");
        assert!(open().resume(third).is_err(), "never a set");
        assert_eq!(open().resume(second).expect("counted"), 14);
        std::fs::write(&file, "[").expect("written");
        assert_eq!(Answers::open(640, Some(file)).err().expect("damaged").code, code::INPUT);
    }

    #[test]
    fn an_item_that_the_file_does_not_take_is_not_answered() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = StateId::random(&mut SecretRng::insecure_from_seed(2));
        let answers = Answers::open(640, Some(folder.path().join("none").join("answered"))).expect("nothing there");
        assert!(answers.announce(set).is_err());
        answers.begin(set);
        for _ in 0..2 {
            assert!(answers.take(set, 4).outcome.is_err_and(|abort| abort.to_string().contains("cannot write")));
        }
        let answers = Answers::open(640, None).expect("no file");
        answers.announce(set).expect("nowhere");
        answers.begin(set);
        answers.take(set, 640).outcome.expect("all");
        assert!(answers.take(set, 1).outcome.is_err());
    }
}
