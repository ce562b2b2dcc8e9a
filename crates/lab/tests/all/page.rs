//! `vesica-lab bench report`: its files and errors, and its page in a real browser.

use std::path::Path;

use serde_json::{Value, json};
use vesica::plan::Link;

use crate::browser::{Browser, Picture};
use crate::harness::Folder;

/// A text that would plant an element if the page took it for HTML.
const PLANT: &str = "</script><b id=planted>";

/// What `vesica-lab bench --json` prints, for a run of as many items on either side.
pub fn run(protocol: &str, items: u64, link: &str, seconds: f64, bytes: u64) -> Value {
    json!({
        "protocol": protocol, "task": "intersect", "security": "semi-honest",
        "sender_items": items, "receiver_items": items, "intersection": items / 2, "correct": true, "link": link,
        "threads_per_party": 1, "in_process": false, "item_bytes": 16, "payload_bytes": 0, "groups": 1,
        "repeats": 3, "setup_seconds": 0.1, "online_seconds": seconds - 0.1, "total_seconds": seconds,
        "total_spread": { "least": seconds, "lower_quartile": seconds, "median": seconds, "upper_quartile": seconds, "most": seconds },
        "samples": [], "cpu_seconds_sender": seconds, "cpu_seconds_receiver": seconds,
        "sender_bytes": bytes / 4, "receiver_bytes": bytes - bytes / 4, "total_bytes": bytes,
        "bits_per_item": 1.0, "predicted_bytes": [bytes - 900, bytes - 900],
        "peak_rss_sender": 100 << 20, "peak_rss_receiver": 50 << 20, "cost_usd": null,
        "phases": { "sender": {}, "receiver": {} },
    })
}

/// Eight runs of four protocols, of which one is wrong and one sent other bytes than its formula says,
/// and two lines of other kinds.
fn recorded() -> String {
    let mut runs = vec![
        ("fast-16", run("vole-fast", 1 << 16, "loopback", 0.5, 2_000_000)),
        ("fast-20", run("vole-fast", 1 << 20, "loopback", 1.0, 20_000_000)),
        ("fast-20-wan", run("vole-fast", 1 << 20, "100mbit,40ms", 3.0, 20_000_000)),
        ("curve-16", run("ecdh-hfh99", 1 << 16, "loopback", 3.0, 300_000)),
        ("curve-20", run("ecdh-hfh99", 1 << 20, "loopback", 40.0, 5_000_000)),
        (PLANT, run("ecdh-hfh99", 1 << 20, "100mbit,40ms", 40.2, 5_000_000)),
        ("wrong", run("rr22", 1 << 20, "loopback", 2.0, 60_000_000)),
        ("other-bytes", run("vole-lean", 1 << 20, "loopback", 1.5, 25_000_000)),
    ];
    runs[6].1["correct"] = false.into();
    runs[7].1["predicted_bytes"] = json!([30_000_000, 30_000_000]);
    let lines = runs.into_iter().map(|(name, run)| json!({ "name": name, "run": run }));
    let others = [json!({ "machine": { "cores": 2 } }), json!({ "name": "huge", "refused": "too large" })];
    lines.chain(others).map(|line| format!("{line}\n")).collect()
}

/// A folder with a recording, and the page of it; `None` where there is no browser.
fn opened() -> Option<(Folder, Browser)> {
    let browser = Browser::start()?;
    let folder = Folder::new();
    folder.write("runs.jsonl", recorded());
    folder.write("README.md", "# Runs\n\n- processor: a machine of <b>tests</b>\n");
    folder.run("bench report . --html page.html").expect(0, &["passed over 2 lines"]);
    browser.open(&folder.path("page.html"));
    Some((folder, browser))
}

const NAMES: &str = "return [...document.querySelectorAll('#all tbody tr')].map(row => row.title)";
const RANKING: &str = "return [...document.querySelectorAll('#ranking tbody tr')].map(row => row.dataset.protocol)";

