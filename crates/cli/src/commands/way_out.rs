//! The way out of the own network: through a proxy, and with which ticket to a relay.

use std::env;
use std::path::Path;

use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::party::transport::proxy::Proxy;
use vesica::party::transport::relay::Ticket;

use super::sides::usage;
use crate::identity::secret_file;

/// What `--proxy` says for no proxy.
const NONE: &str = "none";

/// Longest file of a ticket, in bytes.
const MOST_TICKET_BYTES: u64 = 1 << 10;

/// The proxy that `--proxy` names for a connection to `address`, or the environment. `note` hears of one that no flag
/// names.
///
/// # Errors
/// If what names it is no proxy's URL; none of the texts has it.
pub fn proxy(flag: Option<&str>, address: &str, note: &dyn Fn(&str)) -> Result<Option<Proxy>, Failure> {
    let bad = |place: &str, fault: String| {
        let (fault, mend) = fault.split_once("; ").unwrap_or((&fault, "see --help"));
        usage(&format!("{place}: {fault}"), mend)
    };
    match flag {
        Some(NONE) => Ok(None),
        Some(url) => Proxy::parse(url).map(Some).map_err(|fault| bad("--proxy", fault.to_string())),
        None => {
            let found = Proxy::of_environment(address, &|name| env::var_os(name));
            let found = found.map_err(|(name, fault)| bad(&format!("the variable {name}"), fault.to_string()))?;
            Ok(found.map(|(name, proxy)| {
                note(&format!("dialling through the proxy {proxy}, which {name} names; --proxy none dials directly"));
                proxy
            }))
        }
    }
}

/// What may be shown of the value of `--proxy`.
pub fn shown(value: &str) -> String {
    match Proxy::parse(value) {
        _ if value == NONE => value.into(),
        Ok(proxy) => proxy.to_string(),
        Err(_) => "(no URL of a proxy, and not shown)".into(),
    }
}

/// The ticket that `--ticket` says, or that is in the file which it names.
///
/// # Errors
/// If there is none.
pub fn ticket(ticket_or_file: &str) -> Result<Ticket, Failure> {
    const MEND: &str = "copy the whole ticket that `vesica relay ticket` has printed";
    if Ticket::is_meant_by(ticket_or_file) {
        return ticket_or_file.parse().map_err(|fault| usage(&format!("--ticket is {fault}"), MEND));
    }
    let path = secret_file(Path::new(ticket_or_file))?;
    let text = read_text(&path, MOST_TICKET_BYTES).map_err(|fault| {
        Failure::new(
            code::INPUT,
            format_args!("the file of --ticket, {}: {fault}", path.display()),
            "name the file with the ticket, or say the ticket itself",
        )
    })?;
    let ticket = text.trim().parse();
    ticket.map_err(|fault| Failure::new(code::INPUT, format_args!("{} holds {fault}", path.display()), MEND))
}
