//! Why a certificate was not given, and who made it fail.

use std::fmt;

use instant_acme::{Error, Problem};
use selfsame_net::NetError;
use selfsame_store::StoreError;

use crate::plan::Trouble;

/// What the types of problems begin with (RFC 8555 §6.7).
const NAMESPACE: &str = "urn:ietf:params:acme:error:";
/// The longest words of an authority in the log, in characters.
const LONGEST: usize = 300;

/// Why a certificate was not given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AcmeFailure {
    /// Who made it fail.
    pub trouble: Trouble,
    /// The type of the problem without its namespace, such as `rateLimited`; or a word of ours in kebab-case.
    pub problem: String,
    /// What the other side says, in one line.
    pub detail: String,
    /// Seconds that the authority asks for.
    pub retry_after: Option<u64>,
}

/// An answer without a problem document.
#[derive(Debug)]
pub(crate) struct UnexplainedStatus(pub u16);

impl AcmeFailure {
    /// The authority has refused.
    pub fn refused(problem: &str, detail: impl fmt::Display) -> Self {
        Self::of(Trouble::Refused, problem, detail)
    }

    /// There is no proper answer.
    pub fn silent(problem: &str, detail: impl fmt::Display) -> Self {
        Self::of(Trouble::Silent, problem, detail)
    }

    /// Whether the same may be sent again at once: the nonce was not taken (RFC 8555 §6.5).
    pub fn is_bad_nonce(&self) -> bool {
        self.problem == "badNonce"
    }

    /// Whether the authority does not know the account any more (RFC 8555 §7.3.1).
    pub fn is_lost_account(&self) -> bool {
        self.problem == "accountDoesNotExist"
    }

    fn of(trouble: Trouble, problem: &str, detail: impl fmt::Display) -> Self {
        Self {
            trouble,
            problem: one_line(problem),
            detail: one_line(&detail.to_string()),
            retry_after: None,
        }
    }
}

impl fmt::Display for AcmeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.problem, self.detail)
    }
}

impl From<Problem> for AcmeFailure {
    fn from(problem: Problem) -> Self {
        let kind = problem.r#type.as_deref().unwrap_or("unnamed");
        let kind = kind.strip_prefix(NAMESPACE).unwrap_or(kind);
        let is_its_fault = problem.status.is_some_and(|status| status >= 500);
        let trouble = match kind {
            "badNonce" | "serverInternal" => Trouble::Silent,
            _ if is_its_fault => Trouble::Silent,
            _ => Trouble::Refused,
        };
        Self::of(trouble, kind, &problem)
    }
}

impl From<Error> for AcmeFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Api(problem) => problem.into(),
            Error::Timeout(_) => {
                Self::silent("no-decision", "the authority does not decide in time")
            }
            Error::Json(error) => Self::silent("malformed", error),
            Error::Other(other) => {
                let status = other.downcast_ref::<UnexplainedStatus>();
                let is_its_fault = status.is_some_and(|status| status.0 >= 500);
                match other.downcast_ref::<NetError>() {
                    Some(error) => Self::silent("unreachable", error),
                    None if is_its_fault => Self::silent("unavailable", other),
                    None => Self::silent("malformed", other),
                }
            }
            other => Self::silent("malformed", other),
        }
    }
}

impl From<selfsame_driver::Error> for AcmeFailure {
    fn from(error: selfsame_driver::Error) -> Self {
        Self::silent("not-stored", error)
    }
}

impl From<StoreError> for AcmeFailure {
    fn from(error: StoreError) -> Self {
        selfsame_driver::Error::from(error).into()
    }
}

impl fmt::Display for UnexplainedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the directory answers with status {} and says nothing",
            self.0
        )
    }
}

impl std::error::Error for UnexplainedStatus {}

/// Words from outside as they stand in the log: one line of limited length.
fn one_line(words: &str) -> String {
    let printed = words
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one });
    printed.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: &str, status: Option<u16>) -> AcmeFailure {
        let problem = Problem {
            r#type: Some(kind.to_owned()),
            detail: Some("not\nnow".to_owned()),
            status,
            subproblems: Vec::new(),
        };
        Error::Api(problem).into()
    }

    #[test]
    fn a_problem_is_named_by_its_type_and_told_in_one_line() {
        let failure = problem("urn:ietf:params:acme:error:rateLimited", Some(429));
        assert_eq!(failure.problem, "rateLimited");
        assert!(failure.detail.contains("not now"), "{failure}");
        let long = AcmeFailure::refused("x", "a".repeat(5_000));
        assert_eq!(long.detail.len(), LONGEST);
    }

    #[test]
    fn a_refusal_ends_an_order_and_what_the_authority_could_not_do_does_not() {
        for (kind, status, trouble) in [
            ("unauthorized", Some(403), Trouble::Refused),
            ("rateLimited", Some(429), Trouble::Refused),
            ("dns", None, Trouble::Refused),
            ("badNonce", Some(400), Trouble::Silent),
            ("serverInternal", Some(500), Trouble::Silent),
            ("unknownWord", Some(503), Trouble::Silent),
        ] {
            let failure = problem(&format!("{NAMESPACE}{kind}"), status);
            assert_eq!(failure.trouble, trouble, "{kind}");
        }
        for error in [
            Error::Other(Box::new(NetError::Unconnected)),
            Error::Other(Box::new(UnexplainedStatus(502))),
            Error::Timeout(None),
            Error::Str("no nonce"),
        ] {
            assert_eq!(AcmeFailure::from(error).trouble, Trouble::Silent);
        }
    }
}
