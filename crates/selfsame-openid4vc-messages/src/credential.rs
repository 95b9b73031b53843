//! The credential endpoint's request and response (OpenID4VCI 1.0 §8).

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use crate::deferred::DeferredResponse;
use crate::encryption::EncryptionParameters;
use crate::error::{CredentialCode, Error};
use crate::posted::{PostedRequest, read_posted, response_encryption};

pub use crate::posted::{EndpointEncryption, WantedEncryption};

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
    /// Key proofs of the type `jwt` in compact form; `None` if there are none.
    pub proofs: Option<Vec<String>>,
    /// The proof of the type `attestation`, if there is one in their place (Appendix F.3).
    pub attestation: Option<String>,
    /// What the response is to be encrypted with; `None` for a response in the clear.
    pub response_encryption: Option<EncryptionParameters>,
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

impl PostedRequest for CredentialRequest {
    fn in_the_clear(body: &[u8]) -> Result<Self, Error> {
        Self::parse(body)
    }

    fn response_encryption(&self) -> Option<&EncryptionParameters> {
        self.response_encryption.as_ref()
    }
}

impl CredentialRequest {
    /// Reads a request that was posted to an endpoint that encrypts in this way, or not at all (§10).
    ///
    /// # Errors
    /// `invalid_encryption_parameters` if the request or its response is not encrypted as it must be; otherwise as
    /// [`Self::parse`].
    pub fn read(body: &[u8], encryption: Option<&EndpointEncryption>) -> Result<Self, Error> {
        read_posted(body, encryption)
    }

    /// Parses a request in the clear; unknown members are ignored, repeated ones refused.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let refuse =
            |reason: &str| Error::credential(CredentialCode::InvalidCredentialRequest, reason);
        let raw: RawRequest = json::parse_as(body, &crate::limits())
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
        let encryption = raw.credential_response_encryption;
        let response_encryption = encryption.map(response_encryption).transpose()?;
        let proofs = raw.proofs.map(proofs).transpose()?;
        let (proofs, attestation) = match proofs {
            None => (None, None),
            Some(ReadProofs::Jwts(jwts)) => (Some(jwts), None),
            Some(ReadProofs::Attestation(attestation)) => (None, Some(attestation)),
        };
        Ok(Self {
            wanted,
            proofs,
            attestation,
            response_encryption,
        })
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
            proofs: match (&self.proofs, &self.attestation) {
                (Some(jwts), _) => Some(serde_json::json!({ "jwt": jwts })),
                (None, Some(one)) => Some(serde_json::json!({ "attestation": [one] })),
                (None, None) => None,
            },
            credential_response_encryption: self
                .response_encryption
                .as_ref()
                .and_then(|wanted| serde_json::to_value(wanted).ok()),
        };
        serde_json::to_string(&raw).unwrap_or_default()
    }
}

/// The proofs of a request.
enum ReadProofs {
    Jwts(Vec<String>),
    Attestation(String),
}

// OpenID4VCI 1.0 §8.2: `proofs` has exactly one member, a proof type with a non-empty array.
fn proofs(value: serde_json::Value) -> Result<ReadProofs, Error> {
    let refuse = |reason: &str| Error::credential(CredentialCode::InvalidProof, reason);
    let serde_json::Value::Object(types) = value else {
        return Err(refuse("proofs is not an object"));
    };
    let mut types = types.into_iter();
    let (Some((kind, list)), None) = (types.next(), types.next()) else {
        return Err(refuse("proofs must hold exactly one proof type"));
    };
    let jwts: Vec<String> =
        json::value_as(list).map_err(|_| refuse("the proofs are not an array of strings"))?;
    match (kind.as_str(), jwts.len()) {
        ("jwt" | "attestation", 0) => Err(refuse("there are no proofs")),
        ("jwt", len) if len > MAX_PROOFS => Err(refuse("proofs.jwt is too long")),
        ("jwt", _) => Ok(ReadProofs::Jwts(jwts)),
        // Appendix F.3: exactly one attestation, which names all keys.
        ("attestation", 1) => {
            let mut jwts = jwts.into_iter();
            let only = jwts.next().map(ReadProofs::Attestation);
            only.ok_or_else(|| refuse("there are no proofs"))
        }
        ("attestation", _) => Err(refuse("proofs.attestation has more than one attestation")),
        _ => Err(refuse("the proof type is not supported")),
    }
}

/// The credential endpoint's response.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialResponse {
    /// The credentials, at most one per key.
    pub credentials: Vec<IssuedCredential>,
    /// By what the wallet tells the issuer what became of them (§11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_id: Option<String>,
}

/// One element of `credentials`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct IssuedCredential {
    /// The credential in the encoding of its format; where that is JSON, the text of the object.
    #[serde(with = "crate::as_object")]
    pub credential: String,
}

/// What a request for credentials leads to (§8.3, §9.2).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RequestOutcome {
    /// The credentials.
    Issued(CredentialResponse),
    /// They take their time.
    Deferred(DeferredResponse),
}

