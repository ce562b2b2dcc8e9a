//! `vesica relay`.

use std::sync::Arc;

use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use vesica::Failure;
use vesica::party::service::Stop;
use vesica::relay::{Relay, RelayConfig, RelayKey, RelayLog, any_ticket};
use vesica::threads;

use super::serve::Log;
use super::sides::usage;
use crate::args::{RelayArgs, RelayCommand, TicketArgs};
use crate::identity::{is_no_file, secret_file};
use crate::outcome::{Outcome, print};
use crate::{signals, stderr};

impl RelayLog for Log {
    fn event(&self, name: &str, text: &str, fields: &[(&str, Value)]) {
        self.write(name, text, fields);
    }
}

/// Runs a relay until a signal, or makes a ticket.
///
/// # Errors
/// With the exit code of the command line.
pub fn run(args: RelayArgs, verbose: u8) -> Outcome {
    if let Some(RelayCommand::Ticket(args)) = &args.command {
        return ticket(args);
    }
    let log = Log::new(args.log, verbose);
    let mut caught = signals::caught(&[SIGINT, SIGTERM])?;
    let relay = Relay::bind(config(args)?, Arc::new(log))?;
    let (stop, at_once) = (Stop::new(), Stop::new());
    threads::start("vesica-signals", {
        let (stop, at_once) = (stop.clone(), at_once.clone());
        move || {
            for _ in caught.forever() {
                if stop.is_stopped() {
                    at_once.stop();
                }
                stop.stop();
            }
        }
    })?;
    relay.run(&stop, &at_once);
    log.write("stopped", "stopped", &[]);
    Ok(())
}

fn config(args: RelayArgs) -> Result<RelayConfig, Failure> {
    let key = args.key.as_deref().map(|named| RelayKey::read(&secret_file(named)?)).transpose()?;
    if key.is_none() && !args.any_ticket {
        return Err(usage(
            "nothing says whom the relay serves",
            "name its key with --key (`vesica relay ticket --key FILE` makes one, and tickets); --any-ticket joins any two \
             that show the same ticket",
        ));
    }
    let listen = args.listen.ok_or_else(|| usage("nothing says where to listen", "say --listen HOST:PORT"))?;
    Ok(RelayConfig {
        listen,
        key,
        max_connections: args.max_connections as usize,
        connections_per_address: args.connections_per_address as usize,
        dials_per_minute: args.dials_per_minute as usize,
        bytes_per_ticket: args.bytes_per_ticket,
        patience: args.patience,
        grace: args.grace,
        metrics: args.metrics,
    })
}

fn ticket(args: &TicketArgs) -> Outcome {
    let ticket = match &args.key {
        None => any_ticket()?,
        Some(named) => {
            let path = secret_file(named)?;
            let key = if path.exists() || is_no_file(&named.to_string_lossy()) {
                RelayKey::read(&path)?
            } else {
                stderr::note(format!("made the relay's key {}; start the relay with it", path.display()));
                RelayKey::create(&path)?
            };
            key.ticket()?
        }
    };
    print(&format!("{}\n", ticket.reveal()))
}
