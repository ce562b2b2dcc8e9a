//! A receipt in sentences.
//!
//! Texts of a receipt may come from anybody: all of them pass [`shown`]. What is said of a protocol's
//! security is not signed: it comes from the registry of this release, and the page says so.

use vesica::Failure;
use vesica::handshake::printable_within;
use vesica::key::iso_utc;
use vesica::party::transport::KeyExchange;
use vesica::party::transport::tls::PublicKey;
use vesica::party::{Entry, Mode, Resistance, Role, Security};
use vesica::receipt::{PolicyOf, Receipt, Statement};
use vesica::table::ValueColumn;
use vesica::task::{self, AnyTask, ResultKind, Settings, takes_threshold};
use vesica::words::counted;

use crate::settings::Revoked;

/// Characters of a text from a receipt that are shown.
const MOST_SHOWN: usize = 2000;

/// What is shown of a receipt, or of a log.
pub struct Page {
    /// The heading.
    pub title: &'static str,
    /// What a reader must know first.
    pub about: &'static str,
    /// Whether the receipt proves something.
    pub holds: bool,
    /// Whether it does, in a sentence.
    pub verdict: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A part of the page.
pub struct Section {
    /// The heading.
    pub title: String,
    /// A sentence below the heading; empty for none.
    pub note: &'static str,
    /// The rows, in order.
    pub rows: Vec<PageRow>,
}

/// A label with its values.
pub struct PageRow {
    /// The label.
    pub label: &'static str,
    /// The values, at least one.
    pub values: Vec<String>,
    /// Whether only who looks closer needs it: a page folds it away, in which words come first.
    pub is_detail: bool,
}

impl PageRow {
    /// One value.
    pub fn of(label: &'static str, value: impl Into<String>) -> Self {
        Self { label, values: vec![value.into()], is_detail: false }
    }

    /// Some values; no row without any.
    pub fn list(label: &'static str, values: Vec<String>) -> Option<Self> {
        (!values.is_empty()).then_some(Self { label, values, is_detail: false })
    }

    /// The row, folded away.
    pub fn folded(self) -> Self {
        Self { is_detail: true, ..self }
    }
}

/// What a reader must know first.
const ABOUT: &str = "A receipt is a statement on one run: who took part, what was computed, and what each side learned. \
                     Both programs sign it at the end. It holds no key and no value of either table, and does not say \
                     that what stood in a table was true.";

/// The task of a receipt, if this release of Vesica knows it.
fn task_of(statement: &Statement) -> Option<&'static dyn AnyTask> {
    task::find(&statement.task).ok()
}

/// A text from a receipt, fit to be shown.
fn shown(text: &str) -> String {
    printable_within(text, MOST_SHOWN)
}

/// The page of a receipt that is `refused` for that reason, or holds.
/// Keys that are `revoked` by now are marked.
pub fn page(receipt: &Receipt, refused: Option<&Failure>, revoked: &Revoked) -> Page {
    let statement = &receipt.statement;
    let verdict = match refused {
        Some(failure) => format!("DO NOT RELY ON THIS RECEIPT: {}", failure.fault),
        None => "Both signatures are valid: the holders of the two keys below have signed the same statement".into(),
    };
    let entry = task_of(statement)
        .and_then(|task| task.find(&statement.protocol).ok().flatten())
        .filter(|entry| entry.task == statement.task);
    let mut sections = vec![
        the_run(statement, revoked),
        compared(statement),
        learned(statement, entry, receipt.verify() == (true, true)),
    ];
    sections.push(match entry {
        Some(entry) => limits(statement, entry),
        None => Section {
            title: "Security".into(),
            note: "",
            rows: vec![PageRow::of(
                "unknown",
                "this release of Vesica does not know the protocol, and says nothing of it",
            )],
        },
    });
    sections.push(proof(receipt));
    Page { title: "Receipt of a Vesica run", about: ABOUT, holds: refused.is_none(), verdict, sections }
}

