//! `plan`, and what `auto` makes of links.

use serde_json::Value;
use vesica::party::Entry;

use crate::harness::{CALIBRATION, Ended, Folder};

fn object(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn a_plan_names_time_bytes_memory_and_money_of_each_protocol() {
    let folder = Folder::calibrated();
    let plan = object(&folder.run("plan --sender-items 2e5 --receiver-items 1e5 --link 100mbit,40ms --json"));
    let eligible = plan["eligible"].as_array().expect("protocols");
    for one in eligible {
        let number = |field: &str| one[field].as_f64().unwrap_or_else(|| panic!("{field} in {one}"));
        assert!(
            number("seconds") > number("transfer_seconds")
                && number("transfer_seconds") > 0.0
                && number("cost_usd") > 0.0,
            "{one}"
        );
        let total = number("sender_bytes") + number("receiver_bytes");
        let bytes = [&one["total_bytes"][0], &one["total_bytes"][1]].map(|bytes| bytes.as_f64().expect("bytes"));
        assert!(bytes[0] <= total + 1.0 && total <= bytes[1], "{one}");
        assert!(number("sender_memory_bytes") > 1e6 && number("receiver_memory_bytes") > 1e6, "{one}");
    }
    assert!(eligible.iter().any(|one| one["protocol"] == plan["choice"]));
    assert!(plan["refused"].as_array().expect("protocols").iter().any(|one| one["protocol"] == "ecdh-hfh99"));

    // The second time, and for people.
    let second = folder.run("plan --sender-items 2e5 --receiver-items 1e5 --security semi-honest");
    second.expect(0, &[]);
    assert!(!second.stderr.contains("measured"), "the calibration is kept: {}", second.stderr);
    for text in ["seconds", "vole-lean", "auto: ", "USD", "--all"] {
        assert!(second.stdout.contains(text), "{text:?} is missing in: {}", second.stdout);
    }
}

/// By default a plan is one screen. `--all` lists every protocol that is not broken, `--allow-broken` those too.
#[test]
fn a_plan_is_one_screen_unless_all_is_asked_for() {
    let folder = Folder::calibrated();
    for task in vesica::task::names() {
        let plan = format!("plan --task {task} --security semi-honest --sender-items 2e5 --receiver-items 1e5");
        let entries = vesica::task::find(task).expect("a task").entries();
        let (broken, sound): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.broken().is_some());
        let names = |text: &str, id: &str| text.split([' ', ',', '.', '\n']).any(|word| word == id);
        let screen = folder.run(&plan);
        screen.expect(0, &[]);
        let lines: Vec<&str> = screen.stdout.lines().collect();
        assert!(lines.len() <= 24, "{} lines:\n{}", lines.len(), screen.stdout);
        assert!(lines.iter().all(|line| line.len() <= 140), "{}", screen.stdout);
        let choice = object(&folder.run(&format!("{plan} --json")))["choice"].as_str().expect("an id").to_owned();
        assert!(names(&screen.stdout, &choice), "{choice} is missing in: {}", screen.stdout);
        let all = folder.run(&format!("{plan} --all"));
        assert!(sound.iter().all(|entry| names(&all.stdout, entry.id)), "{}", all.stdout);
        assert!(!broken.iter().any(|entry| names(&all.stdout, entry.id)), "{}", all.stdout);
        let permitted = folder.run(&format!("{plan} --all --allow-broken"));
        assert!(broken.iter().all(|entry| names(&permitted.stdout, entry.id)), "{}", permitted.stdout);
    }
}

