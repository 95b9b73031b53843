//! Tails files of revocation registries, at the addresses of indy-tails-server; and the proofs of issuers' keys.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path};
use selfsame_http::response::open_to_all;

use crate::instance::Instance;

/// Bytes of an upload at most: the file of the largest registry that networks allow by default, and the form around it.
pub const TAILS_MAX: usize = 8_500_000;
/// The form's field with the file. Uploads to indy-tails-server have a genesis file beside it, which is not looked at:
/// the definition is read from the instance's own registry.
const FIELD: &str = "tails";

/// The file of a registry.
pub async fn of_registry(State(instance): State<Instance>, Path(id): Path<String>) -> Handled {
    served(instance.anoncreds().tails(TailsName::Registry(&id)).await?)
}

/// The file with a hash.
pub async fn by_hash(State(instance): State<Instance>, Path(hash): Path<String>) -> Handled {
    served(instance.anoncreds().tails(TailsName::Hash(&hash)).await?)
}

/// Keeps the file of a registry.
pub async fn upload(
    State(instance): State<Instance>,
    Path(id): Path<String>,
    form: Form,
) -> Handled {
    let hash = instance.anoncreds().keep_tails(&id, file(&form)?).await?;
    Ok(hash.into_response())
}

/// Keeps a file by its hash.
pub async fn upload_by_hash(
    State(instance): State<Instance>,
    Path(hash): Path<String>,
    form: Form,
) -> Handled {
    let anoncreds = instance.anoncreds();
    anoncreds.keep_hashed_tails(&hash, file(&form)?).await?;
    Ok(hash.into_response())
}

fn file(form: &Form) -> Handled<&[u8]> {
    let missing = || Problem::bad_request("field-missing").with("field", &FIELD);
    let file = form.file(FIELD).ok_or_else(missing)?;
    Ok(&file.bytes)
}

/// The proof of an issuer's key with a hash.
pub async fn key_proof(State(instance): State<Instance>, Path(hash): Path<String>) -> Handled {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "anoncreds-key-proof-unknown");
    let found = instance.anoncreds().key_proof(&hash).await?;
    Ok(unchanging(
        "application/json",
        &hash,
        found.ok_or_else(unknown)?,
    ))
}

fn served(found: Option<(String, Arc<Vec<u8>>)>) -> Handled {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "anoncreds-tails-unknown");
    let (hash, bytes) = found.ok_or_else(unknown)?;
    Ok(unchanging(
        "application/octet-stream",
        &hash,
        bytes.to_vec(),
    ))
}

/// The answer with bytes whose hash is in their address.
fn unchanging(content_type: &'static str, hash: &str, bytes: Vec<u8>) -> Response {
    let about = [
        (CONTENT_TYPE, content_type.to_owned()),
        (
            CACHE_CONTROL,
            "public, max-age=31536000, immutable".to_owned(),
        ),
        (ETAG, format!("\"{hash}\"")),
    ];
    open_to_all((about, bytes).into_response())
}
