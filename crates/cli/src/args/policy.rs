//! `vesica policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::RoleName;

/// `vesica policy`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PolicyArgs {
    /// What to do with the policy.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

const EXAMPLES: &str = "\
Examples:
  See which rules there are for a partner, and how many runs are left:
    vesica policy check acme
  Look whether they allow a job:
    vesica policy check acme --job job.toml --role sender
  Sign a file of rules, so that nobody else can change it:
    vesica policy sign acme-policy.toml --identity owner.key
docs/policy.md has all rules, and says what each can and cannot see.";

/// What to do with a policy.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Explain the rules for a partner, and try a job against them. Sends nothing
    Check(PolicyCheckArgs),
    /// Sign a file of rules
    Sign(PolicySignArgs),
}

impl PolicyCommand {
    /// Whether the result is to be JSON.
    pub fn json(&self) -> bool {
        matches!(self, Self::Check(PolicyCheckArgs { json: true, .. }))
    }
}

/// `vesica policy check`.
#[derive(Debug, Args)]
pub struct PolicyCheckArgs {
    /// Your partner: its name in the file of --peers, or its public key (the .pub file, or its line)
    #[arg(value_name = "NAME|FILE|LINE")]
    pub partner: String,
    /// The file of your partners [default: vesica/peers.toml in your configuration folder]
    #[arg(long, env = "VESICA_PEERS", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub peers: Option<PathBuf>,
    /// A job file to try: its settings, and the counts of runs. Its table is not read
    #[arg(long, value_name = "JOB.toml", value_hint = ValueHint::FilePath)]
    pub job: Option<PathBuf>,
    /// Which side of the job you are [default: the one that it has a section for, if it has only one]
    #[arg(long, value_enum, requires = "job")]
    pub role: Option<RoleName>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `vesica policy sign`.
#[derive(Debug, Args)]
pub struct PolicySignArgs {
    /// The file of rules. The signature goes to a file of its name with .sig behind it, which is replaced
    #[arg(value_name = "POLICY.toml", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The private key of who answers for the rules: a file, fd:N or credential:NAME [default: your default identity]
    #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true)]
    pub identity: Option<PathBuf>,
    /// The passphrase of that key, if it is encrypted: a file whose first line it is, fd:N or credential:NAME. Without this,
    /// Vesica asks for it at the terminal
    #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true)]
    pub passphrase_file: Option<PathBuf>,
}
