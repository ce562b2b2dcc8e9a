//! Bits that travel eight a byte, from the lowest.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Stream};

/// Sends the bits as the arrow `S`.
pub fn send<S: Stream<Element = u8>>(bits: &Bits, ch: &mut Channel) -> Result<(), Abort> {
    let bytes: Vec<u8> = bits.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    ch.send_stream::<S>(&bytes[..bits.len().div_ceil(8)])
}

/// Receives `len` bits as the arrow `S`.
pub fn receive<S: Stream<Element = u8>>(len: usize, ch: &mut Channel) -> Result<Bits, Abort> {
    let mut bytes = vec![0; len.div_ceil(8)];
    ch.recv_stream::<S>(&mut bytes)?;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let words: Vec<u64> = bytes.chunks(8).map(word).collect();
    let bits = Bits::from_words(words.clone(), len);
    if bits.words() != words {
        return Err(Abort::PeerMisbehaved(S::STEP, "bits beyond the last place"));
    }
    Ok(bits)
}
