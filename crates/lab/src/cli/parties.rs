//! `vesica-lab bench-party`: copies of this program as the two parties.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use vesica::Failure;
use vesica::failure::code;
use vesica::party::Role;
use vesica::threads::no_thread;
use vesica_cli::tools::{self, Outcome};

use super::args::{BenchPartyArgs, PartyName};
use crate::{BenchError, Ends, Settings};

/// Gives the command of a party's process.
pub(super) fn child(
    settings: &Settings,
) -> Result<impl FnMut(Role, Option<std::net::SocketAddr>) -> Result<Command, BenchError> + use<>, Failure> {
    let program = program()?;
    let settings = serde_json::to_string(settings).map_err(|error| failed(error.into()))?;
    Ok(move |role: Role, address: Option<std::net::SocketAddr>| {
        let mut command = Command::new(&program);
        command.args(["bench-party", "--role", &role.to_string(), "--settings", &settings]);
        command.args(address.iter().flat_map(|address| ["--address".to_owned(), address.to_string()]));
        Ok(command)
    })
}

/// What such a process does.
pub fn play(args: BenchPartyArgs) -> Outcome {
    let settings: Settings = serde_json::from_str(&args.settings).map_err(|error| failed(error.into()))?;
    let role = match args.role {
        PartyName::Sender => Role::Sender,
        PartyName::Receiver => Role::Receiver,
    };
    let ends = Ends { input: io::stdin(), output: io::stdout() };
    crate::play(&settings, role, args.address, ends).map_err(failed)
}

pub(super) fn program() -> Result<PathBuf, Failure> {
    tools::program().map_err(|error| failed(error.into()))
}

pub(super) fn failed(error: BenchError) -> Failure {
    match error {
        BenchError::Unsupported(refused) => refused.into(),
        BenchError::Process(error) if error.kind() == io::ErrorKind::WouldBlock => no_thread(&error).into(),
        other => Failure::new(
            code::INTERNAL,
            other,
            "see the message; `vesica selftest` tells whether this machine computes correctly",
        ),
    }
}
