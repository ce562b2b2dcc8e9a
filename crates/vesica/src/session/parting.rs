//! The end of a conversation, after the protocol's last message: transcripts, signatures, goodbye.
//!
//! A side that has its result by then keeps it, whatever the partner does or leaves undone: a
//! partner could otherwise run the protocol and take the result away afterwards, or withhold it by
//! sending nothing but signs of life.

use std::time::Duration;

use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Abort, Channel, Phase, Role};

use crate::failure::{Failure, code};
use crate::handshake;
use crate::handshake::messages::{Closing, recv, send};
use crate::receipt::{Receipt, Statement, to_hex};

/// How long a side waits for the partner to end the conversation, beyond the time that the protocol
/// took. The partner may have to finish its own computation (shares, `--both-learn`) on a slower
/// machine, which the time of the protocol allows for; all else is a round trip and a signature,
/// which a minute allows for on any link.
pub(super) const GOODBYE_WAIT: Duration = Duration::from_secs(60);

/// What the limits are about, in words.
const GOODBYE: &str = "the partner's goodbye";

/// What a side brings to the end of a conversation.
pub(super) struct Parting<'a> {
    /// The side's role in the task.
    pub role: Role,
    /// What is compared and signed; `None` over plaintext.
    pub signing: Option<Signing<'a>>,
    /// Whether this side has a result, and has it completely.
    pub complete: bool,
    /// How long to wait for the partner.
    pub patience: Duration,
}

/// What is compared and signed.
pub(super) struct Signing<'a> {
    /// What this side saw of the conversation.
    pub transcript: [u8; 32],
    /// What the receipt states.
    pub statement: Statement,
    /// This side's identity.
    pub identity: &'a Identity,
    /// Who the partner is.
    pub peer: PublicKey,
}

/// What the end of the conversation gave.
pub(super) struct Parted {
    /// The receipt, with this side's signature at least; `None` over plaintext.
    pub receipt: Option<Receipt>,
    /// Whether the partner's signature is wrong.
    pub forged: bool,
    /// Why the partner did not confirm the end. Only where this side is complete without.
    pub unconfirmed: Option<Abort>,
}

impl Parting<'_> {
    /// Compares what the two sides saw, exchanges signatures, and hears that the partner is done.
    ///
    /// # Errors
    /// If the partner does not confirm the end, on a side without a result: it must know that all
    /// went well.
    pub fn take(self, ch: &mut Channel) -> Result<Parted, Failure> {
        let _phase = ch.phase(Phase::Handshake);
        let unsigned = || Failure::new(code::INTERNAL, "the receipt could not be signed", "please report this");
        let signature = match &self.signing {
            Some(signing) => signing.statement.sign(signing.identity).ok_or_else(unsigned)?,
            None => [0; 64],
        };
        let (theirs, unconfirmed) = match self.exchange(ch, signature) {
            Ok(theirs) => (Some(theirs), None),
            Err(abort) if self.complete => (None, Some(abort)),
            Err(abort) => return Err(abort.into()),
        };
        let Some(Signing { statement, peer, .. }) = self.signing else {
            return Ok(Parted { receipt: None, forged: false, unconfirmed });
        };
        let right = theirs.filter(|theirs| peer.verifies(&statement.signed_bytes(), theirs));
        let forged = theirs.is_some() && right.is_none();
        let (ours, theirs) = (Some(to_hex(&signature)), right.map(|signature| to_hex(&signature)));
        let (sender_signature, receiver_signature) = match self.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        Ok(Parted { receipt: Some(Receipt { statement, sender_signature, receiver_signature }), forged, unconfirmed })
    }

    /// Sends the own signature and receives the partner's.
    fn exchange(&self, ch: &mut Channel, signature: [u8; 64]) -> Result<[u8; 64], Abort> {
        // A side without a result waits as long as the partner computes its own.
        if self.complete {
            ch.limit(GOODBYE, self.patience);
        }
        if let Some(signing) = &self.signing {
            handshake::compare_transcripts(ch, signing.transcript)?;
            // By that the partner says that it has computed.
            ch.limit(GOODBYE, self.patience);
        }
        send(ch, Closing { signature })?;
        let theirs = recv::<Closing>(ch)?.signature;
        ch.limit(GOODBYE, self.patience);
        Ok(theirs)
    }
}
