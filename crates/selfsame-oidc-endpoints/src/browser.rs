//! Where browsers go: authorization, sign-out, and the steps of a sign-in as JSON, for pages and for tests.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Response};
use http::header::{ACCEPT, LOCATION, REFERRER_POLICY};
use http::{HeaderMap, StatusCode};
use selfsame_crypto::SecretString;
use selfsame_crypto::seal::random_seed;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Json, Path, Raw, is_kind};
use selfsame_http::response::{done, json};
use selfsame_oauth::Form;
use selfsame_oidc::{FactorKind, ResponseMode};
use selfsame_sign_in::WantedOtp;
use selfsame_sign_in::identity::{Challenge, OtpChannel, OtpSent, SignInAttempt};
use selfsame_sign_in::logout::{SignOut, SignedOut};
use selfsame_sign_in::view::{BegunSignIn, Landing, PersonsAgreement};
use serde::{Deserialize, Serialize};

use crate::form_post;
use crate::here::ProviderHere;

const FORM: &str = "application/x-www-form-urlencoded";

/// A one-time password that is asked for.
#[derive(Deserialize)]
pub struct OtpBody {
    /// The identifier that the person typed in.
    identifier: SecretString,
    /// Whether it is sent to an e-mail address.
    #[serde(default)]
    email: bool,
    /// Whether it is sent to a telephone.
    #[serde(default)]
    phone: bool,
}

/// Where a one-time password was sent.
#[derive(Serialize)]
pub struct OtpAnswer {
    masked_email: Option<String>,
    masked_phone: Option<String>,
}

/// A one-time password that is shown on the screen.
#[derive(Serialize)]
struct ShownCode<'a> {
    code: &'a str,
}

/// What a person gives to prove who they are.
#[derive(Deserialize)]
pub struct AttemptBody {
    /// The identifier that the person typed in; absent if a challenge tells who they are.
    #[serde(default = "nobody")]
    identifier: SecretString,
    /// The challenges.
    challenges: Vec<ChallengeBody>,
}

fn nobody() -> SecretString {
    SecretString::from("")
}

/// One challenge.
#[derive(Deserialize)]
pub struct ChallengeBody {
    factor: FactorKind,
    #[serde(default)]
    format: Option<String>,
    value: SecretString,
}

/// What a person agrees to.
#[derive(Deserialize)]
pub struct AgreementBody {
    #[serde(default)]
    claims: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
}

/// The end of a sign-in: what the browser does next.
#[derive(Serialize)]
pub struct LandingBody {
    redirect_uri: String,
    mode: ResponseMode,
    parameters: std::collections::BTreeMap<&'static str, String>,
}

/// Whether somebody is signed in.
#[derive(Serialize)]
struct SessionBody {
    #[serde(rename = "signed_in")]
    is_signed_in: bool,
}

/// A body without members. It has a media type that no form of another site can send.
#[derive(Deserialize)]
pub struct NoMembers {}

/// The authorization endpoint (RFC 6749 §3.1), by a link.
pub async fn authorize(
    here: ProviderHere,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Handled {
    begun(&here, query.unwrap_or_default().as_bytes(), &headers).await
}

/// The authorization endpoint, by a form (OpenID Connect Core §3.1.2.1).
pub async fn authorize_by_form(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    match is_kind(&headers, FORM) {
        true => begun(&here, &body, &headers).await,
        false => Err(Problem::bad_request("body-not-form")),
    }
}

async fn begun(here: &ProviderHere, parameters: &[u8], headers: &HeaderMap) -> Handled {
    here.provider.count_call(here.caller)?;
    let form = parsed(parameters)?;
    let mut browser = here.browser(headers);
    let drawn = browser.secret.is_none();
    let secret = browser.secret.get_or_insert_with(secret).clone();
    let response = match here.provider.begin(form, &browser).await? {
        BegunSignIn::Landed(landing) => landed(&landing),
        BegunSignIn::Asking(view) => found(&format!("{}sign-in/{}", here.root, view.id)),
    };
    match drawn {
        true => here.with_secret(response, &secret),
        false => Ok(response),
    }
}

fn parsed(parameters: &[u8]) -> Handled<Form> {
    Form::parse(parameters).map_err(|_| Problem::bad_request("parameters-malformed"))
}

fn secret() -> SecretString {
    selfsame_crypto::encoding::base64url_encode(&random_seed()).into()
}

/// A response that sends the browser on. It never repeats what was posted (RFC 9700 §4.12).
fn found(place: &str) -> Response {
    let about = [(LOCATION, place), (REFERRER_POLICY, "no-referrer")];
    (StatusCode::SEE_OTHER, about).into_response()
}

/// The response that gets to the client.
pub fn landed(landing: &Landing) -> Response {
    match landing.mode {
        ResponseMode::Query => found(&landing.address()),
        ResponseMode::FormPost => form_post::page(landing),
    }
}

/// A sign-in on its way. Browsers are led to its page.
pub async fn sign_in(here: ProviderHere, Path(id): Path<String>, headers: HeaderMap) -> Handled {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/html")) {
        let prefix = here.root.trim_end_matches("oidc/");
        return Ok(found(&format!("{prefix}sign-in/{id}")));
    }
    let mut view = here.provider.view(&here.visitor(id, &headers)).await?;
    if here.is_own_host {
        // Passkeys are of the instance's own origin.
        view.factors
            .retain(|all| !all.contains(&FactorKind::Passkey));
    }
    json(&view)
}

