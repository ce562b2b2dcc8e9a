//! Jobs and partners between two processes. What each mistake in a file is called is tested beside
//! `settings` of the command.

use std::process::Command;

use crate::harness::{Ended, Folder};

const JOB: &str = "\
task = \"cardinality\"
security = \"semi-honest\"
reveal-if-at-least = \"none\"
wait = 20

[receiver]
input = \"ours.csv\"
key = \"email\"
normalise = { email = \"lower\" }
group-by = \"region\"
output = \"by-job.csv\"
listen = \"127.0.0.1:0\"
identity = \"../us.key\"
peer = \"../them.pub\"

[sender]
input = \"theirs.csv\"
key = [\"mail\"]
normalise = { mail = \"lower\" }
max-groups = 5
connect = \"127.0.0.1:1\"
identity = \"../them.key\"
peer = \"../us.pub\"
";

/// A folder `work` with the job and its tables beside each other.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("work")).expect("a folder");
    folder.write("work/job.toml", JOB);
    folder.write("work/ours.csv", "email,region\nA@x.org,north\nb@x.org,north\nc@x.org,south\nd@x.org,south\n");
    folder.write("work/theirs.csv", "mail\na@x.org\nB@x.org\nc@x.org\n");
    folder
}

pub fn vesica(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.envs(variables.iter().copied());
    command
}

/// Runs both sides of a job: the receiver's outcome and the sender's.
fn run(folder: &Folder, receive: &str, send: &str) -> (Ended, Ended) {
    let mut receiver = folder.start(&format!("run work/job.toml --role receiver {receive}"));
    receiver.stdin = None;
    let address = receiver.address();
    let sender = folder.run(&format!("run work/job.toml --role sender --connect {address} {send}"));
    (receiver.end(), sender)
}

#[test]
fn a_job_gives_the_result_that_its_flags_give() {
    let folder = folder();
    let (receiver, sender) = run(&folder, "", "");
    receiver.expect(0, &["by-job.csv", "(semi-honest)"]);
    sender.expect(0, &["(semi-honest)"]);
    let shared = "--task cardinality --security semi-honest";
    let (receiver, sender) = folder.join(
        &format!(
            "--input work/ours.csv --key email --normalise email=lower --group-by region --output by-flags.csv {shared}"
        ),
        &format!("--input work/theirs.csv --key mail --normalise mail=lower --max-groups 5 {shared}"),
    );
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    let result = folder.read("work/by-job.csv");
    assert_eq!(result, folder.read("by-flags.csv"));
    assert!(result.contains("north,2") && result.contains("south,1"), "{result}");
}

/// The other file is named by a flag, and so starts at the folder of the process.
#[test]
fn flags_and_the_environment_override_a_job() {
    let folder = folder();
    folder.write("more.csv", "email,region\na@x.org,west\nb@x.org,west\nc@x.org,west\n");
    let (receiver, sender) = run(&folder, "--input more.csv --reveal-if-at-least 3 --json", "--reveal-if-at-least 3");
    receiver.expect(0, &[]);
    sender.expect(0, &[]);
    assert!(receiver.stdout.contains("\"ok\":true"), "{}", receiver.stdout);
    assert!(folder.read("work/by-job.csv").contains("west,3"));
    // The two sides compare what they have in the end.
    let (receiver, sender) = run(&folder, "--force --reveal-if-at-least 3", "");
    receiver.expect(7, &["--reveal-if-at-least"]);
    sender.expect(7, &["--reveal-if-at-least"]);

    folder.write("work/job.toml", JOB.replace("[receiver]\n", "[receiver]\nthreads = 3\nmemory = \"1GiB\"\n"));
    let variables = [("VESICA_THREADS", "2"), ("VESICA_IDENTITY", "other.key"), ("VESICA_MEMORY", "5GiB")];
    let config = "config work/job.toml --role receiver --memory 6GiB";
    let mut shown = folder.start_under(vesica(&variables), config);
    shown.stdin = None;
    let shown = shown.end();
    shown.expect(0, &[]);
    for (setting, origin) in [
        ("threads = \"2\"", "# environment variable VESICA_THREADS"),
        ("identity = \"other.key\"", "# environment variable VESICA_IDENTITY"),
        ("memory = \"6GiB\"", "# flag"),
        ("input = \"work/ours.csv\"", "# work/job.toml, line 9"),
        ("task = \"cardinality\"", "# work/job.toml, line 1"),
        ("protocol = \"auto\"", "# default"),
    ] {
        let is_it = |line: &str| line.starts_with(setting) && line.ends_with(origin);
        assert!(shown.stdout.lines().any(is_it), "{setting} {origin}: {}", shown.stdout);
    }
    assert!(shown.stdout.contains("# deadline is not set"), "{}", shown.stdout);
    // Nothing was made or read for it.
    assert!(!folder.path("configuration").exists());
    let mut wrong = folder.start_under(vesica(&[("VESICA_THREADS", "many")]), config);
    wrong.stdin = None;
    let wrong = wrong.end();
    assert!(wrong.code == 2 && wrong.stderr.contains("many") && wrong.stderr.contains("--threads"), "{}", wrong.stderr);
}

#[test]
fn a_mistake_in_a_job_ends_it_at_once() {
    let folder = folder();
    folder.write("work/job.toml", JOB.replace("group-by", "group-buy"));
    folder
        .run("run work/job.toml --role sender")
        .expect(2, &["work/job.toml, line 10: there is no setting `group-buy`", "did you mean `group-by`?"]);
    let ended = folder.run("run work/job.toml --role sender --json");
    assert!(ended.code == 2 && ended.stdout.contains("\"ok\":false"), "{}", ended.stdout);
    folder.write("work/job.toml", JOB.replace("reveal-if-at-least = \"none\"\n", ""));
    for command in ["run", "config"] {
        folder
            .run(&format!("{command} work/job.toml --role receiver"))
            .expect(2, &["does not say how many common keys", "reveal-if-at-least = 20"]);
    }
    folder.run("run none.toml").expect(3, &["cannot read the job none.toml", "vesica init"]);
    // The settings are shown although they cannot be run.
    folder.write("work/job.toml", JOB.replace("group-by", "payload"));
    let shown = folder.run("config work/job.toml --role receiver");
    shown.expect(2, &["a cardinality"]);
    assert!(shown.stdout.contains("payload = [\"region\"]"), "{}", shown.stdout);
}

#[test]
fn init_writes_an_example_and_replaces_no_file() {
    let folder = Folder::new();
    let printed = folder.run("init --task sum");
    printed.expect(0, &[]);
    folder.run("init --task sum --output new.toml").expect(0, &[]);
    assert_eq!(folder.read("new.toml"), printed.stdout);
    assert!(printed.stdout.contains("task = \"sum\"") && printed.stdout.contains("reveal-if-at-least = 20"));
    folder.run("init --output new.toml").expect(4, &["new.toml", "never replaced"]);
    assert_eq!(folder.read("new.toml"), printed.stdout);
    folder.run("init --task guess").expect(11, &["guess"]);
    folder.run("config new.toml --role sender").expect(0, &[]);
}

/// The receiver knows its partner by name and listens; the sender's file has the address.
#[test]
fn partners_are_known_by_name() {
    let folder = folder();
    folder.write("us-peers.toml", "[them]\nkey = \"them.pub\"\ntasks = [\"intersect\"]\n");
    let table = "--input work/ours.csv --key email --output matches.csv";
    let listen = "--listen 127.0.0.1:0 --identity us.key --peer them --wait 20";
    let mut receiver = folder.start(&format!("receive {table} {listen} --peers us-peers.toml"));
    receiver.stdin = None;
    let address = receiver.address();
    let public = folder.read("us.pub");
    // The file at the user's place.
    std::fs::create_dir_all(folder.path("configuration/vesica")).expect("a folder");
    let peers = format!(
        "[us]\nkey = \"{}\"\naddress = \"{address}\"\n[us.defaults]\nidentity = \"../../them.key\"\n",
        public.trim()
    );
    folder.write("configuration/vesica/peers.toml", peers);
    folder.run("send --input work/theirs.csv --key mail --peer us --wait 20").expect(0, &["(malicious)"]);
    receiver.end().expect(0, &["1 key matches"]);

    let shown = folder.run("config --role sender --input work/theirs.csv --key mail --peer us");
    shown.expect(0, &[]);
    let line = format!("connect = \"{address}\"");
    assert!(shown.stdout.lines().any(|shown| shown.starts_with(&line) && shown.ends_with("peers.toml, line 1")));
    assert!(shown.stdout.contains("# us has the key "), "{}", shown.stdout);
    assert!(folder.run("identity show --peer us").stdout.starts_with(public.split(' ').next().unwrap_or("?")));
    folder.run("identity show --peer uss").expect(6, &["there is no partner \"uss\"", "did you mean us?"]);
    folder.run(&format!("receive {table} {} --peers us-peers.toml --task union", listen.replace("20", "1"))).expect(
        11,
        &["us-peers.toml, line 3: your policy for them has `tasks = [\"intersect\"]`, and the task is union"],
    );
    let mut told = folder.start_under(vesica(&[("VESICA_PEERS", "us-peers.toml")]), "identity show --peer us");
    told.stdin = None;
    told.end().expect(6, &["no partner \"us\" in us-peers.toml", "the partners there are them"]);
}

/// One that a scheduler sets for every command is in nobody's way; one that was typed is.
#[test]
fn an_identity_of_the_environment_conflicts_with_nothing() {
    let folder = folder();
    let identity = [("VESICA_IDENTITY", "us.key")];
    let mut shown = folder.start_under(vesica(&identity), "identity show");
    shown.stdin = None;
    assert_eq!(
        shown.end().stdout.lines().next(),
        Some(folder.read("us.pub").rsplit_once(' ').map_or("", |pair| pair.0))
    );
    let mut shown = folder.start_under(vesica(&identity), "identity show --peer them.pub");
    shown.stdin = None;
    shown.end().expect(0, &[]);
    let plain = "--input work/ours.csv --key email --output matches.csv --listen 127.0.0.1:0 --insecure-plaintext";
    let receiver = folder.start_under(vesica(&identity), &format!("receive {plain}"));
    receiver.says("listening on ");
    for typed in
        [format!("receive {plain} --identity us.key"), "identity show --identity us.key --peer them.pub".into()]
    {
        let ended = folder.run(&typed);
        assert!(ended.code == 2 && ended.stderr.contains("cannot be used with"), "{}", ended.stderr);
    }
}
