//! Requests with several signatures: the general JWS JSON Serialization (RFC 7515 §7.2.1; Appendix A.3.2.2).

use selfsame_crypto::json;
use selfsame_crypto::jws::{Compact, JwsError};
use selfsame_openid4vc::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of one signed object, in bytes.
pub(crate) const OBJECT_MAX: usize = 256 * 1024;
/// Maximum number of signatures.
pub(crate) const SIGNATURES_MAX: usize = 8;

/// A payload with its signatures.
#[derive(Deserialize, Serialize)]
pub(crate) struct General {
    payload: String,
    signatures: Vec<OneSignature>,
}

/// A signature, and the header that it protects.
#[derive(Deserialize, Serialize)]
struct OneSignature {
    protected: String,
    signature: String,
    /// Members that nothing protects.
    #[serde(default, skip_serializing)]
    header: Option<Value>,
}

impl General {
    /// The objects of one payload, each with one signature, in compact form.
    pub(crate) fn of(signed: &[String]) -> Option<Self> {
        let mut common = None;
        let mut signatures = Vec::with_capacity(signed.len());
        for compact in signed {
            let (protected, rest) = compact.split_once('.')?;
            let (payload, signature) = rest.split_once('.')?;
            if *common.get_or_insert(payload) != payload {
                return None;
            }
            signatures.push(OneSignature {
                protected: protected.to_owned(),
                signature: signature.to_owned(),
                header: None,
            });
        }
        let payload = common?.to_owned();
        Some(Self {
            payload,
            signatures,
        })
    }

    /// Reads a request as it was sent.
    ///
    /// # Errors
    /// `invalid_request`.
    pub(crate) fn read(value: Value) -> Result<Self, Error> {
        let refuse = Error::invalid_request;
        let read: Self = json::value_as(value)
            .map_err(|_| refuse("the request is not a payload with signatures"))?;
        if read.signatures.is_empty() || read.signatures.len() > SIGNATURES_MAX {
            return Err(refuse("the request has no signature, or too many"));
        }
        // Appendix A.3.2.2: what says who signs is protected.
        if read.signatures.iter().any(|one| one.header.is_some()) {
            return Err(refuse("a signature has a header that it does not protect"));
        }
        Ok(read)
    }

    /// The object of each signature whose algorithm is supported.
    ///
    /// # Errors
    /// `invalid_request` if one is malformed, or none has a supported algorithm.
    pub(crate) fn objects(&self) -> Result<Vec<Compact>, Error> {
        let mut objects = Vec::new();
        for OneSignature {
            protected,
            signature,
            ..
        } in &self.signatures
        {
            let text = format!("{protected}.{}.{signature}", self.payload);
            match Compact::parse_within(&text, OBJECT_MAX) {
                Ok(object) => objects.push(object),
                Err(JwsError::Algorithm) => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        match objects.is_empty() {
            true => Err(unreadable(JwsError::Algorithm)),
            false => Ok(objects),
        }
    }
}

pub(crate) fn unreadable(error: JwsError) -> Error {
    Error::invalid_request(format!("the request object can't be read: {error}"))
}
