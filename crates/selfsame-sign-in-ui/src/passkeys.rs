//! Sign-in with a passkey.

use axum::Json;
use axum::response::IntoResponse as _;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Form;
use selfsame_passkeys::AssertionResponse;
use serde::de::DeserializeOwned;

use crate::door::AtDoor;

/// What the browser asks its authenticators.
pub async fn options(at: AtDoor) -> Handled {
    let options = at.door.accounts()?.ask_passkey(&at.browser).await?;
    Ok(Json(options).into_response())
}

/// Signs in with what an authenticator answered.
pub async fn sign_in(at: AtDoor, form: Form) -> Handled {
    match signed_in(&at, &form).await {
        Ok(response) => Ok(response),
        Err(problem) => {
            let problem = at.door.refused(problem).await?;
            Err(problem.go_on(at.page, "Sign in"))
        }
    }
}

async fn signed_in(at: &AtDoor, form: &Form) -> Handled {
    let answer: AssertionResponse = answer(form)?;
    let (accounts, whence) = (at.door.accounts()?, at.door.whence());
    let signed_in = accounts.sign_in_with_passkey(&at.browser, &answer, &whence);
    let signed_in = signed_in.await?;
    let next = form.one("next");
    at.door
        .open(&signed_in.session, &signed_in.email, next)
        .await
}

/// The answer of an authenticator in a form, as JSON.
pub(crate) fn answer<T: DeserializeOwned>(form: &Form) -> Handled<T> {
    let answer = form.needed("answer")?;
    let read = json::parse_as(answer.as_bytes(), &Limits::default());
    read.map_err(|_| Problem::from(Error::new(ErrorKind::BadRequest, "passkey-unusable")))
}
