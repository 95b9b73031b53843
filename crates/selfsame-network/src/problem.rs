//! The error responses of an instance's or a node's API.

use serde::Deserialize;

use crate::NetworkError;

/// An error response (RFC 9457).
#[derive(Deserialize)]
struct Problem {
    title: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
}

/// The error for an error response of an instance or a node.
#[must_use]
pub fn refusal(status: u16, body: &[u8]) -> NetworkError {
    let problem = serde_json::from_slice::<Problem>(body).ok();
    let said = problem
        .as_ref()
        .and_then(|problem| problem.detail.clone().or_else(|| problem.title.clone()))
        .unwrap_or_else(|| format!("the instance answered {status}"));
    let error = match status {
        // The object has expired, or can't change any more.
        409 | 410 => NetworkError::no(said),
        // Another party responded wrongly, or a service is unavailable.
        502 | 503 => NetworkError::environment(said),
        500.. => NetworkError::ours(said),
        _ => NetworkError::environment(said),
    };
    match problem.and_then(|problem| problem.hint) {
        Some(hint) => error.hint(hint),
        None if status == 401 => {
            error.hint(
                "name its file with --token-file, or set SELFSAME_TOKEN: the file is operator-token in the instance's data directory or the node's folder",
            )
        }
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use selfsame_driver::WhoActs::{Authors, Caller, Others};

    use super::*;

    #[test]
    fn what_nobody_can_do_now_is_no_fault_of_ours() {
        let answered = |status| refusal(status, b"{\"detail\": \"the registry is away\"}");
        let who = |status| answered(status).who();
        assert_eq!(
            [502, 503, 500, 410].map(who),
            [Caller, Caller, Authors, Others]
        );
        assert_eq!(answered(503).message(), "the registry is away");
    }
}
