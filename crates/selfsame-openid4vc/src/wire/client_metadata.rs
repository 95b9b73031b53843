//! A verifier's metadata in its request (OpenID4VP 1.0 §5.1, §11).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A verifier's metadata (OpenID4VP 1.0 §5.1, §11); other members are ignored.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClientMetadata {
    /// The formats that the verifier can check, each with its algorithms.
    #[serde(default)]
    pub vp_formats_supported: BTreeMap<String, VpFormat>,
    /// The keys to encrypt answers to, a JWK Set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<Box<Value>>,
    /// The content encryption algorithms for an encrypted answer; if absent, `A128GCM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_response_enc_values_supported: Option<Box<[String]>>,
}

/// The algorithms that a verifier can check in one format; an absent list allows any.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct VpFormat {
    /// For W3C credentials and presentations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg_values: Option<Vec<String>>,
    /// For the issuer's signature of an SD-JWT.
    #[serde(
        rename = "sd-jwt_alg_values",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_jwt_alg_values: Option<Vec<String>>,
    /// For the key binding of an SD-JWT.
    #[serde(
        rename = "kb-jwt_alg_values",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub kb_jwt_alg_values: Option<Vec<String>>,
}
