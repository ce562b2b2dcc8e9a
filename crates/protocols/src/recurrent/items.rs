//! The items of a server's set, as inputs of a function.

use rayon::prelude::*;
use vesica_structures::facts::Unsupported;
use vesica_structures::secret::Secret;

/// Two payloads of one item would have one keystream, and everybody would see that from their tags.
pub fn refuse_twins(items: &[u128]) -> Result<(), Unsupported> {
    let mut sorted = Secret::new(items.to_vec());
    sorted.par_sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Unsupported::new("a set that has an item twice", "give each item once"));
    }
    Ok(())
}

/// The inputs of the function: the items' bytes.
pub fn inputs(items: &[u128]) -> &[[u8; 16]] {
    bytemuck::cast_slice(items)
}
