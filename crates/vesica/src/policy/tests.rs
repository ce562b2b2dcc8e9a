//! Rules, counts and signatures.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use vesica_party::transport::tls::Identity;

use super::*;
use crate::handshake::clock;
use crate::locked::Wait;
use crate::noise::Epsilon;
use crate::session::{Events, Silent};
use crate::written;

/// A rule of each kind.
const ALL: &str = r#"
tasks = ["sum", "cardinality"]
roles = ["receiver", "sender"]
security = "semi-honest"
post-quantum = true
inputs = ["*.csv", "/data/**/members.parquet"]
keys = ["email", "first,last"]
payload = ["amount"]
own-keys = "100..5_000"
partner-keys = "..1000"
reveal-if-at-least = 20
max_groups = 5
both-learn = false
runs = ["2 per 1d", "10 per 4w"]
runs-per-table = 3
expires = "2099-12-31"
exclude-protocols = "vesica-sum"
exclude-assumptions = ["Ristretto"]
least-changed-keys = 10
on-small-change = "warn"
state = "counts"
"#;

fn read(text: &str, state: Option<&Path>) -> Result<Policy, String> {
    let key = Identity::generate().expect("randomness").public();
    let settings = written::settings(text)?;
    Policy::read((Path::new("peers.toml"), "acme", key.into()), &settings, state.map(Into::into))
}

fn policy(text: &str, state: &Path) -> Policy {
    read(text, Some(state)).expect(text)
}

/// What a rule says is what its file says, so that a refusal can be found there; and it reads back.
#[test]
fn all_rules_are_read_and_said() {
    let said: Vec<String> =
        read(ALL, None).expect("rules").rules().iter().map(|ruled| ruled.rule.to_string()).collect();
    assert_eq!(said.len(), 18);
    let again = said.join("\n").replace(" with on-small-change", "\non-small-change");
    let again = read(&again, None).expect("what was said");
    assert_eq!(again.rules().iter().map(|ruled| ruled.rule.to_string()).collect::<Vec<_>>(), said);
    assert_eq!(again.rules()[0].line, 1);
    // Whatever the order and the notes, a policy has one digest, and another one if it says something else.
    let digest = |text: &str| read(text, None).expect(text).digest();
    let turned: Vec<&str> = ALL.lines().rev().collect();
    assert_eq!(digest(&format!("# notes\n{}", turned.join("\n\n"))), digest(ALL));
    assert_ne!(digest(&ALL.replace("= 20", "= 21")), digest(ALL));
    let (digest, nonce) = (digest(ALL), [3; 32]);
    assert!(bound_to(&digest, &nonce) != bound_to(&digest, &[4; 32]) && bound_to(&digest, &nonce) != digest);
}

