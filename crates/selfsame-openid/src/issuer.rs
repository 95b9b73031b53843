//! The issuer: offers, issues and revokes credentials.

mod anchors;
mod delegations;
mod lanes;
mod list_faces;
pub mod lists;
pub(crate) mod metadata;
mod offers;
mod protocol;
mod register;
mod signing;

use std::sync::Arc;

use selfsame_did::Did;
use selfsame_driver::Result;
use selfsame_openid4vc::issuer::IssuerSettings;
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::issuer::lanes::Lanes;
use crate::issuer::lists::Lists;
use selfsame_core::Shared;
use selfsame_core::identity::Identity;
use selfsame_core::record_cache::RecordCache;

pub(crate) use anchors::anchor;
pub use metadata::Published;
pub(crate) use offers::OFFER;
pub(crate) use protocol::GRANT;

/// The issuer of one instance.
pub struct Issuer {
    shared: Arc<Shared>,
    context: Arc<Context>,
    settings: IssuerSettings,
    published: Published,
    identity: Arc<Identity>,
    lists: Arc<Lists>,
    redeeming: Lanes,
    offers: RecordCache<offers::OfferRecord>,
    grants: RecordCache<protocol::GrantRecord>,
}

/// The contents of a credential, kept from the offer to its issuance.
#[derive(Clone, Deserialize, Serialize)]
struct CredentialSubject {
    template: String,
    format: String,
    claims: Map<String, Value>,
    label: Option<String>,
    offer: String,
}

impl Issuer {
    /// Opens the issuer with this identity.
    ///
    /// # Errors
    /// If its settings break a rule of the specification.
    pub async fn open(
        shared: Arc<Shared>,
        context: Arc<Context>,
        identity: Arc<Identity>,
    ) -> Result<Self> {
        let published = Published::new(&context, &signing::published_key(&context, &identity))?;
        let key = shared.instance_key("issuer").await?;
        let settings = IssuerSettings {
            metadata: published.issuer.clone(),
            key,
            nonce_lifetime: 300,
            token_lifetime: 600,
            proof_age: 300,
            leeway: 60,
            round_times_to: context.config.issuer.round_times_to,
        };
        let lists = Arc::new(Lists::open(shared.clone(), context.clone(), identity.clone()).await?);
        Ok(Self {
            shared,
            context,
            settings,
            published,
            identity,
            lists,
            redeeming: Lanes::new(),
            offers: RecordCache::default(),
            grants: RecordCache::default(),
        })
    }

    /// The tenant of its records.
    fn tenant(&self) -> &TenantId {
        &self.context.organisation.issuer
    }

    /// Its public documents.
    #[must_use]
    pub fn published(&self) -> &Published {
        &self.published
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
        let formats = &self.context.config.issuer.formats;
        formats.iter().any(|format| {
            let by = signing::signatory(
                &self.context,
                &self.identity,
                signing::CredentialKind::of(*format),
            );
            Did::parse(&by.issuer).is_ok_and(|did| did.origin().is_registry())
        })
    }

    /// Its status lists.
    #[must_use]
    pub fn lists(&self) -> &Arc<Lists> {
        &self.lists
    }
}
