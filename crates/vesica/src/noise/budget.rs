//! The budget file: how much epsilon each partner may use up, and how much it has. `docs/tasks.md` shows one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::{Epsilon, SCALE, short};
use crate::failure::{Failure, code};
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

/// Takes `epsilon` from the partner's budget. It is on the disk when this returns, and stays spent however the run ends.
///
/// # Errors
/// As [`check`], and if the file cannot be written: nothing is spent then.
pub fn debit(path: &Path, peer: &str, epsilon: Epsilon) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let fault = format_args!("cannot write the budget {}: {error}", path.display()).to_string();
        Failure { told: Some(TOLD), ..Failure::new(code::OUTPUT, fault, "check the folder and its rights; nothing was spent") }
    };
    // By whatever links it is named, a budget has one lock.
    let path = &fs::canonicalize(path).map_err(failed)?;
    // The file itself is replaced, so that the lock is one beside it: two runs at once spend one after the other.
    let lock = File::options().create(true).truncate(false).write(true).open(beside(path, ".lock")).map_err(failed)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    let mut budget = load(path)?;
    budget.debit(path, peer, epsilon)?;
    let text = serde_json::to_vec_pretty(&budget).map_err(|error| failed(error.into()))?;
    save(path, &text).map_err(failed)
}

/// What the partner hears.
const TOLD: &str = "the partner's privacy budget does not cover this run";

fn beside(path: &Path, ending: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn load(path: &Path) -> Result<Budget, Failure> {
    let refused = |what: &dyn std::fmt::Display| {
        let fault = format_args!("cannot use the budget {}: {what}", path.display()).to_string();
        Failure { told: Some(TOLD), ..Failure::new(code::INPUT, fault, "docs/tasks.md shows what a budget file looks like") }
    };
    let text = crate::bounded::read_text(path, FILE_LIMIT).map_err(|error| refused(&error))?;
    let budget: Budget = serde_json::from_str(&text).map_err(|error| refused(&error))?;
    match budget.vesica_budget {
        VERSION => Ok(budget),
        other => Err(refused(&format_args!("its version is {other}, not {VERSION}"))),
    }
}

/// Under a temporary name first, and synced: a crash leaves the old file or the new one. `path` is no link.
fn save(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".vesica-").suffix(".partial").tempfile_in(folder)?;
    file.write_all(text)?;
    file.write_all(b"\n")?;
    file.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

impl Budget {
    fn debit(&mut self, path: &Path, peer: &str, epsilon: Epsilon) -> Result<(), Failure> {
        let refused = |code, fault: String, mend: &str| Err(Failure { told: Some(TOLD), ..Failure::new(code, fault, mend) });
        let Some(account) = self.peers.get_mut(peer) else {
            let fault = format!("the budget {} has no entry for the partner's key {peer}", path.display());
            return refused(code::REFUSED, fault, "decide how much epsilon this partner may ever use up, and add an entry for it");
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
                let fault =
                    format!("the budget for {peer} is {}, of which {} are spent: {epsilon} more are too many", short(total), short(spent));
                refused(
                    code::REFUSED,
                    fault,
                    "what was learned cannot be unlearned: raise the total only if you accept that, or ask with a smaller --epsilon",
                )
            }
        }
    }
}

/// Reads a text as a budget and takes from it, without a file: whether it covered that. For fuzzers.
pub(crate) fn take_from_budget_text(text: &str) -> bool {
    let Ok(mut budget) = serde_json::from_str::<Budget>(text) else { return false };
    let spent = |budget: &Budget| budget.peers.get("partner").and_then(|account| decimal::parse(&account.spent, SCALE).ok());
    let before = spent(&budget);
    let covered = budget.debit(Path::new("budget.json"), "partner", Epsilon(1)).is_ok();
    assert_eq!(spent(&budget), before.map(|before| before + i64::from(covered)), "a debit takes what it says, or nothing");
    covered
}

#[cfg(test)]
mod tests {
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

    const TWO: &str = r#"{"vesica_budget": 1, "peers": {"a": {"total": "1", "spent": "0.25"}, "b": {"total": "0.3", "spent": "0"}}}"#;

    #[test]
    fn a_budget_is_spent_to_its_end_and_not_beyond() {
        let (_folder, path) = file(TWO);
        check(&path, "a", epsilon("0.75")).expect("covered");
        for _ in 0..3 {
            debit(&path, "a", epsilon("0.25")).expect("covered");
        }
        let failure = debit(&path, "a", epsilon("0.000000001")).expect_err("exhausted");
        assert_eq!(failure.code, code::REFUSED);
        assert!(failure.fault.contains("is 1, of which 1 are spent"), "{failure}");
        assert!(check(&path, "a", epsilon("0.1")).is_err());
        // Three tenths are three times a tenth, which floats do not grant.
        for _ in 0..3 {
            debit(&path, "b", epsilon("0.1")).expect("covered");
        }
        assert!(fs::read_to_string(&path).expect("there").contains(r#""spent": "0.3""#));
    }

    #[test]
    fn a_partner_without_an_entry_and_a_file_that_is_none_are_refused() {
        let (_folder, path) = file(TWO);
        assert_eq!(debit(&path, "c", epsilon("0.1")).expect_err("unknown").code, code::REFUSED);
        for content in ["", "{}", &TWO.replace("\"vesica_budget\": 1", "\"vesica_budget\": 2"), &TWO.replace("0.25", "-0.25")] {
            let (_folder, path) = file(content);
            let failure = debit(&path, "a", epsilon("0.1")).expect_err("no budget");
            assert_eq!((failure.code, failure.told), (code::INPUT, Some(TOLD)), "{content}");
            assert_eq!(fs::read_to_string(&path).expect("there"), content, "nothing is written");
        }
    }

    #[test]
    fn two_runs_at_once_spend_one_after_the_other() {
        let (_folder, path) = file(TWO);
        let spend = || (0..20).filter(|_| debit(&path, "b", epsilon("0.01")).is_ok()).count();
        let all: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(all, 30);
    }
}
