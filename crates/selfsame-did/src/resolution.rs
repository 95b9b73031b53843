//! What resolving a DID gives (DID Resolution §4): document, metadata, errors, and their JSON envelope.

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::did::Did;
use crate::document::{Document, DocumentError, Representation};

/// The limits of a result: its metadata may list some thousand linked resources, as cheqd's resolver does.
pub(crate) const LIMITS: Limits = Limits {
    max_bytes: 1 << 20,
    max_depth: 32,
    max_members: 40_000,
};

/// What the caller wants (DID Resolution §4.1).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Options {
    /// The version of the document.
    pub version_id: Option<String>,
    /// The instant at which the document held.
    pub version_time: Option<UnixTime>,
    /// The representation.
    pub accept: Representation,
}

/// The result of resolving a DID, as the `application/did-resolution` envelope carries it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// The document; absent after an error and for a deactivated DID.
    #[serde(rename = "didDocument", default)]
    pub document: Option<Document>,
    /// What is known of the document.
    #[serde(rename = "didDocumentMetadata", default)]
    pub document_metadata: DocumentMetadata,
    /// What is known of the resolving.
    #[serde(rename = "didResolutionMetadata", default)]
    pub metadata: ResolutionMetadata,
}

/// What is known of a document (DID Resolution §4.3).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentMetadata {
    /// When the DID was created.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub created: Option<UnixTime>,
    /// When this version was made.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub updated: Option<UnixTime>,
    /// Whether the DID is no longer in use.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deactivated: bool,
    /// When the next version was made, if this is not the latest.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub next_update: Option<UnixTime>,
    /// This version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
    /// The next version, if this is not the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_version_id: Option<String>,
    /// Other forms of the DID that its method holds equal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equivalent_id: Vec<Did>,
    /// The form of the DID that its method prefers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_id: Option<Did>,
}

/// What is known of the resolving (DID Resolution §4.2).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResolutionMetadata {
    /// The media type of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Why there is no document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ResolutionError>,
    /// The resolver whose word was taken for all this without a proof; absent where the answer follows from the DID,
    /// from its own host or from a registry. Never read from others: what they say of themselves counts for nothing.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub trusted_resolver: Option<String>,
    /// The signed state of the registry that all this is of; absent where it comes from no registry. Never read from
    /// others either.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// Why nothing was found, or could be said at this moment, for people.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same for who runs this resolver: what was met on the way to another host tells what names and addresses his
    /// network has, so it is never written for others.
    #[serde(skip)]
    pub inside: Option<String>,
    /// After how many seconds it is worth asking again.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// A registry's state, by the checkpoint that was signed of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AsOf {
    /// When it was signed.
    #[serde(serialize_with = "datetime::one")]
    pub time: UnixTime,
    /// Of which block.
    pub height: u64,
}

/// Why a DID was not resolved (DID Resolution §10); written as an RFC 9457 object, read in the older one-word form too.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ResolutionError {
    /// The text is not a DID, or not one of its method.
    #[error("the DID is invalid")]
    InvalidDid,
    /// The text is not a DID URL.
    #[error("the DID URL is invalid")]
    InvalidDidUrl,
    /// The document is malformed or describes another DID.
    #[error("the DID document is invalid")]
    InvalidDidDocument,
    /// There is no such DID, or no such version of it.
    #[error("no such DID document was found")]
    NotFound,
    /// The representation asked for cannot be given.
    #[error("the representation asked for is not supported")]
    RepresentationNotSupported,
    /// The method is not known here.
    #[error("the DID method is not supported")]
    MethodNotSupported,
    /// An option has a value it cannot have.
    #[error("an option is invalid")]
    InvalidOptions,
    /// The method or this resolver does not have what was asked for.
    #[error("the feature asked for is not supported")]
    FeatureNotSupported,
    /// Something failed here or further on.
    #[error("resolving failed")]
    InternalError,
}

