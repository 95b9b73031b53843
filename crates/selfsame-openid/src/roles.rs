//! The roles of the organisations of one instance: the issuer and the verifier of each.

mod erasure;
mod following;
mod open;
mod open_set;

use std::sync::{Arc, OnceLock, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_attester::{Attester, WalletGate};
use selfsame_core::certificate::{Certificate, anchors};
use selfsame_core::config::NamedDid;
use selfsame_core::dids::Dids;
use selfsame_core::identity::{Identity, Wish, WishedKey};
use selfsame_core::machine::Machine as _;
use selfsame_core::organisation::look::{LogoFile, LookView, OrganisationLook};
use selfsame_core::organisation::{HostedOrganisation, Organisation, Organisations, erased, wish};
use selfsame_core::{Correspondent, Shared};
use selfsame_document_signer::DocumentSigners;
use selfsame_driver::{Error, Result, ShortLived};
use selfsame_haip::WantedProfile;
use selfsame_store::{Batch, Leased, Store, TenantId};
use selfsame_types::Types;
use tokio::sync::{OnceCell, watch};

use crate::certificate::Certificates;
use crate::config::{RoleSet, RolesConfig};
use crate::context::{Context, HeldProofs, OrganisationFacts, OwnActEntry, OwnIssuer};
use crate::issuer::{Issuer, IssuerMemory, anchor};
use crate::verifier::{RequestCache, Verifier};
use open::{OpenOrganisation, OpenOrganisations};

/// Interval between signings of changed lists; changes within a second go into one list.
const PUBLISHED_EVERY: Duration = Duration::from_millis(500);
/// Interval between anchorings; changes within it go into one transaction.
const ANCHORED_EVERY: Duration = Duration::from_secs(1);

/// The roles of one organisation, as far as it has them.
pub struct OrganisationRoles {
    /// Where its records and addresses are.
    pub organisation: Organisation,
    /// Its issuer.
    pub issuer: Option<Arc<Issuer>>,
    /// Its verifier.
    pub verifier: Option<Arc<Verifier>>,
    /// Its issuer as long as it issues nothing any more, for those who check what it issued.
    former_issuer: Option<Arc<Issuer>>,
    /// What is kept of the organisations.
    pub(crate) organisations: Organisations,
}

/// The roles of the organisations of one instance.
pub struct Roles {
    shared: Arc<Shared>,
    wanted: RoleSet,
    config: Arc<RolesConfig>,
    dids: Dids,
    /// The organisation that every instance has.
    pub main: Arc<OrganisationRoles>,
    organisations: Organisations,
    types: Arc<Types>,
    own_acts: Arc<OnceLock<Box<OwnActEntry>>>,
    proofs: Arc<OnceLock<Box<dyn HeldProofs>>>,
    certificates: Certificates,
    gate: Arc<WalletGate>,
    open: OpenOrganisations,
    memory: RoleMemory,
}

/// What all organisations keep in memory together.
#[derive(Clone, Default)]
struct RoleMemory {
    issuers: Arc<IssuerMemory>,
    requests: Arc<RequestCache>,
}

impl Roles {
    /// Opens the roles of the organisation that every instance has; its issuer and its verifier get their identities
    /// at the first start. Moves the keys of certificates from the settings into the key store, sealed.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; the store's and the registry's errors.
    pub async fn open(
        shared: &Arc<Shared>,
        wanted: RoleSet,
        mut config: RolesConfig,
    ) -> Result<Self> {
        let organisation = Organisation::main(&shared.config.origin)?;
        let keys = &shared.keys;
        let certificates = Certificates::open(&mut config, wanted, &organisation, keys).await?;
        certificates.report(&shared.trust.now().anchors, shared.clock.now());
        let types = types_of(shared, &config);
        let gate = Arc::new(gate(shared, &config).await?);
        let context = Arc::new(Context {
            types: types.clone(),
            config: Arc::new(config.clone()),
            organisation: organisation.clone(),
            issuer_certificate: certificates.issuer.clone(),
            verifier_certificate: certificates.verifier.clone(),
            documents: documents(shared, &organisation),
            gate: gate.clone(),
            own_issuer: OnceLock::new(),
            own_acts: Arc::default(),
            proofs: Arc::default(),
            facts: RwLock::new(OrganisationFacts {
                title: config.issuer.name.as_str().into(),
                samples: true,
                look: OrganisationLook::default(),
                changes: 0,
            }),
        });
        let memory = RoleMemory::default();
        let mut issuer = None;
        if wanted.issuer {
            let wish = issuers_wish(&organisation, &config);
            let identity = Arc::new(Identity::open(shared, &wish).await?);
            issuer = Some(memory.issuer(shared, &context, identity).await?);
        }
        let mut verifier = None;
        if wanted.verifier {
            let url = organisation.url("verifier")?;
            let wish = verifiers_wish(&organisation, url.as_str(), &config);
            let identity = Arc::new(Identity::open(shared, &wish).await?);
            verifier = Some(memory.verifier(shared, &context, identity));
        }
        // What belongs to the first organisation alone.
        config.issuer.did = None;
        config.issuer.certificate = None;
        config.verifier.certificate = None;
        let organisations = Organisations::new(shared.clone());
        Ok(Self {
            dids: Dids::new(shared.clone()),
            organisations: organisations.clone(),
            types,
            own_acts: context.own_acts.clone(),
            proofs: context.proofs.clone(),
            certificates,
            gate,
            shared: shared.clone(),
            wanted,
            config: Arc::new(config),
            main: Arc::new(OrganisationRoles {
                organisation,
                issuer,
                verifier,
                former_issuer: None,
                organisations,
            }),
            open: open::none(),
            memory,
        })
    }

    /// The certificates that the first organisation signs with, by the role.
    pub fn certificates(&self) -> impl Iterator<Item = (&'static str, &Certificate)> {
        let Certificates { issuer, verifier } = &self.certificates;
        let all = [("issuer", issuer), ("verifier", verifier)];
        all.into_iter()
            .filter_map(|(role, one)| Some((role, one.as_ref()?)))
    }

    /// What judges wallets that are attested.
    #[must_use]
    pub fn gate(&self) -> &Arc<WalletGate> {
        &self.gate
    }

    /// The credential types of every organisation.
    #[must_use]
    pub fn types(&self) -> &Arc<Types> {
        &self.types
    }

    /// The organisations beside the one that every instance has.
    #[must_use]
    pub fn organisations(&self) -> &Organisations {
        &self.organisations
    }

    /// The roles that another organisation has now, opened if they are not open yet.
    ///
    /// # Errors
    /// The store's and the registry's.
    pub async fn of(&self, hosted: &HostedOrganisation) -> Result<Arc<OrganisationRoles>> {
        let open = self.opened(hosted).await?;
        let record = &hosted.record;
        let publishes = self.wanted.issuer && (record.issuer || record.was_issuer);
        let issuer = match publishes {
            true => {
                let (memory, shared) = (&self.memory, &self.shared);
                let opening = || memory.issuer(shared, &open.context, open.identity.clone());
                let issuer = open.issuer.get_or_try_init(opening).await?;
                issuer.lists().catch_up().await?;
                Some(issuer.clone())
            }
            false => None,
        };
        let (issuer, former_issuer) = match record.issuer {
            true => (issuer, None),
            false => (None, issuer),
        };
        let verifies = self.wanted.verifier && record.verifier;
        Ok(Arc::new(OrganisationRoles {
            organisation: open.context.organisation.clone(),
            issuer,
            verifier: verifies.then(|| open.verifier.clone()),
            former_issuer,
            organisations: self.organisations.clone(),
        }))
    }

    /// Another organisation with the title that it has now, opened if it is not open yet.
    ///
    /// # Errors
    /// `Gone` for one that was erased, and whose time is over: its identity must not be made again.
    async fn opened(&self, hosted: &HostedOrganisation) -> Result<Arc<OpenOrganisation>> {
        let now = self.shared.clock.now();
        let erasure = hosted.record.erasure.as_ref();
        if erasure.is_some_and(|erasure| !erasure.publishes(now)) {
            return Err(erased(&hosted.name));
        }
        let open = self
            .open
            .get(&hosted.name, || self.open_organisation(hosted))
            .await?;
        open.context.renew(&hosted.record);
        Ok(open)
    }

    async fn open_organisation(&self, hosted: &HostedOrganisation) -> Result<OpenOrganisation> {
        let shared = &self.shared;
        let organisation = hosted.organisation(&shared.config.origin)?;
        let identity = Arc::new(Identity::open(shared, &wish(&organisation, None)).await?);
        self.dids.ensure_registered(&identity).await?;
        let context = Arc::new(Context {
            types: self.types.clone(),
            config: self.config.clone(),
            documents: documents(shared, &organisation),
            organisation,
            issuer_certificate: None,
            verifier_certificate: None,
            gate: self.gate.clone(),
            own_issuer: OnceLock::new(),
            own_acts: self.own_acts.clone(),
            proofs: self.proofs.clone(),
            facts: RwLock::new(OrganisationFacts::of(&hosted.record)),
        });
        let verifier = self.memory.verifier(shared, &context, identity.clone());
        Ok(OpenOrganisation {
            verifier,
            issuer: OnceCell::new(),
            context,
            identity,
        })
    }

    /// The machines that get answers to calls.
    #[must_use]
    pub fn correspondents(self: &Arc<Self>) -> Vec<Arc<dyn Correspondent>> {
        let verifiers = || -> Arc<dyn Correspondent> { Arc::new(Verifiers(self.clone())) };
        self.wanted.verifier.then(verifiers).into_iter().collect()
    }

    /// The identities of the organisation that every instance has. Their DIDs must be registered before the instance
    /// is ready: the issuer's, then the verifier's.
    pub fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> {
        let (issuer, verifier) = (self.main.issuer.as_ref(), self.main.verifier.as_ref());
        let issuer = issuer.map(|issuer| issuer.identity());
        let verifier = verifier.map(|verifier| verifier.identity());
        issuer.into_iter().chain(verifier)
    }

    /// The kinds of records of the roles that can be used once or for a limited time, of each organisation.
    ///
    /// # Errors
    /// The store's.
    pub async fn short_lived(store: &Store) -> Result<Vec<ShortLived>> {
        let mut kinds = Vec::new();
        let main = [TenantId::parse("issuer")?, TenantId::parse("verifier")?];
        for tenant in main.into_iter().chain(Organisations::tenants(store).await?) {
            kinds.push(ShortLived::of(tenant.clone(), crate::issuer::OFFER));
            kinds.push(ShortLived::of(tenant.clone(), crate::issuer::GRANT));
            kinds.push(ShortLived::of(tenant.clone(), selfsame_approvals::DEFERRAL));
            kinds.push(ShortLived {
                tenant,
                kind: crate::verifier::VERIFICATION,
                is_open: crate::verifier::is_open,
            });
        }
        Ok(kinds)
    }

    /// Has the instance's own acts written into the audit trail, by what this makes of them.
    pub fn note_own_acts(&self, entry: Box<OwnActEntry>) {
        // The first one stays.
        let _ = self.own_acts.set(entry);
    }

    /// Has what was proven for applications judged by this, before their credentials are issued.
    pub fn judge_applications(&self, proofs: Box<dyn HeldProofs>) {
        // The first one stays.
        let _ = self.proofs.set(proofs);
    }

    /// Starts the background tasks, which end when `stopping` becomes true.
    pub fn start(self: &Arc<Self>, stopping: watch::Receiver<bool>) {
        if self.wanted.issuer {
            if self.shared.store.is_shared() {
                tokio::spawn(following::run(self.clone(), stopping.clone()));
            }
            tokio::spawn(publishing(self.clone(), stopping.clone()));
            tokio::spawn(anchoring(self.clone(), stopping));
        }
    }

    /// The issuers that are open now.
    fn open_issuers(&self) -> Vec<Arc<Issuer>> {
        let main = self.main.issuer.iter().cloned();
        open::issuers(&self.open).into_iter().chain(main).collect()
    }

    /// The verifier that made the requests of a tenant, even if its organisation is no verifier any more.
    async fn verifier_of(&self, tenant: &TenantId) -> Result<Arc<Verifier>> {
        let absent = || Error::internal(format!("no organisation has the tenant {tenant}"));
        if *tenant == self.main.organisation.verifier {
            return self.main.verifier.clone().ok_or_else(absent);
        }
        let hosted = self.organisations.of_tenant(tenant).await?;
        let open = self.opened(&hosted.ok_or_else(absent)?).await?;
        Ok(open.verifier.clone())
    }
}

/// The credential types, with the samples if they are wanted.
fn types_of(shared: &Shared, config: &RolesConfig) -> Arc<Types> {
    let issuer = &config.issuer;
    let samples = issuer.samples.then_some(issuer.vct_base.as_str());
    Arc::new(Types::new(shared.store.clone(), samples))
}

/// What judges wallets that are attested.
async fn gate(shared: &Shared, config: &RolesConfig) -> Result<WalletGate> {
    let wanted = &config.issuer.attestation;
    let (store, keys) = (shared.store.clone(), shared.keys.clone());
    let own = Attester::new(store, keys, shared.clock.clone(), &shared.config.origin);
    let gate = WalletGate::open(&own, wanted, anchors(&wanted.certificates())?).await?;
    Ok(match config.issuer.profile {
        Some(WantedProfile::Haip) => gate.by_certificates_alone(),
        None => gate,
    })
}

/// The authority and the document signer of an organisation, which are made at their first use.
fn documents(shared: &Shared, organisation: &Organisation) -> DocumentSigners {
    let (store, keys) = (shared.store.clone(), shared.keys.clone());
    DocumentSigners::new(
        store,
        keys,
        shared.clock.clone(),
        organisation.issuer.clone(),
    )
}

/// The machine of requests, whatever organisation made them.
struct Verifiers(Arc<Roles>);

#[async_trait]
impl Correspondent for Verifiers {
    fn name(&self) -> &'static str {
        Verifier::KIND
    }

    async fn carry_out(self: Arc<Self>, shared: &Arc<Shared>, leased: &Leased) -> Result<()> {
        let verifier = self.0.verifier_of(&leased.tenant).await?;
        // What comes of the call may be judged.
        verifier.trust().now().await?;
        verifier.carry_out(shared, leased).await
    }

    async fn given_up(&self, shared: &Shared, leased: &Leased, error: &Error) -> Result<Batch> {
        let verifier = self.0.verifier_of(&leased.tenant).await?;
        Correspondent::given_up(&*verifier, shared, leased, error).await
    }
}

