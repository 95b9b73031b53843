//! Agreeing to what a client gets, and the way back to it.

use selfsame_http::error::Handled;
use selfsame_http::extract::Form;
use selfsame_http::redirect;
use selfsame_oidc::ResponseMode;
use selfsame_oidc_endpoints::browser::landed;
use selfsame_sign_in::view::{Landing, PersonsAgreement, SignInView};
use selfsame_sign_in_pages::{ConsentClient, ConsentPage, OfferedChoice};

use super::call::{SignInCall, led, named};
use super::refusal::refused;

/// Takes what a person agrees to, or that they decline, and leads back to the client.
pub async fn decide(call: SignInCall, form: Form) -> Handled {
    let provider = &call.here.provider;
    let landing = match form.one("decision") {
        Some("agree") => {
            let agreement = PersonsAgreement {
                claims: form.all("claim").to_vec(),
                scopes: form.all("scope").to_vec(),
            };
            provider.agree(&call.visitor(), &agreement).await
        }
        Some("decline") => provider.decline(&call.visitor()).await,
        _ => return led(&call.step("")),
    };
    match landing {
        Ok(landing) => left(&landing),
        Err(error) => refused(&call, error),
    }
}

/// Ends a sign-in for which the person agreed before.
pub(super) async fn ended(call: &SignInCall) -> Handled {
    let provider = &call.here.provider;
    match provider
        .agree(&call.visitor(), &PersonsAgreement::default())
        .await
    {
        Ok(landing) => left(&landing),
        Err(error) => refused(call, error),
    }
}

/// The way back to the client after a form, also if a page of ours came in between.
fn left(landing: &Landing) -> Handled {
    Ok(match landing.mode {
        ResponseMode::Query => redirect::onwards(&landing.address()),
        ResponseMode::FormPost => landed(landing),
    })
}

/// The page on which a person agrees.
pub(super) fn asked(call: &SignInCall, view: &SignInView) -> ConsentPage {
    let language = call.language(&view.ui_locales);
    let choice = |is_ticked| {
        move |name: &String| OfferedChoice {
            name: name.clone(),
            is_ticked,
        }
    };
    let client = &view.client;
    ConsentPage {
        frame: call.frame(language, call.address()),
        client: ConsentClient {
            name: named(client, language),
            logo: client.logo.clone(),
            purpose: None,
            site: site(&view.redirect_uri),
            policy: client.policy_uri.as_ref().map(ToString::to_string),
            terms: client.tos_uri.as_ref().map(ToString::to_string),
        },
        essential: view.essential.clone(),
        // What is the person's own choice is theirs to make.
        voluntary: view.voluntary.iter().map(choice(false)).collect(),
        scopes: view.scopes.iter().map(choice(true)).collect(),
        action: call.step("/agreement"),
    }
}

/// The host of a client, or the scheme of an application on the device.
fn site(redirect_uri: &str) -> String {
    let (scheme, rest) = redirect_uri.split_once(':').unwrap_or((redirect_uri, ""));
    let host = rest.trim_start_matches('/').split(['/', '?', '#']).next();
    match scheme {
        "http" | "https" => host.unwrap_or_default().to_owned(),
        _ => format!("{scheme}:"),
    }
}
