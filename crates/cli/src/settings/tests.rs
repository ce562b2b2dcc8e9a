//! Files give the command that the same flags give, or an error that names the line.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use vesica::Failure;
use vesica::failure::code;
use vesica::party::Role;
use vesica::task;
use vesica::written::Peers;

use super::*;
use crate::args::flags_of;
use crate::args::places::is_typed_alone;
use crate::commands::{config, init, sides};

fn asked_for(line: &str) -> Result<Asked, Refused> {
    asked(line.split_whitespace().map(OsString::from))
}

/// The command with all of its settings, as text.
#[track_caller]
fn command(line: &str) -> String {
    match asked_for(line) {
        Ok(Asked::Command(cli)) => format!("{cli:#?}"),
        other => panic!("{line}: {other:?}"),
    }
}

#[track_caller]
fn failure(line: &str) -> Failure {
    match asked_for(line) {
        Err(Refused::Failed(failure)) => failure,
        other => panic!("{line}: {other:?}"),
    }
}

#[track_caller]
fn layers(line: &str) -> Layers {
    match asked_for(line) {
        Ok(Asked::Settings(layers)) => *layers,
        other => panic!("{line}: {other:?}"),
    }
}

const JOB: &str = "\
task = \"sum\"
security = \"semi-honest\"
reveal_if_at_least = 20
wait = 90

