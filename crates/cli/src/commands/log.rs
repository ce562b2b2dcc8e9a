//! `vesica log`: verifies, shows and compares logs of runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;
use vesica::handshake::printable_within;
use vesica::key::iso_utc;
use vesica::log::{
    Agreed, Compared, Difference, Entry, Event, Head, Line, LookUp, Period, QUERY, Verified, Why, compare, verify,
};
use vesica::party::Role;
use vesica::party::transport::tls::{PeerKeys, PublicKey};
use vesica::table::Place;
use vesica::words::counted;

use super::receipt::{Page, PageRow, Section, html, text};
use crate::args::{CompareArgs, LogArgs, LogCommand, ShowArgs, VerifyArgs};
use crate::outcome::{Outcome, print};
use crate::settings::Revoked;
use crate::{identity, settings, stderr};

/// Characters of a text from a log that are shown.
const MOST_SHOWN: usize = 2000;

/// Differences between two logs that are told; as JSON, all are.
const MOST_TOLD: usize = 20;

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
        LogCommand::Verify(args) => verified(args),
        LogCommand::Show(args) => shown(args),
        LogCommand::Compare(args) => compared(&args),
    }
}

fn verified(args: VerifyArgs) -> Outcome {
    let path = named(args.file)?;
    let noted = args.noted.as_deref().map(head).transpose()?;
    let verified = signed_by(&path, noted.as_ref(), &args.signer)?;
    let Verified { head, keys, open, is_torn, behind, .. } = &verified;
    if args.json {
        let said =
            json!({ "ok": true, "head": head, "keys": keys, "open": open, "is_torn": is_torn, "behind": behind });
        return print(&format!("{said}\n"));
    }
    print(&summary(&verified))
}

fn shown(args: ShowArgs) -> Outcome {
    // A page that cannot be written shows before anything is read.
    let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
    for notice in place.iter().filter_map(Place::swept) {
        stderr::note(notice);
    }
    let verified = signed_by(&named(args.file)?, None, &args.signer)?;
    let revoked = Revoked::of_partners(None)?;
    if args.json {
        let Verified { lines, head, keys, .. } = &verified;
        let revoked = revoked.among(keys.iter().chain(lines.iter().map(|line| &line.entry.partner)));
        let said = json!({ "ok": true, "lines": lines, "head": head, "revoked": revoked });
        return print(&format!("{said}\n"));
    }
    let page = page(&verified, &revoked);
    match place {
        Some(place) => Ok(place.write(html::html(&page).as_bytes())?),
        None => print(&text::text(&page)),
    }
}

fn compared(args: &CompareArgs) -> Outcome {
    let theirs = signed_by(&args.theirs, None, &args.signer)?;
    let period = Period { from: args.from, to: args.to };
    let Compared { same, without_end, differences } = compare(&verify(&args.ours, None)?, &theirs, period);
    if differences.is_empty() && same > 0 {
        return match args.json {
            true => print(&format!("{}\n", json!({ "ok": true, "same": same, "without_end": without_end }))),
            false => print(&format!("both logs say the same of {}{}\n", runs(same), not_ended(without_end))),
        };
    }
    let failure = if differences.is_empty() {
        let of_period = if period == Period::default() { "" } else { ", of those from --from to --to" };
        let fault =
            format!("no run of the two logs' sides with each other is in both logs{of_period}: nothing was compared");
        let mend = "name your log and that of a partner with whom you had runs, or who asked your server; each must have \
                    the file .head beside it";
        Failure::new(code::MISMATCH, fault, mend)
    } else {
        let few: Vec<String> = differences.iter().take(MOST_TOLD).map(told).collect();
        let more = differences.len().saturating_sub(MOST_TOLD);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let same = format!("{}{}", runs(same), not_ended(without_end));
        let fault = format!("the logs say the same of {same}, and differ: {}{more}", few.join("; "));
        let mend = "ask your partner for its receipts of these runs. A run is in one log alone if the other side kept it out \
                    (--no-run-log, or another log), was killed before its first line, or has put another file in the place \
                    of its log; --from and --to leave out days that one of the logs does not have";
        Failure::new(code::MISMATCH, fault, mend)
    };
    if !args.json {
        return Err(failure);
    }
    let Failure { code, fault, mend, .. } = &failure;
    let error = json!({ "code": code, "fault": fault, "mend": mend });
    let said = json!({
        "ok": false, "same": same, "without_end": without_end, "differences": differences, "error": error
    });
    print(&format!("{said}\n"))?;
    Err(Failure { reported: true, ..failure })
}

fn runs(count: usize) -> String {
    counted(count as u64, "run", "runs")
}

/// What there is to say of runs whose end was not compared.
fn not_ended(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!(" (of {count} of them one of the logs has no end, and what they came to was not compared)"),
    }
}

fn told(difference: &Difference) -> String {
    let Difference { session, time, task, what, .. } = difference;
    let short: String = session.chars().take(16).collect();
    printable_within(&format!("{task} of {}, session {short}, {what}", date(*time)), MOST_SHOWN)
}

/// The log, if it verifies and none but these keys has signed it; any may have where there are none.
fn signed_by(path: &Path, noted: Option<&Head>, signers: &[String]) -> Result<Verified, Failure> {
    let signers: Vec<PeerKeys> = signers.iter().map(|signer| settings::peer_keys(signer)).collect::<Result<_, _>>()?;
    let signers: Vec<PublicKey> = signers.iter().flat_map(PeerKeys::all).collect();
    let verified = verify(path, noted)?;
    check_signers(path, &verified, &signers)?;
    Ok(verified)
}

