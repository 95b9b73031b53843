//! What flows are about, and between whom their messages go.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a flow is about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// A credential is issued (OpenID4VCI 1.0).
    Issuance,
    /// A credential is presented (OpenID4VP 1.0).
    Presentation,
    /// A person signs in (OpenID Connect Core 1.0).
    SignIn,
    /// A wallet gets a credential, or presents one.
    Wallet,
}

impl FlowKind {
    /// Every kind.
    pub(crate) const ALL: [Self; 4] = [
        Self::Issuance,
        Self::Presentation,
        Self::SignIn,
        Self::Wallet,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issuance => "issuance",
            Self::Presentation => "presentation",
            Self::SignIn => "sign_in",
            Self::Wallet => "wallet",
        }
    }
}

/// Who sends a message, or gets it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WireParty {
    /// An issuer.
    Issuer,
    /// A verifier.
    Verifier,
    /// A person's wallet.
    Wallet,
    /// The OpenID provider.
    Provider,
    /// The application at which a person signs in.
    Application,
    /// The person's browser.
    Browser,
}
