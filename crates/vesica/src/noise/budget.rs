//! The budget file: how much epsilon each partner may use up, and how much it has. `docs/tasks.md`
//! shows one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Epsilon, SCALE, short};
use crate::bounded::beside;
use crate::failure::{Failure, code};
use crate::locked;
use crate::table::decimal;

/// Version of the file's format.
const VERSION: u32 = 1;

/// Longest file that is read.
const FILE_LIMIT: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    vesica_budget: u32,
    /// By the fingerprint of the partner's key.
    peers: BTreeMap<String, Account>,
}

/// Decimals as text, so that nothing is rounded.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    total: String,
    spent: String,
}

/// Refuses if the budget in `path` does not cover `epsilon` for the partner with this fingerprint.
///
/// # Errors
/// If so, or if the file is unreadable or no budget.
pub fn check(path: &Path, peer: &str, epsilon: Epsilon) -> Result<(), Failure> {
    load(path)?.debit(path, peer, epsilon)
}

/// Why a run that is about to debit is asked whether it still goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Another run holds the lock. Asked again and again.
    Locked,
    /// The lock is ours, and the debit is about to be written. Asked once.
    BeforeDebit,
}

/// Takes `epsilon` from the partner's budget. It is on the disk when this returns, and stays spent
/// however the run ends. While another run holds the lock, and once more before anything is
/// written, `goes_on` says whether the run can still start.
///
/// # Errors
/// As [`check`], if the file cannot be written, and if the run does not go on. Nothing is spent
/// then.
pub fn debit(
    path: &Path,
    peer: &str,
    epsilon: Epsilon,
    mut goes_on: impl FnMut(Moment) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed_with = |error: io::Error, mend: &str| {
        let fault = format_args!("cannot write the budget {}: {error}", path.display()).to_string();
        Failure { told: Some(TOLD_UNUSABLE), ..Failure::new(code::OUTPUT, fault, mend) }
    };
    let failed = |error| failed_with(error, "check the folder and its rights; nothing was spent");
    // By whatever symbolic links it is named, a budget has one lock; hard links are not followed.
    let path = &fs::canonicalize(path).map_err(failed)?;
    // The file itself is replaced, so that the lock is one beside it: two runs at once spend one after
    // the other.
    let lock = File::options().create(true).truncate(false).write(true).open(beside(path, ".lock")).map_err(failed)?;
    locked::take(&lock, || goes_on(Moment::Locked))?.map_err(failed)?;
    let mut budget = load(path)?;
    budget.debit(path, peer, epsilon)?;
    let text = serde_json::to_vec_pretty(&budget).map_err(|error| failed(error.into()))?;
    goes_on(Moment::BeforeDebit)?;
    let folder = save(path, &text).map_err(failed)?;
    folder
        .sync_all()
        .map_err(|error| failed_with(error, "check the disk; look into the file whether the epsilon was spent"))
}

/// How much the partner with this fingerprint has left; `None` if the file does not say it.
pub(crate) fn left(path: &Path, peer: &str) -> Option<String> {
    let budget = load(path).ok()?;
    let account = budget.peers.get(peer)?;
    let [total, spent] = [&account.total, &account.spent].map(|text| decimal::parse(text, SCALE).ok());
    Some(short(total?.checked_sub(spent?)?))
}

/// What the partner hears of a budget that is spent.
const TOLD: &str = "its privacy budget does not cover this run";

/// What the partner hears of a file that is no budget, or cannot be written.
const TOLD_UNUSABLE: &str = "its privacy budget cannot be used";

fn load(path: &Path) -> Result<Budget, Failure> {
    let refused = |what: &dyn std::fmt::Display| {
        let fault = format_args!("cannot use the budget {}: {what}", path.display()).to_string();
        Failure {
            told: Some(TOLD_UNUSABLE),
            ..Failure::new(code::INPUT, fault, "docs/tasks.md shows what a budget file looks like")
        }
    };
    let text = crate::bounded::read_text(path, FILE_LIMIT).map_err(|error| refused(&error))?;
    let budget: Budget = serde_json::from_str(&text).map_err(|error| refused(&error))?;
    match budget.vesica_budget {
        VERSION => Ok(budget),
        other => Err(refused(&format_args!("its version is {other}, not {VERSION}"))),
    }
}

/// Under a temporary name first, and synced: a crash leaves the old file or the new one. `path` is
/// no link. Gives the folder, which must still be synced for the new name to be on the disk.
fn save(path: &Path, text: &[u8]) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let opened = File::open(folder)?;
    let mut file = tempfile::Builder::new().prefix(".vesica-").suffix(".partial").tempfile_in(folder)?;
    file.write_all(text)?;
    file.write_all(b"\n")?;
    file.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(opened)
}

