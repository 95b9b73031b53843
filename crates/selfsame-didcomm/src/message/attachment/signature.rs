//! Signatures over the content of an attachment: JWS with detached content (RFC 0017, "Signing Attachments").

use selfsame_crypto::PublicKey;
use selfsame_crypto::jws::{Compact, Unsigned};
use serde_json::{Map, Value, json};

use super::Attachment;
use crate::error::Error;
use crate::message::LIMITS;
use crate::message::members::{Fields, put};

/// The maximum number of signatures of one attachment.
const MAX_SIGNATURES: usize = 8;

/// A signature over the content of an attachment, not verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DetachedSignature {
    /// The protected header in base64url.
    pub protected: String,
    /// The key's identifier in the header that is not protected: a `did:key`, or a DID URL.
    pub kid: Option<String>,
    /// The signature in base64url.
    pub signature: String,
}

impl DetachedSignature {
    /// The JWS in compact form, with the attachment's content as payload: its header, its payload, and whether a key
    /// made it.
    ///
    /// # Errors
    /// `Malformed` if the content is not in base64; `Jws` if the header is refused.
    pub fn over(&self, attachment: &Attachment) -> Result<Compact, Error> {
        let payload = attachment.signed_text();
        let payload = payload.ok_or(Error::Malformed("content of the signed attachment"))?;
        let text = format!("{}.{payload}.{}", self.protected, self.signature);
        Ok(Compact::parse_within(&text, LIMITS.max_bytes)?)
    }

    /// The identifier of the signing key: the protected one, otherwise the other. Whether that key may sign is for the
    /// protocol to judge.
    ///
    /// # Errors
    /// As [`DetachedSignature::over`].
    pub fn key_id(&self, attachment: &Attachment) -> Result<Option<String>, Error> {
        let jws = self.over(attachment)?;
        Ok(jws.header.kid.or_else(|| self.kid.clone()))
    }

    /// Verifies that this key made it over the attachment's content.
    ///
    /// # Errors
    /// `Signature` if the key did not; otherwise as [`DetachedSignature::over`].
    pub fn verify(&self, attachment: &Attachment, key: &PublicKey) -> Result<(), Error> {
        Ok(self.over(attachment)?.verify(key)?)
    }

    /// What to sign so that `attachment` has a signature with this protected header, whose `alg` must be that of the
    /// key. [`DetachedSignature::of`] takes the signature.
    ///
    /// # Errors
    /// `Malformed` if the content is not in base64.
    pub fn draft(attachment: &Attachment, header: &Value) -> Result<Unsigned, Error> {
        let bytes = attachment.bytes(usize::MAX)?;
        match attachment.signed_text() {
            Some(_) => Ok(Unsigned::with_payload_bytes(header, &bytes)),
            None => Err(Error::Malformed("content of the signed attachment")),
        }
    }

    /// The draft with its signature. `kid` goes into the header that is not protected.
    pub fn of(draft: Unsigned, signature: &[u8], kid: Option<String>) -> Self {
        let compact = draft.finish(signature);
        let mut parts = compact.split('.').map(str::to_owned);
        let protected = parts.next().unwrap_or_default();
        Self {
            protected,
            kid,
            signature: parts.next_back().unwrap_or_default(),
        }
    }

    /// Reads the member `jws`: one signature, flattened, or several in `signatures` (RFC 7515 §7.2).
    pub(super) fn read(jws: Option<Map<String, Value>>) -> Result<Vec<Self>, Error> {
        let Some(jws) = jws else {
            return Ok(Vec::new());
        };
        let mut jws = Fields(jws);
        let several = jws.array("signatures", "JWS of the attachment")?;
        if several.is_empty() {
            return Ok(vec![Self::one(jws)?]);
        }
        if several.len() > MAX_SIGNATURES {
            return Err(Error::TooLarge("list of signatures"));
        }
        let read = several.into_iter().map(|one| match one {
            Value::Object(members) => Self::one(Fields(members)),
            _ => Err(Error::Malformed("JWS of the attachment")),
        });
        read.collect()
    }

    fn one(mut members: Fields) -> Result<Self, Error> {
        let what = "JWS of the attachment";
        let header = members.object("header", what)?.unwrap_or_default();
        Ok(Self {
            protected: members
                .text("protected", what)?
                .ok_or(Error::Missing("protected"))?,
            kid: Fields(header).text("kid", what)?,
            signature: members
                .text("signature", what)?
                .ok_or(Error::Missing("signature"))?,
        })
    }

    pub(super) fn write(all: &[Self]) -> Option<Value> {
        let one = |signature: &Self| {
            let mut members = Map::new();
            put(
                &mut members,
                "protected",
                Some(signature.protected.as_str()),
            );
            put(
                &mut members,
                "signature",
                Some(signature.signature.as_str()),
            );
            let header = signature.kid.as_deref().map(|kid| json!({ "kid": kid }));
            put(&mut members, "header", header);
            Value::Object(members)
        };
        match all {
            [] => None,
            [single] => Some(one(single)),
            several => {
                let several: Vec<Value> = several.iter().map(one).collect();
                Some(json!({ "signatures": several }))
            }
        }
    }
}
