//! What the calls of the mock identity system carry, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MockFault;

/// Channels that one call may name.
const CHANNELS_MAX: usize = 8;

/// Asks for a one-time password.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendOtpRequest {
    /// The sign-in.
    #[serde(default)]
    pub transaction_id: String,
    /// The person.
    #[serde(default)]
    pub individual_id: String,
    /// The kinds of addresses, `email` or `phone`, in any case.
    #[serde(default)]
    pub otp_channels: Vec<String>,
}

/// Where a one-time password was sent.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OtpReceipt {
    /// The sign-in.
    pub transaction_id: String,
    /// The masked e-mail address.
    pub masked_email: Option<String>,
    /// The masked telephone number.
    pub masked_mobile: Option<String>,
}

/// Authenticates a person: all challenges that are given must be right.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KycAuthRequest {
    /// The sign-in.
    #[serde(default)]
    pub transaction_id: String,
    /// The person.
    #[serde(default)]
    pub individual_id: String,
    /// A password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// A one-time password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otp: Option<String>,
    /// A personal identification number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// Biometric samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub biometrics: Option<String>,
    /// Answers about the person: base64url of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kbi: Option<String>,
    /// Tokens of other systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<String>>,
}

/// How an authentication ended.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KycAuthentication {
    /// Whether the person is who they say.
    pub auth_status: bool,
    /// The token for the claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kyc_token: Option<String>,
    /// The subject for the relying party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner_specific_user_token: Option<String>,
}

/// Asks for the claims of a person who was authenticated.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KycExchangeRequest {
    /// The time of the request; not looked at, because the token has an end of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_date_time: Option<String>,
    /// The sign-in.
    #[serde(default)]
    pub transaction_id: String,
    /// The token of the authentication.
    #[serde(default)]
    pub kyc_token: String,
    /// The person.
    #[serde(default)]
    pub individual_id: String,
    /// The names of the claims.
    #[serde(default)]
    pub accepted_claims: Option<Vec<String>>,
    /// The claims with what is asked of each (from the second version of the call on).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_claim_detail: Option<BTreeMap<String, Value>>,
    /// The languages of the claims.
    #[serde(default)]
    pub claim_locales: Option<Vec<String>>,
    /// The form of the answer (from the third version on). `JWS` is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resp_type: Option<String>,
}

/// The claims of a person.
#[derive(Deserialize, Serialize)]
pub struct KycExchanged {
    /// The claims as a JWS.
    pub kyc: String,
}

impl SendOtpRequest {
    pub(super) fn check(&self) -> Result<(), MockFault> {
        if self.transaction_id.trim().is_empty() {
            return Err(MockFault::Refused("invalid_transaction_id"));
        }
        if self.individual_id.trim().is_empty() {
            return Err(MockFault::UNKNOWN_PERSON);
        }
        match (1..=CHANNELS_MAX).contains(&self.otp_channels.len()) {
            true => Ok(()),
            false => Err(MockFault::Refused("invalid_otp_channel")),
        }
    }
}

impl KycAuthentication {
    pub(super) fn failed() -> Self {
        Self {
            auth_status: false,
            kyc_token: None,
            partner_specific_user_token: None,
        }
    }

    pub(super) fn succeeded(token: String, subject: String) -> Self {
        Self {
            auth_status: true,
            kyc_token: Some(token),
            partner_specific_user_token: Some(subject),
        }
    }
}

impl KycExchangeRequest {
    /// The names of all claims that are asked for.
    pub(super) fn claims(&self) -> Vec<&str> {
        let names = self.accepted_claims.iter().flatten().map(String::as_str);
        let detailed = self.accepted_claim_detail.iter().flatten();
        let detailed = detailed.map(|(name, _)| name.as_str());
        names.chain(detailed).collect()
    }

    pub(super) fn locales(&self) -> Vec<&str> {
        let locales = self.claim_locales.iter().flatten();
        locales.map(String::as_str).collect()
    }
}
