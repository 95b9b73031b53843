//! Creating a wallet, signing in, and signing out.

use axum::extract::{Extension, RawQuery, State};
use axum::response::IntoResponse as _;
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_catalogue::{Language, sentence};
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_pages::wallet::sign_in::SignInPage;
use selfsame_wallet::config::Registration;
use selfsame_wallet::view::NewSession;
use selfsame_wallet::{KNOWN_SECONDS, Whence};
use serde::Deserialize;

use crate::auth;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Query};
use crate::peer::Peer;
use crate::server::Server;
use crate::ui::{self, Frame};
use selfsame_http::cookie::{self, Jar};

/// The token of an invitation link.
#[derive(Deserialize)]
pub struct InvitationLink {
    #[serde(default)]
    token: String,
}

/// The page with both forms.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    RawQuery(query): RawQuery,
) -> Handled {
    ui::html(&SignInPage {
        next: auth::next(query.as_deref()),
        ..empty(&server, frame.titled("Your wallet"))
    })
}

/// The page for a person who was invited.
pub async fn invited(
    State(server): State<Server>,
    frame: Frame,
    Query(link): Query<InvitationLink>,
) -> Handled {
    ui::html(&SignInPage {
        registering: true,
        invitation: link.token,
        ..empty(&server, frame.titled("Your wallet"))
    })
}

/// Signs in to a wallet.
pub async fn sign_in(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    frame: Frame,
    headers: HeaderMap,
    form: Form,
) -> Handled {
    let (email, password) = credentials(&form)?;
    let devices = cookie::read(&headers, &server.cookies().known);
    let whence = Whence::of(peer.address(), devices.as_deref());
    match server
        .wallet()?
        .accounts()
        .sign_in(email, password, &whence)
        .await
    {
        Ok(session) => opened(&server, &headers, session, &form).await,
        Err(error) => again(&server, frame, &form, error, false),
    }
}

/// Creates a wallet and signs in to it.
pub async fn register(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    frame: Frame,
    headers: HeaderMap,
    form: Form,
) -> Handled {
    let (email, password) = credentials(&form)?;
    server.count_registration(peer)?;
    let accounts = server.wallet()?.accounts();
    let made = accounts.register_invited(email, password, form.one("invitation"));
    match made.await {
        Ok(session) => opened(&server, &headers, session, &form).await,
        Err(error) => again(&server, frame, &form, error, true),
    }
}

/// Signs out.
pub async fn sign_out(State(server): State<Server>, headers: HeaderMap) -> Handled {
    let name = &server.cookies().person;
    if let Some(session) = cookie::read(&headers, name) {
        server.wallet()?.accounts().sign_out(&session).await?;
    }
    let mut response = auth::back_to(None, "/");
    if let Some(gone) = Jar::lax(name).gone(server.origin()) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    Ok(response)
}

/// The page with empty forms.
fn empty(server: &Server, frame: Frame) -> SignInPage {
    SignInPage::of(frame, server.app().config().wallet.registration)
}

fn credentials(form: &Form) -> Result<(&str, SecretString), Problem> {
    Ok((
        form.needed("email")?,
        SecretString::from(form.verbatim("password")?),
    ))
}

/// The session cookie is `Lax`, so that a person who follows a scanned link from another site is signed in.
///
/// The browser's former session ends. The browser is now known, and others' wrong passwords do not slow it down.
async fn opened(server: &Server, headers: &HeaderMap, session: NewSession, form: &Form) -> Handled {
    let accounts = server.wallet()?.accounts();
    let name = &server.cookies().person;
    if let Some(former) = cookie::read(headers, name) {
        accounts.sign_out(&former).await?;
    }
    let cookie = Jar::lax(name)
        .value(&session.token, server.origin())
        .ok_or_else(|| Problem::from(Error::internal("a session that does not fit in a cookie")))?;
    let known = known_device(server, headers, form.needed("email")?).await?;
    let mut response = auth::back_to(form.one("next"), super::HOME);
    for cookie in [cookie].into_iter().chain(known) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The cookie by which this browser is recognised when the person signs in with this address again.
async fn known_device(
    server: &Server,
    headers: &HeaderMap,
    email: &str,
) -> Handled<Option<HeaderValue>> {
    let name = &server.cookies().known;
    let before = cookie::read(headers, name);
    let accounts = server.wallet()?.accounts();
    let devices = accounts.know_device(email, before.as_deref()).await?;
    let jar = Jar::lax(name).of_page("/", KNOWN_SECONDS);
    Ok(jar.value(&devices, server.origin()))
}

/// Shows an error that the person can correct beside the form; returns any other error as a problem.
fn again(server: &Server, frame: Frame, form: &Form, error: Error, registering: bool) -> Handled {
    let status = match error.kind {
        ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        _ => return Err(error.into()),
    };
    let told = sentence(Language::English, &error.reason);
    let problem = match (error.kind, told.hint) {
        // The error's hint says where wallets are created, which is this page.
        (ErrorKind::Unauthenticated, _) => match server.app().config().wallet.registration {
            Registration::Open => {
                format!("{}. No wallet yet? Create one below", told.text)
            }
            Registration::Invite | Registration::Closed => told.text,
        },
        (_, Some(hint)) => format!("{}; {hint}", told.text),
        (_, None) => told.text,
    };
    let page = ui::html(&SignInPage {
        next: form.one("next").unwrap_or_default().to_owned(),
        email: form.one("email").unwrap_or_default().to_owned(),
        problem: Some(problem),
        registering,
        invitation: form.one("invitation").unwrap_or_default().to_owned(),
        ..empty(server, frame.failed("Your wallet"))
    })?;
    Ok((status, page).into_response())
}
