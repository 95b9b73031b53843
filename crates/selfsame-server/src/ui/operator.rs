//! The operator's door: sign in by token or by the printed link, sign out.

use askama::Template;
use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{REFERRER_POLICY, SET_COOKIE};
use serde::Deserialize;

use super::Frame;
use crate::auth;
use crate::auth::cookie::{self, Jar};
use crate::error::{Answer, Problem};
use crate::extract::{Form, Query};
use crate::server::Server;

/// Where a sign-in leads when nothing else was asked for.
const HOME: &str = "/issuer";

#[derive(Template)]
#[template(path = "operator.html")]
struct Page {
    frame: Frame,
    next: String,
    problem: Option<String>,
}

/// Where to go on after signing in.
#[derive(Deserialize)]
pub struct Next {
    #[serde(default)]
    next: String,
}

/// A sign-in link's token.
#[derive(Deserialize)]
pub struct Link {
    #[serde(default)]
    token: String,
}

/// The page that asks for the token.
pub async fn page(frame: Frame, Query(Next { next }): Query<Next>) -> Answer {
    super::html(&Page {
        frame: frame.titled("Operator"),
        next,
        problem: None,
    })
}

/// Takes the token from the form.
pub async fn sign_in(State(server): State<Server>, frame: Frame, form: Form) -> Answer {
    let next = form.one("next").unwrap_or_default().to_owned();
    match open(&server, form.needed("token")?, &next).await {
        Ok(response) => Ok(response),
        Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
            let problem = Some(problem.reason().to_owned());
            let page = super::html(&Page {
                frame: frame.titled("Operator"),
                next,
                problem,
            })?;
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
        Err(problem) => Err(problem),
    }
}

/// Takes the token from the link that was printed, and leads on at once, so that it stays in no address bar.
pub async fn sign_in_by_link(
    State(server): State<Server>,
    Query(Link { token }): Query<Link>,
) -> Answer {
    if token.is_empty() {
        return Ok(auth::back_to(None, "/operator"));
    }
    let mut response = open(&server, &token, HOME)
        .await
        .map_err(|problem| problem.go_on("/operator", "Sign in another way"))?;
    response.headers_mut().insert(
        REFERRER_POLICY,
        http::HeaderValue::from_static("no-referrer"),
    );
    Ok(response)
}

/// Ends the session.
pub async fn sign_out(State(server): State<Server>, headers: http::HeaderMap) -> Answer {
    let name = server.cookies().operator();
    if let Some(session) = cookie::read(&headers, name) {
        server.app().operator().sign_out(&session).await?;
    }
    let mut response = auth::back_to(None, "/");
    if let Some(gone) = Jar::strict(name).gone(server.origin()) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    Ok(response)
}

async fn open(server: &Server, token: &str, next: &str) -> Answer {
    let session = server.app().operator().sign_in(token).await?;
    let cookie = Jar::strict(server.cookies().operator())
        .value(session.expose(), server.origin())
        .ok_or_else(|| {
            Problem::from(selfsame_app::Error::internal(
                "a session that fits no cookie",
            ))
        })?;
    let mut response = auth::back_to(Some(next), HOME);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}
