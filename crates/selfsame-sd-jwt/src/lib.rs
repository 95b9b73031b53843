//! Owns: SD-JWT (RFC 9901): parsing, processing, and choosing disclosures; paths to claims, times of
//! tokens, and the memory that presented texts may take.
//! Does not own: what the claims of an SD-JWT VC mean, issuing one, and the verdict on it.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod budget;
pub mod conceal;
pub mod digest;
pub mod key_binding;
mod parse;
pub mod path;
pub mod present;
pub mod process;
pub mod validity;

use selfsame_crypto::{json, jws};
use serde_json::Value;

pub use self::{
    digest::DigestAlgorithm,
    key_binding::KeyBinding,
    present::Presentation,
    process::{ProcessError, Processed, Withheld},
};

/// An SD-JWT or SD-JWT+KB, taken apart but not yet verified (RFC 9901 §4).
#[derive(Clone, Debug)]
pub struct SdJwt {
    jwt: jws::Compact,
    payload: Value,
    algorithm: DigestAlgorithm,
    disclosures: Vec<Disclosure>,
    key_binding: Option<KeyBinding>,
    /// The received text up to and including the last tilde; `sd_hash` is computed over it.
    text: String,
    /// The end of the issuer-signed JWT in `text`.
    jwt_length: usize,
}

/// Parses a compact JWS, and distinguishes a refused algorithm from other errors.
fn parse_jwt(text: &str, otherwise: SdJwtError) -> Result<jws::Compact, SdJwtError> {
    jws::Compact::parse(text).map_err(|error| match error {
        jws::JwsError::Algorithm => SdJwtError::Algorithm,
        _ => otherwise,
    })
}

/// One disclosure, as received (RFC 9901 §4.2).
#[derive(Clone, Debug)]
pub struct Disclosure {
    encoded: String,
    digest: String,
    content: DisclosureContent,
}

/// The content of a disclosure; its salt is not needed any more and not kept.
#[derive(Clone, Debug)]
pub(crate) enum DisclosureContent {
    Property { name: String, value: Value },
    Element { value: Value },
}

impl Disclosure {
    /// The disclosure as it was received.
    pub fn encoded(&self) -> &str {
        &self.encoded
    }

    /// The digest that the issuer embeds instead.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The claim's name; `None` for an array element.
    pub fn name(&self) -> Option<&str> {
        match &self.content {
            DisclosureContent::Property { name, .. } => Some(name),
            DisclosureContent::Element { .. } => None,
        }
    }

    /// The claim's value, which may itself contain digests.
    pub fn value(&self) -> &Value {
        match &self.content {
            DisclosureContent::Property { value, .. } | DisclosureContent::Element { value } => {
                value
            }
        }
    }
}

/// Why a text is not an SD-JWT.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SdJwtError {
    /// There is no tilde, there are too many parts, or a part is empty.
    #[error("not of the form <JWT>~<disclosure>~…~[<KB-JWT>]")]
    Form,
    /// The issuer-signed JWT cannot be read.
    #[error("the issuer-signed JWT cannot be read")]
    Jwt,
    /// The issuer-signed JWT, or the key-binding JWT, is signed with an algorithm that is not accepted.
    #[error("the signature algorithm is not accepted")]
    Algorithm,
    /// The payload of the issuer-signed JWT is not a JSON object.
    #[error("the payload of the issuer-signed JWT is not a JSON object")]
    Payload,
    /// `_sd_alg` names an algorithm that is not accepted.
    #[error("the digest algorithm is not accepted")]
    DigestAlgorithm,
    /// A disclosure is not base64url of a JSON array of two or three elements.
    #[error("a disclosure cannot be read")]
    Disclosure,
    /// The key-binding JWT cannot be read.
    #[error("the key-binding JWT cannot be read")]
    KeyBinding,
    /// Payload, disclosures and key binding take too much memory together, or together with other presented texts.
    #[error(
        "the payload, the disclosures and the texts presented with them have too many members together"
    )]
    TooMuch,
}

impl SdJwt {
    /// The memory that it takes, in bytes, including its processed claims.
    pub fn weight(&self) -> usize {
        let of_disclosure = |disclosure: &Disclosure| {
            let (DisclosureContent::Property { value, .. } | DisclosureContent::Element { value }) =
                &disclosure.content;
            json::weight(value).saturating_add(disclosure.encoded.len())
        };
        let disclosed = self.disclosures.iter().map(of_disclosure);
        let read = disclosed.fold(json::weight(&self.payload), usize::saturating_add);
        let texts = self.text.len().saturating_add(self.jwt.weight());
        read.saturating_mul(2).saturating_add(texts)
    }

    /// The issuer-signed JWT.
    pub fn jwt(&self) -> &jws::Compact {
        &self.jwt
    }

    /// The payload as the issuer signed it, including digests.
    pub fn payload(&self) -> &Value {
        &self.payload
    }

    /// The digest algorithm of disclosures and `sd_hash`.
    pub fn digest_algorithm(&self) -> DigestAlgorithm {
        self.algorithm
    }

    /// The disclosures, in the order received.
    pub fn disclosures(&self) -> &[Disclosure] {
        &self.disclosures
    }

    /// The key-binding JWT, if there is one.
    pub fn key_binding(&self) -> Option<&KeyBinding> {
        self.key_binding.as_ref()
    }

    /// The SD-JWT without any key-binding JWT; ends with a tilde.
    pub fn without_key_binding(&self) -> &str {
        &self.text
    }

    /// The `sd_hash` of a Key Binding JWT for this SD-JWT (RFC 9901 §4.3.1).
    pub fn sd_hash(&self) -> String {
        self.algorithm.digest(self.text.as_bytes())
    }

    /// Puts the disclosed claims in their places (RFC 9901 §7.1, steps 3 to 5).
    pub fn process(&self) -> Result<Processed, ProcessError> {
        process::process(&self.payload, &self.disclosures)
    }
}

#[cfg(test)]
mod tests;
