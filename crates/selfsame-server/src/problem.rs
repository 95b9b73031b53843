//! The error page.

use selfsame_pages::problem::{self, Continuation, ProblemShown};

use crate::error::Problem;

/// The HTML of a problem's page.
pub fn page(problem: &Problem) -> String {
    let told = problem.told();
    problem::page(ProblemShown {
        status: problem.status().as_u16(),
        reason: &told.text,
        hint: told.hint.as_deref(),
        retry_after: problem.retry_after(),
        door: problem
            .door()
            .map(|(href, label)| Continuation { href, label }),
    })
}