#[test]
fn reports_are_written_once_and_malformed_lines_are_named() {
    let folder = Folder::new();
    folder.write("runs.jsonl", recorded());
    let before = folder.files();
    for usage in ["bench report runs.jsonl", "bench report --html page.html", "bench report --markdown"] {
        assert_eq!(folder.run(usage).code, 2, "{usage}");
    }
    folder.run("bench report missing.jsonl --html page.html").expect(3, &["cannot read missing.jsonl"]);
    folder.write("malformed.jsonl", format!("{}{{\"name\":\n", recorded()));
    folder.run("bench report malformed.jsonl --html page.html").expect(3, &["malformed.jsonl, line 11: "]);
    folder.write("cut.jsonl", recorded().replace("\"total_bytes\":60000000", "\"total_bytes\":\"many\""));
    folder.run("bench report cut.jsonl --html page.html").expect(3, &["cut.jsonl, line 7: "]);
    folder.write("others.jsonl", "{\"machine\":{}}\n");
    folder.run("bench report others.jsonl --html page.html").expect(3, &["no run of one protocol"]);
    for name in ["malformed.jsonl", "cut.jsonl", "others.jsonl"] {
        std::fs::remove_file(folder.path(name)).expect("removed");
    }
    assert_eq!(folder.files(), before, "an error leaves nothing");

    folder.run("bench report runs.jsonl --html page.html").expect(0, &["passed over 2 lines"]);
    let page = folder.read("page.html");
    folder.write("page.html", "mine");
    folder.run("bench report runs.jsonl --html page.html").expect(4, &["page.html"]);
    assert_eq!(folder.read("page.html"), "mine");
    folder.run("bench report runs.jsonl --html page.html --force").expect(0, &[]);
    assert!(folder.read("page.html") == page, "the same runs give the same page");
    assert!(folder.run("bench report runs.jsonl --html -").stdout == page);
    // What `bench` itself prints is read back.
    let printed = folder.run("bench --sender-items 90 --receiver-items 100 --repeat 1 --in-process --json");
    folder.write("own.jsonl", format!("{{\"name\":\"own\",\"run\":{}}}", printed.stdout.trim_end()));
    let table = folder.run("bench report own.jsonl --markdown").stdout;
    assert!(table.contains("| 90 | 100 | loopback |") && table.contains("| yes | yes |"), "{table}");
}

#[test]
fn a_report_is_a_table_of_markdown_too() {
    let folder = Folder::new();
    folder.write("runs.jsonl", recorded());
    let table = folder.run("bench report runs.jsonl --markdown").stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 1 + 8, "{table}");
    let columns = |row: &str| row.matches('|').count();
    assert!(rows.iter().all(|row| columns(row) == columns(rows[0])), "{table}");
    // Computing of 1 s, 20 MB at 100 Mbit/s, and four rounds of half of 40 ms.
    assert!(rows[3].contains("| 100 Mbit/s, 40 ms | 3.00 (3.00 to 3.00) | 2.68 | 20.000 |"), "{}", rows[3]);
    assert!(rows[7].ends_with("| **no** | yes |") && rows[8].ends_with("| yes | **no** |"), "{table}");
    assert!(rows[2].ends_with("| 1.00 (1.00 to 1.00) | – | 20.000 | 100 | yes | yes |"), "{}", rows[2]);
}

