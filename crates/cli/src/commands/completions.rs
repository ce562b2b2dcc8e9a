//! `vesica completions`.

use crate::args::{Cli, CompletionsArgs};
use crate::outcome::{Outcome, print};
use crate::program;

pub fn run(args: CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::grammar(), program::running().name, &mut script);
    print(&String::from_utf8_lossy(&script))
}
