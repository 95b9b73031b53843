//! The pages of a verifier: their script asks by the browser where the browser can, and sends what it brings back.

use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_dc_api_role::{browser_answer, browser_request};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path};
use selfsame_http::response::json;
use selfsame_openid::verifier::VisitedPlace;
use selfsame_pages::Frame;

use crate::here::BrowserHere;
use crate::message;

/// The request for the browser of somebody who works for the verifier.
pub async fn request(here: BrowserHere, Path(id): Path<String>) -> Handled {
    json(&browser_request(&here.verifier, &id, None).await?)
}

/// What that browser brought back.
pub async fn answer(
    here: BrowserHere,
    frame: Frame,
    Path(id): Path<String>,
    form: Form,
) -> Handled {
    let next = browser_answer(&here.verifier, &id, &message(&form)?).await?;
    Ok(onwards(next, format!("{}/verifier/view/{id}", frame.here)))
}

/// The request for the browser of a visitor who has opened it.
pub async fn visitors_request(
    here: BrowserHere,
    frame: Frame,
    Path((name, id)): Path<(String, String)>,
) -> Handled {
    seen_by(&here, &frame, &name, &id).await?;
    json(&browser_request(&here.verifier, &id, None).await?)
}

/// What that browser brought back.
pub async fn visitors_answer(
    here: BrowserHere,
    frame: Frame,
    Path((name, id)): Path<(String, String)>,
    form: Form,
) -> Handled {
    seen_by(&here, &frame, &name, &id).await?;
    let next = browser_answer(&here.verifier, &id, &message(&form)?).await?;
    Ok(onwards(next, format!("{}/ask/{name}/{id}", frame.here)))
}

/// Whether this browser is the one that opened the request.
async fn seen_by(here: &BrowserHere, frame: &Frame, name: &str, id: &str) -> Handled<()> {
    let place = VisitedPlace {
        name,
        id,
        response_code: None,
    };
    here.verifier.visitors_request(place, &frame.form).await?;
    Ok(())
}

fn onwards(next: Option<String>, page: String) -> Response {
    Redirect::to(&next.unwrap_or(page)).into_response()
}
