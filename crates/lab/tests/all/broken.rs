//! Nobody runs a broken protocol by accident.

use serde_json::Value;

use crate::harness::{Folder, RECEIVER, SENDER};

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "id,email\n1,a@x.org\n2,b@x.org\n3,c@x.org\n");
    folder.write("theirs.csv", "mail\nc@x.org\nd@x.org\na@x.org\n");
    folder
}

/// Each broken protocol with its task and what is wrong with it.
fn broken(folder: &Folder) -> Vec<[String; 3]> {
    let listed = folder.run("protocols --json");
    let all: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let all = all.as_array().expect("a list").iter();
    let broken = all.filter_map(|entry| {
        let texts = [&entry["id"], &entry["task"], &entry["status"]["broken"]].map(|text| text.as_str());
        Some([texts[0]?.to_owned(), texts[1]?.to_owned(), texts[2]?.to_owned()])
    });
    broken.collect()
}

#[test]
fn a_broken_protocol_is_refused_with_its_reason() {
    let folder = tables();
    let all = broken(&folder);
    assert!(all.iter().any(|[id, ..]| id == "ltsxq26"), "{all:?}");
    // The partner, who would be told, does not come.
    let [alone_receiver, alone_sender] = [RECEIVER, SENDER].map(|meeting| meeting.replace("--wait 20", "--wait 0.1"));
    for [id, task, how] in all {
        for security in ["malicious", "semi-honest"] {
            let (first, _) = how.split_at(60);
            let reason = format!("protocol {id} is broken: {first}");
            let both = format!("--protocol {id} --security {security}");
            // Of these tasks, shares alone have an output of the sender.
            let output = if task == "shares" { "--output out.csv" } else { "" };
            let own_values = if task == "join-and-compute" { "--payload email" } else { "" };
            let values = if ["sum", "join-and-compute"].contains(&task.as_str()) { "--payload mail" } else { "" };
            let task = format!("--task {task}");
            let receiver = folder.run(&format!(
                "receive {alone_receiver} --input ours.csv --key email {own_values} --output out.csv {both} {task}"
            ));
            let send = format!(
                "send {alone_sender} --connect 127.0.0.1:9 --input theirs.csv --key mail {values} {both} {task} {output}"
            );
            let sender = folder.run(&send);
            receiver.expect(11, &[&reason, "--allow-broken"]);
            sender.expect(11, &[&reason, "--allow-broken"]);
        }
    }
    assert!(!folder.files().iter().any(|name| name.contains("out")), "nothing was begun");
}

#[test]
fn one_side_cannot_talk_the_other_into_it() {
    let folder = tables();
    for both in ["", "--allow-broken"] {
        let (receiver, sender) = folder.join(
            &format!("--input ours.csv --key email --output out.csv {both}"),
            "--input theirs.csv --key mail --protocol ltsxq26 --allow-broken",
        );
        receiver.expect(7, &["--protocol is", "ltsxq26"]);
        assert_ne!(sender.code, 0, "{}", sender.stderr);
    }
}

#[test]
fn with_permission_it_runs_and_both_sides_read_what_is_wrong() {
    let folder = tables();
    for (id, security) in [("ltsxq26", "malicious"), ("ltsxq26-aes-band", "semi-honest")] {
        let both = format!("--protocol {id} --allow-broken --security {security}");
        let (receiver, sender) = folder.join(
            &format!("--input ours.csv --key email --output out.csv --force --receipt run.json {both}"),
            &format!("--input theirs.csv --key mail --json {both}"),
        );
        let warning = format!("warning: protocol {id} is broken: the receiver gets the sender's secret");
        receiver.expect(0, &[&warning]);
        sender.expect(0, &[&warning]);
        assert_eq!(folder.read("out.csv"), "id,email\n1,a@x.org\n3,c@x.org\n");
        // What is left of the run says it as well, beside the security that it names.
        let named = format!("{id}, BROKEN ({security})");
        assert!(
            receiver.stdout.contains(&named) || receiver.stderr.contains(&named),
            "{}{}",
            receiver.stdout,
            receiver.stderr
        );
        let report: Value = serde_json::from_str(&sender.stdout).expect("JSON");
        let receipt: Value = serde_json::from_str(&folder.read("run.json")).expect("a receipt");
        for broken in [&report["broken"], &receipt["statement"]["broken"]] {
            assert!(
                broken.as_str().is_some_and(|how| how.starts_with("the receiver gets the sender's secret")),
                "{broken}"
            );
        }
        let shown = folder.run("receipt run.json");
        shown.expect(0, &[]);
        assert!(
            shown.stdout.contains("NOT GIVEN") && shown.stdout.contains("the receiver gets the sender's secret"),
            "{}",
            shown.stdout
        );
    }
}

#[test]
fn a_benchmark_wants_permission_too() {
    let folder = tables();
    let bench =
        "bench --protocol ltsxq26-aes --security semi-honest --sender-items 50 --receiver-items 50 --repeat 1 --json";
    folder.run(bench).expect(11, &["protocol ltsxq26-aes is broken", "--allow-broken"]);
    folder.run(&format!("{bench} --allow-broken")).expect(0, &["warning: protocol ltsxq26-aes is broken"]);
}

#[test]
fn a_plan_refuses_it() {
    let folder = Folder::calibrated();
    for security in ["malicious", "semi-honest"] {
        let planned =
            folder.run(&format!("plan --sender-items 1000 --receiver-items 1000 --security {security} --json"));
        let plan: Value = serde_json::from_str(&planned.stdout).expect("JSON");
        let refused = plan["refused"].as_array().expect("a list");
        let why = refused
            .iter()
            .find(|one| one["protocol"] == "ltsxq26")
            .and_then(|one| one["why"].as_str())
            .expect("it is refused");
        assert!(why.contains("is broken"), "{why}");
        let plan = format!("plan --sender-items 1000 --receiver-items 1000 --security {security} --all");
        assert!(!folder.run(&plan).stdout.contains("ltsxq26,"), "named without --allow-broken");
        let text = folder.run(&format!("{plan} --allow-broken")).stdout;
        let broken =
            text.lines().find(|line| line.starts_with("Broken, for research")).expect("a line of broken protocols");
        assert!(broken.contains(" ltsxq26,"), "{broken}");
        let no_mode = text.lines().any(|line| line.starts_with("Without a ") && line.contains(" rr16"));
        assert_eq!(no_mode, security == "semi-honest", "{text}");
    }
}
