//! `vesica receipt`: one page that an auditor can read, as text or as HTML.
//!
//! [`words`] puts a receipt into sentences, [`text`] and [`html`] lay them out.

mod html;
mod text;
mod words;

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;
use vesica::party::transport::tls::PublicKey;
use vesica::receipt::Receipt;
use vesica::table::Place;

use crate::args::ReceiptArgs;
use crate::outcome::{Outcome, print};
use crate::settings;
use crate::stderr;

pub fn run(args: ReceiptArgs) -> Outcome {
    let peer = args.peer.as_deref().map(settings::public_key).transpose()?;
    // A page that cannot be written shows before anything is read.
    let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
    for notice in place.iter().filter_map(Place::swept) {
        stderr::note(notice);
    }
    let receipt = Receipt::load(&args.file)?;
    let refused = refusal(&receipt, peer);
    if !args.json {
        let page = words::page(&receipt, refused.as_ref());
        match place {
            Some(place) => place.write(html::html(&page).as_bytes())?,
            None => print(&text::text(&page))?,
        }
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
