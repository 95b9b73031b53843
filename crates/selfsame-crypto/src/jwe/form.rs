//! The forms of a JWE: compact (RFC 7516 §7.1), general and flattened JSON (§7.2).

use serde_json::{Map, Value, json};

use super::JweError;
use super::header::JweHeader;
use crate::encoding::{base64url_decode, base64url_encode};
use crate::json::{self, Limits};

/// The maximum number of recipients.
const MAX_RECIPIENTS: usize = 64;
/// The maximum length of a key's identifier: that of a DID URL.
const MAX_KID: usize = 4096;

/// An encrypted message: well formed, not yet decrypted.
#[derive(Clone, Debug, PartialEq)]
pub struct Jwe {
    /// The protected header.
    pub header: JweHeader,
    /// The recipients, at least one.
    pub recipients: Vec<JweRecipient>,
    /// The header as the tag covers it.
    pub(super) protected: String,
    pub(super) iv: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

/// One recipient of a JWE.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JweRecipient {
    /// The identifier of the recipient's key.
    pub kid: Option<String>,
    /// The content's key, wrapped; empty if it is agreed on directly.
    pub encrypted_key: Vec<u8>,
}

impl Jwe {
    /// Reads a JWE of up to `max_bytes` in any of its forms.
    ///
    /// # Errors
    /// If it is longer, malformed, or demands what is not supported.
    pub fn parse(text: &str, max_bytes: usize) -> Result<Self, JweError> {
        if text.len() > max_bytes {
            return Err(JweError::TooLong);
        }
        if !text.trim_start().starts_with('{') {
            return Self::parse_compact(text);
        }
        let limits = Limits {
            max_bytes,
            ..Limits::default()
        };
        match json::parse(text.as_bytes(), &limits).map_err(JweError::Json)? {
            Value::Object(members) => Self::from_members(members),
            _ => Err(JweError::Form("text")),
        }
    }

    fn parse_compact(text: &str) -> Result<Self, JweError> {
        let parts: Vec<&str> = text.splitn(6, '.').collect();
        let [protected, encrypted_key, iv, ciphertext, tag] = parts[..] else {
            return Err(JweError::Form("text"));
        };
        let header = header(protected)?;
        let recipient = JweRecipient {
            kid: header.kid.clone(),
            encrypted_key: bytes(encrypted_key, "encrypted_key")?,
        };
        Ok(Self {
            header,
            recipients: vec![recipient],
            protected: protected.to_owned(),
            iv: bytes(iv, "iv")?,
            ciphertext: bytes(ciphertext, "ciphertext")?,
            tag: bytes(tag, "tag")?,
        })
    }

    /// Reads the members of a JSON form that was parsed within limits.
    ///
    /// # Errors
    /// As [`Jwe::parse`].
    pub fn from_members(mut members: Map<String, Value>) -> Result<Self, JweError> {
        // An attacker can change what is not protected, and no code here reads additional data.
        for name in ["unprotected", "aad"] {
            if members.contains_key(name) {
                return Err(JweError::Unsupported(name));
            }
        }
        let protected = text(&mut members, "protected")?;
        let header = header(&protected)?;
        let several = members.remove("recipients");
        let is_flattened = members.contains_key("encrypted_key") || members.contains_key("header");
        let recipients = match several {
            Some(Value::Array(several)) if !is_flattened => several,
            None => vec![Value::Object(members.clone())],
            Some(_) => return Err(JweError::Form("recipients")),
        };
        if recipients.len() > MAX_RECIPIENTS {
            return Err(JweError::TooLong);
        }
        let recipients: Vec<JweRecipient> = recipients
            .into_iter()
            .map(|one| recipient(one, &header))
            .collect::<Result<_, _>>()?;
        let is_direct = header.alg.wrapping_len().is_none();
        if recipients.is_empty() || (is_direct && recipients.len() > 1) {
            return Err(JweError::Form("recipients"));
        }
        Ok(Self {
            header,
            recipients,
            protected,
            iv: bytes(&text(&mut members, "iv")?, "iv")?,
            ciphertext: bytes(&text(&mut members, "ciphertext")?, "ciphertext")?,
            tag: bytes(&text(&mut members, "tag")?, "tag")?,
        })
    }

    /// The identifiers of the recipients' keys, as far as they have one.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.recipients.iter().filter_map(|one| one.kid.as_deref())
    }

    /// The compact form; `None` if there are several recipients, or the recipient's identifier is not in the protected
    /// header.
    pub fn to_compact(&self) -> Option<String> {
        let [only] = &self.recipients[..] else {
            return None;
        };
        let parts = [&only.encrypted_key, &self.iv, &self.ciphertext, &self.tag];
        let parts = parts.map(|part| base64url_encode(part));
        let same = only.kid == self.header.kid;
        same.then(|| format!("{}.{}", self.protected, parts.join(".")))
    }

    /// The general JSON form.
    pub fn to_value(&self) -> Value {
        let recipients = self.recipients.iter().map(|one| {
            let mut members = Map::new();
            if !one.encrypted_key.is_empty() {
                members.insert("encrypted_key".to_owned(), encoded(&one.encrypted_key));
            }
            if let Some(kid) = one.kid.as_ref().filter(|_| one.kid != self.header.kid) {
                members.insert("header".to_owned(), json!({ "kid": kid }));
            }
            Value::Object(members)
        });
        json!({
            "protected": self.protected,
            "recipients": recipients.collect::<Vec<_>>(),
            "iv": encoded(&self.iv),
            "ciphertext": encoded(&self.ciphertext),
            "tag": encoded(&self.tag),
        })
    }
}

fn encoded(bytes: &[u8]) -> Value {
    Value::String(base64url_encode(bytes))
}

fn header(protected: &str) -> Result<JweHeader, JweError> {
    JweHeader::parse(&bytes(protected, "header")?)
}

fn bytes(text: &str, name: &'static str) -> Result<Vec<u8>, JweError> {
    base64url_decode(text).map_err(|_| JweError::Form(name))
}

fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<String, JweError> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(JweError::Form(name)),
    }
}

/// Reads a recipient, or the members of a flattened form.
fn recipient(value: Value, protected: &JweHeader) -> Result<JweRecipient, JweError> {
    let Value::Object(mut members) = value else {
        return Err(JweError::Form("recipients"));
    };
    let encrypted_key = match members.contains_key("encrypted_key") {
        true => bytes(&text(&mut members, "encrypted_key")?, "encrypted_key")?,
        false => Vec::new(),
    };
    let mut own = match members.remove("header") {
        None => Map::new(),
        Some(Value::Object(own)) => own,
        Some(_) => return Err(JweError::Form("recipients")),
    };
    let kid = match own.contains_key("kid") {
        true => Some(text(&mut own, "kid")?),
        false => None,
    };
    // RFC 7516 §7.2.1: no name stands in two headers. What decides about keys is protected or refused.
    let decides = ["alg", "enc", "epk", "apu", "apv", "skid", "crit", "zip"];
    let is_twice = kid.is_some() && protected.kid.is_some();
    if is_twice || decides.iter().any(|name| own.contains_key(*name)) {
        return Err(JweError::Unsupported("recipient's header"));
    }
    if kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
        return Err(JweError::TooLong);
    }
    Ok(JweRecipient {
        kid: kid.or_else(|| protected.kid.clone()),
        encrypted_key,
    })
}
