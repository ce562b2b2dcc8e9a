//! The page of a receipt as HTML: one file without anything from elsewhere, and without a script.
//!
//! Names in a receipt come from the partner: [`escaped`] makes text of all of them, and the page's policy
//! lets a browser neither run nor fetch anything.

use super::words::{Page, PageRow};

/// Looks for a screen, light or dark, and for paper.
const STYLE: &str = include_str!("receipt.css");

/// The page for a browser.
pub fn html(page: &Page) -> String {
    let (title, about) = (escaped(page.title), escaped(page.about));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\" dir=\"ltr\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri \
         'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p class=\"verdict \
         {}\">{}</p>\n<p class=\"note\">{about}</p>\n",
        if page.holds { "good" } else { "bad" },
        escaped(&page.verdict)
    );
    for section in &page.sections {
        html.push_str(&format!("<section>\n<h2>{}</h2>\n", escaped(&section.title)));
        if !section.note.is_empty() {
            html.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(section.note)));
        }
        let (details, words): (Vec<&PageRow>, Vec<&PageRow>) = section.rows.iter().partition(|row| row.is_detail);
        push_rows(&words, &mut html);
        if !details.is_empty() {
            html.push_str("<details>\n<summary>Details</summary>\n");
            push_rows(&details, &mut html);
            html.push_str("</details>\n");
        }
        html.push_str("</section>\n");
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn push_rows(rows: &[&PageRow], html: &mut String) {
    html.push_str("<dl>\n");
    rows.iter().for_each(|row| push_row(row, html));
    html.push_str("</dl>\n");
}

fn push_row(row: &PageRow, html: &mut String) {
    html.push_str(&format!("<dt>{}</dt>\n", escaped(row.label)));
    for value in &row.values {
        html.push_str(&format!("<dd>{}</dd>\n", escaped(value)));
    }
}

/// The text as it stands, for the inside of an element or of a quoted attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_means_something_in_html_is_escaped() {
        assert_eq!(escaped("<a href='x\">&amp;</a>"), "&lt;a href=&#39;x&quot;&gt;&amp;amp;&lt;/a&gt;");
    }
}
