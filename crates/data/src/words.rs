//! Numbers in texts for users.

use std::fmt::Display;

/// A number with the words that go with it: those for one thing, or those for none and for several. `1 key matches`,
/// `2 keys match`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, one: &str, more: &str) -> String {
    let words = if number == N::from(1) { one } else { more };
    format!("{number} {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0u64, 1, 2].map(|rows| counted(rows, "row", "rows")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!(counted(1usize, "key matches", "keys match"), "1 key matches");
    }
}
