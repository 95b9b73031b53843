//! The reference of the API: the OpenAPI description as a page.

use std::sync::OnceLock;

use askama::Template;
use selfsame_http::route::reference::ApiReference;

use super::Frame;
use crate::error::Handled;
use crate::server::Server;

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage {
    frame: Frame,
    /// The base of the addresses, without a slash at its end.
    origin: String,
    reference: &'static ApiReference,
}

/// The page that shows this description.
pub async fn page(server: Server, frame: Frame, description: &'static str) -> Handled {
    static REFERENCE: OnceLock<ApiReference> = OnceLock::new();
    let origin = server.app().config().origin.as_str();
    super::html(&ReferencePage {
        frame: frame.titled("API reference"),
        origin: origin.trim_end_matches('/').to_owned(),
        reference: REFERENCE.get_or_init(|| ApiReference::read(description)),
    })
}
