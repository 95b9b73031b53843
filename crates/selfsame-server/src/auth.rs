//! Authentication: the operator or a person, by bearer token or session cookie; and protection against forged
//! requests.
//!
//! A request that is authenticated by a cookie and changes something must also carry the session's form token.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{AUTHORIZATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Reason;
use selfsame_endpoints::called::{self, Called};
use selfsame_http::extract::bearer;
use selfsame_http::form;
use selfsame_http::negotiation::follows;
pub use selfsame_http::redirect::{back_to, next};
use selfsame_operators::{Area, Authority, Needed};
use selfsame_wallet::view::Person;

use crate::audited::Audited;
use crate::error::{Handled, Problem};
use crate::server::Server;
use selfsame_http::cookie::{self, Jar};

/// Whom the request speaks for. The gate of the route group places it in the request's extensions.
#[derive(Clone)]
pub enum Seat {
    /// Someone who works for an organisation of this instance.
    Operator {
        /// Who, with which rights.
        authority: Arc<Authority>,
        /// The browser's session; `None` for a bearer token.
        session: Option<String>,
        /// The form token; empty for a bearer token.
        form: String,
    },
    /// A person with a wallet.
    Person {
        /// The person.
        person: Person,
        /// Their session, so that it can be ended.
        session: String,
        /// The form token; empty for a bearer token.
        form: String,
    },
    /// A visitor who has not signed in yet.
    Visitor {
        /// The form token.
        form: String,
    },
}

impl Seat {
    /// The form token of this session.
    pub fn form(&self) -> &str {
        match self {
            Self::Operator { form, .. } | Self::Person { form, .. } | Self::Visitor { form } => {
                form
            }
        }
    }

    /// Whether the operator's session is still valid, for work that continues after its request.
    pub async fn holds(&self, server: &Server) -> bool {
        match self {
            Self::Operator {
                session: Some(session),
                ..
            } => is_signed_in(server, session).await,
            _ => true,
        }
    }

    /// Who acts, if it is someone who works for an organisation.
    pub fn authority(&self) -> Option<&Arc<Authority>> {
        match self {
            Self::Operator { authority, .. } => Some(authority),
            Self::Person { .. } | Self::Visitor { .. } => None,
        }
    }
}

/// What authenticated a request.
enum Credentials {
    Bearer(String),
    Cookie(String),
}

/// What the cookies of people who work for an organisation begin with. The other sessions were opened by the operator
/// token.
const PERSON: &str = "p.";

/// The cookie of a person's session as an operator.
pub fn person_session(token: &str) -> String {
    format!("{PERSON}{token}")
}

/// The token of a person's session in such a cookie; `None` for one that the operator token opened.
pub fn persons_token(session: &str) -> Option<&str> {
    session.strip_prefix(PERSON)
}

/// Who has this session as an operator; `None` if it has ended.
pub async fn operator_of(server: &Server, session: &str) -> Handled<Option<Authority>> {
    let app = server.app();
    Ok(match persons_token(session) {
        Some(token) => app.operators().of_session(token).await?,
        None if app.operator().is_session(session).await? => Some(Authority::token()),
        None => None,
    })
}

/// Ends a session as an operator.
pub async fn end_session(server: &Server, session: &str) -> Handled<()> {
    let app = server.app();
    match persons_token(session) {
        Some(token) => app.operators().sign_out(token).await?,
        None => app.operator().sign_out(session).await?,
    }
    Ok(())
}

/// Who sends this bearer token: the holder of the operator token, or a program with an API key.
async fn bearer_of(server: &Server, token: &str) -> Handled<Option<Authority>> {
    let app = server.app();
    match app.operator().is_token(token) {
        true => Ok(Some(Authority::token())),
        false => Ok(app.operators().of_key(token).await?),
    }
}

async fn is_signed_in(server: &Server, session: &str) -> bool {
    operator_of(server, session)
        .await
        .is_ok_and(|authority| authority.is_some())
}

/// The operator, person or API key that these credentials belong to; `None` if they are unknown or absent.
async fn authority_of(
    server: &Server,
    credentials: Option<&Credentials>,
) -> Handled<Option<Authority>> {
    match credentials {
        Some(Credentials::Bearer(token)) => bearer_of(server, token).await,
        Some(Credentials::Cookie(session)) => operator_of(server, session).await,
        None => Ok(None),
    }
}

/// Lets only those in who work for an organisation and have in it what is needed.
pub async fn operator(
    server: &Server,
    needed: Option<Needed>,
    request: Request,
    next: Next,
) -> Handled {
    let credentials = credentials(request.headers(), &server.cookies().operator);
    let authority = authority_of(server, credentials.as_ref()).await?;
    let (Some(credentials), Some(authority)) = (credentials.as_ref(), authority) else {
        let reason = match credentials {
            Some(Credentials::Bearer(_)) => Reason::new("operator-token-refused"),
            _ => Reason::new("operator-token-needed"),
        };
        return sign_in_first(&request, "/operator", reason);
    };
    let authority = Arc::new(authority);
    let organisation = called::organisation(request.extensions());
    let act = Audited::of(server, &authority, &request);
    if let Some(Err(missing)) = needed.map(|needed| authority.meets(&organisation, needed)) {
        let refusal = Problem::from(missing);
        if let Some(act) = act {
            act.refused(&refusal).await;
        }
        return Err(refusal);
    }
    let (session, form) = match credentials {
        Credentials::Bearer(_) => (None, String::new()),
        Credentials::Cookie(session) => (Some(session.clone()), form::token(session)),
    };
    let seat = Seat::Operator {
        authority,
        session,
        form,
    };
    let proceeding = proceed(credentials, seat, request, next);
    match act {
        Some(act) => act.audited(proceeding).await,
        None => proceeding.await,
    }
}

