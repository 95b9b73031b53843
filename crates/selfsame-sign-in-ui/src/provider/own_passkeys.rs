//! The passkeys of a person with a session at the provider and an account at this instance: listed, added, named, removed.

use http::StatusCode;
use selfsame_accounts::{Accounts, Person};
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::Form;
use selfsame_sign_in::view::SessionAccount;
use selfsame_sign_in_pages::kept::{CreatePasskeyPage, PasskeysPage};

use super::call::{SignInCall, led, shown};
use super::kept::{root, session};
use crate::account::listed;
use crate::door::AtDoor;
use crate::passkeys::answer;

/// A person at their own account.
struct OwnAccount<'a> {
    accounts: &'a Accounts,
    person: Person,
}

/// The passkeys, and the form to add one.
pub async fn passkeys(call: SignInCall, at: AtDoor) -> Handled {
    let own = own(&call, &at).await?;
    shown(&page(&call, &own).await?)
}

/// Takes the password and the name of a new passkey, and shows the page on which the browser creates it.
pub async fn begin_passkey(call: SignInCall, at: AtDoor, form: Form) -> Handled {
    let own = own(&call, &at).await?;
    if call.here.is_own_host {
        return Err(Problem::bad_request("factor-unsupported"));
    }
    let password = SecretString::from(form.verbatim("password")?);
    let whence = at.door.whence();
    let begun = own.accounts.begin_passkey(&own.person, password, &whence);
    match begun.await {
        Ok(options) => shown(&CreatePasskeyPage {
            frame: call.frame(call.language(&[]), String::new()),
            root: root(&call),
            name: form.needed("name")?.to_owned(),
            options: serde_json::to_string(&options).map_err(Error::internal)?,
        }),
        Err(error) => again(&call, &own, &form, error).await,
    }
}

/// Adds the passkey that was created.
pub async fn add_passkey(call: SignInCall, at: AtDoor, form: Form) -> Handled {
    let own = own(&call, &at).await?;
    let name = form.needed("name")?;
    let answer = answer(&form)?;
    let added = own.accounts.add_passkey(&own.person, name, &answer);
    match added.await {
        Ok(()) => led(&address(&call)),
        Err(error) => again(&call, &own, &form, error).await,
    }
}

/// Gives a passkey another name.
pub async fn rename_passkey(call: SignInCall, at: AtDoor, form: Form) -> Handled {
    let own = own(&call, &at).await?;
    let name = form.one("name").unwrap_or_default();
    let renamed = own.accounts.rename_passkey(&own.person, &call.id, name);
    match renamed.await {
        Ok(()) => led(&address(&call)),
        Err(error) => again(&call, &own, &Form::default(), error).await,
    }
}

/// Removes a passkey.
pub async fn remove_passkey(call: SignInCall, at: AtDoor) -> Handled {
    let own = own(&call, &at).await?;
    own.accounts.remove_passkey(&own.person, &call.id).await?;
    led(&address(&call))
}

/// The account of the person of the browser's session, if it is still theirs.
async fn own<'a>(call: &SignInCall, at: &'a AtDoor) -> Handled<OwnAccount<'a>> {
    let account = call.here.provider.own_account(&session(call)?).await?;
    let account = account.ok_or_else(|| Error::not_found("account-elsewhere"))?;
    let SessionAccount {
        email,
        handle,
        session,
    } = account;
    let accounts = at.door.accounts()?;
    let tenant = accounts.tenant_of(&email).await?;
    let tenant = tenant.filter(|tenant| tenant.as_str() == handle);
    let tenant = tenant.ok_or(Error::new(ErrorKind::Unauthenticated, "session-over"))?;
    Ok(OwnAccount {
        accounts,
        person: Person {
            tenant,
            email,
            session,
        },
    })
}

async fn page(call: &SignInCall, own: &OwnAccount<'_>) -> Handled<PasskeysPage> {
    let passkeys = own.accounts.passkeys(&own.person).await?;
    Ok(PasskeysPage {
        frame: call.frame(call.language(&[]), address(call)),
        root: root(call),
        account: own.person.email.clone(),
        passkeys: passkeys.into_iter().map(listed).collect(),
        can_add: own.accounts.has_passkeys() && !call.here.is_own_host,
        name: String::new(),
        problem: None,
    })
}

/// The page shown again with what the person can correct; any other error is returned.
async fn again(call: &SignInCall, own: &OwnAccount<'_>, form: &Form, error: Error) -> Handled {
    let page = page(call, own).await?;
    let (status, told) = match error.kind {
        ErrorKind::Unauthenticated => (StatusCode::UNAUTHORIZED, "wrong-challenge"),
        ErrorKind::BadRequest => (StatusCode::BAD_REQUEST, "wrong-new-passkey"),
        ErrorKind::Conflict => (StatusCode::CONFLICT, "wrong-new-passkey"),
        _ => return Err(error.into()),
    };
    let page = PasskeysPage {
        name: form.one("name").unwrap_or_default().to_owned(),
        problem: Some(page.frame.say(told)),
        ..page
    };
    let mut page = shown(&page)?;
    *page.status_mut() = status;
    Ok(page)
}

fn address(call: &SignInCall) -> String {
    format!("{}/passkeys", root(call))
}
