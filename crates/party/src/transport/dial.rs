//! Opening a TCP connection to a host, directly or through a proxy.

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::proxy::{Proxy, ProxyFault};
use super::tcp::{NoAddress, attempt, malformed, resolve};
use crate::{Abort, exit_code};

/// Time between the first attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// Longest time between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Where a connection goes, and by which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialer {
    address: String,
    proxy: Option<Proxy>,
}

/// Why one attempt to connect gave no connection.
#[derive(Debug)]
pub enum Unreached {
    /// It stays so: the address is none, or the proxy refuses.
    Lasting(Abort),
    /// Nobody knows an address of the host's name, at least now: a partner's name may appear when its machine does.
    UnknownName(io::Error),
    /// Nobody listens there, at least now.
    NoAnswer(io::Error),
    /// The proxy does not answer, or finds nobody there, at least now.
    Proxy(String),
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lasting(abort) => abort.fmt(f),
            Self::UnknownName(fault) | Self::NoAnswer(fault) => fault.fmt(f),
            Self::Proxy(fault) => f.write_str(fault),
        }
    }
}

impl From<NoAddress> for Unreached {
    fn from(none: NoAddress) -> Self {
        match none {
            NoAddress::Malformed(abort) => Self::Lasting(abort),
            NoAddress::Unknown(fault) => Self::UnknownName(fault),
        }
    }
}

impl Dialer {
    /// To `address` (`host:port`), through a proxy if there is one.
    pub fn new(address: impl Into<String>, proxy: Option<Proxy>) -> Self {
        Self { address: address.into(), proxy }
    }

    /// Where it goes.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether the host is dialled directly.
    pub fn is_direct(&self) -> bool {
        self.proxy.is_none()
    }

    /// Tries once: each address of the host, or of the proxy.
    ///
    /// # Errors
    /// Why it did not come to a connection.
    pub fn once(&self) -> Result<TcpStream, Unreached> {
        let Some(proxy) = &self.proxy else {
            return attempt(&resolve(&self.address)?).map_err(Unreached::NoAnswer);
        };
        let (host, port) = host_and_port(&self.address)
            .ok_or_else(|| Unreached::Lasting(malformed(&self.address, &"no host with a port behind it")))?;
        let host = match proxy.resolves_names() {
            true => host.to_owned(),
            false => resolve(&self.address)?.first().map(|address| address.ip().to_string()).unwrap_or_default(),
        };
        proxy.connect(&host, port).map_err(|fault| match fault {
            ProxyFault::Lasting { fault, mend } => {
                Unreached::Lasting(Abort::Local { code: exit_code::REFUSED, fault, mend })
            }
            ProxyFault::Passing(fault) => Unreached::Proxy(fault),
        })
    }

    /// Tries again and again until `wait` has passed, for a peer that starts later.
    ///
    /// # Errors
    /// If nobody was there in time, or waiting does not help.
    pub fn connect(&self, wait: Duration) -> Result<TcpStream, Abort> {
        let end = Instant::now().checked_add(wait);
        let mut pause = FIRST_PAUSE;
        loop {
            let fault = match self.once() {
                Ok(stream) => return Ok(stream),
                Err(Unreached::Lasting(abort)) => return Err(abort),
                Err(passing) => passing,
            };
            if end.is_some_and(|end| Instant::now() + pause > end) {
                let fault = format!("nobody answers at {} within {} s ({fault})", self.address, wait.as_secs_f64());
                let mend =
                    "start the side that listens, check the address and the firewall, or wait longer with --wait";
                return Err(Abort::Local { code: exit_code::PEER_ABSENT, fault, mend: mend.into() });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// The parts of `host:port`, where an address of IPv6 stands in brackets; the host is given without them.
pub fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let is_host = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c.is_control());
    is_host.then_some((host, port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_falls_into_host_and_port() {
        for (address, parts) in [
            ("example.org:7400", Some(("example.org", 7400))),
            ("[::1]:7400", Some(("::1", 7400))),
            ("10.0.0.1:1", Some(("10.0.0.1", 1))),
            ("::1:7400", None),
            ("example.org", None),
            (":7400", None),
            ("a b:1", None),
            ("a\r\nb:1", None),
            ("example.org:70000", None),
        ] {
            assert_eq!(host_and_port(address), parts, "{address:?}");
        }
    }
}