/// Whether someone asks who may write to the registry, by token or by a browser's session. Use only for requests that
/// change nothing.
pub async fn is_operator(server: &Server, headers: &HeaderMap) -> Handled<bool> {
    let credentials = credentials(headers, &server.cookies().operator);
    let authority = authority_of(server, credentials.as_ref()).await?;
    let main = OrganisationName::main();
    Ok(authority.is_some_and(|authority| authority.may(&main, Area::Registry.write())))
}

/// Lets only people with an account in.
pub async fn person(server: &Server, request: Request, next: Next) -> Handled {
    let Some(credentials) = credentials(request.headers(), &server.cookies().person) else {
        return wallet_first(&request);
    };
    let (session, form) = match &credentials {
        Credentials::Bearer(token) => (token.clone(), String::new()),
        Credentials::Cookie(session) => (session.clone(), form::token(session)),
    };
    match server.wallet()?.accounts().person(&session).await {
        Ok(person) => {
            proceed(
                &credentials,
                Seat::Person {
                    person,
                    session,
                    form,
                },
                request,
                next,
            )
            .await
        }
        Err(error) if error.kind == selfsame_driver::ErrorKind::Unauthenticated => {
            wallet_first(&request)
        }
        Err(error) => Err(error.into()),
    }
}

/// Lets anyone in, but binds the sign-in forms to the browser that they were shown in.
pub async fn visitor(server: &Server, request: Request, next: Next) -> Handled {
    let name = &server.cookies().visitor;
    let known = cookie::read(request.headers(), name);
    let secret = known.clone().unwrap_or_else(form::fresh_secret);
    let form = form::token(&secret);
    let request = match known {
        Some(_) => form::checked(request, &form).await?,
        None if writes(&request) => return Err(form::out_of_date()),
        None => request,
    };
    let mut response = run(Seat::Visitor { form }, request, next).await;
    // Browsers omit a strict cookie when another site leads here, and a fresh one would invalidate open forms. Posts
    // from other sites carry neither kind.
    if let Some(cookie) = Jar::lax(name).value(&secret, server.origin()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The session of a signed-in browser on a page that needs none; the page's header shows it.
pub async fn signed_in(server: &Server, parts: &Parts) -> (Option<Authority>, Option<Person>) {
    let operator = match cookie::read(&parts.headers, &server.cookies().operator) {
        Some(session) => operator_of(server, &session).await.ok().flatten(),
        None => None,
    };
    let person = match cookie::read(&parts.headers, &server.cookies().person) {
        Some(session) => person_of(server, &session).await,
        None => None,
    };
    (operator, person)
}

async fn person_of(server: &Server, session: &str) -> Option<Person> {
    server.wallet().ok()?.accounts().person(session).await.ok()
}

async fn proceed(credentials: &Credentials, seat: Seat, request: Request, next: Next) -> Handled {
    let request = match credentials {
        Credentials::Bearer(_) => request,
        Credentials::Cookie(_) => form::checked(request, seat.form()).await?,
    };
    Ok(run(seat, request, next).await)
}

async fn run(seat: Seat, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(seat);
    next.run(request).await
}

/// A bearer token, else the cookie. A request with an Authorization header never falls back to a cookie.
fn credentials(headers: &HeaderMap, cookie: &str) -> Option<Credentials> {
    if let Some(authorization) = headers.get(AUTHORIZATION) {
        return Some(Credentials::Bearer(bearer(authorization)?.to_owned()));
    }
    cookie::read(headers, cookie).map(Credentials::Cookie)
}

fn wallet_first(request: &Request) -> Handled {
    let reason = Reason::new("wallet-sign-in-needed");
    sign_in_first(request, "/wallet/sign-in", reason)
}

/// Programs get an error; browsers that read a page are sent to the sign-in page and back.
fn sign_in_first(request: &Request, door: &'static str, reason: Reason) -> Handled {
    let path = request.uri().path();
    // An event stream that is redirected to a page fails without a reason.
    if path.starts_with("/api/") || writes(request) || follows(request.headers()) {
        return Err(Problem::of(StatusCode::UNAUTHORIZED, reason).go_on(door, "Sign in"));
    }
    let called = Called::of(request.extensions());
    let path = called.map_or_else(|| path.to_owned(), |called| called.path(path));
    let path = url::form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>();
    // The query stays as it is: escaped again, a long link would exceed what servers accept.
    let query = request.uri().query().map(|query| format!("&{query}"));
    let there = format!("{door}?next={path}{}", query.unwrap_or_default());
    Ok(Redirect::to(&there).into_response())
}

fn writes(request: &Request) -> bool {
    !matches!(*request.method(), Method::GET | Method::HEAD)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn an_authorization_header_never_falls_back_to_the_cookie() {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::COOKIE, HeaderValue::from_static("c=session"));
        assert!(
            matches!(credentials(&headers, "c"), Some(Credentials::Cookie(session)) if session == "session")
        );
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic abc"));
        assert!(credentials(&headers, "c").is_none());
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer abc"));
        assert!(
            matches!(credentials(&headers, "c"), Some(Credentials::Bearer(token)) if token == "abc")
        );
    }
}
