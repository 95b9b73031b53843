//! A DCQL query that holds together: every identifier refers to something and every list is within its limit.

use selfsame_credential::{ClaimPath, Format};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::parse::{self, DcqlError};

/// A valid DCQL query (OpenID4VP 1.0 §6).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Query {
    pub(super) credentials: Vec<CredentialQuery>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) credential_sets: Vec<CredentialSet>,
}

impl Query {
    /// Reads a query. Unknown members are ignored (OpenID4VP 1.0 §6), everything else is held to the letter.
    pub fn parse(value: &Value) -> Result<Self, DcqlError> {
        parse::query(value)
    }

    /// The credential queries, in the verifier's order; never empty.
    pub fn credentials(&self) -> &[CredentialQuery] {
        &self.credentials
    }

    /// The credential query of this identifier.
    pub fn credential(&self, id: &str) -> Option<&CredentialQuery> {
        self.credentials.iter().find(|query| query.id == id)
    }

    /// The credential set queries; empty if the verifier gave none.
    pub fn credential_sets(&self) -> &[CredentialSet] {
        &self.credential_sets
    }

    /// What an answer must satisfy: the credential sets or, where there are none, every credential query
    /// (OpenID4VP 1.0 §6.4.2).
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
}

impl<'de> Deserialize<'de> for Query {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::parse(&value).map_err(serde::de::Error::custom)
    }
}

/// A request for a presentation of one kind of credential (OpenID4VP 1.0 §6.1).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CredentialQuery {
    /// Its identifier, by which the answer names it.
    pub id: String,
    /// The credential format's identifier, whether we know the format or not.
    pub format: String,
    /// Whether more than one credential may be returned.
    #[serde(skip_serializing_if = "is_false")]
    pub multiple: bool,
    /// The types of credentials that are wanted.
    pub meta: Meta,
    /// Who may have certified the issuer; empty if the verifier says nothing of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trusted_authorities: Vec<TrustedAuthority>,
    /// Whether the holder must prove possession of a key.
    #[serde(skip_serializing_if = "is_true")]
    pub require_cryptographic_holder_binding: bool,
    /// The claims that are wanted; empty if no selectively disclosable claim is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimQuery>,
    /// Which combinations of claims will do, the verifier's favourite first; empty if all claims are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claim_sets: Vec<Vec<String>>,
}

impl CredentialQuery {
    /// The format, if this crate knows it.
    pub fn known_format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// The combinations of claims that will do, the verifier's favourite first (OpenID4VP 1.0 §6.4.1).
    /// Where the verifier asks for no claims there is one combination, the empty one.
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

/// The types of credentials that are wanted, by format (OpenID4VP 1.0 Appendix B).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Meta {
    /// SD-JWT VC: any of these `vct` (§B.3.5).
    SdJwtVc {
        /// The types that will do.
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
    /// Of a format we do not know; kept as it came.
    Other(Value),
}

/// What identifies an authority that the issuer descends from (OpenID4VP 1.0 §6.1.1).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TrustedAuthority {
    /// The kind of identification, such as `aki`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The identifications, any of which will do.
    pub values: Vec<String>,
}

/// A request for one claim (OpenID4VP 1.0 §6.3).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ClaimQuery {
    /// Its identifier, by which claim sets name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the claim stands in the credential.
    pub path: ClaimPath,
    /// The values that will do; empty if any will.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ClaimValue>,
}

/// A value a claim is compared with: type and value must both be the same (OpenID4VP 1.0 §6.3).
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
    /// Whether `value` is of the same type and value; 1 and 1.0 and "1" are three different things.
    pub fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text(wanted), Value::String(value)) => wanted == value,
            (Self::Integer(wanted), Value::Number(value)) => wanted == value,
            (Self::Boolean(wanted), Value::Bool(value)) => wanted == value,
            _ => false,
        }
    }
}

/// Combinations of credentials, any of which serves one purpose of the verifier's (OpenID4VP 1.0 §6.2).
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
