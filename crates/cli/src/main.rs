//! The `vesica` command.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use vesica_kernels::memory::HugePages;

#[global_allocator]
static MEMORY: HugePages = HugePages;

fn main() -> ExitCode {
    vesica_cli::forbid_core_dumps();
    vesica_cli::run(&vesica_cli::PRODUCT, &env::args_os().collect::<Vec<OsString>>())
}