#[test]
fn plots_are_written_as_files() {
    let folder = Folder::new();
    folder.write("runs.jsonl", recorded());
    folder.run("bench report runs.jsonl --svg plots").expect(0, &[]);
    let names = ["bytes", "size"].map(|kind| format!("plots/runs.jsonl-intersect-semi-honest-{kind}.svg"));
    let [by_bytes, by_size] = names.each_ref().map(|name| folder.read(name));
    // A mark and one in the legend for each protocol; the run with a wrong output is left out.
    assert_eq!((by_bytes.matches("<circle").count(), by_bytes.matches("rr22").count()), (2 * 3, 0), "{by_bytes}");
    assert_eq!((by_size.matches("<circle").count(), by_size.matches("<polyline").count()), (5 + 3, 3), "{by_size}");
    folder.run("bench report runs.jsonl --svg plots").expect(4, &[names[0].as_str()]);
    folder.run("bench report runs.jsonl --svg plots --force").expect(0, &[]);
    let Some(browser) = Browser::start() else { return };
    browser.open(&folder.path(&names[1]));
    assert_eq!(browser.run("return document.documentElement.tagName"), "svg");
    browser.expect_silence();
}

#[test]
fn columns_sort_the_page() {
    let Some((_folder, browser)) = opened() else { return };
    let by_time = browser.texts(NAMES);
    assert_eq!(by_time[..4], ["fast-16", "fast-20", "other-bytes", "wrong"]);
    let sorted = "return [...document.querySelectorAll('#all thead th')].filter(head => head.ariaSort).map(head => \
                  `${head.textContent} ${head.ariaSort}`)";
    assert_eq!(browser.texts(sorted), ["Time ascending"]);
    let head = browser.texts("return [...document.querySelectorAll('#all thead th')].map(head => head.textContent)");
    let bytes = 1 + head.iter().position(|title| title == "Bytes").expect("a column of bytes");
    let button = format!("#all thead th:nth-child({bytes}) button");
    browser.click(&button);
    let ascending = ["curve-16", "fast-16", "curve-20", PLANT, "fast-20", "fast-20-wan", "other-bytes", "wrong"];
    assert_eq!(browser.texts(NAMES), ascending);
    assert_eq!(browser.texts(sorted), ["Bytes ascending"]);
    // By keyboard, the other way round.
    browser.type_into(&button, "\u{e007}");
    assert_eq!(browser.texts(sorted), ["Bytes descending"]);
    assert_eq!(browser.texts(NAMES)[..2], ["wrong", "other-bytes"]);
    // What has no value comes last in both directions.
    let model = 1 + head.iter().position(|title| title == "Model").expect("a column of the model");
    for _ in 0..2 {
        browser.click(&format!("#all thead th:nth-child({model}) button"));
        let mut first = browser.texts(NAMES)[..2].to_vec();
        first.sort();
        assert_eq!(first, [PLANT, "fast-20-wan"]);
    }
    browser.expect_silence();
}

#[test]
fn filters_leave_only_matching_runs() {
    let Some((_folder, browser)) = opened() else { return };
    let shown = || browser.texts("return [document.getElementById('shown').textContent]").remove(0);
    assert_eq!((browser.texts(NAMES).len(), shown().as_str()), (8, "8 of 8 runs."));
    browser.type_into("#find", "ECDH");
    assert_eq!(browser.texts(NAMES), ["curve-16", "curve-20", PLANT]);
    assert_eq!(shown(), "3 of 8 runs.");
    browser.click("#by-link option[value^='100 Mbit']");
    assert_eq!(browser.texts(NAMES), [PLANT]);
    browser.click("#by-link option[value='']");
    browser.set("#find", "nobody");
    assert!(browser.texts(NAMES).is_empty());
    browser.set("#find", " ");
    browser.click("#by-checks option[value=bad]");
    assert_eq!(browser.texts(NAMES), ["other-bytes", "wrong"]);
    let marks = "return [...document.querySelectorAll('#all tbody .bad')].map(mark => mark.textContent)";
    assert_eq!(browser.texts(marks), ["✗ no", "✗ wrong"]);
    browser.expect_silence();
}

