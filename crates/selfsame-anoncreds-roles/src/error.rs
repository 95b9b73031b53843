//! Errors: why a use case of AnonCreds has no result. The caller adds what can be done about it.

use std::borrow::Cow;

use selfsame_anoncreds::Error;

/// Why a use case has no result.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// A message, a key or a proof is refused.
    #[error(transparent)]
    Refused(#[from] Error),
    /// A published object is needed and not known.
    #[error("{0} is missing")]
    Missing(MissingObject),
    /// The holder named a referent that the request does not have: most likely another one was meant.
    #[error("the request has no attribute {referent}")]
    NotRequested {
        /// The referent.
        referent: String,
        /// The attribute referents of the request.
        requested: Vec<String>,
    },
    /// A credential can be revoked, and what shows its place in the registry is not given.
    #[error("the credential can be revoked, but {0} is missing")]
    UncheckedPlace(&'static str),
    /// A presentation would not be accepted by any verifier.
    #[error("no verifier would accept this: {rule}: {detail}")]
    Unacceptable {
        /// The rule that it breaks.
        rule: Cow<'static, str>,
        /// How.
        detail: String,
    },
    /// The proof is invalid: a credential is not finished, or is bound to another link secret.
    #[error("credentials and link secret do not make a valid proof")]
    NoProof,
    /// A status list would be older than the one it follows.
    #[error("the next list can't be older than the previous one")]
    OlderList,
    /// An attribute has two values, and only one can be signed.
    #[error("{0} has two values")]
    TwoValues(String),
}

/// A published object that is not known.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MissingObject {
    /// A schema.
    #[error("the schema {0}")]
    Schema(String),
    /// A credential definition.
    #[error("the credential definition {0}")]
    Definition(String),
    /// A revocation registry.
    #[error("the revocation registry {0}")]
    Registry(String),
    /// A status list of this registry.
    #[error("a status list{} of {registry}", until(*.to))]
    List {
        /// The registry.
        registry: String,
        /// The latest time that the list may have.
        to: Option<u64>,
    },
    /// The tails file of this registry.
    #[error("the tails file with the hash {hash} of {registry}")]
    Tails {
        /// The registry.
        registry: String,
        /// The hash of the file.
        hash: String,
    },
}

fn until(to: Option<u64>) -> String {
    to.map(|to| format!(" as of {to} or earlier"))
        .unwrap_or_default()
}
