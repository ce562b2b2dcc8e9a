//! `vesica log`: verifies, shows and compares logs of runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;
use vesica::handshake::printable_within;
use vesica::key::iso_utc;
use vesica::log::{Agreed, Compared, Entry, Event, Head, Line, Verified, Why, compare, verify};
use vesica::party::transport::tls::{PeerKeys, PublicKey};
use vesica::table::Place;
use vesica::words::counted;

use super::receipt::{Page, PageRow, Section, html, text};
use crate::args::{LogArgs, LogCommand};
use crate::outcome::{Outcome, print};
use crate::{identity, settings, stderr};

/// Characters of a text from a log that are shown.
const MOST_SHOWN: usize = 2000;

/// What a reader of a page must know first.
const ABOUT: &str = "Each line of a log is signed, and has the hash of the line before it. The log holds no key and no \
                     value of a table, and nothing of a result. Whoever can write its files can put an older copy in \
                     their place: compare it with the partner's log, or with how far it was when that was noted.";

/// The log of a user who names none.
pub fn default_log() -> Option<PathBuf> {
    Some(identity::state_folder()?.join("runs.log"))
}

fn named(file: Option<PathBuf>) -> Result<PathBuf, Failure> {
    file.or_else(default_log).ok_or_else(|| {
        Failure::new(code::USAGE, "there is no home directory with a default log", "name the log's file")
    })
}

/// Runs `vesica log`.
///
/// # Errors
/// If a log is not as it was left, or two logs differ.
pub fn run(args: LogArgs) -> Outcome {
    match args.command {
        LogCommand::Verify(args) => {
            let path = named(args.file)?;
            let noted = args.noted.as_deref().map(head).transpose()?;
            let signers = args.signer.iter().map(|signer| settings::peer_keys(signer));
            let signers: Vec<PeerKeys> = signers.collect::<Result<_, _>>()?;
            let signers: Vec<PublicKey> = signers.iter().flat_map(PeerKeys::all).collect();
            let verified = verify(&path, noted.as_ref())?;
            check_signers(&path, &verified, &signers)?;
            let Verified { head, keys, open, is_torn, .. } = &verified;
            if args.json {
                let said = json!({ "ok": true, "head": head, "keys": keys, "open": open, "is_torn": is_torn });
                return print(&format!("{said}\n"));
            }
            print(&summary(&verified))
        }
        LogCommand::Show(args) => {
            // A page that cannot be written shows before anything is read.
            let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
            for notice in place.iter().filter_map(Place::swept) {
                stderr::note(notice);
            }
            let path = named(args.file)?;
            let verified = verify(&path, None)?;
            if args.json {
                return print(&format!("{}\n", json!({ "ok": true, "lines": verified.lines, "head": verified.head })));
            }
            let page = page(&verified);
            match place {
                Some(place) => Ok(place.write(html::html(&page).as_bytes())?),
                None => print(&text::text(&page)),
            }
        }
        LogCommand::Compare(args) => {
            let (ours, theirs) = (verify(&args.ours, None)?, verify(&args.theirs, None)?);
            let Compared { same, differences } = compare(&ours, &theirs);
            if !differences.is_empty() {
                let few = differences.iter().take(20).map(|text| printable_within(text, MOST_SHOWN));
                let fault = format!("the logs differ: {}", few.collect::<Vec<_>>().join("; "));
                let mend = "ask your partner for its receipts of these runs; a run that was killed on one side before \
                            its first line is in the other log alone";
                return Err(Failure::new(code::MISMATCH, fault, mend));
            }
            if same == 0 {
                let fault = "no run of the two logs' sides with each other is in both logs: nothing was compared";
                let mend = "name your log and that of a partner with whom you had runs; each must have the file .head \
                            beside it";
                return Err(Failure::new(code::MISMATCH, fault, mend));
            }
            if args.json {
                return print(&format!("{}\n", json!({ "ok": true, "same": same })));
            }
            print(&format!("both logs say the same of {}\n", counted(same as u64, "run", "runs")))
        }
    }
}

/// A head as `vesica log verify` prints it.
fn head(text: &str) -> Result<Head, Failure> {
    let read = || {
        let (lines, hash) = text.trim().split_once(':')?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Head { lines: lines.parse().ok()?, hash: hash.to_ascii_lowercase() }).filter(|_| is_hash)
    };
    read().ok_or_else(|| {
        let mend = "say what `vesica log verify` printed behind `head`, for example 12: and 64 hexadecimal digits";
        Failure::new(code::USAGE, "--noted says no head of a log", mend)
    })
}

