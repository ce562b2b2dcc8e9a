//! Runs under a policy: each rule is kept on both sides, before anything is compared.

use super::*;
use crate::failure::code;
use crate::policy::Policy;
use crate::receipt::Receipt;
use crate::written;

/// A policy of the side that plays `role`.
pub(super) fn policy(folder: &Folder, role: Role, rules: &str) -> Arc<Policy> {
    let key = match role {
        Role::Sender => folder.us.public(),
        Role::Receiver => folder.them.public(),
    };
    let file = folder.path("peers.toml");
    let settings = written::settings(rules).expect(rules);
    let policy =
        Policy::read((&file, "partner", key.into()), &settings, Some(folder.path(&format!("counts of the {role}"))));
    Arc::new(policy.expect(rules))
}

/// A run in which `role` has these rules: its outcome, and the partner's.
fn outcome(folder: &Folder, role: Role, rules: &str, change: impl Fn(&mut Config)) -> [Result<Report, Failure>; 2] {
    let side = |side| {
        let mut config = folder.config(side, "sum");
        config.wait = Duration::from_secs(5);
        config.settings.at_least = 2;
        amount(&mut config);
        change(&mut config);
        config.policy = (side == role).then(|| policy(folder, role, rules));
        config
    };
    let (received, sent) = both(side(Role::Receiver), side(Role::Sender));
    match role {
        Role::Receiver => [received, sent],
        Role::Sender => [sent, received],
    }
}

/// Rules that the run of [`outcome`] keeps, and for each one that it does not keep. Both sides have it; the word is in the
/// refusal.
fn rules(role: Role) -> Vec<(&'static str, String, String)> {
    let other = role.peer();
    let mut rules = vec![
        ("the task is sum", "tasks = [\"sum\"]".to_owned(), "tasks = [\"intersect\", \"query\"]".to_owned()),
        ("this side is the", format!("roles = [\"{role}\"]"), format!("roles = \"{other}\"")),
        ("the table has the file", "inputs = \"*.csv\"".into(), "inputs = \"export/*.csv\"".into()),
        ("the key is id", "keys = [\"email\", \"id\"]".into(), "keys = [\"email\", \"id,email\"]".into()),
        ("says --reveal-if-at-least 2", "reveal-if-at-least = 2".into(), "reveal-if-at-least = 3".into()),
        ("would run insecure-plain", "exclude-protocols = \"vesica-sum\"".into(), String::new()),
        ("--post-quantum", "post-quantum = false".into(), "post-quantum = true".into()),
        ("the security is semi-honest", "security = \"semi-honest\"".into(), "security = \"malicious\"".into()),
        ("the table has", "own-keys = \"4..4\"".into(), "own-keys = \"..3\"".into()),
        ("the partner's table has", "partner-keys = \"4..\"".into(), "partner-keys = \"5..\"".into()),
        ("this run has 1 group", "max-groups = 1".into(), "max-groups = 0".into()),
        ("begun within 1d", "runs = \"1 per 1d\"".into(), "runs = \"0 per 1d\"".into()),
        ("begun with the same keys", "runs-per-table = 1".into(), "runs-per-table = 0".into()),
        ("today is", "expires = \"2099-01-01\"".into(), "expires = \"2026-11-29\"".into()),
    ];
    if role == Role::Sender {
        rules.push(("the column amount", "payload = [\"amount\"]".into(), "payload = []".into()));
        rules.push(("no --epsilon", String::new(), "epsilon = \"1 per 1d\"".into()));
    }
    rules
}

#[test]
fn each_rule_is_kept_on_both_sides_and_the_partner_hears_not_which() {
    for role in [Role::Receiver, Role::Sender] {
        for (word, kept, broken) in rules(role) {
            if !kept.is_empty() {
                let folder = Folder::new();
                let [own, partner] = outcome(&folder, role, &kept, |_| {});
                let own = own.unwrap_or_else(|failure| panic!("{kept}: {failure}"));
                assert!(own.policy.is_some() && partner.expect("a run").policy.is_none(), "{kept}");
            }
            if broken.is_empty() {
                continue;
            }
            let folder = Folder::new();
            let [own, partner] = outcome(&folder, role, &broken, |_| {});
            let own = own.expect_err(&broken);
            assert_eq!(own.code, code::REFUSED, "{own}");
            assert!(own.fault.contains("peers.toml, line 1: ") && own.fault.contains(word), "{broken}: {own}");
            let partner = partner.expect_err(&broken);
            // A receiver that refuses its own settings does not listen in this test.
            if partner.code != 0 && partner.code != code::PEER_ABSENT {
                assert!(partner.fault.contains("its policy for this partner does not allow this run"), "{partner}");
                assert!(!partner.fault.contains("peers.toml") && !partner.mend.contains("rule"), "{partner}");
            }
            assert!(!folder.path("result.csv").exists(), "{broken}");
        }
    }
}

