//! The path to a credential, as its holder sees it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The path to a credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct WalletPath {
    /// The address where the credential is got.
    pub to: String,
    /// What people call it.
    pub title: String,
    /// The steps, each after what it needs; the last one is the credential itself.
    pub steps: Vec<PathStep>,
}

/// A credential on the path.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PathStep {
    /// What people call it.
    pub title: String,
    /// The name of its issuer for people, as the issuer says it.
    pub issuer: Option<String>,
    /// The address where people get it.
    pub get_at: Option<String>,
    /// How near it is.
    pub state: PathStepState,
    /// The titles of what it needs.
    pub needs: Vec<String>,
}

/// How near a credential is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathStepState {
    /// The person has it.
    Held,
    /// The person has what it needs: it is next.
    Next,
    /// Something that it needs is missing.
    Later,
    /// It can never be had: what it needs leads back to it.
    Never,
}

impl PathStepState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Next => "next",
            Self::Later => "later",
            Self::Never => "never",
        }
    }
}
