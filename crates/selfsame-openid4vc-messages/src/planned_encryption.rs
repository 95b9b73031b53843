//! How the wallet encrypts credential requests, and has the responses encrypted (OpenID4VCI 1.0 §8.2, §8.3, §10).

use selfsame_crypto::{Secret, ctx::Ctx};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::encryption::{ALG, EncryptionKey, EncryptionParameters, MEDIA_TYPE, strongest};
use crate::error::Error;
use crate::http_answer::HttpAnswer;
use crate::media_type;

const TELL: &str = "Tell the issuer; the credential was not stored.";

/// How credential requests can be encrypted (§12.2.4).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestEncryption {
    /// The issuer's keys, a JWK Set; each has a `kid`.
    #[serde(default)]
    pub jwks: Value,
    /// The content encryption algorithms.
    #[serde(default)]
    pub enc_values_supported: Vec<String>,
    /// Whether requests must be encrypted.
    pub encryption_required: bool,
}

/// How credential responses can be encrypted (§12.2.4).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ResponseEncryption {
    /// How keys are agreed on.
    #[serde(default)]
    pub alg_values_supported: Vec<String>,
    /// The content encryption algorithms.
    #[serde(default)]
    pub enc_values_supported: Vec<String>,
    /// Whether responses must be encrypted.
    pub encryption_required: bool,
}

/// How requests to an issuer are encrypted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PlannedEncryption {
    /// The issuer's key and the content encryption of requests.
    pub request: EncryptionParameters,
    /// The content encryption of responses; `None` if they come in the clear.
    pub response: Option<String>,
}

impl PlannedEncryption {
    /// The encryption that both the issuer and this wallet have: responses are encrypted wherever the issuer can, since
    /// they contain the person's claims. `None` if requests and responses go in the clear.
    ///
    /// # Errors
    /// A sentence for the person if the issuer requires what this wallet does not have.
    pub fn of(
        asked: Option<&RequestEncryption>,
        given: Option<&ResponseEncryption>,
    ) -> Result<Option<Self>, &'static str> {
        let request = asked.and_then(|asked| {
            EncryptionParameters::choose(&asked.jwks, &asked.enc_values_supported).ok()
        });
        let response =
            given.filter(|given| given.alg_values_supported.iter().any(|alg| alg == ALG));
        let response = response.and_then(|given| strongest(&given.enc_values_supported));
        let requires_request = asked.is_some_and(|asked| asked.encryption_required);
        let requires_response = given.is_some_and(|given| given.encryption_required);
        match (request, response) {
            (None, _) if requires_request => Err(
                "the issuer requires encrypted requests, but with no key or algorithm of this wallet",
            ),
            // A request for an encrypted response must be encrypted itself (§8.2).
            (None, _) if requires_response => Err(
                "the issuer requires encrypted responses, but this wallet cannot encrypt the requests for them",
            ),
            (_, None) if requires_response => {
                Err("the issuer requires encrypted responses, but with no algorithm of this wallet")
            }
            (Some(request), response) if requires_request || response.is_some() => Ok(Some(Self {
                request,
                response: response.map(|one| one.as_str().to_owned()),
            })),
            _ => Ok(None),
        }
    }

    /// A key for one response, and what the request says of it; `None` if the response comes in the clear.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn response_key(&self, ctx: &Ctx) -> Result<Option<ResponseKey>, Error> {
        let Some(enc) = &self.response else {
            return Ok(None);
        };
        let key = EncryptionKey::new(ctx, "wallet/response")?;
        let parameters = EncryptionParameters {
            jwk: key.jwk()?,
            enc: enc.clone(),
        };
        Ok(Some(ResponseKey { key, parameters }))
    }

    /// The encrypted request.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn sealed(&self, request: &str, ctx: &Ctx) -> Result<String, Error> {
        let to = self.request.to();
        let to = to.map_err(|why| Error::Setup(why.to_string()))?;
        to.seal(request.as_bytes(), ctx)
    }
}

/// A key that one response is encrypted to.
pub struct ResponseKey {
    /// The key.
    pub key: EncryptionKey,
    /// What the request says of it.
    pub parameters: EncryptionParameters,
}

/// The body of a response, decrypted if an encrypted one was asked for.
///
/// # Errors
/// If it does not come as it was asked for.
pub fn opened(
    answer: HttpAnswer<'_>,
    key: Option<&EncryptionKey>,
    max_bytes: usize,
) -> Result<Secret, Error> {
    let bad = |reason| Error::counterpart(reason, TELL);
    let is_encrypted = answer.content_type.map(media_type).as_deref() == Some(MEDIA_TYPE);
    match key {
        None if is_encrypted => Err(bad(
            "the issuer sent an encrypted answer, and the request asked for a plain one",
        )),
        None => Ok(Secret::new(answer.body.to_vec())),
        // What was to be encrypted is not taken in the clear: somebody between may have removed the encryption.
        Some(_) if !is_encrypted => Err(bad(
            "the issuer did not encrypt its answer, although it was asked to",
        )),
        Some(key) => {
            let text = std::str::from_utf8(answer.body).unwrap_or_default();
            let opened = key.open(text.trim(), max_bytes);
            opened.map_err(|_| bad("the issuer's encrypted answer cannot be decrypted"))
        }
    }
}