/// Signs the changed lists of all issuers, until the instance stops.
async fn publishing(roles: Arc<Roles>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PUBLISHED_EVERY) => {}
            _ = stopping.changed() => return,
        }
        for issuer in roles.open_issuers() {
            if let Err(error) = issuer.lists().renew().await {
                tracing::warn!(%error, "status lists can't be signed now");
            }
        }
    }
}

/// Anchors the changed lists of all issuers each second, until the instance stops.
async fn anchoring(roles: Arc<Roles>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(ANCHORED_EVERY) => {}
            _ = stopping.changed() => return,
        }
        for issuer in roles.open_issuers() {
            if let Err(error) = anchor(&issuer, &roles.dids).await {
                tracing::warn!(%error, "status lists can't be anchored now");
            }
        }
    }
}

/// What the identity of the first organisation's issuer is created from.
fn issuers_wish<'a>(organisation: &'a Organisation, config: &'a RolesConfig) -> Wish<'a> {
    Wish {
        existing: config.issuer.did.as_deref(),
        key: WishedKey::labelled(config.issuer.pkcs11_key.as_deref()),
        named: config.issuer.issuer_did,
        ..wish(organisation, config.issuer.did_method)
    }
}

/// What the identity of the first organisation's verifier is created from.
fn verifiers_wish<'a>(
    organisation: &'a Organisation,
    web_url: &'a str,
    config: &RolesConfig,
) -> Wish<'a> {
    Wish {
        web_url,
        tenant: organisation.verifier.clone(),
        // Which name a verifier asks under is a setting of each request.
        named: NamedDid::Own,
        ..wish(organisation, config.verifier.did_method)
    }
}

