//! `vesica._vesica`: the part of the Python package that is in Rust. A call takes flags of the command line and a
//! table in memory, runs the engine on a thread of its own, and gives back what it left. The modules in
//! `python/vesica` give it the tables of the libraries that people use.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod arrow;
mod cluster;
mod failure;
mod from_lists;
mod identity;
mod outcome;
mod run;
mod server;
mod table;
mod to_lists;

use pyo3::prelude::*;
use vesica_kernels::memory::HugePages;

#[global_allocator]
static MEMORY: HugePages = HugePages;

#[pymodule]
mod _vesica {
    #[pymodule_export]
    use crate::arrow::ArrowTable;
    #[pymodule_export]
    use crate::cluster::{
        FoundRows, KeyPart, agree_on_groups, divide_share, find_rows, merge_share, new_rows, on_cluster, own_rows,
        run_ticket, seal_key, unmasked,
    };
    #[pymodule_export]
    use crate::identity::{
        accept_identity, change_passphrase, new_identity, own_identity, revoke_identity, rotate_identity, show_identity,
    };
    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::run::{check, command, join, no_arguments, plan, protocols, query, receipt, settings, tasks};
    #[pymodule_export]
    use crate::server::Server;
    #[pymodule_export]
    use crate::table::Table;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        vesica_cli::embed::quiet_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
