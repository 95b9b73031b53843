//! The credential endpoint's request and response (OpenID4VCI 1.0 §8).

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use crate::error::{CredentialCode, Error};

/// Maximum number of proofs in a request, whatever the issuer allows.
pub const MAX_PROOFS: usize = 100;
/// The media type of a key proof (OpenID4VCI 1.0 Appendix F.1).
pub const PROOF_TYP: &str = "openid4vci-proof+jwt";

/// The credential that a request asks for.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedCredential {
    /// An identifier from the token response.
    CredentialIdentifier(String),
    /// A credential configuration from the issuer's metadata.
    CredentialConfigurationId(String),
}

/// A credential request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CredentialRequest {
    /// The requested credential.
    pub wanted: WantedCredential,
    /// Key proofs in compact form; `None` if `proofs` is absent.
    pub proofs: Option<Vec<String>>,
}

#[derive(Deserialize, Serialize)]
struct RawRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential_identifier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential_configuration_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proofs: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential_response_encryption: Option<serde_json::Value>,
}

impl CredentialRequest {
    /// Parses a request; unknown members are ignored, repeated ones refused.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::credential(CredentialCode::InvalidCredentialRequest, reason);
        let raw: RawRequest = json::parse_as(body, &super::limits())
            .map_err(|_| refuse("the request is not a JSON object, or repeats a member"))?;
        let wanted = match (raw.credential_identifier, raw.credential_configuration_id) {
            (Some(identifier), None) => WantedCredential::CredentialIdentifier(identifier),
            (None, Some(id)) => WantedCredential::CredentialConfigurationId(id),
            _ => {
                return Err(refuse(
                    "exactly one of credential_identifier and credential_configuration_id is required",
                ));
            }
        };
        if raw.credential_response_encryption.is_some() {
            return Err(Error::credential(
                CredentialCode::InvalidEncryptionParameters,
                "this issuer does not encrypt responses, as its metadata says",
            ));
        }
        let proofs = raw.proofs.map(proofs).transpose()?;
        Ok(Self { wanted, proofs })
    }

    /// The request as JSON.
    pub fn to_json(&self) -> String {
        let (identifier, configuration) = match &self.wanted {
            WantedCredential::CredentialIdentifier(id) => (Some(id.clone()), None),
            WantedCredential::CredentialConfigurationId(id) => (None, Some(id.clone())),
        };
        let raw = RawRequest {
            credential_identifier: identifier,
            credential_configuration_id: configuration,
            proofs: self
                .proofs
                .as_ref()
                .map(|jwts| serde_json::json!({ "jwt": jwts })),
            credential_response_encryption: None,
        };
        serde_json::to_string(&raw).unwrap_or_default()
    }
}

// OpenID4VCI 1.0 §8.2: `proofs` has exactly one member, a proof type with a non-empty array.
fn proofs(value: serde_json::Value) -> Result<Vec<String>, Error> {
    let refuse = |reason: &str| Error::credential(CredentialCode::InvalidProof, reason);
    let serde_json::Value::Object(types) = value else {
        return Err(refuse("proofs is not an object"));
    };
    let mut types = types.into_iter();
    let (Some((kind, list)), None) = (types.next(), types.next()) else {
        return Err(refuse("proofs must hold exactly one proof type"));
    };
    if kind != "jwt" {
        return Err(refuse("the proof type is not supported"));
    }
    let jwts: Vec<String> =
        json::value_as(list).map_err(|_| refuse("proofs.jwt is not an array of strings"))?;
    match jwts.len() {
        0 => Err(refuse("proofs.jwt is empty")),
        len if len > MAX_PROOFS => Err(refuse("proofs.jwt is too long")),
        _ => Ok(jwts),
    }
}

/// The credential endpoint's response.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialResponse {
    /// The credentials, at most one per key.
    pub credentials: Vec<IssuedCredential>,
}

/// One element of `credentials`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IssuedCredential {
    /// The credential in the encoding of its format.
    pub credential: String,
}

impl CredentialResponse {
    /// A response with these credentials.
    pub fn of(credentials: Vec<String>) -> Self {
        let credentials = credentials
            .into_iter()
            .map(|credential| IssuedCredential { credential })
            .collect();
        Self { credentials }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &str) -> Option<&'static str> {
        CredentialRequest::parse(body.as_bytes())
            .err()
            .and_then(|error| error.code())
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        for wanted in [
            WantedCredential::CredentialIdentifier("a".into()),
            WantedCredential::CredentialConfigurationId("b".into()),
        ] {
            let request = CredentialRequest {
                wanted,
                proofs: Some(vec!["x.y.z".into()]),
            };
            let again = CredentialRequest::parse(request.to_json().as_bytes()).unwrap();
            assert_eq!(again, request);
        }
    }

    #[test]
    fn unknown_members_of_a_request_are_ignored() {
        let body = r#"{"credential_configuration_id":"a","format":"vc+sd-jwt","proof":{}}"#;
        let request = CredentialRequest::parse(body.as_bytes()).unwrap();
        assert_eq!(request.proofs, None);
    }

    #[test]
    fn a_request_names_an_identifier_or_a_configuration_and_not_both() {
        let both = r#"{"credential_identifier":"a","credential_configuration_id":"b"}"#;
        for bad in [both, "{}", "[]", r#"{"credential_identifier":1}"#] {
            assert_eq!(code(bad), Some("invalid_credential_request"), "{bad}");
        }
    }

    #[test]
    fn a_request_with_a_repeated_member_is_refused() {
        let body = r#"{"credential_identifier":"a","credential_identifier":"a"}"#;
        assert_eq!(code(body), Some("invalid_credential_request"));
    }

    #[test]
    fn proofs_that_are_not_one_array_of_jwts_are_refused() {
        for proofs in [
            "[]",
            "{}",
            r#"{"jwt":[]}"#,
            r#"{"jwt":"x"}"#,
            r#"{"jwt":[1]}"#,
            r#"{"di_vp":[{}]}"#,
            r#"{"jwt":["x"],"attestation":["y"]}"#,
        ] {
            let body = format!(r#"{{"credential_identifier":"a","proofs":{proofs}}}"#);
            assert_eq!(code(&body), Some("invalid_proof"), "{proofs}");
        }
    }

    #[test]
    fn an_encrypted_response_cannot_be_asked_for() {
        let body = r#"{"credential_identifier":"a","credential_response_encryption":{}}"#;
        assert_eq!(code(body), Some("invalid_encryption_parameters"));
    }
}