#[test]
fn mistakes_in_rules_name_their_line() {
    for (text, told) in [
        ("taks = [\"sum\"]", "line 1: a policy has no rule `taks`: did you mean `tasks`?"),
        ("\ntasks = [\"some\"]", "line 2: `tasks` names \"some\", and there is no such task: did you mean sum?"),
        ("roles = \"server\"", "line 1: `roles` names \"server\""),
        ("security = \"high\"", "line 1: `security` is \"high\", and must be semi-honest or malicious"),
        ("post-quantum = \"yes\"", "line 1: `post-quantum` is a string or a number, and must be true or false"),
        ("inputs = [\"a**\"]", "line 1: `inputs` has \"a**\""),
        ("own-keys = \"5..1\"", "line 1: `own-keys` is \"5..1\""),
        ("own-keys = 5", "line 1: `own-keys` is \"5\""),
        ("reveal-if-at-least = -1", "line 1: `reveal-if-at-least` is \"-1\""),
        ("runs = \"2\"", "line 1: `runs` has \"2\", and must say how much in what time"),
        ("runs = \"2 per 1m\"", "line 1: `runs` has"),
        ("runs = \"2 per 0d\"", "line 1: `runs` has"),
        ("runs = \"2 per 99999999999999999w\"", "line 1: `runs` has"),
        ("epsilon = \"-1 per 1d\"", "line 1: `epsilon` has"),
        ("expires = \"2027-02-29\"", "line 1: `expires` must be a day"),
        ("exclude-protocols = \"rsa\"", "line 1: `exclude-protocols` names \"rsa\""),
        ("exclude-assumptions = \"factoring\"", "line 1: `exclude-assumptions` names \"factoring\""),
        ("least-changed-keys = 1", "line 1: `least-changed-keys` must be from 2 to 1000"),
        ("least-changed-keys = 1001", "line 1: `least-changed-keys` must be"),
        ("runs = []", "line 1: `runs` is empty"),
        ("exclude-assumptions = [\"\"]", "line 1: `exclude-assumptions` names \"\""),
        ("on-small-change = \"warn\"", "line 1: `on-small-change` needs"),
        (
            "runs = \"1 per 1d\"\nruns_per_table = 2\nruns-per-table = 2",
            "line 3: `runs-per-table` is there a second time",
        ),
        // Rules that no run keeps.
        (
            "epsilon = \"1 per 1d\"\nreveal-if-at-least = 20",
            "line 2: `reveal-if-at-least = 20` and the epsilon of line 1",
        ),
        (
            "tasks = [\"intersect\"]\nreveal-if-at-least = 20",
            "line 2: `reveal-if-at-least = 20`, and the task intersect",
        ),
        (
            "tasks = [\"sum\"]\nsecurity = \"malicious\"",
            "line 2: `security = \"malicious\"`, and no protocol for the task sum",
        ),
    ] {
        let fault = read(text, None).map(drop).expect_err(text);
        assert!(fault.starts_with(told), "{text}: {fault}");
    }
}

fn run<'a>() -> Beginning<'a> {
    Beginning { task: "sum", epsilon: None, record: None, table: None }
}

/// Waits without end.
const PATIENT: Wait<'static> = Wait { goes_on: &|| Ok(()), events: &Silent };

fn begin(policy: &Policy, run: &Beginning<'_>) -> Result<Count, Failure> {
    policy.count(run, &PATIENT)
}

/// Changes the file in which runs are counted.
fn change(state: &Path, how: impl Fn(&mut Json)) {
    let files = fs::read_dir(state).expect("a folder").map(|file| file.expect("a file").path());
    let path = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).expect("counts");
    let mut counts: Json = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    how(&mut counts);
    fs::write(path, counts.to_string()).expect("written");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn runs_are_counted_and_time_does_not_go_back() {
    let state = folder();
    let policy = policy("runs = [\"2 per 1d\", \"3 per 10d\"]\nexpires = \"2099-12-31\"", state.path());
    for _ in 0..2 {
        begin(&policy, &run()).expect("allowed");
    }
    let refused = begin(&policy, &run()).expect_err("too many");
    assert_eq!((refused.code, refused.told), (code::REFUSED, Some(TOLD)));
    assert!(refused.fault.starts_with("peers.toml, line 1: your policy for acme has `runs = "), "{refused}");
    assert!(refused.fault.contains("2 runs were begun within 1d"), "{refused}");
    // A day later there is one more, and then the second bound counts.
    let back = |seconds: u64| {
        change(state.path(), |counts| {
            counts["latest"] = (counts["latest"].as_u64().expect("a time") - seconds).into();
            for run in counts["runs"].as_array_mut().expect("runs") {
                run["time"] = (run["time"].as_u64().expect("a time") - seconds).into();
            }
        });
    };
    back(86_400);
    begin(&policy, &run()).expect("allowed");
    back(86_400);
    assert!(begin(&policy, &run()).expect_err("too many").fault.contains("3 runs were begun within 10d"));
    back(10 * 86_400);
    // A clock that was ahead once: periods go by its time, and a refusal says so.
    let ahead = clock::now() + 5 * 86_400;
    change(state.path(), |counts| counts["latest"] = ahead.into());
    for _ in 0..2 {
        begin(&policy, &run()).expect("allowed");
    }
    let refused = begin(&policy, &run()).expect_err("too many");
    assert!(refused.fault.contains("this machine's clock has said"), "{refused}");
    assert_eq!(policy.left(&PATIENT).expect("counts")[0].text, "2 of 2 begun within 1d, 2 of 3 begun within 10d");
    // The last day of a policy counts, and no later one does, also for a run that goes on.
    change(state.path(), |counts| counts["latest"] = 4_102_444_799_u64.into());
    let kept = Beginning { record: Some("a"), ..run() };
    begin(&policy, &kept).expect("allowed");
    change(state.path(), |counts| counts["latest"] = 4_102_444_800_u64.into());
    for run in [run(), kept] {
        assert!(begin(&policy, &run).expect_err("expired").fault.contains("today is 2100-01-01"));
    }
    // A run that is refused keeps the time, too.
    change(state.path(), |counts| {
        counts["latest"] = 0.into();
        counts["runs"] = Json::Array(Vec::new());
    });
    let over = self::policy("expires = \"2026-11-29\"", state.path());
    let over = Policy { keys: policy.keys.clone(), ..over };
    assert!(begin(&over, &run()).is_err());
    change(state.path(), |counts| assert!(counts["latest"].as_u64().expect("a time") >= clock::now() - 60));
}