fn date(time: u64) -> String {
    iso_utc(time).unwrap_or_else(|| time.to_string())
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
    let Verified { head: Head { lines, hash }, keys, open, is_torn, behind, .. } = verified;
    let mut text = format!("the log holds together: {}\n", counted(*lines, "line", "lines"));
    text.push_str(&format!("head {lines}:{hash}\n"));
    keys.iter().for_each(|key| text.push_str(&format!("signed by {}\n", short(key))));
    if *open > 0 {
        let runs = counted(*open as u64, "run has", "runs have");
        text.push_str(&format!(
            "{runs} begun and not ended (queries and conversations are counted as well): it goes on, or was killed\n"
        ));
    }
    if *is_torn {
        text.push_str("the last line was never finished: the process was killed, and its run had not begun\n");
    }
    if *behind > 0 {
        text.push_str(&format!(
            "the file .head beside it is {} behind: the process was killed between the two, and the next run writes it\n",
            counted(*behind as u64, "line", "lines")
        ));
    }
    text
}

/// All runs, oldest first: a run stands where it ended, or began if it has no end. Keys that are `revoked` by now are
/// marked.
fn page(verified: &Verified, revoked: &Revoked) -> Page {
    let by_run = |is_begun: bool| {
        let of_event = verified.lines.iter().filter(move |line| (line.entry.event == Event::Begun) == is_begun);
        of_event.map(|line| (line.entry.run.as_str(), line)).collect::<HashMap<&str, &Line>>()
    };
    let (begun, ended) = (by_run(true), by_run(false));
    // A query that took several connections has a beginning for each.
    let is_shown = |line: &&Line| match line.entry.event {
        Event::Begun => {
            let last = begun.get(line.entry.run.as_str()).is_none_or(|last| last.entry.number == line.entry.number);
            last && !ended.contains_key(line.entry.run.as_str())
        }
        _ => true,
    };
    let shown = verified.lines.iter().filter(is_shown);
    let Head { lines, hash } = &verified.head;
    Page {
        title: "Log of Vesica runs",
        about: ABOUT,
        holds: true,
        verdict: format!(
            "All lines are signed, by {}, and none is missing between them. Its head is {lines}:{hash}",
            verified.keys.iter().map(|key| marked(key, revoked)).collect::<Vec<_>>().join(" and ")
        ),
        sections: shown
            .map(|Line { entry, .. }| section(entry, begun.get(entry.run.as_str()).map(|line| &line.entry), revoked))
            .collect(),
    }
}

/// A text from a log, fit to be shown.
fn show(text: &str) -> String {
    printable_within(text, MOST_SHOWN)
}

/// The fingerprint of a key, and whether it is revoked by now.
fn marked(key: &str, revoked: &Revoked) -> String {
    format!("{}{}", short(key), show(&revoked.mark(key)))
}

fn section(entry: &Entry, began: Option<&Entry>, revoked: &Revoked) -> Section {
    let what = match entry.event {
        Event::Begun => "not ended",
        Event::Completed => "completed",
        Event::Refused => "refused",
        Event::Failed => "failed",
    };
    let mut rows = vec![
        PageRow::of("task", format!("{}, as the {}", show(&entry.task), as_whom(entry))),
        PageRow::of("partner", marked(&entry.partner, revoked)),
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
    rows.extend(entry.look_up.iter().flat_map(|look_up| of_look_up(look_up, entry)));
    if let Some(Why { code, fault }) = &entry.failure {
        rows.push(PageRow::of("why", format!("{} (exit code {code})", show(fault))));
    }
    rows.extend(entry.policy.as_deref().map(|digest| PageRow::of("policy", show(digest)).folded()));
    rows.extend(entry.statement.as_deref().map(|hash| PageRow::of("statement", show(hash)).folded()));
    rows.push(PageRow::of("line", entry.number.to_string()).folded());
    Section { title: format!("{}: {what}", date(entry.time)), note: "", rows }
}

/// What this side was. A query has no roles of a task.
fn as_whom(entry: &Entry) -> String {
    match entry.role {
        role if entry.task != QUERY => role.to_string(),
        Role::Sender => "server".into(),
        Role::Receiver => "client".into(),
    }
}

/// What a server was asked.
fn of_look_up(look_up: &LookUp, entry: &Entry) -> Vec<PageRow> {
    let LookUp { protocol, set_items, items_per_query, conversations, revealed, quota, quota_left } = look_up;
    let queries = conversations.iter().map(|conversation| conversation.queries).fold(0, u64::saturating_add);
    let items = counted(queries.saturating_mul(*items_per_query), "item", "items");
    let asked = match entry.event {
        Event::Begun => "not known".to_owned(),
        _ => format!("{items} in {}, dummies included", counted(queries, "query", "queries")),
    };
    let mut rows = vec![PageRow::of("answered", asked)];
    // A client that was not let in has not even the set's room from a query.
    let label = if conversations.is_empty() { "would reveal" } else { "revealed" };
    rows.extend(PageRow::list(label, revealed.iter().map(|text| show(text)).collect()));
    rows.extend(quota.as_deref().map(|quota| {
        let when = if entry.role == Role::Sender { "by then" } else { "before it" };
        let left = quota_left.map(|left| format!(", of which {} left {when}", counted(left, "item was", "items were")));
        PageRow::of("quota", format!("{}{}", show(quota), left.unwrap_or_default()))
    }));
    let set = format!("a set with room for {}", counted(*set_items, "key", "keys"));
    rows.push(PageRow::of("protocol", format!("{}, {}, {set}", show(protocol), entry.security)).folded());
    let sessions = conversations.iter().map(|conversation| show(&conversation.session)).collect();
    rows.extend(PageRow::list("session", sessions).map(PageRow::folded));
    rows
}