/// Another release, another machine, a broken file: none of them counts.
#[test]
fn a_calibration_that_does_not_hold_is_made_again() {
    let folder = Folder::calibrated();
    let file = CALIBRATION;
    let plan = "plan --sender-items 1000 --receiver-items 1000";
    let kept = folder.read(file);
    assert!(!folder.run(plan).stderr.contains("measured"));
    let version = format!("\"vesica\": \"{}\"", env!("CARGO_PKG_VERSION"));
    for (from, to) in
        [(version.as_str(), "\"vesica\": \"0.0.1\""), ("\"machine\": \"", "\"machine\": \"not "), ("[", "{")]
    {
        assert!(kept.contains(from), "{from} in {kept}");
        folder.write(file, kept.replacen(from, to, 1));
        let before = folder.read(file);
        let measured = folder.run(plan);
        measured.expect(0, &["measured this machine"]);
        // What other tests take of this machine spoils a measurement, which is then not kept.
        if measured.stderr.contains("other programs took") {
            measured.expect(0, &["(not kept)", "the measurement is not kept"]);
            assert_eq!(folder.read(file), before);
        } else {
            assert!(!folder.run(plan).stderr.contains("measured"), "kept after {to}");
        }
    }
    folder.run(&format!("{plan} --calibrate")).expect(0, &["measured this machine"]);
    assert!(folder.run(&format!("{plan} --threads 2")).stderr.contains("with 2 threads a party"));
}

#[test]
fn a_plan_for_a_task_lists_its_own_protocols() {
    let folder = Folder::calibrated();
    let sizes = "--sender-items 1e5 --receiver-items 1e5";
    let plan = object(&folder.run(&format!("plan --task sum --security semi-honest --columns 2 {sizes} --json")));
    let id_of = |one: &Value| one["protocol"].as_str().expect("an id").to_owned();
    let list = |field: &str| plan[field].as_array().expect("protocols").iter().map(id_of).collect::<Vec<_>>();
    let eligible = list("eligible");
    assert!(["vesica-sum", "czz24-sum"].iter().all(|id| eligible.iter().any(|one| one == id)), "{eligible:?}");
    assert_eq!((&plan["task"], &plan["columns"], &plan["choice"]), (&"sum".into(), &2.into(), &"vesica-sum".into()));
    folder.run(&format!("plan --task sum {sizes}")).expect(11, &["--security semi-honest"]);
    folder.run(&format!("plan --task guess {sizes}")).expect(11, &["guess", "cardinality"]);
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let folder = Folder::calibrated();
    let sizes = "plan --sender-items 1000 --receiver-items 1000";
    assert_eq!(folder.run("plan").code, 2);
    assert_eq!(folder.run(&format!("{sizes} --threads 0")).code, 2);
    assert_eq!(folder.run(&format!("{sizes} --link fast")).code, 2);
    folder.run("plan --sender-items 0 --receiver-items 5").expect(2, &["at least 1"]);
    folder.run(&format!("{sizes} --traffic pigeon")).expect(2, &["pigeon", "--traffic same-site"]);
    folder.run(&format!("{sizes} --prices none.toml")).expect(3, &["none.toml"]);
    folder.run("plan --sender-items 1e10 --receiver-items 5").expect(11, &["items"]);
}

#[test]
fn a_plan_in_buckets_takes_memory_for_a_bucket_and_more_bytes() {
    let folder = Folder::calibrated();
    let run = |flags: &str| {
        folder.run(&format!("plan --sender-items 4e6 --receiver-items 4e6 --security semi-honest {flags}"))
    };
    for task in ["intersect", "sum", "union"] {
        let plan = |flags: &str| {
            let plan = object(&run(&format!("--task {task} --json {flags}")));
            assert_eq!((&plan["sender_items"], &plan["receiver_items"]), (&4_000_000.into(), &4_000_000.into()));
            let eligible = plan["eligible"].as_array().expect("protocols");
            let chosen = eligible.iter().find(|one| one["protocol"] == plan["choice"]).expect("the choice").clone();
            let number = |field: &str| chosen[field].as_f64().expect("a number");
            let bytes = number("sender_bytes") + number("receiver_bytes");
            (plan["buckets"].clone(), number("receiver_memory_bound_bytes"), bytes)
        };
        let (whole, divided) = (plan(""), plan("--buckets 64"));
        assert_eq!((&whole.0, &divided.0), (&1.into(), &64.into()));
        assert!(divided.1 < whole.1 / 1.5 && divided.2 > whole.2, "{task} {whole:?} {divided:?}");
    }
    let shown = run("--buckets 64");
    shown.expect(0, &[]);
    assert!(
        shown.stdout.contains("4000000 x 4000000 keys (sender x receiver), in 64 buckets of 64"),
        "{}",
        shown.stdout
    );
    let union = run("--task union --buckets 64");
    union.expect(0, &[]);
    assert!(shown.stdout.contains("With --work") && !union.stdout.contains("--work"), "{}", union.stdout);
    run("--task shares --buckets 2").expect(11, &["omit --buckets"]);
    assert_eq!(run("--buckets 0").code, 2);
}

