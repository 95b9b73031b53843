//! Answers and refusals, with ACA-Py's statuses and bodies: 200 with JSON after success, a text for an error, and JSON
//! with the field for a request that is malformed.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use selfsame_crypto::json::Misfit;
use selfsame_driver::{Error, Reason};
use selfsame_http::error::Problem;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What an operation answers.
pub type OperationResult<T = Response> = Result<T, OperationError>;

/// Why an operation is refused.
#[derive(Clone, Debug)]
pub enum OperationError {
    /// An error.
    Problem(Box<Problem>),
    /// A request that is malformed: what is wrong, by the name of the field.
    Invalid(Map<String, Value>),
}

impl OperationError {
    /// A refusal with this problem.
    pub fn of(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }

    /// A field that is wrong.
    pub fn field(name: &str, what: &str) -> Self {
        let mut fields = Map::new();
        fields.insert(name.to_owned(), json!([what]));
        Self::Invalid(fields)
    }

    /// A field that is not there.
    pub fn missing(name: &str) -> Self {
        Self::field(name, "Missing data for required field.")
    }

    /// A connection that is not ready, with its identifier.
    pub fn not_ready(connection: &str) -> Self {
        Self::of(
            Problem::new(StatusCode::FORBIDDEN, "aries-connection-not-ready")
                .with("connection", connection),
        )
    }
}

impl From<Problem> for OperationError {
    fn from(problem: Problem) -> Self {
        Self::of(problem)
    }
}

impl From<Error> for OperationError {
    fn from(error: Error) -> Self {
        let problem = Problem::from(error);
        // ACA-Py has one status for a request that can't work and for a record in another state.
        Self::of(match problem.status() {
            StatusCode::CONFLICT | StatusCode::GONE => {
                Problem::of(StatusCode::BAD_REQUEST, problem.reason().clone())
            }
            _ => problem,
        })
    }
}

impl From<Misfit> for OperationError {
    fn from(misfit: Misfit) -> Self {
        let told = misfit.to_string();
        let field = told.split('`').nth(1).unwrap_or("_schema");
        Self::field(field, &told)
    }
}

impl IntoResponse for OperationError {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Invalid(fields) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                Json(Value::Object(fields)),
            )
                .into_response(),
        }
    }
}

/// JSON.
pub fn told<T: Serialize>(body: &T) -> OperationResult {
    Ok(Json(body).into_response())
}

/// An empty object, after a change that gives nothing.
pub fn done() -> OperationResult {
    told(&json!({}))
}

/// A refusal because the request can't work.
pub fn cannot(reason: Reason) -> OperationError {
    OperationError::of(Problem::of(StatusCode::BAD_REQUEST, reason))
}
