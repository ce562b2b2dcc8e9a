//! Tables of papers with ours beside them: `vesica-lab bench compare` and docs/paper-tables.md.
//!
//! [`Paper`] holds what bench/papers says of one paper, [`Runs`] are recorded runs of ours, and
//! [`lines`] puts both side by side. [`Comparison`] does so for all tables of a paper, and is shown
//! as [`text`], [`markdown`] or [`json`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod column;
mod compare;
mod paper;
mod runs;
mod show;
mod wanted;

pub use column::{Column, Part, What, link_name};
pub use compare::{Compared, Comparison, Counts, Line, lines};
pub use paper::{
    Across, Figure, Hashing, HashingSaid, KEYS, Paper, PaperCell, PaperRow, PhaseRow, Phases, RatioRow, Ratios, Table,
};
pub use runs::{Cell, Kind, Runs, Time, Which, amount, seconds};
pub use show::{counted, counted_text, json, markdown, text};
pub use wanted::{HOUR, Limits, wanted};
