//! The page for what went wrong.

use askama::Template;

use crate::error::Problem;

#[derive(Template)]
#[template(path = "problem.html")]
struct Page<'a> {
    status: u16,
    title: &'a str,
    reason: &'a str,
    hint: Option<&'a str>,
    door: Option<(&'static str, &'static str)>,
}

/// The page's text; the bare reason should it fail.
pub fn page(problem: &Problem) -> String {
    let status = problem.status();
    let page = Page {
        status: status.as_u16(),
        title: match status.as_u16() {
            401 => "Please sign in",
            404 => "Nothing here",
            403 => "Not allowed",
            409 => "Not any more",
            410 => "It is over",
            413 => "Too much at once",
            429 | 503 => "Too busy right now",
            502 => "The other side said no",
            500..=599 => "Something went wrong",
            _ => "That did not work",
        },
        reason: problem.reason(),
        hint: problem.hint(),
        door: problem.door(),
    };
    page.render()
        .unwrap_or_else(|_| "something went wrong".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_escaped() {
        let shown = page(&Problem::bad_request("no <script>alert(1)</script>"));
        assert!(!shown.contains("<script>alert"), "{shown}");
        assert!(shown.contains("That did not work"));
    }
}
