use std::fs;
use std::path::Path;

use super::file::{OpenLog, head_path};
use super::*;

fn entry(identity: &Identity, run: &str, event: Event) -> impl FnOnce(u64, String) -> Entry {
    let (partner, run) = (identity.public().to_string(), run.to_owned());
    let agreed = Agreed {
        session: run.repeat(16),
        protocol: "vole-fast".into(),
        own_items: 10,
        partner_items: 10,
        buckets: 1,
        revealed: vec!["to the receiver: which of its keys match".into()],
        noise_epsilon: None,
    };
    let statement = (event == Event::Completed).then(|| "ab".repeat(32));
    move |number, previous| Entry {
        number,
        previous,
        time: 1_700_000_000 + number,
        run,
        event,
        role: Role::Receiver,
        partner,
        task: "intersect".into(),
        security: Security::Malicious,
        policy: None,
        agreed: Some(agreed),
        statement,
        epsilon_left: None,
        failure: None,
        vesica: "0".into(),
    }
}

fn append(path: &Path, identity: &Identity, run: &str, event: Event) {
    OpenLog::open(path, identity.public())
        .expect("a log")
        .append(identity, entry(identity, run, event))
        .expect("written");
}

/// A log of three runs, of which the last goes on.
fn log(path: &Path, identity: &Identity) {
    for (run, event) in [
        ("1111", Event::Begun),
        ("1111", Event::Completed),
        ("2222", Event::Begun),
        ("2222", Event::Failed),
        ("3333", Event::Begun),
    ] {
        append(path, identity, run, event);
    }
}

#[test]
fn a_log_verifies_and_knows_what_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    log(&path, &identity);
    let verified = verify(&path, None).expect("as it was left");
    assert_eq!((verified.lines.len(), verified.head.lines, verified.open, verified.is_torn), (5, 5, 1, false));
    assert_eq!(verified.keys, [identity.public().to_string()]);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}

/// Each byte of the log, each line taken out, doubled or moved, and each end cut off.
#[test]
fn whatever_is_changed_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    log(&path, &identity);
    let (whole, head) = (fs::read(&path).expect("there"), fs::read(head_path(&path)).expect("there"));
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).expect("written");
        let failure = verify(&path, None).expect_err(what);
        assert_eq!(failure.code, crate::failure::code::INPUT, "{what}: {failure}");
        assert!(failure.fault.contains("is not as it was left"), "{what}: {failure}");
    };
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        // In a text, another letter or digit.
        changed[place] ^= 1;
        refused(&changed, &format!("byte {place}"));
    }
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    for number in 0..lines.len() {
        let without = |number: usize| [&lines[..number], &lines[number + 1..]].concat().concat();
        refused(&without(number), &format!("without line {number}"));
        refused(&[&lines[..=number], &lines[number..]].concat().concat(), &format!("line {number} twice"));
        if number > 0 {
            let mut swapped = lines.clone();
            swapped.swap(number, number - 1);
            refused(&swapped.concat(), &format!("line {number} moved"));
        }
        refused(&lines[..number].concat(), &format!("the first {number} lines alone"));
        // A run does not go on with it either.
        if number < lines.len() - 1 {
            fs::write(&path, lines[..number].concat()).expect("written");
            assert!(OpenLog::open(&path, identity.public()).is_err(), "{number} lines");
        }
    }
    fs::write(&path, &whole).expect("written");
    fs::remove_file(head_path(&path)).expect("removed");
    assert!(verify(&path, None).is_err() && OpenLog::open(&path, identity.public()).is_err(), "without its head");
    for place in 0..head.len() {
        let mut changed = head.clone();
        changed[place] ^= 1;
        fs::write(head_path(&path), &changed).expect("written");
        assert!(verify(&path, None).is_err(), "byte {place} of the head");
    }
}

/// Older copies of both files go together: a head that was noted shows it.
#[test]
fn an_older_copy_shows_by_a_head_that_was_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    append(&path, &identity, "1111", Event::Begun);
    let older = [fs::read(&path), fs::read(head_path(&path))].map(|read| read.expect("there"));
    let early = verify(&path, None).expect("as it was left").head;
    append(&path, &identity, "1111", Event::Completed);
    let late = verify(&path, Some(&early)).expect("it begins with the same line").head;
    assert_eq!(verify(&path, Some(&late)).expect("the same").head, late);
    fs::write(&path, &older[0]).expect("written");
    fs::write(head_path(&path), &older[1]).expect("written");
    assert!(verify(&path, None).is_ok() && verify(&path, Some(&early)).is_ok());
    let failure = verify(&path, Some(&late)).expect_err("two lines were there");
    assert!(failure.fault.contains("its first 2 lines are not those"), "{failure}");
    // Another line in the place of the second one.
    append(&path, &identity, "9999", Event::Begun);
    assert!(verify(&path, None).is_ok() && verify(&path, Some(&late)).is_err());
}

/// Killed within a line, and between line and head.
#[test]
fn a_log_goes_on_behind_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    append(&path, &identity, "1111", Event::Begun);
    let head = fs::read(head_path(&path)).expect("there");
    append(&path, &identity, "1111", Event::Completed);
    let whole = fs::read(&path).expect("there");
    fs::write(head_path(&path), head).expect("written");
    assert_eq!(verify(&path, None).expect("a head one line behind").lines.len(), 2);
    fs::write(&path, [&whole[..], &whole[..100]].concat()).expect("written");
    assert!(verify(&path, None).expect("a torn line").is_torn);
    append(&path, &identity, "2222", Event::Begun);
    let verified = verify(&path, None).expect("the torn line is gone");
    assert_eq!((verified.lines.len(), verified.is_torn), (3, false));
}

