//! The way out of the own network: through a proxy, and with which ticket to a relay.

use std::env;
use std::path::Path;

use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::party::transport::proxy::{NotAProxy, Proxy};
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
    let bad = |place: &str, no_proxy: NotAProxy| usage(&format!("{place}: {}", no_proxy.fault()), NotAProxy::MEND);
    match flag {
        Some(NONE) => Ok(None),
        Some(url) => Proxy::parse(url).map(Some).map_err(|fault| bad("--proxy", fault)),
        None => {
            let found = Proxy::of_environment(address, &|name| env::var_os(name));
            let found = found.map_err(|(name, fault)| {
                let mut failure = bad(&format!("the variable {name}"), fault);
                failure.mend.push_str("; `--proxy none` dials directly, or list the host in NO_PROXY");
                failure
            })?;
            Ok(found.map(|(name, proxy)| {
                note(&format!("dialling through the proxy {proxy}, which {name} names; --proxy none dials directly"));
                proxy
            }))
        }
    }
}

/// Refuses a proxy for a side that listens; `none` is none.
///
/// # Errors
/// If there is one.
pub fn no_proxy(flag: Option<&str>) -> Result<Option<Proxy>, Failure> {
    match flag {
        None | Some(NONE) => Ok(None),
        Some(_) => Err(usage(
            "--listen has a --proxy, and a side that listens dials nobody",
            "omit --proxy (`--proxy none` outweighs one in a file), or say --connect or --relay instead of --listen",
        )),
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
        return ticket_or_file.trim().parse().map_err(|fault| {
            let mend = "; the name of a file has neither `vesica-ticket` nor 32 hexadecimal digits in a row";
            usage(&format!("--ticket is {fault}"), &format!("{MEND}{mend}"))
        });
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