[receiver]
input = \"tables/ours.csv\"
key = [\"first\", \"born\"]
normalise = { first = [\"trim\", \"lower\"] }
output = \"-\"
group-by = \"region\"
listen = \"127.0.0.1:7400\"
identity = \"us.key\"
peer = \"them.pub\"
force = true

[sender]
input = \"/theirs.csv\"
key = [\"a\", \"b\"]
payload = [\"amount\", \"Sales, net\"]
scale = { amount = 2 }
clamp = { amount = \"-5..5\" }
max_groups = 7
connect = \"host:7400\"
peer = \"vesica-ed25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"
";

/// A folder with `job.toml`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(job: &str) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        folder.write("job.toml", job);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("written");
    }

    /// A command line in which `@` stands for the folder.
    fn line(&self, line: &str) -> String {
        line.replace('@', &self.0.path().display().to_string())
    }
}

#[test]
fn a_job_is_the_command_that_its_flags_are() {
    let folder = Folder::new(JOB);
    let shared = "--task sum --security semi-honest --reveal-if-at-least 20 --wait 90";
    for (role, typed) in [
        (
            "receiver",
            "receive --input @/tables/ours.csv --key first --key born --normalise first=trim,lower --output - --group-by \
             region --listen 127.0.0.1:7400 --identity @/us.key --peer @/them.pub --force",
        ),
        (
            "sender",
            "send --input /theirs.csv --key a --key b --payload amount --payload \"Sales,_net\" --scale amount=2 --clamp \
             amount=-5..5 --max-groups 7 --connect host:7400 --peer \
             vesica-ed25519_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ),
    ] {
        // A space would end an argument.
        let typed = folder.line(&format!("vesica {typed} {shared}"));
        let typed = typed.split_whitespace().map(|word| {
            let word = if word.starts_with("vesica-") || word.starts_with('"') {
                word.replacen('_', " ", 1)
            } else {
                word.into()
            };
            OsString::from(word)
        });
        let Ok(Asked::Command(typed)) = asked(typed) else { panic!("{role}") };
        assert_eq!(command(&folder.line(&format!("vesica run @/job.toml --role {role}"))), format!("{typed:#?}"));
    }
}

/// A flag counts before the file, the address as a whole.
#[test]
fn flags_count_before_the_file() {
    let folder = Folder::new(JOB);
    let run = folder.line("vesica run @/job.toml --role receiver --connect host:1 --wait 5 --key id -v");
    let Ok(Asked::Command(cli)) = asked_for(&run) else { panic!("{run}") };
    assert_eq!(cli.verbose, 1);
    let crate::args::Command::Receive(args) = cli.command else { panic!("a receiver") };
    assert_eq!((args.shared.connect.as_deref(), args.shared.listen.as_deref()), (Some("host:1"), None));
    assert_eq!((args.shared.wait.as_secs(), args.shared.table.key), (5, vec!["id".to_owned()]));
    assert_eq!(args.shared.reveal_if_at_least, 20);
}

#[test]
fn what_is_no_setting_names_its_line() {
    let group = |text: &str| text.replace("group-by = \"region\"\n", "");
    for (job, told, mend) in [
        (JOB.replacen("security", "securty", 1), "line 2: there is no setting `securty`", "did you mean `security`?"),
        (JOB.replacen("[receiver]", "[reciever]", 1), "line 6: `reciever` says a table", ""),
        (JOB.replacen("wait = 90", "wait = \"soon\"", 1), "line 4: `wait` is not usable: invalid value 'soon'", ""),
        (JOB.replacen("wait = 90", "wait = true", 1), "line 4: `wait` is true or false, and must be a string", ""),
        (JOB.replacen("wait = 90", "wait = [1]", 1), "line 4: `wait` is an array, and must be", ""),
        (
            JOB.replacen("force = true", "force = 1", 1),
            "line 15: `force` is a string or a number, and must be true",
            "",
        ),
        (JOB.replacen("semi-honest", "none", 1), "line 2: `security` is not usable", ""),
        (JOB.replacen("max_groups = 7", "max_groups = -7", 1), "line 23: `max-groups` is not usable", ""),
        (
            group(JOB).replacen("wait = 90", "group-by = \"a\"", 1),
            "line 4: `group-by` is a setting of the receiver",
            "[receiver]",
        ),
        (group(JOB).replacen("max_groups", "group-by", 1), "line 22: `group-by` is a setting of the rec", "[receiver]"),
        (JOB.replacen("wait = 90", "dry-run = true", 1), "line 4: `dry-run` cannot stand in a file", "type --dry-run"),
        (JOB.replacen("wait = 90", "expect-peer-items = 9", 1), "line 4: `expect-peer-items` cannot stand", "type --"),
        (JOB.replacen("task = \"sum\"", "task = sum", 1), "line 1: ", "vesica init"),
        (JOB.replacen("wait = 90", "task = \"sum\"", 1), "line 4: ", "vesica init"),
    ] {
        let folder = Folder::new(&job);
        // Both sides read the whole file.
        for role in ["receiver", "sender"] {
            let failure = failure(&folder.line(&format!("vesica run @/job.toml --role {role}")));
            assert!(failure.fault.contains(&format!("job.toml, {told}")), "{}", failure.fault);
            assert!(failure.mend.contains(mend), "{}", failure.mend);
            assert_eq!(failure.code, code::USAGE);
        }
    }
}

#[test]
fn a_job_that_is_not_complete_is_refused() {
    let folder = Folder::new(JOB);
    let refused = |job: &str, line: &str, told: &str| {
        folder.write("job.toml", job);
        let failure = failure(&folder.line(line));
        assert!(failure.fault.contains(told), "{}", failure.fault);
    };
    refused(JOB, "vesica run @/job.toml", "it is open which side you are");
    refused("wait = 1", "vesica run @/job.toml", "no section of a side");
    refused("[sender]", "vesica run @/job.toml --role receiver", "settings for the sender, and none");
    refused("[sender]", "vesica run @/job.toml", "job.toml does not say --input <FILE>, --key <COLUMN>");
    refused(JOB, "vesica run @/job.toml --role sender --group-by x", "--group-by is a flag of the receiver");
    refused(JOB, "vesica run @/job.toml --role receiver --insecure-plaintext", "cannot be used with");
    refused(JOB, "vesica run @/none.toml --role receiver", "cannot read the job");
    assert!(matches!(asked_for(&folder.line("vesica run @/job.toml --wat 5")), Err(Refused::Usage(_))));
}

/// Every task that can withhold results, and no other.
#[test]
fn a_job_that_computes_says_its_threshold() {
    let mut tasks = Vec::new();
    for task in task::TASKS {
        let job = |threshold: &str| {
            format!("task = \"{}\"\n{threshold}\n[sender]\ninput = \"a\"\nkey = \"a\"\n", task.name())
        };
        let folder = Folder::new(&job(""));
        let run = folder.line("vesica run @/job.toml");
        if !task::takes_threshold(*task) {
            command(&run);
            continue;
        }
        tasks.push(task.name());
        let failure = failure(&run);
        assert!(failure.fault.contains("does not say how many common keys"), "{}", failure.fault);
        assert!(command(&format!("{run} --reveal-if-at-least 5")).contains("reveal_if_at_least: 5"));
        for (threshold, expected) in [("\"none\"", 0), ("0", 0), ("20", 20)] {
            folder.write("job.toml", &job(&format!("reveal-if-at-least = {threshold}")));
            assert!(command(&run).contains(&format!("reveal_if_at_least: {expected},")), "{threshold}");
        }
    }
    assert_eq!(tasks, ["cardinality", "sum", "join-and-compute"]);
}

/// A setting that the task does not take is refused in a file as it is on the command line.
#[test]
fn a_setting_of_another_task_is_refused_as_its_flag_is() {
    let job = "[sender]\ninput = \"a\"\nkey = \"a\"\nconnect = \"a:1\"\npeer = \"a.pub\"\n";
    for (setting, flag) in [
        ("max-groups = 7", "--max-groups 7"),
        ("max-item-bytes = 9", "--max-item-bytes 9"),
        ("scale = { a = 2 }", "--scale a=2"),
        ("epsilon = 0.5", "--epsilon 0.5"),
        ("protocol = \"md5\"", "--protocol md5"),
        ("output = \"b\"", "--output b"),
    ] {
        let folder = Folder::new(&format!("{job}{setting}\n"));
        let fault = |line: &str| match asked_for(&folder.line(line)) {
            Ok(Asked::Command(cli)) => sides::check(cli.command).expect_err(setting).fault,
            other => panic!("{line}: {other:?}"),
        };
        let typed = format!("vesica send --input a --key a --connect a:1 --peer a.pub {flag}");
        assert_eq!(fault("vesica run @/job.toml"), fault(&typed), "{setting}");
    }
}

#[test]
fn every_example_of_init_is_a_job_for_both_sides() {
    for task in task::TASKS {
        let folder = Folder::new(&init::example(*task));
        for role in ["receiver", "sender"] {
            match asked_for(&folder.line(&format!("vesica run @/job.toml --role {role}"))) {
                Ok(Asked::Command(cli)) => {
                    sides::check(cli.command).unwrap_or_else(|failure| panic!("{task}, {role}: {failure}"));
                }
                other => panic!("{task}, {role}: {other:?}"),
            }
        }
    }
}

const PEERS: &str = "\
[acme]
key = \"keys/acme.pub\"
address = \"acme.example:7400\"
tasks = [\"intersect\", \"query\"]

[acme.defaults]
wait = \"10m\"
security = \"semi-honest\"

[bank]
key = \"vesica-ed25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"
";

#[test]
fn a_name_stands_for_key_address_and_defaults() {
    let folder = Folder::new("wait = 7\n[receiver]\ninput = \"a\"\nkey = \"k\"\noutput = \"o\"\npeer = \"acme\"\n");
    folder.write("peers.toml", PEERS);
    let table = "--input a --key k --output o --peers @/peers.toml";
    let same = |named: &str, typed: &str| {
        assert_eq!(
            command(&folder.line(&format!("vesica {named}"))),
            command(&folder.line(&format!("vesica {typed}")))
        );
    };
    let key = "--peer @/keys/acme.pub --security semi-honest";
    same(
        &format!("receive {table} --peer acme"),
        &format!("receive {table} {key} --wait 600 --connect acme.example:7400"),
    );
    same(
        &format!("receive {table} --peer acme --listen a:1 --wait 5"),
        &format!("receive {table} {key} --wait 5 --listen a:1"),
    );
    same(&format!("query {table} --peer acme"), &format!("query {table} {key} --wait 600 --connect acme.example:7400"));
    let run = command(&folder.line("vesica run @/job.toml --peers @/peers.toml"));
    assert!(run.contains("wait: 7s") && run.contains("SemiHonest") && run.contains("acme.pub"), "{run}");
}

#[test]
fn a_partner_that_is_not_there_or_not_allowed_is_refused() {
    let folder = Folder::new(JOB);
    let table = "--input a --key k --output o --peers @/peers.toml --peer";
    let refused = |peers: &str, line: &str, told: &str, mend: &str| {
        folder.write("peers.toml", peers);
        let failure = failure(&folder.line(line));
        assert!(failure.fault.contains(told) && failure.mend.contains(mend), "{failure}");
    };
    refused(PEERS, &format!("vesica receive {table} acne"), "no partner \"acne\" in ", "did you mean acme?");
    refused(PEERS, &format!("vesica receive {table} nobody"), "no partner \"nobody\" in ", "acme, bank");
    let all = format!("vesica receive {table} acme");
    refused(&PEERS.replace("wait", "wat"), &all, "line 7: there is no setting `wat`", "did you mean `wait`?");
    refused(&PEERS.replace("\"10m\"", "\"x\""), &all, "line 7: `wait` is not usable", "");
    refused(
        &PEERS.replace("wait = ", "input = "),
        &all,
        "line 7: `input` is no setting of a partner",
        "here can be wait",
    );
    refused(&PEERS.replace("address", "adress"), &all, "line 3: a partner has no `adress`", "docs/jobs.md");
    let none = table.replace("peers.toml", "none.toml");
    refused(PEERS, &format!("vesica receive {none} acme"), "cannot read the file of partners", "VESICA_PEERS");
    // A file may have a name that a partner could have.
    folder.write("keyfile", "");
    command(&folder.line("vesica receive --input a --key k --output o --peers @/peers.toml --peer @/keyfile"));
}

/// What is shown has an origin for each flag, and read as a job it is the same run.
#[test]
fn settings_are_shown_with_their_origin_and_read_back() {
    let folder = Folder::new(JOB);
    for role in ["receiver", "sender"] {
        let extra = format!("--role {role} --wait 5 --payload a --payload \"b,\"\"c\" --null-words \"x,y\"");
        let shown =
            config::shown(&layers(&folder.line(&format!("vesica config @/job.toml {extra}")))).expect("settings");
        let flags = flags_of(if role == "sender" { Role::Sender } else { Role::Receiver });
        for flag in flags.iter().filter(|flag| !is_typed_alone(flag)) {
            let name = flag.get_long().expect("a long name");
            let starts = |line: &str| {
                line.starts_with(&format!("{name} = ")) && line.contains(" # ")
                    || line == format!("# {name} is not set")
            };
            assert!(shown.lines().any(starts), "{name} in {shown}");
        }
        let line_of = |name: &str| shown.lines().find(|line| line.starts_with(&format!("{name} = "))).expect(name);
        assert!(line_of("wait").ends_with("# flag"), "{shown}");
        assert!(line_of("task").ends_with("job.toml, line 1"), "{shown}");
        assert!(line_of("json").ends_with("# default") && line_of("json").starts_with("json = false"), "{shown}");
        let again = Folder::new(&shown);
        assert_eq!(
            command(&again.line(&format!("vesica run @/job.toml --role {role}"))),
            command(&folder.line(&format!("vesica run @/job.toml {extra}")))
        );
    }
    let typed = "vesica config --role sender --input a --key k --identity=-----BEGIN_PRIVATE_KEY-----";
    let shown = config::shown(&layers(typed)).expect("settings");
    assert!(shown.contains("BEGIN_PRIVATE_KEY"), "words that are no key");
    let secret =
        ["vesica", "config", "--role=sender", "--identity=-----BEGIN PRIVATE KEY----- MC4C"].map(OsString::from);
    let Ok(Asked::Settings(layers)) = asked(secret) else { panic!("settings") };
    let shown = config::shown(&layers).expect("settings");
    assert!(shown.contains("is not shown") && !shown.contains("MC4C"), "{shown}");
    assert!(failure("vesica config --input a").fault.contains("there is no job file"));
}

/// The page's examples: a block that names a role or a task is a job, one with partners a file of them.
#[test]
fn the_examples_of_the_page_are_read() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jobs.md");
    let text = fs::read_to_string(page).expect("docs/jobs.md");
    let blocks: Vec<&str> =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    let (jobs, peers): (Vec<&str>, Vec<&str>) = blocks.iter().partition(|block| {
        ["task = ", "[receiver]", "[sender]"].iter().any(|word| block.lines().any(|line| line.starts_with(word)))
    });
    assert!(jobs.len() >= 2 && !peers.is_empty(), "{} jobs, {} files of partners", jobs.len(), peers.len());
    for job in jobs {
        OpenJob::parse(job, Path::new("jobs.md")).unwrap_or_else(|failure| panic!("{failure}\n{job}"));
    }
    for peers in peers {
        Peers::parse(peers).unwrap_or_else(|fault| panic!("{fault}\n{peers}"));
    }
}
