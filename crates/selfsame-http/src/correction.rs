//! Forms that are shown again, with what a person can correct.

use axum::response::Response;
use http::StatusCode;

use crate::error::{Handled, Problem};

/// A problem that a person can correct in the form, with its sentence and hint; any other one is returned as it is.
pub fn correctable(problem: impl Into<Problem>) -> Handled<(Problem, String)> {
    let problem = problem.into();
    let told = problem.told();
    let text = match (problem.status(), told.hint) {
        // The hint of a wrong password is about wallets.
        (StatusCode::UNAUTHORIZED, _) | (StatusCode::BAD_REQUEST | StatusCode::CONFLICT, None) => {
            told.text
        }
        (StatusCode::BAD_REQUEST | StatusCode::CONFLICT, Some(hint)) => {
            format!("{}; {hint}", told.text)
        }
        _ => return Err(problem),
    };
    Ok((problem, text))
}

/// A page shown again, with the status of what was refused.
pub fn refused(problem: &Problem, mut page: Response) -> Response {
    *page.status_mut() = problem.status();
    page
}
