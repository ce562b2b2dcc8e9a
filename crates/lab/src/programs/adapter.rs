//! How a program is called: lists of arguments with placeholders. No shell reads them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use vesica_structures::facts::Unsupported;

/// What a placeholder stands for, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// The sender's table.
    SenderCsv,
    /// The receiver's table.
    ReceiverCsv,
    /// Where the receiver writes the common keys.
    OutputCsv,
    /// A TCP port that nobody listens on, another one in each repeat.
    Port,
    /// The IP address of the receiver.
    Address,
    /// The folder of the run, where all of its processes start.
    Work,
    /// Rows of the larger table.
    Items,
    /// Rows of the sender's table.
    SenderItems,
    /// Rows of the receiver's table.
    ReceiverItems,
    /// The `vesica` that measures.
    Vesica,
    /// The folder of the suite file.
    Suite,
}

use Placeholder::{
    Address, Items, OutputCsv, Port, ReceiverCsv, ReceiverItems, SenderCsv, SenderItems, Suite, Vesica, Work,
};

/// All placeholders.
const ALL: [Placeholder; 11] =
    [SenderCsv, ReceiverCsv, OutputCsv, Port, Address, Work, Items, SenderItems, ReceiverItems, Vesica, Suite];

impl Placeholder {
    /// Its name between braces.
    pub const fn name(self) -> &'static str {
        match self {
            SenderCsv => "sender_csv",
            ReceiverCsv => "receiver_csv",
            OutputCsv => "output_csv",
            Port => "port",
            Address => "address",
            Work => "work",
            Items => "items",
            SenderItems => "sender_items",
            ReceiverItems => "receiver_items",
            Vesica => "vesica",
            Suite => "suite",
        }
    }

    /// Whether it differs between repeats.
    const fn is_of_a_repeat(self) -> bool {
        matches!(self, SenderCsv | ReceiverCsv | OutputCsv | Port)
    }
}

/// For what a list of arguments is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What a run needs before its first repeat and before there are tables: keys, certificates.
    Prepare,
    /// The sender's side.
    Sender,
    /// The receiver's side.
    Receiver,
}

impl Purpose {
    /// Groups of placeholders, of each of which one must be there, and what it is for.
    const fn needs(self) -> &'static [(&'static [Placeholder], &'static str)] {
        match self {
            Self::Prepare => &[],
            Self::Sender => &[(&[SenderCsv, Work], "its table"), (&[Port], "the port at which both sides meet")],
            Self::Receiver => &[
                (&[ReceiverCsv, Work], "its table"),
                (&[OutputCsv, Work], "where to write the common keys"),
                (&[Port], "the port at which both sides meet"),
            ],
        }
    }
}

/// A piece of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Placeholder),
}

/// A list of arguments: the program first. Each argument reaches the program as it is, blanks included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// As the suite file has them.
    pub written: Vec<String>,
    pieces: Vec<Vec<Piece>>,
}

impl Arguments {
    /// Reads the list `key` of a suite file.
    ///
    /// # Errors
    /// If the list names no program, has an unknown placeholder, or lacks one that its purpose needs.
    pub fn read(key: &str, written: &[String], purpose: Purpose) -> Result<Self, Unsupported> {
        let wrong = |fault: String, mend: String| Err(Unsupported::new(format!("{key}: {fault}"), mend));
        let Some(program) = written.first().filter(|program| !program.is_empty()) else {
            return wrong(
                "it names no program".into(),
                "write the program first, then its arguments, each in quotes".into(),
            );
        };
        if program.contains('/') && !program.starts_with(['/', '{']) {
            return wrong(
                format!("the path {program:?} is relative"),
                format!(
                    "write \"{{suite}}/{}\" for a file beside the suite file, an absolute path, or a name on PATH",
                    program.trim_start_matches("./")
                ),
            );
        }
        let mut pieces = Vec::with_capacity(written.len());
        for argument in written {
            match read_pieces(argument) {
                Ok(read) => pieces.push(read),
                Err(fault) => return wrong(format!("in {argument:?}, {fault}"), known(purpose)),
            }
        }
        let list = Self { written: written.to_vec(), pieces };
        if let Some(place) = list.places().find(|place| purpose == Purpose::Prepare && place.is_of_a_repeat()) {
            return wrong(
                format!("{{{}}} is not known yet: this list runs once, before the tables are written", place.name()),
                "name tables and port in `sender` and `receiver`, whose time counts".into(),
            );
        }
        for (any, what) in purpose.needs() {
            if !list.places().any(|place| any.contains(&place)) {
                let names: Vec<String> = any.iter().map(|place| format!("{{{}}}", place.name())).collect();
                return wrong(
                    format!("the program is not told {what}"),
                    format!(
                        "add an argument with {}; a script that knows it otherwise may ignore it",
                        names.join(" or ")
                    ),
                );
            }
        }
        Ok(list)
    }

