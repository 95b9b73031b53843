//! `[[agents]]`: the Aries agents of the instance. The settings that ACA-Py has too have its names.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use selfsame_agent::{AgentSettings, AgentTerms};
use selfsame_app::config::AgentController;
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Reason, Result, private_file};
use selfsame_endorsement::{EndorsementRole, EndorsementTerms};
use selfsame_mediation::terms::MediationTerms;
use serde::Deserialize;
use url::Url;

use crate::settings::AdminSettings;

/// The bytes of a megabyte, in which ACA-Py counts the largest request.
const MEGABYTE: usize = 1024 * 1024;
/// The seconds of a day.
const DAY: u64 = 24 * 3600;

/// One agent.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSection {
    organisation: String,
    label: Option<String>,
    admin: Option<SocketAddr>,
    admin_api_key: Option<SecretString>,
    /// The file with the key of the admin API. The path is relative to the settings file until the reader changes it.
    pub admin_api_key_file: Option<PathBuf>,
    admin_insecure_mode: bool,
    admin_hosts: Vec<String>,
    admin_client_max_request_size: usize,
    inbound: Option<SocketAddr>,
    endpoint: Option<Url>,
    invite_base_url: Option<Url>,
    webhook_urls: Vec<SecretString>,
    websocket_endpoint: Option<Url>,
    connection_wait_ms: u64,
    endorser_protocol_role: EndorsementRole,
    endorser_public_did: Option<String>,
    endorser_alias: Option<String>,
    endorser_invitation: Option<String>,
    auto_request_endorsement: bool,
    auto_endorse_transactions: bool,
    auto_write_transactions: bool,
    auto_create_revocation_transactions: bool,
    multitenant: bool,
    auto_accept_invites: bool,
    auto_accept_requests: bool,
    auto_ping_connection: bool,
    auto_respond_messages: bool,
    auto_respond_credential_proposal: bool,
    auto_respond_credential_offer: bool,
    auto_respond_credential_request: bool,
    auto_respond_presentation_proposal: bool,
    auto_respond_presentation_request: bool,
    auto_store_credential: bool,
    auto_verify_presentation: bool,
    preserve_exchange_records: bool,
    debug_webhooks: bool,
    monitor_ping: bool,
    open_mediation: bool,
    public_invites: bool,
    queue_days: u64,
    queue_megabytes: u64,
    queue_messages: usize,
    requests_through_public_did: bool,
    return_wait_ms: u64,
}

impl Default for AgentSection {
    fn default() -> Self {
        Self {
            organisation: "main".to_owned(),
            label: None,
            admin: None,
            admin_api_key: None,
            admin_api_key_file: None,
            admin_insecure_mode: false,
            admin_hosts: Vec::new(),
            admin_client_max_request_size: 1,
            inbound: None,
            endpoint: None,
            invite_base_url: None,
            webhook_urls: Vec::new(),
            websocket_endpoint: None,
            connection_wait_ms: 30_000,
            endorser_protocol_role: EndorsementRole::None,
            endorser_public_did: None,
            endorser_alias: None,
            endorser_invitation: None,
            auto_request_endorsement: false,
            auto_endorse_transactions: false,
            auto_write_transactions: false,
            auto_create_revocation_transactions: false,
            multitenant: false,
            auto_accept_invites: false,
            auto_accept_requests: false,
            auto_ping_connection: false,
            auto_respond_messages: false,
            auto_respond_credential_proposal: false,
            auto_respond_credential_offer: false,
            auto_respond_credential_request: false,
            auto_respond_presentation_proposal: false,
            auto_respond_presentation_request: false,
            auto_store_credential: false,
            auto_verify_presentation: false,
            preserve_exchange_records: false,
            debug_webhooks: false,
            monitor_ping: false,
            open_mediation: false,
            public_invites: false,
            queue_days: 7,
            queue_megabytes: 1024,
            queue_messages: 500,
            requests_through_public_did: false,
            return_wait_ms: 1000,
        }
    }
}

