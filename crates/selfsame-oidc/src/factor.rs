//! The factors by which people prove who they are.

use serde::{Deserialize, Serialize};

/// A way to prove who one is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorKind {
    /// A one-time password that was sent to an address of the person.
    Otp,
    /// A one-time password of an authenticator app (RFC 6238).
    Totp,
    /// A personal identification number.
    Pin,
    /// A password.
    Password,
    /// Answers about the person.
    Knowledge,
    /// A biometric sample.
    Biometrics,
    /// A wallet that is bound to the person's identity.
    LinkedWallet,
    /// A credential presented from a wallet.
    Presentation,
    /// A passkey (WebAuthn).
    Passkey,
    /// A sign-in at another OpenID provider.
    Upstream,
}

impl FactorKind {
    /// Whether it can prove who somebody is without another factor.
    #[must_use]
    pub fn stands_alone(self) -> bool {
        self != Self::Totp
    }

    /// Its value in the claim `amr` (RFC 8176 §2).
    #[must_use]
    pub fn amr(self) -> &'static str {
        match self {
            Self::Otp | Self::Totp => "otp",
            Self::Pin => "pin",
            Self::Password => "pwd",
            Self::Knowledge => "kba",
            Self::Biometrics => "bio",
            Self::LinkedWallet | Self::Presentation => "pop",
            Self::Passkey => "hwk",
            Self::Upstream => "fed",
        }
    }
}
