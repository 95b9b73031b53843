//! The pages' static files, for ever at addresses that change with their content.

use axum::response::IntoResponse as _;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use selfsame_pages::assets;

use crate::error::{Handled, Problem};
use crate::extract::Path;

/// Serves one file.
pub async fn serve(Path((version, name)): Path<(String, String)>) -> Handled {
    let Some(file) = assets::find(&version, &name) else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "file-unknown"));
    };
    let headers = [
        (CONTENT_TYPE, file.content_type),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, file.body).into_response())
}
