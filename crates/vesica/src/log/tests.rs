use std::fs;
use std::path::{Path, PathBuf};

use vesica_party::service::{ClientIdentity, Conversation as Visit};
use vesica_party::transport::tls::Day;

use super::file::{MOST_AT_ONCE, OpenLog, head_path};
use super::*;

fn entry(identity: &Identity, run: &str, event: Event) -> Entry {
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
    Entry {
        number: 0,
        previous: String::new(),
        time: 1_700_000_000,
        run,
        event,
        role: Role::Receiver,
        partner,
        task: "intersect".into(),
        security: Security::Malicious,
        policy: None,
        agreed: Some(agreed),
        look_up: None,
        statement,
        epsilon_left: None,
        failure: None,
        vesica: "0".into(),
    }
}

fn open(path: &Path, identity: &Identity) -> Result<OpenLog, Failure> {
    OpenLog::open(path, identity.public(), &|| Ok(()))
}

fn append(path: &Path, identity: &Identity, run: &str, event: Event) {
    open(path, identity).expect("a log").append(identity, [entry(identity, run, event)]).expect("written");
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
            assert!(open(&path, &identity).is_err(), "{number} lines");
        }
    }
    fs::write(&path, &whole).expect("written");
    fs::remove_file(head_path(&path)).expect("removed");
    assert!(verify(&path, None).is_err() && open(&path, &identity).is_err(), "without its head");
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

/// A log with one line, in a folder of its own, and who has signed it.
fn begun() -> (tempfile::TempDir, PathBuf, Identity) {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    append(&path, &identity, "1111", Event::Begun);
    (folder, path, identity)
}

/// Killed within a line, and between line and head.
#[test]
fn a_log_goes_on_behind_a_kill() {
    let (_folder, path, identity) = begun();
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
    assert!(verify(&path, None).is_err() && open(&path, &identity).is_err());
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
    for _ in 0..3 {
        let log = open(&path, &identity).expect("a log");
        log.append(&identity, [entry(&identity, "1111", Event::Failed)]).expect_err("no head");
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

/// What is written together has one head; killed before that, the log goes on, and no longer than that.
#[test]
fn lines_that_are_written_together_have_one_head() {
    let (_folder, path, identity) = begun();
    let head = fs::read(head_path(&path)).expect("there");
    // Together longer than the part of the log that is read first.
    let long =
        |number: usize| Entry { vesica: "v".repeat(4000), ..entry(&identity, &format!("{number}"), Event::Begun) };
    open(&path, &identity).expect("a log").append(&identity, (0..MOST_AT_ONCE).map(long)).expect("written");
    fs::write(head_path(&path), &head).expect("written");
    let verified = verify(&path, None).expect("killed before the head");
    assert_eq!((verified.lines.len(), verified.behind), (MOST_AT_ONCE + 1, MOST_AT_ONCE));
    append(&path, &identity, "2222", Event::Begun);
    let verified = verify(&path, None).expect("it has gone on");
    assert_eq!((verified.lines.len(), verified.behind), (MOST_AT_ONCE + 2, 0));
    fs::write(head_path(&path), &head).expect("written");
    assert!(verify(&path, None).is_err() && open(&path, &identity).is_err(), "no process leaves it so far behind");
}

/// A line of which the head knows nothing is looked at as well.
#[test]
fn what_a_killed_process_has_written_is_looked_at() {
    let (_folder, path, identity) = begun();
    let head = fs::read(head_path(&path)).expect("there");
    let batch = ["2222", "3333", "4444"].map(|run| entry(&identity, run, Event::Begun));
    open(&path, &identity).expect("a log").append(&identity, batch).expect("written");
    fs::write(head_path(&path), &head).expect("written");
    let whole = fs::read_to_string(&path).expect("there");
    fs::write(&path, whole.replacen("3333", "3334", 1)).expect("written");
    assert!(open(&path, &identity).is_err() && verify(&path, None).is_err());
    fs::write(&path, whole).expect("written");
    open(&path, &identity).expect("as it was left");
}

#[test]
fn nobody_waits_for_a_log_longer_than_may_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    append(&path, &identity, "1111", Event::Begun);
    let _held = fs::File::open(&path).and_then(|file| file.lock().map(|()| file)).expect("locked");
    let since = std::time::Instant::now();
    let late = || match since.elapsed().as_millis() {
        0..100 => Ok(()),
        _ => Err(Failure::new(code::LINK, "the deadline has passed", "")),
    };
    let failure = OpenLog::open(&path, identity.public(), &late).err().expect("locked");
    assert!(failure.code == code::LINK && since.elapsed().as_secs() < 10, "{failure}");
}

/// A conversation of a client with this key.
fn visit(identity: &Identity, number: u8) -> Visit {
    let key = identity.public();
    let session = Some([number; 32]);
    Visit { client: ClientIdentity::Key(key), key: Some(key), described: true, session, answered: 3 }
}

fn offered() -> Offered {
    Offered { security: Security::Malicious, look_up: LookUp { items_per_query: 16, ..LookUp::default() } }
}

/// What a server says while `clients` converse with it.
fn served(path: &Path, is_named: bool, identity: &Identity, clients: impl FnOnce(&ServerLog)) -> Vec<String> {
    let file = LogFile { path: path.to_owned(), is_named };
    let log = ServerLog::new(file, identity.clone()).expect("a log");
    let said = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| log.write(&|text| said.lock().expect("no panic").push(text.to_owned())));
        let conversed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| clients(&log)));
        // Also after a failed assertion: the scope waits for the thread that writes.
        log.close();
        conversed.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
    });
    said.into_inner().expect("no panic")
}

