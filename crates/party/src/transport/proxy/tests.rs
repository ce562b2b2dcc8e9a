use std::collections::HashMap;

use super::*;

#[test]
fn a_url_names_a_proxy_and_no_text_shows_its_password() {
    for (url, shown) in [
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("HTTP://proxy.example/", "http://proxy.example:80"),
        ("socks5://10.0.0.1", "socks5://10.0.0.1:1080"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"),
        ("http://me:s%40cret%25@proxy.example:3128", "http://proxy.example:3128"),
    ] {
        let proxy = Proxy::parse(url).unwrap_or_else(|fault| panic!("{url}: {fault}"));
        assert_eq!((proxy.to_string(), format!("{proxy:?}")), (shown.to_owned(), shown.to_owned()));
    }
    let login = Proxy::parse("http://me:s%40cret%25@p:1").unwrap().login.unwrap();
    assert_eq!((login.user.as_str(), login.password.as_str()), ("me", "s@cret%"));
    for url in [
        "",
        "http://",
        "https://p:1",
        "ftp://p:1",
        "http://p:99999",
        "http://secret:%zz@p:1",
        "http://u:secret%0d%0aX@p:1",
        "http://p:1/secret",
        "http://secret /p:1",
    ] {
        let fault = Proxy::parse(url).expect_err(url).to_string();
        assert!(!fault.contains("secret") && fault.contains("socks5h://HOST:PORT"), "{url}: {fault}");
    }
}

fn chosen(address: &str, variables: &[(&str, &str)]) -> Option<String> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    let found = Proxy::of_environment(address, &|name| Some((*variables.get(name)?).into()));
    found.expect("a proxy").map(|(name, proxy)| format!("{name} {proxy}"))
}

#[test]
fn the_environment_names_a_proxy_but_not_for_every_host() {
    let set = ("HTTPS_PROXY", "http://p:1");
    assert_eq!(chosen("a.example:7400", &[set]).as_deref(), Some("HTTPS_PROXY http://p:1"));
    assert_eq!(
        chosen("a.example:7400", &[("all_proxy", "socks5h://q:2"), ("https_proxy", ""), set]).as_deref(),
        Some("HTTPS_PROXY http://p:1")
    );
    assert_eq!(chosen("a.example:7400", &[("ALL_PROXY", "q:2")]).as_deref(), Some("ALL_PROXY http://q:2"));
    for (address, without, is_direct) in [
        ("127.0.0.1:1", "", true),
        ("[::1]:1", "", true),
        ("localhost:1", "", true),
        ("a.example:1", "*", true),
        ("a.example:1", "b.example, example", true),
        ("a.example:1", ".example", true),
        ("A.Example.:1", "*.example", true),
        ("a.example:1", "ample", false),
        ("a.example:1", "a.example:2", false),
        ("a.example:2", "a.example:2", true),
        ("10.1.2.3:1", "10.0.0.0/8", true),
        ("11.1.2.3:1", "10.0.0.0/8,11.1.2.4", false),
        ("11.1.2.3:1", "0.0.0.0/0", true),
        ("[fd00::1]:1", "[fd00::1]:1", true),
        ("[fd00::1]:1", "fd00::/8", true),
        ("[fd00::1]:1", "fd00::/8000", false),
    ] {
        let found = chosen(address, &[set, ("NO_PROXY", without)]);
        assert_eq!(found.is_none(), is_direct, "{address} and {without:?}: {found:?}");
    }
    let bad = Proxy::of_environment("a.example:1", &|name| (name == "https_proxy").then(|| "ftp://u:pw@x".into()));
    assert_eq!(bad.expect_err("no proxy").0, "https_proxy");
}

/// A proxy that has all its answers ready, and what it was asked.
struct Played<'a>(&'a [u8], Vec<u8>);

