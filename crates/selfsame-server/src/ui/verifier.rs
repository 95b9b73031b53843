//! The verifier's pages: what to request, the link, and the verdict when it arrives.

use axum::response::{IntoResponse as _, Redirect};
use http::HeaderMap;
use http::header::SET_COOKIE;
use selfsame_openid::verifier::Verifier;
use selfsame_pages::verifier::{
    NewRequestPage, RequestPage, RequestView, Requester, ResultPart, RevokePage, TypedRequest,
    VerifierPage,
};
use serde::Deserialize;

use super::correction::{correctable, refused};
use super::{Frame, ListPosition};
use crate::error::Handled;
use crate::extract::{Form, Path, Query};
use crate::here::Here;
use selfsame_http::cookie::{self, Jar};

/// How long, in seconds, the browser that made a request can view a result that arrived at the last moment.
const RESULT_SECONDS: u64 = 3600;

/// What the wallet returns.
#[derive(Deserialize)]
pub struct Came {
    response_code: String,
}

/// The types that can be requested, and the requests made so far.
pub async fn page(server: Here, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    let verifier = server.verifier()?;
    let types = verifier.types().await?;
    let requests = verifier.requests(&at.into()).await?;
    let saved = server.saved()?.list().await?;
    super::html(&VerifierPage::of(frame, &types, requests).with_saved(saved))
}

/// The claims of one type, to choose from.
pub async fn new(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    super::html(&empty_form(verifier, frame, &id).await?)
}

async fn empty_form(verifier: &Verifier, frame: Frame, id: &str) -> Handled<NewRequestPage> {
    let one = verifier.types().await?.find(id)?.clone();
    let requester = Requester {
        did: verifier.identity().did().to_string(),
        can_spend: verifier.can_spend(),
        has_certificate: verifier.has_certificate(),
    };
    Ok(NewRequestPage::of(frame, one, requester))
}

/// Makes the request. What can be corrected is said beside what was typed.
pub async fn create(server: Here, frame: Frame, form: Form) -> Handled {
    let problem = match made(&server, &form).await {
        Ok(response) => return Ok(response),
        Err(problem) => problem,
    };
    let (problem, _) = correctable(problem)?;
    let page = empty_form(server.verifier()?, frame, form.needed("type")?).await?;
    let page = page.refused(typed(&form), problem.reason());
    Ok(refused(&problem, super::html(&page)?))
}

/// Makes the request that the form describes. The answer to a same-device request is bound to this browser.
async fn made(server: &Here, form: &Form) -> Handled {
    let new = typed(form).request(form.needed("type")?)?;
    let made = server.verifier()?.create_request(&new).await?;
    let mut response = Redirect::to(&format!("/verifier/view/{}", made.id)).into_response();
    let lifetime = server.app().config().verifier.request_lifetime;
    let result = format!("{}/verifier/results/{}", server.prefix, made.id);
    let jar = Jar::lax(&server.cookies().binding)
        .of_page(&result, lifetime.saturating_add(RESULT_SECONDS));
    if let Some(binding) = made.browser_binding.as_deref()
        && let Some(cookie) = jar.value(binding, server.origin())
    {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

fn typed(form: &Form) -> TypedRequest {
    TypedRequest::of(|name| form.one(name), form.all("claim"))
}

/// A request: its link while it is open, its verdict afterwards.
pub async fn request(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let view = RequestView::of(verifier.request(&id).await?, verifier.types().await?);
    super::html(&RequestPage::of(frame, view))
}

/// Where a same-device wallet returns the person to: the result, only for the browser that made the request.
pub async fn same_device(
    server: Here,
    frame: Frame,
    Path(id): Path<String>,
    Query(Came { response_code }): Query<Came>,
    headers: HeaderMap,
) -> Handled {
    let browser = cookie::read(&headers, &server.cookies().binding).unwrap_or_default();
    let verifier = server.verifier()?;
    let result = verifier.same_device_result(&id, &response_code, &browser);
    let view = RequestView::of(result.await?, verifier.types().await?).for_returned();
    super::html(&RequestPage::of(frame, view))
}

/// The part of the page that changes.
pub async fn result(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let view = RequestView::of(verifier.request(&id).await?, verifier.types().await?);
    super::html(&ResultPart { frame, view })
}

/// Verifies a presentation again, with its current status.
pub async fn recheck(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.recheck(&id).await?;
    Ok(Redirect::to(&format!("/verifier/view/{id}")).into_response())
}

/// Asks whether the presented credential shall be revoked on its issuer's behalf.
pub async fn ask_revoke(server: Here, frame: Frame, Path(id): Path<String>) -> Handled {
    let verifier = server.verifier()?;
    let view = RequestView::of(verifier.request(&id).await?, verifier.types().await?);
    super::html(&RevokePage::of(frame, view))
}

/// Revokes the presented credential on its issuer's behalf.
pub async fn revoke(server: Here, Path(id): Path<String>) -> Handled {
    server.verifier()?.revoke(&id, None).await?;
    Ok(Redirect::to(&format!("/verifier/view/{id}")).into_response())
}
