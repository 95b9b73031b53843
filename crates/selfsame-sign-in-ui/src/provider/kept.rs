//! A person's sessions at the provider, and what they agreed to. They may end both.

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::Handled;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::view::{AgreementView, SessionView};
use selfsame_sign_in_pages::kept::{AgreementsPage, ListedAgreement, ListedSession, SessionsPage};
use selfsame_sign_in_pages::{PageLanguage, WayKind};

use super::call::{SignInCall, led, shown};

/// What the paths of these pages end with, after those of the organisation.
const ROOT: &str = "signed-in";

/// The sessions.
pub async fn sessions(call: SignInCall) -> Handled {
    let session = session(&call)?;
    let all = call.here.provider.sessions(&session).await?;
    let has_account = has_account(&call, &session).await?;
    let (language, root) = (call.language(&[]), root(&call));
    shown(&SessionsPage {
        frame: call.frame(language, format!("{root}/sessions")),
        root,
        sessions: all.iter().map(listed).collect(),
        has_account,
    })
}

/// Ends a session.
pub async fn end_session(call: SignInCall) -> Handled {
    let provider = &call.here.provider;
    provider.end_own_session(&session(&call)?, &call.id).await?;
    led(&format!("{}/sessions", root(&call)))
}

/// Ends all sessions but the browser's own.
pub async fn end_others(call: SignInCall) -> Handled {
    let (provider, session) = (&call.here.provider, session(&call)?);
    for other in provider.sessions(&session).await? {
        if !other.is_this {
            provider.end_own_session(&session, &other.sid).await?;
        }
    }
    led(&format!("{}/sessions", root(&call)))
}

/// What the person agreed to.
pub async fn agreements(call: SignInCall) -> Handled {
    let session = session(&call)?;
    let all = call.here.provider.agreements(&session).await?;
    let has_account = has_account(&call, &session).await?;
    let (language, root) = (call.language(&[]), root(&call));
    shown(&AgreementsPage {
        frame: call.frame(language, format!("{root}/agreements")),
        root,
        agreements: all.iter().map(|one| agreed(one, language)).collect(),
        has_account,
    })
}

/// Takes back what the person agreed to with a client.
pub async fn take_back(call: SignInCall) -> Handled {
    let provider = &call.here.provider;
    provider.withdraw(&session(&call)?, &call.id).await?;
    led(&format!("{}/agreements", root(&call)))
}

/// Whether the person has an account here, which can have passkeys.
async fn has_account(call: &SignInCall, session: &SecretString) -> Handled<bool> {
    Ok(call.here.provider.own_account(session).await?.is_some())
}

/// The session of the browser.
pub(super) fn session(call: &SignInCall) -> Handled<SecretString> {
    let session = call.here.browser(call.headers()).session;
    Ok(session.ok_or(Error::new(ErrorKind::Unauthenticated, "session-over"))?)
}

pub(super) fn root(call: &SignInCall) -> String {
    format!("{}{ROOT}", call.here.root.trim_end_matches("oidc/"))
}

fn listed(session: &SessionView) -> ListedSession {
    ListedSession {
        id: session.sid.clone(),
        ways: session.factors.iter().map(|factor| way(*factor)).collect(),
        since: session.at.rfc3339(),
        is_here: session.is_this,
    }
}

fn agreed(agreement: &AgreementView, language: &PageLanguage) -> ListedAgreement {
    let mut names = [language.tag(), ""].into_iter();
    let name = names.find_map(|tag| agreement.names.get(tag));
    ListedAgreement {
        id: agreement.client_id.clone(),
        client: name.unwrap_or(&agreement.client_id).clone(),
        claims: agreement.claims.clone(),
        scopes: agreement.scopes.clone(),
        since: agreement.at.rfc3339(),
        until: None,
    }
}

fn way(factor: FactorKind) -> WayKind {
    match factor {
        FactorKind::Otp => WayKind::Code,
        FactorKind::Totp => WayKind::AppCode,
        FactorKind::Pin => WayKind::Pin,
        FactorKind::Password => WayKind::Password,
        FactorKind::Knowledge => WayKind::Knowledge,
        FactorKind::Biometrics => WayKind::Biometrics,
        FactorKind::LinkedWallet => WayKind::LinkedWallet,
        FactorKind::Presentation => WayKind::Presentation,
        FactorKind::Passkey => WayKind::Passkey,
        FactorKind::Upstream => WayKind::Upstream,
    }
}
