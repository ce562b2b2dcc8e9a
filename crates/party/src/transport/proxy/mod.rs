//! Proxies between this side and the host that it dials: HTTP with `CONNECT` (RFC 9110 section 9.3.6), and SOCKS 5
//! (RFC 1928, with names and passwords by RFC 1929).
//!
//! A proxy learns the host and the port, and sees then what everybody on the way sees. It may want a user and a
//! password, which no text of this module holds.

mod bypass;
mod http;
mod socks;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use zeroize::Zeroizing;

use super::dial::host_and_port;
use super::limited::Limited;
use super::tcp::{NoAddress, attempt, resolve};

/// Longest time in which a proxy must have connected to the host.
const DIALOGUE_LIMIT: Duration = Duration::from_secs(20);

/// The variables that name a proxy, the first that is set and not empty first; those that name hosts without one.
const VARIABLES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const WITHOUT: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// A proxy, with the user and the password that it wants. Neither is ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: Kind,
    /// `host:port`.
    address: String,
    login: Option<Login>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Socks {
        /// Whether the proxy resolves names of hosts, and not this side.
        resolves_names: bool,
    },
}

/// A user and a password.
#[derive(Clone, PartialEq, Eq)]
struct Login {
    user: Zeroizing<String>,
    password: Zeroizing<String>,
}

/// Why a text names no proxy. It does not hold the text, which may have a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; {mend}", mend = Self::MEND)]
pub struct NotAProxy(&'static str);

impl NotAProxy {
    /// What to write instead.
    pub const MEND: &str = "write http://HOST:PORT, socks5h://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before the \
                            host if the proxy wants them, and %40 for an @ in them";

    /// What is wrong.
    pub fn fault(self) -> &'static str {
        self.0
    }
}

/// Why a proxy gave no connection.
#[derive(Debug)]
pub(super) enum ProxyFault {
    /// It stays so.
    Lasting {
        /// What the proxy says.
        fault: String,
        /// What to do about it.
        mend: String,
    },
    /// The proxy is not there, or the host behind it is not, at least now.
    Passing(String),
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            Kind::Http => "http",
            Kind::Socks { resolves_names: true } => "socks5h",
            Kind::Socks { resolves_names: false } => "socks5",
        };
        write!(f, "{scheme}://{}", self.address)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Proxy {
    /// The proxy of a URL.
    ///
    /// # Errors
    /// If it is none, or of a kind that is not spoken here.
    pub fn parse(url: &str) -> Result<Self, NotAProxy> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "http" => Kind::Http,
            "socks5" => Kind::Socks { resolves_names: false },
            "socks5h" | "socks" => Kind::Socks { resolves_names: true },
            "https" => return Err(NotAProxy("a proxy to which the way is TLS itself is not supported")),
            _ => return Err(NotAProxy("a proxy is of no known kind")),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (login, address) = match rest.rsplit_once('@') {
            Some((login, address)) => (Some(login), address),
            None => (None, rest),
        };
        let default = if kind == Kind::Http { ":80" } else { ":1080" };
        let whole = [address.to_owned(), format!("{address}{default}")];
        let address = whole.into_iter().find(|address| host_and_port(address).is_some());
        let address = address.ok_or(NotAProxy("a proxy has no host, or no port"))?;
        if address.contains(['/', '?', '#']) {
            return Err(NotAProxy("a path follows the host of a proxy"));
        }
        let login = login.map(Login::parse).transpose()?;
        let is_long = |text: &str| text.len() > 255;
        if login.as_ref().is_some_and(|login| is_long(&login.user) || is_long(&login.password)) {
            return Err(NotAProxy("the user or the password of a proxy is longer than 255 bytes"));
        }
        Ok(Self { kind, address, login })
    }

    /// The proxy that the usual variables name for a connection to `host`: the first of `https_proxy`, `HTTPS_PROXY`,
    /// `all_proxy` and `ALL_PROXY` that is not empty, unless `no_proxy` or `NO_PROXY` has the host, or the host is this
    /// machine. With it comes the variable's name.
    ///
    /// # Errors
    /// If the variable names none, with its name.
    pub fn of_environment(
        address: &str,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<(&'static str, Self)>, (&'static str, NotAProxy)> {
        let value = |name: &&'static str| {
            let value = variable(name)?.to_string_lossy().trim().to_owned();
            (!value.is_empty()).then_some((*name, value))
        };
        let Some((name, url)) = VARIABLES.iter().find_map(value) else { return Ok(None) };
        let Some((host, port)) = host_and_port(address) else { return Ok(None) };
        let without = WITHOUT.iter().find_map(value).map(|(_, list)| list).unwrap_or_default();
        if bypass::is_this_machine(host) || bypass::names(&without, host, port) {
            return Ok(None);
        }
        Self::parse(&url).map(|proxy| Some((name, proxy))).map_err(|fault| (name, fault))
    }

    /// Whether the proxy resolves names of hosts, and not this side.
    pub(super) fn resolves_names(&self) -> bool {
        self.kind != Kind::Socks { resolves_names: false }
    }

    /// A connection to a host behind the proxy.
    pub(super) fn connect(&self, host: &str, port: u16) -> Result<TcpStream, ProxyFault> {
        let absent = |fault: io::Error| ProxyFault::Passing(format!("the proxy {self} does not answer: {fault}"));
        let addresses = resolve(&self.address).map_err(|none| match none {
            NoAddress::Malformed(_) => absent(io::ErrorKind::InvalidInput.into()),
            NoAddress::Unknown(fault) => {
                ProxyFault::Passing(format!("the name of the proxy {self} has no address: {fault}"))
            }
        })?;
        let socket = attempt(&addresses).map_err(absent)?;
        let mut limited = Limited::new(&socket, DIALOGUE_LIMIT);
        self.ask(&mut limited, host, port)?;
        limited.lift().map_err(absent)?;
        Ok(socket)
    }

    /// Has the proxy at the other end of `stream` connect to the host.
    fn ask(&self, stream: &mut (impl Read + Write), host: &str, port: u16) -> Result<(), ProxyFault> {
        let answered = match self.kind {
            Kind::Http => http::ask(stream, host, port, self.login.as_ref()),
            Kind::Socks { .. } => socks::ask(stream, host, port, self.login.as_ref()),
        };
        let target = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        answered.map_err(|refusal| self.told(refusal, &target))
    }

    /// What users read of a refusal.
    fn told(&self, refusal: Refusal, target: &str) -> ProxyFault {
        let lasting = |fault: String, mend: &str| ProxyFault::Lasting { fault, mend: mend.into() };
        match refusal {
            Refusal::Broken(fault) => ProxyFault::Passing(format!("the proxy {self} broke off: {fault}")),
            Refusal::Unreached(said) => {
                ProxyFault::Passing(format!("the proxy {self} does not reach {target}: {said}"))
            }
            Refusal::Forbidden(said) => lasting(
                format!("the proxy {self} does not let this side connect to {target}: {said}"),
                "have whoever runs the proxy allow that host and port, or name another one with --proxy; --proxy none \
                 connects directly",
            ),
            Refusal::Login if self.login.is_none() => lasting(
                format!("the proxy {self} wants a user and a password"),
                "write them into its URL, as in http://USER:PASSWORD@HOST:PORT; in the variable HTTPS_PROXY, nobody sees \
                 them in the list of processes",
            ),
            Refusal::Login => lasting(
                format!("the proxy {self} does not take this user and password"),
                "correct them in its URL; characters such as @, : and / stand there as %40, %3A and %2F",
            ),
            Refusal::NoProxy(said) => lasting(
                format!("what answers at {} is no proxy of this kind: {said}", self.address),
                "check the proxy's address, and its kind: http:// for CONNECT, socks5h:// for SOCKS 5",
            ),
        }
    }
}

