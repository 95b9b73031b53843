//! The issuer: offers, issues and revokes credentials.

mod anchors;
mod attested;
mod awaited;
mod by_sign_in;
mod deferred;
mod erasure;
mod in_book;
pub mod lists;
mod memory;
mod metadata;
mod notified;
mod offers;
mod protocol;
mod proven;
mod redeeming;
mod register;
mod signed_metadata;
mod signing;
mod statuses;

use std::sync::{Arc, PoisonError, RwLock};

use selfsame_credential::mdoc::certificate::to_pem;
use selfsame_crypto::seal::SealingKey;
use selfsame_did::Did;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::issuer::{EnforcedMetadata, IssuerSettings};
use selfsame_openid4vc::wire::credential::EndpointEncryption;
use selfsame_store::TenantId;
use selfsame_types::{OwnTypes, TypeSet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::delegations::Delegations;
use crate::issuer::lists::Lists;
use crate::issuer::metadata::{IssuerFace, MadeDocuments, display};
use crate::issuer::signed_metadata::LastSigned;
use crate::refusal::refusal;
use crate::view::documents::{DocumentsId, Published};
use crate::view::issuer::{Delegation, NewDelegation};
use selfsame_core::Shared;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::look::OrganisationLook;

pub use crate::view::by_sign_in::TokenBySignIn;
pub use crate::view::issuer::{ChangedStatus, ProvenOffer, ValidIssued};
pub(crate) use anchors::anchor;
pub(crate) use erasure::{NEWEST, WITHDRAWN, strip_issued, valid_issued};
pub(crate) use lists::ANCHORED;
pub(crate) use memory::IssuerMemory;
pub(crate) use offers::OFFER;
pub use offers::{OfferDesk, OfferDrafts};
pub(crate) use protocol::GRANT;
pub use redeeming::TokenHeaders;
pub use register::SignedElsewhere;
pub use statuses::StatusChanges;

/// The issuer of one instance.
pub struct Issuer {
    shared: Arc<Shared>,
    context: Arc<Context>,
    key: SealingKey,
    current: RwLock<Arc<Current>>,
    identity: Arc<Identity>,
    lists: Arc<Lists>,
    memory: Arc<IssuerMemory>,
    signed: LastSigned,
}

/// What an issuer issues, as its types, its title and its look were at one time.
struct Current {
    title: Arc<str>,
    look: OrganisationLook,
    types: Arc<TypeSet>,
    settings: IssuerSettings,
    documents: DocumentsId,
}

/// What a [`Current`] is made from, besides types.
struct CurrentParts<'a> {
    shared: &'a Shared,
    context: &'a Context,
    identity: &'a Identity,
    key: &'a SealingKey,
    memory: &'a IssuerMemory,
}

impl CurrentParts<'_> {
    /// The documents that describe these types.
    fn documents(
        &self,
        title: &str,
        look: &OrganisationLook,
        types: &TypeSet,
    ) -> Result<MadeDocuments> {
        let face = IssuerFace {
            display: display(self.context, title, look)?,
            encryption: self.encryption()?,
        };
        let listed: Vec<_> = types.listed(self.shared.clock.now()).cloned().collect();
        MadeDocuments::new(self.context, face, self.identity, &listed)
    }

    /// How its credential endpoint encrypts messages. Each organisation has a key of its own.
    fn encryption(&self) -> Result<Option<EndpointEncryption>> {
        let Context { organisation, .. } = self.context;
        let own = self.key.derive(organisation.identifier.as_bytes());
        let wanted = self.context.config.issuer.encryption;
        EndpointEncryption::new(wanted, &own).map_err(refusal)
    }
}

impl Current {
    fn new(parts: &CurrentParts<'_>, look: OrganisationLook, types: Arc<TypeSet>) -> Result<Self> {
        let title = parts.context.title();
        let made = parts.documents(&title, &look, &types)?;
        let documents = parts.memory.documents.allot();
        let settings = IssuerSettings {
            metadata: EnforcedMetadata::of(&made.issuer)
                .trusting(parts.context.gate.trusted().clone()),
            key: parts.key.clone(),
            encryption: parts.encryption()?,
            nonce_lifetime: 300,
            token_lifetime: 300,
            proof_age: 300,
            leeway: 60,
            round_times_to: parts.context.config.issuer.round_times_to,
        };
        Ok(Self {
            title,
            look,
            types,
            settings,
            documents,
        })
    }
}

/// The contents of a credential, kept from the offer to its issuance.
#[derive(Clone, Deserialize, Serialize)]
struct CredentialSubject {
    #[serde(rename = "type", alias = "template")]
    type_id: String,
    /// The version of the type; an earlier program offered the samples only, and stored none.
    #[serde(default)]
    version: Option<u32>,
    format: String,
    claims: Map<String, Value>,
    /// The claims that only the issuer keeps.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    kept: Map<String, Value>,
    label: Option<String>,
    offer: String,
    /// The application whose proof must still hold when the credential is issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    application: Option<String>,
    /// Whether somebody must approve the request before the credential is issued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    needs_approval: bool,
}

