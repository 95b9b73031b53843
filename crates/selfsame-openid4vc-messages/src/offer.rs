//! Credential offers (OpenID4VCI 1.0 §4.1).

use std::collections::BTreeSet;

use selfsame_crypto::{SecretString, json};
use selfsame_oauth::{form, secret};
use serde::{Deserialize, Serialize};

/// The URI scheme that opens a wallet with an offer.
pub const SCHEME: &str = "openid-credential-offer";
/// The scheme that HAIP 1.0 §4.2 names for the same.
pub const HAIP_SCHEME: &str = "haip-vci";
/// Maximum length of `tx_code.description`, in characters.
pub const MAX_DESCRIPTION: usize = 300;
const MAX_CONFIGURATIONS: usize = 64;

/// An offer of one or more credentials.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CredentialOffer {
    /// The credential issuer's identifier.
    pub credential_issuer: String,
    /// The credential configurations that are offered.
    pub credential_configuration_ids: Vec<String>,
    /// The grants that the credentials can be obtained with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
}

/// The grants of an offer; unknown ones are ignored.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Grants {
    /// The authorization code grant: the person signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_code: Option<AuthorizationCode>,
    /// The pre-authorized code grant, which needs no authorization request.
    #[serde(
        rename = "urn:ietf:params:oauth:grant-type:pre-authorized_code",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub pre_authorized_code: Option<PreAuthorizedCode>,
}

/// The parameters of the authorization code grant.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorizationCode {
    /// What the authorization request repeats, so that the issuer knows the offer again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer_state: Option<String>,
    /// The authorization server to use, if the issuer has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_server: Option<String>,
}

/// The parameters of the pre-authorized code grant.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PreAuthorizedCode {
    /// The code.
    #[serde(rename = "pre-authorized_code", with = "secret")]
    pub code: SecretString,
    /// Present if the person must enter a transaction code, received separately; may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_code: Option<TxCode>,
    /// The authorization server to use, if the issuer has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_server: Option<String>,
}

/// The form of a transaction code.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TxCode {
    /// The kind of its characters.
    #[serde(default, skip_serializing_if = "InputMode::is_default")]
    pub input_mode: InputMode,
    /// Its length, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    /// Text that helps the person find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The kind of characters in a transaction code.
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

/// The reason an offer is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OfferError {
    /// The offer is not valid JSON of the expected form.
    #[error("the credential offer is malformed or repeats a member")]
    Malformed,
    /// The offer names no configuration, too many, or one of them twice.
    #[error("the credential offer must name its credential configurations, each once")]
    Configurations,
    /// The transaction code's description is too long.
    #[error("the transaction code's description is longer than 300 characters")]
    Description,
}

impl CredentialOffer {
    /// Parses an offer; unknown members are ignored, repeated ones refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, OfferError> {
        let offer: Self =
            json::parse_as(bytes, &crate::limits()).map_err(|_| OfferError::Malformed)?;
        offer.check()?;
        Ok(offer)
    }

    /// Checks the rules that the types cannot express (OpenID4VCI 1.0 §4.1.1).
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

    /// The authorization code grant, if the offer has it and no pre-authorized code, which needs no sign-in.
    pub fn authorization_code(&self) -> Option<&AuthorizationCode> {
        let grants = self.grants.as_ref()?;
        let by_code = grants.authorization_code.as_ref();
        by_code.filter(|_| grants.pre_authorized_code.is_none())
    }

    /// The authorization server that the grant names.
    pub fn authorization_server(&self) -> Option<&str> {
        let pre_authorized = self
            .pre_authorized_code()
            .map(|grant| &grant.authorization_server);
        let by_code = || Some(&self.authorization_code()?.authorization_server);
        pre_authorized.or_else(by_code)?.as_deref()
    }

    /// The offer as JSON.
    pub fn to_json(&self) -> SecretString {
        SecretString::from(serde_json::to_string(self).unwrap_or_default())
    }

    /// A link that contains the offer itself.
    pub fn by_value(&self) -> SecretString {
        link("credential_offer", self.to_json().expose())
    }
}

/// A link that contains the URL of the offer.
pub fn by_reference(url: &url::Url) -> SecretString {
    link("credential_offer_uri", url.as_str())
}

fn link(name: &str, value: &str) -> SecretString {
    // Spaces are written as `%20`: not every reader of a URI decodes the form encoding `+`.
    let query = form::encode(&[(name, value)]).replace('+', "%20");
    SecretString::from(format!("{SCHEME}://?{query}"))
}
