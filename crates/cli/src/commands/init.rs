//! `vesica init`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use vesica::Failure;
use vesica::failure::code;
use vesica::party::Security;
use vesica::task::{self, AnyTask, Example, takes_threshold};

use crate::args::InitArgs;
use crate::outcome::{Outcome, print};

pub fn run(args: InitArgs) -> Outcome {
    let text = example(task::find(&args.task)?);
    match &args.output {
        Some(path) => write(path, &text),
        None => print(&text),
    }
}

/// Writes a new file.
fn write(path: &Path, text: &str) -> Outcome {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::new(
            code::OUTPUT,
            format_args!("cannot write the example to {}: {error}", path.display()),
            "name another file; an existing one is never replaced",
        )
    })
}

/// An example of a job for a task.
pub fn example(task: &dyn AnyTask) -> String {
    let name = task.name();
    let Example { security, receiver, sender } = task.words().example;
    let security = match security {
        Security::SemiHonest => SEMI_HONEST,
        Security::Malicious => MALICIOUS,
    };
    let threshold = if takes_threshold(task) { THRESHOLD } else { "" };
    format!(
        "\
# A job for `vesica run`: what is computed, with which columns and how securely. Both sides can
# review and run this one file; each says which side it is:
#   vesica run job.toml --role receiver
#   vesica run job.toml --role sender
# A setting has the name of a flag of `vesica receive` and `vesica send`, whose --help describes it.
# Paths start at the folder of this file. Flags count before this file: --input other.csv.
# `vesica config job.toml --role receiver` shows every setting, and runs nothing.

# What both sides must agree on.
task = \"{name}\"
{security}
{threshold}
# The most keys that you accept of your partner.
max-peer-items = 10_000_000

# To hide how many keys you have, fill them up to this number:
# pad-to = 1_000_000
# How long to wait for the partner:
wait = \"10m\"

[receiver]
input = \"ours.csv\"
key = [\"email\"]
normalise = {{ email = \"email\" }}
{receiver}
listen = \"0.0.0.0:7400\"
identity = \"us.key\"
peer = \"them.pub\"        # or a name in your peers.toml
# receipt = \"receipt.json\"

[sender]
input = \"theirs.csv\"
key = [\"mail\"]
normalise = {{ mail = \"email\" }}
{sender}
connect = \"receiver.example:7400\"
identity = \"them.key\"
peer = \"us.pub\"
# receipt = \"receipt.json\"
"
    )
}

const THRESHOLD: &str = "
# A result over fewer common keys than this is withheld. \"none\" withholds no result.
reveal-if-at-least = 20
";

const SEMI_HONEST: &str = "\
# Secure if both sides follow the protocol.
security = \"semi-honest\"";

const MALICIOUS: &str = "\
# Secure even if a side does not follow the protocol. \"semi-honest\" is faster.
security = \"malicious\"";
