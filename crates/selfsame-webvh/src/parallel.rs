//! The did:web beside a did:webvh (did:webvh v1.0, "Publishing a Parallel did:web DID"), in both directions.

use selfsame_did::method::webvh::{self, PLACEHOLDER, WebvhError, parallel_web, scid};
use selfsame_did::{Document, DocumentError, Representation, web};
use serde_json::Value;

use crate::entry::replaced;
use crate::resolve::implicit;

/// Why a document has no parallel did:web.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ParallelError {
    /// The document is not of a did:webvh.
    #[error(transparent)]
    Did(#[from] WebvhError),
    /// The document with the other DID is malformed.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// The document of the did:web with the same place as the did:webvh of this document.
///
/// # Errors
/// The document is not of a did:webvh.
pub fn parallel(document: &Document) -> Result<Document, ParallelError> {
    let did = &document.id;
    let web = parallel_web(did)?;
    let mut own = document.clone();
    for service in implicit(did)? {
        if !own.service.iter().any(|one| one.id == service.id) {
            own.service.push(service);
        }
    }
    let written = own.to_value(match own.context.is_empty() {
        true => Representation::Json,
        false => Representation::Did,
    });
    let from = format!("{}:{}:", webvh::METHOD.scheme(), scid(did)?);
    let replaced: Value = replaced(&written, &from, &format!("{}:", web::METHOD.scheme()));
    let mut parallel = Document::from_value(replaced)?;
    parallel.also_known_as.push(did.to_string());
    let mut seen = std::collections::BTreeSet::new();
    let own = web.to_string();
    parallel
        .also_known_as
        .retain(|name| *name != own && seen.insert(name.clone()));
    Ok(parallel)
}

/// The document of a new did:webvh with the same place as this did:web, which it names in `alsoKnownAs`. It has `{SCID}`
/// in place of the SCID.
pub fn draft(document: &Document) -> Value {
    let written = document.to_value(Representation::Did);
    let from = format!("{}:", web::METHOD.scheme());
    let to = format!("{}:{PLACEHOLDER}:", webvh::METHOD.scheme());
    let mut draft = replaced(&written, &from, &to);
    if let Some(members) = draft.as_object_mut() {
        let web = Value::String(document.id.to_string());
        members.insert("alsoKnownAs".to_owned(), Value::Array(vec![web]));
    }
    draft
}

/// The document with its parallel did:web in `alsoKnownAs`.
pub fn with_web(mut document: Document) -> Document {
    let web = parallel_web(&document.id).map(|web| web.to_string());
    document.also_known_as = web.into_iter().collect();
    document
}
