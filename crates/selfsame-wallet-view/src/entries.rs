//! The history of a wallet, and its keys.

use crate::words::HistoryKind;
use selfsame_core::view::words::KeyKind;
use selfsame_driver::Reason;
use selfsame_driver::Reasons;
use selfsame_openid_view::uses::CredentialUse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An entry of the history: what was shared with whom, or received from whom.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Its id.
    pub id: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// What happened.
    #[schema(value_type = HistoryKind)]
    pub what: String,
    /// The other party: an issuer's or verifier's identifier.
    pub party: String,
    /// The other party's name for itself at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party_name: Option<String>,
    /// The titles of the cards.
    pub cards: Vec<String>,
    /// The labels of the claims that left, or may have left if it failed; never their values.
    pub claims: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The single-use cards whose handles were shared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_use: Vec<OneUse>,
    /// Their uses in the registry, looked up each time the history is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<CredentialUse>,
}

impl Reasons for HistoryEntry {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.reason.iter_mut().collect()
    }
}

/// Identifies a single-use card in the registry.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, ToSchema)]
pub struct OneUse {
    /// Its issuer.
    pub issuer: String,
    /// The digest that its handle is registered under, base64url.
    pub digest: String,
}

/// A key of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct KeyInfo {
    /// Its handle: the RFC 7638 thumbprint.
    pub handle: String,
    /// Its type.
    #[schema(value_type = KeyKind)]
    pub kind: String,
    /// When it was created, RFC 3339.
    pub created: String,
}

/// A DID of a person.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DidInfo {
    /// The DID.
    pub did: String,
    /// The handle of its key.
    pub key: String,
    /// When it was created, RFC 3339.
    pub created: String,
}
