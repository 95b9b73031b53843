//! What is wrong, in the language of the page.

use http::StatusCode;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::Handled;
use selfsame_sign_in_pages::ended::{BlockedPage, SignInErrorPage};
use selfsame_sign_in_pages::{PageLanguage, Saying};

use super::call::{SignInCall, shown};

/// Whether a person has to wait before they may try again.
pub(super) fn waits(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::TooMany { retry_after } if retry_after >= 60)
}

/// What a person can correct in the form.
pub(super) fn problem(
    language: &'static PageLanguage,
    error: &Error,
    is_code: bool,
) -> Option<Saying> {
    Some(match (error.kind, error.reason.id()) {
        (ErrorKind::TooMany { retry_after }, _) => language.say("wrong-wait").count(retry_after),
        (_, "totp-needed") => language.say("wrong-app-needed"),
        (_, "otp-address-absent") => language.say("wrong-unreachable"),
        (ErrorKind::Unauthenticated | ErrorKind::BadRequest, _) if is_code => {
            language.say("wrong-code")
        }
        (ErrorKind::Unauthenticated | ErrorKind::BadRequest, _) => language.say("wrong-challenge"),
        _ => return None,
    })
}

/// The page of an error that no form can correct. What has no sentence there is a problem of the instance.
pub(super) fn refused(call: &SignInCall, error: Error) -> Handled {
    let language = call.language(&[]);
    let frame = call.frame(language, String::new());
    if let ErrorKind::TooMany { retry_after } = error.kind {
        let mut page = shown(&BlockedPage {
            frame,
            minutes: retry_after.div_ceil(60),
            back: None,
        })?;
        *page.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        return Ok(page);
    }
    let (told, status) = match error.kind {
        ErrorKind::Gone | ErrorKind::Conflict => (language.say("error-expired"), StatusCode::GONE),
        ErrorKind::NotFound => (language.say("error-expired"), StatusCode::NOT_FOUND),
        ErrorKind::Upstream | ErrorKind::Unavailable { .. } => {
            (language.say("error-unavailable"), StatusCode::BAD_GATEWAY)
        }
        ErrorKind::BadRequest | ErrorKind::Forbidden => {
            let told = language
                .say("error-request")
                .fill("code", error.reason.id());
            (told, StatusCode::BAD_REQUEST)
        }
        _ => return Err(error.into()),
    };
    let page = SignInErrorPage {
        frame,
        told,
        back: None,
    };
    let mut page = shown(&page)?;
    *page.status_mut() = status;
    Ok(page)
}