/// Conversations at the same time, beside another process that uses the log.
#[test]
fn each_conversation_of_a_server_has_two_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    let said = served(&path, true, &identity, |log| {
        std::thread::scope(|scope| {
            for number in 1..=100 {
                let identity = &identity;
                scope.spawn(move || {
                    let visit = visit(identity, number);
                    log.begin(offered(), &Visit { answered: 0, ..visit }).expect("written");
                    let why = (number % 2 == 0).then(|| Why { code: code::REFUSED, fault: "its quota".into() });
                    log.end(offered(), &visit, why);
                });
            }
            scope.spawn(|| append(&path, &identity, "1111", Event::Completed));
        });
    });
    let verified = verify(&path, None).expect("as it was left");
    assert_eq!((verified.lines.len(), verified.open, said), (201, 0, Vec::new()));
    let refused = verified.lines.iter().filter(|line| line.entry.event == Event::Refused);
    let answered = |line: &Line| line.entry.look_up.as_ref().map(|look_up| look_up.conversations[0].queries);
    assert!(refused.clone().all(|line| answered(line) == Some(3)) && refused.count() == 50);
    // Of who has no key there is nothing to say.
    let before = fs::read(&path).expect("there");
    served(&path, true, &identity, |log| {
        log.begin(offered(), &Visit { key: None, ..visit(&identity, 1) }).expect("let in")
    });
    assert_eq!(fs::read(&path).expect("there"), before);
}

#[test]
fn a_server_whose_log_cannot_be_written_refuses_clients_until_it_can_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    for is_named in [true, false] {
        let said = served(&path, is_named, &identity, |log| {
            let begin = |number| log.begin(offered(), &visit(&identity, number));
            begin(1).expect("written");
            let whole = fs::read(&path).expect("there");
            fs::write(&path, &whole[..whole.len() / 2]).expect("written");
            for number in [2, 3] {
                let refused = begin(number);
                assert_eq!(refused.is_err(), is_named);
                let told = refused.err().map(|abort| abort.to_string());
                assert!(told.is_none_or(|told| told.contains("log of runs cannot be written") && !told.contains("runs.log")));
            }
            fs::write(&path, whole).expect("written");
            begin(4).expect("written");
        });
        let so = if is_named { "clients are refused until" } else { "in no log until" };
        assert!(said.len() == 2 && said[0].contains(so) && said[1].contains("2 lines"), "{said:?}");
    }
    let blocked = folder.path().join("no").join("such");
    assert!(ServerLog::new(LogFile { path: blocked, is_named: true }, identity).is_err());
}

/// The thread that ends conversations may be the one that lets clients in.
#[test]
fn nobody_waits_for_a_last_line_though_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, identity) = (folder.path().join("runs.log"), Identity::generate().expect("an identity"));
    let log = ServerLog::new(LogFile { path: path.clone(), is_named: true }, identity.clone()).expect("a log");
    let [joined, seen] = [1, 0].map(|number| visit(&identity, number));
    let seen = Visit { session: None, ..seen };
    for _ in 0..1500 {
        log.end(offered(), &seen, None);
    }
    for _ in 0..100 {
        log.end(offered(), &joined, None);
    }
    log.close();
    let said = std::sync::Mutex::new(Vec::new());
    log.write(&|text| said.lock().expect("no panic").push(text.to_owned()));
    let said = said.into_inner().expect("no panic");
    assert!(said.len() == 1 && said[0].contains("476 lines"), "{said:?}");
    assert_eq!(verify(&path, None).expect("a log").lines.len(), 1024 + 100);
}

