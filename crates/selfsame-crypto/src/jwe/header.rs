//! The protected header of a JWE (RFC 7516 §4).

use serde_json::{Map, Value};

use super::{ContentEncryption, JweError};
use crate::agreement::AgreementKey;
use crate::encoding::base64url_decode;
use crate::json::{self, Limits};
use crate::jwk::Jwk;

const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_members: 512,
};

/// How the content's key is agreed on (`alg`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyManagement {
    /// `ECDH-ES`: the agreed key is that of the content. One recipient.
    EcdhEs,
    /// `ECDH-ES+A128KW`.
    EcdhEsA128Kw,
    /// `ECDH-ES+A256KW`.
    EcdhEsA256Kw,
    /// `ECDH-1PU+A128KW`: the sender's key takes part, so the sender is known.
    Ecdh1PuA128Kw,
    /// `ECDH-1PU+A256KW`.
    Ecdh1PuA256Kw,
}

/// The protected header, with the members that are needed to decrypt.
#[derive(Clone, Debug, PartialEq)]
pub struct JweHeader {
    /// How the content's key is agreed on.
    pub alg: KeyManagement,
    /// How the content is encrypted.
    pub enc: ContentEncryption,
    /// The ephemeral key.
    pub epk: AgreementKey,
    /// Information about the sender, decoded; empty if the header has none.
    pub apu: Vec<u8>,
    /// Information about the recipients, decoded; empty if the header has none.
    pub apv: Vec<u8>,
    /// The identifier of the recipient's key.
    pub kid: Option<String>,
    /// The identifier of the sender's key (draft-madden-jose-ecdh-1pu-04 §2.2.1).
    pub skid: Option<String>,
    /// The media type of the JWE.
    pub typ: Option<String>,
    /// The media type of the content.
    pub cty: Option<String>,
    /// All other members.
    pub other: Map<String, Value>,
}

impl KeyManagement {
    /// All supported algorithms.
    pub const ALL: [Self; 5] = [
        Self::EcdhEs,
        Self::EcdhEsA128Kw,
        Self::EcdhEsA256Kw,
        Self::Ecdh1PuA128Kw,
        Self::Ecdh1PuA256Kw,
    ];

    /// The algorithm's name (RFC 7518 §4.1, draft-madden-jose-ecdh-1pu-04 §2).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EcdhEs => "ECDH-ES",
            Self::EcdhEsA128Kw => "ECDH-ES+A128KW",
            Self::EcdhEsA256Kw => "ECDH-ES+A256KW",
            Self::Ecdh1PuA128Kw => "ECDH-1PU+A128KW",
            Self::Ecdh1PuA256Kw => "ECDH-1PU+A256KW",
        }
    }

    /// Whether the sender's key takes part.
    pub const fn is_authenticated(self) -> bool {
        matches!(self, Self::Ecdh1PuA128Kw | Self::Ecdh1PuA256Kw)
    }

    /// The length of the key that wraps the content's key, in bytes; `None` if it does not exist.
    pub(super) const fn wrapping_len(self) -> Option<usize> {
        match self {
            Self::EcdhEs => None,
            Self::EcdhEsA128Kw | Self::Ecdh1PuA128Kw => Some(16),
            Self::EcdhEsA256Kw | Self::Ecdh1PuA256Kw => Some(32),
        }
    }
}

impl JweHeader {
    /// Reads the header's JSON.
    ///
    /// # Errors
    /// If it is not JSON, a member is malformed, an algorithm is not supported, or it demands an extension.
    pub fn parse(bytes: &[u8]) -> Result<Self, JweError> {
        let Value::Object(mut members) = json::parse(bytes, &LIMITS).map_err(JweError::Json)?
        else {
            return Err(JweError::Form("header"));
        };
        // RFC 7516 §4.1.13: extensions named here must be understood. `zip` would inflate the content.
        for name in ["crit", "zip"] {
            if members.contains_key(name) {
                return Err(JweError::Unsupported(name));
            }
        }
        let mut text = |name: &'static str| match members.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(JweError::Form(name)),
        };
        let alg = text("alg")?.ok_or(JweError::Form("alg"))?;
        let enc = text("enc")?.ok_or(JweError::Form("enc"))?;
        let alg = KeyManagement::ALL
            .into_iter()
            .find(|one| one.as_str() == alg);
        let enc = ContentEncryption::ALL
            .into_iter()
            .find(|one| one.as_str() == enc);
        let (apu, apv) = (party(text("apu")?, "apu")?, party(text("apv")?, "apv")?);
        let (kid, skid, typ, cty) = (text("kid")?, text("skid")?, text("typ")?, text("cty")?);
        let alg = alg.ok_or(JweError::Unsupported("alg"))?;
        let enc = enc.ok_or(JweError::Unsupported("enc"))?;
        // draft-madden-jose-ecdh-1pu-04 §2.1: other content encryption would let a recipient pose as the sender.
        if alg.is_authenticated() && enc != ContentEncryption::A256CbcHs512 {
            return Err(JweError::Unsupported("enc"));
        }
        let epk = members.remove("epk").ok_or(JweError::Form("epk"))?;
        Ok(Self {
            alg,
            enc,
            epk: AgreementKey::from_jwk(&Jwk::from_value(&epk)?)?,
            apu,
            apv,
            kid,
            skid,
            typ,
            cty,
            other: members,
        })
    }
}

fn party(text: Option<String>, name: &'static str) -> Result<Vec<u8>, JweError> {
    let text = text.unwrap_or_default();
    base64url_decode(&text).map_err(|_| JweError::Form(name))
}
