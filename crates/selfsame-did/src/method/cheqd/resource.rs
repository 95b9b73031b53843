//! DID-linked resources of the cheqd network: which resource a DID URL names, and its metadata.

use selfsame_crypto::encoding::hex_decode;
use serde_json::Value;

use super::{METHOD, is_uuid, parts};
use crate::did::DidUrl;
use crate::resolution::{LIMITS, ResolutionError};

/// The query parameters that select a resource, each with the metadata member it is compared with; `None` if only the
/// resolver can compare.
const PARAMETERS: [(&str, Option<&str>); 7] = [
    ("resourceId", Some("resourceId")),
    ("resourceName", Some("resourceName")),
    ("resourceType", Some("resourceType")),
    ("resourceVersion", Some("resourceVersion")),
    ("resourceCollectionId", Some("resourceCollectionId")),
    ("checksum", Some("checksum")),
    ("resourceVersionTime", None),
];

/// The resource named by a DID URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WantedResource {
    /// Named by its identifier, in the path.
    Id(String),
    /// Named by query parameters, decoded.
    Query(Vec<(String, String)>),
}

/// A resource's metadata.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resource {
    /// The identifier, a UUID.
    pub id: String,
    /// The media type.
    pub media_type: String,
    /// The SHA-256 of the resource's bytes.
    pub checksum: [u8; 32],
    /// The complete metadata from the resolver.
    pub metadata: Value,
}

/// The resource that `url` names; `None` if `url` names no resource.
///
/// # Errors
/// `InvalidDid` or `InvalidDidUrl` if the name of a resource is malformed.
pub fn wanted(url: &DidUrl) -> Result<Option<WantedResource>, ResolutionError> {
    let query = url.query.as_deref().unwrap_or_default();
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let is_parameter = |name: &str| PARAMETERS.iter().any(|(known, _)| *known == name);
    let by_query = pairs.iter().any(|(name, _)| is_parameter(name));
    if url.path.is_empty() && !(by_query && url.did.method() == METHOD.name) {
        return Ok(None);
    }
    parts(&url.did).ok_or(ResolutionError::InvalidDid)?;
    let invalid = Err(ResolutionError::InvalidDidUrl);
    if url.fragment.is_some() {
        return invalid;
    }
    match url.path.strip_prefix("/resources/") {
        Some(id) if is_uuid(id) && url.query.is_none() => {
            Ok(Some(WantedResource::Id(id.to_owned())))
        }
        None if url.path.is_empty() => {
            let mut names: Vec<&String> = pairs.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            let is_once = names.windows(2).all(|two| two.first() != two.last());
            let is_known = names.iter().all(|name| is_parameter(name));
            match is_once && is_known {
                true => Ok(Some(WantedResource::Query(pairs))),
                false => invalid,
            }
        }
        _ => invalid,
    }
}

/// Reads the metadata of the wanted resource from an answer that lists it alone or with others.
///
/// # Errors
/// `NotFound` if it is missing, `InvalidDidUrl` if several resources match, `InvalidDidDocument` if the answer is
/// malformed, or the resolver's own error.
pub fn read(bytes: &[u8], wanted: &WantedResource) -> Result<Resource, ResolutionError> {
    let malformed = ResolutionError::InvalidDidDocument;
    let value = selfsame_crypto::json::parse(bytes, &LIMITS).map_err(|_| malformed)?;
    for metadata in ["dereferencingMetadata", "didResolutionMetadata"] {
        let error = value
            .get(metadata)
            .and_then(|metadata| metadata.get("error"));
        if let Some(error) = error.filter(|error| !error.is_null() && *error != "") {
            let error = selfsame_crypto::json::value_as(error.clone());
            return Err(error.unwrap_or(ResolutionError::InternalError));
        }
    }
    let mut found: Vec<Resource> = candidates(&value)
        .into_iter()
        .filter_map(resource)
        .filter(|resource| resource.is(wanted))
        .collect();
    if found.len() > 1 {
        // Versions of one resource share its name and type. The latest has no next version.
        found.retain(|resource| {
            let next = resource.metadata.get("nextVersionId");
            next.is_none_or(|next| next.is_null() || *next == "")
        });
    }
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => Err(ResolutionError::InvalidDidUrl),
        (None, _) => Err(ResolutionError::NotFound),
    }
}

/// The places where the versions of cheqd's resolver put the metadata of resources.
fn candidates(value: &Value) -> Vec<&Value> {
    let listed = [
        "/didDocumentMetadata/linkedResourceMetadata",
        "/contentMetadata/linkedResourceMetadata",
        "/contentStream/linkedResourceMetadata",
    ];
    let lists = listed
        .into_iter()
        .filter_map(|path| value.pointer(path)?.as_array());
    let alone = value.get("contentMetadata").into_iter();
    lists.flatten().chain(alone).collect()
}

fn resource(metadata: &Value) -> Option<Resource> {
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    Some(Resource {
        id: text("resourceId").filter(|id| is_uuid(id))?.to_owned(),
        media_type: text("mediaType")?.to_owned(),
        checksum: hex_decode(text("checksum")?).ok()?.try_into().ok()?,
        metadata: metadata.clone(),
    })
}

impl Resource {
    fn is(&self, wanted: &WantedResource) -> bool {
        let asked = match wanted {
            WantedResource::Id(id) => return self.id == *id,
            WantedResource::Query(asked) => asked,
        };
        asked.iter().all(|(name, value)| {
            let member = PARAMETERS.iter().find(|(known, _)| known == name);
            match member {
                Some((_, Some(member))) => {
                    self.metadata.get(member).and_then(Value::as_str) == Some(value)
                }
                Some((_, None)) => true,
                None => false,
            }
        })
    }
}

#[cfg(test)]
mod tests;
