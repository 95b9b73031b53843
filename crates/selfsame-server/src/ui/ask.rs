//! The pages of a saved request for those who open its link.
//!
//! A page that embeds the button opens the link in a window, and is told the result by a message between windows. For
//! that the two must see each other, so these pages leave out `Cross-Origin-Opener-Policy: same-origin`, but only
//! when a page of an origin opened them that the saved request lists. They show nothing that needs a session.

use axum::extract::Extension;
use axum::response::{IntoResponse as _, Redirect};
use http::{HeaderName, HeaderValue};
use selfsame_openid::verifier::VisitedPlace;
use selfsame_openid::view::saved::RequestOpening;
use selfsame_pages::organisation::OwnLook;
use selfsame_pages::verifier::ask::{AskPage, AskedRequestPage, Asking, VisitParts};
use selfsame_saved_requests::Visitor;
use serde::Deserialize;

use super::Frame;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Path, Query};
use crate::here::Here;
use crate::peer::Peer;

/// What the address of a visit says.
#[derive(Deserialize)]
pub struct VisitQuery {
    from: Option<String>,
    reference: Option<String>,
}

/// What the address of a visitor's request says.
#[derive(Deserialize)]
pub struct ResultQuery {
    from: Option<String>,
    response_code: Option<String>,
}

/// What is asked.
pub async fn page(
    server: Here,
    frame: Frame,
    Path(name): Path<String>,
    Query(VisitQuery { from, reference }): Query<VisitQuery>,
) -> Handled {
    let asking = asking(&server, &name, from.as_deref()).await?;
    let checked = server.saved()?.check(&asking.saved.definition);
    let checked = checked.await?;
    let is_seen = from.is_some();
    let visit = VisitParts { from, reference };
    let page = super::html(&AskPage::of(frame, asking, &checked, visit));
    seen_by_its_opener(page, is_seen)
}

/// Creates a request for this browser.
pub async fn open(
    server: Here,
    frame: Frame,
    Extension(peer): Extension<Peer>,
    Path(name): Path<String>,
    form: Form,
) -> Handled {
    server.count_visit(peer)?;
    let from = form.one("from");
    let visitor = Visitor {
        browser: &frame.form,
        from,
    };
    let opening = RequestOpening {
        reference: form.one("reference").map(str::to_owned),
    };
    let opened = server.saved()?.open_for_visitor(&name, &opening, visitor);
    let path = opened.await?;
    let address = format!("{}/{path}", server.prefix);
    seen_by_its_opener(Ok(Redirect::to(&address).into_response()), from.is_some())
}

/// A request of this browser.
pub async fn request(
    server: Here,
    frame: Frame,
    Path((name, id)): Path<(String, String)>,
    Query(ResultQuery {
        from,
        response_code,
    }): Query<ResultQuery>,
) -> Handled {
    let asking = asking(&server, &name, from.as_deref()).await?;
    let asked = VisitedPlace {
        name: &name,
        id: &id,
        response_code: response_code.as_deref(),
    };
    let request = server.verifier()?.visitors_request(asked, &frame.form);
    let request = request.await?;
    let is_seen = from.is_some();
    let page = AskedRequestPage::of(frame, asking, request, from);
    seen_by_its_opener(super::html(&page), is_seen)
}

async fn asking(server: &Here, name: &str, from: Option<&str>) -> Result<Asking, Problem> {
    let verifier = server.verifier()?;
    Ok(Asking {
        verifier: verifier.name(),
        look: OwnLook::of(&server.roles().look().await?),
        saved: server.saved()?.visited(name, from).await?,
    })
}

/// A window that a page opened keeps the way back to it only if each response on the way says so (HTML §7.1.3).
fn seen_by_its_opener(response: Handled, is_seen: bool) -> Handled {
    let mut response = response?;
    if is_seen {
        let name = HeaderName::from_static("cross-origin-opener-policy");
        let open = HeaderValue::from_static("unsafe-none");
        response.headers_mut().insert(name, open);
    }
    Ok(response)
}
