//! Numbers and their nouns in all that a run says: `1 row`, `2 rows`.

use crate::harness::{Ended, Folder};

/// Words that end in `s` and stand behind a number of one.
const SINGULAR: [&str; 7] = ["is", "has", "was", "matches", "repeats", "s", "takes"];
/// Nouns that do not stand behind other numbers as they are.
const NOUNS: [&str; 14] = [
    "row",
    "key",
    "value",
    "item",
    "duplicate",
    "group",
    "column",
    "byte",
    "bucket",
    "thread",
    "fault",
    "query",
    "null",
    "file",
];
/// What may stand between a number and its noun.
const BETWEEN: [&str; 3] = ["distinct", "own", "common"];
/// Verbs of several things.
const PLURAL_VERBS: [&str; 6] = ["match", "are", "have", "repeat", "were", "take"];

/// Places where the noun or the verb behind a number is not that of the number.
fn faults(text: &str) -> Vec<String> {
    text.lines().flat_map(faults_of_line).collect()
}

fn faults_of_line(line: &str) -> Vec<String> {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['(', ')', '`', ',', ';', ':', '.'])).collect();
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let Ok(number) = word.parse::<u64>() else { continue };
        let mut behind = words[place + 1..].iter().copied().skip_while(|word| BETWEEN.contains(word));
        let (noun, verb) = (behind.next().unwrap_or_default(), behind.next().unwrap_or_default());
        let is_word = noun.chars().all(|c| c.is_ascii_lowercase());
        let is_wrong = match number {
            1 if is_word && noun.ends_with('s') => !SINGULAR.contains(&noun),
            1 => NOUNS.contains(&noun) && PLURAL_VERBS.contains(&verb),
            _ => NOUNS.contains(&noun),
        };
        if is_wrong {
            found.push(format!("{word} {noun} {verb}"));
        }
    }
    found
}

#[track_caller]
fn check(what: &str, ended: &[&Ended]) {
    for ended in ended {
        assert_eq!(ended.code, 0, "{what}: {}", ended.stderr);
        for text in [&ended.stdout, &ended.stderr] {
            assert_eq!(faults(text), [""; 0], "{what}: {text}");
        }
    }
}

#[test]
fn wrong_nouns_are_found() {
    assert_eq!(
        faults("wrote 1 rows, 1 distinct keys; 1 key match, 2 row, 1 row"),
        ["1 rows 1", "1 keys 1", "1 key match", "2 row 1"]
    );
    assert!(faults("1 row, 0 rows, 2 keys match, 1 key matches, 1 s left, took 1.50 s, row 3 has 1 null").is_empty());
}

/// Tables of one and two rows with nothing, one or two keys in common; rows without a key, and repeated ones.
#[test]
fn texts_of_runs_agree_with_their_numbers() {
    let semi = "--security semi-honest";
    for (ours, theirs) in [
        ("a,1\n", "a,1\n"),
        ("a,1\n", "b,2\nc,3\n"),
        ("a,1\nA,2\n", "a,1\nb,2\n"),
        ("a,1\na,1\n,3\n", "a,1\nb,2\n,4\n"),
        ("a,1\nb,2\n,3\n,4\na,1\nb,2\n", "a,1\nb,2\na,1\nb,2\n"),
    ] {
        let folder = Folder::new();
        folder.write("ours.csv", format!("id,n\n{ours}"));
        folder.write("theirs.csv", format!("id,n\n{theirs}"));
        let (receive, send) = ("--input ours.csv --key id --output out.csv --force", "--input theirs.csv --key id");
        for (receiver, sender) in [
            (String::from("--receipt r.json"), String::new()),
            ("--dry-run".into(), "--dry-run".into()),
            ("--buckets 2".into(), "--buckets 2".into()),
            (format!("--task union {semi}"), format!("--task union {semi}")),
            (format!("--task cardinality {semi}"), format!("--task cardinality {semi}")),
            (format!("--task sum {semi}"), format!("--task sum {semi} --payload n --clamp n=0..1")),
        ] {
            let (received, sent) = folder.join(&format!("{receive} {receiver}"), &format!("{send} {sender}"));
            check(&receiver, &[&received, &sent]);
        }
        check("receipt", &[&folder.run("receipt r.json")]);
        check("check", &[&folder.run("check ours.csv theirs.csv --key id")]);
        folder.write("clients.txt", folder.read("us.pub"));
        let server = folder.start(
            "serve --input theirs.csv --key id --identity them.key --clients clients.txt --no-quota --listen 127.0.0.1:0",
        );
        let line = server.says("listening on ");
        assert_eq!(faults(&line), [""; 0], "{line}");
        let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
        let query = format!("query {receive} --identity us.key --peer them.pub --connect {address}");
        check("query", &[&folder.run(&query)]);
        server.signal("TERM");
        check("serve", &[&server.end()]);
    }
}
