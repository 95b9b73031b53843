//! The addresses of an issuer's pages, and of applications for credentials that need others.
//!
//! Owns: the addresses, their parameters and forms, which use cases each calls. Does not own: who may use an address,
//! which `selfsame-server` gives to each list of routes; HTML, which is of `selfsame-pages` and `selfsame-issuer-pages`; nor the meaning of an act,
//! which is a use case's.

mod api;
mod applications;
mod approvals;
mod approvals_api;
mod here;
mod issued;
mod list_files;
mod lists;
mod lists_api;
mod offers;
pub mod routes;

use axum::response::{Html, IntoResponse as _};
use selfsame_http::error::Handled;
use selfsame_pages::content::{Content, ContentPage};
use selfsame_pages::{Frame, Template};

pub use here::{IssuerHere, StatusDesk};

/// A content as a response, with the frame around it.
fn framed(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let content = Content {
        title: title.to_owned(),
        is_failed: false,
        main: selfsame_issuer_pages::render(content)?,
    };
    html(&ContentPage::of(frame, content))
}

/// A page as a response.
fn html(page: &impl Template) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}
