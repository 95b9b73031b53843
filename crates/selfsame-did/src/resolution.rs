//! The result of resolving a DID (DID Resolution §4): document, metadata, errors, and their JSON envelope.

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::did::Did;
use crate::document::{Document, DocumentError, Representation};

/// The limits on a result's JSON. Its metadata may list some thousand linked resources, as cheqd's resolver does.
pub(crate) const LIMITS: Limits = Limits {
    max_bytes: 1 << 20,
    max_depth: 32,
    max_members: 40_000,
};

/// The options of the caller (DID Resolution §4.1).
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Options {
    /// The wanted version of the document.
    pub version_id: Option<String>,
    /// The instant for which the document is wanted.
    pub version_time: Option<UnixTime>,
    /// The number of the wanted version, for methods that number them from 1.
    pub version_number: Option<u64>,
    /// The wanted representation.
    pub accept: Representation,
}

impl Options {
    /// Refuses a wanted version, for methods whose documents have none.
    pub(crate) fn unversioned(&self) -> Result<(), ResolutionError> {
        match self.versions_named() {
            0 => Ok(()),
            _ => Err(ResolutionError::FeatureNotSupported),
        }
    }

    /// Refuses a version that is named in more than one way.
    pub(crate) fn one_version(&self) -> Result<(), ResolutionError> {
        match self.versions_named() {
            0 | 1 => Ok(()),
            _ => Err(ResolutionError::InvalidOptions),
        }
    }

    fn versions_named(&self) -> usize {
        let named = [
            self.version_id.is_some(),
            self.version_time.is_some(),
            self.version_number.is_some(),
        ];
        named.into_iter().filter(|named| *named).count()
    }
}

/// The result of resolving a DID. As JSON, it is the `application/did-resolution` envelope.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// The document; absent after an error and for a deactivated DID.
    #[serde(rename = "didDocument", default)]
    pub document: Option<Document>,
    /// Metadata about the document.
    #[serde(rename = "didDocumentMetadata", default)]
    pub document_metadata: DocumentMetadata,
    /// Metadata about the resolution.
    #[serde(rename = "didResolutionMetadata", default)]
    pub metadata: ResolutionMetadata,
}

/// Metadata about a document (DID Resolution §4.3).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentMetadata {
    /// When the DID was created.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub created: Option<UnixTime>,
    /// When this version was made.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub updated: Option<UnixTime>,
    /// Whether the DID has been deactivated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deactivated: bool,
    /// When the next version was made, if this is not the latest.
    #[serde(with = "datetime", skip_serializing_if = "Option::is_none")]
    pub next_update: Option<UnixTime>,
    /// The identifier of this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
    /// The identifier of the next version, if this is not the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_version_id: Option<String>,
    /// Other forms of the DID that its method declares equivalent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equivalent_id: Vec<Did>,
    /// The canonical form of the DID according to its method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_id: Option<Did>,
    /// What the method states beyond these. Never read from other resolvers, whose metadata may be long.
    #[serde(flatten, skip_deserializing)]
    pub of_method: Map<String, Value>,
}

/// Metadata about the resolution (DID Resolution §4.2).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResolutionMetadata {
    /// The media type of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The error, if there is no document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ResolutionError>,
    /// The resolver that was trusted for this result without a proof. `None` if the result comes from the DID itself,
    /// its own host or a registry. Never read from other resolvers: they cannot vouch for themselves.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub trusted_resolver: Option<String>,
    /// The signed registry state that the result is based on; `None` if it is not from a registry. Never read from
    /// other resolvers.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// Why nothing was found or no answer was possible, for people.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason for the operator of this resolver. It may reveal names and addresses in the operator's network, so it
    /// is never sent to other parties.
    #[serde(skip)]
    pub inside: Option<String>,
    /// Seconds after which a retry is worthwhile.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// A registry state, identified by its signed checkpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct AsOf {
    /// When the checkpoint was signed.
    #[serde(serialize_with = "datetime::one")]
    pub time: UnixTime,
    /// The block height.
    pub height: u64,
}

