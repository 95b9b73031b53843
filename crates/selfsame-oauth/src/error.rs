//! The OAuth 2.0 error body and its error codes.

use serde::{Deserialize, Serialize};

/// An error code of the token endpoint (RFC 6749 §5.2) or of bearer tokens (RFC 6750 §3.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Code {
    /// A parameter is missing, repeated or malformed.
    InvalidRequest,
    /// The client is unknown, or the server does not accept anonymous clients.
    InvalidClient,
    /// The code is wrong, spent or expired, or the transaction code is wrong.
    InvalidGrant,
    /// The client may not use this grant.
    UnauthorizedClient,
    /// The server does not know the grant type.
    UnsupportedGrantType,
    /// The scope is unknown or exceeds what was granted.
    InvalidScope,
    /// The authorization details are unknown or exceed what was offered (RFC 9396 §5).
    InvalidAuthorizationDetails,
    /// The access token is unknown, expired or revoked.
    InvalidToken,
    /// The access token does not cover the request.
    InsufficientScope,
}

impl Code {
    /// The code as it is sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidAuthorizationDetails => "invalid_authorization_details",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "insufficient_scope",
        }
    }
}

/// A refused client request: the code to answer with, and a reason that is safe to show.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}: {reason}", code.as_str())]
pub struct Error {
    /// The code that is sent.
    pub code: Code,
    /// An explanation for people; contains no secret.
    pub reason: &'static str,
}

impl Error {
    /// Creates an error from its code and reason.
    pub const fn new(code: Code, reason: &'static str) -> Self {
        Self { code, reason }
    }

    /// The JSON body to answer with.
    pub fn body(&self) -> ErrorBody {
        ErrorBody::new(self.code.as_str(), self.reason)
    }
}

/// The JSON body of an error response (RFC 6749 §5.2).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ErrorBody {
    /// The error code.
    pub error: String,
    /// An explanation for developers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_description: Option<String>,
}

impl ErrorBody {
    /// Builds a body. The description keeps only the characters that RFC 6749 §5.2 allows.
    pub fn new(code: &str, description: &str) -> Self {
        let allowed = |c: char| matches!(c, ' '..='!' | '#'..='[' | ']'..='~');
        let description: String = description
            .chars()
            .map(|c| match c {
                '"' => '\'',
                c if allowed(c) => c,
                _ => '?',
            })
            .collect();
        Self {
            error: code.to_owned(),
            error_description: (!description.is_empty()).then_some(description),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_holds_allowed_characters_only() {
        let body = ErrorBody::new("invalid_request", "say \"ü\\\n~\"");
        assert_eq!(body.error_description.as_deref(), Some("say '???~'"));
        assert_eq!(
            ErrorBody::new("invalid_request", "").error_description,
            None
        );
    }
}
