//! Answers from a log: the document of a version with its metadata, and the URLs behind the paths of DID URLs.

use selfsame_crypto::json;
use selfsame_did::method::webvh::{WebvhError, files_url};
use selfsame_did::{
    Did, Document, DocumentMetadata, Options, Representation, Resolution, ResolutionError, Service,
};
use serde_json::{Map, Value, json};
use url::Url;

use crate::entry::LIMITS;
use crate::log::{Log, LogReading, LogVersion};
use crate::parameters::Active;

/// The fragment of the service for files, and of the one for the presentation about the DID.
const FILES: &str = "files";
const WHOIS: &str = "whois";
/// The path of a DID URL that asks for the presentation, and the file in which it is.
const WHOIS_PATH: &str = "/whois";
const WHOIS_FILE: &str = "whois.vp";

impl LogReading {
    /// The result of resolving the DID with these options. A version before a fault resolves if it is asked for
    /// (did:webvh v1.0, "Read (Resolve)" step 11).
    pub fn resolve(&self, options: &Options) -> Resolution {
        if !self.is_of_asked() {
            return Resolution::failed(ResolutionError::InvalidDid);
        }
        let versions = self.log.versions();
        let index = match (
            &options.version_id,
            options.version_time,
            options.version_number,
        ) {
            (Some(id), _, _) => versions.iter().position(|version| version.id == *id),
            (None, Some(time), _) => versions
                .iter()
                .rposition(|version| version.time.second <= time),
            (None, None, Some(number)) => usize::try_from(number)
                .ok()
                .and_then(|number| number.checked_sub(1)),
            (None, None, None) if self.fault.is_some() => None,
            (None, None, None) => versions.len().checked_sub(1),
        };
        let version = index.and_then(|index| Some((index, versions.get(index)?)));
        match (version, self.fault) {
            (Some((index, version)), _) => self.version(index, version, options.accept),
            (None, Some(_)) => Resolution::failed(ResolutionError::InvalidDid),
            (None, None) => Resolution::failed(ResolutionError::NotFound),
        }
    }

    fn version(&self, index: usize, version: &LogVersion, accept: Representation) -> Resolution {
        let metadata = metadata(&self.log, index, version);
        if version.active.deactivated {
            return Resolution::deactivated(metadata);
        }
        let Some(document) = self.log.document(version) else {
            return Resolution::failed(ResolutionError::InvalidDidDocument);
        };
        let plain = document.context.is_empty();
        let representation = if plain { Representation::Json } else { accept };
        let mut found = Resolution::found(document, representation);
        found.document_metadata = metadata;
        found
    }
}

impl Log {
    /// The document of a version; `None` if it is not a valid DID document.
    pub fn document(&self, version: &LogVersion) -> Option<Document> {
        Document::from_value(self.state(version)?).ok()
    }

    /// The document of a version as it is in the log.
    pub(crate) fn state(&self, version: &LogVersion) -> Option<Value> {
        let line = self.text().get(version.line.clone())?;
        let mut entry = json::parse(line, &LIMITS).ok()?;
        Some(entry.get_mut("state")?.take())
    }
}

/// The metadata that did:webvh v1.0, "Read (Resolve)", defines. `updated` and what is in force are those of the last
/// valid entry.
fn metadata(log: &Log, index: usize, version: &LogVersion) -> DocumentMetadata {
    let versions = log.versions();
    let next = versions.get(index.saturating_add(1));
    let last = versions.last().unwrap_or(version);
    let moved = (*last.did != *log.did()).then(|| (*last.did).clone());
    DocumentMetadata {
        created: versions.first().map(|first| first.time.second),
        updated: Some(last.time.second),
        deactivated: last.active.deactivated,
        next_update: next.map(|next| next.time.second),
        version_id: Some(version.id.clone()),
        next_version_id: next.map(|next| next.id.clone()),
        equivalent_id: moved.iter().cloned().collect(),
        canonical_id: moved,
        of_method: of_method(log, version, &last.active),
    }
}

/// DID Resolution allows no integers in metadata, so `ttl` and `threshold` are texts.
fn of_method(log: &Log, version: &LogVersion, active: &Active) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("versionTime", version.time.second.rfc3339().into());
    put("scid", log.scid().into());
    put("portable", active.portable.into());
    put("ttl", active.ttl.to_string().into());
    if !active.witness.is_empty() {
        let mut witness = active.witness.to_value();
        if let Some(threshold) = witness.get_mut("threshold") {
            *threshold = active.witness.threshold.to_string().into();
        }
        put("witness", witness);
    }
    if !active.watchers.is_empty() {
        put("watchers", active.watchers.clone().into());
    }
    members
}

/// Where a path of a DID URL leads: the URL, and its service if the document has none of its own.
///
/// # Errors
/// `InvalidDidUrl` for a path that leaves the folder of the DID, `InvalidDid` if the service's endpoint is not one URL
/// with the scheme `https` (did:webvh v1.0, "DID URL Path Resolution" and "WHOIS Resolution").
pub fn behind(document: &Document, path: &str) -> Result<Url, ResolutionError> {
    let id = if path == WHOIS_PATH { WHOIS } else { FILES };
    let implicit = implicit(&document.id).map_err(|_| ResolutionError::InvalidDid)?;
    let service = document.service.iter().chain(&implicit);
    let mut service = service.filter(|service| service.id == format!("{}#{id}", document.id));
    let endpoint = service.next().and_then(|service| service.endpoint.as_str());
    let endpoint = endpoint.and_then(|endpoint| Url::parse(endpoint).ok());
    let endpoint = endpoint.filter(|url| url.scheme() == "https");
    let endpoint = endpoint.ok_or(ResolutionError::InvalidDid)?;
    if id == WHOIS {
        return Ok(endpoint);
    }
    let base = endpoint.as_str().trim_end_matches('/').to_owned();
    let url = Url::parse(&format!("{base}{path}")).map_err(|_| ResolutionError::InvalidDidUrl)?;
    let is_below = url.as_str() == format!("{base}{path}");
    is_below
        .then_some(url)
        .ok_or(ResolutionError::InvalidDidUrl)
}

/// The services that every did:webvh has unless its document has others with the same identifiers.
///
/// # Errors
/// The DID is not a valid did:webvh.
pub fn implicit(did: &Did) -> Result<[Service; 2], WebvhError> {
    let files = files_url(did)?;
    let service = |id: &str, type_: &str, endpoint: String| Service {
        id: format!("{did}#{id}"),
        type_: vec![type_.to_owned()],
        endpoint: endpoint.into(),
        other: Map::new(),
    };
    let mut whois = service(
        WHOIS,
        "LinkedVerifiablePresentation",
        format!("{files}{WHOIS_FILE}"),
    );
    let context = json!("https://identity.foundation/linked-vp/contexts/v1");
    whois.other.insert("@context".to_owned(), context);
    Ok([service(FILES, "relativeRef", files.into()), whois])
}
