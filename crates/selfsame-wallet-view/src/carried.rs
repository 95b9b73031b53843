//! Credentials that leave a wallet and come into one: the lines of an export.

use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, Reasons};
use selfsame_openid_view::words::FormatName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// An export of a wallet to begin.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWalletExport {
    /// The password of the wallet's owner.
    #[schema(value_type = String)]
    pub password: SecretString,
    /// A key of the caller, 32 bytes in base64url, that the keys of credentials are sealed with. Without it, no key leaves
    /// the wallet.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub sealing_key: Option<SecretString>,
}

/// An export that was begun.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct WalletExport {
    /// Its id, which its pages are read with.
    pub id: String,
    /// Until when they can be read, RFC 3339.
    pub expires: String,
}

/// A credential of a wallet, to be kept elsewhere.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CarriedCredential {
    /// The SHA-256 of the credential in base64url. A wallet takes in the same credential once.
    pub key: String,
    /// Its format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// The credential, as its issuer signed it.
    pub credential: String,
    /// Its issuer, which not every credential names.
    #[serde(default)]
    pub issuer: String,
    /// How the wallet shows it, by its issuer's metadata.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub look: Value,
    /// When it was received, RFC 3339.
    #[serde(default)]
    pub added: Option<String>,
    /// The key that it is bound to.
    #[serde(default)]
    pub holder: Option<CarriedKey>,
    /// Its place in the wallet that it comes from, after which an export can go on.
    #[serde(default)]
    pub at: Option<String>,
}

/// The key that a credential is bound to.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CarriedKey {
    /// The private key (PKCS #8), sealed with the key of the export, in base64url; absent if it has not left the wallet.
    #[serde(default)]
    pub sealed: Option<String>,
    /// The key ID that proofs name, if the credential is bound to a DID.
    #[serde(default)]
    pub kid: Option<String>,
    /// Whether the person made the key, and may use it for further credentials.
    #[serde(default)]
    pub own: bool,
}

/// Credentials to take into a wallet.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CarriedCredentials {
    /// The key that their keys are sealed with, 32 bytes in base64url.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub sealing_key: Option<SecretString>,
    /// The credentials: 1 to 1,000.
    #[schema(min_items = 1, max_items = 1000)]
    pub credentials: Vec<CarriedCredential>,
}

impl CarriedCredentials {
    /// The maximum number of credentials.
    pub const ROWS_MAX: usize = 1_000;
}

/// What came of a credential that was to be taken in.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TakenCredential {
    /// Whether it is in the wallet now.
    pub state: TakenState,
    /// The id of its card; absent if it was refused, or was there before.
    pub card: Option<String>,
    /// Why it was refused.
    #[schema(value_type = Option<String>)]
    pub why: Option<Reason>,
}

/// Whether a credential is in the wallet.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenState {
    /// It was taken in.
    Stored,
    /// It was there before.
    Known,
    /// It was refused.
    Refused,
}

/// What came of the credentials, in their order.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TakenCredentials {
    /// One entry for each credential.
    pub items: Vec<TakenCredential>,
}

impl Reasons for TakenCredentials {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.items
            .iter_mut()
            .filter_map(|one| one.why.as_mut())
            .collect()
    }
}

impl TakenCredential {
    /// A credential that became a card.
    #[must_use]
    pub fn stored(card: &str) -> Self {
        Self {
            state: TakenState::Stored,
            card: Some(card.to_owned()),
            why: None,
        }
    }

    /// A credential that the wallet had.
    #[must_use]
    pub fn known() -> Self {
        Self {
            state: TakenState::Known,
            card: None,
            why: None,
        }
    }

    /// A credential that the wallet does not take.
    #[must_use]
    pub fn refused(why: Reason) -> Self {
        Self {
            state: TakenState::Refused,
            card: None,
            why: Some(why),
        }
    }
}
