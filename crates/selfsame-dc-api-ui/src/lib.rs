//! The addresses of presentations by the Digital Credentials API of browsers (OpenID4VP 1.0 Appendix A).
//!
//! Owns: the addresses, their parameters and forms, which use cases each calls. Does not own: who may use an address, which
//! `selfsame-server` gives to each list of routes; HTML, which is of `selfsame-pages`; nor the meaning of an act, which is
//! a use case's.

mod api;
mod asked;
mod here;
pub mod routes;
mod window;

pub use here::{BrowserHere, WindowHere};

use axum::response::{Html, IntoResponse as _};
use selfsame_crypto::json::{self, Limits};
use selfsame_dc_api_role::PageMessage;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Form;
use selfsame_pages::Template;

/// The largest form and the largest body: a request or an answer with pictures.
pub const MESSAGE_MAX: usize = 1024 * 1024;

/// A page as a response.
fn html(page: &impl Template) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}

/// The message that a script has put into a form as JSON.
fn message(form: &Form) -> Handled<PageMessage> {
    let limits = Limits {
        max_bytes: MESSAGE_MAX,
        ..Limits::default()
    };
    let read = json::parse_as(form.needed("message")?.as_bytes(), &limits);
    read.map_err(|error| Problem::bad_request("browser-message-malformed").with("detail", &error))
}
