//! Signing in with an account at another OpenID provider.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use http::StatusCode;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::Handled;
use selfsame_oidc_endpoints::ProviderHere;
use selfsame_sign_in::identity::AskedElsewhere;
use selfsame_sign_in_pages::ended::SignInErrorPage;

use super::call::{SignInCall, led, shown};
use super::elsewhere::{ElsewhereWay, led_on};
use super::proving::proven;
use super::refusal::waits;

/// Leads to the other provider, or takes what the browser brings back from there.
pub async fn upstream(call: SignInCall, RawQuery(query): RawQuery) -> Handled {
    let query = query.unwrap_or_default();
    match is_back(&query) {
        true => back(&call, query).await,
        false => begin(&call).await,
    }
}

/// Leads a browser that comes from the other provider on to the page of its sign-in. Each sign-in has this one redirect
/// URI, which the other provider knows.
pub async fn returned(here: ProviderHere, RawQuery(query): RawQuery) -> Handled {
    let query = query.unwrap_or_default();
    let mut page = here.provider.awaiting(&query).await?;
    page.set_query(Some(&query));
    Ok(Redirect::to(page.as_str()).into_response())
}

fn is_back(query: &str) -> bool {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.any(|(name, _)| name == "state")
}

async fn begin(call: &SignInCall) -> Handled {
    let wanted = ElsewhereWay::Upstream.wanted(call);
    match call.here.provider.ask(&call.visitor(), wanted).await {
        Ok(AskedElsewhere::Provider(url)) => led(url.as_str()),
        Ok(_) => Err(Error::internal("another provider was asked for").into()),
        Err(error) => led_on(call, error),
    }
}

async fn back(call: &SignInCall, query: String) -> Handled {
    let attempt = ElsewhereWay::Upstream.attempt(query.into());
    let provider = &call.here.provider;
    match provider.authenticate(&call.visitor(), attempt).await {
        Ok(signed_in) => proven(call, signed_in),
        Err(error) if error.kind == ErrorKind::Unauthenticated && !waits(&error) => {
            let language = call.language(&[]);
            let mut page = shown(&SignInErrorPage {
                frame: call.frame(language, String::new()),
                told: language.say("error-upstream"),
                back: None,
            })?;
            *page.status_mut() = StatusCode::UNAUTHORIZED;
            Ok(page)
        }
        Err(error) => led_on(call, error),
    }
}
