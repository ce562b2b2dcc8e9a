//! `CONNECT` of HTTP/1.1.

use std::io::{self, Read, Write};

use zeroize::Zeroizing;

use super::{Login, Refusal};
use crate::transport::tls::base64;

/// Longest head of an answer.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// Most of a proxy's own words that an error has.
const MOST_WORDS: usize = 80;

/// Asks for a connection. What follows the answer's head is the host's.
pub(super) fn ask(
    stream: &mut (impl Read + Write),
    host: &str,
    port: u16,
    login: Option<&Login>,
) -> Result<(), Refusal> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let mut request = Zeroizing::new(format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n"));
    if let Some(Login { user, password }) = login {
        let plain = Zeroizing::new(format!("{}:{}", user.as_str(), password.as_str()));
        let encoded = Zeroizing::new(base64(plain.as_bytes()));
        request.push_str("Proxy-Authorization: Basic ");
        request.push_str(&encoded);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes())?;
    let head = head(stream)?;
    let line = head.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    let said: String =
        line.iter().filter(|byte| (b' '..=b'~').contains(*byte)).take(MOST_WORDS).map(|&b| char::from(b)).collect();
    let status = said.strip_prefix("HTTP/1.").and_then(|rest| rest.get(1..)?.strip_prefix(' ')).map(str::to_owned);
    let code = status.as_ref().and_then(|status| status.get(..3)).and_then(|code| code.parse::<u16>().ok());
    let Some((status, code)) = status.zip(code) else { return Err(Refusal::NoProxy("it does not speak HTTP".into())) };
    Err(match code {
        200..=299 => return Ok(()),
        407 => Refusal::Login,
        // What is behind the proxy may come up: it answers for itself that it does not know how to connect.
        500 | 502..=504 => Refusal::Unreached(status),
        400 | 404 | 405 | 426 | 501 | 505 => Refusal::NoProxy(status),
        _ => Refusal::Forbidden(status),
    })
}

/// The bytes up to the empty line, and none behind it.
fn head(stream: &mut impl Read) -> Result<Vec<u8>, Refusal> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && !head.ends_with(b"\n\n") {
        if head.len() >= MOST_HEAD_BYTES {
            return Err(Refusal::NoProxy(format!("its answer is longer than {MOST_HEAD_BYTES} bytes")));
        }
        match stream.read(&mut byte) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(_) => head.extend_from_slice(&byte),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(head)
}
