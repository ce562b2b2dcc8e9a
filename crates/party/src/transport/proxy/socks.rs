//! SOCKS 5: the greeting, a user and a password if the proxy wants them, and `CONNECT`.

use std::io::{Read, Write};
use std::net::IpAddr;

use zeroize::Zeroizing;

use super::{Login, Refusal};

const VERSION: u8 = 5;
/// Methods of authentication.
const NONE: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
/// The version of RFC 1929.
const PASSWORD_VERSION: u8 = 1;
const CONNECT: u8 = 1;
/// Kinds of addresses.
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Asks for a connection. What follows the last answer is the host's.
pub(super) fn ask(
    stream: &mut (impl Read + Write),
    host: &str,
    port: u16,
    login: Option<&Login>,
) -> Result<(), Refusal> {
    let methods: &[u8] = if login.is_some() { &[NONE, PASSWORD] } else { &[NONE] };
    stream.write_all(&[&[VERSION, methods.len() as u8], methods].concat())?;
    let [version, method] = take(stream)?;
    match (version, method, login) {
        (VERSION, NONE, _) => {}
        (VERSION, PASSWORD, Some(login)) => log_in(stream, login)?,
        (VERSION, NO_METHOD | PASSWORD, _) => return Err(Refusal::Login),
        (VERSION, ..) => return Err(Refusal::NoProxy(format!("it wants the method {method} of authentication"))),
        _ => return Err(Refusal::NoProxy("it does not speak SOCKS 5".into())),
    }
    let mut request = vec![VERSION, CONNECT, 0];
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
        Err(_) => {
            let length = u8::try_from(host.len());
            let length = length.map_err(|_| Refusal::Forbidden("the name is longer than 255 bytes".into()))?;
            request.extend([NAME, length]);
            request.extend(host.bytes());
        }
    }
    request.extend(port.to_be_bytes());
    stream.write_all(&request)?;
    let [version, answer, _, kind] = take(stream)?;
    if version != VERSION {
        return Err(Refusal::NoProxy("it does not speak SOCKS 5".into()));
    }
    granted(answer)?;
    // The address from which the proxy connects is of no use here.
    let length = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => usize::from(take::<1>(stream)?[0]),
        _ => return Err(Refusal::NoProxy("its answer has no address".into())),
    };
    let mut unused = [0; 255 + 2];
    Ok(stream.read_exact(unused.get_mut(..length + 2).unwrap_or_default())?)
}

fn log_in(stream: &mut (impl Read + Write), Login { user, password }: &Login) -> Result<(), Refusal> {
    let mut request = Zeroizing::new(vec![PASSWORD_VERSION]);
    for text in [user, password] {
        request.push(text.len() as u8);
        request.extend(text.bytes());
    }
    stream.write_all(&request)?;
    let [_, status] = take(stream)?;
    if status == 0 { Ok(()) } else { Err(Refusal::Login) }
}

fn granted(answer: u8) -> Result<(), Refusal> {
    let said = match answer {
        0 => return Ok(()),
        1 => "it failed",
        2 => return Err(Refusal::Forbidden("its rules do not allow it".into())),
        3 => "the network is not reachable",
        4 => "the host is not reachable, or its name is not known",
        5 => "nobody listens there",
        6 => "it took too long",
        7 => return Err(Refusal::NoProxy("it makes no connections".into())),
        8 => return Err(Refusal::Forbidden("it does not take this kind of address".into())),
        _ => return Err(Refusal::NoProxy("its answer means nothing".into())),
    };
    Err(Refusal::Unreached(said.into()))
}

fn take<const N: usize>(stream: &mut impl Read) -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