#[test]
fn the_readers_link_changes_the_ranking() {
    let Some((_folder, browser)) = opened() else { return };
    let seconds = |protocol: &str| {
        let value = format!("return Number(document.querySelector('[data-protocol={protocol}]').dataset.seconds)");
        browser.run(&value).as_f64().expect("seconds")
    };
    let is_about = |value: f64, wanted: f64| assert!((value - wanted).abs() < 2e-6, "{value} for {wanted}");
    // The link that was measured stands there first, with what was measured beside the model. Whose
    // outputs were wrong is not ranked.
    assert_eq!(browser.texts(RANKING), ["vole-fast", "vole-lean", "ecdh-hfh99"]);
    is_about(seconds("vole-fast"), 1.0 + 1.6 + 0.08);
    let beside = browser.texts("return [document.querySelector('[data-protocol=vole-fast]').textContent]");
    assert!(beside[0].contains("3.00 s (−11%)"), "{beside:?}");

    browser.set("#rate", "1");
    let slow = ["ecdh-hfh99", "vole-fast", "vole-lean"];
    assert_eq!(browser.texts(RANKING), slow);
    is_about(seconds("ecdh-hfh99"), 40.0 + 40.0 + 1.5 * 0.04);
    // A long way lets a channel carry no more than its window, as the transport counts it.
    browser.set("#rate", "10000");
    browser.set("#round-trip", "400");
    let link = Link { bits_per_second: 10_000_000_000, round_trip_us: 400_000 };
    is_about(seconds("vole-fast"), 1.0 + link.transfer_us(20_000_000) as f64 / 1e6 + 2.0 * 0.4);
    assert_eq!(browser.texts(RANKING)[2], "ecdh-hfh99");

    // By price, bytes weigh more than time.
    browser.click("#rank-by option[value=usd]");
    assert_eq!(browser.texts(RANKING)[0], "ecdh-hfh99");
    browser.set("#sender-price", "0");
    browser.set("#receiver-price", "0");
    assert_eq!(browser.texts(RANKING)[0], "vole-fast");

    // Between two measured sizes: a fifth of the way. What was measured at one size is not ranked.
    browser.set("#sender-items", "262144");
    browser.set("#receiver-items", "2^18");
    assert_eq!(browser.texts(RANKING), ["vole-fast", "ecdh-hfh99"]);
    is_about(seconds("vole-fast"), 0.6 + link.transfer_us(5_600_000) as f64 / 1e6 + 2.0 * 0.4);
    let said = |id: &str| browser.texts(&format!("return [document.getElementById('{id}').textContent]")).remove(0);
    assert!(said("unranked").contains("rr22, vole-lean"), "{}", said("unranked"));
    browser.set("#round-trip", "long");
    assert!(said("link-state").contains("no number"), "{}", said("link-state"));
    assert_eq!(browser.texts("return [document.getElementById('round-trip').ariaInvalid]"), ["true"]);
    browser.expect_silence();
}

