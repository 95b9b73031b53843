//! DID Resolution over HTTP, as Universal Resolvers serve it: the result's envelope, or the document alone.

mod files;

use axum::extract::{RawQuery, State};
use axum::response::IntoResponse as _;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, VARY};
use http::{HeaderMap, StatusCode};
use selfsame_catalogue::english;
use selfsame_core::resolver::Linked;
use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_did::method::cheqd::resource::{WantedResource, wanted as wanted_resource};
use selfsame_did::{Did, DidUrl, Options, Resolution, ResolutionError};
use selfsame_driver::Reason;
use selfsame_http::error::{Handled, Problem, log_refusal};
use selfsame_http::extract::{Path, Query};
use selfsame_http::negotiation::preferred;
use selfsame_http::response::open_to_all;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::instance::Instance;

const ENVELOPE: &str = "application/did-resolution";
const DEREFERENCING: &str = "application/did-url-dereferencing";
/// The envelope's older media type, identified by its profile.
const ENVELOPE_PROFILE: &str = "https://w3id.org/did-resolution";
const DOCUMENTS: [&str; 3] = [
    "application/did",
    "application/did+json",
    "application/did+ld+json",
];

/// The version to resolve.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskedVersion {
    /// Its version ID.
    pub version_id: Option<String>,
    /// An instant at which the version was current, RFC 3339.
    pub version_time: Option<String>,
    /// Its number, for methods that number their versions from 1.
    pub version_number: Option<u64>,
}

impl AskedVersion {
    /// The version without the fields that a form left empty.
    #[must_use]
    pub fn without_empty(self) -> Self {
        let filled = |field: Option<String>| {
            let text = field.map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        Self {
            version_id: filled(self.version_id),
            version_time: filled(self.version_time),
            ..self
        }
    }
}

/// Resolves a DID, or dereferences a DID URL of a linked resource.
pub async fn resolve(
    State(instance): State<Instance>,
    did: Result<Path<String>, Problem>,
    RawQuery(query): RawQuery,
    Query(asked): Query<AskedVersion>,
    headers: HeaderMap,
) -> Handled {
    let Ok(Path(did)) = did else {
        return answer(&failed(ResolutionError::InvalidDid), ENVELOPE);
    };
    if let Some(url) = files::named(&did) {
        return files::place(&instance, &url, &asked).await;
    }
    match resource(&did, query.as_deref()) {
        Ok(Some((url, wanted))) => dereference(&instance, &url, &wanted).await,
        Ok(None) => document(&instance, &did, &asked, &headers).await,
        Err(error) => answer(&failed(error), ENVELOPE),
    }
}

/// The resource requested, if any. A text that is not a DID URL is left to resolution, which reports the error.
fn resource(
    did: &str,
    query: Option<&str>,
) -> Result<Option<(DidUrl, WantedResource)>, ResolutionError> {
    let text = match query {
        Some(query) => format!("{did}?{query}"),
        None => did.to_owned(),
    };
    let Ok(url) = DidUrl::parse(&text) else {
        return Ok(None);
    };
    let wanted = wanted_resource(&url)?;
    Ok(wanted.map(|wanted| (url, wanted)))
}

async fn document(
    instance: &Instance,
    did: &str,
    asked: &AskedVersion,
    headers: &HeaderMap,
) -> Handled {
    let accept = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("*/*");
    let Some(form) = wanted(accept) else {
        return answer(
            &failed(ResolutionError::RepresentationNotSupported),
            ENVELOPE,
        );
    };
    answer(resolution(instance, did, asked).await.as_ref(), form)
}

/// A DID-linked resource, always in the dereferencing envelope: this origin does not serve other parties' content as
/// its own document.
async fn dereference(instance: &Instance, url: &DidUrl, wanted: &WantedResource) -> Handled {
    let linked = instance.linked(url, wanted).await;
    dereferenced(linked.map(|linked| content(&linked)))
}

/// The result of dereferencing: its body, or an error.
fn dereferenced(result: Result<Value, ResolutionError>) -> Handled {
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => {
            log_refusal(
                error_status(error),
                None,
                "did-unresolved",
                &error.to_string(),
            );
            let metadata = json!({ "error": error });
            let body = json!({
                "dereferencingMetadata": metadata,
                "contentStream": null,
                "contentMetadata": {},
            });
            (error_status(error), body)
        }
    };
    let form = [(CONTENT_TYPE, DEREFERENCING)];
    Ok(open_to_all(
        (status, form, body.to_string()).into_response(),
    ))
}

/// JSON as it is, other text as text, everything else in base64.
fn content(linked: &Linked) -> Value {
    let bytes = &linked.content;
    let stream = json::parse(bytes, &Limits::default())
        .ok()
        .or_else(|| std::str::from_utf8(bytes).ok().map(Value::from))
        .unwrap_or_else(|| Value::from(base64_encode(bytes)));
    json!({
        "dereferencingMetadata": {
            "contentType": linked.resource.media_type,
            "trustedResolver": linked.trusted_resolver,
        },
        "contentStream": stream,
        "contentMetadata": linked.resource.metadata,
    })
}

