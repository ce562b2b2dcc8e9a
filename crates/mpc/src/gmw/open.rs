//! Opening shares to one side.

use vesica_party::{Abort, Channel, Role};
use vesica_structures::secret::Secret;

use super::messages::Opened;
use crate::bits::Bits;

/// Words of a stream that are received at a time.
const WORDS_PER_CHUNK: usize = 1 << 14;

/// The receiver learns the bits, the sender gets nothing; both call it with their shares.
///
/// # Errors
/// If the channel fails.
pub fn open_to_receiver(shares: &[Bits], ch: &mut Channel) -> Result<Option<Vec<Bits>>, Abort> {
    if ch.role() == Role::Sender {
        shares.iter().try_for_each(|shares| ch.send_stream::<Opened>(shares.words()))?;
        return Ok(None);
    }
    let mut opened = Vec::with_capacity(shares.len());
    for mine in shares {
        let mut words = Secret::new(vec![0; mine.words().len()]);
        for (words, mine) in words.chunks_mut(WORDS_PER_CHUNK).zip(mine.words().chunks(WORDS_PER_CHUNK)) {
            ch.recv_stream::<Opened>(words)?;
            words.iter_mut().zip(mine).for_each(|(word, mine)| *word ^= mine);
        }
        opened.push(Bits::from_words(std::mem::take(&mut words), mine.len()));
    }
    Ok(Some(opened))
}

/// The sender learns the bits, the receiver gets nothing; both call it with their shares.
///
/// # Errors
/// If the channel fails.
pub fn open_to_sender(shares: &[Bits], ch: &mut Channel) -> Result<Option<Vec<Bits>>, Abort> {
    ch.reversed(|ch| open_to_receiver(shares, ch))
}
