//! The authenticator app of a person with an account: added, confirmed by a code of it, removed.

use http::StatusCode;
use selfsame_accounts::account_id;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Form;
use selfsame_identity::totp::Authenticators;
use selfsame_otp::totp::TotpSecret;
use selfsame_pages::{Frame, qr};
use selfsame_sign_in_pages::account::NewAppContent;

use crate::account::{again, led, shown};
use crate::door::AtSeat;

const TITLE: &str = "Add an authenticator app";

/// Takes the password, and shows the page on which the app is added.
pub async fn begin(at: AtSeat, frame: Frame, form: Form) -> Handled {
    match begun(&at, &form).await {
        Ok(secret) => {
            let content = content(&at, &frame, &secret);
            shown(frame, TITLE, &content)
        }
        Err(problem) => again(&at, frame, &form, problem).await,
    }
}

async fn begun(at: &AtSeat, form: &Form) -> Handled<TotpSecret> {
    prove(at, form).await?;
    Ok(apps(at)?.enrol(&account(at)).await?)
}

/// Takes the first code of the app, from which on sign-ins ask for one.
pub async fn confirm(at: AtSeat, frame: Frame, form: Form) -> Handled {
    let code: String = form.needed("code")?.split_whitespace().collect();
    let (apps, account) = (apps(&at)?, account(&at));
    let from = at.door.address();
    match apps.enter(&account, &code.into(), from).await {
        Ok(()) => led(&at),
        Err(error) if error.kind == ErrorKind::Unauthenticated => {
            let pending = apps.pending(&account).await?.ok_or(error)?;
            let content = NewAppContent {
                problem: Some(
                    "This is not the code of the app. Wait for the next one, and type it in.",
                ),
                ..content(&at, &frame, &pending)
            };
            let mut page = shown(frame.failed(TITLE), TITLE, &content)?;
            *page.status_mut() = StatusCode::UNAUTHORIZED;
            Ok(page)
        }
        Err(error) => Err(error.into()),
    }
}

/// Takes the password, and removes the app.
pub async fn remove(at: AtSeat, frame: Frame, form: Form) -> Handled {
    match removed(&at, &form).await {
        Ok(()) => led(&at),
        Err(problem) => again(&at, frame, &form, problem).await,
    }
}

async fn removed(at: &AtSeat, form: &Form) -> Handled<()> {
    prove(at, form).await?;
    Ok(apps(at)?.remove(&account(at)).await?)
}

/// Checks the password of the person.
async fn prove(at: &AtSeat, form: &Form) -> Handled<()> {
    let password = SecretString::from(form.verbatim("password")?);
    let (accounts, whence) = (at.door.accounts()?, at.door.whence());
    accounts.prove(&at.person.email, password, &whence).await?;
    Ok(())
}

fn apps(at: &AtSeat) -> Handled<Authenticators> {
    let absent = || Problem::from(Error::not_found("address-unknown"));
    at.door.authenticators().ok_or_else(absent)
}

fn account(at: &AtSeat) -> String {
    account_id(&at.person.email)
}

fn content(at: &AtSeat, frame: &Frame, secret: &TotpSecret) -> NewAppContent {
    let uri = secret.uri("Selfsame", &at.person.email);
    NewAppContent {
        root: at.root,
        form: frame.form.clone(),
        code: qr::svg(uri.expose()),
        secret: secret.typed().expose().to_owned(),
        problem: None,
    }
}
