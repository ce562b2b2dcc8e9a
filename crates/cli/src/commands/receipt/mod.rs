//! `vesica receipt`: one page that an auditor can read, as text or as HTML.
//!
//! [`words`] puts a receipt into sentences, [`text`] and [`html`] lay them out.

pub mod html;
pub mod text;
mod words;

use serde_json::json;
use vesica::Failure;
use vesica::cluster::{Commit, Committed};
use vesica::failure::code;
use vesica::party::transport::tls::{PeerKeys, PublicKey};
use vesica::receipt::{Receipt, Statement};
use vesica::table::Place;

pub use words::{Page, PageRow, Section};

use crate::args::ReceiptArgs;
use crate::outcome::{Outcome, print};
use crate::settings::{self, Revoked};
use crate::stderr;

pub fn run(args: ReceiptArgs) -> Outcome {
    // A page that cannot be written shows before anything is read.
    let place = args.html.as_deref().map(|path| Place::create(path, args.force)).transpose()?;
    for notice in place.iter().filter_map(Place::swept) {
        stderr::note(notice);
    }
    if args.json {
        return print(&text(&args)?);
    }
    let (receipt, refused) = read(&args)?;
    let page = words::page(&receipt, refused.as_ref(), &Revoked::of_partners(None)?);
    match place {
        Some(place) => place.write(html::html(&page).as_bytes())?,
        None => print(&text::text(&page))?,
    }
    let commits = refused.map_or_else(|| committed(&args, &receipt), Err)?;
    if let Some(Committed { waves, attempts }) = commits {
        stderr::note(format!(
            "both sides signed all {waves} waves of this run, with {attempts} attempts at {} buckets",
            receipt.statement.buckets
        ));
    }
    Ok(())
}

/// What `vesica receipt --json` prints.
///
/// # Errors
/// If the receipt proves nothing.
pub fn text(args: &ReceiptArgs) -> Result<String, Failure> {
    let (receipt, refused) = read(args)?;
    let commits = refused.map_or_else(|| committed(args, &receipt), Err)?;
    let Statement { sender_key, receiver_key, .. } = &receipt.statement;
    let revoked = Revoked::of_partners(None)?.among([sender_key, receiver_key]);
    let mut said = json!({ "ok": true, "receipt": receipt, "revoked": revoked });
    if let (Some(commits), Some(said)) = (commits, said.as_object_mut()) {
        said.insert("commits".into(), json!(commits));
    }
    Ok(format!("{said}\n"))
}

/// The receipt, and why it proves nothing, if so.
fn read(args: &ReceiptArgs) -> Result<(Receipt, Option<Failure>), Failure> {
    let peer = args.peer.as_deref().map(settings::peer_keys).transpose()?;
    let receipt = Receipt::load(&args.file)?;
    let refused = match refusal(&receipt, peer) {
        None => args.policy.as_deref().map(|partner| other_policy(&receipt, partner)).transpose()?.flatten(),
        refused => refused,
    };
    Ok((receipt, refused))
}

/// That this side's policy for the partner was another one in the run than it is now, if so.
///
/// # Errors
/// If there is no such partner, or no policy for it.
fn other_policy(receipt: &Receipt, partner: &str) -> Result<Option<Failure>, Failure> {
    let Statement { sender_key, sender_policy, receiver_policy, .. } = &receipt.statement;
    let peers = settings::named_peers();
    let keys = settings::peer_keys_in(partner, peers.as_deref())?;
    let policy = settings::policy(&keys, peers.as_deref())?.ok_or_else(|| {
        let mend = "write one as docs/policy.md shows, or omit --policy";
        Failure::new(code::IDENTITY, format_args!("you have no policy for {partner}"), mend)
    })?;
    let is_receivers = sender_key.parse::<PublicKey>().is_ok_and(|sender| keys.all().any(|key| key == sender));
    let own = if is_receivers { receiver_policy } else { sender_policy };
    let fault = match own {
        Some(own) if own.is_of(&policy.digest()) => return Ok(None),
        Some(_) => "was another one in this run than it is now",
        None => "was none in this run",
    };
    let fault = format_args!("your policy for {partner}, of {}, {fault}", policy.file().display()).to_string();
    Ok(Some(Failure::new(code::MISMATCH, fault, "compare it with the policy that you had then")))
}

/// What the commits of the run say, if they are named.
fn committed(args: &ReceiptArgs, receipt: &Receipt) -> Result<Option<Committed>, Failure> {
    let folder = args.commits.as_deref();
    folder.map(|folder| Commit::check_all(Commit::load_all(folder)?, receipt)).transpose()
}

/// Why the receipt proves nothing, if so.
fn refusal(receipt: &Receipt, peer: Option<PeerKeys>) -> Option<Failure> {
    let keys =
        [&receipt.statement.sender_key, &receipt.statement.receiver_key].map(|key| key.parse::<PublicKey>().ok());
    if receipt.verify() != (true, true) {
        let fault = format_args!("the receipt is not valid: {}", words::signatures(receipt)).to_string();
        let mend = "do not rely on it; ask your partner for its receipt of the same run";
        return Some(Failure::new(code::IDENTITY, fault, mend));
    }
    let peer = peer.filter(|peer| !peer.all().any(|key| keys.contains(&Some(key))))?;
    let named: Vec<String> = keys.iter().flatten().map(|key| key.fingerprint().to_string()).collect();
    let fault = format!(
        "the key {} is neither side of the receipt; they are {}",
        peer.newest().fingerprint(),
        named.join(" and ")
    );
    Some(Failure::new(
        code::IDENTITY,
        fault,
        "check that this is the receipt of the run that you mean, and that --peer names the key that your partner had \
         then",
    ))
}