#[test]
fn plots_are_drawn_in_light_and_dark() {
    let Some((folder, browser)) = opened() else { return };
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        // Opened anew: Chromium does not paint all marks again when the scheme changes under a page.
        browser.open(&folder.path("page.html"));
        for plot in ["pareto", "by-size", "by-rate"] {
            // The marks and lines of each protocol, in the colours that the scheme has for them.
            let colours = browser.texts(&format!(
                "return [...new Set([...document.querySelectorAll('#{plot} > svg :is(.point, .series)')].map(part => \
                 getComputedStyle(part)[part.matches('.point') ? 'fill' : 'stroke']))]"
            ));
            assert!(colours.len() >= 2, "{plot} in {scheme}: {colours:?}");
            let lacks = |picture: &Picture| {
                let counts = picture.counts();
                let drawn = picture.pixels.len() - counts[&picture.ground()];
                if drawn * 100 <= picture.pixels.len() {
                    return Some(format!("{plot} is all but empty in {scheme}: {drawn} pixels"));
                }
                let seen = |colour: &str| {
                    let parts: Vec<u8> =
                        colour.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
                    counts.get(parts.as_slice()).copied().unwrap_or_default()
                };
                let missing = colours.iter().find(|colour| seen(colour) < 20)?;
                let mut most: Vec<_> = counts.iter().map(|(colour, count)| (*count, *colour)).collect();
                most.sort_unstable_by(|a, b| b.cmp(a));
                most.truncate(12);
                Some(format!("{plot} in {scheme} has {} pixels of {missing}, and most of {most:?}", seen(missing)))
            };
            // A busy machine paints late.
            let mut picture = browser.picture(&format!("#{plot} > svg"));
            for _ in 0..100 {
                if lacks(&picture).is_none() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(100));
                picture = browser.picture(&format!("#{plot} > svg"));
            }
            assert_eq!(lacks(&picture), None);
            let ground = picture.ground();
            grounds.push(ground);
        }
    }
    let is_light = |ground: &[u8; 3]| ground.iter().all(|&part| part > 200);
    assert!(grounds[..3].iter().all(is_light) && !grounds[3..].iter().any(is_light), "{grounds:?}");
    // On a telephone nothing but tables is wider than the screen.
    browser.narrow(400);
    let wide = "const page = document.documentElement; return page.scrollWidth - page.clientWidth";
    assert_eq!(browser.run(wide), 0);
    browser.expect_silence();

    // Real recordings, some without a machine and some with lines of other kinds.
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/runs");
    let arguments = ["papers-xeon-cascade-lake-2core", "xeon-cascade-lake-2core", "plan-xeon-cascade-lake-2core"];
    let recorded = arguments.map(|name| runs.join(format!("2026-11-22-{name}")).display().to_string());
    folder.run(&format!("bench report {} --html real.html", recorded.join(" "))).expect(0, &["5 lines"]);
    browser.open(&folder.path("real.html"));
    assert!(browser.texts(NAMES).len() > 200 && browser.texts(RANKING).len() > 5);
    // No choice is cut, neither on a screen nor on half of one. The arrow takes some 30 pixels.
    let cut = "const pen = document.createElement('canvas').getContext('2d'); \
               return [...document.querySelectorAll('select')].flatMap(select => { \
               pen.font = getComputedStyle(select).font; \
               const isCut = option => pen.measureText(option.text).width > select.clientWidth - 30; \
               return [...select.options].filter(isCut).map(option => `${select.id}: ${option.text}`); })";
    for width in [1200, 800] {
        browser.narrow(width);
        assert_eq!(browser.texts(cut), [""; 0], "{width}");
    }
    // Lines that share a colour differ in their dashes.
    let alike = "const looks = [...document.querySelectorAll('#by-rate .series')].map(line => \
                 `${getComputedStyle(line).stroke} ${line.getAttribute('stroke-dasharray')}`); \
                 return looks.filter((look, place) => looks.indexOf(look) !== place)";
    assert_eq!(browser.texts(alike), [""; 0]);
    browser.expect_silence();
}

#[test]
fn the_page_needs_nothing_else_and_names_its_parts() {
    let Some((_folder, browser)) = opened() else { return };
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
    assert_eq!(browser.run("return document.querySelectorAll('#planted, header b b').length"), 0);
    let nameless = "return [...document.querySelectorAll('input, select, button, summary, [role=region]')].filter(part => \
                    !(part.labels?.[0] ?? part).textContent.trim() && !part.ariaLabel).map(part => part.outerHTML)";
    assert!(browser.texts(nameless).is_empty(), "{:?}", browser.texts(nameless));
    let pictures = "return [...document.querySelectorAll('svg[role=img]')].map(picture => \
                    [picture.querySelector(':scope > title'), picture.querySelector(':scope > desc'), \
                    picture.parentNode.querySelector('table tbody tr')].every(Boolean) ? 'told' : picture.outerHTML)";
    assert_eq!(browser.texts(pictures), ["told"; 3]);
    let loose = "return [...document.querySelectorAll('thead th')].filter(head => head.scope !== 'col').map(head => \
                 head.outerHTML)";
    assert!(browser.texts(loose).is_empty(), "{:?}", browser.texts(loose));
    browser.expect_silence();
}
