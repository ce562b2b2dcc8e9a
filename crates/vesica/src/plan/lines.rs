//! Tables of figures as text, a line a protocol and mode.

use vesica_party::Security;

/// The lines of a table, without its comments.
pub(super) fn of(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// The mode of this name.
pub(super) fn mode(name: &str) -> Option<Security> {
    [Security::SemiHonest, Security::Malicious].into_iter().find(|security| security.to_string() == name)
}
