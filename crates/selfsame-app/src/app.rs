//! One instance: assembles its parts, starts and stops it.

mod agents;
mod agreeing;
mod auditing;
mod backing_up;
mod book_agents;
mod books;
mod endorsing;
mod erasing;
mod expiring;
mod exporting;
mod hearing;
mod issuing;
mod judging;
mod looks;
mod opening;
mod own_roles;
mod presenting;
mod readiness;
mod remote_wallets;
mod revoking;
mod rotating;
mod seats;
mod signing_in;
mod status;
mod statuses;
mod types;
mod wallets;
mod worker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use selfsame_agent::{Agents, Hearing};
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_audit::Trail;
use selfsame_book_index::BookIndex;
use selfsame_book_role::Books;
use selfsame_core::config::TrustConfig;
use selfsame_core::dids::{Changing, Dids, Registering};
use selfsame_core::events::Events;
use selfsame_core::organisation::view::{NewOrganisation, OrganisationState, OrganisationView};
use selfsame_core::organisation::{self, Organisation, OrganisationName, Organisations, erased};
use selfsame_core::resolver::Linked;
use selfsame_core::{Correspondent, Resources, Shared};
use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_did::method::cheqd::resource::WantedResource;
use selfsame_did::{Did, DidUrl, Options, Resolution, ResolutionError};
use selfsame_driver::clock::Clock;
use selfsame_driver::hsm::Hsm;
use selfsame_driver::room::Wanting;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_endorsement::Endorsements;
use selfsame_issuing_lists::IssuingLists;
use selfsame_ledger::Registry;
use selfsame_net::Net;
use selfsame_openid::config::check_verifiers;
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_operators::Operators;
use selfsame_store::backend::Backlog;
use selfsame_store::ledger::LedgerStore;
use selfsame_store::{Store, TenantId};
use selfsame_wallet::Wallet;
use selfsame_webhooks::Webhooks;
use selfsame_wire::Wires;
use tokio::sync::watch;

pub use agents::OrganisationAgent;
pub use agreeing::{AuthorAgreement, GivenAcceptance};
pub use expiring::DatedChain;
pub use exporting::{ExportWish, Exported};
pub use hearing::{AgentNotices, HeardNotice};
pub use revoking::{IssuedPlace, WaitingNotification};
pub use seats::{ManagerOfClients, SeatAct, audited};
pub use statuses::StatusActor;
pub use types::AgentType;
pub use wallets::{FoundWallet, NewWallet, SubWallet, WalletChange};

use crate::anoncreds::TypePublications;
use crate::config::Config;
use crate::connected::Connected;
use crate::node::MachineNode;
use crate::operator::Operator;
use crate::rotation::Rotation;
use expiring::Expiry;
use opening::{OwnParts, operators, registry, roles, wallet};

/// What an instance is built from.
pub struct Parts {
    /// Its records.
    pub store: Store,
    /// Its outbound calls.
    pub net: Net,
    /// The registry's ledger, if this instance runs one.
    pub ledger: Option<Arc<dyn LedgerStore>>,
    /// The hardware security module that holds signing keys, if the settings name one.
    pub hsm: Option<Arc<dyn Hsm>>,
    /// The search index of credential books. Without one, books are searched in memory, and indexed anew at each start.
    pub book_index: Option<Arc<dyn BookIndex>>,
}

/// What a request does with an organisation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// It reads.
    Reading,
    /// It acts in the organisation's name, or changes something.
    Acting,
}

/// One instance.
pub struct App {
    pub(crate) shared: Arc<Shared>,
    pub(crate) registry: Option<Arc<dyn Registry>>,
    pub(crate) ledger: Option<Arc<dyn LedgerStore>>,
    operator: Operator,
    dids: Dids,
    roles: Arc<Roles>,
    operators: Arc<Operators>,
    trail: Trail,
    refused: seats::RefusedSignIns,
    wallet: Option<Arc<Wallet>>,
    people: OnceLock<signing_in::KnownPeople>,
    /// Held while it is settled who knows people.
    settling: Mutex<()>,
    webhooks: Arc<Webhooks>,
    agents: Agents,
    endorsements: Endorsements,
    books: Books,
    lists: IssuingLists,
    wires: Wires,
    /// The tenants of the agents by the names of their organisations; set at the start.
    agent_tenants: OnceLock<HashMap<String, TenantId>>,
    publishing: TypePublications,
    config: Config,
    correspondents: Vec<Arc<dyn Correspondent>>,
    ready_since: OnceLock<UnixTime>,
    /// When a full store was last tested for room.
    tried: Wanting,
    rotation: Rotation,
    expiry: Expiry,
    stopping: watch::Sender<bool>,
}

