//! What a server counts, and the page on which a monitoring system reads it, of a server or of a relay.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use vesica_party::service::Stop;

/// Upper bounds of the histogram of answers, in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0, 10.0];

/// Longest request that is read.
const MOST_REQUEST_BYTES: usize = 8 << 10;

/// Time for a whole request, and for taking its answer.
const REQUEST_LIMIT: Duration = Duration::from_secs(2);

/// Requests that are answered at a time.
const REQUESTS_AT_ONCE: usize = 32;

/// Time between two looks for a request.
const PAUSE: Duration = Duration::from_millis(20);

/// What a page shows.
pub(crate) trait Counted: Send + Sync + 'static {
    /// All counters in the text format of Prometheus, version 0.0.4.
    fn page(&self) -> String;

    /// Whether clients are answered.
    fn is_ready(&self) -> bool;
}

/// A counter's lines on a page.
pub(crate) fn line(page: &mut String, (name, kind, help): (&str, &str, &str), value: u64) {
    page.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
}

/// Counters of a server. None of them says anything of items.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub joined: AtomicU64,
    pub items: AtomicU64,
    pub ended: AtomicU64,
    pub failed: AtomicU64,
    pub over_quota: AtomicU64,
    pub over_enrolments: AtomicU64,
    pub over_set: AtomicU64,
    pub volume_alerts: AtomicU64,
    pub replaced: AtomicU64,
    pub reloaded: AtomicU64,
    pub reload_failed: AtomicU64,
    capacity: AtomicU64,
    is_prepared: AtomicBool,
    answered: [AtomicU64; BOUNDS.len() + 1],
    answer_micros: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl Counters {
    /// Notes that a set with so much room is prepared, so that clients are answered.
    pub fn set_prepared(&self, capacity: u64) {
        self.capacity.store(capacity, Ordering::Relaxed);
        self.is_prepared.store(true, Ordering::Relaxed);
    }

    /// Counts an answer.
    pub fn answered(&self, took: Duration) {
        let place = BOUNDS.iter().take_while(|&&bound| took.as_secs_f64() > bound).count();
        if let Some(counter) = self.answered.get(place) {
            add(counter, 1);
        }
        add(&self.answer_micros, took.as_micros() as u64);
    }
}

impl Counted for Counters {
    fn is_ready(&self) -> bool {
        self.is_prepared.load(Ordering::Relaxed)
    }

    fn page(&self) -> String {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut page = String::new();
        for (name, help, counter) in [
            ("vesica_joined_total", "Clients that enrolled or joined again.", &self.joined),
            ("vesica_items_total", "Items of answered queries, dummies included.", &self.items),
            ("vesica_connections_ended_total", "Connections that ended.", &self.ended),
            ("vesica_connections_failed_total", "Connections that ended with a failure.", &self.failed),
            (
                "vesica_over_quota_total",
                "Clients that had too little left of their quota, and were refused or left.",
                &self.over_quota,
            ),
            (
                "vesica_over_enrolments_total",
                "Clients that had fetched the set as often as --enrolments says, and were refused.",
                &self.over_enrolments,
            ),
            (
                "vesica_set_exhausted_total",
                "Queries that were refused because the set may answer no more items under its secret key.",
                &self.over_set,
            ),
            (
                "vesica_volume_alerts_total",
                "Times that a client had asked about more items in a period than --alert-volume says.",
                &self.volume_alerts,
            ),
            ("vesica_set_replaced_total", "Times that the set was replaced.", &self.replaced),
            ("vesica_reloads_total", "Times that the table was read again.", &self.reloaded),
            ("vesica_reloads_failed_total", "Times that it could not be read, or did not fit.", &self.reload_failed),
        ] {
            line(&mut page, (name, "counter", help), get(counter));
        }
        // How many there are is what dummies hide, and anybody may reach this page.
        let capacity = ("vesica_capacity", "gauge", "Keys that the set has room for, as clients are told.");
        line(&mut page, capacity, get(&self.capacity));
        page.push_str("# HELP vesica_answer_seconds Time from a query's first byte to its answer.\n");
        page.push_str("# TYPE vesica_answer_seconds histogram\n");
        let mut all = 0;
        for (bound, counter) in BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(&self.answered) {
            all += get(counter);
            page.push_str(&format!("vesica_answer_seconds_bucket{{le=\"{bound}\"}} {all}\n"));
        }
        let seconds = get(&self.answer_micros) as f64 / 1e6;
        page.push_str(&format!("vesica_answer_seconds_sum {seconds}\nvesica_answer_seconds_count {all}\n"));
        page
    }
}

