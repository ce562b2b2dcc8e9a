//! The short help (`-h`): one screen a command, with the required flags first.
//!
//! [`BRIEFS`] names the flags that `-h` shows, with a text of one line each. Every other flag is shown by
//! `--help` alone, which keeps all flags and their whole texts.

use clap::{Arg, Command};

/// What `-h` shows of a command.
pub struct Brief {
    /// The command's name.
    pub command: &'static str,
    /// The ids and short texts of the flags without which the command does not run. They come first, in both helps.
    pub required: &'static [(&'static str, &'static str)],
    /// The ids and short texts of the flags that are used most.
    pub common: &'static [(&'static str, &'static str)],
}

const INPUT: (&str, &str) = ("input", "Your table: CSV, JSON lines, Parquet or Arrow; - for standard input");
const KEY: (&str, &str) = ("key", "A key column; repeat the flag for a key of several columns");
const OR_KEY: (&str, &str) = ("or_key", "Match rows by this key too, as well as by --key");
const LISTEN: (&str, &str) = ("listen", "Wait for your partner at this address");
const CONNECT: (&str, &str) = ("connect", "Connect to your partner at this address, instead of --listen");
const PEER: (&str, &str) = ("peer", "Your partner's public key: the .pub file, or its line");
const NORMALISE: (&str, &str) = ("normalise", "Normalise a key column: trim, lower, email, date, ...");
const FORCE: (&str, &str) = ("force", "Replace existing files");
const IDENTITY: (&str, &str) = ("identity", "Your private key [default: made on first use]");
const THRESHOLD: (&str, &str) = ("reveal_if_at_least", "Withhold a result over fewer common keys");
const BOTH_LEARN: (&str, &str) = ("both_learn", "The sender learns its matches too; both sides must say it");
const PAD_TO: (&str, &str) = ("pad_to", "Hide how many keys you have: add dummies up to N");
const RECEIPT: (&str, &str) = ("receipt", "Write a receipt that both sides sign");
const SECURITY: (&str, &str) = ("security", "What the run must withstand");
const PEERS: (&str, &str) = ("peers", "The file of your partners; all flags of receive and send may follow, too");
const DRY_RUN: (&str, &str) = ("dry_run", "Try all but the run itself; both sides must say it");
const JSON: (&str, &str) = ("json", "Print one JSON object");

/// Those of the product's commands.
pub const BRIEFS: &[Brief] = &[
    Brief {
        command: "receive",
        required: &[INPUT, KEY, ("output", "Where to write the result; - for standard output"), LISTEN, CONNECT, PEER],
        common: &[
            ("payload", "Columns to expect of your partner, or to compute with"),
            NORMALISE,
            OR_KEY,
            IDENTITY,
            ("task", ""),
            THRESHOLD,
            SECURITY,
            BOTH_LEARN,
            PAD_TO,
            RECEIPT,
            DRY_RUN,
            JSON,
        ],
    },
    Brief {
        command: "send",
        required: &[INPUT, KEY, LISTEN, CONNECT, PEER],
        common: &[
            ("payload", "Columns to give for matches, or to compute with"),
            NORMALISE,
            OR_KEY,
            IDENTITY,
            ("task", ""),
            THRESHOLD,
            SECURITY,
            BOTH_LEARN,
            PAD_TO,
            RECEIPT,
            DRY_RUN,
            JSON,
        ],
    },
    Brief {
        command: "serve",
        required: &[
            INPUT,
            KEY,
            ("listen", "Wait for clients at this address"),
            ("clients", "The clients that may ask: a file with one public key on each line"),
            ("quota", "How many items each client may ask about, for example 1000/day"),
            ("no_quota", "Let each client ask about as many items as it likes, instead of --quota"),
        ],
        common: &[
            ("state", "Keep the prepared set, its secret key and used quotas in this file"),
            NORMALISE,
            IDENTITY,
            ("payload", "Columns that a client gets with each match"),
            ("capacity", "How many keys the set has room for; clients see this number"),
            ("protocol", "The protocol of the service"),
            ("security", "What queries must withstand"),
            ("metrics", "Show counters at this address, for Prometheus"),
        ],
    },
    Brief {
        command: "query",
        required: &[
            INPUT,
            KEY,
            ("output", "Where to write the matching rows; - for standard output"),
            ("connect", "The server's address"),
            ("peer", "The server's public key: the .pub file, or its line"),
        ],
        common: &[
            NORMALISE,
            FORCE,
            IDENTITY,
            ("state", "Keep what the server sends once in this file, for the next run"),
            ("wait", "How long to try to reach the server"),
            ("security", "What queries must withstand"),
            JSON,
        ],
    },
    Brief {
        command: "relay",
        required: &[
            ("listen", "Wait for parties at this address"),
            ("key", "Take the tickets alone that this key has made: the file of `vesica relay ticket --key`"),
            ("any_ticket", "Join any two that show the same ticket, instead of --key"),
        ],
        common: &[
            ("max_connections", "How many connections there may be at once"),
            ("bytes_per_ticket", "How many bytes may go by one ticket while the relay runs"),
            ("patience", "How long one may wait for the other"),
            ("grace", "How long pairs may go on after SIGTERM"),
            ("metrics", "Show counters at this address, for Prometheus"),
            ("log", ""),
        ],
    },
    Brief {
        command: "plan",
        required: &[
            ("sender_items", "Distinct keys of the sender"),
            ("receiver_items", "Distinct keys of the receiver"),
        ],
        common: &[
            ("task", ""),
            SECURITY,
            ("payload_bytes", "Bytes of payload for each key of the sender"),
            ("columns", "Columns of numbers to compute with"),
            ("link", "The link: loopback, lan, or RATE,RTT such as 100mbit,40ms"),
            ("threads", "How many threads compute on each side"),
            ("all", "List all protocols, also those that cannot run"),
            ("calibrate", "Measure this machine again"),
            JSON,
        ],
    },
    Brief { command: "run", required: &[("job", "The job file")], common: &[("role", ""), PEERS] },
    Brief { command: "config", required: &[("job", "The job file, if there is one")], common: &[("role", ""), PEERS] },
    Brief {
        command: "check",
        required: &[("file", "The table, a folder or a pattern of files; - for standard input"), KEY],
        common: &[
            ("second", "A second table of yours: which keys the two have in common"),
            NORMALISE,
            OR_KEY,
            ("second_key", "A key column of the second table [default: those of --key]"),
            ("second_normalise", "Normalise a key column of the second table"),
            ("show_keys", "How many keys to show; 0 shows no value of your table"),
            ("task", ""),
            ("payload", "Columns that a run would take beside the key"),
            JSON,
        ],
    },
];

