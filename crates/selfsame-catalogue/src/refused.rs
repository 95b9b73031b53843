//! The error responses of an instance's or a node's API.

use selfsame_driver::{Reason, Reported, WhoActs};
use serde::Deserialize;

/// An error response (RFC 9457), for the person at a terminal.
#[derive(Clone, Debug)]
pub struct Refused {
    who: WhoActs,
    text: String,
    hint: Option<String>,
    row: Option<usize>,
}

/// An error response as it is sent.
#[derive(Deserialize)]
struct ProblemBody {
    title: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
    row: Option<usize>,
}

impl Refused {
    /// The error of a response with this status and body.
    #[must_use]
    pub fn of(status: u16, body: &[u8]) -> Self {
        let problem = serde_json::from_slice::<ProblemBody>(body).ok();
        let row = problem.as_ref().and_then(|problem| problem.row);
        let (said, hint) = problem.map_or((None, None), |problem| {
            (problem.detail.or(problem.title), problem.hint)
        });
        let who = match status {
            // The object has expired, or can't change any more.
            409 | 410 => WhoActs::Others,
            // Another party responded wrongly, or a service is unavailable.
            502 | 503 => WhoActs::Caller,
            500.. => WhoActs::Authors,
            _ => WhoActs::Caller,
        };
        let token = "name its file with --token-file, or set SELFSAME_TOKEN: the file is operator-token in the instance's data directory or the node's folder";
        Self {
            who,
            text: said.unwrap_or_else(|| format!("the instance answered {status}")),
            hint: hint.or_else(|| (status == 401).then(|| token.to_owned())),
            row,
        }
    }

    /// Of a request with many rows or ids, the first that is refused, counted from 1.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        self.row
    }
}

impl Reported for Refused {
    fn who(&self) -> WhoActs {
        self.who
    }

    fn reason(&self) -> Reason {
        Reason::text(&self.text)
    }

    fn what_to_do(&self) -> Option<String> {
        self.hint.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unavailable_service_is_no_fault_of_ours() {
        let refused = |status| Refused::of(status, b"{\"detail\": \"the registry is away\"}");
        let who = |status| refused(status).who();
        let (caller, others) = (WhoActs::Caller, WhoActs::Others);
        assert_eq!(
            [502, 503, 500, 410].map(who),
            [caller, caller, WhoActs::Authors, others]
        );
        assert_eq!(refused(503).text, "the registry is away");
    }
}