impl Read for Played<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl Write for Played<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of an answer, what was asked, and what is left for the host.
fn asked(url: &str, answers: &[u8]) -> (Result<(), String>, Vec<u8>, Vec<u8>) {
    let mut played = Played(answers, Vec::new());
    let asked = Proxy::parse(url).unwrap().ask(&mut played, "a.example", 7400).map_err(|fault| match fault {
        ProxyFault::Lasting { fault, mend } => format!("{fault}; {mend}"),
        ProxyFault::Passing(fault) => format!("for now: {fault}"),
    });
    (asked, played.1, played.0.to_vec())
}

#[test]
fn connect_of_http_takes_the_head_alone_and_tells_refusals_apart() {
    let (granted, request, left) = asked("http://me:pw@p:1", b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n\x16\x03");
    assert_eq!((granted, left), (Ok(()), b"\x16\x03".to_vec()));
    let expected =
        "CONNECT a.example:7400 HTTP/1.1\r\nHost: a.example:7400\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n";
    assert_eq!(String::from_utf8(request).unwrap(), expected);
    for (url, answer, told) in [
        ("p:1", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "wants a user and a password"),
        ("me:pw@p:1", "HTTP/1.1 407 No\r\n\r\n", "does not take this user and password"),
        ("p:1", "HTTP/1.0 403 Forbidden \x1b[31m\r\n\r\n", "connect to a.example:7400: 403 Forbidden [31m"),
        ("p:1", "HTTP/1.1 503 Down\r\n\r\n", "for now: the proxy http://p:1 does not reach a.example:7400: 503 Down"),
        ("p:1", "HTTP/1.1 405 Not Allowed\r\n\r\n", "no proxy of this kind: 405"),
        ("p:1", "SSH-2.0-x\r\n\r\n", "no proxy of this kind: it does not speak HTTP"),
        ("p:1", "HTTP/1.1 200 OK\r\n", "for now: the proxy http://p:1 broke off: it hung up"),
        ("p:1", &"a".repeat(20_000), "longer than"),
    ] {
        let fault = asked(url, answer.as_bytes()).0.expect_err(answer);
        assert!(fault.contains(told) && !fault.contains("pw"), "{answer:?}: {fault}");
    }
}

#[test]
fn socks_hands_on_the_name_and_tells_refusals_apart() {
    let answers = b"\x05\x02\x01\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x1c\xe8\x16";
    let (granted, request, left) = asked("socks5h://me:pw@p:1", answers);
    assert_eq!((granted, left), (Ok(()), b"\x16".to_vec()));
    assert_eq!(request, b"\x05\x02\x00\x02\x01\x02me\x02pw\x05\x01\x00\x03\x09a.example\x1c\xe8");
    let named = b"\x05\x00\x05\x00\x00\x03\x02ab\x1c\xe8\x17";
    assert_eq!(asked("socks5h://p:1", named).2, b"\x17");
    for (url, answers, told) in [
        ("socks5h://p:1", &b"\x05\xff"[..], "wants a user and a password"),
        ("socks5h://me:pw@p:1", b"\x05\x02\x01\x01", "does not take this user and password"),
        ("socks5h://p:1", b"\x05\x00\x05\x02\x00\x01", "its rules do not allow it"),
        ("socks5h://p:1", b"\x05\x00\x05\x05\x00\x01", "for now: the proxy socks5h://p:1 does not reach"),
        ("socks5h://p:1", b"\x05\x00\x05\x09\x00\x01", "no proxy of this kind"),
        ("socks5h://p:1", b"\x05\x00\x05\x00\x00\x07", "no proxy of this kind"),
        ("socks5h://p:1", b"HTTP/1.1 400", "no proxy of this kind: it does not speak SOCKS 5"),
        ("socks5h://p:1", b"\x05\x01", "wants the method 1"),
        ("socks5h://p:1", b"\x05\x00\x05", "for now: the proxy socks5h://p:1 broke off"),
    ] {
        let fault = asked(url, answers).0.expect_err(told);
        assert!(fault.contains(told) && !fault.contains("pw"), "{fault}");
    }
}
