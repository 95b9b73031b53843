//! Why a document cannot be secured or verified.

use selfsame_crypto::json::JsonError;

/// Why a document cannot be secured or verified. Its author must act, unless the variant says otherwise.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IntegrityError {
    /// The text is not JSON within the bounds.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// This member is missing or malformed.
    #[error("`{0}` is missing or malformed")]
    Malformed(&'static str),
    /// There are more of these than the bound.
    #[error("too many: {0}")]
    TooMany(&'static str),
    /// The cryptosuite is unknown, or the key is not of it.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// The proofs do not refer to each other as the members of a chain do.
    #[error("the chain of proofs: {0}")]
    Chain(ChainError),
    /// This context is not known; the operator may add it.
    #[error("the context {0} is not known")]
    UnknownContext(String),
    /// A context defines a term otherwise that a data model protects; who added it must act.
    #[error("the term `{0}` is protected by a data model, and is defined otherwise")]
    ProtectedTerm(String),
    /// This part of the document would not be signed: the name of a member, a term or a type, never the value of a claim.
    #[error("`{0}` has no meaning in the contexts, so that nothing would sign it")]
    DataLoss(String),
    /// The document cannot be transformed to the form that is signed.
    #[error("the document cannot be transformed: {0}")]
    Transformation(&'static str),
    /// The proof is not the one that was asked for.
    #[error("{0}")]
    Unexpected(UnexpectedProof),
    /// The proof's key did not sign this document.
    #[error("the signature is not of this document and this key")]
    Signature,
}

/// How the proofs of a chain fail to refer to each other (Data Integrity §4.5).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// No proof has the identifier that a `previousProof` names.
    #[error("a previous proof is missing")]
    Dangling,
    /// A proof comes, over others or at once, before itself.
    #[error("a proof precedes itself")]
    Cycle,
    /// Two proofs have the same identifier.
    #[error("two proofs have one identifier")]
    Ambiguous,
    /// A proof that this one builds on was not verified.
    #[error("a previous proof was not verified")]
    Unverified,
}

/// What a proof has otherwise than it was asked for (Data Integrity §4.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnexpectedProof {
    /// `proofPurpose`.
    #[error("the proof is for another purpose")]
    Purpose,
    /// `domain`.
    #[error("the proof is for another domain")]
    Domain,
    /// `challenge`.
    #[error("the proof answers another challenge")]
    Challenge,
    /// `created` is in the future.
    #[error("the proof is not valid yet")]
    Early,
    /// `expires` is in the past.
    #[error("the proof has expired")]
    Expired,
}

impl IntegrityError {
    /// The code of the reason.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(_) => "integrity-json",
            Self::Malformed(_) => "integrity-malformed",
            Self::TooMany(_) => "integrity-too-many",
            Self::Unsupported(_) => "integrity-unsupported",
            Self::Chain(_) => "integrity-chain",
            Self::UnknownContext(_) => "integrity-context",
            Self::ProtectedTerm(_) => "integrity-protected-term",
            Self::DataLoss(_) => "integrity-data-loss",
            Self::Transformation(_) => "integrity-transformation",
            Self::Unexpected(_) => "integrity-unexpected",
            Self::Signature => "integrity-signature",
        }
    }

    /// The type of the problem in an answer of a service that verifies (Data Integrity §4.7).
    pub const fn problem_type(&self) -> &'static str {
        match self {
            Self::Json(_) | Self::Malformed(_) => "https://w3id.org/security#PARSING_ERROR",
            Self::Transformation(_) | Self::UnknownContext(_) | Self::ProtectedTerm(_) => {
                "https://w3id.org/security#PROOF_TRANSFORMATION_ERROR"
            }
            Self::DataLoss(_) => "https://w3id.org/security#DATA_LOSS_DETECTION_ERROR",
            Self::Unexpected(UnexpectedProof::Domain) => {
                "https://w3id.org/security#INVALID_DOMAIN_ERROR"
            }
            Self::Unexpected(UnexpectedProof::Challenge) => {
                "https://w3id.org/security#INVALID_CHALLENGE_ERROR"
            }
            Self::TooMany(_)
            | Self::Unsupported(_)
            | Self::Chain(_)
            | Self::Unexpected(_)
            | Self::Signature => "https://w3id.org/security#PROOF_VERIFICATION_ERROR",
        }
    }
}
