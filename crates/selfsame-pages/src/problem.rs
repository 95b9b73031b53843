//! The error page.

use askama::Template;

/// An error, as its page shows it.
pub struct ProblemShown<'a> {
    /// The status of the response, which decides the title.
    pub status: u16,
    /// What is wrong.
    pub reason: &'a str,
    /// What the person can do about it.
    pub hint: Option<&'a str>,
    /// Seconds to wait before trying again.
    pub retry_after: Option<u64>,
    /// Where the person continues.
    pub door: Option<Continuation<'a>>,
}

/// The page where people continue after an error.
pub struct Continuation<'a> {
    /// Its address.
    pub href: &'a str,
    /// The label of the button that leads there.
    pub label: &'a str,
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    status: u16,
    title: &'a str,
    reason: &'a str,
    hint: Option<&'a str>,
    wait: Option<String>,
    door: Option<Continuation<'a>>,
}

/// The page's HTML; a bare sentence if rendering fails, since there is no page for that.
pub fn page(problem: ProblemShown<'_>) -> String {
    let wait = problem.retry_after.and_then(minutes);
    let page = ProblemPage {
        status: problem.status,
        title: match problem.status {
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
        reason: problem.reason,
        hint: problem.hint,
        wait,
        door: problem.door,
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
    use super::*;

    fn shown(status: u16, reason: &str) -> ProblemShown<'_> {
        ProblemShown {
            status,
            reason,
            hint: None,
            retry_after: None,
            door: None,
        }
    }

    #[test]
    fn a_long_wait_is_told_in_minutes_and_a_short_one_is_not() {
        let asked_too_often = |seconds| {
            page(ProblemShown {
                retry_after: Some(seconds),
                ..shown(429, "busy")
            })
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
        let shown = page(shown(400, "the field <script>alert(1)</script> is missing"));
        assert!(!shown.contains("<script>alert"), "{shown}");
        assert!(shown.contains("That did not work"));
    }

    #[test]
    fn the_page_leads_to_where_the_person_continues() {
        let door = Some(Continuation {
            href: "/operator",
            label: "Sign in",
        });
        let shown = page(ProblemShown {
            door,
            ..shown(401, "sign in first")
        });
        assert!(shown.contains(r#"href="/operator">Sign in</a>"#), "{shown}");
    }
}