impl App {
    /// Assembles an instance; at its very first start also returns the operator's new token.
    ///
    /// # Errors
    /// If a setting cannot work, and the store's.
    pub async fn open(config: Config, parts: Parts) -> Result<(Arc<Self>, Option<SecretString>)> {
        crate::backup::begin(&parts.store).await?;
        let own = OwnParts::new(&parts);
        let registry = registry(&config, &parts, &own).await?;
        Self::open_with(config, parts, own, registry).await
    }

    /// Like [`App::open`], with a registry in this process that is not this crate's, such as a node of a network.
    ///
    /// # Errors
    /// Those of [`App::open`].
    pub async fn open_on(
        registry: Arc<dyn Registry>,
        config: Config,
        parts: Parts,
    ) -> Result<(Arc<Self>, Option<SecretString>)> {
        crate::backup::begin(&parts.store).await?;
        let own = OwnParts::new(&parts);
        Self::open_with(config, parts, own, Some(registry)).await
    }

    async fn open_with(
        mut config: Config,
        parts: Parts,
        OwnParts { keys, clock }: OwnParts,
        registry: Option<Arc<dyn Registry>>,
    ) -> Result<(Arc<Self>, Option<SecretString>)> {
        check(&config)?;
        let resources = Resources {
            store: parts.store,
            net: parts.net,
            keys,
            clock,
            registry: registry.clone().map(Connected::client),
        };
        let shared = Arc::new(Shared::new(opening::shared_config(&config), resources)?);
        let roles = roles(&config, &shared).await?;
        let trail = Trail::new(shared.store.clone(), shared.clock.clone());
        roles.note_own_acts(auditing::of_own_acts(trail.clone()));
        let wires = Wires::new(shared.store.clone(), shared.clock.clone());
        let wallet = wallet(&config, &shared, &wires, &roles);
        config.forget_keys();
        // Last: if anything after this failed, the new token would never reach the operator.
        let (operator, token) = Operator::open(shared.clone()).await?;
        let anoncreds = AnonCreds::new(shared.clone());
        let mut correspondents = machines(&shared);
        correspondents.extend(wallet.iter().flat_map(|wallet| wallet.correspondents()));
        correspondents.extend(anoncreds.correspondents());
        correspondents.extend(roles.correspondents());
        let stopping = watch::channel(false).0;
        let webhooks = hearing::webhooks(&shared, &stopping);
        let agents = agents::agents(&config, &anoncreds, hearing(&webhooks), &roles);
        correspondents.extend(agents.correspondents());
        let endorsements = endorsing::endorsements(&agents);
        correspondents.push(endorsements.connect());
        let lists = issuing::lists(&config, &shared, &roles);
        let app = Self {
            lists,
            wires,
            books: books::books(&agents, parts.book_index, webhooks.clone()),
            operators: Arc::new(operators(&shared)),
            trail,
            refused: seats::RefusedSignIns::default(),
            webhooks,
            publishing: TypePublications(anoncreds),
            agents,
            endorsements,
            agent_tenants: OnceLock::new(),
            config,
            registry,
            roles,
            people: OnceLock::new(),
            settling: Mutex::default(),
            wallet,
            dids: Dids::new(shared.clone()),
            ledger: parts.ledger,
            operator,
            correspondents,
            ready_since: OnceLock::new(),
            tried: Wanting::default(),
            rotation: Rotation::default(),
            expiry: Expiry::default(),
            stopping,
            shared,
        };
        app.shared.set_correspondents(app.correspondents.iter());
        let app = Arc::new(app);
        app.let_agents_endorse();
        app.let_books_show();
        Ok((app, token))
    }

