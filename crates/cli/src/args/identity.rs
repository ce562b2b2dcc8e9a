//! Flags of `vesica identity`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use vesica::party::transport::tls::Day;

/// `vesica identity`.
#[derive(Debug, Args)]
pub struct IdentityArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: IdentityCommand,
}

/// What to do with an identity.
#[derive(Debug, Subcommand)]
pub enum IdentityCommand {
    /// Make a key pair: NAME.key (private, mode 0600, keep it here) and NAME.pub (one line, for
    /// your partner)
    New {
        /// Where to write the private key; the public line goes beside it, in a file that ends in
        /// .pub
        #[arg(long, value_name = "NAME.key")]
        out: PathBuf,
        /// A comment at the end of the public line [default: the file's name]
        #[arg(long)]
        comment: Option<String>,
        /// Encrypt the private key with a passphrase, for which Vesica asks at the terminal
        #[arg(long)]
        passphrase: bool,
        /// Encrypt the private key with the passphrase that is the first line of this file; fd:N or credential:NAME, too
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Print your public key and its fingerprint, whether the private key is encrypted, which keys it replaces or is replaced
    /// by, and whether it is revoked. With --peer, print your partner's: to check that you have the right key, compare its
    /// fingerprint with your partner by phone
    Show {
        /// A private key: a file, fd:N or credential:NAME [default: your default identity, made on first use]
        #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true)]
        identity: Option<PathBuf>,
        /// The passphrase of an encrypted private key: a file whose first line it is, fd:N or credential:NAME. Without
        /// this, Vesica takes the public key from the .pub file beside the private one; if there is none, it asks for the
        /// passphrase at the terminal
        #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true)]
        passphrase_file: Option<PathBuf>,
        /// Your partner's name in your file of partners, its .pub file, or its line: prints this public key
        /// instead of yours
        #[arg(long, value_name = "NAME|FILE|LINE")]
        peer: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Make a key pair that takes the place of yours: NAME.key, NAME.pub, and NAME.succession, a statement that both keys have
    /// signed. Hand NAME.succession to each partner, and use NAME.key once they have accepted it
    Rotate {
        /// Your present private key: a file, fd:N or credential:NAME [default: your default identity]
        #[arg(long, value_name = "FILE", env = "VESICA_IDENTITY", hide_env_values = true)]
        identity: Option<PathBuf>,
        /// The passphrase of your present private key: a file whose first line it is, fd:N or credential:NAME. Without this,
        /// Vesica asks for it at the terminal
        #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true)]
        passphrase_file: Option<PathBuf>,
        /// Where to write the new private key
        #[arg(long, value_name = "NAME.key")]
        out: PathBuf,
        /// The last day (UTC) on which partners accept your present key, too, for example 2027-01-31
        #[arg(long, value_name = "YYYY-MM-DD")]
        until: Day,
        /// Encrypt the new private key with another passphrase, for which Vesica asks at the terminal [default: the
        /// passphrase of your present key, if that is encrypted]
        #[arg(long)]
        new_passphrase: bool,
        /// Encrypt the new private key with the passphrase that is the first line of this file; fd:N or credential:NAME, too
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: Option<PathBuf>,
    },
    /// Accept a partner's new key: check both signatures, and write the statement behind the old key in its .pub file
    Accept {
        /// The partner's NAME.succession
        file: PathBuf,
        /// The partner: its name in your file of partners, or its .pub file
        #[arg(long, value_name = "NAME|FILE")]
        peer: String,
    },
    /// Write a statement, signed by your key, that nobody may accept this key any more. Each partner adds it to its list of
    /// revoked keys; whoever runs a server adds it to the file of --clients
    Revoke {
        /// The private key: a file, fd:N or credential:NAME
        #[arg(long, value_name = "FILE")]
        identity: PathBuf,
        /// Its passphrase: a file whose first line it is, fd:N or credential:NAME. Without this, Vesica asks for it at the
        /// terminal
        #[arg(long, value_name = "FILE", env = "VESICA_PASSPHRASE_FILE", hide_env_values = true)]
        passphrase_file: Option<PathBuf>,
        /// Where to write the statement
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Give a private key a passphrase, or another one, or take it off. The key itself stays the same, and so does
    /// what your partners have
    Passphrase {
        /// The file of the private key, which is replaced
        #[arg(value_name = "NAME.key")]
        file: PathBuf,
        /// The passphrase that it has now: a file whose first line it is, fd:N or credential:NAME. Without this, Vesica
        /// asks for it at the terminal
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// The new passphrase, in a file as for --passphrase-file. Without this, Vesica asks for it twice
        #[arg(long, value_name = "FILE", conflicts_with = "remove")]
        new_passphrase_file: Option<PathBuf>,
        /// Write the private key without encryption
        #[arg(long)]
        remove: bool,
    },
}

impl IdentityCommand {
    /// Whether one JSON object goes to standard output.
    pub fn json(&self) -> bool {
        matches!(self, Self::Show { json: true, .. })
    }
}
