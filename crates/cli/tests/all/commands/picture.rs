//! The picture of a first join in the README: what both sides print, drawn as two terminals.
//!
//! `VESICA_BLESS=1` draws it from a run. Without it, the picture must show what a run prints now, but for the lines
//! with times.

use std::fs;
use std::path::Path;

use crate::harness::Ended;

const PATH: &str = "docs/figures/first-join.svg";
/// Columns of a terminal, its letters' width and its lines' height.
const COLUMNS: usize = 92;
const WIDTH: f64 = 8.4;
const HEIGHT: usize = 20;

/// A command and what it printed, in lines that fit.
fn lines(command: &str, said: &str) -> Vec<String> {
    let mut lines = vec!["$".to_owned()];
    for word in command.split(' ') {
        let last = lines.last_mut().expect("a line");
        if last.len() + word.len() + 3 > COLUMNS {
            last.push_str(" \\");
            lines.push(format!("    {word}"));
        } else {
            last.push_str(&format!(" {word}"));
        }
    }
    for line in said.lines() {
        let line = if line.starts_with("listening on") { "listening on 127.0.0.1:7400" } else { line };
        let line = line.replace("first-join/", "");
        let (head, tail) = match line.rfind(", over ") {
            Some(at) if line.len() > COLUMNS => line.split_at(at + 2),
            _ => (line.as_str(), ""),
        };
        lines.push(head.trim_end().to_owned());
        lines.extend((!tail.is_empty()).then(|| format!("    {tail}")));
    }
    lines
}

fn draw(sides: [(&str, &str, &str); 2]) -> String {
    let (mut body, mut y) = (String::new(), 0);
    let width = COLUMNS as f64 * WIDTH + 32.0;
    for (title, command, said) in sides {
        let lines = lines(command, said);
        let height = (lines.len() + 2) * HEIGHT;
        body.push_str(&format!(
            "<rect x=\"0\" y=\"{y}\" width=\"{width:.0}\" height=\"{height}\" rx=\"8\" fill=\"#1d2430\"/>\n\
             <text x=\"16\" y=\"{}\" fill=\"#8fb4e8\">{title}</text>\n",
            y + HEIGHT
        ));
        for (number, line) in lines.iter().enumerate() {
            let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let at = y + (number + 2) * HEIGHT;
            body.push_str(&format!("<text x=\"16\" y=\"{at}\" xml:space=\"preserve\">{line}</text>\n"));
        }
        y += height + 12;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {y}\" font-family=\"monospace\" \
         font-size=\"14\" fill=\"#e6e9ee\">\n<desc>Made from a run of the commands that `vesica demo --keep first-join` \
         prints, by crates/cli/tests/all/commands/picture.rs with VESICA_BLESS=1. Do not edit.</desc>\n{body}</svg>\n"
    )
}

/// Draws the picture, or compares it with the one in the tree.
pub fn check(receive: &str, received: &Ended, send: &str, sent: &Ended) {
    let is = draw([("receiver", receive, &received.stderr), ("sender", send, &sent.stderr)]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PATH);
    if std::env::var_os("VESICA_BLESS").is_some() {
        fs::write(&path, &is).expect("a picture that can be written");
    }
    let was = fs::read_to_string(&path).expect("a picture");
    let without_times =
        |text: &str| text.lines().filter(|line| !line.contains(" MB")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_times(&was), without_times(&is), "{PATH} is not what a run prints; VESICA_BLESS=1 draws it");
}