impl AgentSection {
    /// An agent on free ports of this machine, without a key. `requests_offers` tells whether it answers offers by itself.
    pub fn on_loopback(organisation: &str, requests_offers: bool) -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            organisation: organisation.to_owned(),
            admin: Some(free),
            admin_insecure_mode: true,
            inbound: Some(free),
            auto_respond_credential_offer: requests_offers,
            ..Self::default()
        }
    }

    /// The name of the organisation whose agent it is.
    pub fn organisation(&self) -> &str {
        &self.organisation
    }

    /// Where its admin API listens.
    ///
    /// # Errors
    /// If it is not set.
    pub fn admin(&self) -> Result<SocketAddr> {
        let missing =
            || Error::bad_request("agent-admin-missing").with("organisation", &self.organisation);
        self.admin.ok_or_else(missing)
    }

    /// Where it listens for envelopes.
    ///
    /// # Errors
    /// If it is not set.
    pub fn inbound(&self) -> Result<SocketAddr> {
        let missing =
            || Error::bad_request("agent-inbound-missing").with("organisation", &self.organisation);
        self.inbound.ok_or_else(missing)
    }

    /// The URL that its peers post to, if it is set.
    pub fn endpoint(&self) -> Option<&Url> {
        self.endpoint.as_ref()
    }

    /// The controllers that hear of its records.
    ///
    /// # Errors
    /// If one has no URL.
    pub fn controllers(&self) -> Result<Vec<AgentController>> {
        let urls = self.webhook_urls.iter();
        let parsed = urls.map(|url| AgentController::parse(url.expose()));
        // An error of the parser would show the key.
        let wrong =
            || Error::bad_request("agent-webhook-url").with("organisation", &self.organisation);
        parsed.collect::<Result<_>>().map_err(|_| wrong())
    }

    /// How it presents itself to peers that reach it at this URL.
    pub fn terms(&self, endpoint: &Url) -> AgentTerms {
        AgentTerms {
            label: self
                .label
                .clone()
                .unwrap_or_else(|| self.organisation.clone()),
            endpoint: endpoint.clone(),
            socket: self.websocket_endpoint.clone(),
            settings: AgentSettings {
                auto_accept_invites: self.auto_accept_invites,
                auto_accept_requests: self.auto_accept_requests,
                auto_ping_connection: self.auto_ping_connection,
                auto_respond_credential_proposal: self.auto_respond_credential_proposal,
                auto_respond_credential_offer: self.auto_respond_credential_offer,
                auto_respond_credential_request: self.auto_respond_credential_request,
                auto_store_credential: self.auto_store_credential,
                auto_respond_presentation_proposal: self.auto_respond_presentation_proposal,
                auto_respond_presentation_request: self.auto_respond_presentation_request,
                auto_verify_presentation: self.auto_verify_presentation,
                preserve_exchange_records: self.preserve_exchange_records,
                auto_respond_messages: self.auto_respond_messages,
                monitor_ping: self.monitor_ping,
                debug_webhooks: self.debug_webhooks,
                public_invites: self.public_invites,
                requests_through_public_did: self.requests_through_public_did,
            },
            mediation: MediationTerms {
                is_open: self.open_mediation,
                kept_seconds: self.queue_days.saturating_mul(DAY),
                each: self.queue_messages,
                all_bytes: self.queue_megabytes.saturating_mul(MEGABYTE as u64),
                return_wait: Duration::from_millis(self.return_wait_ms),
                ..MediationTerms::default()
            },
            connection_wait: Duration::from_millis(self.connection_wait_ms),
        }
    }

    /// The settings of its admin API, which listens at this address.
    ///
    /// # Errors
    /// If it has no key and is not on loopback, or has two, or a file that can't be read.
    pub fn face(&self, admin: SocketAddr, endpoint: &Url) -> Result<AdminSettings> {
        let largest = self.admin_client_max_request_size.checked_mul(MEGABYTE);
        let body_max = largest.filter(|bytes| (1..=1024 * MEGABYTE).contains(bytes));
        let wrong =
            || Error::bad_request("agent-request-size").with("organisation", &self.organisation);
        let body_max = body_max.ok_or_else(wrong)?;
        Ok(AdminSettings {
            organisation: self.organisation.clone(),
            terms: self.terms(endpoint),
            endorsement: self.endorsement()?,
            api_key: self.key(admin)?,
            hosts: self.admin_hosts.clone(),
            body_max,
            multitenant: self.multitenant,
            invite_base_url: self.invite_base_url.clone(),
        })
    }

    /// What it does with endorsements by itself.
    ///
    /// # Errors
    /// If a setting is for the other side than the agent is.
    pub fn endorsement(&self) -> Result<EndorsementTerms> {
        let of_authors = self.endorser_public_did.is_some()
            || self.endorser_alias.is_some()
            || self.endorser_invitation.is_some()
            || self.auto_request_endorsement
            || self.auto_write_transactions
            || self.auto_create_revocation_transactions;
        let fits = match self.endorser_protocol_role {
            EndorsementRole::Author => !self.auto_endorse_transactions,
            EndorsementRole::Endorser => !of_authors,
            EndorsementRole::None => !of_authors && !self.auto_endorse_transactions,
        };
        let is_named = self.endorser_alias.is_some() && self.endorser_public_did.is_some();
        if !fits || (self.endorser_invitation.is_some() && !is_named) {
            return Err(Error::bad_request("agent-endorser-settings")
                .with("organisation", &self.organisation));
        }
        Ok(EndorsementTerms {
            role: self.endorser_protocol_role,
            public_did: self.endorser_public_did.clone(),
            alias: self.endorser_alias.clone(),
            invitation: self.endorser_invitation.clone(),
            auto_request: self.auto_request_endorsement,
            auto_endorse: self.auto_endorse_transactions,
            auto_write: self.auto_write_transactions,
            auto_create_revocation: self.auto_create_revocation_transactions,
        })
    }

    fn key(&self, admin: SocketAddr) -> Result<Option<SecretString>> {
        let organisation = &self.organisation;
        match (&self.admin_api_key, &self.admin_api_key_file) {
            (Some(_), Some(_)) => {
                Err(Error::bad_request("agent-keys-two").with("organisation", organisation))
            }
            (Some(key), None) if key.expose().is_empty() => {
                Err(Error::bad_request("agent-key-empty").with("organisation", organisation))
            }
            (Some(key), None) => Ok(Some(key.clone())),
            (None, Some(file)) => {
                let hint = Reason::new("agent-key-file");
                private_file::read(file, hint).map(Some)
            }
            (None, None) if !self.admin_insecure_mode => {
                Err(Error::bad_request("agent-key-missing").with("organisation", organisation))
            }
            (None, None) if !admin.ip().to_canonical().is_loopback() => {
                Err(Error::bad_request("agent-insecure-elsewhere")
                    .with("organisation", organisation))
            }
            (None, None) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> AgentSection {
        toml::from_str(text).unwrap()
    }

    fn face(text: &str, admin: &str) -> Result<AdminSettings> {
        let endpoint = "http://127.0.0.1:8020/".parse().unwrap();
        section(text).face(admin.parse().unwrap(), &endpoint)
    }

    #[test]
    fn an_admin_api_has_a_key_unless_it_is_insecure_on_loopback() {
        let here = "127.0.0.2:8021";
        assert!(face("", here).is_err());
        assert!(
            face("admin_insecure_mode = true", here)
                .unwrap()
                .api_key
                .is_none()
        );
        assert!(face("admin_insecure_mode = true", "192.0.2.1:8021").is_err());
        assert!(face("admin_api_key = \"\"", here).is_err());
        let keyed = face("admin_api_key = \"k\"", "192.0.2.1:8021").unwrap();
        assert_eq!(keyed.api_key.unwrap().expose(), "k");
        let both = "admin_api_key = \"k\"\nadmin_api_key_file = \"key\"";
        assert!(face(both, here).is_err());
    }

    #[test]
    fn settings_of_endorsement_fit_the_side_that_the_agent_is() {
        let author = "endorser_protocol_role = \"author\"\nendorser_alias = \"e\"\n";
        let terms = section(author).endorsement().unwrap();
        assert_eq!(terms.alias.as_deref(), Some("e"));
        let endorser = "endorser_protocol_role = \"endorser\"\nauto_endorse_transactions = true";
        assert!(section(endorser).endorsement().unwrap().auto_endorse);
        for wrong in [
            "auto_write_transactions = true".to_owned(),
            "endorser_protocol_role = \"endorser\"\nauto_request_endorsement = true".to_owned(),
            format!("{author}auto_endorse_transactions = true"),
            format!("{author}endorser_invitation = \"https://e.example/?oob=e30\""),
        ] {
            assert!(section(&wrong).endorsement().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_settings_of_an_agent_are_its_terms() {
        let text = "organisation = \"clinic\"\nauto_store_credential = true\n";
        let terms = section(text).terms(&"https://a.example/".parse().unwrap());
        assert_eq!(terms.label, "clinic");
        assert!(terms.settings.auto_store_credential);
        assert!(!terms.settings.auto_respond_credential_offer);
        assert!(section(text).admin().is_err());
    }
}
