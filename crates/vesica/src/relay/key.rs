//! The key by which a relay knows its own tickets.

use std::fmt;
use std::fs;
use std::path::Path;

use rand_core::Rng;
use vesica_party::transport::relay::{Ticket, unhex};
use vesica_party::transport::tls::{create_private, exposed};
use zeroize::Zeroizing;

use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::session::randomness;

/// What the file's line begins with.
const WORD: &str = "vesica-relay-key-";

/// Makes a ticket's random bytes and its mark different from everything else that the key might be used for.
const CONTEXT: &str = "vesica relay ticket mark v1";

/// 32 secret bytes. A ticket bears a mark of its random bytes under them, so that the relay need not keep tickets.
#[derive(Clone)]
pub struct RelayKey(Zeroizing<[u8; 32]>);

impl fmt::Debug for RelayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RelayKey")
    }
}

impl RelayKey {
    /// The key in a file that others cannot read.
    ///
    /// # Errors
    /// If it cannot be read, others may read it, or it is none.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let refused = |fault: &dyn fmt::Display, mend: &str| {
            Failure::new(code::IDENTITY, format_args!("the relay's key {}: {fault}", path.display()), mend)
        };
        let exposed = fs::metadata(path).map(|found| exposed(&found));
        let text = read_text(path, 1 << 10).map(Zeroizing::new);
        let (exposed, text) = exposed
            .and_then(|exposed| Ok((exposed, text?)))
            .map_err(|fault| refused(&fault, "name the file that `vesica relay ticket --key FILE` has made"))?;
        if exposed.is_some() {
            return Err(refused(&"others may read it", "take their permissions away with chmod 600"));
        }
        let mut key = Zeroizing::new([0; 32]);
        text.trim().strip_prefix(WORD).and_then(|digits| unhex(digits, key.as_mut())).ok_or_else(|| {
            refused(&"it holds no key of a relay", "name the file that `vesica relay ticket --key FILE` has made")
        })?;
        Ok(Self(key))
    }

    /// A fresh key, in a new file that others cannot read.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let key = Self(Zeroizing::new(random()?));
        let mut text = Zeroizing::new(WORD.to_owned());
        key.0.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
        text.push('\n');
        create_private(path, &text).map_err(|fault| {
            Failure::new(
                code::OUTPUT,
                format_args!("the relay's key {}: {fault}", path.display()),
                "name another file with --key",
            )
        })?;
        Ok(key)
    }

    /// A fresh ticket of this relay.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn ticket(&self) -> Result<Ticket, Failure> {
        let random = random()?;
        Ok(Ticket::new(random, self.mark(&random)))
    }

    /// Whether this key has made a ticket. Takes the same time for all.
    pub fn has_made(&self, ticket: &Ticket) -> bool {
        let (random, mark) = ticket.parts();
        let [shown, expected] = [mark, self.mark(&random)].map(|half| {
            let mut whole = [0; 32];
            whole.iter_mut().zip(half).for_each(|(byte, other)| *byte = other);
            blake3::Hash::from_bytes(whole)
        });
        // Hashes are compared in constant time.
        shown == expected
    }

    fn mark(&self, random: &[u8; 16]) -> [u8; 16] {
        let subkey = Zeroizing::new(blake3::derive_key(CONTEXT, self.0.as_ref()));
        let mut mark = [0; 16];
        mark.iter_mut().zip(blake3::keyed_hash(&subkey, random).as_bytes()).for_each(|(byte, other)| *byte = *other);
        mark
    }
}

/// A ticket for a relay that takes any.
///
/// # Errors
/// If the system gives no randomness.
pub fn any_ticket() -> Result<Ticket, Failure> {
    Ok(Ticket::new(random()?, random()?))
}

fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    randomness()?.fill_bytes(&mut bytes);
    Ok(bytes)
}
