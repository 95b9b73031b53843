//! The reference of a credential to its status.

use serde_json::{Map, Value as Json, json};
use url::Url;

use super::{Purpose, StatusError, bits::Width, bitstring::is_of_type};

/// Maximum number of entries of a credential. Each may name a list of its own, and two are enough for everything that
/// is checked: revocation and suspension.
const MAX_ENTRIES: usize = 4;
const MAX_URI: usize = 2_048;

/// A credential's index in a status list.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reference {
    /// The status mechanism.
    pub mechanism: Mechanism,
    /// The URI of the list.
    pub uri: String,
    /// The index in the list.
    pub index: u64,
}

/// A status mechanism.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mechanism {
    /// Token Status List.
    Token,
    /// Bitstring Status List.
    Bitstring {
        /// The purpose of the entry.
        purpose: Purpose,
        /// The number of bits of the entry.
        size: Width,
    },
}

impl Reference {
    /// A reference to a Token Status List.
    pub fn token(uri: impl Into<String>, index: u64) -> Self {
        Self {
            mechanism: Mechanism::Token,
            uri: uri.into(),
            index,
        }
    }

    /// A reference to a Bitstring Status List.
    pub fn bitstring(uri: impl Into<String>, index: u64, purpose: Purpose) -> Self {
        Self {
            mechanism: Mechanism::Bitstring {
                purpose,
                size: Width::One,
            },
            uri: uri.into(),
            index,
        }
    }

    /// The `status` claim of a JWT or SD-JWT (Token Status List §6.2); `None` without the claim. A claim with only
    /// other mechanisms is not supported, and therefore an error.
    pub fn in_jwt_claims(claims: &Json) -> Result<Option<Self>, StatusError> {
        claims.get("status").map(Self::in_status).transpose()
    }

    /// The value of such a claim.
    pub fn in_status(status: &Json) -> Result<Self, StatusError> {
        let status = status.as_object().ok_or(StatusError::Malformed("status"))?;
        let Some(list) = status.get("status_list") else {
            return Err(if status.is_empty() {
                StatusError::Malformed("status")
            } else {
                StatusError::Unsupported
            });
        };
        let list = list
            .as_object()
            .ok_or(StatusError::Malformed("status_list"))?;
        let index = list.get("idx").and_then(index_of_number);
        Ok(Self {
            mechanism: Mechanism::Token,
            uri: uri(list, "uri")?,
            index: index.ok_or(StatusError::Malformed("idx"))?,
        })
    }

    /// The `credentialStatus` of a W3C credential (Bitstring Status List §2.1), one or several entries. Entries for
    /// other purposes than revocation and suspension do not concern validity and are left out; entries of other types
    /// are not supported, and therefore an error.
    pub fn in_credential(credential: &Json) -> Result<Vec<Self>, StatusError> {
        let wrong = || StatusError::Malformed("credentialStatus");
        let entries = match credential.get("credentialStatus") {
            None => return Ok(Vec::new()),
            Some(Json::Array(entries)) => entries.as_slice(),
            Some(entry) => std::slice::from_ref(entry),
        };
        if entries.is_empty() || entries.len() > MAX_ENTRIES {
            return Err(wrong());
        }
        let mut references = Vec::new();
        for entry in entries {
            references.extend(Self::in_entry(entry.as_object().ok_or_else(wrong)?)?);
        }
        Ok(references)
    }

    fn in_entry(entry: &Map<String, Json>) -> Result<Option<Self>, StatusError> {
        if !is_of_type(entry, "BitstringStatusListEntry") {
            return Err(StatusError::Unsupported);
        }
        let uri = uri(entry, "statusListCredential")?;
        // VCDM 2.0 §4.4: an identifier MUST be a URL. §2.1: the entry's own MUST NOT be the list's.
        match entry.get("id") {
            None => {}
            Some(Json::String(id)) if *id != uri && Url::parse(id).is_ok() => {}
            Some(_) => return Err(StatusError::Malformed("credentialStatus.id")),
        }
        let index = entry.get("statusListIndex").and_then(Json::as_str);
        let index = index
            .and_then(index_of_digits)
            .ok_or(StatusError::Malformed("statusListIndex"))?;
        let size = size(entry)?;
        let purpose = entry.get("statusPurpose").and_then(Json::as_str);
        let purpose = purpose.ok_or(StatusError::Malformed("statusPurpose"))?;
        let Some(purpose) = Purpose::from_name(purpose) else {
            return Ok(None);
        };
        let size = Width::from_bits(size).ok_or(StatusError::Unsupported)?;
        Ok(Some(Self {
            mechanism: Mechanism::Bitstring { purpose, size },
            uri,
            index,
        }))
    }

    /// The member for a credential: the value of `status`, or one entry of `credentialStatus`.
    pub fn to_value(&self) -> Json {
        match self.mechanism {
            Mechanism::Token => {
                json!({"status_list": {"idx": self.index, "uri": self.uri}})
            }
            Mechanism::Bitstring { purpose, .. } => json!({
                "id": format!("{}#{}", self.uri, self.index),
                "type": "BitstringStatusListEntry",
                "statusPurpose": purpose.as_str(),
                "statusListIndex": self.index.to_string(),
                "statusListCredential": self.uri,
            }),
        }
    }
}

/// An index beyond 64 bits is well formed, and outside of every list.
const BEYOND: u64 = u64::MAX;

fn index_of_number(index: &Json) -> Option<u64> {
    let is_beyond = |index: f64| index >= BEYOND as f64;
    let beyond = || index.as_f64().filter(|index| is_beyond(*index));
    index.as_u64().or_else(|| beyond().map(|_| BEYOND))
}

fn index_of_digits(index: &str) -> Option<u64> {
    let is_number = !index.is_empty() && index.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| index.parse().unwrap_or(BEYOND))
}

/// §2.1: if there is more than one bit, every value must have a message.
fn size(entry: &Map<String, Json>) -> Result<u64, StatusError> {
    let size = match entry.get("statusSize") {
        None => 1,
        Some(size) => size
            .as_u64()
            .filter(|size| *size > 0)
            .ok_or(StatusError::Malformed("statusSize"))?,
    };
    let messages = match entry.get("statusMessage") {
        None if size == 1 => return Ok(size),
        messages => messages.and_then(Json::as_array),
    };
    let values = u32::try_from(size)
        .ok()
        .and_then(|size| 2_u64.checked_pow(size));
    match messages.map(|messages| u64::try_from(messages.len()).unwrap_or(u64::MAX)) {
        Some(messages) if Some(messages) == values => Ok(size),
        _ => Err(StatusError::Malformed("statusMessage")),
    }
}

/// An absolute URI, kept as written: it is compared, not only fetched.
fn uri(members: &Map<String, Json>, name: &'static str) -> Result<String, StatusError> {
    members
        .get(name)
        .and_then(Json::as_str)
        .filter(|uri| uri.len() <= MAX_URI && Url::parse(uri).is_ok())
        .map(str::to_owned)
        .ok_or(StatusError::Malformed(name))
}
