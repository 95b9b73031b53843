//! The files of the pages.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_pages::assets;

/// Serves one file.
pub async fn serve(Path((version, name)): Path<(String, String)>) -> Response {
    match assets::find(&version, &name) {
        Some(file) => {
            let about = [
                (CONTENT_TYPE, file.content_type),
                (CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (about, file.body).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
