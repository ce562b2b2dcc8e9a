//! A client's end of a conversation with a service.

use std::io;

use vesica_structures::rng::SecretRng;

use super::conversation::{self, Answered, Description, Join, Next, Welcome};
use super::serve::refusals::stopped;
use super::{Client, Service, Standing, State, StateError, StateId, StateReader, StateWriter};
use crate::{Abort, Channel, Fixed, Tally, exit_code};

/// What a client keeps from one connection to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrolled<C> {
    /// The server's state that the client was enrolled with.
    pub state: StateId,
    /// A hash of the service and the parameters that the client was enrolled with.
    pub terms: [u8; 32],
    /// The client itself.
    pub client: C,
}

/// What tells the state of an enrolled client from that of a client alone, which has the same
/// format's name.
const ENROLLED: [u8; 8] = *b"enrolled";

impl<C: State> State for Enrolled<C> {
    const FORMAT: &'static str = C::FORMAT;

    fn write(&self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.bytes(&ENROLLED)?;
        out.bytes(&self.state.to_bytes())?;
        out.bytes(&self.terms)?;
        self.client.write(out)
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        if bytes.array()? != ENROLLED {
            return Err(StateError::Damaged("it holds no enrolled client"));
        }
        let state = StateId::from_bytes(bytes.array()?).ok_or(StateError::Damaged("it names no state of a server"))?;
        Ok(Self { state, terms: bytes.array()?, client: C::read(bytes)? })
    }
}

/// Asks the server at the other end of a channel what it offers: the bytes of
/// [`Offer::description`](super::Offer::description). Once for a channel, before the client joins.
///
/// The channel's peer says this, and nobody else: over TLS, whoever holds the key that the client
/// expects.
pub fn describe(ch: &mut Channel) -> Result<Vec<u8>, Abort> {
    ch.send(&Next::DESCRIBE)?;
    let Description(description) = ch.recv(())?;
    conversation::bind_description(ch, &description);
    Ok(description)
}

/// Leaves a server. For a channel on which none was joined, only asked for its description.
pub fn depart(mut ch: Channel) -> Result<Tally, Abort> {
    ch.send(&Next::LEAVE)?;
    ch.finish()
}

/// A client that is joined to a server over one connection.
///
/// Dropped without [`leave`](Self::leave), it tells the server that it stopped.
pub struct ServiceClient<S: Service> {
    ch: Channel,
    rng: SecretRng,
    params: S::Params,
    enrolled: Enrolled<S::Client>,
    /// The server's state, as far as the client has heard.
    present: StateId,
    /// The channel's session when it first joined; nothing before.
    session: Option<[u8; 32]>,
    /// How many queries were answered on this connection.
    asked: u64,
    /// The server has said that it stops.
    stops: bool,
}

impl<S: Service> ServiceClient<S> {
    /// Enrols with the server at the other end of a channel.
    pub fn enrol(mut ch: Channel, params: S::Params, mut rng: SecretRng) -> Result<Self, Abort> {
        let joined = join::<S>(None, &params, &mut ch, &mut rng).and_then(|present| {
            let session = Some(ch.session());
            let client = S::Client::enrol(&params, &mut ch, &mut rng)?;
            Ok((present, session, Enrolled { state: present, terms: conversation::terms::<S>(&params), client }))
        });
        match joined {
            Ok((present, session, enrolled)) => {
                Ok(Self { session, ch, rng, params, enrolled, present, asked: 0, stops: false })
            }
            Err(failure) => {
                ch.abort(&failure);
                Err(failure)
            }
        }
    }

