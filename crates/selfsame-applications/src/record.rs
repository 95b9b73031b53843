//! An application as it is stored.

use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_prerequisites::fill;
use selfsame_types::CredentialType;
use serde::{Deserialize, Serialize};

/// The kind of the records that hold applications, which are in the tenant of the issuer.
pub const APPLICATION: &str = "application";

/// An application. What was proven is in the request's record of the verifier.
#[derive(Deserialize, Serialize)]
pub(crate) struct ApplicationRecord {
    #[serde(rename = "type")]
    pub type_id: String,
    /// The version of the type, whose rule applies to the end.
    pub version: u32,
    /// The id of the verifier's request.
    pub request: String,
    /// The link for the wallet.
    pub uri: String,
    pub began: UnixTime,
    /// Until when the proof counts.
    pub until: UnixTime,
    /// What no other application has: 16 hexadecimal digits.
    pub identifier: String,
    /// A note for the issuer's own list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub state: ApplicationStage,
}

/// What has become of an application.
#[derive(Deserialize, Serialize)]
pub(crate) enum ApplicationStage {
    /// The wallet was asked.
    #[serde(rename = "asked/1")]
    Asked,
    /// The offer was made, once.
    #[serde(rename = "offered/1")]
    Offered { offer: String },
}

impl ApplicationRecord {
    /// What helpers make values of.
    pub fn helped(&self, one: &CredentialType) -> fill::FormFacts {
        let mut identifier = [0; 8];
        let read = hex_decode(&self.identifier).unwrap_or_default();
        if let Ok(read) = read.as_slice().try_into() {
            identifier = read;
        }
        fill::FormFacts {
            began: self.began,
            validity_days: one.validity_days,
            identifier,
        }
    }
}