impl Resolution {
    /// A document was found.
    pub fn found(document: Document, representation: Representation) -> Self {
        Self {
            document: Some(document),
            document_metadata: DocumentMetadata::default(),
            metadata: ResolutionMetadata {
                content_type: Some(representation.media_type().to_owned()),
                ..ResolutionMetadata::default()
            },
        }
    }

    /// Nothing was found.
    pub fn failed(error: ResolutionError) -> Self {
        Self {
            metadata: ResolutionMetadata {
                error: Some(error),
                ..ResolutionMetadata::default()
            },
            ..Self::default()
        }
    }

    /// Nothing can be said at this moment, and why; after so many seconds it is worth asking again.
    pub fn unavailable(reason: String, retry_after: Option<u64>) -> Self {
        let mut failed = Self::failed(ResolutionError::InternalError);
        failed.metadata.reason = Some(reason);
        failed.metadata.retry_after = retry_after;
        failed
    }

    /// The DID was in use once (DID Resolution §4.4 step 5).
    pub fn deactivated(metadata: DocumentMetadata) -> Self {
        Self {
            document_metadata: DocumentMetadata {
                deactivated: true,
                ..metadata
            },
            ..Self::default()
        }
    }

    /// Reads what another resolver answered about `did`. A document alone is taken too.
    pub fn parse(bytes: &[u8], did: &Did) -> Self {
        let Ok(value) = json::parse(bytes, &LIMITS) else {
            return Self::failed(ResolutionError::InvalidDidDocument);
        };
        let envelope = [
            "didDocument",
            "didResolutionMetadata",
            "didDocumentMetadata",
        ];
        let is_envelope = envelope.iter().any(|name| value.get(name).is_some());
        let resolution = if is_envelope {
            json::value_as(value).map_err(|_| DocumentError::Malformed("envelope"))
        } else {
            Document::from_value(value)
                .map(|document| Self::found(document, Representation::default()))
        };
        let is_ours = |resolution: &Self| {
            resolution
                .document
                .as_ref()
                .is_none_or(|document| document.id == *did)
        };
        match resolution {
            Ok(resolution) if is_ours(&resolution) => resolution.checked(),
            _ => Self::failed(ResolutionError::InvalidDidDocument),
        }
    }

    /// Reads what a resolver at `origin` answered about `did` as these options ask, and marks it as taken on its word.
    /// The versions must be those asked for, as far as the answer names its own.
    pub fn told(bytes: &[u8], (did, options): (&Did, &Options), origin: &str) -> Self {
        let mut told = Self::parse(bytes, did);
        if told.metadata.error.is_none() && !told.document_metadata.fits(options) {
            told = Self::failed(ResolutionError::InvalidDidDocument);
        }
        told.metadata.trusted_resolver = Some(origin.to_owned());
        told
    }

    /// Whether these bytes are a result that says why there is no document.
    pub fn is_failure(bytes: &[u8]) -> bool {
        json::parse(bytes, &LIMITS).is_ok_and(|value| {
            value
                .pointer("/didResolutionMetadata/error")
                .is_some_and(|error| !error.is_null() && error != "")
        })
    }

    /// The document, or why there is none. A deactivated DID has none.
    pub fn document(&self) -> Result<&Document, ResolutionError> {
        match (&self.document, self.metadata.error) {
            (_, Some(error)) => Err(error),
            (Some(document), None) if !self.document_metadata.deactivated => Ok(document),
            _ => Err(ResolutionError::NotFound),
        }
    }

    /// The document, which must be that of `did`.
    pub fn document_of(&self, did: &Did) -> Result<&Document, ResolutionError> {
        let document = self.document()?;
        if document.id == *did {
            Ok(document)
        } else {
            Err(ResolutionError::InvalidDidDocument)
        }
    }

    /// Neither document nor error nor deactivation says nothing; an error beside a document leaves the error.
    fn checked(self) -> Self {
        match (&self.document, self.metadata.error) {
            (_, Some(error)) => Self::failed(error),
            (None, None) if !self.document_metadata.deactivated => {
                Self::failed(ResolutionError::NotFound)
            }
            _ => self,
        }
    }
}

