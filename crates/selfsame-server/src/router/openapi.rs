//! `/openapi.json`: describes the API and everything else that is served to programs.

use std::sync::OnceLock;

use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use selfsame_app::config::Roles;
use selfsame_http::route::openapi::{ProblemDetails, add, need_token};
use utoipa::OpenApi;

use super::groups;
use crate::error::Handled;

/// The OpenAPI description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Selfsame",
        description = "Issue, hold, present, verify and revoke credentials: everything the pages do. \
            `issuer`, `verifier`, `dids`, `registry`, `webhooks` and `instance` take the operator's token, `wallet` a person's. \
            Endpoints of standard protocols are included, each with the specification that defines it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(ProblemDetails))
)]
struct DocumentDescription;

/// The description of all addresses as JSON, built once.
pub fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut document = DocumentDescription::openapi();
        need_token(&mut document);
        for group in groups(&Roles::ALL) {
            let (face, open) = (group.audience.face(), !group.audience.needs_token());
            for route in &group.routes {
                add(&mut document, route, face, open);
            }
        }
        document.to_pretty_json().unwrap_or_default()
    })
}

/// Serves the description.
pub async fn serve() -> Handled {
    Ok(([(CONTENT_TYPE, "application/json")], text()).into_response())
}