impl RoleMemory {
    async fn issuer(
        &self,
        shared: &Arc<Shared>,
        context: &Arc<Context>,
        identity: Arc<Identity>,
    ) -> Result<Arc<Issuer>> {
        let memory = self.issuers.clone();
        let opening = Issuer::open(shared.clone(), context.clone(), identity.clone(), memory);
        let issuer = opening.await?;
        let names = issuer.names();
        let _ = context.own_issuer.set(OwnIssuer { names, identity });
        Ok(Arc::new(issuer))
    }

    fn verifier(
        &self,
        shared: &Arc<Shared>,
        context: &Arc<Context>,
        identity: Arc<Identity>,
    ) -> Arc<Verifier> {
        let (shared, context) = (shared.clone(), context.clone());
        let requests = self.requests.clone();
        Arc::new(Verifier::new(shared, context, identity, requests))
    }
}

impl OrganisationRoles {
    /// How the organisation looks.
    ///
    /// # Errors
    /// The store's.
    pub async fn look(&self) -> Result<LookView> {
        let look = self.organisations.look(&self.organisation.name).await?;
        look.view(&self.organisation)
    }

    /// The file of its logo with this digest.
    ///
    /// # Errors
    /// `NotFound` if it has no such logo now; those of the store.
    pub async fn logo(&self, digest: &str) -> Result<LogoFile> {
        self.organisations.logo(&self.organisation, digest).await
    }

