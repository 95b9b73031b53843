//! How results and problems are written.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_http::error::{Handled, Problem, log_refusal};
use selfsame_w3c::{CredentialCheck, PresentationCheck, VcProblem, W3cError};
use serde::Serialize;
use serde_json::{Value, json};

use crate::bodies::CredentialToVerify;

/// The answer of a call, or the refusal of its caller. A refusal is logged with its type.
pub(crate) fn answered(answer: Result<Response, W3cError>) -> Handled {
    match answer {
        Ok(response) => Ok(response),
        Err(W3cError::Refused(problem)) => Ok(refused(&problem)),
        Err(W3cError::Failed(error)) => Err(Problem::from(error)),
    }
}

/// Problem details (RFC 9457).
fn refused(problem: &VcProblem) -> Response {
    let status = StatusCode::BAD_REQUEST;
    log_refusal(status, Some(problem.title()), problem.kind, &problem.detail);
    let body = json!({
        "type": problem.kind,
        "title": problem.title(),
        "status": status.as_u16(),
        "detail": problem.detail,
    });
    let about = [(CONTENT_TYPE, "application/problem+json")];
    (status, about, body.to_string()).into_response()
}

/// What was signed or made, under its name.
pub(crate) fn made(status: StatusCode, name: &str, value: impl Serialize) -> Response {
    let about = [(CACHE_CONTROL, "no-store")];
    (status, about, axum::Json(json!({ name: value }))).into_response()
}

/// The result of a verification.
pub(crate) fn checked(is_verified: bool, unverified: StatusCode, body: Value) -> Response {
    let status = match is_verified {
        true => StatusCode::OK,
        false => unverified,
    };
    let about = [(CACHE_CONTROL, "no-store")];
    (status, about, axum::Json(body)).into_response()
}

/// The result for a credential, with what was asked for.
pub(crate) fn of_credential(check: &CredentialCheck, asked: &CredentialToVerify) -> Value {
    log(check.verified, &check.problems);
    let mut body = json!({ "verified": check.verified });
    if asked.shows_problems {
        body["problemDetails"] = json!(check.problems);
    }
    if asked.shows_results {
        body["results"] = json!(check.findings);
    }
    if asked.shows_credential {
        body["credential"] = check.credential.clone();
    }
    body
}

/// The result for a presentation and each of its credentials.
pub(crate) fn of_presentation(check: &PresentationCheck, shown: Option<Value>) -> Value {
    let inner = check.credentials.iter().flat_map(|one| &one.problems);
    let all: Vec<VcProblem> = check.problems.iter().chain(inner).cloned().collect();
    log(check.verified, &all);
    let credentials = check.credentials.iter().map(|one| {
        json!({
            "verified": one.verified,
            "credential": one.credential,
            "problemDetails": one.problems,
            "results": one.findings,
        })
    });
    let mut body = json!({
        "verified": check.verified,
        "problemDetails": check.problems,
        "results": {
            "presentation": check.findings,
            "credentials": credentials.collect::<Vec<_>>(),
        },
    });
    if let Some(presentation) = shown {
        body["verifiablePresentation"] = presentation;
    }
    body
}

fn log(is_verified: bool, problems: &[VcProblem]) {
    if let Some(first) = problems.first().filter(|_| !is_verified) {
        let status = StatusCode::BAD_REQUEST;
        log_refusal(status, Some(first.title()), first.kind, &first.detail);
    }
}
