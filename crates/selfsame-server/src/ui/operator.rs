//! The sign-in of those who work for an organisation: by password, by the operator token or by the printed link; and
//! sign-out.

pub mod invited;
mod session;

use axum::extract::{RawQuery, State};
use http::header::{REFERRER_POLICY, REFRESH, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use selfsame_crypto::SecretString;
use selfsame_endpoints::called::path_at;
use selfsame_http::form;
use selfsame_operators::Authority;
use selfsame_pages::operator::{
    OperatorPage, OrganisationLink, SignInRefused, SignedInPage, SignedInPerson,
};
use selfsame_wallet::config::Registration;
use serde::Deserialize;

use super::Frame;
use super::correction::{correctable, refused};
use crate::auth;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Query, Working};
use crate::server::Server;
use selfsame_http::cookie::{self, Jar};
pub use session::Browser;
use session::{SIGNED_IN, first_page};

/// A sign-in link's code.
#[derive(Deserialize)]
pub struct SignInCode {
    #[serde(default)]
    code: String,
}

/// The page that asks for a password or the operator token, or the next page for a person who is signed in.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    let next = auth::next(query.as_deref());
    if let Some((session, authority)) = session(&server, &headers).await? {
        return match next.as_str() {
            "" => {
                let token = Some(form::token(&session));
                let (person, home) = person(&server, &frame, &authority).await?;
                let page = SignedInPage {
                    token,
                    person,
                    home,
                    ..signed_in(&server, frame)
                };
                super::html(&page)
            }
            next => Ok(auth::back_to(Some(next), SIGNED_IN)),
        };
    }
    super::html(&OperatorPage::of(frame.titled("Operator"), next))
}

/// Takes a person's e-mail address and password, or the operator token.
pub async fn sign_in(browser: Browser, frame: Frame, form: Form) -> Handled {
    let is_token = form.all("email").is_empty();
    let outcome = match is_token {
        true => by_token(&browser, &form, frame.home()).await,
        false => by_password(&browser, &form).await,
    };
    match outcome {
        Ok(response) => Ok(response),
        Err(problem) => {
            let problem = browser.refused(form.one("email"), problem).await?;
            again(frame, &form, problem, is_token)
        }
    }
}

/// The page shown again, with what the person can correct.
fn again(frame: Frame, form: &Form, problem: Problem, is_token: bool) -> Handled {
    let (problem, text) = correctable(problem)?;
    let next = form.one("next").unwrap_or_default().to_owned();
    let page = OperatorPage {
        email: form.one("email").unwrap_or_default().to_owned(),
        refused: Some(SignInRefused {
            is_token,
            problem: text,
        }),
        ..OperatorPage::of(frame.failed("Operator"), next)
    };
    Ok(refused(&problem, super::html(&page)?))
}

async fn by_token(browser: &Browser, form: &Form, home: &str) -> Handled {
    let operator = browser.server.app().operator();
    let session = operator.sign_in(form.needed("token")?).await?;
    let cookie = browser.open_operators(&session).await?;
    let mut response = auth::back_to(form.one("next"), home);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

async fn by_password(browser: &Browser, form: &Form) -> Handled {
    let email = form.needed("email")?;
    let password = SecretString::from(form.verbatim("password")?);
    let accounts = browser.server.app().operators().accounts();
    let session = accounts.sign_in(email, password, &browser.whence()).await?;
    let next = form.one("next");
    browser.open_persons(&session, email, next).await
}

/// Takes the code from the printed link, which then no longer works, and leads on.
///
/// It uses a page of ours instead of a redirect: a browser that comes from another site would follow a redirect
/// without the new cookie, which is strict.
pub async fn sign_in_by_link(
    browser: Browser,
    frame: Frame,
    Query(SignInCode { code }): Query<SignInCode>,
) -> Handled {
    if code.is_empty() {
        return Ok(auth::back_to(None, "/operator"));
    }
    let cookie = by_link(&browser, &code).await?;
    let on = HeaderValue::from_str(&format!("0; url={}", frame.home()));
    let mut response = super::html(&signed_in(&browser.server, frame))?;
    let headers = response.headers_mut();
    headers.append(SET_COOKIE, cookie);
    headers.insert(REFRESH, on.map_err(selfsame_driver::Error::internal)?);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

async fn by_link(browser: &Browser, code: &str) -> Handled<HeaderValue> {
    match browser.server.app().operator().sign_in_by_link(code).await {
        Ok(session) => browser.open_operators(&session).await,
        Err(error) => {
            let problem = browser.refused(None, error.into()).await?;
            Err(problem.go_on("/operator", "Sign in another way"))
        }
    }
}

/// Makes an invitation to create a wallet, and shows its link.
pub async fn invite(State(server): State<Server>, work: Working, frame: Frame) -> Handled {
    let made = server.wallet()?.accounts().invite().await?;
    let (person, home) = person(&server, &frame, &work.authority).await?;
    super::html(&SignedInPage {
        token: Some(frame.form.clone()),
        invitation: Some(made.link),
        person,
        home,
        ..signed_in(&server, frame)
    })
}

/// The page for the holder of the operator token, whose session is about to begin.
fn signed_in(server: &Server, frame: Frame) -> SignedInPage {
    let config = server.app().config();
    SignedInPage {
        home: frame.home().to_owned(),
        frame: frame.titled("Operator"),
        invites: config.roles.wallet && config.wallet.registration == Registration::Invite,
        token: None,
        invitation: None,
        person: None,
    }
}

/// The person who is signed in, and the page to continue at.
async fn person(
    server: &Server,
    frame: &Frame,
    authority: &Authority,
) -> Handled<(Option<SignedInPerson>, String)> {
    let Some(email) = super::email(&authority.actor) else {
        return Ok((None, frame.home().to_owned()));
    };
    let mut organisations = Vec::new();
    for name in authority.organisations() {
        organisations.push(OrganisationLink {
            title: super::title(server, name).await?,
            href: path_at(name, "/organisation"),
        });
    }
    let person = SignedInPerson {
        email,
        organisations,
    };
    // Who works for several chooses one.
    let home = first_page(authority, frame.roles).unwrap_or_default();
    Ok((Some(person), home))
}

/// Ends the session.
pub async fn sign_out(browser: Browser, work: Working, headers: HeaderMap) -> Handled {
    let server = &browser.server;
    let name = &server.cookies().operator;
    if let Some(session) = cookie::read(&headers, name) {
        auth::end_session(server, &session).await?;
        let act = browser.act();
        server.app().seat_taken(&work.authority, act).await?;
    }
    let mut response = auth::back_to(None, "/");
    if let Some(gone) = Jar::strict(name).gone(server.origin()) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    Ok(response)
}

/// The browser's session and whose it is, if it is valid.
async fn session(server: &Server, headers: &HeaderMap) -> Handled<Option<(String, Authority)>> {
    let Some(session) = cookie::read(headers, &server.cookies().operator) else {
        return Ok(None);
    };
    let authority = auth::operator_of(server, &session).await?;
    Ok(authority.map(|authority| (session, authority)))
}