/// A response as it is sent.
#[derive(Clone, Debug)]
pub enum CredentialAnswer {
    /// In the clear.
    Plain(CredentialResponse),
    /// In a compact JWE.
    Encrypted(String),
    /// In the clear, of credentials that take their time.
    Deferred(DeferredResponse),
    /// In a compact JWE, of credentials that take their time.
    EncryptedDeferred(String),
}

impl CredentialAnswer {
    /// The response, encrypted if the request asks for that (§8.3, §10).
    ///
    /// # Errors
    /// As [`Self::to`].
    pub fn of(
        response: CredentialResponse,
        request: &CredentialRequest,
        ctx: &Ctx,
    ) -> Result<Self, Error> {
        let wanted = request.response_encryption.as_ref();
        Self::to(RequestOutcome::Issued(response), wanted, ctx)
    }

    /// What a request leads to, encrypted if it asks for that, whatever it leads to (§8.3, §9.2, §10).
    ///
    /// # Errors
    /// `invalid_encryption_parameters` if it cannot be encrypted as the request asks.
    pub fn to(
        outcome: RequestOutcome,
        wanted: Option<&EncryptionParameters>,
        ctx: &Ctx,
    ) -> Result<Self, Error> {
        let Some(wanted) = wanted else {
            return Ok(match outcome {
                RequestOutcome::Issued(response) => Self::Plain(response),
                RequestOutcome::Deferred(response) => Self::Deferred(response),
            });
        };
        let refused = CredentialCode::InvalidEncryptionParameters;
        let to = wanted.to();
        let to = to.map_err(|why| Error::credential(refused, why.to_string()))?;
        let content = match &outcome {
            RequestOutcome::Issued(response) => serde_json::to_vec(response),
            RequestOutcome::Deferred(response) => serde_json::to_vec(response),
        };
        let sealed = to.seal(&content.unwrap_or_default(), ctx)?;
        Ok(match outcome {
            RequestOutcome::Issued(_) => Self::Encrypted(sealed),
            RequestOutcome::Deferred(_) => Self::EncryptedDeferred(sealed),
        })
    }

    /// The response, if it is in the clear.
    pub fn plain(&self) -> Option<&CredentialResponse> {
        match self {
            Self::Plain(response) => Some(response),
            Self::Encrypted(_) | Self::Deferred(_) | Self::EncryptedDeferred(_) => None,
        }
    }
}

impl CredentialResponse {
    /// A response with these credentials.
    pub fn of(credentials: Vec<String>) -> Self {
        let credentials = credentials
            .into_iter()
            .map(|credential| IssuedCredential { credential })
            .collect();
        Self {
            credentials,
            notification_id: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encryption::EncryptionKey;
    use crate::posted::MAX_ENCRYPTED;

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
                attestation: None,
                response_encryption: None,
            };
            let again = CredentialRequest::parse(request.to_json().as_bytes()).unwrap();
            assert_eq!(again, request);
            let attested = CredentialRequest {
                proofs: None,
                attestation: Some("x.y.z".into()),
                ..request
            };
            let again = CredentialRequest::parse(attested.to_json().as_bytes()).unwrap();
            assert_eq!(again, attested);
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
            r#"{"attestation":[]}"#,
            r#"{"attestation":["x","y"]}"#,
            r#"{"attestation":"x"}"#,
        ] {
            let body = format!(r#"{{"credential_identifier":"a","proofs":{proofs}}}"#);
            assert_eq!(code(&body), Some("invalid_proof"), "{proofs}");
        }
    }

    const PLAIN: &str = r#"{"credential_identifier":"a"}"#;

    fn key(seed: u8) -> EncryptionKey {
        let ctx = Ctx::new(selfsame_crypto::time::UnixTime(1), [seed; 32]);
        EncryptionKey::new(&ctx, "test").unwrap()
    }

    fn endpoint(required: bool) -> EndpointEncryption {
        let key = key(1);
        EndpointEncryption { key, required }
    }

    fn ctx() -> Ctx {
        Ctx::new(selfsame_crypto::time::UnixTime(1), [5; 32])
    }

    fn parameters(key: &EncryptionKey) -> EncryptionParameters {
        EncryptionParameters {
            jwk: key.jwk().unwrap(),
            enc: "A256GCM".to_owned(),
        }
    }

    /// A request that asks for a response encrypted to the second key.
    fn asking() -> CredentialRequest {
        CredentialRequest {
            response_encryption: Some(parameters(&key(2))),
            ..CredentialRequest::parse(PLAIN.as_bytes()).unwrap()
        }
    }

    fn encrypted(body: &str) -> String {
        let to = parameters(&key(1)).to().unwrap();
        to.seal(body.as_bytes(), &ctx()).unwrap()
    }