/// Why a DID was not resolved (DID Resolution §10). Written as an RFC 9457 object; the older one-word form can be read
/// too.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ResolutionError {
    /// The text is not a DID, or not a valid one of its method.
    #[error("the DID is invalid")]
    InvalidDid,
    /// The text is not a DID URL.
    #[error("the DID URL is invalid")]
    InvalidDidUrl,
    /// The document is malformed or describes another DID.
    #[error("the DID document is invalid")]
    InvalidDidDocument,
    /// The DID, or the requested version of it, does not exist.
    #[error("no such DID document was found")]
    NotFound,
    /// The requested representation is not available.
    #[error("the representation asked for is not supported")]
    RepresentationNotSupported,
    /// The DID method is not supported.
    #[error("the DID method is not supported")]
    MethodNotSupported,
    /// An option has an invalid value.
    #[error("an option is invalid")]
    InvalidOptions,
    /// The method or this resolver does not support the requested feature.
    #[error("the feature asked for is not supported")]
    FeatureNotSupported,
    /// This resolver or one it asked failed.
    #[error("resolving failed")]
    InternalError,
}

impl Resolution {
    /// The result with this document.
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

    /// The result with this error.
    pub fn failed(error: ResolutionError) -> Self {
        Self {
            metadata: ResolutionMetadata {
                error: Some(error),
                ..ResolutionMetadata::default()
            },
            ..Self::default()
        }
    }

    /// The result that no answer is possible now, with the reason and the seconds after which to retry.
    pub fn unavailable(reason: String, retry_after: Option<u64>) -> Self {
        let mut failed = Self::failed(ResolutionError::InternalError);
        failed.metadata.reason = Some(reason);
        failed.metadata.retry_after = retry_after;
        failed
    }

    /// The result for a deactivated DID (DID Resolution §4.4 step 5).
    pub fn deactivated(metadata: DocumentMetadata) -> Self {
        Self {
            document_metadata: DocumentMetadata {
                deactivated: true,
                ..metadata
            },
            ..Self::default()
        }
    }

    /// Parses another resolver's answer about `did`. A bare document is accepted too.
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

    /// Parses the answer of the resolver at `origin` about `did` with these options, and marks the resolver as trusted.
    /// Versions that the answer states must be those requested.
    pub fn told(bytes: &[u8], did: &Did, options: &Options, origin: &str) -> Self {
        let mut told = Self::parse(bytes, did);
        if told.metadata.error.is_none() && !told.document_metadata.fits(options) {
            told = Self::failed(ResolutionError::InvalidDidDocument);
        }
        told.metadata.trusted_resolver = Some(origin.to_owned());
        told
    }

    /// Whether these bytes are a result with an error in place of a document.
    pub fn is_failure(bytes: &[u8]) -> bool {
        json::parse(bytes, &LIMITS).is_ok_and(|value| {
            value
                .pointer("/didResolutionMetadata/error")
                .is_some_and(|error| !error.is_null() && error != "")
        })
    }

    /// The document, or the error. A deactivated DID has no document.
    pub fn document(&self) -> Result<&Document, ResolutionError> {
        match (&self.document, self.metadata.error) {
            (_, Some(error)) => Err(error),
            (Some(document), None) if !self.document_metadata.deactivated => Ok(document),
            _ => Err(ResolutionError::NotFound),
        }
    }

    /// The document, if it describes `did`.
    pub fn document_of(&self, did: &Did) -> Result<&Document, ResolutionError> {
        let document = self.document()?;
        if document.id == *did {
            Ok(document)
        } else {
            Err(ResolutionError::InvalidDidDocument)
        }
    }

    /// A result without document, error or deactivation becomes `NotFound`. If there is an error, the document is
    /// dropped.
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
    /// The seconds for which the controller of the DID allows to cache the document, if its method lets it say so.
    pub fn ttl(&self) -> Option<u64> {
        self.of_method.get("ttl")?.as_str()?.parse().ok()
    }

    /// Whether this can be the requested version. Members that the resolver does not state are not checked.
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

    /// The one-word code of the older drafts, `notFound`.
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

    /// The URI of the problem type, `https://www.w3.org/ns/did#NOT_FOUND`.
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
        // Error types specific to other resolvers are treated as an internal error.
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
