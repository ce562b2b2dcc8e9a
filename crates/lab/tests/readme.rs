//! The README's section on speed and that of docs/benchmarks.md are made from the newest recorded runs: no figure in
//! them can be invented.
//!
//! `VESICA_BLESS=1 cargo test --release -p vesica-lab --test readme` writes them, and
//! docs/paper-tables.md.

mod papers;
mod recorded;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use vesica_lab::papers::seconds;
use vesica_lab::{KeyBytes, Network, Spread};
use vesica_testkit::BLESS;

use recorded::Line;

const BEGIN: &str =
    "<!-- Made from bench/runs by a test of the bench crate (bench/record says how): do not edit from here -->\n";
const END: &str = "<!-- to here -->\n";

/// What [`Report`](vesica_lab::Report), [`CommandsReport`](vesica_lab::CommandsReport) and runs
/// of other programs have in common.
#[derive(Deserialize)]
struct Run {
    protocol: String,
    task: String,
    security: String,
    sender_items: u64,
    receiver_items: u64,
    intersection: u64,
    link: Option<Network>,
    key_bytes: Option<KeyBytes>,
    samples: Vec<Value>,
    bits_per_item: Option<f64>,
    peak_rss_sender: u64,
    peak_rss_receiver: u64,
}

/// Another program, measured beside this one: the line `public-<name>` of a folder of runs. Its
/// runs need no more fields than [`Run`] has.
#[derive(Deserialize)]
struct Peer {
    name: String,
    source: String,
    commit: String,
    runs: Vec<Run>,
}

impl Run {
    fn spread(&self) -> Spread {
        Spread::of(
            self.samples
                .iter()
                .map(|sample| sample.as_f64().unwrap_or_else(|| sample["total_seconds"].as_f64().expect("seconds"))),
        )
    }

    fn is_plain(&self, log: u32) -> bool {
        self.has_sizes(log, log) && self.intersection * 2 == self.sender_items && self.is_intersect(Network::Loopback)
    }

    fn has_sizes(&self, sender: u32, receiver: u32) -> bool {
        (self.sender_items, self.receiver_items) == (1 << sender, 1 << receiver)
    }

    fn is_intersect(&self, link: Network) -> bool {
        self.task == "intersect" && self.link == Some(link)
    }