    fn places(&self) -> impl Iterator<Item = Placeholder> {
        self.pieces.iter().flatten().filter_map(|piece| match piece {
            Piece::Place(place) => Some(*place),
            Piece::Text(_) => None,
        })
    }

    /// The arguments with values for placeholders.
    pub(super) fn filled(&self, value: &dyn Fn(Placeholder) -> String) -> Vec<String> {
        let fill = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(place) => value(*place),
        };
        self.pieces.iter().map(|argument| argument.iter().map(fill).collect()).collect()
    }
}

/// The placeholders that a list may have.
fn known(purpose: Purpose) -> String {
    let names: Vec<String> = ALL
        .iter()
        .filter(|place| purpose != Purpose::Prepare || !place.is_of_a_repeat())
        .map(|place| format!("{{{}}}", place.name()))
        .collect();
    format!("placeholders are {}; write {{{{ and }}}} for braces", names.join(" "))
}

/// Splits an argument at its placeholders; `{{` and `}}` are braces.
fn read_pieces(argument: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let (mut text, mut rest) = (String::new(), argument);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some((name, after)) = from.strip_prefix('{').and_then(|from| from.split_once('}')) {
            let place = ALL.into_iter().find(|place| place.name() == name);
            let place = place.ok_or_else(|| format!("there is no placeholder {{{name}}}"))?;
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Place(place));
            rest = after;
        } else {
            return Err("a brace has no partner".into());
        }
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(purpose: Purpose, list: &[&str]) -> Result<Arguments, Unsupported> {
        let list: Vec<String> = list.iter().map(|argument| (*argument).to_owned()).collect();
        Arguments::read("list", &list, purpose)
    }

    #[test]
    fn placeholders_are_filled_and_nothing_else_changes() {
        let list = ["/bin/x", "--in={sender_csv}", "{address}:{port}", "{{a}} $HOME; rm *", ""];
        let list = read(Purpose::Sender, &list).expect("a list");
        let value = |place: Placeholder| format!("<{}>", place.name());
        assert_eq!(list.filled(&value), ["/bin/x", "--in=<sender_csv>", "<address>:<port>", "{a} $HOME; rm *", ""]);
        for place in ALL {
            let argument = format!("{{{}}}", place.name());
            let list = read(Purpose::Receiver, &["x", "{work} {port}", &argument]).expect("a known placeholder");
            assert_eq!(list.filled(&value)[2], format!("<{}>", place.name()));
        }
    }

    #[test]
    fn lists_that_cannot_be_right_are_refused_with_fault_and_mend() {
        for (purpose, list, fault, mend) in [
            (Purpose::Sender, [""].as_slice(), "no program", "write the program first"),
            (Purpose::Sender, &[], "no program", "write the program first"),
            (Purpose::Sender, &["./x", "{sender_csv}", "{port}"], "relative", "{suite}/x"),
            (Purpose::Sender, &["x", "{sender_cvs}", "{port}"], "no placeholder {sender_cvs}", "{sender_csv}"),
            (Purpose::Sender, &["x", "{sender_csv", "{port"], "a brace has no partner", "}}"),
            (Purpose::Sender, &["x", "}", "{port}"], "a brace has no partner", "}}"),
            (Purpose::Sender, &["x", "{port}"], "its table", "{sender_csv} or {work}"),
            (Purpose::Sender, &["x", "{sender_csv}"], "the port", "{port}"),
            (Purpose::Receiver, &["x", "{port}", "{output_csv}"], "its table", "{receiver_csv} or {work}"),
            (Purpose::Receiver, &["x", "{port}", "{receiver_csv}"], "where to write", "{output_csv} or {work}"),
            (Purpose::Prepare, &["x", "{receiver_csv}"], "not known yet", "`sender` and `receiver`"),
        ] {
            let refused = read(purpose, list).expect_err(fault);
            assert!(refused.what.contains(fault) && refused.what.starts_with("list: "), "{refused:?}");
            assert!(refused.mend.contains(mend), "{refused:?}");
        }
    }
}