    /// Registers the DIDs that must be registered and starts the background tasks; then the instance is ready.
    ///
    /// # Errors
    /// If the registry refuses the instance's own DIDs.
    pub async fn start(self: &Arc<Self>) -> Result<()> {
        self.stamp_traces().await?;
        let started = self.shared.clock.started();
        tokio::spawn(worker::work(
            self.clone(),
            self.stopping.subscribe(),
            started,
        ));
        for identity in self.roles.identities() {
            self.dids.ensure_registered(identity).await?;
        }
        self.open_agents().await?;
        self.note_ledger().await?;
        self.keep_alive_noted().await;
        self.roles.start(self.stopping.subscribe());
        self.webhooks.start();
        self.follow_books();
        self.start_lists();
        self.finish_leaving().await?;
        let _ = self.ready_since.set(self.shared.clock.now());
        Ok(())
    }

    /// True once the instance stops.
    #[must_use]
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Stops the background tasks, and moves the data from the logs into the database files.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        self.keep_chained().await;
        self.keep_ledger_noted().await;
        self.keep_alive_noted().await;
        self.fold().await;
    }

    /// Moves the write-ahead logs into the database files, at a time when the instance is not busy.
    pub(crate) async fn fold(&self) {
        let mut folded = self.shared.store.fold().await;
        if let Some(ledger) = &self.ledger {
            folded = folded.and(ledger.fold().await);
        }
        if let Err(error) = folded {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database; its data stay safe in the log");
        }
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// From now on trusts exactly the issuers, verifiers and certificates in `config`. A verification already in
    /// progress uses what was in force when it began. Trusted origins stay as they were at the start.
    ///
    /// # Errors
    /// `BadRequest` if the settings cannot work; the previous ones then stay in force.
    pub fn renew_trust(&self, config: &TrustConfig) -> Result<()> {
        check_verifiers(config)?;
        self.shared.trust.renew(config)
    }

    /// The events of this instance.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.shared.events
    }

    /// Its clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Its operator.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    /// The people and the programs that work for its organisations.
    #[must_use]
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// Its audit trail.
    #[must_use]
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// What happened on the wire, as far as organisations have it recorded.
    #[must_use]
    pub fn wires(&self) -> &Wires {
        &self.wires
    }

    /// Its webhooks.
    #[must_use]
    pub fn webhooks(&self) -> &Arc<Webhooks> {
        &self.webhooks
    }

    /// The tenant whose webhooks are sent the events of an organisation.
    #[must_use]
    pub fn webhook_owner(organisation: &Organisation) -> TenantId {
        receiver_of(&organisation.issuer).unwrap_or_else(TenantId::instance)
    }

    /// The AnonCreds of its organisations.
    #[must_use]
    pub fn anoncreds(&self) -> &AnonCreds {
        &self.publishing.0
    }

    /// Its own DIDs.
    #[must_use]
    pub fn dids(&self) -> &Dids {
        &self.dids
    }

    /// Whether only verifiers that know its registry can check some of the multiple-use credentials it issues.
    #[must_use]
    pub fn issues_to_few(&self) -> bool {
        let issuer = self.roles.main.issuer.as_ref();
        issuer.is_some_and(|issuer| issuer.is_for_few())
    }

    /// Resolves a DID of any known method; errors are part of the result.
    pub async fn resolve(&self, did: &Did, options: &Options) -> Arc<Resolution> {
        let now = self.shared.clock.now();
        let resolver = &self.shared.resolver;
        resolver.resolve_as_of(did, options, now).await
    }

    /// The DID-linked resource that a DID URL names.
    ///
    /// # Errors
    /// Those of [`selfsame_core::resolver::Resolver::linked`].
    pub async fn linked(
        &self,
        url: &DidUrl,
        wanted: &WantedResource,
    ) -> std::result::Result<Linked, ResolutionError> {
        let now = self.shared.clock.now();
        self.shared.resolver.linked(url, wanted, now).await
    }

    /// The roles of an organisation beside the one that every instance has.
    ///
    /// # Errors
    /// `NotFound` for an unknown name, `Forbidden` for acting in the name of a suspended one, `Gone` in that of an erased
    /// one; the store's and the registry's errors.
    pub async fn roles_of(
        &self,
        name: &OrganisationName,
        access: Access,
    ) -> Result<Arc<OrganisationRoles>> {
        let hosted = self.roles.organisations().find(name).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("organisation-unknown"))?;
        match hosted.record.state {
            OrganisationState::Suspended if access == Access::Acting => {
                return Err(Error::new(ErrorKind::Forbidden, "organisation-suspended"));
            }
            OrganisationState::Erasing | OrganisationState::Erased if access == Access::Acting => {
                return Err(erased(name));
            }
            _ => {}
        }
        self.roles.of(&hosted).await
    }

    /// Creates an organisation, and registers its DID if its method asks for that.
    ///
    /// # Errors
    /// Those of [`Organisations::create`], and the registry's.
    pub async fn create_organisation(&self, new: &NewOrganisation) -> Result<OrganisationView> {
        let (hosted, identity) = self.organisations().create(new).await?;
        self.dids.ensure_registered(&identity).await?;
        self.organisations().view(&hosted)
    }

    /// The roles of the organisation that every instance has.
    #[must_use]
    pub fn main(&self) -> &Arc<OrganisationRoles> {
        &self.roles.main
    }

    /// The organisations beside the one that every instance has.
    #[must_use]
    pub fn organisations(&self) -> &Organisations {
        self.roles.organisations()
    }

    /// Its wallet.
    ///
    /// # Errors
    /// `NotFound` if this instance keeps no wallets.
    pub fn wallet(&self) -> Result<&Arc<Wallet>> {
        self.wallet
            .as_ref()
            .ok_or_else(|| absent(Reason::new("wallets-absent")))
    }

    /// The identity of this instance as a machine among machines.
    ///
    /// # Errors
    /// `NotFound` if it keeps no wallets, which is where its credential is.
    pub fn node(&self) -> Result<MachineNode<'_>> {
        Ok(MachineNode::new(&self.shared, &self.dids, self.wallet()?))
    }

    /// The registry, in this process or remote.
    ///
    /// # Errors
    /// `NotFound` if no registry is configured.
    pub fn registry(&self) -> Result<&Arc<dyn Registry>> {
        self.registry
            .as_ref()
            .ok_or_else(|| absent(Reason::new("registry-unused")))
    }

    /// Number of durable commits since the start, and the time they took together.
    #[must_use]
    pub fn commits(&self) -> (u64, Duration) {
        let meter = self.shared.store.meter();
        (meter.commits(), meter.spent())
    }

    /// The calls that wait to be delivered, and those given up.
    ///
    /// # Errors
    /// The store's.
    pub async fn outbox(&self) -> Result<Backlog> {
        Ok(self.shared.store.backlog().await?)
    }
}

