//! The calls: each reads its body, has the desk do it, and writes the answer.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use selfsame_http::error::Handled;
use selfsame_w3c::W3cError;

use crate::answer::{answered, checked, made, of_credential, of_presentation};
use crate::bodies::CallBody;
use crate::config::RefusedStatus;
use crate::here::VcApiHere;

/// `POST /credentials/issue`.
pub(crate) async fn issue(here: VcApiHere, body: CallBody) -> Handled {
    answered(issued(&here, &body).await)
}

async fn issued(VcApiHere(desk): &VcApiHere, body: &CallBody) -> Result<Response, W3cError> {
    let credential = desk.issue(body.issue()?).await?;
    let created = StatusCode::CREATED;
    Ok(made(created, "verifiableCredential", credential))
}

/// `POST /credentials/status`.
pub(crate) async fn status(here: VcApiHere, body: CallBody) -> Handled {
    answered(changed(&here, &body).await)
}

async fn changed(VcApiHere(desk): &VcApiHere, body: &CallBody) -> Result<Response, W3cError> {
    desk.set_status(&body.status()?).await?;
    Ok(StatusCode::OK.into_response())
}

/// `POST /presentations`.
pub(crate) async fn present(here: VcApiHere, body: CallBody) -> Handled {
    answered(presented(&here, &body).await)
}

async fn presented(VcApiHere(desk): &VcApiHere, body: &CallBody) -> Result<Response, W3cError> {
    let presentation = desk.present(body.present()?).await?;
    let created = StatusCode::CREATED;
    Ok(made(created, "verifiablePresentation", presentation))
}

/// `POST /challenges`.
pub(crate) async fn challenge(here: VcApiHere, body: CallBody) -> Handled {
    answered(challenged(&here, &body).await)
}

async fn challenged(VcApiHere(desk): &VcApiHere, body: &CallBody) -> Result<Response, W3cError> {
    body.nothing()?;
    let challenge = desk.challenge().await?;
    Ok(made(StatusCode::OK, "challenge", challenge))
}

/// `POST /credentials/verify`, whose answer has this status if the credential is not verified.
pub(crate) async fn verify_credential(
    unverified: RefusedStatus,
    VcApiHere(desk): VcApiHere,
    body: CallBody,
) -> Result<Response, W3cError> {
    let asked = body.verify_credential()?;
    let check = desk.verify_credential(&asked.credential).await?;
    let answer = of_credential(&check, &asked);
    Ok(checked(check.verified, unverified.code(), answer))
}

/// `POST /presentations/verify`, whose answer has this status if the presentation is not verified.
pub(crate) async fn verify_presentation(
    unverified: RefusedStatus,
    VcApiHere(desk): VcApiHere,
    body: CallBody,
) -> Result<Response, W3cError> {
    let asked = body.verify_presentation()?;
    let demand = asked.demand.as_ref();
    let check = desk
        .verify_presentation(&asked.presentation, demand)
        .await?;
    let shown = asked
        .shows_presentation
        .then(|| asked.presentation.value().clone());
    let answer = of_presentation(&check, shown);
    Ok(checked(check.verified, unverified.code(), answer))
}

/// The calls of verifiers that answer 400 for what is not verified.
pub(crate) mod strict {
    use super::*;

    pub(crate) async fn credential(here: VcApiHere, body: CallBody) -> Handled {
        answered(verify_credential(RefusedStatus::BadRequest, here, body).await)
    }

    pub(crate) async fn presentation(here: VcApiHere, body: CallBody) -> Handled {
        answered(verify_presentation(RefusedStatus::BadRequest, here, body).await)
    }
}

/// The calls of verifiers that answer 200 for what is not verified.
pub(crate) mod lenient {
    use super::*;

    pub(crate) async fn credential(here: VcApiHere, body: CallBody) -> Handled {
        answered(verify_credential(RefusedStatus::Success, here, body).await)
    }

    pub(crate) async fn presentation(here: VcApiHere, body: CallBody) -> Handled {
        answered(verify_presentation(RefusedStatus::Success, here, body).await)
    }
}
