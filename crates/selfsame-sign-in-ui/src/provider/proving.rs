//! What a person types in to prove who they are.

use axum::response::Response;
use http::StatusCode;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::Handled;
use selfsame_http::extract::Form;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::WantedOtp;
use selfsame_sign_in::identity::{Challenge, OtpChannel, SignInAttempt};
use selfsame_sign_in::view::{SignInView, SignedInView};
use selfsame_sign_in_pages::Saying;
use selfsame_sign_in_pages::code::{AwaitedCode, CodePage};

use super::call::{SignInCall, led, shown};
use super::refusal::{problem, refused, waits};
use super::ways::{PageWay, TypedEntry, asked};

/// What is known of the codes that identity systems send.
const CODE: AwaitedCode = AwaitedCode {
    length: 6,
    is_numeric: true,
    minutes: 3,
    attempts: None,
    wait: 0,
};

/// Has a code sent, and shows the page on which it is typed in.
pub async fn send_code(call: SignInCall, form: Form) -> Handled {
    let view = match call.here.provider.view(&call.visitor()).await {
        Ok(view) => view,
        Err(error) => return refused(&call, error),
    };
    let identifier = form.one("identifier").unwrap_or_default();
    let wanted = WantedOtp {
        identifier: SecretString::from(identifier.to_owned()),
        channels: vec![channel(&form)],
    };
    match call.here.provider.send_otp(&call.visitor(), wanted).await {
        Ok(sent) => {
            let places = [sent.masked_phone, sent.masked_email];
            let places = places.into_iter().flatten().collect();
            shown(&code_page(&call, &view, &form, places).await?)
        }
        Err(error) => again(&call, &view, &form, error).await,
    }
}

fn channel(form: &Form) -> OtpChannel {
    match form.one("channel") {
        Some("email") => OtpChannel::Email,
        _ => OtpChannel::Phone,
    }
}

/// Checks what was typed in, and leads on.
pub async fn prove(call: SignInCall, form: Form) -> Handled {
    let view = match call.here.provider.view(&call.visitor()).await {
        Ok(view) => view,
        Err(error) => return refused(&call, error),
    };
    match call
        .here
        .provider
        .authenticate(&call.visitor(), attempt(&form))
        .await
    {
        Ok(signed_in) => proven(&call, signed_in),
        Err(error) => again(&call, &view, &form, error).await,
    }
}

/// Leads on a person who has proved who they are.
pub(super) fn proven(call: &SignInCall, signed_in: SignedInView) -> Handled {
    let response = led(&call.step(""))?;
    match signed_in.session {
        Some(token) => call.here.with_session(response, &token),
        None => Ok(response),
    }
}

/// The challenges in a form: one, or a password with the code of an app.
fn attempt(form: &Form) -> SignInAttempt {
    let fields = [
        ("password", FactorKind::Password),
        ("pin", FactorKind::Pin),
        ("code", typed_code(form)),
    ];
    let challenge = |(field, factor): &(&str, FactorKind)| {
        let value = form
            .verbatim(field)
            .ok()
            .filter(|value| !value.is_empty())?;
        let value = match factor {
            FactorKind::Password => value.to_owned(),
            // What is pasted may have spaces within.
            _ => value.split_whitespace().collect(),
        };
        Some(Challenge {
            factor: *factor,
            format: None,
            value: value.into(),
        })
    };
    SignInAttempt {
        identifier: form.one("identifier").unwrap_or_default().to_owned().into(),
        challenges: fields.iter().filter_map(challenge).collect(),
    }
}

/// Whether the form is that of a code that was sent: it says where to, or nothing.
fn is_sent(form: &Form) -> bool {
    !form.all("sent").is_empty()
}

/// Where the code of a form comes from.
fn typed_code(form: &Form) -> FactorKind {
    match is_sent(form) {
        true => FactorKind::Otp,
        false => FactorKind::Totp,
    }
}

/// The way whose form was sent, or the one that the person has to take now.
fn typed_way(form: &Form, error: &Error) -> PageWay {
    let has = |field| form.verbatim(field).is_ok();
    match (has("password"), has("pin"), has("code")) {
        _ if error.reason.id() == "totp-needed" => PageWay::PasswordAndApp,
        (true, _, true) => PageWay::PasswordAndApp,
        (true, ..) => PageWay::Password,
        (_, true, _) => PageWay::Pin,
        (.., true) => PageWay::AppCode,
        _ => PageWay::Code,
    }
}

/// The page on which a code is typed in.
async fn code_page(
    call: &SignInCall,
    view: &SignInView,
    form: &Form,
    places: Vec<String>,
) -> Handled<CodePage> {
    let shown = call.here.provider.code_on_screen(&call.visitor()).await?;
    let language = call.language(&view.ui_locales);
    Ok(CodePage {
        frame: call.frame(language, String::new()),
        places,
        identifier: form.one("identifier").unwrap_or_default().to_owned(),
        channel: form.one("channel").unwrap_or("phone").to_owned(),
        code: CODE,
        on_screen: shown.map(|code| code.expose().to_owned()),
        action: call.step("/proof"),
        again: call.step("/code"),
        other: call.step(""),
        problem: None,
    })
}

/// The page shown again with what the person can correct; any other error has a page of its own.
async fn again(call: &SignInCall, view: &SignInView, form: &Form, error: Error) -> Handled {
    let is_sent = is_sent(form);
    let told = problem(call.language(&view.ui_locales), &error, is_sent);
    let Some(told) = told.filter(|_| !waits(&error)) else {
        return refused(call, error);
    };
    let page = match is_sent {
        true => code_again(call, view, form, told).await,
        false => shown(&asked(
            call,
            view,
            Some(TypedEntry {
                way: typed_way(form, &error),
                identifier: form.one("identifier").unwrap_or_default().to_owned(),
                problem: told,
            }),
        )),
    };
    Ok(with_status(&error, page?))
}

async fn code_again(call: &SignInCall, view: &SignInView, form: &Form, told: Saying) -> Handled {
    let places = form.all("sent").iter().filter(|place| !place.is_empty());
    let page = code_page(call, view, form, places.cloned().collect()).await?;
    shown(&CodePage {
        problem: Some(told),
        ..page
    })
}

fn with_status(error: &Error, mut page: Response) -> Response {
    *page.status_mut() = match error.kind {
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    page
}