/// A count that was there does not begin anew because its file is gone.
#[test]
fn a_count_that_is_gone_is_missed() {
    let state = folder();
    let policy = policy("runs = \"2 per 1d\"", state.path());
    policy.check_counts(&run(), &PATIENT).expect("allowed");
    let files = fs::read_dir(state.path()).expect("a folder").map(|file| file.expect("a file").path());
    let path = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).expect("counts");
    fs::remove_file(path).expect("removed");
    assert!(begin(&policy, &run()).expect_err("gone").fault.contains("it is gone, and was there"));
}

#[test]
fn processes_at_once_count_one_after_the_other_and_a_run_that_goes_on_once() {
    let state = folder();
    let policy = Arc::new(policy("runs = \"30 per 1d\"", state.path()));
    let some = || (0..20).filter(|_| begin(&policy, &run()).is_ok()).count();
    let all: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(some)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(all, 30);
    let state = folder();
    let policy = self::policy("runs = \"2 per 1d\"", state.path());
    for _ in 0..5 {
        begin(&policy, &Beginning { record: Some("a"), ..run() }).expect("the same run");
    }
    begin(&policy, &Beginning { record: Some("b"), ..run() }).expect("allowed");
    assert!(begin(&policy, &run()).is_err());
    begin(&policy, &Beginning { record: Some("a"), ..run() }).expect("the same run");
    // A run that ends while it waits is not counted.
    let over = || Err(Failure::new(code::INTERRUPTED, "over", ""));
    let ended = policy.count(&run(), &Wait { goes_on: &over, events: &Silent });
    assert_eq!(ended.expect_err("over").code, code::REFUSED, "rules come first");
}

/// A run that did not begin after all is counted no more, and one that was counted before stays so. Where it cannot be taken
/// back, its failure says that it counts, and how to see it.
#[test]
fn a_run_that_did_not_begin_is_taken_back() {
    let state = folder();
    let policy = policy("runs = \"2 per 1d\"", state.path());
    let begun = || policy.left(&PATIENT).expect("counts")[0].text.clone();
    let fault = || Failure::new(code::OUTPUT, "the log is full", "make room");
    let going = Beginning { record: Some("a"), ..run() };
    let first = begin(&policy, &going).expect("allowed");
    let second = begin(&policy, &run()).expect("allowed");
    assert_eq!(begun(), "2 of 2 begun within 1d");
    assert_eq!(policy.take_back(second, fault()), fault());
    assert_eq!(begun(), "1 of 2 begun within 1d");
    let again = begin(&policy, &going).expect("it goes on");
    assert_eq!(policy.take_back(again, fault()), fault());
    assert_eq!(begun(), "1 of 2 begun within 1d");
    change(state.path(), |counts| counts["vesica_policy"] = 2.into());
    let Failure { fault, mend, .. } = policy.take_back(first, fault());
    assert_eq!(fault, "the log is full");
    assert!(mend.starts_with("make room. The run is among those with acme that your policy counts: "), "{mend}");
    assert!(mend.ends_with("`vesica policy check acme` shows what is left"), "{mend}");
    change(state.path(), |counts| counts["vesica_policy"] = 1.into());
    assert_eq!(begun(), "1 of 2 begun within 1d");
}