    /// Joins with what an earlier enrolment left.
    ///
    /// # Errors
    /// As [`enrol`](Self::enrol), and where the client was enrolled with another service or with other
    /// parameters: a server could otherwise go on with those of then, and nobody would notice. The
    /// caller has `enrolled` back with the error, to try again with.
    pub fn rejoin(
        ch: Channel,
        params: S::Params,
        enrolled: Enrolled<S::Client>,
        rng: SecretRng,
    ) -> Result<Self, (Abort, Enrolled<S::Client>)> {
        let present = enrolled.state;
        let agreed = enrolled.terms == conversation::terms::<S>(&params);
        let mut joining = Self { ch, rng, params, enrolled, present, session: None, asked: 0, stops: false };
        let joined = if agreed { joining.join_again() } else { Err(other_terms()) };
        match joined {
            Ok(()) => Ok(joining),
            Err(failure) => {
                joining.ch.abort(&failure);
                Err((failure, joining.enrolled))
            }
        }
    }

    /// Asks. If the server has replaced its state, the client first joins the new one; a caller to
    /// whom that matters asks [`is_current`](Self::is_current) before.
    ///
    /// # Errors
    /// Whatever ends the connection; what the client keeps survives it, see [`leave`](Self::leave). A
    /// query that the client itself refuses ends nothing: the next one may be asked.
    pub fn query(&mut self, query: <S::Client as Client>::Query) -> Result<<S::Client as Client>::Output, Abort> {
        if self.stops {
            return Err(stopped());
        }
        if !self.is_current() {
            self.join_again()?;
        }
        self.enrolled.client.check(&query)?;
        self.ch.send(&Next::QUERY)?;
        let output = self.enrolled.client.query(self.asked, query, &mut self.ch, &mut self.rng)?;
        self.asked += 1;
        let answered: Answered = self.ch.recv(())?;
        self.present = conversation::state(answered.state, Answered::STEP)?;
        self.stops = answered.stops != 0;
        Ok(output)
    }

    /// Whether the server still had the state that this client has joined when it last answered.
    pub fn is_current(&self) -> bool {
        self.present == self.enrolled.state
    }

    /// What the client keeps.
    pub fn enrolled(&self) -> &Enrolled<S::Client> {
        &self.enrolled
    }

    /// The channel's session when the client first joined, which names the connection on both sides.
    pub fn session(&self) -> [u8; 32] {
        self.session.unwrap_or_default()
    }

    /// How many queries were answered on this connection.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Bytes and time of this connection so far.
    pub fn tally(&self) -> Tally {
        self.ch.tally()
    }

    /// Leaves: what the client keeps, and whether the connection ended cleanly. Works after a
    /// failed query, too.
    pub fn leave(self) -> (Enrolled<S::Client>, Result<Tally, Abort>) {
        (self.enrolled, depart(self.ch))
    }

    fn join_again(&mut self) -> Result<(), Abort> {
        let known = self.enrolled.state;
        let present = join::<S>(Some(known), &self.params, &mut self.ch, &mut self.rng)?;
        self.session.get_or_insert(self.ch.session());
        let standing = Standing::new(Some(known), present);
        self.enrolled.client.rejoin(&self.params, standing, &mut self.ch, &mut self.rng)?;
        self.enrolled.state = present;
        self.present = present;
        Ok(())
    }
}

/// The refusal of a client that was enrolled with another service, or with other parameters than
/// those that are agreed now.
pub fn other_terms() -> Abort {
    Abort::Local {
        code: exit_code::MISMATCH,
        fault: "this client was enrolled with another service, or with other parameters".into(),
        mend: "enrol anew, or ask with the parameters of then".into(),
    }
}

/// Says who joins; the server's present state.
fn join<S: Service>(
    known: Option<StateId>,
    params: &S::Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<StateId, Abort> {
    let known = known.map_or([0; 16], StateId::to_bytes);
    let join = Join { known, terms: conversation::terms::<S>(params), nonce: rng.block().to_le_bytes() };
    ch.send(&Next::JOIN)?;
    ch.send(&join)?;
    let welcome: Welcome = ch.recv(())?;
    conversation::bind(ch, &join, &welcome);
    conversation::state(welcome.state, Welcome::STEP)
}
