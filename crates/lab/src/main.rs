//! The `vesica-lab` command.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use vesica_kernels::memory::HugePages;

#[global_allocator]
static MEMORY: HugePages = HugePages;

fn main() -> ExitCode {
    vesica_lab::install();
    vesica_cli::run(&vesica_lab::cli::LAB, &env::args_os().collect::<Vec<OsString>>())
}