/// Has a one-time password sent.
pub async fn send_otp(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<OtpBody>,
) -> Handled {
    let channels = [
        (body.email, OtpChannel::Email),
        (body.phone, OtpChannel::Phone),
    ];
    let channels = channels.into_iter().filter(|(wanted, _)| *wanted);
    let wanted = WantedOtp {
        identifier: body.identifier,
        channels: channels.map(|(_, channel)| channel).collect(),
    };
    here.provider.count_call(here.caller)?;
    let visitor = here.visitor(id, &headers);
    let sent = here.provider.send_otp(&visitor, wanted).await?;
    let OtpSent {
        masked_email,
        masked_phone,
    } = sent;
    json(&OtpAnswer {
        masked_email,
        masked_phone,
    })
}

/// The one-time password that was sent last, where codes are shown on the screen for trying out.
pub async fn code_on_screen(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Handled {
    let visitor = here.visitor(id, &headers);
    match here.provider.code_on_screen(&visitor).await? {
        Some(code) => json(&ShownCode {
            code: code.expose(),
        }),
        None => Err(Problem::new(StatusCode::NOT_FOUND, "otp-not-on-screen")),
    }
}

/// Checks what a person gives to prove who they are.
pub async fn authenticate(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<AttemptBody>,
) -> Handled {
    let challenges = body.challenges.into_iter().map(|one| Challenge {
        factor: one.factor,
        format: one.format,
        value: one.value,
    });
    let attempt = SignInAttempt {
        identifier: body.identifier,
        challenges: challenges.collect(),
    };
    here.provider.count_call(here.caller)?;
    let visitor = here.visitor(id, &headers);
    let signed_in = here.provider.authenticate(&visitor, attempt).await?;
    let response = json(&signed_in.sign_in)?;
    match signed_in.session {
        Some(token) => here.with_session(response, &token),
        None => Ok(response),
    }
}

/// Ends a sign-in with a code.
pub async fn agree(
    here: ProviderHere,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<AgreementBody>,
) -> Handled {
    let agreement = PersonsAgreement {
        claims: body.claims,
        scopes: body.scopes,
    };
    let visitor = here.visitor(id, &headers);
    shown(here.provider.agree(&visitor, &agreement).await?)
}

/// Ends a sign-in because the person declines.
pub async fn decline(here: ProviderHere, Path(id): Path<String>, headers: HeaderMap) -> Handled {
    shown(here.provider.decline(&here.visitor(id, &headers)).await?)
}

fn shown(landing: Landing) -> Handled {
    json(&LandingBody {
        redirect_uri: landing.redirect_uri,
        mode: landing.mode,
        parameters: landing.parameters.into_iter().collect(),
    })
}

/// The end session endpoint (OpenID Connect RP-Initiated Logout §2), by a link.
pub async fn logout(here: ProviderHere, RawQuery(query): RawQuery, headers: HeaderMap) -> Handled {
    signed_out(&here, query.unwrap_or_default().as_bytes(), &headers).await
}

/// The end session endpoint, by a form.
pub async fn logout_by_form(here: ProviderHere, headers: HeaderMap, Raw(body): Raw) -> Handled {
    match is_kind(&headers, FORM) {
        true => signed_out(&here, &body, &headers).await,
        false => Err(Problem::bad_request("body-not-form")),
    }
}

async fn signed_out(here: &ProviderHere, parameters: &[u8], headers: &HeaderMap) -> Handled {
    let asked = SignOut {
        form: parsed(parameters)?,
        session: here.browser(headers).session,
        is_confirmed: false,
    };
    let response = match here.provider.sign_out(asked).await? {
        SignedOut::AskFirst => return Ok(found(&format!("{}sign-out", here.root))),
        SignedOut::Done { redirect: Some(to) } => found(&to),
        SignedOut::Done { redirect: None } => found(&format!("{}sign-out", here.root)),
    };
    Ok(here.without_session(response))
}

/// Whether the browser has a session here.
pub async fn session(here: ProviderHere, headers: HeaderMap) -> Handled {
    let is_signed_in = match here.browser(&headers).session {
        Some(token) => here.provider.sessions(&token).await.is_ok(),
        None => false,
    };
    json(&SessionBody { is_signed_in })
}

/// Signs the person out who says so here.
pub async fn sign_out(here: ProviderHere, headers: HeaderMap, Json(_): Json<NoMembers>) -> Handled {
    let asked = SignOut {
        form: Form::default(),
        session: here.browser(&headers).session,
        is_confirmed: true,
    };
    here.provider.sign_out(asked).await?;
    Ok(here.without_session(done()?))
}