    fn peak(&self) -> u64 {
        self.peak_rss_sender.max(self.peak_rss_receiver)
    }
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders that have wanted lines, the newest first, each with these lines.
fn folders(is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, Vec<Line>)> {
    let folders =
        fs::read_dir(top().join("bench/runs")).expect("recorded runs").map(|entry| entry.expect("a folder").path());
    // Names begin with their dates.
    let folders: BTreeSet<PathBuf> = folders.filter(|path| path.join(recorded::FILE).is_file()).collect();
    folders.into_iter().rev().filter_map(move |folder| {
        let mut lines = recorded::read(&folder).expect("a file of runs");
        lines.retain(|line| is_wanted(&line.name));
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        (!lines.is_empty()).then_some((name, lines))
    })
}

/// The wanted lines of the newest folder of runs that has any.
fn newest(is_wanted: impl Fn(&str) -> bool) -> Option<(String, Vec<Line>)> {
    folders(is_wanted).next()
}

/// The run of a line.
fn parse<T: DeserializeOwned>(line: &Line) -> T {
    T::deserialize(&line.run).unwrap_or_else(|fault| panic!("{}: {fault}", line.name))
}

fn cell(run: Option<&Run>, text: impl Fn(&Run) -> String) -> String {
    run.map_or_else(|| "–".into(), text)
}

fn median(run: &Run) -> String {
    format!("{} s", seconds(run.spread().median))
}

/// A row of the first table: sizes side by side, details of 2^20.
fn sizes_row(title: &str, security: &str, runs: &[&Run]) -> String {
    let of = |log: u32| runs.iter().copied().find(|run| run.is_plain(log));
    let middle = |run: &Run| {
        let spread = run.spread();
        format!(
            "{} s ({} to {})",
            seconds(spread.median),
            seconds(spread.lower_quartile),
            seconds(spread.upper_quartile)
        )
    };
    format!(
        "| {title} | {security} | {} | {} | {} | {} | {} | {} |\n",
        cell(of(16), median),
        cell(of(20), middle),
        cell(of(20), |run| run.bits_per_item.map_or("–".into(), |bits| format!("{bits:.0}"))),
        cell(of(20), |run| format!("{:.0} MiB", run.peak() as f64 / (1 << 20) as f64)),
        cell(of(22), median),
        cell(of(24), median),
    )
}

const MODES: [&str; 2] = ["semi-honest", "malicious"];
const PROTOCOLS: [&str; 2] = ["vole-fast", "vole-lean"];

/// The sections of the README and of docs/benchmarks.md.
fn sections() -> [String; 2] {
    // Only `bench/record` measures whole commands, beside the protocols of the table.
    let (folder, commands) = newest(|name| name.starts_with("commands-")).expect("a folder with runs");
    let folder_of_runs = top().join("bench/runs").join(&folder);
    let all = recorded::read(&folder_of_runs).expect("a file of runs");
    let protocols = all.iter().filter(|line| line.name.starts_with("vole-"));
    let runs: Vec<Run> = protocols.chain(&commands).map(parse).collect();
    let about = fs::read_to_string(folder_of_runs.join("README.md")).expect("what the runs are");
    let processor = about.lines().find_map(|line| line.strip_prefix("- processor: ")).expect("the processor");

    let mut text = format!(
        "An item is a distinct key. `--protocol auto`, the default, takes `vole-fast` for most joins, and for some large ones `vole-lean`, which \
         sends less. Unless a row says otherwise: two processes over loopback TCP, one thread each, half of the \
         items in common, set-up included. Times are medians, with quartiles at 2^20 items a side. Bits an item: what \
         both sides send, divided by the number of items of the larger set. Memory: of the process that takes more. \
         –: not measured. Machine: {processor}.\n\n| protocol | mode | 2^16 x 2^16 | 2^20 x 2^20 | bits an item | peak memory a party | 2^22 x \
         2^22 | 2^24 x 2^24 |\n|---|---|---|---|---|---|---|---|\n"
    );
    let of = |protocol: &str, security: &str| -> Vec<&Run> {
        runs.iter().filter(|run| run.protocol == protocol && run.security == security).collect()
    };
    for protocol in PROTOCOLS {
        for security in MODES {
            text.push_str(&sizes_row(&format!("`{protocol}`"), security, &of(protocol, security)));
        }
    }
    let mut peers = String::new();
    if let Some((folder, lines)) = newest(|name| name.starts_with("public-")) {
        for peer in lines.iter().map(parse::<Peer>) {
            for security in MODES {
                let runs: Vec<&Run> = peer.runs.iter().filter(|run| run.security == security).collect();
                text.push_str(&sizes_row(&peer.name, security, &runs));
            }
            peers.push_str(&format!(
                "The rows *{}* are another implementation: [{}](https://{}) at {}, built and measured on the same \
                 machine. Other users share that machine, and the rows were measured at different times. For a fairer \
                 comparison, [bench/runs/{folder}](bench/runs/{folder}) also has runs that alternate between Vesica \
                 and the public VOLE-PSI.\n",
                peer.name, peer.source, peer.source, peer.commit
            ));
        }
    }

    text.push('\n');
    text.push_str(&peers);
    text.push_str(&format!(
        "Runs with their commands: [bench/runs/{folder}](bench/runs/{folder}), made by `bench/record`; measure yours \
         with `vesica-lab bench`.\n"
    ));
    let more =
        format!("What the README's table of speed leaves out, of the same runs and machine.\n{}", other_runs(&runs));
    [text, more]
}

/// The second table: links, overlaps, unequal sizes, whole commands; a column for each protocol and
/// mode. Empty where nothing was run.
fn other_runs(runs: &[Run]) -> String {
    let shaped: Network = "100mbit,40ms".parse().expect("a link");
    let one_in = |run: &Run, share: u64| {
        run.has_sizes(20, 20) && run.is_intersect(Network::Loopback) && run.intersection == (share << 20) / 100
    };
    let unequal = |run: &Run, sender, receiver| run.is_intersect(Network::Loopback) && run.has_sizes(sender, receiver);
    let commands = |run: &Run, least, most| {
        run.task == "commands" && run.has_sizes(20, 20) && run.key_bytes == Some(KeyBytes { least, most })
    };
    type Wanted<'a> = &'a dyn Fn(&Run) -> bool;
    let rows: [(&str, Wanted); 8] = [
        ("2^20 x 2^20, 100 Mbit/s, 40 ms round trip", &|run| run.has_sizes(20, 20) && run.is_intersect(shaped)),
        ("2^20 x 2^20, 1% in common", &|run| one_in(run, 1)),
        ("2^20 x 2^20, 99% in common", &|run| one_in(run, 99)),
        ("2^12 (sender) x 2^20", &|run| unequal(run, 12, 20)),
        ("2^20 (sender) x 2^12", &|run| unequal(run, 20, 12)),
        ("2^16 (sender) x 2^20", &|run| unequal(run, 16, 20)),
        ("`receive` and `send`, CSV of 2^20 rows over TLS, one thread a core", &|run| commands(run, 24, 24)),
        ("the same, keys of 8 to 64 bytes", &|run| commands(run, 8, 64)),
    ];
    let mut text = String::new();
    for (title, is_wanted) in rows {
        let columns = PROTOCOLS.iter().flat_map(|protocol| MODES.map(|security| (protocol, security)));
        let find = |(protocol, security): (&&str, &str)| {
            let run =
                runs.iter().find(|run| run.protocol == **protocol && run.security == security && is_wanted(run))?;
            Some(median(run))
        };
        let cells: Vec<Option<String>> = columns.map(find).collect();
        if cells.iter().any(Option::is_some) {
            let cells: Vec<String> = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "–".into())).collect();
            text.push_str(&format!("| {title} | {} |\n", cells.join(" | ")));
        }
    }
    if text.is_empty() {
        return text;
    }
    let heads = PROTOCOLS.iter().flat_map(|protocol| MODES.map(|security| format!("`{protocol}` {security}")));
    format!("\n| | {} |\n|---|---|---|---|---|\n{text}", heads.collect::<Vec<_>>().join(" | "))
}

#[test]
fn the_pages_state_what_was_recorded() {
    for (name, is) in ["README.md", "docs/benchmarks.md"].into_iter().zip(sections()) {
        let path = top().join(name);
        let page = fs::read_to_string(&path).expect("a page");
        let (before, rest) = page.split_once(BEGIN).expect("where the section begins");
        let (was, after) = rest.split_once(END).expect("where the section ends");
        let is = format!("\n{is}\n");
        if std::env::var_os(BLESS).is_some() {
            fs::write(&path, [before, BEGIN, &is, END, after].concat()).expect("a page that can be written");
            continue;
        }
        let differs = was.lines().zip(is.lines()).find(|(was, is)| was != is);
        assert!(
            was == is,
            "{name}: the section on speed is not what bench/runs says; {BLESS}=1 writes it\n  {differs:?}"
        );
    }
}