/// Both sides' logs of a run and of a query, where the sender says `change` otherwise.
fn compared(change: impl Fn(&mut Entry)) -> Compared {
    let folder = tempfile::tempdir().expect("a folder");
    let [ours, theirs] = [(); 2].map(|()| Identity::generate().expect("an identity"));
    let [mine, yours] = ["mine", "yours"].map(|name| folder.path().join(name));
    for (path, own, partner, role) in [(&mine, &ours, &theirs, Role::Receiver), (&yours, &theirs, &ours, Role::Sender)]
    {
        for event in [Event::Begun, Event::Completed] {
            let run = Entry { role, ..entry(partner, "5555", event) };
            let queries = if event == Event::Begun { 0 } else { 4 };
            let conversations = vec![Conversation { session: "6".repeat(64), queries }];
            let look_up = Some(LookUp { conversations, items_per_query: 16, ..LookUp::default() });
            let query = Entry { run: "6666".into(), task: QUERY.into(), agreed: None, look_up, ..run.clone() };
            let mut entries = [run, query];
            if role == Role::Sender {
                entries.iter_mut().for_each(&change);
            }
            open(path, own).expect("a log").append(own, entries).expect("written");
        }
    }
    let [mine, yours] = [&mine, &yours].map(|path| verify(path, None).expect("as it was left"));
    compare(&mine, &yours, Period::default())
}

#[test]
fn what_two_logs_say_otherwise_is_found() {
    let is_same = |compared: Compared| compared.same == 2 && compared.differences.is_empty();
    assert!(is_same(compared(|_| ())));
    // The other one may have been killed.
    assert!(is_same(compared(|entry| if entry.event == Event::Completed {
        entry.statement = None
    })));
    let answered = |entry: &mut Entry, queries, event| {
        if let Some(look_up) = entry.look_up.as_mut().filter(|_| entry.event == Event::Completed) {
            look_up.conversations[0].queries = queries;
            entry.event = event;
        }
    };
    // An answer can be lost with its connection, and a killed side has not said how much it was.
    assert!(is_same(compared(|entry| answered(entry, 3, Event::Failed))));
    let killed = compared(|entry| answered(entry, 0, Event::Begun));
    assert_eq!([killed.without_end, compared(|_| ()).without_end], [1, 0]);
    assert!(is_same(killed));
    let agreed = |entry: &mut Entry, change: &dyn Fn(&mut Agreed)| _ = entry.agreed.as_mut().map(change);
    let offered = |entry: &mut Entry, change: &dyn Fn(&mut LookUp)| _ = entry.look_up.as_mut().map(change);
    let changes: [&dyn Fn(&mut Entry); 14] = [
        &|entry| answered(entry, 3, Event::Completed),
        &|entry| answered(entry, 2, Event::Failed),
        &|entry| offered(entry, &|look_up| look_up.conversations[0].session = "7".repeat(64)),
        &|entry| offered(entry, &|look_up| look_up.set_items = 5),
        &|entry| offered(entry, &|look_up| look_up.items_per_query = 8),
        &|entry| offered(entry, &|look_up| look_up.revealed.push("more".into())),
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

/// A run that one log alone has is told with what the other one's lines say of why; and not at all outside of the period.
#[test]
fn a_run_without_its_counterpart_is_told_and_can_be_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let [ours, theirs] = [(); 2].map(|()| Identity::generate().expect("an identity"));
    const DAY: u64 = 86_400;
    let write = |name: &str, role, days: &[u64]| {
        let path = folder.path().join(name);
        let (own, partner) = if role == Role::Receiver { (&ours, &theirs) } else { (&theirs, &ours) };
        for day in days {
            let run = entry(partner, &format!("{day:04}"), Event::Completed);
            let run = Entry { role, time: day * DAY, ..run };
            open(&path, own).expect("a log").append(own, [run]).expect("written");
        }
        verify(&path, None).expect("as it was left")
    };
    let mine = write("mine", Role::Receiver, &[1, 3, 5, 6]);
    let yours = write("yours", Role::Sender, &[3, 4, 5]);
    let compared = |from: Option<u64>, to: Option<u64>| {
        let [from, to] = [from, to].map(|day| day.map(|day| Day::of(day * DAY)));
        compare(&mine, &yours, Period { from, to })
    };
    let Compared { same, differences, .. } = compared(None, None);
    let told: Vec<_> = differences.iter().map(|found| (found.time / DAY, found.only_in, &*found.what)).collect();
    let [first, second] = [Some(Which::First), Some(Which::Second)];
    assert_eq!(same, 2);
    assert_eq!(
        told,
        [
            (1, first, "is in the first log alone, and the second log begins later"),
            (4, second, "is in the second log alone, and the first log has lines from before and after it"),
            (6, first, "is in the first log alone, and the second log ends earlier"),
        ]
    );
    for (from, to, same, differences) in
        [(Some(5), Some(5), 1, 0), (Some(3), None, 2, 2), (None, Some(3), 1, 1), (Some(7), None, 0, 0)]
    {
        let compared = compared(from, to);
        assert_eq!((compared.same, compared.differences.len()), (same, differences), "{from:?} to {to:?}");
    }
}
