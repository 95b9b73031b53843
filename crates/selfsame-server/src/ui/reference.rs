//! The reference of the API: the OpenAPI description as a page.

use std::sync::OnceLock;

use selfsame_http::route::openapi::Token;
use selfsame_pages::reference::{ApiReference, ReferencePage, TokenShown};

use super::Frame;
use crate::error::Handled;
use crate::server::Server;

/// The page that shows this description.
pub async fn page(server: Server, frame: Frame, description: &'static str) -> Handled {
    static REFERENCE: OnceLock<ApiReference> = OnceLock::new();
    let origin = server.app().config().origin.as_str();
    let tokens = Token::ALL.into_iter().map(|token| TokenShown {
        name: token.name(),
        words: token.words(),
    });
    super::html(&ReferencePage {
        frame: frame.titled("API reference"),
        origin: origin.trim_end_matches('/').to_owned(),
        tokens: tokens.collect(),
        reference: REFERENCE.get_or_init(|| ApiReference::read(description)),
    })
}