impl DocumentMetadata {
    /// Whether this can be the version that was asked for. What a resolver does not say is not held against it.
    fn fits(&self, options: &Options) -> bool {
        let is_named = match (&options.version_id, &self.version_id) {
            (Some(asked), Some(named)) => asked == named,
            _ => true,
        };
        let held_then = match (options.version_time, self.updated.or(self.created)) {
            (Some(asked), Some(since)) => since <= asked,
            _ => true,
        };
        let held_still = match (options.version_time, self.next_update) {
            (Some(asked), Some(until)) => asked < until,
            _ => true,
        };
        is_named && held_then && held_still
    }
}

impl ResolutionError {
    const ALL: [Self; 9] = [
        Self::InvalidDid,
        Self::InvalidDidUrl,
        Self::InvalidDidDocument,
        Self::NotFound,
        Self::RepresentationNotSupported,
        Self::MethodNotSupported,
        Self::InvalidOptions,
        Self::FeatureNotSupported,
        Self::InternalError,
    ];

    /// The one-word form of the older drafts, `notFound`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidDid => "invalidDid",
            Self::InvalidDidUrl => "invalidDidUrl",
            Self::InvalidDidDocument => "invalidDidDocument",
            Self::NotFound => "notFound",
            Self::RepresentationNotSupported => "representationNotSupported",
            Self::MethodNotSupported => "methodNotSupported",
            Self::InvalidOptions => "invalidOptions",
            Self::FeatureNotSupported => "featureNotSupported",
            Self::InternalError => "internalError",
        }
    }

    /// The problem type, `https://www.w3.org/ns/did#NOT_FOUND`.
    pub const fn type_uri(self) -> &'static str {
        match self {
            Self::InvalidDid => "https://www.w3.org/ns/did#INVALID_DID",
            Self::InvalidDidUrl => "https://www.w3.org/ns/did#INVALID_DID_URL",
            Self::InvalidDidDocument => "https://www.w3.org/ns/did#INVALID_DID_DOCUMENT",
            Self::NotFound => "https://www.w3.org/ns/did#NOT_FOUND",
            Self::RepresentationNotSupported => {
                "https://www.w3.org/ns/did#REPRESENTATION_NOT_SUPPORTED"
            }
            Self::MethodNotSupported => "https://www.w3.org/ns/did#METHOD_NOT_SUPPORTED",
            Self::InvalidOptions => "https://www.w3.org/ns/did#INVALID_OPTIONS",
            Self::FeatureNotSupported => "https://www.w3.org/ns/did#FEATURE_NOT_SUPPORTED",
            Self::InternalError => "https://www.w3.org/ns/did#INTERNAL_ERROR",
        }
    }
}

impl Serialize for ResolutionError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "type": self.type_uri(), "title": self.to_string() }).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ResolutionError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let text = value
            .as_str()
            .or_else(|| value.get("type").and_then(Value::as_str));
        let text = text.ok_or_else(|| D::Error::custom("neither a text nor a problem object"))?;
        let known = Self::ALL
            .into_iter()
            .find(|error| error.code() == text || error.type_uri() == text);
        // Errors of other resolvers' own say no more than that they failed.
        Ok(known.unwrap_or(Self::InternalError))
    }
}

/// DID Core §4.1 datetime: RFC 3339 in UTC.
mod datetime {
    use super::{Deserialize, Deserializer, Serializer, UnixTime};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(
        time: &Option<UnixTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.serialize_str(&time.rfc3339()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn one<S: Serializer>(time: &UnixTime, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time.rfc3339())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<UnixTime>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let read = |text: String| {
            UnixTime::parse_rfc3339(&text).ok_or_else(|| D::Error::custom("no datetime"))
        };
        text.map(read).transpose()
    }
}

#[cfg(test)]
mod tests;
