//! The operator's sign-in, by token or by the printed link, and sign-out.

use axum::extract::{RawQuery, State};
use axum::response::IntoResponse;
use http::header::{REFERRER_POLICY, REFRESH, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_crypto::SecretString;
use selfsame_http::form;
use selfsame_pages::operator::{OperatorPage, SignedInPage};
use selfsame_wallet::config::Registration;
use serde::Deserialize;

use super::Frame;
use crate::audited;
use crate::auth;
use crate::cookie::{self, Jar};
use crate::error::Handled;
use crate::extract::{Form, Query};
use crate::server::Server;

/// A sign-in link's code.
#[derive(Deserialize)]
pub struct SignInCode {
    #[serde(default)]
    code: String,
}

/// The page that asks for the token; if the operator is signed in, it offers to sign out.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Handled {
    let next = auth::next(query.as_deref());
    if let Some(session) = session(&server, &headers).await? {
        return match next.as_str() {
            "" => {
                let token = Some(form::token(&session));
                let invitation = None;
                signed_in(&server, frame, Forms { token, invitation })
            }
            next => Ok(auth::back_to(Some(next), "/operator")),
        };
    }
    super::html(&OperatorPage {
        frame: frame.titled("Operator"),
        next,
        problem: None,
    })
}

/// Takes the token from the form.
pub async fn sign_in(
    State(server): State<Server>,
    frame: Frame,
    headers: HeaderMap,
    form: Form,
) -> Handled {
    let next = form.one("next").unwrap_or_default().to_owned();
    let session = server.app().operator().sign_in(form.needed("token")?).await;
    match open(&server, &headers, session).await {
        Ok(cookie) => {
            let mut response = auth::back_to(Some(&next), frame.home());
            response.headers_mut().append(SET_COOKIE, cookie);
            Ok(response)
        }
        Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
            let page = super::html(&OperatorPage {
                frame: frame.failed("Operator"),
                next,
                problem: Some(problem.told().text),
            })?;
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
        Err(problem) => Err(problem),
    }
}

/// Takes the code from the printed link, which then no longer works, and leads on.
///
/// It uses a page of ours instead of a redirect: a browser that comes from another site would follow a redirect
/// without the new cookie, which is strict.
pub async fn sign_in_by_link(
    State(server): State<Server>,
    frame: Frame,
    headers: HeaderMap,
    Query(SignInCode { code }): Query<SignInCode>,
) -> Handled {
    if code.is_empty() {
        return Ok(auth::back_to(None, "/operator"));
    }
    let session = server.app().operator().sign_in_by_link(&code).await;
    let cookie = open(&server, &headers, session)
        .await
        .map_err(|problem| problem.go_on("/operator", "Sign in another way"))?;
    let on = HeaderValue::from_str(&format!("0; url={}", frame.home()));
    let mut response = signed_in(&server, frame, Forms::default())?;
    let headers = response.headers_mut();
    headers.append(SET_COOKIE, cookie);
    headers.insert(REFRESH, on.map_err(selfsame_driver::Error::internal)?);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// Makes an invitation, and shows its link.
pub async fn invite(State(server): State<Server>, frame: Frame) -> Handled {
    let made = server.wallet()?.accounts().invite().await?;
    let forms = Forms {
        token: Some(frame.form.clone()),
        invitation: Some(made.link),
    };
    signed_in(&server, frame, forms)
}

/// The content of the signed-in operator's page.
#[derive(Default)]
struct Forms {
    token: Option<String>,
    invitation: Option<String>,
}

fn signed_in(server: &Server, frame: Frame, forms: Forms) -> Handled {
    let config = server.app().config();
    super::html(&SignedInPage {
        frame: frame.titled("Operator"),
        invites: config.roles.wallet && config.wallet.registration == Registration::Invite,
        token: forms.token,
        invitation: forms.invitation,
    })
}

/// Ends the session.
pub async fn sign_out(State(server): State<Server>, headers: HeaderMap) -> Handled {
    let name = server.cookies().operator();
    if let Some(session) = cookie::read(&headers, name) {
        auth::end_session(&server, &session).await?;
    }
    let mut response = auth::back_to(None, "/");
    if let Some(gone) = Jar::strict(name).gone(server.origin()) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    Ok(response)
}

/// The browser's session, if it is valid.
async fn session(server: &Server, headers: &HeaderMap) -> Handled<Option<String>> {
    let Some(session) = cookie::read(headers, server.cookies().operator()) else {
        return Ok(None);
    };
    let authority = auth::operator_of(server, &session).await?;
    Ok(Some(session).filter(|_| authority.is_some()))
}

/// Replaces the browser's session by a new one; returns the cookie.
async fn open(
    server: &Server,
    headers: &HeaderMap,
    session: selfsame_driver::Result<SecretString>,
) -> Handled<HeaderValue> {
    let session = session?;
    audited::signed_in();
    let name = server.cookies().operator();
    if let Some(former) = cookie::read(headers, name) {
        auth::end_session(server, &former).await?;
    }
    Jar::strict(name)
        .value(session.expose(), server.origin())
        .ok_or_else(|| {
            selfsame_driver::Error::internal("a session that does not fit in a cookie").into()
        })
}
