//! The pages' static files, for ever at addresses that change with their content.

use axum::response::IntoResponse as _;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, StatusCode};
use selfsame_pages::assets;

use crate::error::{Handled, Problem};
use crate::extract::Path;

/// Serves the script that other people's pages load. A module is fetched with CORS; and a page that isolates itself
/// loads only what says that anyone may.
pub async fn embed() -> Handled {
    let headers = [
        (CONTENT_TYPE, assets::EMBED.content_type),
        (CACHE_CONTROL, "public, max-age=3600"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    Ok((headers, assets::EMBED.body).into_response())
}

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