/// Hears notices.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Events for Heard {
    fn notice(&self, text: &str) {
        self.0.lock().expect("no panic").push(text.to_owned());
    }
}

#[test]
fn a_run_that_waits_for_long_says_once_for_what() {
    let state = folder();
    let policy = policy("runs = \"2 per 1d\"", state.path());
    begin(&policy, &run()).expect("allowed");
    let files = fs::read_dir(state.path()).expect("a folder").map(|file| file.expect("a file").path());
    let lock = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "lock")).expect("a lock");
    let lock = fs::File::open(lock).expect("there");
    let heard = Heard::default();
    let counted = |least: Duration| {
        let since = Instant::now();
        let goes_on = || {
            if since.elapsed() > least {
                lock.unlock().expect("held");
            }
            Ok(())
        };
        policy.left(&Wait { goes_on: &goes_on, events: &heard }).expect("counts");
    };
    lock.lock().expect("free");
    counted(Duration::from_millis(100));
    assert!(heard.0.lock().expect("no panic").is_empty());
    lock.lock().expect("free");
    counted(Duration::from_millis(1500));
    let heard = heard.0.into_inner().expect("no panic");
    assert!(
        matches!(&*heard, [one] if one.starts_with("waiting for another run with acme, which holds ")),
        "{heard:?}"
    );
}

#[test]
fn epsilon_is_bounded_in_each_period() {
    let state = folder();
    let policy = policy("epsilon = \"1 per 30d\"", state.path());
    let spend = |text| begin(&policy, &Beginning { epsilon: Epsilon::parse(text).ok(), ..run() });
    for _ in 0..9 {
        spend("0.1").expect("covered");
    }
    let refused = spend("0.100000001").expect_err("too much");
    assert!(refused.fault.contains("0.9 was spent within 30d, and this run takes 0.100000001"), "{refused}");
    spend("0.1").expect("covered");
    assert!(spend("0.000000001").is_err());
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let counts = |state: &Path| begin(&policy("runs = \"2 per 1d\"", state), &run()).map(drop);
    let none = read("runs = \"2 per 1d\"", None).expect("a rule");
    assert_eq!(begin(&none, &run()).expect_err("no folder").code, code::REFUSED);
    // Without a rule that counts, nothing is kept.
    begin(&read("own-keys = \"1..\"", None).expect("a rule"), &run()).expect("allowed");
    let state = folder();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(state.path(), fs::Permissions::from_mode(0o777)).expect("set");
    assert!(counts(state.path()).expect_err("open to others").fault.contains("others can write to"));
    let state = folder();
    let policy = policy("runs = \"2 per 1d\"", state.path());
    begin(&policy, &run()).expect("allowed");
    for how in [
        |counts: &mut Json| counts["vesica_policy"] = 2.into(),
        |counts: &mut Json| {
            counts["vesica_policy"] = 1.into();
            counts["runs"][0]["table"] = "../x".into();
        },
        |counts: &mut Json| counts["runs"][0] = serde_json::json!({ "time": 0, "task": "sum", "epsilon": "much" }),
        |counts: &mut Json| counts["runs"][0] = serde_json::json!({ "time": u64::MAX, "task": "sum" }),
        |counts: &mut Json| *counts = Json::Null,
    ] {
        change(state.path(), how);
        let refused = begin(&policy, &run()).expect_err("damaged");
        assert_eq!((refused.code, refused.told), (code::REFUSED, Some(TOLD)), "{refused}");
    }
}

#[test]
fn a_signature_is_of_one_signer_and_one_text() {
    let [owner, other] = [0, 1].map(|_| Identity::generate().expect("randomness"));
    let signature = sign(ALL, &owner).expect("a signature");
    assert!(is_signed(ALL, &signature, &owner.public()));
    assert!(!is_signed(&ALL.replace("20", "21"), &signature, &owner.public()));
    assert!(!is_signed(ALL, &signature, &other.public()));
    let claimed = signature.replace(&owner.public().to_string(), &other.public().to_string());
    assert!(!is_signed(ALL, &claimed, &other.public()));
    for wrong in ["", "x", &owner.public().to_string(), &signature[..signature.len() - 5]] {
        assert!(!is_signed(ALL, wrong, &owner.public()), "{wrong}");
    }
}
