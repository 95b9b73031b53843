//! Ways that a person goes elsewhere than on the page of a sign-in.

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_http::error::Handled;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::WantedElsewhere;
use selfsame_sign_in::identity::{Challenge, SignInAttempt};
use selfsame_sign_in::view::{SignInStage, SignInView};
use selfsame_sign_in_pages::{OtherWay, WayKind};

use super::call::{SignInCall, led};
use super::refusal::refused;

/// A way with a page of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ElsewhereWay {
    Passkey,
    Wallet,
    Upstream,
}

impl ElsewhereWay {
    const ALL: [Self; 3] = [Self::Passkey, Self::Wallet, Self::Upstream];

    /// Its factor.
    pub fn factor(self) -> FactorKind {
        match self {
            Self::Passkey => FactorKind::Passkey,
            Self::Wallet => FactorKind::Presentation,
            Self::Upstream => FactorKind::Upstream,
        }
    }

    /// What the address of its page ends with.
    pub fn step(self) -> &'static str {
        match self {
            Self::Passkey => "/passkey",
            Self::Wallet => "/wallet",
            Self::Upstream => "/upstream",
        }
    }

    fn kind(self) -> WayKind {
        match self {
            Self::Passkey => WayKind::Passkey,
            Self::Wallet => WayKind::Presentation,
            Self::Upstream => WayKind::Upstream,
        }
    }

    /// The ways of this kind that suffice for a sign-in.
    pub fn of(call: &SignInCall, view: &SignInView) -> impl Iterator<Item = Self> {
        let suffices = |way: &Self| view.factors.iter().any(|all| *all == [way.factor()]);
        // Passkeys are of the instance's own origin.
        let is_here = |way: &Self| *way != Self::Passkey || !call.here.is_own_host;
        Self::ALL.into_iter().filter(suffices).filter(is_here)
    }

    /// It, as a sign-in is asked for it.
    pub fn wanted(self, call: &SignInCall) -> WantedElsewhere {
        WantedElsewhere {
            factor: self.factor(),
            page: format!("sign-in/{}{}", call.id, self.step()),
        }
    }

    /// What a person gave elsewhere, as an attempt.
    pub fn attempt(self, value: SecretString) -> SignInAttempt {
        SignInAttempt {
            identifier: String::new().into(),
            challenges: vec![Challenge {
                factor: self.factor(),
                format: None,
                value,
            }],
        }
    }

    /// The link to its page.
    pub fn link(self, call: &SignInCall) -> OtherWay {
        OtherWay {
            kind: self.kind(),
            href: call.step(self.step()),
        }
    }
}

/// A sign-in whose person is still to prove who they are.
///
/// # Errors
/// `Conflict` if they have; those of the sign-in.
pub(super) async fn awaited(call: &SignInCall) -> Result<SignInView> {
    let view = call.here.provider.view(&call.visitor()).await?;
    match view.stage {
        SignInStage::Authentication => Ok(view),
        _ => Err(Error::new(ErrorKind::Conflict, "sign-in-elsewhere")),
    }
}

/// What is shown in place of a page: the page at which the sign-in is, or the error.
pub(super) fn led_on(call: &SignInCall, error: Error) -> Handled {
    match error.kind {
        ErrorKind::Conflict => led(&call.step("")),
        _ => refused(call, error),
    }
}

/// The page with the other ways of a sign-in, unless a way is the only one.
pub(super) fn others(call: &SignInCall, view: &SignInView) -> Option<String> {
    (view.factors.len() > 1).then(|| call.step(""))
}