/// What a proxy answers that does not connect. Texts hold printable ASCII characters alone.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// It hung up, or says nothing.
    Broken(String),
    /// It has not reached the host, at least now.
    Unreached(String),
    /// It may not.
    Forbidden(String),
    /// It wants a user and a password, or other ones.
    Login,
    /// It does not speak as a proxy.
    NoProxy(String),
}

impl From<io::Error> for Refusal {
    fn from(fault: io::Error) -> Self {
        match fault.kind() {
            io::ErrorKind::UnexpectedEof => Self::Broken("it hung up without an answer".into()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                Self::Broken(format!("it says nothing for {} s", DIALOGUE_LIMIT.as_secs()))
            }
            _ => Self::Broken(fault.to_string()),
        }
    }
}

impl Login {
    /// That of `USER:PASSWORD`, percent-encoded.
    fn parse(text: &str) -> Result<Self, NotAProxy> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let [user, password] = [user, password].map(decoded);
        let bad = NotAProxy("the user or the password of a proxy is not percent-encoded text");
        Ok(Self { user: user.ok_or(bad)?.into(), password: password.ok_or(bad)?.into() })
    }
}

/// A text without its percent-encoding (RFC 3986 section 2.1).
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains(|c: char| c.is_control()))
}

/// A proxy's answer to `CONNECT`, or as SOCKS 5, for fuzzing. Whether it has connected.
pub(crate) fn fuzz(answer: &[u8], is_http: bool) -> bool {
    struct Played<'a>(&'a [u8]);
    impl Read for Played<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }
    impl Write for Played<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let login = Login::parse("user:password").ok();
    let ask = if is_http { http::ask } else { socks::ask };
    ask(&mut Played(answer), "example.org", 7400, login.as_ref()).is_ok()
}

#[cfg(test)]
mod tests;