fn the_run(statement: &Statement, revoked: &Revoked) -> Section {
    let side = |key: &str| format!("{}{}", fingerprint(key), shown(&revoked.mark(key)));
    let Statement { wire_version, started_at, task, protocol, broken, choice, security, both_learn, .. } = statement;
    let computes =
        task_of(statement).map_or("A task that this release of Vesica does not know", |task| task.words().computes);
    let both = if *both_learn { "; the sender gets the same of its own table" } else { "" };
    let clocks = if *wire_version >= 5 { "; the sender's differed by ten minutes at most" } else { "" };
    let date = iso_utc(*started_at).unwrap_or_else(|| format!("{started_at} s after the start of 1970, in UTC"));
    let mut rows = vec![
        PageRow::of("task", format!("{computes}{both} ({})", shown(task))),
        PageRow::of("date", format!("{date}, by the receiver's clock{clocks}")),
        PageRow::of("sender", side(&statement.sender_key)),
        PageRow::of("receiver", side(&statement.receiver_key)),
        PageRow::of("sender's key", shown(&statement.sender_key)).folded(),
        PageRow::of("receiver's key", shown(&statement.receiver_key)).folded(),
        PageRow::of("protocol", format!("{}, over version {wire_version} of the wire format", shown(protocol)))
            .folded(),
        PageRow::of("chosen as", shown(choice)).folded(),
    ];
    if let Some(group) = &statement.key_exchange {
        let strength = match group == KeyExchange::X25519MlKem768.name() {
            true => "; no way is known by which a quantum computer opens a recording of the traffic",
            false => "",
        };
        rows.push(PageRow::of("encryption", format!("TLS 1.3, with keys by {}{strength}", shown(group))).folded());
    }
    for (label, policy) in
        [("sender's policy", &statement.sender_policy), ("receiver's policy", &statement.receiver_policy)]
    {
        let text = |policy: &PolicyOf| format!("{} under the nonce {}", shown(&policy.hash), shown(&policy.nonce));
        rows.extend(policy.as_ref().map(|policy| PageRow::of(label, text(policy)).folded()));
    }
    match broken {
        None => {
            rows.push(PageRow::of("security", format!("{} ({security})", in_words(*security))));
            if statement.post_quantum {
                let asked = "both sides asked for what no quantum computer is known to break; the signatures below do not last \
                             against one";
                rows.push(PageRow::of("post-quantum", asked));
            }
        }
        Some(how) => {
            rows.push(PageRow::of(
                "security",
                format!("NOT GIVEN, since the protocol is broken ({security} was asked for)"),
            ));
            rows.push(PageRow::of("BROKEN", shown(how)));
        }
    }
    Section { title: "The run".into(), note: "", rows }
}

fn in_words(security: Security) -> &'static str {
    match security {
        Security::Malicious => "secure against a partner that breaks the rules",
        Security::SemiHonest => {
            "secure against a partner that follows the rules and tries to learn more from what it receives; not \
             against one that breaks them"
        }
    }
}

fn fingerprint(line: &str) -> String {
    match line.parse::<PublicKey>() {
        Ok(key) => format!("the holder of the key with the fingerprint {}", key.fingerprint()),
        Err(_) => "nobody: the receipt names no public key".to_owned(),
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| shown(name)).collect::<Vec<_>>().join("; "),
    }
}

