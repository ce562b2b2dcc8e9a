//! `vesica receipt`.

use std::fmt::Write;

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;
use vesica::handshake::printable;
use vesica::party::transport::tls::PublicKey;
use vesica::receipt::{Receipt, Statement};
use vesica::table::ValueColumn;

use crate::args::ReceiptArgs;
use crate::outcome::{Outcome, print};
use crate::settings;

pub fn run(args: ReceiptArgs) -> Outcome {
    let peer = args.peer.as_deref().map(settings::public_key).transpose()?;
    let receipt = Receipt::load(&args.file)?;
    let refused = refusal(&receipt, peer);
    if !args.json {
        print(&describe(&receipt))?;
        return refused.map_or(Ok(()), Err);
    }
    match refused {
        None => print(&format!("{}\n", json!({ "ok": true, "receipt": receipt }))),
        // The error's object is the one that is printed.
        Some(failure) => Err(failure),
    }
}

/// Why the receipt proves nothing, if so.
fn refusal(receipt: &Receipt, peer: Option<PublicKey>) -> Option<Failure> {
    let keys =
        [&receipt.statement.sender_key, &receipt.statement.receiver_key].map(|key| key.parse::<PublicKey>().ok());
    if receipt.verify() != (true, true) {
        let fault = format_args!("the receipt is not valid: {}", signatures(receipt)).to_string();
        let mend = "do not rely on it; ask your partner for its receipt of the same run";
        return Some(Failure::new(code::IDENTITY, fault, mend));
    }
    let peer = peer.filter(|peer| !keys.contains(&Some(*peer)))?;
    let named: Vec<String> = keys.iter().flatten().map(|key| key.fingerprint().to_string()).collect();
    let fault =
        format!("the key {} is neither side of the receipt; they are {}", peer.fingerprint(), named.join(" and "));
    Some(Failure::new(
        code::IDENTITY,
        fault,
        "check that this is the receipt of the run that you mean, and that --peer names the key that your partner had \
         then",
    ))
}

fn signatures(receipt: &Receipt) -> String {
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

/// The receipt for people. Its texts may come from anybody.
fn describe(receipt: &Receipt) -> String {
    let Statement {
        wire_version,
        session,
        transcript,
        started_at,
        task,
        protocol,
        broken,
        choice,
        security,
        sender_items,
        receiver_items,
        both_learn,
        key_digest,
        key_columns,
        payload_columns,
        payload_bytes,
        sender_values,
        receiver_values,
        groups,
        reveal_if_at_least,
        noise_epsilon,
        revealed,
        sender_key,
        receiver_key,
    } = &receipt.statement;
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| printable(name)).collect::<Vec<_>>().join("; "),
    };
    let columns = |columns: &[ValueColumn]| list(&columns.iter().map(ToString::to_string).collect::<Vec<_>>());
    let learns = match (task.as_str(), both_learn) {
        ("union", true) => "; both sides learn the union",
        (_, true) => "; both sides learn the matches",
        ("intersect", false) => "; the receiver learns the matches",
        _ => "",
    };
    let key = |line: &str| match line.parse::<PublicKey>() {
        Ok(key) => format!("{} ({})", key.fingerprint(), printable(line)),
        Err(_) => format!("no public key ({})", printable(line)),
    };
    let compared = if *wire_version >= 5 { ", which was within ten minutes of the sender's" } else { "" };
    let lines = [
        ("task", format!("{}{learns}", printable(task))),
        (
            "protocol",
            format!(
                "{}{} ({security}), wire version {wire_version}",
                printable(protocol),
                if broken.is_some() { ", BROKEN" } else { "" }
            ),
        ),
        ("chosen as", printable(choice)),
        ("started", format!("{started_at} s after the start of 1970 (UTC), by the receiver's clock{compared}")),
        ("keys", format!("{sender_items} of the sender, {receiver_items} of the receiver, dummies included")),
        ("key columns", format!("{}, digest {}", list(key_columns), printable(key_digest))),
        ("payload", format!("{}, {payload_bytes} bytes a key", list(payload_columns))),
        (
            "computes on",
            format!("{} of the sender; {} of the receiver", columns(sender_values), columns(receiver_values)),
        ),
        (
            "groups",
            match reveal_if_at_least {
                0 | 1 => format!("{groups}, shown in any case"),
                _ => format!("{groups}, shown if at least {reveal_if_at_least} keys are common"),
            },
        ),
        ("noise", noise_epsilon.as_deref().map_or("none".into(), |epsilon| format!("epsilon {}", printable(epsilon)))),
        ("session", printable(session)),
        ("transcript", printable(transcript)),
        ("sender", key(sender_key)),
        ("receiver", key(receiver_key)),
        ("signatures", signatures(receipt)),
    ];
    let mut text = String::new();
    let broken = broken.iter().map(|how| ("broken", printable(how)));
    let revealed = revealed.iter().map(|sentence| ("revealed", printable(sentence)));
    for (name, value) in lines.into_iter().chain(broken).chain(revealed) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<12} {value}");
    }
    text
}