impl Budget {
    fn debit(&mut self, path: &Path, peer: &str, epsilon: Epsilon) -> Result<(), Failure> {
        let refused = |code, fault: String, mend: &str| {
            let told = if code == code::INPUT { TOLD_UNUSABLE } else { TOLD };
            Err(Failure { told: Some(told), ..Failure::new(code, fault, mend) })
        };
        let Some(account) = self.peers.get_mut(peer) else {
            let fault = format!("the budget {} has no entry for the partner's key {peer}", path.display());
            return refused(
                code::REFUSED,
                fault,
                "decide how much epsilon this partner may ever use up, and add an entry for it",
            );
        };
        let read = |text: &str| decimal::parse(text, SCALE).ok().filter(|&units| units >= 0);
        let (Some(total), Some(spent)) = (read(&account.total), read(&account.spent)) else {
            let fault = format!("the budget {} has an entry for {peer} that is not two decimals", path.display());
            return refused(code::INPUT, fault, "docs/tasks.md shows what a budget file looks like");
        };
        match spent.checked_add(epsilon.0).filter(|&after| after <= total) {
            Some(after) => {
                account.spent = short(after);
                Ok(())
            }
            None => {
                let fault = format!(
                    "the budget for {peer} is {}, of which {} are spent: {epsilon} more are too many",
                    short(total),
                    short(spent)
                );
                refused(
                    code::REFUSED,
                    fault,
                    "what was learned cannot be unlearned: raise the total only if you accept that, or ask with a \
                     smaller --epsilon",
                )
            }
        }
    }
}

/// Reads a text as a budget and takes from it, without a file: whether it covered that. For
/// fuzzers.
pub(crate) fn take_from_budget_text(text: &str) -> bool {
    let Ok(mut budget) = serde_json::from_str::<Budget>(text) else { return false };
    let spent =
        |budget: &Budget| budget.peers.get("partner").and_then(|account| decimal::parse(&account.spent, SCALE).ok());
    let before = spent(&budget);
    let covered = budget.debit(Path::new("budget.json"), "partner", Epsilon(1)).is_ok();
    assert_eq!(
        spent(&budget),
        before.map(|before| before + i64::from(covered)),
        "a debit takes what it says, or nothing"
    );
    covered
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FlockOperation, flock};

    use super::*;

    fn epsilon(text: &str) -> Epsilon {
        Epsilon::parse(text).expect("an epsilon")
    }

    fn file(content: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("budget.json");
        fs::write(&path, content).expect("written");
        (folder, path)
    }

    /// A debit of a run that goes on in any case.
    fn spend(path: &Path, peer: &str, amount: &str) -> Result<(), Failure> {
        debit(path, peer, epsilon(amount), |_| Ok(()))
    }

    const TWO: &str =
        r#"{"vesica_budget": 1, "peers": {"a": {"total": "1", "spent": "0.25"}, "b": {"total": "0.3", "spent": "0"}}}"#;

    #[test]
    fn a_budget_is_spent_to_its_end_and_not_beyond() {
        let (_folder, path) = file(TWO);
        check(&path, "a", epsilon("0.75")).expect("covered");
        for _ in 0..3 {
            spend(&path, "a", "0.25").expect("covered");
        }
        let failure = spend(&path, "a", "0.000000001").expect_err("exhausted");
        assert_eq!(failure.code, code::REFUSED);
        assert!(failure.fault.contains("is 1, of which 1 are spent"), "{failure}");
        assert!(check(&path, "a", epsilon("0.1")).is_err());
        // Three tenths are three times a tenth, which floats do not grant.
        for _ in 0..3 {
            spend(&path, "b", "0.1").expect("covered");
        }
        assert!(fs::read_to_string(&path).expect("there").contains(r#""spent": "0.3""#));
    }

    #[test]
    fn a_partner_without_an_entry_and_a_file_that_is_none_are_refused() {
        let (_folder, path) = file(TWO);
        assert_eq!(spend(&path, "c", "0.1").expect_err("unknown").code, code::REFUSED);
        for content in
            ["", "{}", &TWO.replace("\"vesica_budget\": 1", "\"vesica_budget\": 2"), &TWO.replace("0.25", "-0.25")]
        {
            let (_folder, path) = file(content);
            let failure = spend(&path, "a", "0.1").expect_err("no budget");
            assert_eq!((failure.code, failure.told), (code::INPUT, Some(TOLD_UNUSABLE)), "{content}");
            assert_eq!(fs::read_to_string(&path).expect("there"), content, "nothing is written");
        }
    }

    #[test]
    fn two_runs_at_once_spend_one_after_the_other() {
        let (_folder, path) = file(TWO);
        let some = || (0..20).filter(|_| spend(&path, "b", "0.01").is_ok()).count();
        let all: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(some)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(all, 30);
    }

    #[test]
    fn a_run_that_ends_while_it_waits_for_the_lock_spends_nothing() {
        let (folder, path) = file(TWO);
        let lock = File::create(folder.path().join("budget.json.lock")).expect("a lock");
        flock(&lock, FlockOperation::LockExclusive).expect("free");
        let mut asked = Vec::new();
        let ended = debit(&path, "a", epsilon("0.25"), |moment| {
            asked.push(moment);
            if asked.len() == 3 { Err(Failure::new(code::INTERRUPTED, "over", "")) } else { Ok(()) }
        });
        assert_eq!(ended.expect_err("over").code, code::INTERRUPTED);
        assert_eq!(asked, [Moment::Locked; 3]);
        assert_eq!(fs::read_to_string(&path).expect("there"), TWO);
        // Once the lock is free, the run is asked a last time.
        drop(lock);
        let ended = debit(&path, "a", epsilon("0.25"), |moment| {
            assert_eq!(moment, Moment::BeforeDebit);
            Err(Failure::new(code::LINK, "the partner has gone", ""))
        });
        assert_eq!(ended.expect_err("over").code, code::LINK);
        assert_eq!(fs::read_to_string(&path).expect("there"), TWO);
        spend(&path, "a", "0.25").expect("covered");
    }
}