/// Resolves an identifier that a person typed or a program sent.
pub async fn resolution(instance: &Instance, did: &str, asked: &AskedVersion) -> Arc<Resolution> {
    let Ok(did) = did.parse::<Did>() else {
        return failed(ResolutionError::InvalidDid);
    };
    let time = asked.version_time.as_deref();
    let version_time = time.map(UnixTime::parse_rfc3339);
    if version_time == Some(None) {
        return failed(ResolutionError::InvalidOptions);
    }
    let version_id = asked.version_id.clone();
    let options = Options {
        version_id,
        version_time: version_time.flatten(),
        version_number: asked.version_number,
        ..Options::default()
    };
    told(instance.resolve(&did, &options).await)
}

/// The resolution with its reason as a sentence.
pub fn told(mut resolution: Arc<Resolution>) -> Arc<Resolution> {
    if let Some(reason) = &resolution.metadata.reason {
        let sentence = english(&Reason::read(reason));
        Arc::make_mut(&mut resolution).metadata.reason = Some(sentence);
    }
    resolution
}

fn failed(error: ResolutionError) -> Arc<Resolution> {
    Arc::new(Resolution::failed(error))
}

fn answer(resolution: &Resolution, form: &'static str) -> Handled {
    let status = status(resolution);
    if let Some(error) = resolution.metadata.error {
        log_refusal(status, None, "did-unresolved", &error.to_string());
    }
    let body = match (&resolution.document, form) {
        (Some(document), form) if form != ENVELOPE => serde_json::to_vec(document),
        _ => serde_json::to_vec(resolution),
    };
    let body = body.map_err(selfsame_driver::Error::internal)?;
    let form = if resolution.document.is_some() {
        form
    } else {
        ENVELOPE
    };
    let mut response = (status, [(CONTENT_TYPE, form), (VARY, "accept")], body).into_response();
    if let Some(seconds) = resolution.metadata.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    Ok(open_to_all(response))
}

/// The HTTP status (DID Resolution §7.1); 503 if a retry may succeed.
fn status(resolution: &Resolution) -> StatusCode {
    match resolution.metadata.error {
        Some(_) if resolution.metadata.retry_after.is_some() => StatusCode::SERVICE_UNAVAILABLE,
        None if resolution.document_metadata.deactivated => StatusCode::GONE,
        None => StatusCode::OK,
        Some(error) => error_status(error),
    }
}

fn error_status(error: ResolutionError) -> StatusCode {
    match error {
        ResolutionError::InvalidDid
        | ResolutionError::InvalidDidUrl
        | ResolutionError::InvalidOptions => StatusCode::BAD_REQUEST,
        ResolutionError::NotFound => StatusCode::NOT_FOUND,
        ResolutionError::RepresentationNotSupported => StatusCode::NOT_ACCEPTABLE,
        ResolutionError::MethodNotSupported | ResolutionError::FeatureNotSupported => {
            StatusCode::NOT_IMPLEMENTED
        }
        ResolutionError::InvalidDidDocument | ResolutionError::InternalError => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// The first acceptable form, in the caller's order of preference.
fn wanted(accept: &str) -> Option<&'static str> {
    preferred(accept, form)
}

fn form(wish: &str) -> Option<&'static str> {
    let kind = wish.split(';').next().unwrap_or_default().trim();
    match kind {
        "*/*" | "application/*" | "application/json" | ENVELOPE => Some(ENVELOPE),
        "application/ld+json" if wish.contains(ENVELOPE_PROFILE) => Some(ENVELOPE),
        _ => DOCUMENTS.into_iter().find(|document| *document == kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_the_accept_header() {
        assert_eq!(wanted("*/*"), Some(ENVELOPE));
        assert_eq!(wanted("application/did+json"), Some("application/did+json"));
        assert_eq!(
            wanted("application/did;q=0.2, application/did-resolution"),
            Some(ENVELOPE)
        );
        assert_eq!(
            wanted("application/ld+json;profile=\"https://w3id.org/did-resolution\""),
            Some(ENVELOPE)
        );
        assert_eq!(wanted("text/html"), None);
        assert_eq!(wanted("*/*;q=0"), None);
    }

    #[test]
    fn each_error_has_its_status() {
        let of = |error| status(&Resolution::failed(error)).as_u16();
        assert_eq!(of(ResolutionError::InvalidDid), 400);
        assert_eq!(of(ResolutionError::NotFound), 404);
        assert_eq!(of(ResolutionError::RepresentationNotSupported), 406);
        assert_eq!(of(ResolutionError::InternalError), 500);
        assert_eq!(of(ResolutionError::MethodNotSupported), 501);
        let later = Resolution::unavailable("later".to_owned(), Some(7));
        assert_eq!(status(&later).as_u16(), 503);
        assert_eq!(
            status(&Resolution::deactivated(Default::default())).as_u16(),
            410
        );
    }
}
