//! A consistent DCQL query: every identifier refers to an element, and every list is within its limit.

use selfsame_credential::{ClaimPath, Format};
use serde::Serialize;
use serde_json::Value;

/// A valid DCQL query (OpenID4VP 1.0 §6).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DcqlQuery {
    pub(super) credentials: Vec<CredentialQuery>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) credential_sets: Vec<CredentialSet>,
}

impl DcqlQuery {
    /// The credential queries, in the verifier's order; never empty.
    pub fn credentials(&self) -> &[CredentialQuery] {
        &self.credentials
    }

    /// The credential query with this identifier.
    pub fn credential(&self, id: &str) -> Option<&CredentialQuery> {
        self.credentials.iter().find(|query| query.id == id)
    }

    /// The requirements for an answer: the credential sets or, without sets, every credential query (OpenID4VP 1.0
    /// §6.4.2).
    pub fn requirements(&self) -> Vec<CredentialSet> {
        if !self.credential_sets.is_empty() {
            return self.credential_sets.clone();
        }
        vec![CredentialSet {
            options: vec![
                self.credentials
                    .iter()
                    .map(|query| query.id.clone())
                    .collect(),
            ],
            required: true,
        }]
    }

    /// Whether an answer to it could be verified: unless every way to meet a requirement has a format that this crate
    /// does not know. If nothing is required, some optional set must be possible to answer.
    pub fn can_be_checked(&self) -> bool {
        let is_known = |id: &String| {
            let credential = self.credential(id);
            credential.is_some_and(|credential| credential.known_format().is_some())
        };
        let can_be_met =
            |set: &CredentialSet| set.options.iter().any(|ids| ids.iter().all(is_known));
        let sets = self.requirements();
        let mut required = sets.iter().filter(|set| set.required).peekable();
        match required.peek() {
            Some(_) => required.all(can_be_met),
            None => sets.iter().any(can_be_met),
        }
    }
}

/// A request for a presentation of one kind of credential (OpenID4VP 1.0 §6.1).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CredentialQuery {
    /// Its identifier, by which the answer refers to it.
    pub id: String,
    /// The credential format's identifier, even if the format is unknown.
    pub format: String,
    /// Whether more than one credential may be returned.
    #[serde(skip_serializing_if = "is_false")]
    pub multiple: bool,
    /// The requested types of credentials.
    pub meta: Meta,
    /// The authorities that may have certified the issuer; empty if the verifier restricts none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trusted_authorities: Vec<TrustedAuthority>,
    /// Whether the holder must prove possession of a key.
    #[serde(skip_serializing_if = "is_true")]
    pub require_cryptographic_holder_binding: bool,
    /// The requested claims; empty if no selectively disclosable claim is requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimQuery>,
    /// The accepted combinations of claims, the verifier's preferred one first; empty if all claims are requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claim_sets: Vec<Vec<String>>,
}

impl CredentialQuery {
    /// The format, if this crate supports it.
    pub fn known_format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// Whether the verifier means to keep what is at this place.
    pub fn is_kept(&self, place: &ClaimPath) -> bool {
        let mut kept = self.claims.iter().filter(|claim| claim.intent_to_retain);
        kept.any(|claim| place.begins_with(&claim.path))
    }

    /// The accepted combinations of claims, the verifier's preferred one first (OpenID4VP 1.0 §6.4.1). Without
    /// requested claims there is one combination, the empty one.
    pub fn combinations(&self) -> Vec<Vec<&ClaimQuery>> {
        if self.claim_sets.is_empty() {
            return vec![self.claims.iter().collect()];
        }
        let claim = |id: &String| {
            self.claims
                .iter()
                .find(|claim| claim.id.as_ref() == Some(id))
        };
        self.claim_sets
            .iter()
            .map(|ids| ids.iter().filter_map(claim).collect())
            .collect()
    }
}

/// The requested types of credentials, by format (OpenID4VP 1.0 Appendix B).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Meta {
    /// SD-JWT VC: any of these `vct` (§B.3.5).
    SdJwtVc {
        /// The accepted types.
        vct_values: Vec<String>,
    },
    /// W3C credentials: all types of any of these lists (§B.1.1).
    W3c {
        /// The lists of fully expanded types, each an alternative.
        type_values: Vec<Vec<String>>,
    },
    /// ISO mdoc: this document type (§B.2.3).
    Mdoc {
        /// The document type.
        doctype_value: String,
    },
    /// Of an unknown format; kept as received.
    Other(Value),
}

/// Identifies an authority that the issuer descends from (OpenID4VP 1.0 §6.1.1).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TrustedAuthority {
    /// The kind of identification, such as `aki`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The identifiers, any of which is accepted.
    pub values: Vec<String>,
}

/// A request for one claim (OpenID4VP 1.0 §6.3).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ClaimQuery {
    /// Its identifier, by which claim sets refer to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The path of the claim in the credential.
    pub path: ClaimPath,
    /// Whether the verifier means to keep the element of an mdoc (OpenID4VP 1.0 §B.2.4).
    #[serde(skip_serializing_if = "is_false")]
    pub intent_to_retain: bool,
    /// The accepted values; empty if any value is accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ClaimValue>,
}

/// A value to compare a claim with: type and value must both be equal (OpenID4VP 1.0 §6.3).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ClaimValue {
    /// A string.
    Text(String),
    /// An integer.
    Integer(serde_json::Number),
    /// A boolean.
    Boolean(bool),
}

impl ClaimValue {
    /// Whether `value` has an equal type and an equal value; 1, 1.0 and "1" are three different values.
    pub fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text(wanted), Value::String(value)) => wanted == value,
            (Self::Integer(wanted), Value::Number(value)) => wanted == value,
            (Self::Boolean(wanted), Value::Bool(value)) => wanted == value,
            _ => false,
        }
    }
}

/// Combinations of credentials, any of which serves one purpose of the verifier (OpenID4VP 1.0 §6.2).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CredentialSet {
    /// The combinations, each a list of credential query identifiers.
    pub options: Vec<Vec<String>>,
    /// Whether one of the combinations must be returned.
    #[serde(skip_serializing_if = "is_true")]
    pub required: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_true(value: &bool) -> bool {
    *value
}
