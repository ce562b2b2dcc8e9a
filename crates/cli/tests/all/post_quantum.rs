//! `--post-quantum` between two processes: what runs, what is refused and why, and what reports and receipts say.

use serde_json::Value;

use crate::harness::Folder;
use crate::service;

const RECEIVE: &str = "--input ours.csv --key email --output matches.csv --force";
const SEND: &str = "--input theirs.csv --key mail";

fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    folder.write("theirs.csv", "mail\nb@x.org\nc@x.org\n");
    folder
}

/// Both reports of a join with these flags on both sides.
#[track_caller]
fn reports(folder: &Folder, flags: &str) -> [Value; 2] {
    let (receiver, sender) =
        folder.join(&format!("{RECEIVE} --json {flags} --receipt ours.json"), &format!("{SEND} --json {flags}"));
    assert_eq!(folder.read("matches.csv"), "email\nb@x.org\n");
    [receiver, sender].map(|ended| {
        ended.expect(0, &[]);
        serde_json::from_str(&ended.stdout).expect("one JSON object")
    })
}

/// Bytes of 128 base OTs from ML-KEM, without what the protocol adds; those of Diffie-Hellman are 8,224.
const BASE_OTS: u64 = 128 * 4512;

#[test]
fn a_join_runs_on_base_ots_from_ml_kem_and_says_so() {
    let folder = tables();
    let plain = reports(&folder, "");
    for flags in ["--post-quantum", "--post-quantum --security semi-honest", "--post-quantum --protocol vole-lean"] {
        for (report, plain) in reports(&folder, flags).iter().zip(&plain) {
            let protocol = report["protocol"].as_str().expect("a protocol");
            assert!(protocol.ends_with(":base-ot=ml-kem"), "{protocol}");
            assert_eq!((&report["post_quantum"], &plain["post_quantum"]), (&Value::from(true), &Value::from(false)));
            // TLS takes the group in any run.
            for said in [report, plain] {
                assert_eq!(said["key_exchange"], "X25519MLKEM768");
            }
            let of_base_ots = |said: &Value| {
                let phases = said["phases"].as_array().expect("phases");
                let phase = phases.iter().find(|phase| phase["name"] == "base-ot").expect("base OTs");
                phase["sent"].as_u64().expect("bytes") + phase["received"].as_u64().expect("bytes")
            };
            let frames = 4000;
            assert!((BASE_OTS..BASE_OTS + frames).contains(&of_base_ots(report)), "{}", of_base_ots(report));
            assert!(of_base_ots(plain) < 10_000);
        }
        let page = folder.run("receipt ours.json");
        page.expect(0, &[]);
        assert!(page.stdout.contains("both sides asked for what no quantum computer"), "{}", page.stdout);
    }
}

#[test]
fn one_side_alone_cannot_ask_for_it() {
    let folder = tables();
    for (ours, theirs) in [("--post-quantum", ""), ("", "--post-quantum")] {
        let (receiver, sender) = folder.join(&format!("{RECEIVE} {ours}"), &format!("{SEND} {theirs}"));
        for ended in [receiver, sender] {
            ended.expect(7, &["--post-quantum is ", "true", "false"]);
        }
    }
    assert!(!folder.files().contains(&"matches.csv".to_owned()));
}

#[test]
fn what_falls_is_refused_with_what_can_run() {
    let folder = tables();
    let (receiver, sender) = folder.join(
        &format!("{RECEIVE} --post-quantum --security semi-honest --protocol ecdh-hfh99"),
        &format!("{SEND} --post-quantum --security semi-honest"),
    );
    receiver.expect(11, &["ecdh-hfh99 falls to a quantum computer", "DDH on Ristretto255", "vole-fast", "prty20"]);
    assert_ne!(sender.code, 0);
    let plaintext =
        folder.run(&format!("receive {RECEIVE} --post-quantum --insecure-plaintext --listen 127.0.0.1:0 --wait 1"));
    plaintext.expect(2, &["--post-quantum with --insecure-plaintext"]);
    let plan = folder.run("plan --sender-items 1e4 --receiver-items 1e4 --post-quantum --all --security semi-honest");
    plan.expect(0, &[]);
    assert!(plan.stdout.contains("Fall to a quantum computer: ecdh-hfh99"), "{}", plan.stdout);
    assert!(plan.stdout.contains("vole-fast:base-ot=ml-kem"), "{}", plan.stdout);
}

#[test]
fn services_that_fall_are_refused_on_either_side() {
    let folder = service::tables();
    let serve = format!("{} --no-quota --listen 127.0.0.1:0 --post-quantum", service::SERVE);
    for protocol in ["", "--protocol auto", "--protocol oprf-pir --security semi-honest"] {
        folder
            .run(&format!("{serve} {protocol}"))
            .expect(11, &["falls to a quantum computer", "Diffie-Hellman", "cm25-select"]);
    }
    let (_server, address) = service::serve(&folder, "");
    let refused = service::query(&folder, &address, "--post-quantum");
    refused.expect(11, &["oprf-rfc9497 falls to a quantum computer", "one-more gap Diffie-Hellman", "cm25-select"]);
    assert_eq!(service::report(&folder, &address, "")["key_exchange"], "X25519MLKEM768");
}

/// A job file says it for both sides.
#[test]
fn a_job_can_ask_for_it() {
    let folder = tables();
    folder.write(
        "job.toml",
        "post-quantum = true\nwait = 20\n[receiver]\ninput = \"ours.csv\"\nkey = \"email\"\noutput = \"matches.csv\"\n\
         listen = \"127.0.0.1:0\"\nidentity = \"us.key\"\npeer = \"them.pub\"\n[sender]\ninput = \"theirs.csv\"\nkey = \
         \"mail\"\nconnect = \"127.0.0.1:1\"\nidentity = \"them.key\"\npeer = \"us.pub\"\n",
    );
    let receiver = folder.start("run job.toml --role receiver");
    let address = receiver.address();
    folder.run(&format!("run job.toml --role sender --connect {address}")).expect(0, &["post-quantum"]);
    receiver.end().expect(0, &["base-ot=ml-kem"]);
}
