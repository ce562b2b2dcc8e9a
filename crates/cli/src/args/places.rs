//! Where a flag has a place beside the command line. A flag of `receive` or `send` is a setting of job files, and a
//! flag of any command is an argument of programs that call it, such as the Python package: both follow from its
//! declaration. The lists here name the flags of which that is not so, and those that a file of partners may say.

use clap::Arg;

/// Flags that only the command line can say: what a file says must not turn a run into none.
pub const TYPED_ALONE: [&str; 2] = ["dry-run", "expect-peer-items"];

/// What a file of partners may say for runs with a partner: how they go. What names the table, the partner or the
/// result, and what is computed, stands in the job.
pub const OF_PARTNERS: [&str; 21] = [
    "wait",
    "deadline",
    "identity",
    "passphrase-file",
    "security",
    "post-quantum",
    "protocol",
    "link",
    "reveal-if-at-least",
    "allow-count",
    "max-item-bytes",
    "pad-to",
    "max-peer-items",
    "memory",
    "threads",
    "json",
    "progress",
    "listen",
    "relay",
    "ticket",
    "proxy",
];

/// Flags for tables in files and for terminals: a program has its table in memory, and hears of a run by calls.
pub const OF_FILES: [&str; 10] = [
    "input",
    "output",
    "format",
    "delimiter",
    "progress",
    "verbose",
    "log",
    "second-key",
    "second-or-key",
    "second-normalise",
];

/// Flags that a program does not say, because the call says it already: what to print, and into which file.
pub const OF_CALLS: [&str; 6] = ["help", "version", "json", "out", "html", "schema"];

/// Whether only the command line can say a flag.
pub fn is_typed_alone(flag: &Arg) -> bool {
    is_among(flag, &TYPED_ALONE)
}

/// Whether a flag is an argument of programs.
pub fn is_argument(flag: &Arg) -> bool {
    flag.get_long().is_some() && !is_among(flag, &OF_FILES) && !is_among(flag, &OF_CALLS) && !flag.is_hide_set()
}

/// Whether a value of a flag is a list of names with commas between them, each of which may itself have a comma.
pub fn is_list_of_names(flag: &Arg) -> bool {
    flag.get_value_names().is_some_and(|names| names.iter().any(|name| name.ends_with(",...")))
}

/// Whether a value of a flag is one for a column: `COLUMN=VALUE`.
pub fn is_of_columns(flag: &Arg) -> bool {
    flag.get_value_names().is_some_and(|names| names.iter().any(|name| name.starts_with("COLUMN=")))
}

