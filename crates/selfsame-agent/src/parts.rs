//! What the parts of an agent share.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_core::Shared;
use selfsame_driver::lines::KeyedLines;
use selfsame_mediation::Mediation;
use selfsame_mediation::beside::BesideFormat;
use selfsame_mediation::terms::MediationTerms;
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use url::Url;

/// How an agent presents itself, and how far it goes on by itself.
#[derive(Clone, Debug)]
pub struct AgentTerms {
    /// How it calls itself in invitations and requests.
    pub label: String,
    /// The public URL that its peers post messages to.
    pub endpoint: Url,
    /// The public URL of the same endpoint for WebSockets, if its documents name one.
    pub socket: Option<Url>,
    /// How far it goes on without its controller.
    pub settings: AgentSettings,
    /// How far it serves peers without an address, and mediates.
    pub mediation: MediationTerms,
    /// How long an act waits for a connection that is not ready yet.
    pub connection_wait: Duration,
}

/// How far an agent goes on without its controller. The settings have the names of ACA-Py's options.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct AgentSettings {
    /// Answers an invitation with a request.
    pub auto_accept_invites: bool,
    /// Answers a request for a connection with a response.
    pub auto_accept_requests: bool,
    /// Sends a trust ping once a connection is made.
    pub auto_ping_connection: bool,
    /// Answers a proposal of a credential with an offer.
    pub auto_respond_credential_proposal: bool,
    /// Answers an offer with a request.
    pub auto_respond_credential_offer: bool,
    /// Answers a request with the credential.
    pub auto_respond_credential_request: bool,
    /// Keeps a credential that arrives.
    pub auto_store_credential: bool,
    /// Answers a proposal of a presentation with a request.
    pub auto_respond_presentation_proposal: bool,
    /// Answers a request for a presentation with the first credentials that fit.
    pub auto_respond_presentation_request: bool,
    /// Verifies a presentation that arrives.
    pub auto_verify_presentation: bool,
    /// Keeps the records of exchanges that are done.
    pub preserve_exchange_records: bool,
    /// Answers texts for people with one that says that they came.
    pub auto_respond_messages: bool,
    /// Tells controllers of pings.
    pub monitor_ping: bool,
    /// Tells controllers the whole messages of exchanges.
    pub debug_webhooks: bool,
    /// Lets invitations name the public DID.
    pub public_invites: bool,
    /// Takes requests for connections that name the public DID and no invitation.
    pub requests_through_public_did: bool,
}

/// Tells whether somebody hears of the states of a tenant's records.
pub type Hearing = Arc<dyn Fn(&TenantId) -> bool + Send + Sync>;

/// What the machines of an agent share.
#[derive(Clone)]
pub struct AgentParts {
    /// What every role stands on.
    pub shared: Arc<Shared>,
    /// The AnonCreds of the agents' tenants.
    pub anoncreds: AnonCreds,
    /// The deliveries to each peer.
    pub lines: KeyedLines,
    /// What waits for peers without an address, and whom the agents mediate for.
    pub mediation: Mediation,
    terms: Arc<RwLock<TermsTable>>,
    hearing: Hearing,
    formats: Arc<OnceLock<Vec<Arc<dyn BesideFormat>>>>,
}

/// The terms of the agents of one process.
struct TermsTable {
    /// Those of an agent that has none of its own.
    common: Arc<AgentTerms>,
    own: HashMap<TenantId, Arc<AgentTerms>>,
}

impl AgentParts {
    /// Parts with these terms for every agent that is not given others.
    pub fn new(anoncreds: AnonCreds, common: AgentTerms, hearing: Hearing) -> Self {
        let table = TermsTable {
            common: Arc::new(common),
            own: HashMap::new(),
        };
        Self {
            shared: anoncreds.shared().clone(),
            lines: KeyedLines::default(),
            mediation: Mediation::new(anoncreds.shared().clone()),
            anoncreds,
            terms: Arc::new(RwLock::new(table)),
            hearing,
            formats: Arc::default(),
        }
    }

    /// Has the attachments of these formats made too.
    pub fn set_formats(&self, formats: Vec<Arc<dyn BesideFormat>>) {
        let _ = self.formats.set(formats);
    }

    /// The format with this name, if another crate makes its attachments.
    pub fn beside(&self, name: &str) -> Option<&dyn BesideFormat> {
        let mut formats = self.formats.get().into_iter().flatten();
        formats.find(|one| one.name() == name).map(AsRef::as_ref)
    }

    /// The terms of an agent.
    pub fn terms(&self, tenant: &TenantId) -> Arc<AgentTerms> {
        let table = self.terms.read().unwrap_or_else(PoisonError::into_inner);
        table.own.get(tenant).unwrap_or(&table.common).clone()
    }

    /// Gives an agent terms of its own.
    pub fn set_terms(&self, tenant: &TenantId, terms: AgentTerms) {
        let mut table = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        table.own.insert(tenant.clone(), Arc::new(terms));
    }

    /// Whether somebody hears of the states of this tenant's records.
    pub fn is_heard(&self, tenant: &TenantId) -> bool {
        (self.hearing)(tenant)
    }
}
