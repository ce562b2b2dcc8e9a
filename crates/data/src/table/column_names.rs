//! What is said of the names of columns.

use crate::invisible::{code_points, visible};
use crate::nearest::nearest;

/// What the user can do about a [missing column](super::TableError::MissingColumn): the columns that exist and the
/// closest one. Names that look like data are not listed: a file without a header would print its first row.
pub(crate) fn missing_column_mend(asked: &str, existing: &[String], delimiter: Option<u8>) -> String {
    if existing.iter().any(|name| looks_like_data(name)) {
        return "the column names look like data: if the header row is missing, add it".to_owned();
    }
    if let ([only], Some(used)) = (existing, delimiter)
        && let Some(other) = [';', '\t', '|', ','].into_iter().find(|&d| d != char::from(used) && only.contains(d))
    {
        let shown = if other == '\t' { "tab".to_owned() } else { format!("'{other}'") };
        return format!("the header is a single column; it seems to be separated by {shown}: try --delimiter {shown}");
    }
    let is_hidden = |text: &str| !code_points(text).is_empty();
    let alike = |name: &&String| (is_hidden(name) || is_hidden(asked)) && seen(name) == seen(asked);
    if let Some(name) = existing.iter().find(alike) {
        let (shown, marks) = (visible(name), code_points(name));
        let (whose, marks) = if marks.is_empty() { ("asked for", code_points(asked)) } else { ("in the table", marks) };
        return format!(
            "its column `{shown}` looks like that, but the name {whose} has characters that nobody sees ({}): remove them",
            marks.join(", ")
        );
    }
    let suggestion = nearest(asked, existing.iter().map(String::as_str))
        .map(|name| format!("did you mean `{}`? ", visible(name)))
        .unwrap_or_default();
    let shown: Vec<String> = existing.iter().take(50).map(|name| format!("`{}`", visible(name))).collect();
    let more = if existing.len() > 50 { format!(" and {} more", existing.len() - 50) } else { String::new() };
    format!("{suggestion}its columns are {}{more}", shown.join(", "))
}

/// What is seen of a name.
fn seen(name: &str) -> String {
    let is_seen = |&c: &char| code_points(c.encode_utf8(&mut [0; 4])).is_empty();
    name.chars().filter(is_seen).collect::<String>().trim().to_owned()
}

/// Whether a column's name is rather a cell of a table without a header.
pub(crate) fn looks_like_data(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    name.contains('@')
        || (digits >= 4 && name.starts_with(|c: char| c.is_ascii_digit() || "+-(".contains(c)))
        || name.chars().count() > 64
}
