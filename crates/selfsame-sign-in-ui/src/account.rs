//! The account of a person who has signed in: its passkeys.

use axum::response::{Html, IntoResponse as _, Redirect};
use http::StatusCode;
use selfsame_accounts::{PasskeyView, account_id};
use selfsame_crypto::SecretString;
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path};
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};
use selfsame_sign_in_pages::account::{AccountContent, ListedPasskey, NewPasskeyContent};
use selfsame_sign_in_pages::{Template, render};

use crate::door::AtSeat;
use crate::passkeys::answer;

const ACCOUNT: &str = "Your account";

/// The passkeys, and the form to add one.
pub async fn page(at: AtSeat, frame: Frame) -> Handled {
    let content = content(&at, &frame).await?;
    shown(frame, ACCOUNT, &content)
}

/// Takes the password and the name of a new passkey, and shows the page on which the browser creates it.
pub async fn begin(at: AtSeat, frame: Frame, form: Form) -> Handled {
    match begun(&at, &form).await {
        Ok(options) => {
            let content = NewPasskeyContent {
                root: at.root,
                form: frame.form.clone(),
                name: form.needed("name")?.to_owned(),
                options,
            };
            shown(frame, "Create a passkey", &content)
        }
        Err(problem) => again(&at, frame, &form, problem).await,
    }
}

async fn begun(at: &AtSeat, form: &Form) -> Handled<String> {
    let password = SecretString::from(form.verbatim("password")?);
    let (accounts, whence) = (at.door.accounts()?, at.door.whence());
    let options = accounts.begin_passkey(&at.person, password, &whence);
    Ok(serde_json::to_string(&options.await?).map_err(Error::internal)?)
}

/// Adds the passkey that was created.
pub async fn add(at: AtSeat, frame: Frame, form: Form) -> Handled {
    match added(&at, &form).await {
        Ok(()) => led(&at),
        Err(problem) => again(&at, frame, &form, problem).await,
    }
}

async fn added(at: &AtSeat, form: &Form) -> Handled<()> {
    let (name, answer) = (form.needed("name")?, answer(form)?);
    let accounts = at.door.accounts()?;
    Ok(accounts.add_passkey(&at.person, name, &answer).await?)
}

/// Gives a passkey another name.
pub async fn rename(at: AtSeat, frame: Frame, Path(id): Path<String>, form: Form) -> Handled {
    let (accounts, name) = (at.door.accounts()?, form.one("name").unwrap_or_default());
    match accounts.rename_passkey(&at.person, &id, name).await {
        Ok(()) => led(&at),
        Err(error) => again(&at, frame, &Form::default(), error.into()).await,
    }
}

/// Removes a passkey.
pub async fn remove(at: AtSeat, Path(id): Path<String>) -> Handled {
    let accounts = at.door.accounts()?;
    accounts.remove_passkey(&at.person, &id).await?;
    led(&at)
}

async fn content(at: &AtSeat, frame: &Frame) -> Handled<AccountContent> {
    let accounts = at.door.accounts()?;
    let passkeys = accounts.passkeys(&at.person).await?;
    Ok(AccountContent {
        root: at.root,
        form: frame.form.clone(),
        email: at.person.email.clone(),
        has_passkeys: accounts.has_passkeys(),
        has_app: has_app(at).await?,
        passkeys: passkeys.into_iter().map(listed).collect(),
        name: String::new(),
        problem: None,
    })
}

/// Whether the account has an authenticator app; `None` where sign-ins ask for none.
async fn has_app(at: &AtSeat) -> Handled<Option<bool>> {
    match at.door.authenticators() {
        Some(apps) => Ok(Some(apps.has(&account_id(&at.person.email)).await?)),
        None => Ok(None),
    }
}

pub(crate) fn listed(passkey: PasskeyView) -> ListedPasskey {
    ListedPasskey {
        id: passkey.id,
        name: passkey.name,
        added: passkey.added.rfc3339(),
        used: passkey.used.map(|used| used.rfc3339()),
        is_copied: passkey.is_copied,
    }
}

/// The page shown again with what the person can correct; any other problem is returned.
pub(crate) async fn again(at: &AtSeat, frame: Frame, form: &Form, problem: Problem) -> Handled {
    let told = correctable(problem)?;
    let content = AccountContent {
        name: form.one("name").unwrap_or_default().to_owned(),
        problem: Some(told.text),
        ..content(at, &frame).await?
    };
    shown_again(frame, ACCOUNT, &content, told.status)
}

/// What a person can correct, as sentences.
pub(crate) struct Correctable {
    pub status: StatusCode,
    pub text: String,
}

/// What the person can correct; any other problem is returned.
pub(crate) fn correctable(problem: Problem) -> Handled<Correctable> {
    let status = problem.status();
    let text = match status {
        StatusCode::UNAUTHORIZED => "Wrong password.".to_owned(),
        StatusCode::BAD_REQUEST | StatusCode::CONFLICT => sentences(&problem),
        _ => return Err(problem),
    };
    Ok(Correctable { status, text })
}

/// What is wrong and what can be done, as sentences.
fn sentences(problem: &Problem) -> String {
    let told = problem.told();
    let parts = [Some(told.text), told.hint].into_iter().flatten();
    let sentence = |text: String| {
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    };
    parts.map(sentence).collect::<Vec<_>>().join(" ")
}

pub(crate) fn shown(frame: Frame, title: &str, content: &impl Template) -> Handled {
    Ok(framed(frame, title, content, false)?.into_response())
}

/// The page with what the person can correct.
pub(crate) fn shown_again(
    frame: Frame,
    title: &str,
    content: &impl Template,
    status: StatusCode,
) -> Handled {
    let page = framed(frame, title, content, true)?;
    Ok((status, page).into_response())
}

fn framed(
    frame: Frame,
    title: &str,
    content: &impl Template,
    is_failed: bool,
) -> Handled<Html<String>> {
    let content = Content {
        title: title.to_owned(),
        is_failed,
        main: render(content)?,
    };
    let page = ContentPage::of(frame, content);
    Ok(Html(selfsame_pages::render(&page)?))
}

/// Leads to the page of the account.
pub(crate) fn led(at: &AtSeat) -> Handled {
    Ok(Redirect::to(&format!("{}/account", at.root)).into_response())
}