    /// Its issuer.
    ///
    /// # Errors
    /// `NotFound` if it is not an issuer.
    pub fn issuer(&self) -> Result<&Arc<Issuer>> {
        let issuer = self.issuer.as_ref();
        issuer.ok_or_else(|| Error::not_found("issuer-absent"))
    }

    /// Its issuer, or the one that it was: for what others need to check the credentials that it issued.
    ///
    /// # Errors
    /// `NotFound` if it never was an issuer.
    pub fn publisher(&self) -> Result<&Arc<Issuer>> {
        match &self.former_issuer {
            Some(former) => Ok(former),
            None => self.issuer(),
        }
    }

    /// The identity whose `did:web` document is at its identifier.
    ///
    /// # Errors
    /// `NotFound` if it has no document there.
    pub fn identity(&self) -> Result<&Arc<Identity>> {
        match (self.publisher(), &self.verifier) {
            (Err(_), Some(verifier)) if !self.organisation.name.is_main() => {
                Ok(verifier.identity())
            }
            (publisher, _) => publisher.map(|issuer| issuer.identity()),
        }
    }

    /// Its verifier.
    ///
    /// # Errors
    /// `NotFound` if it is not a verifier.
    pub fn verifier(&self) -> Result<&Arc<Verifier>> {
        let verifier = self.verifier.as_ref();
        verifier.ok_or_else(|| Error::not_found("verifier-absent"))
    }
}