fn is_among(flag: &Arg, names: &[&str]) -> bool {
    flag.get_long().is_some_and(|name| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use clap::{ArgAction, Command, CommandFactory, ValueHint};
    use vesica::party::Role;

    use super::*;
    use crate::args::{Cli, flags_of};
    use crate::settings::job::OpenJob;

    /// The flags of both sides, each once.
    fn of_runs() -> Vec<Arg> {
        let mut flags = flags_of(Role::Receiver);
        let own = |flags: &[Arg], flag: &Arg| flags.iter().any(|other| other.get_id() == flag.get_id());
        let others: Vec<Arg> = flags_of(Role::Sender).into_iter().filter(|flag| !own(&flags, flag)).collect();
        flags.extend(others);
        flags
    }

    fn name(flag: &Arg) -> &str {
        flag.get_long().expect("a long name")
    }

    /// A job file can say every flag, but for those that are typed; it can say one for columns as a table, and a path
    /// starts at its folder.
    #[test]
    fn every_flag_of_a_run_is_a_setting_of_jobs_or_typed_alone() {
        for role in [Role::Receiver, Role::Sender] {
            for flag in flags_of(role) {
                let words = flag.get_possible_values().into_iter().map(|value| format!("{:?}", value.get_name()));
                let values: Vec<String> = match flag.get_action() {
                    ArgAction::SetTrue => vec!["true".into()],
                    _ if is_of_columns(&flag) => vec!["{ a = \"2\" }".into()],
                    _ => words.chain(["2".into(), "\"100mbit,40ms\"".into()]).collect(),
                };
                let parse = |value: &String| {
                    OpenJob::parse(&format!("[{role}]\n{} = {value}\n", name(&flag)), Path::new("job.toml")).is_ok()
                };
                assert_eq!(values.iter().any(parse), !is_typed_alone(&flag), "{flag}");
                let is_file = flag
                    .get_value_names()
                    .is_some_and(|names| names.iter().any(|name| name == "FILE" || name == "FOLDER"));
                let is_path =
                    matches!(flag.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath);
                assert_eq!(is_file, is_path, "{flag} has its path from another folder than the job's");
            }
        }
    }

    #[test]
    fn the_lists_name_flags_that_there_are() {
        fn add(names: &mut BTreeSet<String>, command: &Command) {
            names.extend(command.get_arguments().filter_map(Arg::get_long).map(str::to_owned));
            command.get_subcommands().for_each(|command| add(names, command));
        }
        let mut grammar = Cli::command();
        grammar.build();
        let mut all = BTreeSet::new();
        add(&mut all, &grammar);
        for name in OF_FILES.iter().chain(&OF_CALLS) {
            assert!(all.contains(*name), "{name}");
        }
        for listed in TYPED_ALONE.iter().chain(&OF_PARTNERS) {
            for role in [Role::Receiver, Role::Sender] {
                let flags = flags_of(role);
                let flag = flags.iter().find(|flag| name(flag) == *listed).expect(listed);
                assert!(
                    !matches!(flag.get_help_heading(), None | Some("Table")),
                    "{listed} names the table or the result"
                );
            }
        }
    }

    fn page(path: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What stands between backticks in the sentence of a text in which `told` is.
    fn named_where<'a>(text: &'a str, told: &str) -> BTreeSet<&'a str> {
        let at = text.find(told).unwrap_or_else(|| panic!("no page says {told:?}"));
        let start = text[..at].rfind(". ").map_or(0, |end| end + 2);
        let end = text[at..].find(". ").map_or(text.len(), |end| at + end);
        text[start..end].split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_page_on_jobs_names_the_flags_of_each_kind() {
        let page = page("docs/jobs.md").split_whitespace().collect::<Vec<_>>().join(" ");
        let flags = of_runs();
        let those = |is: &dyn Fn(&Arg) -> bool| flags.iter().filter(|flag| is(flag)).map(name).collect::<BTreeSet<_>>();
        assert_eq!(named_where(&page, "take a table with a value for each column"), those(&is_of_columns));
        let typed: BTreeSet<String> = TYPED_ALONE.iter().map(|name| format!("--{name}")).collect();
        assert_eq!(named_where(&page, "cannot stand in a file"), typed.iter().map(String::as_str).collect());
        let variables: BTreeSet<&str> = flags.iter().filter_map(|flag| flag.get_env()?.to_str()).collect();
        assert_eq!(named_where(&page, "an environment variable: "), variables);
        for name in those(&is_list_of_names) {
            assert!(page.contains(&format!("array of `{name}`")) || page.contains(&format!("words of `{name} = ")));
        }
    }

    /// A flag that no page names has only its help.
    #[test]
    fn every_flag_of_a_run_is_on_a_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let pages = fs::read_dir(folder).expect("the pages").map(|entry| entry.expect("a page").path());
        let text: String = pages
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .map(|path| fs::read_to_string(path).expect("a page"))
            .collect();
        let words: BTreeSet<&str> = text
            .split(|char: char| !char.is_ascii_lowercase() && char != '-')
            .filter(|word| word.starts_with("--"))
            .collect();
        for flag in of_runs() {
            assert!(words.contains(&*format!("--{}", name(&flag))), "no page names {flag}");
        }
    }
}