fn check_signers(path: &Path, verified: &Verified, signers: &[PublicKey]) -> Result<(), Failure> {
    let is_known = |line: &&String| line.parse().is_ok_and(|key: PublicKey| signers.contains(&key));
    match verified.keys.iter().find(|key| !signers.is_empty() && !is_known(key)) {
        None => Ok(()),
        Some(key) => {
            let fault = format!("lines of the log {} are signed by another key: {}", path.display(), short(key));
            Err(Failure::new(code::IDENTITY, fault, "name each key that may sign it with --signer"))
        }
    }
}

/// The fingerprint of a public key line.
fn short(line: &str) -> String {
    match line.parse::<PublicKey>() {
        Ok(key) => key.fingerprint().to_string(),
        Err(_) => printable_within(line, MOST_SHOWN),
    }
}

fn summary(verified: &Verified) -> String {
    let Verified { head: Head { lines, hash }, keys, open, is_torn, .. } = verified;
    let mut text = format!("the log holds together: {}\n", counted(*lines, "line", "lines"));
    text.push_str(&format!("head {lines}:{hash}\n"));
    keys.iter().for_each(|key| text.push_str(&format!("signed by {}\n", short(key))));
    if *open > 0 {
        let runs = counted(*open as u64, "run has", "runs have");
        text.push_str(&format!("{runs} begun and not ended: it goes on, or was killed\n"));
    }
    if *is_torn {
        text.push_str("the last line was never finished: the process was killed, and its run had not begun\n");
    }
    text
}

/// All runs, oldest first: a run stands where it ended, or began if it has no end.
fn page(verified: &Verified) -> Page {
    let by_run = |is_begun: bool| {
        let of_event = verified.lines.iter().filter(move |line| (line.entry.event == Event::Begun) == is_begun);
        of_event.map(|line| (line.entry.run.as_str(), line)).collect::<HashMap<&str, &Line>>()
    };
    let (begun, ended) = (by_run(true), by_run(false));
    let shown = verified
        .lines
        .iter()
        .filter(|Line { entry, .. }| entry.event != Event::Begun || !ended.contains_key(entry.run.as_str()));
    let Head { lines, hash } = &verified.head;
    Page {
        title: "Log of Vesica runs",
        about: ABOUT,
        holds: true,
        verdict: format!(
            "All lines are signed, by {}, and none is missing between them. Its head is {lines}:{hash}",
            verified.keys.iter().map(|key| short(key)).collect::<Vec<_>>().join(" and ")
        ),
        sections: shown
            .map(|Line { entry, .. }| section(entry, begun.get(entry.run.as_str()).map(|line| &line.entry)))
            .collect(),
    }
}

fn section(entry: &Entry, began: Option<&Entry>) -> Section {
    let show = |text: &str| printable_within(text, MOST_SHOWN);
    let date = |time: u64| iso_utc(time).unwrap_or_else(|| time.to_string());
    let what = match entry.event {
        Event::Begun => "not ended",
        Event::Completed => "completed",
        Event::Refused => "refused",
        Event::Failed => "failed",
    };
    let mut rows = vec![
        PageRow::of("task", format!("{}, as the {}", show(&entry.task), entry.role)),
        PageRow::of("partner", short(&entry.partner)),
    ];
    if let Some(began) = began.filter(|_| entry.event != Event::Begun) {
        rows.push(PageRow::of("began", date(began.time)));
    }
    if let Some(Agreed { session, protocol, own_items, partner_items, buckets, revealed, noise_epsilon }) =
        &entry.agreed
    {
        rows.push(PageRow::of("keys", format!("{own_items} own, {partner_items} of the partner, dummies included")));
        // A run that was refused before it began has revealed sizes and settings alone.
        let label = if entry.event == Event::Refused && began.is_none() { "would reveal" } else { "revealed" };
        rows.extend(PageRow::list(label, revealed.iter().map(|text| show(text)).collect()));
        rows.extend(noise_epsilon.as_deref().map(|epsilon| PageRow::of("epsilon", show(epsilon))));
        rows.extend(entry.epsilon_left.as_deref().map(|left| PageRow::of("epsilon left", show(left))));
        let security = format!("{}, {}", show(protocol), entry.security);
        rows.push(PageRow::of("protocol", security).folded());
        if *buckets > 1 {
            rows.push(PageRow::of("buckets", buckets.to_string()).folded());
        }
        rows.push(PageRow::of("session", show(session)).folded());
    }
    if let Some(Why { code, fault }) = &entry.failure {
        rows.push(PageRow::of("why", format!("{} (exit code {code})", show(fault))));
    }
    rows.extend(entry.policy.as_deref().map(|digest| PageRow::of("policy", show(digest)).folded()));
    rows.extend(entry.statement.as_deref().map(|hash| PageRow::of("statement", show(hash)).folded()));
    rows.push(PageRow::of("line", entry.number.to_string()).folded());
    Section { title: format!("{}: {what}", date(entry.time)), note: "", rows }
}
