//! `vesica man`.

use clap_mangen::Man;
use vesica::Failure;
use vesica::failure::code;

use crate::args::{Cli, ManArgs};
use crate::outcome::{Outcome, print};

pub fn run(args: ManArgs) -> Outcome {
    let failed = |error: std::io::Error| {
        Failure::new(
            code::OUTPUT,
            format_args!("cannot write the manual: {error}"),
            "check that the folder can be written",
        )
    };
    match args.out {
        Some(folder) => {
            std::fs::create_dir_all(&folder).map_err(failed)?;
            clap_mangen::generate_to(Cli::grammar(), &folder).map_err(failed)
        }
        None => {
            let mut page = Vec::new();
            Man::new(Cli::grammar()).render(&mut page).map_err(failed)?;
            print(&String::from_utf8_lossy(&page))
        }
    }
}