    fn refused(body: &str, endpoint: Option<&EndpointEncryption>) -> Option<&'static str> {
        let read = CredentialRequest::read(body.as_bytes(), endpoint);
        read.err().and_then(|error| error.code())
    }

    #[test]
    fn an_answer_is_encrypted_as_the_request_asks_whatever_it_says() {
        let waiting = DeferredResponse {
            transaction_id: "8xLOxBtZp8".to_owned(),
            interval: 60,
        };
        let deferred = RequestOutcome::Deferred(waiting.clone());
        let plain = CredentialAnswer::to(deferred.clone(), None, &ctx()).unwrap();
        assert!(matches!(plain, CredentialAnswer::Deferred(told) if told == waiting));
        let wanted = parameters(&key(2));
        let sealed = CredentialAnswer::to(deferred, Some(&wanted), &ctx()).unwrap();
        let CredentialAnswer::EncryptedDeferred(token) = sealed else {
            panic!("{sealed:?}");
        };
        let opened = key(2).open(&token, 1 << 16).unwrap();
        let read = DeferredResponse::parse(opened.expose(), "").unwrap();
        assert_eq!(read, waiting);
        let issued = RequestOutcome::Issued(CredentialResponse::default());
        let sealed = CredentialAnswer::to(issued, Some(&wanted), &ctx()).unwrap();
        assert!(matches!(sealed, CredentialAnswer::Encrypted(_)));
    }

    #[test]
    fn an_encrypted_request_is_answered_with_a_response_that_its_sender_reads_alone() {
        let body = encrypted(&asking().to_json());
        for required in [false, true] {
            let read = CredentialRequest::read(body.as_bytes(), Some(&endpoint(required)));
            assert_eq!(read.unwrap(), asking());
        }
        let response = CredentialResponse::of(vec!["c".to_owned()]);
        let answer = CredentialAnswer::of(response.clone(), &asking(), &ctx()).unwrap();
        let CredentialAnswer::Encrypted(token) = answer else {
            panic!("{answer:?}")
        };
        let opened = key(2).open(&token, MAX_ENCRYPTED).unwrap();
        let again: CredentialResponse = serde_json::from_slice(opened.expose()).unwrap();
        assert_eq!(again, response);
        assert!(key(1).open(&token, MAX_ENCRYPTED).is_err());
    }

    #[test]
    fn encryption_that_is_required_cannot_be_left_out() {
        let wrong = Some("invalid_encryption_parameters");
        assert_eq!(refused(PLAIN, Some(&endpoint(true))), wrong);
        assert_eq!(refused(PLAIN, Some(&endpoint(false))), None);
        // The request is encrypted, but asks for a response in the clear.
        assert_eq!(refused(&encrypted(PLAIN), Some(&endpoint(true))), wrong);
        assert_eq!(refused(&encrypted(PLAIN), Some(&endpoint(false))), None);
    }

    #[test]
    fn a_text_that_is_neither_json_nor_a_jwe_is_malformed() {
        for text in ["hello", "[]", "", "a.b.c.d", "a.b.c.d.e.f", "a.b.c.d.{}"] {
            for encryption in [None, Some(&endpoint(false))] {
                let malformed = Some("invalid_credential_request");
                assert_eq!(refused(text, encryption), malformed, "{text}");
            }
        }
    }

    #[test]
    fn a_request_for_an_encrypted_response_is_encrypted_itself() {
        let plain = asking().to_json();
        let wrong = Some("invalid_encryption_parameters");
        assert_eq!(refused(&plain, Some(&endpoint(false))), wrong);
        assert_eq!(refused(&plain, None), wrong);
        assert_eq!(refused(&encrypted(&plain), None), wrong);
    }

    #[test]
    fn encryption_that_the_issuer_does_not_have_is_refused() {
        let asks = |encryption: serde_json::Value| {
            let body = serde_json::json!({
                "credential_identifier": "a",
                "credential_response_encryption": encryption,
            });
            refused(&encrypted(&body.to_string()), Some(&endpoint(false)))
        };
        let jwk = key(2).jwk().unwrap();
        assert_eq!(
            asks(serde_json::json!({"jwk": jwk, "enc": "A128GCM"})),
            None
        );
        let mut nameless = jwk.clone();
        nameless.as_object_mut().unwrap().remove("alg");
        for wrong in [
            serde_json::json!({}),
            serde_json::json!({"jwk": jwk}),
            serde_json::json!({"jwk": jwk, "enc": "A256CBC-HS512"}),
            serde_json::json!({"jwk": jwk, "enc": "A256GCM", "zip": "DEF"}),
            serde_json::json!({"jwk": nameless, "enc": "A256GCM"}),
            serde_json::json!({"jwk": {"kty": "RSA"}, "enc": "A256GCM"}),
        ] {
            let code = asks(wrong.clone());
            assert_eq!(code, Some("invalid_encryption_parameters"), "{wrong}");
        }
    }

    #[test]
    fn a_request_for_another_key_or_of_no_form_is_refused() {
        let other = parameters(&key(3)).to().unwrap();
        let other = other.seal(PLAIN.as_bytes(), &ctx()).unwrap();
        let code = |body: &str| refused(body, Some(&endpoint(false)));
        for encrypted in [&*other, "a.b.c.d.e", "...."] {
            let code = code(encrypted);
            assert_eq!(code, Some("invalid_encryption_parameters"), "{encrypted}");
        }
        for plain in ["", "x", "\u{0}", "a.b.c.d", "a.b.c.d.=", "{}"] {
            assert_eq!(code(plain), Some("invalid_credential_request"), "{plain}");
        }
    }
}
