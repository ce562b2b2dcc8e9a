//! Hosts that are dialled without the proxy of the environment.

use std::net::IpAddr;

/// Whether a host is this machine: a proxy elsewhere would connect to itself.
pub(super) fn is_this_machine(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => is_within(host, "localhost"),
    }
}

/// Whether a list as in `NO_PROXY` has this host: names with all names below them, addresses, networks such as
/// `10.0.0.0/8`, each perhaps with a port behind it, or `*` for every host.
pub(super) fn names(list: &str, host: &str, port: u16) -> bool {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (entry, of_port) = match entry.rsplit_once(':') {
            Some((name, of_port)) if name.ends_with(']') || !name.contains(':') => (bare(name), Some(of_port)),
            _ => (bare(entry), None),
        };
        of_port.is_none_or(|of_port| of_port.parse() == Ok(port)) && is_host(&entry, host)
    })
}

fn is_host(entry: &str, host: &str) -> bool {
    if entry == "*" {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(address) => match entry.split_once('/') {
            Some((network, bits)) => is_in_network(address, network, bits),
            None => entry.parse() == Ok(address),
        },
        Err(_) => is_within(host, entry.strip_prefix("*.").unwrap_or(entry)),
    }
}

/// Whether a host has this name, or one below it; a dot in front of the name changes nothing.
fn is_within(host: &str, name: &str) -> bool {
    let [host, name] = [host, name.trim_start_matches('.')].map(|name| name.trim_end_matches('.').to_ascii_lowercase());
    !name.is_empty() && (host == name || host.strip_suffix(&name).is_some_and(|head| head.ends_with('.')))
}

fn is_in_network(address: IpAddr, network: &str, bits: &str) -> bool {
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let (difference, all) = match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(u32::from(a) ^ u32::from(b)), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a) ^ u128::from(b), 128),
        _ => return false,
    };
    bits <= all && difference.checked_shr(all - bits).unwrap_or(0) == 0
}