/// Checks that the settings can work.
fn check(config: &Config) -> Result<()> {
    check_verifiers(&config.trust)?;
    config.issuer.check()?;
    issuing::check(config)?;
    config.verifier.check()?;
    config.wallet.check()?;
    config.organisations.check()?;
    agents::check(&config.agents)
}

/// The machines that write to registries.
fn machines(shared: &Arc<Shared>) -> Vec<Arc<dyn Correspondent>> {
    vec![
        Arc::new(Registering::new(shared.clone())),
        Arc::new(Changing::new(shared.clone())),
        selfsame_sign_in::logout::notices(),
    ]
}

/// The tenant whose webhooks get the events of this tenant: a hosted organisation gets its own events, the instance gets
/// all others. `None` for a person's wallet: its events are never sent.
fn receiver_of(tenant: &TenantId) -> Option<TenantId> {
    match tenant.as_str() {
        name if name.starts_with(selfsame_accounts::PERSON) => None,
        name if name.starts_with(organisation::TENANT) => Some(tenant.clone()),
        _ => Some(TenantId::instance()),
    }
}

/// Whether somebody hears of the records of a tenant's agent.
fn hearing(webhooks: &Webhooks) -> Hearing {
    let hearers = webhooks.hearers().clone();
    Arc::new(move |tenant| receiver_of(tenant).is_some_and(|owner| hearers.hears(&owner)))
}

fn absent(role: Reason) -> Error {
    Error::of(ErrorKind::NotFound, role)
}
