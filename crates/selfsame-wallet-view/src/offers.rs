//! Offers: what a person sees of one, and how they accept it.

use crate::cards::Display;
use crate::words::TxCodeInput;
use selfsame_openid_view::words::FormatName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A preview of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferPreview {
    /// The issuer's identifier.
    pub issuer: String,
    /// The issuer's own name for itself.
    pub issuer_name: Option<String>,
    /// The address of the issuer's logo, if it is an organisation of this instance: nothing is loaded from elsewhere.
    #[serde(default)]
    pub issuer_logo: Option<String>,
    /// Whether this wallet's configuration trusts the issuer.
    pub trusted: bool,
    /// The credentials offered.
    pub credentials: Vec<OfferedCredential>,
    /// How to ask for the transaction code, if one is needed.
    pub tx_code: Option<TxCodePrompt>,
    /// The authorization server that the person signs in at to get the credentials, if they must.
    #[serde(default)]
    pub sign_in: Option<String>,
}

/// Where a person signs in to get the credentials of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SignInForOffer {
    /// The address for the person's browser. It leads back to `/wallet/received` here.
    pub url: String,
}

/// One credential of an offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OfferedCredential {
    /// Its configuration's id.
    pub configuration: String,
    /// Its format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// How to show it.
    pub display: Display,
    /// The labels of its claims.
    pub claims: Vec<String>,
}

/// How to ask the person for a transaction code.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TxCodePrompt {
    /// Its characters.
    #[schema(value_type = TxCodeInput)]
    pub input_mode: String,
    /// Its length, if the issuer states it.
    pub length: Option<u64>,
    /// The issuer's hint.
    pub description: Option<String>,
}

/// An offer to accept.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptOffer {
    /// The offer's link or JSON.
    pub offer: String,
    /// The transaction code.
    #[serde(default)]
    pub tx_code: Option<String>,
    /// The DID to bind the credential to; default: a fresh key for this credential.
    #[serde(default)]
    pub did: Option<String>,
    /// Number of copies to request, each with a key of its own; default 1.
    #[serde(default)]
    pub copies: Option<usize>,
}
