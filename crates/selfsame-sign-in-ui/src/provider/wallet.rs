//! Showing a credential from a wallet.

use http::StatusCode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_http::error::Handled;
use selfsame_http::extract::Query;
use selfsame_pages::qr;
use selfsame_sign_in::identity::{AskedElsewhere, AskedPresentation, PresentedChallenge};
use selfsame_sign_in::view::SignInView;
use selfsame_sign_in_pages::WalletWayPage;
use serde::Deserialize;

use super::call::{SignInCall, led, shown};
use super::elsewhere::{ElsewhereWay, awaited, led_on, others};
use super::proving::proven;
use super::refusal::waits;

/// What a page that waits for a wallet knows.
#[derive(Deserialize)]
pub struct SeenQuestion {
    /// The request that it shows.
    seen: Option<String>,
}

/// What a wallet sends the browser back with (OpenID4VP 1.0 §8.2).
#[derive(Deserialize)]
pub struct WalletReturn {
    response_code: Option<String>,
}

/// The page on which a wallet is asked for a credential. It leads on once a wallet on another device has answered.
pub async fn wallet(
    call: SignInCall,
    Query(SeenQuestion { seen }): Query<SeenQuestion>,
) -> Handled {
    let view = match awaited(&call).await {
        Ok(view) => view,
        Err(error) => return led_on(&call, error),
    };
    match asked(&call).await {
        Ok(asked) if asked.is_answered => led(&call.step(&format!("/wallet/{}", asked.id))),
        // What the page shows can't be answered any more.
        Ok(asked) if seen.is_some_and(|seen| seen != asked.id) => led(&call.step("/wallet")),
        Ok(asked) => shown(&page(&call, &view, &asked)),
        Err(error) => led_on(&call, error),
    }
}

/// Takes what the wallet has shown: the wallet or the page itself leads the browser here.
pub async fn presented(call: SignInCall, Query(back): Query<WalletReturn>) -> Handled {
    let challenge = PresentedChallenge {
        id: call.part.clone(),
        code: back.response_code,
    };
    let attempt = ElsewhereWay::Wallet.attempt(challenge.value());
    let provider = &call.here.provider;
    match provider.authenticate(&call.visitor(), attempt).await {
        Ok(signed_in) => proven(&call, signed_in),
        Err(error) if error.kind == ErrorKind::Unauthenticated && !waits(&error) => {
            again(&call).await
        }
        // The page that waits on the same screen may have come first.
        Err(error) => led_on(&call, error),
    }
}

/// The page with another question, after an answer that was not accepted.
async fn again(call: &SignInCall) -> Handled {
    let view = match awaited(call).await {
        Ok(view) => view,
        Err(error) => return led_on(call, error),
    };
    let asked = match asked(call).await {
        Ok(asked) => page(call, &view, &asked),
        Err(error) => return led_on(call, error),
    };
    let problem = Some(asked.frame.say("wrong-wallet"));
    let mut page = shown(&WalletWayPage { problem, ..asked })?;
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    Ok(page)
}

async fn asked(call: &SignInCall) -> Result<AskedPresentation> {
    let wanted = ElsewhereWay::Wallet.wanted(call);
    match call.here.provider.ask(&call.visitor(), wanted).await? {
        AskedElsewhere::Presentation(asked) => Ok(asked),
        _ => Err(Error::internal("a credential was asked for")),
    }
}

fn page(call: &SignInCall, view: &SignInView, asked: &AskedPresentation) -> WalletWayPage {
    let language = call.language(&view.ui_locales);
    let frame = call.frame(language, format!("{}/wallet", call.address()));
    let elsewhere = asked.elsewhere.as_deref();
    WalletWayPage {
        frame,
        credentials: asked.credentials.clone(),
        code: elsewhere.map(qr::svg).unwrap_or_default(),
        link: asked.here.clone(),
        look: call.with(&call.step("/wallet"), &format!("seen={}", asked.id)),
        back: others(call, view),
        problem: None,
    }
}
