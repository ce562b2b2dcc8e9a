//! `vesica completions`.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::outcome::{Outcome, print};

pub fn run(args: CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "vesica", &mut script);
    print(&String::from_utf8_lossy(&script))
}
