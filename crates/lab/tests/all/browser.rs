//! A headless Chromium, asked over WebDriver (W3C): JSON over plain HTTP to chromium-driver.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use flate2::read::ZlibDecoder;
use serde_json::{Value, json};

/// After this an answer is considered never to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// How WebDriver names the key in an element's reference.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window.
pub struct Browser {
    driver: Child,
    /// Kept open: a driver that cannot write ends.
    _output: BufReader<ChildStdout>,
    port: u16,
    session: String,
}

impl Browser {
    /// A browser with a window of 1280 x 1000. `None` where none is installed, which is said; in CI
    /// (`CI=true`) this is a failure.
    pub fn start() -> Option<Self> {
        let chromium = ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| on_path(name));
        let (Some(chromium), Some(driver)) = (chromium, on_path("chromedriver")) else {
            let mend = "install the packages chromium and chromium-driver";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "there is no Chromium with its driver: {mend}");
            eprintln!("skipped: there is no Chromium with its driver ({mend})");
            return None;
        };
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver starts");
        let mut output = BufReader::new(driver.stdout.take().expect("piped"));
        let port = output
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok());
        let port = port.expect("the driver names its port");
        let mut browser = Self { driver, _output: output, port, session: String::new() };
        // As root, Chromium runs without its sandbox only; the page is our own.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "binary": chromium, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let opened = browser.ask("POST", "", &wanted);
        browser.session = format!("/{}", opened["sessionId"].as_str().expect("a session"));
        Some(browser)
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        // A space in the path would end the address.
        let address = format!("file://{}", path.display()).replace(' ', "%20");
        self.ask("POST", "/url", &json!({ "url": address }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What a script returns, a list of texts.
    pub fn texts(&self, script: &str) -> Vec<String> {
        let value = self.run(script);
        let texts = value.as_array().unwrap_or_else(|| panic!("{script} gives {value}"));
        texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
    }

    /// Clicks the first element that the selector names.
    pub fn click(&self, selector: &str) {
        self.ask("POST", &format!("/element/{}/click", self.find(selector)), &json!({}));
    }

    /// Types into the first element that the selector names, behind what stands there.
    pub fn type_into(&self, selector: &str, text: &str) {
        self.ask("POST", &format!("/element/{}/value", self.find(selector)), &json!({ "text": text }));
    }

    /// Replaces the text of a field.
    pub fn set(&self, selector: &str, text: &str) {
        self.ask("POST", &format!("/element/{}/clear", self.find(selector)), &json!({}));
        self.type_into(selector, text);
    }

    /// Shows the page as a reader sees it who prefers this scheme, `light` or `dark`.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Shows the page in a window of this many pixels across.
    pub fn narrow(&self, width: u32) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// The first element that the selector names, as it looks.
    pub fn picture(&self, selector: &str) -> Picture {
        let shot = self.ask("GET", &format!("/element/{}/screenshot", self.find(selector)), &Value::Null);
        Picture::from_png(&base64(shot.as_str().expect("a picture")))
    }

    /// Asserts that the console has neither an error nor a warning since it was last asked.
    #[track_caller]
    pub fn expect_silence(&self) {
        let log = self.ask("POST", "/se/log", &json!({ "type": "browser" }));
        assert_eq!(log, json!([]), "the console says something");
    }

    fn devtools(&self, command: &str, parameters: Value) {
        self.ask("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn find(&self, selector: &str) -> String {
        let found = self.ask("POST", "/element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().expect("an element").to_owned()
    }

    /// The value of the answer to a command of the session.
    fn ask(&self, method: &str, command: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut answer = self.exchange(method, command, &body).expect("an answer");
        assert!(answer["value"]["error"].is_null(), "{method} {command} {body}: {}", answer["value"]);
        answer["value"].take()
    }

    /// The driver's answer to a command. It is read to the length that it names, not to the end of the
    /// connection: drivers keep that open.
    fn exchange(&self, method: &str, command: &str, body: &str) -> io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} /session{}{command} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.session,
            body.len()
        )?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length = line.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().expect("a length"));
        }
        let mut text = vec![0; length];
        answer.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends the browser. A driver that is gone already has ended it too.
        let _ = self.exchange("DELETE", "", "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Bytes of a text in base64.
fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| ALPHABET.iter().position(|&digit| digit == byte));
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in digits {
        (bits, held) = ((bits << 6) | digit as u32, held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// A decoded picture: red, green and blue of each pixel.
pub struct Picture {
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads what Chromium writes: eight bits a channel, with or without opacity, not interlaced.
    pub fn from_png(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let (width, height) = (number(16), number(20));
        assert_eq!((bytes[24], bytes[28]), (8, 0), "bits a channel, and no interlacing");
        let channels = if bytes[25] == 6 { 4 } else { 3 };
        let (mut packed, mut at) = (Vec::new(), 8);
        while at < bytes.len() {
            let length = number(at);
            if &bytes[at + 4..at + 8] == b"IDAT" {
                packed.extend_from_slice(&bytes[at + 8..at + 8 + length]);
            }
            at += length + 12;
        }
        let mut lines = Vec::new();
        ZlibDecoder::new(&*packed).read_to_end(&mut lines).expect("packed lines");
        let row = width * channels;
        assert_eq!(lines.len(), height * (row + 1));
        let mut above = vec![0u8; row];
        let mut pixels = Vec::new();
        for line in lines.chunks_exact(row + 1) {
            let mut current = line[1..].to_vec();
            for place in 0..row {
                let left = place.checked_sub(channels);
                let (before, corner) = (left.map_or(0, |left| current[left]), left.map_or(0, |left| above[left]));
                let guess = match line[0] {
                    0 => 0,
                    1 => before,
                    2 => above[place],
                    3 => u16::midpoint(before.into(), above[place].into()) as u8,
                    _ => nearest(before, above[place], corner),
                };
                current[place] = current[place].wrapping_add(guess);
            }
            pixels.extend(current.chunks_exact(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]]));
            above = current;
        }
        Self { pixels }
    }

    /// The colour that most pixels have.
    pub fn ground(&self) -> [u8; 3] {
        let counts = self.counts();
        counts.into_iter().max_by_key(|&(_, count)| count).expect("pixels").0
    }

    /// How often each colour occurs.
    pub fn counts(&self) -> std::collections::BTreeMap<[u8; 3], usize> {
        let mut counts = std::collections::BTreeMap::new();
        for pixel in &self.pixels {
            *counts.entry(*pixel).or_default() += 1;
        }
        counts
    }
}

/// Paeth's predictor (PNG specification, section 9.4).
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let distance = |value: i16| (a + b - c - value).abs();
    if distance(a) <= distance(b) && distance(a) <= distance(c) {
        left
    } else if distance(b) <= distance(c) {
        above
    } else {
        corner
    }
}
