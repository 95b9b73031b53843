//! The question before a presented credential is revoked on its issuer's behalf.

use askama::Template;
use selfsame_credential::single_use::HANDLE;
use selfsame_openid::view::verifier::CredentialVerdict;

use super::RequestView;
use crate::{Frame, verdict};

/// Asks whether the credential that was shown shall be revoked.
#[derive(Template)]
#[template(path = "verifier_revoke.html")]
pub struct RevokePage {
    frame: Frame,
    view: RequestView,
    /// The credential in words: its type, and who issued it.
    named: String,
}

impl RevokePage {
    /// The page of this request. It asks only if the credential can be revoked now.
    pub fn of(frame: Frame, view: RequestView) -> Self {
        let named = view.with_handle().map(named).unwrap_or_default();
        let title = match view.revocable() {
            true => format!("Revoke {named}?"),
            false => "Nothing to revoke".to_owned(),
        };
        Self {
            frame: frame.titled(title),
            view,
            named,
        }
    }
}

impl RequestView {
    /// The credential whose handle was shown: with the handle, its issuer's delegate can revoke it.
    pub(super) fn with_handle(&self) -> Option<&CredentialVerdict> {
        let verdict = self.request.verdict.as_ref()?;
        let has_handle = |one: &&CredentialVerdict| {
            let claims = one.claims.as_ref();
            claims.is_some_and(|claims| claims.get(HANDLE).is_some())
        };
        verdict.credentials.iter().find(has_handle)
    }
}

fn named(one: &CredentialVerdict) -> String {
    let Some(credential) = &one.credential else {
        return "this credential".to_owned();
    };
    let title = verdict::title(credential);
    match (&credential.issuer_name, &credential.issuer) {
        (Some(name), _) => format!("“{title}” of {name}"),
        (None, Some(issuer)) => format!("“{title}” of {issuer}"),
        (None, None) => format!("“{title}”"),
    }
}
