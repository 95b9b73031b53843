//! Errors, grouped by who must act, with the error codes of the specifications.

use selfsame_oauth::ErrorBody;

/// The reason why a step failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// The wallet must correct its token request or its bearer token (OpenID4VCI 1.0 §6.3, §8.3.1.1).
    #[error(transparent)]
    Token(#[from] selfsame_oauth::Error),
    /// The wallet must correct its credential request (OpenID4VCI 1.0 §8.3.1.2).
    #[error("{}: {reason}", code.as_str())]
    Credential {
        /// The error code sent to the wallet.
        code: CredentialCode,
        /// Text for people; contains no claim value.
        reason: String,
    },
    /// The verifier must correct its request, or the wallet declines it (OpenID4VP 1.0 §8.5).
    #[error("{}: {reason}", code.as_str())]
    Presentation {
        /// The error code sent to the verifier.
        code: PresentationCode,
        /// Text for people; contains no claim value.
        reason: String,
    },
    /// The other side breaks the rules. The person sees the reason and what they can do.
    #[error("{reason}")]
    Counterpart {
        /// What the other side did.
        reason: String,
        /// What the person can do.
        advice: &'static str,
    },
    /// The wallet cannot accept the offer; another wallet or another key could.
    #[error("{reason}")]
    Unsupported {
        /// What the wallet lacks.
        lacking: Lacking,
        /// Text for the person.
        reason: &'static str,
        /// What the person can do.
        advice: &'static str,
    },
    /// The person's choice does not fit the request.
    #[error("{0}")]
    Choice(&'static str),
    /// The offer or request has expired.
    #[error("{0}")]
    Expired(&'static str),
    /// The caller gave an input that does not fit the state.
    #[error("{0}")]
    State(&'static str),
    /// The operator must correct the configuration or the keys.
    #[error("{0}")]
    Setup(String),
}

impl Error {
    /// Refuses a credential request.
    pub fn credential(code: CredentialCode, reason: impl Into<String>) -> Self {
        Self::Credential {
            code,
            reason: reason.into(),
        }
    }

    /// Refuses a presentation request or response.
    pub fn presentation(code: PresentationCode, reason: impl Into<String>) -> Self {
        Self::Presentation {
            code,
            reason: reason.into(),
        }
    }

    /// Refuses with `invalid_request` of OpenID4VP.
    pub fn invalid_request(reason: impl Into<String>) -> Self {
        Self::presentation(PresentationCode::InvalidRequest, reason)
    }

    /// Reports that the other side breaks the rules.
    pub fn counterpart(reason: impl Into<String>, advice: &'static str) -> Self {
        Self::Counterpart {
            reason: reason.into(),
            advice,
        }
    }

    /// The specification's error code, if the error has one; for `Unsupported`, a code for what the wallet lacks.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Token(error) => Some(error.code.as_str()),
            Self::Credential { code, .. } => Some(code.as_str()),
            Self::Presentation { code, .. } => Some(code.as_str()),
            Self::Unsupported { lacking, .. } => Some(lacking.as_str()),
            _ => None,
        }
    }

    /// Text for people, without the code.
    pub fn detail(&self) -> &str {
        match self {
            Self::Token(error) => error.reason,
            Self::Credential { reason, .. }
            | Self::Presentation { reason, .. }
            | Self::Counterpart { reason, .. }
            | Self::Setup(reason) => reason,
            Self::Unsupported { reason, .. }
            | Self::Choice(reason)
            | Self::Expired(reason)
            | Self::State(reason) => reason,
        }
    }

    /// What the person can do, if the error says that.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Counterpart { advice, .. } | Self::Unsupported { advice, .. } => Some(advice),
            _ => None,
        }
    }

    /// The error body to send, if the error is one that the specification defines.
    pub fn body(&self) -> Option<ErrorBody> {
        match self {
            Self::Token(error) => Some(error.body()),
            Self::Credential { code, reason } => Some(ErrorBody::new(code.as_str(), reason)),
            Self::Presentation { code, reason } => Some(ErrorBody::new(code.as_str(), reason)),
            _ => None,
        }
    }
}

/// What a wallet lacks to accept an offer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lacking {
    /// A grant type that the wallet supports.
    Grant,
    /// A credential format that the wallet supports.
    Format,
    /// A key that the issuer accepts.
    Key,
}

impl Lacking {
    /// The name used as an error code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "unsupported_grant_type",
            Self::Format => "unsupported_credential_format",
            Self::Key => "unsupported_key",
        }
    }
}

/// An error code of the credential endpoint (OpenID4VCI 1.0 §8.3.1.2).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CredentialCode {
    /// A parameter is missing, unsupported, repeated or malformed.
    InvalidCredentialRequest,
    /// The credential configuration does not exist.
    UnknownCredentialConfiguration,
    /// The credential identifier does not exist.
    UnknownCredentialIdentifier,
    /// The proofs are missing, or one of them is invalid.
    InvalidProof,
    /// A proof's nonce is not ours, has expired or was used before; the wallet can retry with a new one.
    InvalidNonce,
    /// The response cannot be encrypted as requested.
    InvalidEncryptionParameters,
    /// The issuer will not issue the credential.
    CredentialRequestDenied,
    /// No response that the access token got has this `notification_id` (§11.3).
    InvalidNotificationId,
    /// A notification is malformed (§11.3).
    InvalidNotificationRequest,
    /// No deferred issuance of the access token has this `transaction_id`, or its credential was delivered (§9.3).
    InvalidTransactionId,
}

impl CredentialCode {
    /// The code as the specification writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidCredentialRequest => "invalid_credential_request",
            Self::UnknownCredentialConfiguration => "unknown_credential_configuration",
            Self::UnknownCredentialIdentifier => "unknown_credential_identifier",
            Self::InvalidProof => "invalid_proof",
            Self::InvalidNonce => "invalid_nonce",
            Self::InvalidEncryptionParameters => "invalid_encryption_parameters",
            Self::CredentialRequestDenied => "credential_request_denied",
            Self::InvalidNotificationId => "invalid_notification_id",
            Self::InvalidNotificationRequest => "invalid_notification_request",
            Self::InvalidTransactionId => "invalid_transaction_id",
        }
    }
}

/// An error code in response to a presentation request (OpenID4VP 1.0 §8.5, RFC 6749 §4.1.2.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PresentationCode {
    /// The request is malformed, or breaks a rule of its client identifier prefix.
    InvalidRequest,
    /// The client's metadata contradicts metadata known beforehand.
    InvalidClient,
    /// The scope is unknown.
    InvalidScope,
    /// The person declines, or has no matching credential.
    AccessDenied,
    /// The wallet supports none of the requested formats.
    VpFormatsNotSupported,
    /// `request_uri_method` is neither `get` nor `post`.
    InvalidRequestUriMethod,
    /// The transaction data has an unknown type.
    InvalidTransactionData,
    /// The response type is not `vp_token`.
    UnsupportedResponseType,
}

impl PresentationCode {
    /// The code as the specification writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidScope => "invalid_scope",
            Self::AccessDenied => "access_denied",
            Self::VpFormatsNotSupported => "vp_formats_not_supported",
            Self::InvalidRequestUriMethod => "invalid_request_uri_method",
            Self::InvalidTransactionData => "invalid_transaction_data",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }
}