fn compared(statement: &Statement) -> Section {
    let Statement { sender_items, receiver_items, key_digest, key_columns, or_keys, payload_columns, .. } = statement;
    let Statement { payload_bytes, sender_values, receiver_values, groups, reveal_if_at_least, .. } = statement;
    let columns = |columns: &[ValueColumn]| list(&columns.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut rows = vec![
        PageRow::of(
            "sizes",
            format!("{sender_items} of the sender, {receiver_items} of the receiver: distinct keys, padding included"),
        ),
        PageRow::of("key columns", format!("normalisers: {}; digest {}", list(key_columns), shown(key_digest))),
    ];
    if statement.buckets > 1 {
        let text = format!("{} of one size, in which keys were compared", statement.buckets);
        rows.push(PageRow::of("buckets", text));
    }
    if let Some(attempts) = statement.attempts {
        let again = attempts.saturating_sub(u64::from(statement.buckets));
        let text = format!(
            "the buckets were run in {attempts} attempts, {again} of them at a bucket of which one had failed or broken off; \
             whoever sends an attempt other keys than the one before asks about those too"
        );
        rows.push(PageRow::of("attempts", text));
    }
    for (number, columns) in (1..).zip(or_keys) {
        let text =
            format!("alternative {number} (--or-key), by which rows match as well; normalisers: {}", list(columns));
        rows.push(PageRow::of("alternative key", text));
    }
    if !payload_columns.is_empty() && sender_values.is_empty() {
        let bytes = counted(*payload_bytes, "byte", "bytes");
        let text = format!("{} of the sender, {bytes} a key", list(payload_columns));
        rows.push(PageRow::of("columns given", text));
    }
    if !(sender_values.is_empty() && receiver_values.is_empty()) {
        let text = format!("{} of the sender; {} of the receiver", columns(sender_values), columns(receiver_values));
        rows.push(PageRow::of("computed on", text));
    }
    let threshold = match reveal_if_at_least {
        0 | 1 => "none: a result about a single key would be shown".to_owned(),
        least => format!("results about fewer than {least} common keys were withheld"),
    };
    let task = task_of(statement);
    if task.is_some_and(takes_threshold) || *reveal_if_at_least > 1 {
        rows.push(PageRow::of("groups", groups.to_string()));
        rows.push(PageRow::of("threshold", threshold));
    }
    let kind = task.and_then(|task| task.result_kind(Role::Receiver, &Settings::default()));
    if kind == Some(ResultKind::Numbers) || statement.noise_epsilon.is_some() {
        rows.push(PageRow::of(
            "noise",
            match &statement.noise_epsilon {
                Some(epsilon) => format!("added by the sender, with epsilon {} for the whole run", shown(epsilon)),
                None => "none: results are exact".into(),
            },
        ));
    }
    Section { title: "What was compared".into(), note: "", rows }
}

/// What each side learned, and what it did not; signed by both sides if that `holds`.
fn learned(statement: &Statement, entry: Option<&Entry>, holds: bool) -> Section {
    let mut to: [(&str, &'static str, Vec<String>); 5] = [
        ("to the receiver", "receiver learned", Vec::new()),
        ("to the sender", "sender learned", Vec::new()),
        ("to both sides", "both learned", Vec::new()),
        ("to neither side", "neither learned", Vec::new()),
        ("", "also stated", Vec::new()),
    ];
    for sentence in &statement.revealed {
        let sentence = shown(sentence);
        let rest = |learner: &str| {
            let rest = sentence.strip_prefix(learner)?;
            rest.strip_prefix(": ").map(str::to_owned).or_else(|| rest.strip_prefix(", ").map(str::to_owned))
        };
        for (learner, _, sentences) in &mut to {
            let of_learner = if learner.is_empty() { Some(sentence.clone()) } else { rest(learner) };
            if let Some(of_learner) = of_learner {
                sentences.push(of_learner);
                break;
            }
        }
    }
    let mut rows: Vec<PageRow> = Vec::new();
    for (learner, label, sentences) in to {
        let (of_cheats, mut sentences): (Vec<_>, Vec<_>) =
            sentences.into_iter().partition(|sentence| sentence.contains("corrupt"));
        if !of_cheats.is_empty() {
            sentences.push("more, if it breaks the rules: the details say what".to_owned());
        }
        rows.extend(PageRow::list(label, sentences));
        let label = if learner == "to the sender" { "cheating sender" } else { "cheating receiver" };
        rows.extend(PageRow::list(label, of_cheats).map(PageRow::folded));
    }
    let words = task_of(statement).map(AnyTask::words);
    let sound = statement.broken.is_none() && entry.is_some_and(|entry| entry.broken().is_none());
    match words {
        Some(words) if sound => {
            let beyond = |what: &str| format!("beyond the above: {what}");
            rows.push(PageRow::of("kept from receiver", beyond(words.kept_from_receiver)));
            let sender = match statement.both_learn {
                true => words.kept_from_sender_with_result,
                false => words.kept_from_sender,
            };
            rows.push(PageRow::of("kept from sender", beyond(sender)));
        }
        _ => rows.push(PageRow::of(
            "not learned",
            "no statement, since the protocol is broken, or is not one that this release of Vesica knows",
        )),
    }
    Section {
        title: "What each side learned".into(),
        note: match holds {
            true => {
                "Both sides signed what was learned. The rest holds as far as the section Security says, and as far as \
                 no side put guessed keys into its table."
            }
            false => "What the receipt states here is not confirmed by two signatures.",
        },
        rows,
    }
}

/// What this release says of the protocol.
fn limits(statement: &Statement, entry: &Entry) -> Section {
    let mode = entry.modes.iter().find(|mode| mode.security == statement.security);
    let mut rows = Vec::new();
    if let Some(how) = entry.broken() {
        rows.push(PageRow::of("BROKEN", how));
    }
    match mode {
        Some(mode) => rows.extend(mode_rows(mode, entry)),
        None => rows.push(PageRow::of("unknown", "the protocol has no such mode in this release of Vesica")),
    }
    let source = format!("{}: {} ({})", entry.paper.key, entry.paper.title, entry.paper.reference);
    rows.push(PageRow::of("source", source).folded());
    Section {
        title: "Security".into(),
        note: "Not signed: this is what the present release of Vesica says of the protocol. Nobody outside of the \
               project has audited it. The details say how much work attacks take, and what the protocol assumes.",
        rows,
    }
}

fn mode_rows(mode: &Mode, entry: &Entry) -> Vec<PageRow> {
    let resists = |resistance| match resistance {
        Resistance::Malicious => "holds even if it breaks the rules",
        Resistance::SemiHonest => "holds if it follows the rules",
        Resistance::None => "does not hold",
    };
    let mut bounds: Vec<String> = mode.attacks().map(|attack| format!("{}: {}", attack.takes, attack.falls)).collect();
    bounds.push(match bounds.is_empty() {
        true => "2^128 work is what the parameters aim at; no cheaper attack is stated".to_owned(),
        false => "2^128 work is what the other parameters aim at".to_owned(),
    });
    let chance = match entry.false_match_bits() {
        Some(bits) => format!("a key that only the receiver has matches with a probability of up to 2^-{bits}"),
        None => "all failures by chance in one run (such as a false match) together: at most 2^-40".to_owned(),
    };
    let mut rows = vec![
        PageRow::of("against sender", format!("security {}", resists(mode.corrupt_sender))),
        PageRow::of("against receiver", format!("security {}", resists(mode.corrupt_receiver))),
        PageRow { label: "attacks take", values: bounds, is_detail: true },
        PageRow::of("by chance", chance).folded(),
    ];
    let assumptions = mode.assumptions.iter().map(|assumption| assumption.what.to_owned()).collect();
    rows.extend(PageRow::list("assumptions", assumptions).map(PageRow::folded));
    rows
}

fn proof(receipt: &Receipt) -> Section {
    let Statement { session, transcript, .. } = &receipt.statement;
    Section {
        title: "Proof".into(),
        note: "",
        rows: vec![
            PageRow::of("signatures", signatures(receipt)),
            PageRow::of("transcript", format!("{} (hash of all that the two sides sent)", shown(transcript))).folded(),
            PageRow::of("session", format!("{} (hash of what they had agreed on)", shown(session))).folded(),
        ],
    }
}

/// What each side's signature is worth.
pub fn signatures(receipt: &Receipt) -> String {
    let state = |signature: &Option<String>, right| match (signature, right) {
        (None, _) => "missing",
        (Some(_), true) => "valid",
        (Some(_), false) => "WRONG",
    };
    let (sender, receiver) = receipt.verify();
    format!(
        "the sender's signature is {}, the receiver's {}",
        state(&receipt.sender_signature, sender),
        state(&receipt.receiver_signature, receiver)
    )
}

#[cfg(test)]
mod tests {
    /// What the parameters aim at is the security level of the registry.
    #[test]
    fn bounds_are_those_of_the_facts() {
        use vesica_structures::facts::{KAPPA, LAMBDA};
        assert_eq!((KAPPA, LAMBDA), (128, 40));
    }
}