/// A page that is answered until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenPage {
    address: SocketAddr,
    stop: Stop,
}

impl OpenPage {
    /// Binds `address`, and answers there on a thread of its own.
    pub fn new(address: &str, counters: Arc<impl Counted>) -> io::Result<Self> {
        let page = Page::bind(address)?;
        let open = Self { address: page.address()?, stop: Stop::new() };
        let stop = open.stop.clone();
        thread::Builder::new().name("vesica-metrics".into()).spawn(move || page.answer(&*counters, &stop))?;
        Ok(open)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The page's place, bound.
#[derive(Debug)]
struct Page(TcpListener);

impl Page {
    pub fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Answers `GET /metrics` and `GET /healthz` until the server stops. One that connects and says
    /// nothing keeps no other waiting, unless there are as many of them as requests at once.
    pub fn answer(&self, counters: &impl Counted, stop: &Stop) {
        let under_way = AtomicUsize::new(0);
        thread::scope(|scope| {
            while !stop.is_stopped() {
                if under_way.load(Ordering::Relaxed) >= REQUESTS_AT_ONCE {
                    thread::sleep(PAUSE);
                    continue;
                }
                let Ok((socket, _)) = self.0.accept() else {
                    thread::sleep(PAUSE);
                    continue;
                };
                under_way.fetch_add(1, Ordering::Relaxed);
                let under_way = &under_way;
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    // A monitor that breaks off harms nobody.
                    let _ = answer_one(socket, counters);
                    under_way.fetch_sub(1, Ordering::Relaxed);
                });
                if spawned.is_err() {
                    under_way.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }
}

fn answer_one(mut socket: TcpStream, counters: &impl Counted) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(REQUEST_LIMIT))?;
    socket.set_write_timeout(Some(REQUEST_LIMIT))?;
    let end = std::time::Instant::now() + REQUEST_LIMIT;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = socket.read(&mut part)?;
        request.extend_from_slice(part.get(..count).unwrap_or_default());
        if count == 0 || request.len() > MOST_REQUEST_BYTES || std::time::Instant::now() > end {
            return Ok(());
        }
    }
    let asked = String::from_utf8_lossy(&request);
    let mut words = asked.split_ascii_whitespace();
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => ("200 OK", counters.page()),
        (Some("GET"), Some("/healthz")) if counters.is_ready() => ("200 OK", "ok\n".to_owned()),
        (Some("GET"), Some("/healthz")) => ("503 Service Unavailable", "preparing\n".to_owned()),
        (Some("GET"), _) => ("404 Not Found", "there are /metrics and /healthz\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET is answered\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes())?;
    socket.write_all(body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(address: SocketAddr, request: &str) -> String {
        let mut socket = TcpStream::connect(address).expect("connected");
        socket.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn the_page_has_counters_health_and_nothing_else() {
        let (page, counters, stop) = (Page::bind("127.0.0.1:0").expect("a port"), Counters::default(), Stop::new());
        add(&counters.items, 16);
        counters.answered(Duration::from_millis(2));
        counters.answered(Duration::from_secs(60));
        let address = page.address().expect("bound");
        thread::scope(|scope| {
            scope.spawn(|| page.answer(&counters, &stop));
            let metrics = get(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
            for line in [
                "vesica_items_total 16",
                "vesica_answer_seconds_bucket{le=\"0.001\"} 0",
                "vesica_answer_seconds_bucket{le=\"0.0025\"} 1",
                "vesica_answer_seconds_bucket{le=\"+Inf\"} 2",
                "vesica_answer_seconds_count 2",
            ] {
                assert!(metrics.lines().any(|found| found == line), "{line} in {metrics}");
            }
            let early = get(address, "GET /healthz HTTP/1.1\r\n\r\n");
            assert!(early.starts_with("HTTP/1.1 503") && early.ends_with("preparing\n"), "{early}");
            counters.set_prepared(1024);
            assert!(get(address, "GET /healthz HTTP/1.1\r\n\r\n").ends_with("ok\n"));
            assert!(get(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
            assert!(get(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
            let _silent = TcpStream::connect(address).expect("one that says nothing");
            assert!(get(address, "GET /healthz HTTP/1.1\r\n\r\n").ends_with("ok\n"));
            stop.stop();
        });
    }
}