/// A table that changed by one row, or by one value, is refused or warned of; the same one and quite another are not.
#[test]
fn a_table_that_changed_by_one_row_is_refused() {
    let rules = "least-changed-keys = 4\n";
    let rows = |keys: std::ops::Range<u32>, first: u32| {
        let rows = keys.map(|key| format!("{key},{}.00,north\n", if key == 0 { first } else { key % 40 }));
        format!("id,amount,region\n{}", rows.collect::<String>())
    };
    let folder = Folder::new();
    let run = |table: String, rules: &str| {
        std::fs::write(folder.path("theirs.csv"), table).expect("written");
        outcome(&folder, Role::Sender, rules, |_| {})
    };
    let fits = |[own, partner]: [Result<Report, Failure>; 2]| {
        partner.expect("a run");
        own.expect("a run").warnings
    };
    fits(run(rows(0..50, 0), rules));
    fits(run(rows(0..50, 0), rules));
    for changed in [rows(1..50, 0), rows(0..51, 0), rows(0..50, 7), rows(1..51, 0)] {
        let [own, partner] = run(changed, rules);
        let own = own.expect_err("a small change");
        assert!(own.fault.contains("differs in fewer keys or values"), "{own}");
        assert!(partner.expect_err("told").fault.contains("its policy for this partner"));
    }
    fits(run(rows(0..60, 0), rules));
    // Warnings are in the report, and a run that was warned of is one with which later ones are compared.
    let warned = fits(run(rows(0..61, 0), &format!("{rules}on-small-change = \"warn\"")));
    assert!(warned.iter().any(|warning| warning.contains("differs in fewer")), "{warned:?}");
    assert!(run(rows(0..62, 0), rules)[0].is_err());
}

/// A program may hand over the rules that it has read for another partner.
#[test]
fn a_policy_for_another_partner_is_refused() {
    let folder = Folder::new();
    let mut config = folder.config(Role::Receiver, "sum");
    config.wait = Duration::ZERO;
    // Those of the other side, for this one.
    config.policy = Some(policy(&folder, Role::Sender, "tasks = \"sum\""));
    let (found, expected) = (folder.us.public().fingerprint(), folder.them.public().fingerprint());
    for failure in [crate::session::check(&config), run(&config, &Interrupt::default(), &Silent).map(drop)] {
        let failure = failure.expect_err("another partner's");
        assert_eq!(
            (failure.code, failure.told),
            (code::USAGE, Some("its policy for this partner does not allow this run"))
        );
        let said = format!("is for partner, whose key is {found}, and the partner of this run has {expected}");
        assert!(failure.fault.contains(&said), "{failure}");
    }
    config.protection = Protection::InsecurePlaintext;
    let failure = run(&config, &Interrupt::default(), &Silent).expect_err("no key");
    assert!(failure.code == code::USAGE && failure.mend.contains("--insecure-plaintext"), "{failure}");
}

/// A receipt has a hash of each side's policy, by which who has it can tell it, and the partner cannot compare two runs.
#[test]
fn a_receipt_has_the_policies_of_both_sides() {
    let folder = Folder::new();
    let rules = "tasks = [\"sum\"]";
    let receipt = |name: &str| {
        let side = |role| {
            let mut config = folder.config(role, "sum");
            amount(&mut config);
            config.policy = (role == Role::Receiver).then(|| policy(&folder, role, rules));
            config.receipt = (role == Role::Receiver).then(|| folder.path(name));
            config
        };
        let (received, sent) = both(side(Role::Receiver), side(Role::Sender));
        received.and(sent).expect("a run");
        Receipt::load(&folder.path(name)).expect("a receipt").statement
    };
    let (first, second) = (receipt("1.json"), receipt("2.json"));
    assert!(first.sender_policy.is_none());
    let (first, second) = (first.receiver_policy.expect("one"), second.receiver_policy.expect("one"));
    let digest = policy(&folder, Role::Receiver, rules).digest();
    assert!(first.is_of(&digest) && second.is_of(&digest) && first.hash != second.hash);
    assert!(!first.is_of(&policy(&folder, Role::Receiver, "tasks = [\"cardinality\"]").digest()));
}
