//! Credential offers (OpenID4VCI 1.0 §4.1).

use std::collections::BTreeSet;

use selfsame_crypto::{SecretString, json};
use selfsame_oauth::{form, secret};
use serde::{Deserialize, Serialize};

/// The scheme that invokes a wallet with an offer.
pub const SCHEME: &str = "openid-credential-offer";
/// The longest `tx_code.description`.
pub const MAX_DESCRIPTION: usize = 300;
const MAX_CONFIGURATIONS: usize = 64;

/// An offer of one or more credentials.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CredentialOffer {
    /// The credential issuer's identifier.
    pub credential_issuer: String,
    /// Which of the issuer's credential configurations are offered.
    pub credential_configuration_ids: Vec<String>,
    /// How to get them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
}

/// The grants an offer names; unknown ones are ignored.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Grants {
    /// The grant that needs no authorization request.
    #[serde(
        rename = "urn:ietf:params:oauth:grant-type:pre-authorized_code",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub pre_authorized_code: Option<PreAuthorizedCode>,
}

/// The pre-authorized code grant's parameters.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PreAuthorizedCode {
    /// The code.
    #[serde(rename = "pre-authorized_code", with = "secret")]
    pub code: SecretString,
    /// Present where the person must type in a code he got otherwise, even if it says nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_code: Option<TxCode>,
    /// Which of several authorization servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_server: Option<String>,
}

/// What a transaction code looks like.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TxCode {
    /// Its characters.
    #[serde(default, skip_serializing_if = "InputMode::is_default")]
    pub input_mode: InputMode,
    /// Its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    /// Where the person finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The characters of a transaction code.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputMode {
    /// Digits.
    #[default]
    Numeric,
    /// Any characters.
    Text,
}

impl InputMode {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Why an offer is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OfferError {
    /// Not the JSON it should be.
    #[error("the credential offer is malformed or repeats a member")]
    Malformed,
    /// No configuration, too many, or one twice.
    #[error("the credential offer must name its credential configurations, each once")]
    Configurations,
    /// The transaction code's description is too long.
    #[error("the transaction code's description is longer than 300 characters")]
    Description,
}

impl CredentialOffer {
    /// Reads an offer; unknown members are ignored, repeated ones refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, OfferError> {
        let offer: Self =
            json::parse_as(bytes, &super::limits()).map_err(|_| OfferError::Malformed)?;
        offer.check()?;
        Ok(offer)
    }

    /// Checks what the types do not say (OpenID4VCI 1.0 §4.1.1).
    pub fn check(&self) -> Result<(), OfferError> {
        let ids = &self.credential_configuration_ids;
        let distinct: BTreeSet<_> = ids.iter().collect();
        if ids.is_empty() || ids.len() > MAX_CONFIGURATIONS || distinct.len() != ids.len() {
            return Err(OfferError::Configurations);
        }
        let description = self.pre_authorized_code().and_then(|grant| {
            let tx_code = grant.tx_code.as_ref()?;
            tx_code.description.as_ref()
        });
        if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
            return Err(OfferError::Description);
        }
        Ok(())
    }

    /// The pre-authorized code grant, if the offer has it.
    pub fn pre_authorized_code(&self) -> Option<&PreAuthorizedCode> {
        self.grants.as_ref()?.pre_authorized_code.as_ref()
    }

    /// The offer's JSON.
    pub fn to_json(&self) -> SecretString {
        SecretString::from(serde_json::to_string(self).unwrap_or_default())
    }

    /// The link that carries the offer itself.
    pub fn by_value(&self) -> SecretString {
        link("credential_offer", self.to_json().expose())
    }
}

/// The link that carries the URL of an offer.
pub fn by_reference(url: &url::Url) -> SecretString {
    link("credential_offer_uri", url.as_str())
}

fn link(name: &str, value: &str) -> SecretString {
    // `+` for a space is a form's habit that not every reader of a URI shares.
    let query = form::encode(&[(name, value)]).replace('+', "%20");
    SecretString::from(format!("{SCHEME}://?{query}"))
}