#[test]
fn the_users_prices_count() {
    let folder = Folder::calibrated();
    let list = |usd: &str| {
        format!(
            "title = \"mine\"\n[core]\nusd_per_hour = {usd}\nsource = \"me\"\n[[traffic]]\nkind = \
             \"internet\"\nsender_usd_per_gb = 0\nreceiver_usd_per_gb = 0.0\nsource = \"me\"\n"
        )
    };
    let cost = |usd: &str| {
        folder.write("mine.toml", list(usd));
        let plan = object(&folder.run("plan --sender-items 1e5 --receiver-items 1e5 --prices mine.toml --json"));
        assert_eq!(plan["prices"]["title"], "mine");
        (
            plan["eligible"][0]["cost_usd"].as_f64().expect("a price"),
            plan["eligible"][0]["seconds"].as_f64().expect("a time"),
        )
    };
    let ((usd, seconds), free) = (cost("3600.0"), cost("0.0").0);
    assert!((usd / (2.0 * seconds) - 1.0).abs() < 1e-6, "{usd} for two cores over {seconds} s at a dollar a second");
    assert!(free.abs() < 1e-12);
    folder.write("mine.toml", list("-1.0"));
    folder
        .run("plan --sender-items 5 --receiver-items 5 --prices mine.toml")
        .expect(3, &["mine.toml", "no amount of money"]);
}

/// Both sides come to one protocol by the slower of the links that they name, and both reports and
/// the receipt say why.
#[test]
fn one_side_names_a_slow_link_and_both_sides_go_by_it() {
    let folder = Folder::calibrated();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    folder.write("theirs.csv", "email\nb@x.org\nc@x.org\n");
    let link = "--link 2mbit,70ms";
    for (ours, theirs, says) in [
        ("", "", "over 1 Gbit/s with a round trip of 10 ms"),
        ("--link lan", link, "over 2 Mbit/s with a round trip of 70 ms"),
    ] {
        let (receiver, sender) = folder.join(
            &format!(
                "--input ours.csv --key email --output matches.csv --pad-to 20000 --force --receipt run.json --json \
                 {ours}"
            ),
            &format!("--input theirs.csv --key email --pad-to 20000 --json {theirs}"),
        );
        let (received, sent) = (object(&receiver), object(&sender));
        let receipt: Value = serde_json::from_str(&folder.read("run.json")).expect("a receipt");
        for choice in [&received["choice"], &sent["choice"], &receipt["statement"]["choice"]] {
            let choice = choice.as_str().expect("a sentence");
            assert!(choice.starts_with("the fastest of ") && choice.ends_with(says), "{choice}");
        }
        assert_eq!(received["protocol"], sent["protocol"]);
        assert!(sent["warnings"].as_array().expect("a list").is_empty(), "{sent}");
        let planned = folder.run(&format!(
            "plan --sender-items 20000 --receiver-items 20000 --json {}",
            if theirs.is_empty() { "" } else { link }
        ));
        assert_eq!(object(&planned)["choice"], received["protocol"], "auto does what plan says");
    }
    let (receiver, sender) = folder.join(
        "--input ours.csv --key email --output matches.csv --force --protocol prty20",
        "--input theirs.csv --key email",
    );
    receiver.expect(0, &["prty20 (malicious)", "chosen as the only one that both sides allow"]);
    sender.expect(0, &["chosen as the only one that both sides allow"]);
}
