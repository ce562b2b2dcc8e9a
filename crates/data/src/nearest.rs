//! Which of the known names somebody meant who wrote another one.

/// The name that `asked` is closest to, if it is close. Upper and lower case count as the same, and
/// so do `-` and `_`.
pub fn nearest<'a>(asked: &str, existing: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = plain(asked);
    let scored = existing.into_iter().map(|name| (distance(&plain(name), &asked), name));
    let (distance, name) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + asked.chars().count() / 4).then_some(name)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Levenshtein distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_found_and_no_far_one() {
        let names = ["email", "security", "pad-to"];
        for (asked, meant) in [
            ("mail", Some("email")),
            ("Securty", Some("security")),
            ("pad_to", Some("pad-to")),
            ("threads", None),
            ("", None),
        ] {
            assert_eq!(nearest(asked, names), meant, "{asked}");
        }
        assert_eq!(nearest("email", []), None);
    }
}
