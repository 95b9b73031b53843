//! Creating a wallet, signing in, and signing out.

use axum::extract::RawQuery;
use axum::response::{Html, IntoResponse as _};
use http::StatusCode;
use selfsame_accounts::Registration;
use selfsame_catalogue::{Language, sentence};
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Query};
use selfsame_http::redirect;
use selfsame_pages::wallet::sign_in::SignInPage;
use selfsame_pages::{Frame, render};
use serde::Deserialize;

use crate::door::SignInDoor as _;
use crate::wallet_browser::WalletBrowser;

const TITLE: &str = "Your wallet";

/// The token of an invitation link.
#[derive(Deserialize)]
pub struct WalletInvitation {
    #[serde(default)]
    token: String,
}

/// The page with both forms.
pub async fn page(browser: WalletBrowser, frame: Frame, RawQuery(query): RawQuery) -> Handled {
    shown(&SignInPage {
        next: redirect::next(query.as_deref()),
        ..empty(&browser, frame.titled(TITLE))
    })
}

/// The page for a person who was invited.
pub async fn invited(
    browser: WalletBrowser,
    frame: Frame,
    Query(link): Query<WalletInvitation>,
) -> Handled {
    shown(&SignInPage {
        registering: true,
        invitation: link.token,
        ..empty(&browser, frame.titled(TITLE))
    })
}

/// Signs in to a wallet.
pub async fn sign_in(browser: WalletBrowser, frame: Frame, form: Form) -> Handled {
    let (email, password) = credentials(&form)?;
    let accounts = browser.accounts()?;
    match accounts.sign_in(email, password, &browser.whence()).await {
        Ok(session) => browser.open(&session, email, form.one("next")).await,
        Err(error) => again(
            &browser,
            frame,
            &form,
            &WalletRefusal {
                error,
                registering: false,
            },
        ),
    }
}

/// Creates a wallet and signs in to it.
pub async fn register(browser: WalletBrowser, frame: Frame, form: Form) -> Handled {
    let (email, password) = credentials(&form)?;
    browser.instance.count_registration(browser.peer)?;
    let accounts = browser.accounts()?;
    let made = accounts.register_invited(email, password, form.one("invitation"));
    match made.await {
        Ok(session) => browser.open(&session, email, form.one("next")).await,
        Err(error) => again(
            &browser,
            frame,
            &form,
            &WalletRefusal {
                error,
                registering: true,
            },
        ),
    }
}

/// Signs out.
pub async fn sign_out(browser: WalletBrowser) -> Handled {
    browser.close().await
}

/// Why a form is shown again, and which.
struct WalletRefusal {
    error: Error,
    registering: bool,
}

/// The page with empty forms.
fn empty(browser: &WalletBrowser, frame: Frame) -> SignInPage {
    SignInPage::of(frame, browser.instance.registration())
}

fn shown(page: &SignInPage) -> Handled {
    Ok(Html(render(page)?).into_response())
}

fn credentials(form: &Form) -> Result<(&str, SecretString), Problem> {
    Ok((
        form.needed("email")?,
        SecretString::from(form.verbatim("password")?),
    ))
}

/// Shows an error that the person can correct beside the form; returns any other error as a problem.
fn again(browser: &WalletBrowser, frame: Frame, form: &Form, refused: &WalletRefusal) -> Handled {
    let error = &refused.error;
    let status = match error.kind {
        ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        _ => return Err(error.clone().into()),
    };
    let told = sentence(Language::English, &error.reason);
    let problem = match (error.kind, told.hint) {
        // The error's hint says where wallets are created, which is this page.
        (ErrorKind::Unauthenticated, _) => match browser.instance.registration() {
            Registration::Open => {
                format!("{}. No wallet yet? Create one below", told.text)
            }
            Registration::Invite | Registration::Closed => told.text,
        },
        (_, Some(hint)) => format!("{}; {hint}", told.text),
        (_, None) => told.text,
    };
    let page = shown(&SignInPage {
        next: form.one("next").unwrap_or_default().to_owned(),
        email: form.one("email").unwrap_or_default().to_owned(),
        problem: Some(problem),
        registering: refused.registering,
        invitation: form.one("invitation").unwrap_or_default().to_owned(),
        ..empty(browser, frame.failed(TITLE))
    })?;
    Ok((status, page).into_response())
}
