//! Parses a received SD-JWT (RFC 9901 §4), strictly and within limits.

use selfsame_crypto::{encoding::base64url_decode, json};
use serde_json::Value;

use crate::budget::Budget;
use crate::{
    DigestAlgorithm, Disclosure, DisclosureContent, KeyBinding, SdJwt, SdJwtError, parse_jwt,
};

/// Maximum size of an SD-JWT, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of disclosures.
const MAX_DISCLOSURES: usize = 4096;

impl SdJwt {
    /// Parses an SD-JWT or SD-JWT+KB. Nothing is verified yet.
    ///
    /// # Errors
    /// [`SdJwtError`] with the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, SdJwtError> {
        Self::parse_within(text, &mut Budget::of(text))
    }

    /// As above, within the remaining budget for this text and others.
    ///
    /// # Errors
    /// As [`SdJwt::parse`], and [`SdJwtError::TooMuch`] beyond the budget.
    pub fn parse_within(text: &str, budget: &mut Budget) -> Result<Self, SdJwtError> {
        if text.len() > MAX_BYTES {
            return Err(SdJwtError::Form);
        }
        let (sd_jwt, last) = text.rsplit_once('~').ok_or(SdJwtError::Form)?;
        let mut parts = sd_jwt.split('~');
        let encoded_jwt = parts.next().ok_or(SdJwtError::Form)?;
        let jwt = parse_jwt(encoded_jwt, SdJwtError::Jwt)?;
        let payload = jwt
            .claims()
            .ok()
            .filter(Value::is_object)
            .ok_or(SdJwtError::Payload)?;
        budget.take(&payload).ok_or(SdJwtError::TooMuch)?;
        let algorithm = DigestAlgorithm::of_payload(&payload)?;
        let mut disclosures = Vec::new();
        for part in parts {
            if disclosures.len() == MAX_DISCLOSURES {
                return Err(SdJwtError::Form);
            }
            let disclosure = Disclosure::parse(part, algorithm)?;
            let (DisclosureContent::Property { value, .. } | DisclosureContent::Element { value }) =
                &disclosure.content;
            budget.take(value).ok_or(SdJwtError::TooMuch)?;
            disclosures.push(disclosure);
        }
        let key_binding = match last {
            "" => None,
            last => Some(KeyBinding::parse(last, budget)?),
        };
        let text_length = text.len().saturating_sub(last.len());
        Ok(Self {
            jwt,
            payload,
            algorithm,
            disclosures,
            key_binding,
            text: text.get(..text_length).ok_or(SdJwtError::Form)?.to_owned(),
            jwt_length: encoded_jwt.len(),
        })
    }

    /// The issuer-signed JWT as received.
    pub(crate) fn encoded_jwt(&self) -> &str {
        self.text.get(..self.jwt_length).unwrap_or_default()
    }
}

impl Disclosure {
    /// Parses one disclosure (RFC 9901 §4.2.1, §4.2.2); its digest is that of the received text (§4.2.3).
    fn parse(encoded: &str, algorithm: DigestAlgorithm) -> Result<Self, SdJwtError> {
        let bytes = base64url_decode(encoded).map_err(|_| SdJwtError::Disclosure)?;
        let array = json::parse(&bytes, &json::Limits::default());
        let Ok(Value::Array(elements)) = array else {
            return Err(SdJwtError::Disclosure);
        };
        let mut elements = elements.into_iter();
        let parts = (
            elements.next(),
            elements.next(),
            elements.next(),
            elements.next(),
        );
        let content = match parts {
            (Some(Value::String(_)), Some(Value::String(name)), Some(value), None) => {
                DisclosureContent::Property { name, value }
            }
            (Some(Value::String(_)), Some(value), None, None) => {
                DisclosureContent::Element { value }
            }
            _ => return Err(SdJwtError::Disclosure),
        };
        Ok(Self {
            encoded: encoded.to_owned(),
            digest: algorithm.digest(encoded.as_bytes()),
            content,
        })
    }
}
