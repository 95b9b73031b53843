//! What can go wrong, by who must act, with the codes of the specifications.

use selfsame_oauth::ErrorBody;

/// Why a step cannot be taken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// The wallet must mend its token or bearer token (OpenID4VCI 1.0 §6.3, §8.3.1.1).
    #[error(transparent)]
    Token(#[from] selfsame_oauth::Error),
    /// The wallet must mend its credential request (OpenID4VCI 1.0 §8.3.1.2).
    #[error("{}: {reason}", code.as_str())]
    Credential {
        /// What goes on the wire.
        code: CredentialCode,
        /// For people; holds no claim value.
        reason: String,
    },
    /// The verifier must mend its request, or the wallet declines it (OpenID4VP 1.0 §8.5).
    #[error("{}: {reason}", code.as_str())]
    Presentation {
        /// What goes on the wire.
        code: PresentationCode,
        /// For people; holds no claim value.
        reason: String,
    },
    /// The other side breaks the rules; the person is told, and what he can do.
    #[error("{reason}")]
    Counterpart {
        /// What the other side did.
        reason: String,
        /// What the person can do.
        advice: &'static str,
    },
    /// The wallet cannot take what is offered; another wallet or another key could.
    #[error("{reason}")]
    Unsupported {
        /// What the wallet lacks.
        lacking: Lacking,
        /// For the person.
        reason: &'static str,
        /// What the person can do.
        advice: &'static str,
    },
    /// The person's answer does not fit what was asked.
    #[error("{0}")]
    Choice(&'static str),
    /// The time for it is over.
    #[error("{0}")]
    Expired(&'static str),
    /// The driver gave an input that does not fit the state.
    #[error("{0}")]
    State(&'static str),
    /// The operator must mend the configuration or the keys.
    #[error("{0}")]
    Setup(String),
}

impl Error {
    /// A refusal of a credential request.
    pub fn credential(code: CredentialCode, reason: impl Into<String>) -> Self {
        Self::Credential {
            code,
            reason: reason.into(),
        }
    }

    /// A refusal of a presentation request or response.
    pub fn presentation(code: PresentationCode, reason: impl Into<String>) -> Self {
        Self::Presentation {
            code,
            reason: reason.into(),
        }
    }

    /// `invalid_request` of OpenID4VP.
    pub fn invalid_request(reason: impl Into<String>) -> Self {
        Self::presentation(PresentationCode::InvalidRequest, reason)
    }

    /// The other side breaks the rules.
    pub fn counterpart(reason: impl Into<String>, advice: &'static str) -> Self {
        Self::Counterpart {
            reason: reason.into(),
            advice,
        }
    }

    /// The specification's code, where the error is one that goes on the wire; else what a wallet lacks, in one word.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Token(error) => Some(error.code.as_str()),
            Self::Credential { code, .. } => Some(code.as_str()),
            Self::Presentation { code, .. } => Some(code.as_str()),
            Self::Unsupported { lacking, .. } => Some(lacking.as_str()),
            _ => None,
        }
    }

    /// The error body to answer with, where the error is one that goes on the wire.
    pub fn body(&self) -> Option<ErrorBody> {
        match self {
            Self::Token(error) => Some(error.body()),
            Self::Credential { code, reason } => Some(ErrorBody::new(code.as_str(), reason)),
            Self::Presentation { code, reason } => Some(ErrorBody::new(code.as_str(), reason)),
            _ => None,
        }
    }
}

/// What a wallet lacks for an offer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lacking {
    /// A grant that it knows.
    Grant,
    /// A credential format that it knows.
    Format,
    /// A key that the issuer takes.
    Key,
}

impl Lacking {
    /// It in one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "unsupported_grant_type",
            Self::Format => "unsupported_credential_format",
            Self::Key => "unsupported_key",
        }
    }
}

/// A code of the credential endpoint (OpenID4VCI 1.0 §8.3.1.2).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CredentialCode {
    /// A parameter is missing, unsupported, repeated or malformed.
    InvalidCredentialRequest,
    /// No such credential configuration.
    UnknownCredentialConfiguration,
    /// No such credential identifier.
    UnknownCredentialIdentifier,
    /// The proofs are missing, or one of them is bad.
    InvalidProof,
    /// A proof's nonce is not ours, expired or spent; a new one helps.
    InvalidNonce,
    /// The response cannot be encrypted as asked.
    InvalidEncryptionParameters,
    /// The credential will not be issued.
    CredentialRequestDenied,
}

impl CredentialCode {
    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidCredentialRequest => "invalid_credential_request",
            Self::UnknownCredentialConfiguration => "unknown_credential_configuration",
            Self::UnknownCredentialIdentifier => "unknown_credential_identifier",
            Self::InvalidProof => "invalid_proof",
            Self::InvalidNonce => "invalid_nonce",
            Self::InvalidEncryptionParameters => "invalid_encryption_parameters",
            Self::CredentialRequestDenied => "credential_request_denied",
        }
    }
}

/// A code of a presentation request's error response (OpenID4VP 1.0 §8.5, RFC 6749 §4.1.2.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PresentationCode {
    /// The request is malformed, or not as its client-id prefix demands.
    InvalidRequest,
    /// The client's metadata contradicts what is known of it.
    InvalidClient,
    /// The scope is unknown.
    InvalidScope,
    /// The person declines, or has nothing that fits.
    AccessDenied,
    /// None of the formats asked for is known.
    VpFormatsNotSupported,
    /// `request_uri_method` is neither `get` nor `post`.
    InvalidRequestUriMethod,
    /// Transaction data of an unknown kind.
    InvalidTransactionData,
    /// The response type is not `vp_token`.
    UnsupportedResponseType,
}

impl PresentationCode {
    /// The code on the wire.
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
