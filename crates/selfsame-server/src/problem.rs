//! The error page.

use askama::Template;

use crate::error::Problem;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    status: u16,
    title: &'a str,
    reason: &'a str,
    hint: Option<&'a str>,
    wait: Option<String>,
    door: Option<(&'a str, &'static str)>,
}

/// The page's HTML; the bare reason if rendering fails.
pub fn page(problem: &Problem) -> String {
    let (status, told) = (problem.status(), problem.told());
    let wait = problem.retry_after().and_then(minutes);
    let page = ProblemPage {
        status: status.as_u16(),
        title: match status.as_u16() {
            401 => "Please sign in",
            404 => "Not found",
            403 => "Not allowed",
            409 => "No longer possible",
            410 => "No longer available",
            413 => "Too large",
            429 if wait.is_some() => "Too many attempts",
            429 | 503 => "Server busy",
            502 => "Another server failed",
            500..=599 => "Something went wrong",
            _ => "That did not work",
        },
        reason: &told.text,
        hint: told.hint.as_deref(),
        wait,
        door: problem.door(),
    };
    page.render()
        .unwrap_or_else(|_| "something went wrong".to_owned())
}

/// A wait in minutes, if it is long enough to mention.
fn minutes(seconds: u64) -> Option<String> {
    match seconds.div_ceil(60) {
        _ if seconds < 30 => None,
        1 => Some("in a minute".to_owned()),
        minutes => Some(format!("in {minutes} minutes")),
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    #[test]
    fn a_long_wait_is_told_in_minutes_and_a_short_one_is_not() {
        let asked_too_often = |seconds| {
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "busy");
            page(&problem.come_back_in(seconds))
        };
        let locked = asked_too_often(899);
        assert!(locked.contains("Too many attempts"), "{locked}");
        assert!(locked.contains("in 15 minutes"), "{locked}");
        let busy = asked_too_often(1);
        assert!(busy.contains("Server busy"), "{busy}");
        assert!(!busy.contains("minute"), "{busy}");
    }

    #[test]
    fn what_is_shown_is_escaped() {
        let shown =
            page(&Problem::bad_request("field-missing").with("field", "<script>alert(1)</script>"));
        assert!(!shown.contains("<script>alert"), "{shown}");
        assert!(shown.contains("That did not work"));
    }
}
