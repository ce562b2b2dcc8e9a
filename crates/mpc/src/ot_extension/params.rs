//! All numbers of OT extension.

use vesica_party::Security;
use vesica_structures::facts::Unsupported;

/// Bits of `delta` a tree (the paper's `k`): 8 gives half the corrections of 4, and its 4096 leaves
/// still expand within milliseconds.
pub const CHUNK_BITS: usize = 8;

/// Trees.
pub const CHUNKS: usize = 128 / CHUNK_BITS;

/// Leaves of a tree.
pub(super) const LEAVES: usize = 1 << CHUNK_BITS;

/// What both sides agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Blocks of 128 bits in each column that the caller uses.
    pub blocks: usize,
    /// Against which parties.
    pub security: Security,
}

impl Params {
    /// Blocks in each column while it is made: one more for the mask of the check.
    pub(super) fn blocks_made(&self) -> usize {
        self.blocks + usize::from(self.checked())
    }

    /// Whether tags and check are made.
    pub(super) fn checked(&self) -> bool {
        self.security == Security::Malicious
    }

    /// Bytes of all messages, base OTs included.
    pub fn predicted_bytes(&self) -> u64 {
        let trees = CHUNKS * (CHUNK_BITS - 1) * 2 * 16;
        let corrections = (CHUNKS - 1) * self.blocks_made() * 16;
        let checks = if self.checked() { CHUNKS * 32 + 32 + 16 + 16 + 128 * 16 } else { 0 };
        crate::base_ot::predicted_bytes(128) + (trees + corrections + checks) as u64
    }
}

/// The parameters of [`OtExtension`](super::OtExtension).
#[derive(Clone, Copy, Debug)]
pub struct OtParams {
    pub(super) len: usize,
    pub(super) correlation: Params,
}

/// A bound on transfers a run: columns, rows and hashes are up to 96 bytes a transfer on either side, 6 GiB at the bound.
///
/// It is far below [`MAX_BLOCKS`], which bounds the leaves' streams.
pub(crate) const MAX_TRANSFERS: usize = 1 << 26;

/// Blocks that the stream of a leaf gives at most: what the module's text says of many keys holds up to here.
const MAX_BLOCKS: u64 = 1 << 24;

/// What blocks of each column were made when `blocks` more are.
///
/// # Errors
/// If the streams of the leaves do not serve for as many.
pub(super) fn count_blocks(made: u64, blocks: usize) -> Result<u64, Unsupported> {
    match made.checked_add(blocks as u64) {
        Some(total) if total <= MAX_BLOCKS => Ok(total),
        _ => Err(Unsupported::new(
            format_args!("{blocks} more blocks of correlated OTs after {made}"),
            format_args!("ask for at most {MAX_BLOCKS} in all"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_leaves_end_at_their_bound() {
        let max = MAX_BLOCKS as usize;
        assert_eq!(count_blocks(0, max).unwrap(), MAX_BLOCKS);
        assert_eq!(count_blocks(MAX_BLOCKS, 0).unwrap(), MAX_BLOCKS);
        assert!(count_blocks(1, max).is_err() && count_blocks(1, usize::MAX).is_err());
    }
}
