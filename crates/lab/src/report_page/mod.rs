//! Recorded runs as one page: `vesica-lab bench report`.
//!
//! [`read`] takes the recordings from their files, [`Data`] is what is shown of them, [`html`] puts it
//! into a page that needs nothing else, [`markdown`] into a table, and [`plots`] into pictures.
//!
//! The page predicts a run over the reader's link by the model of `vesica plan`
//! (`vesica/src/plan/model.rs`): computing, plus bytes over the rate, plus what waits for the round
//! trip. Computing and bytes are those of the recorded runs, straight lines between measured sizes;
//! the rounds are those of the registry, each of them half a round trip. Where a run over a shaped
//! link was recorded, the page shows the model's time beside the measured one.
//!
//! Runs of programs of others ([`ProgramRun`]) have tables and plots of their own: what they measure,
//! from CSV to CSV, is not what a run of a protocol measures.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod data;
mod link;
mod markdown;
mod model;
mod programs;
mod recordings;
mod series;
mod svg;

pub use data::Data;
pub use markdown::table as markdown;
pub use programs::ProgramRun;
pub use recordings::{Recording, UnreadableRuns, read};
pub use svg::plots;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// Parts of the page's script, in their order.
const SCRIPTS: [&str; 9] = [
    include_str!("words.js"),
    include_str!("model.js"),
    include_str!("chart.js"),
    include_str!("plots.js"),
    include_str!("runs.js"),
    include_str!("programs.js"),
    include_str!("choice.js"),
    include_str!("ranking.js"),
    include_str!("page.js"),
];

/// One page of HTML that asks for no other file.
///
/// # Errors
/// If the data cannot be written as JSON, which only a number that is none could cause.
pub fn html(data: &Data) -> Result<String, serde_json::Error> {
    // No text of a run can end the element that it stands in.
    let data = serde_json::to_string(data)?.replace('<', "\\u003c");
    let script = SCRIPTS.concat();
    // The data comes last: no mark is looked for in it.
    Ok(PAGE.replacen("{{style}}", STYLE, 1).replacen("{{script}}", &script, 1).replacen("{{data}}", &data, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(label: &str) -> Data {
        let recording = Recording {
            label: label.into(),
            machine: None,
            runs: Vec::new(),
            programs: Vec::new(),
            left_out: Vec::new(),
            passed_over: 2,
        };
        Data::new(vec![recording]).expect("data")
    }

    #[test]
    fn no_text_ends_the_element_of_the_data() {
        let page = html(&data("</script><script>alert(1)</script><!--{{data}}{{script}}")).expect("a page");
        assert!(
            !page.contains("alert(1)</script>") && page.contains("\\u003c/script>\\u003cscript>alert(1)"),
            "{page}"
        );
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn the_page_asks_for_no_other_file() {
        let page = html(&data("none")).expect("a page");
        for outside in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
        }
        assert!(!page.contains("{{"));
    }

    #[test]
    fn a_table_of_markdown_keeps_its_columns() {
        let text = markdown(&data("a|b"));
        assert!(text.starts_with("| recording | task |") && text.contains("- a\\|b: a machine"), "{text}");
        assert!(text.contains("2 lines of other kinds passed over"));
    }
}