impl Issuer {
    /// Opens the issuer with this identity.
    ///
    /// # Errors
    /// If its settings break a rule of the specification.
    pub(crate) async fn open(
        shared: Arc<Shared>,
        context: Arc<Context>,
        identity: Arc<Identity>,
        memory: Arc<IssuerMemory>,
    ) -> Result<Self> {
        let key = shared.instance_key("issuer").await?;
        let types = context.types_now().await?;
        let parts = CurrentParts {
            shared: &shared,
            context: &context,
            identity: &identity,
            key: &key,
            memory: &memory,
        };
        let look = context.look(&shared).await?;
        let current = RwLock::new(Arc::new(Current::new(&parts, look, types)?));
        let lists = Arc::new(Lists::open(shared.clone(), context.clone(), identity.clone()).await?);
        Ok(Self {
            shared,
            context,
            key,
            current,
            identity,
            lists,
            memory,
            signed: LastSigned::default(),
        })
    }

    /// The tenant of its records.
    pub(crate) fn tenant(&self) -> &TenantId {
        &self.context.organisation.issuer
    }

    /// Its public documents, made again if its types, its title or its look have changed.
    ///
    /// # Errors
    /// The store's.
    pub async fn published(&self) -> Result<Arc<Published>> {
        self.documents_of(&*self.current_shown().await?)
    }

    /// What it issues now, with how it looks now.
    async fn current_shown(&self) -> Result<Arc<Current>> {
        let look = self.context.look(&self.shared).await?;
        self.current_with(look).await
    }

    fn documents_of(&self, current: &Current) -> Result<Arc<Published>> {
        let documents = &self.memory.documents;
        if let Some(held) = documents.find(current.documents) {
            return Ok(held);
        }
        let parts = self.parts();
        let made = parts.documents(&current.title, &current.look, &current.types)?;
        let published = Arc::new(made.published()?);
        documents.hold(current.documents, published.clone());
        Ok(published)
    }

    /// The certificate (PEM) of the authority of its mobile documents.
    ///
    /// # Errors
    /// `NotFound` before the first document was issued; the store's.
    pub async fn authority(&self) -> Result<String> {
        let authority = self.context.documents.authority().await?;
        let authority = authority.ok_or_else(|| Error::not_found("authority-unmade"))?;
        Ok(to_pem(&authority))
    }

    /// Its identifier.
    #[must_use]
    pub fn identifier(&self) -> String {
        self.context.organisation.identifier.clone()
    }

    /// The names under which it issues: its DIDs and its identifier.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = self.identity.names();
        names.push(self.identifier());
        names
    }

    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> Arc<str> {
        self.context.title()
    }

    /// Its credential types.
    #[must_use]
    pub fn types(&self) -> OwnTypes<'_> {
        self.context.own_types()
    }

    /// What it issues now, made again if its types or its title have changed.
    async fn current(&self) -> Result<Arc<Current>> {
        // How it looks matters to its documents alone.
        let look = self.latest().look.clone();
        self.current_with(look).await
    }

    async fn current_with(&self, look: OrganisationLook) -> Result<Arc<Current>> {
        let types = self.context.types_now().await?;
        let latest = self.latest();
        let is_same = latest.types.stamp == types.stamp && latest.look == look;
        if is_same && latest.title == self.context.title() {
            return Ok(latest);
        }
        let current = Arc::new(Current::new(&self.parts(), look, types)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current.clone();
        Ok(current)
    }

    fn parts(&self) -> CurrentParts<'_> {
        CurrentParts {
            shared: &self.shared,
            context: &self.context,
            identity: &self.identity,
            key: &self.key,
            memory: &self.memory,
        }
    }

    /// What it issued when its types were last looked at.
    fn latest(&self) -> Arc<Current> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its identity.
    #[must_use]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// Whether some of the credentials it offers name an issuer DID that only those who know its registry can resolve.
    /// Single-use credentials are left out: they are spent in that registry anyway.
    #[must_use]
    pub fn is_for_few(&self) -> bool {
        self.context.formats().any(|format| {
            let by = signing::signatory(
                &self.context,
                &self.identity,
                signing::CredentialKind::of(format),
            );
            Did::parse(&by.issuer).is_ok_and(|did| did.origin().is_registry())
        })
    }

    /// Allows a DID to use up or revoke credentials of these types for a time. Returns once the registry has it.
    ///
    /// # Errors
    /// `BadRequest` for a delegation that is not possible; the registry's.
    pub async fn delegate(&self, new: &NewDelegation) -> Result<Delegation> {
        self.given().delegate(new).await
    }

    /// The delegations, newest first, including those that have ended.
    ///
    /// # Errors
    /// The store's, the registry's.
    pub async fn delegations(&self, paging: &Paging) -> Result<Listing<Delegation>> {
        self.given().list(paging).await
    }

    /// Ends a delegation early. Uses and revocations made under it remain.
    ///
    /// # Errors
    /// `NotFound`; the registry's.
    pub async fn withdraw_delegation(&self, name: &str) -> Result<Delegation> {
        self.given().withdraw(name).await
    }

    fn given(&self) -> Delegations<'_> {
        Delegations {
            shared: &self.shared,
            context: &self.context,
            issuer: &self.identity,
        }
    }

    /// Its status lists.
    #[must_use]
    pub fn lists(&self) -> &Arc<Lists> {
        &self.lists
    }
}