/// Somebody without the private key cuts the log off, and signs a head with a key of their own.
#[test]
fn a_head_of_another_key_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.log");
    let [identity, other] = [(); 2].map(|()| Identity::generate().expect("an identity"));
    log(&path, &identity);
    let text = fs::read_to_string(&path).expect("there");
    let first = text.lines().next().expect("a line");
    fs::write(&path, format!("{first}\n")).expect("written");
    let head = Head { lines: 1, hash: hash(first.as_bytes()) };
    let (key, signature) = signed(HEAD, &head, &other).expect("signed");
    let content = serde_json::to_string(&SignedHead { head, key, signature }).expect("JSON");
    fs::write(head_path(&path), content).expect("written");
    assert!(verify(&path, None).is_err() && OpenLog::open(&path, identity.public()).is_err());
}

/// Where heads cannot be written, no line is; and a head one line behind is mended before the next line.
#[test]
fn a_head_is_never_two_lines_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    append(&path, &identity, "1111", Event::Begun);
    let before = fs::read(&path).expect("there");
    // In the way of the head's new file.
    let mut in_the_way = head_path(&path).into_os_string();
    in_the_way.push(".new");
    fs::create_dir(&in_the_way).expect("a folder");
    let open = || OpenLog::open(&path, identity.public()).expect("a log");
    for _ in 0..3 {
        open().append(&identity, entry(&identity, "1111", Event::Failed)).expect_err("no head");
        assert_eq!(fs::read(&path).expect("there"), before);
    }
    fs::remove_dir(&in_the_way).expect("removed");
    let head = fs::read(head_path(&path)).expect("there");
    append(&path, &identity, "1111", Event::Failed);
    fs::write(head_path(&path), head).expect("written");
    append(&path, &identity, "2222", Event::Begun);
    assert_eq!(verify(&path, None).expect("as it was left").lines.len(), 3);
}

/// By a link or by its own name, a log has one head.
#[test]
fn a_log_has_one_head_by_whatever_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let [path, link] = ["runs.log", "link.log"].map(|name| folder.path().join(name));
    let identity = Identity::generate().expect("an identity");
    append(&path, &identity, "1111", Event::Begun);
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    append(&link, &identity, "1111", Event::Completed);
    append(&path, &identity, "2222", Event::Begun);
    assert_eq!([&path, &link].map(|path| verify(path, None).expect("as it was left").lines.len()), [3, 3]);
}

#[test]
fn processes_write_one_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (path, identity) = (&path, &identity);
            scope.spawn(move || (0..5).for_each(|run| append(path, identity, &format!("{writer}{run}"), Event::Begun)));
        }
    });
    assert_eq!(verify(&path, None).expect("as it was left").lines.len(), 20);
}

/// Both sides' logs of a run, where the sender says `change` otherwise.
fn compared(change: impl Fn(&mut Entry)) -> Compared {
    let folder = tempfile::tempdir().expect("a folder");
    let [ours, theirs] = [(); 2].map(|()| Identity::generate().expect("an identity"));
    let [mine, yours] = ["mine", "yours"].map(|name| folder.path().join(name));
    for (path, own, partner, role) in [(&mine, &ours, &theirs, Role::Receiver), (&yours, &theirs, &ours, Role::Sender)]
    {
        for event in [Event::Begun, Event::Completed] {
            let make = entry(partner, "5555", event);
            let changed = |number, previous| {
                let mut entry = Entry { role, ..make(number, previous) };
                if role == Role::Sender {
                    change(&mut entry);
                }
                entry
            };
            OpenLog::open(path, own.public()).expect("a log").append(own, changed).expect("written");
        }
    }
    let [mine, yours] = [&mine, &yours].map(|path| verify(path, None).expect("as it was left"));
    compare(&mine, &yours)
}

#[test]
fn what_two_logs_say_otherwise_is_found() {
    let is_same = |compared: Compared| compared.same == 1 && compared.differences.is_empty();
    assert!(is_same(compared(|_| ())));
    // The other one may have been killed.
    assert!(is_same(compared(|entry| if entry.event == Event::Completed {
        entry.statement = None
    })));
    let agreed = |entry: &mut Entry, change: &dyn Fn(&mut Agreed)| entry.agreed.as_mut().map(change).expect("agreed");
    let changes: [&dyn Fn(&mut Entry); 8] = [
        &|entry| entry.statement = entry.statement.as_ref().map(|_| "cd".repeat(32)),
        &|entry| agreed(entry, &|agreed| agreed.session = "7".repeat(64)),
        &|entry| agreed(entry, &|agreed| agreed.own_items = 11),
        &|entry| agreed(entry, &|agreed| agreed.partner_items = 11),
        &|entry| agreed(entry, &|agreed| agreed.protocol = "rr22".into()),
        &|entry| agreed(entry, &|agreed| agreed.revealed.clear()),
        &|entry| entry.task = "union".into(),
        &|entry| entry.role = Role::Receiver,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert!(!compared(change).differences.is_empty(), "change {number}");
    }
}