/// Gives a command line its short help: that of `briefs` where a command stands there.
pub fn shorten(command: Command, briefs: &'static [Brief]) -> Command {
    let command = command.mut_subcommands(|command| shorten(command, briefs));
    let brief = briefs.iter().find(|brief| brief.command == command.get_name());
    let command = match brief {
        Some(brief) => {
            // Behind the required flags, of which there are fewer than 100, in the order of their declaration.
            let mut places = 100..;
            command.mut_args(|arg| brief.show(arg, places.next().unwrap_or(usize::MAX)))
        }
        None => command,
    };
    if brief.is_none() && command.get_after_long_help().is_none() {
        return command;
    }
    command.after_help("This is an overview. --help has everything: all flags, their whole texts, and examples.")
}

impl Brief {
    /// A flag with its place in the help: `behind` unless it is required.
    fn show(&self, arg: Arg, behind: usize) -> Arg {
        let id = arg.get_id().clone();
        let place = |list: &[(&str, &str)]| list.iter().position(|(listed, _)| id == *listed);
        let text = |list: &[(&'static str, &'static str)], place: usize| list.get(place).map_or("", |(_, text)| *text);
        if let Some(place) = place(self.required) {
            let text = text(self.required, place);
            return with_short_text(arg.help_heading(None::<&'static str>).display_order(place), text);
        }
        let arg = arg.display_order(behind);
        match place(self.common) {
            Some(place) => {
                let text = text(self.common, place);
                with_short_text(arg, text)
            }
            None => arg.hide_short_help(true),
        }
    }
}

/// Makes `text` what `-h` says of a flag, and keeps for `--help` what it said before. An empty text changes nothing.
fn with_short_text(arg: Arg, text: &'static str) -> Arg {
    if text.is_empty() {
        return arg;
    }
    match arg.get_long_help().or(arg.get_help()).cloned() {
        Some(whole) => arg.long_help(whole).help(text),
        None => arg.help(text),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_flag_of_a_brief_exists() {
        let cli = Cli::command();
        for brief in BRIEFS {
            let command = cli.find_subcommand(brief.command).unwrap_or_else(|| panic!("no command {}", brief.command));
            for (id, _) in brief.required.iter().chain(brief.common) {
                assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{} has no {id}", brief.command);
            }
        }
    }

    /// A flag without which a command is refused must not be missing in its short help.
    #[test]
    fn required_flags_are_in_the_short_help_and_come_first() {
        let cli = shorten(Cli::command(), BRIEFS);
        for command in cli.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.is_required_set()) {
                assert!(!arg.is_hide_short_help_set(), "{}: {arg}", command.get_name());
                if BRIEFS.iter().any(|brief| brief.command == command.get_name()) {
                    assert_eq!(arg.get_help_heading(), None, "{}: {arg}", command.get_name());
                }
            }
        }
    }
}
