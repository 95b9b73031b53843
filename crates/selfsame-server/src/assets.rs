//! The pages' static files, for ever at addresses that change with their content.

use axum::response::IntoResponse as _;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_pages::assets;

use crate::error::{Handled, Problem};
use crate::extract::Path;

/// Serves one file.
pub async fn serve(Path((version, name)): Path<(String, String)>) -> Handled {
    let served = |content_type| {
        [
            (CONTENT_TYPE, content_type),
            (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ]
    };
    if let Some(file) = assets::find(&version, &name) {
        return Ok((served(file.content_type), file.body).into_response());
    }
    match assets::colors(&version, &name) {
        Some(sheet) => Ok((served("text/css; charset=utf-8"), sheet).into_response()),
        None => Err(Problem::new(StatusCode::NOT_FOUND, "file-unknown")),
    }
}
