//! The OAuth 2.0 error body and its error codes.

use serde::{Deserialize, Serialize};

/// An error code of the authorization endpoint (RFC 6749 §4.1.2.1), the token endpoint (§5.2), tokens (RFC 6750 §3.1, RFC
/// 9449 §7.1) or registration (RFC 7591 §3.2.2).
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
    /// The person or the server refused (RFC 6749 §4.1.2.1).
    AccessDenied,
    /// The response type is not supported (RFC 6749 §4.1.2.1).
    UnsupportedResponseType,
    /// The server failed while the person's browser was there (RFC 6749 §4.1.2.1).
    ServerError,
    /// The server can't do it now (RFC 6749 §4.1.2.1).
    TemporarilyUnavailable,
    /// The person must sign in, and the client did not want to ask them (OpenID Connect Core §3.1.2.6).
    LoginRequired,
    /// The person must agree, and the client did not want to ask them (OpenID Connect Core §3.1.2.6).
    ConsentRequired,
    /// The person must do something, and the client did not want to ask them (OpenID Connect Core §3.1.2.6).
    InteractionRequired,
    /// The address of a request object can't be used (RFC 9101 §6).
    InvalidRequestUri,
    /// A request object is malformed or not signed by the client (RFC 9101 §6).
    InvalidRequestObject,
    /// Request objects by value are not supported (OpenID Connect Core §3.1.2.6).
    RequestNotSupported,
    /// Request objects by reference are not supported (OpenID Connect Core §3.1.2.6).
    RequestUriNotSupported,
    /// The person can't be authenticated as the client demands (OpenID Connect Core Unmet Authentication Requirements).
    UnmetAuthenticationRequirements,
    /// A DPoP proof is malformed, or for another request (RFC 9449 §5).
    InvalidDpopProof,
    /// A DPoP proof lacks the server's nonce (RFC 9449 §8).
    UseDpopNonce,
    /// The token is of a type that can't be revoked (RFC 7009 §2.2.1).
    UnsupportedTokenType,
    /// A redirect URI of a registration can't be used (RFC 7591 §3.2.2).
    InvalidRedirectUri,
    /// A member of a registration can't be used (RFC 7591 §3.2.2).
    InvalidClientMetadata,
    /// The proof of possession of an attested key lacks the server's challenge (attestation-based client authentication,
    /// draft -07 §6.2).
    UseAttestationChallenge,
    /// The client's attestation is too old (draft -07 §6.2).
    UseFreshAttestation,
    /// The client's attestation, or the proof of possession beside it, does not hold (draft -07 §6.2).
    InvalidClientAttestation,
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
            Self::AccessDenied => "access_denied",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::LoginRequired => "login_required",
            Self::ConsentRequired => "consent_required",
            Self::InteractionRequired => "interaction_required",
            Self::InvalidRequestUri => "invalid_request_uri",
            Self::InvalidRequestObject => "invalid_request_object",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::UnmetAuthenticationRequirements => "unmet_authentication_requirements",
            Self::InvalidDpopProof => "invalid_dpop_proof",
            Self::UseDpopNonce => "use_dpop_nonce",
            Self::UnsupportedTokenType => "unsupported_token_type",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::UseAttestationChallenge => "use_attestation_challenge",
            Self::UseFreshAttestation => "use_fresh_attestation",
            Self::InvalidClientAttestation => "invalid_client_attestation",
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
    /// Builds a body. The description keeps only the characters that RFC 6749 §5.2 allows; the sign `§` is written out.
    pub fn new(code: &str, description: &str) -> Self {
        let description = allowed(description);
        Self {
            error: code.to_owned(),
            error_description: (!description.is_empty()).then_some(description),
        }
    }
}

/// A text in the characters of `error_description` (RFC 6749 §5.2), which are ASCII without `"` and `\`.
fn allowed(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '§' => written.push_str("section "),
            '"' | '“' | '”' | '‘' | '’' => written.push('\''),
            ' '..='!' | '#'..='[' | ']'..='~' => written.push(c),
            _ => written.push('?'),
        }
    }
    written
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

    #[test]
    fn a_description_names_a_section_in_words() {
        let body = ErrorBody::new("invalid_request", "HAIP 1.0 §4.1 demands “scope”");
        assert_eq!(
            body.error_description.as_deref(),
            Some("HAIP 1.0 section 4.1 demands 'scope'")
        );
    }
}
