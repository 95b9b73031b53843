//! The provider whose address was called, and the settings of its face.

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::Response;
use http::HeaderMap;
use http::request::Parts;
use selfsame_audit::{Act, Trail};
use selfsame_driver::ErrorKind;
use selfsame_driver::clock::Clock;
use selfsame_identity::blocks::BlockedPeople;
use selfsame_identity::links::Links;
use selfsame_identity::mock::MockIdentities;
use selfsame_oidc::Preset;
use selfsame_sign_in::SignIns;
use selfsame_sign_in::identity::PersonsDevice;
use serde_json::{Map, Value};
use url::Url;

use crate::{csrf, details_hash, envelope};

/// Where eSignet's interface is, below the origin.
pub const BASE: &str = "/v1/esignet";

/// A provider behind eSignet's interface.
#[derive(Clone)]
pub struct EsignetDoor {
    /// The provider.
    pub sign_ins: SignIns,
    /// The people who are blocked for a while.
    pub blocked: Arc<BlockedPeople>,
    /// The sign-ins that wallets take over.
    pub links: Arc<Links>,
    /// The mock identity system, if it is the one that signs claims.
    pub mock: Option<MockIdentities>,
    /// The clock of the envelopes.
    pub clock: Clock,
    /// The settings.
    pub settings: Arc<EsignetSettings>,
}

/// The settings of the interface.
#[derive(Clone, Debug)]
pub struct EsignetSettings {
    /// The address of the interface, `…/v1/esignet/`.
    pub base: Url,
    /// The rules of clients that are registered here.
    pub preset: Preset,
    /// The scopes of credentials.
    pub credential_scopes: Vec<String>,
    /// What a user interface is told of itself, by name.
    pub ui: Map<String, Value>,
}

/// The provider of a request, and where the request comes from. The server extracts it.
pub struct EsignetHere {
    /// The provider.
    pub door: EsignetDoor,
    /// The address of the caller, if known.
    pub from: Option<IpAddr>,
    /// The sender, if the call manages clients.
    pub manager: Option<ClientManager>,
}

/// The sender of a call that manages clients.
pub struct ClientManager {
    /// Whether they may: the operator, an API key with the right, or anyone with the tolerances of older versions.
    pub may: bool,
    /// Whether they are known here. What was refused to others is not written: anyone could fill the trail with it.
    pub is_known: bool,
    /// The call, as the audit trail has it.
    pub act: Act,
    /// The audit trail.
    pub trail: Trail,
}

impl EsignetSettings {
    /// Settings with the members that eSignet's user interface looks for.
    #[must_use]
    pub fn new(base: Url, preset: Preset) -> Self {
        let seconds = Value::from(180);
        let ui = [
            ("sbi.env", "Developer".into()),
            ("otp.length", 6.into()),
            ("send.otp.channels", "email,phone".into()),
            ("captcha.enable", "".into()),
            ("auth.txnid.length", 10.into()),
            ("consent.screen.timeout-in-secs", 600.into()),
            ("consent.screen.timeout-buffer-in-secs", 5.into()),
            ("resend.otp.delay.secs", seconds.clone()),
            ("linked-transaction-expire-in-secs", 240.into()),
            ("wallet.qr-code.auto-refresh-limit", 3.into()),
            ("wallet.qr-code-buffer-in-secs", 10.into()),
            ("preauth-screen-timeout-in-secs", seconds),
        ];
        let ui = ui.map(|(name, value): (&str, Value)| (name.to_owned(), value));
        Self {
            base,
            preset,
            credential_scopes: Vec::new(),
            ui: ui.into_iter().collect(),
        }
    }

    /// Whether the hash of the details can be made again by a user interface, which moves members with numbers as names.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.ui.iter().all(|(name, value)| {
            let plain = !value.is_object() && !value.is_array() && !value.is_f64();
            plain && details_hash::is_stable(name)
        })
    }

    /// One of its addresses.
    pub(crate) fn at(&self, path: &str) -> Option<Url> {
        self.base.join(path).ok()
    }
}

/// Whether a call manages clients.
#[must_use]
pub fn is_managing(parts: &Parts) -> bool {
    parts.uri.path().contains("/client-mgmt/")
}

impl EsignetHere {
    /// Lets a call in that is no other site's and not one too many of its network.
    ///
    /// # Errors
    /// The answer to a call that is.
    pub(crate) fn let_in(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let now = self.door.clock.now();
        if !csrf::is_genuine(headers) {
            return Err(Box::new(csrf::forbidden(now)));
        }
        let counted = self.from.map(|from| self.door.sign_ins.count_call(from));
        match counted.transpose().map_err(|error| error.kind) {
            Err(ErrorKind::TooMany { retry_after }) => {
                Err(Box::new(envelope::too_many(retry_after, now)))
            }
            Err(_) | Ok(_) => Ok(()),
        }
    }

    pub(crate) fn device(&self) -> Option<PersonsDevice> {
        let address = self.from?;
        Some(PersonsDevice {
            address,
            known: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_for_user_interfaces_survive_a_round_trip() {
        let base: Url = "https://host.example/v1/esignet/".parse().unwrap();
        let mut settings = EsignetSettings::new(base, Preset::Strict);
        assert!(settings.is_stable());
        settings.ui.insert("7".to_owned(), 1.into());
        assert!(!settings.is_stable());
    }
}
