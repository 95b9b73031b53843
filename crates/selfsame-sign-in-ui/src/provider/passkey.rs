//! Signing in with a passkey.

use http::StatusCode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_http::error::Handled;
use selfsame_http::extract::Form;
use selfsame_sign_in::identity::AskedElsewhere;
use selfsame_sign_in::view::SignInView;
use selfsame_sign_in_pages::PasskeyWayPage;

use super::call::{SignInCall, shown};
use super::elsewhere::{ElsewhereWay, awaited, led_on, others};
use super::proving::proven;
use super::refusal::waits;

/// The page on which the browser asks for a passkey.
pub async fn passkey(call: SignInCall) -> Handled {
    let view = match awaited(&call).await {
        Ok(view) => view,
        Err(error) => return led_on(&call, error),
    };
    match page(&call, &view).await {
        Ok(page) => shown(&page),
        Err(error) => led_on(&call, error),
    }
}

/// Checks what the passkey answered, and leads on.
pub async fn prove_passkey(call: SignInCall, form: Form) -> Handled {
    let answer = form.verbatim("answer").unwrap_or_default().to_owned();
    let attempt = ElsewhereWay::Passkey.attempt(answer.into());
    let provider = &call.here.provider;
    match provider.authenticate(&call.visitor(), attempt).await {
        Ok(signed_in) => proven(&call, signed_in),
        Err(error) if is_wrong(&error) && !waits(&error) => again(&call).await,
        Err(error) => led_on(&call, error),
    }
}

fn is_wrong(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Unauthenticated | ErrorKind::BadRequest
    )
}

async fn again(call: &SignInCall) -> Handled {
    let view = match awaited(call).await {
        Ok(view) => view,
        Err(error) => return led_on(call, error),
    };
    let asked = match page(call, &view).await {
        Ok(asked) => asked,
        Err(error) => return led_on(call, error),
    };
    let problem = Some(asked.frame.say("wrong-passkey"));
    let mut page = shown(&PasskeyWayPage { problem, ..asked })?;
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    Ok(page)
}

async fn page(call: &SignInCall, view: &SignInView) -> Result<PasskeyWayPage> {
    let wanted = ElsewhereWay::Passkey.wanted(call);
    let asked = call.here.provider.ask(&call.visitor(), wanted).await?;
    let AskedElsewhere::Passkey(options) = asked else {
        return Err(Error::internal("a passkey was asked for"));
    };
    let language = call.language(&view.ui_locales);
    Ok(PasskeyWayPage {
        frame: call.frame(language, format!("{}/passkey", call.address())),
        options,
        action: call.step("/passkey"),
        back: others(call, view),
        problem: None,
    })
}
