//! The records of the organisations that this instance hosts beside the one that every instance has.

use std::sync::Arc;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, Tag, TenantId};
use serde::{Deserialize, Serialize};
use url::Url;

use super::erasure::{Erasure, erased};
use super::hosts::{self, ReservedHost};
use super::look::OrganisationLook;
use super::view::{NewOrganisation, OrganisationChange, OrganisationState, OrganisationView};
use super::{HostName, Organisation, OrganisationName, TENANT};
use crate::config::{DidMethod, NamedDid};
use crate::identity::{Identity, Wish, WishedKey};
use crate::shared::Shared;

/// The kind of the records.
pub(super) const ORGANISATION: &str = "organisation";
/// Maximum number of characters of a title.
const TITLE_MAX: usize = 100;
/// The settings of identities of organisations: those of a new instance.
const NAMED: NamedDid = NamedDid::Portable;

/// What is kept of an organisation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OrganisationRecord {
    pub(super) tenant: String,
    /// Its own host, which its identifiers name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostName>,
    /// Its name for people.
    pub title: String,
    /// Whether it issues credentials.
    pub issuer: bool,
    /// Whether it asks for presentations.
    pub verifier: bool,
    /// Whether it issued credentials before, so that others may have to check them.
    #[serde(default)]
    pub was_issuer: bool,
    /// Whether it issues the samples, if the instance has them.
    #[serde(default = "super::view::yes")]
    pub samples: bool,
    /// How it looks.
    #[serde(default)]
    pub look: OrganisationLook,
    /// Its state.
    pub state: OrganisationState,
    created: UnixTime,
    did: String,
    /// How often it was changed.
    #[serde(default)]
    pub changes: u64,
    /// Its erasure, if one was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<Erasure>,
}

/// An organisation's record as it was read.
#[derive(Clone, Debug)]
pub struct HostedOrganisation {
    /// Its name in addresses.
    pub name: OrganisationName,
    /// What is kept of it.
    pub record: OrganisationRecord,
    version: u64,
}

impl HostedOrganisation {
    pub(super) fn read(stored: &Record) -> Result<Self> {
        Ok(Self {
            name: OrganisationName::parse(&stored.id)?,
            record: decode(&stored.value)?,
            version: stored.version,
        })
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The tenant of its records.
    ///
    /// # Errors
    /// `Internal` for a record that is damaged.
    pub fn tenant(&self) -> Result<TenantId> {
        TenantId::parse(&self.record.tenant).map_err(Error::internal)
    }

    /// Where its records and addresses are, on the instance with this origin.
    ///
    /// # Errors
    /// Those of [`Self::tenant`], and `Internal` for an origin that no address can stand below.
    pub fn organisation(&self, origin: &Url) -> Result<Organisation> {
        let (name, host) = (self.name.clone(), self.record.host.as_ref());
        Organisation::named(name, self.tenant()?, origin, host)
    }
}

/// The organisations of an instance, beside the one that every instance has.
#[derive(Clone)]
pub struct Organisations {
    pub(super) shared: Arc<Shared>,
}

impl Organisations {
    /// Those in the store of these parts.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Creates an organisation with a key and a DID of its own. The caller registers the DID.
    ///
    /// # Errors
    /// `BadRequest` for a name or a title that is not one, `Conflict` for a name that is taken or looks like one that
    /// is; the registry's and the store's errors.
    pub async fn create(&self, new: &NewOrganisation) -> Result<(HostedOrganisation, Identity)> {
        let name = OrganisationName::for_new(&new.name)?;
        let title = title(&new.title)?;
        let method = new.did_method.as_deref().map(DidMethod::named);
        let method = method.transpose()?;
        at_least_one_role(new.issuer, new.verifier)?;
        let origin = &self.shared.config.origin;
        self.is_free(&name).await?;
        let reserved = self.free_host(new.host.as_deref(), &name).await?;
        let host = reserved.as_ref().map(|reserved| reserved.host.clone());
        let ctx = self.shared.clock.ctx();
        let tenant = format!(
            "{TENANT}{}",
            hex_encode(&ctx.random::<16>("organisation/tenant"))
        );
        let id = TenantId::parse(&tenant).map_err(Error::internal)?;
        let place = Organisation::named(name.clone(), id, origin, host.as_ref())?;
        let wish = Wish {
            key: match self.shared.config.organisations.pkcs11_keys {
                Some(kind) => WishedKey::NewInHsm(kind.into()),
                None => WishedKey::Sealed,
            },
            ..wish(&place, method)
        };
        let identity = Identity::open(&self.shared, &wish).await?;
        let record = OrganisationRecord {
            tenant,
            host,
            title,
            issuer: new.issuer,
            verifier: new.verifier,
            samples: new.samples,
            look: OrganisationLook::default(),
            state: OrganisationState::Active,
            created: ctx.now(),
            did: identity.did().to_string(),
            was_issuer: false,
            changes: 0,
            erasure: None,
        };
        let batch = Batch::new(TenantId::instance())
            .expect(ORGANISATION, name.as_str(), Expect::Absent)
            // Reserves what the name looks like, so that two requests at once can't take names that look alike.
            .expect(SKELETON, &name.skeleton(), Expect::Absent)
            .put(Put::new(SKELETON, name.skeleton(), Vec::new()))
            .put(put(&name, &record)?);
        let batch = match &reserved {
            Some(reserved) => reserved.within(batch)?,
            None => batch,
        };
        match self.shared.store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => {
                // Another request was faster, by the name or by the host.
                self.is_free(&name).await?;
                let host = record.host.as_ref();
                return Err(host.map_or_else(|| taken(&name), hosts::taken));
            }
            Err(other) => return Err(other.into()),
        }
        if let Some(host) = &record.host {
            self.shared.hosts.forget(host.as_str());
        }
        tracing::info!(organisation = %name, did = record.did, "organisation created");
        let created = self.find(&name).await?.ok_or_else(unknown)?;
        Ok((created, identity))
    }

    /// Changes what can be changed of an organisation.
    ///
    /// # Errors
    /// `NotFound`; `Gone` for one that is erased; `BadRequest` for a title that is not one; `Conflict` if others change it
    /// at the same time.
    pub async fn change(
        &self,
        name: &OrganisationName,
        change: &OrganisationChange,
    ) -> Result<HostedOrganisation> {
        let mut hosted = self.find(name).await?.ok_or_else(unknown)?;
        changeable(name, &hosted.record, change)?;
        let record = &mut hosted.record;
        if let Some(told) = &change.title {
            record.title = title(told)?;
        }
        record.was_issuer |= record.issuer;
        record.issuer = change.issuer.unwrap_or(record.issuer);
        record.verifier = change.verifier.unwrap_or(record.verifier);
        record.samples = change.samples.unwrap_or(record.samples);
        record.state = change.state.unwrap_or(record.state);
        at_least_one_role(record.issuer, record.verifier)?;
        self.store_changed(hosted).await
    }

    /// Stores a changed record, unless others have changed it since it was read.
    pub(super) async fn store_changed(
        &self,
        changed: HostedOrganisation,
    ) -> Result<HostedOrganisation> {
        let HostedOrganisation {
            name,
            mut record,
            version,
        } = changed;
        record.changes = record.changes.saturating_add(1);
        let batch = Batch::new(TenantId::instance())
            .expect(ORGANISATION, name.as_str(), Expect::Version(version))
            .put(put(&name, &record)?);
        match self.shared.store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => {
                return Err(Error::new(ErrorKind::Conflict, "organisation-changed"));
            }
            Err(other) => return Err(other.into()),
        }
        tracing::info!(organisation = %name, state = record.state.as_str(), "organisation changed");
        self.find(&name).await?.ok_or_else(unknown)
    }

    /// The organisation with this name.
    ///
    /// # Errors
    /// The store's.
    pub async fn find(&self, name: &OrganisationName) -> Result<Option<HostedOrganisation>> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let found = store.read(&instance, ORGANISATION, name.as_str()).await?;
        found.as_ref().map(HostedOrganisation::read).transpose()
    }

    /// The organisation whose records this tenant holds.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_tenant(&self, tenant: &TenantId) -> Result<Option<HostedOrganisation>> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let tag = Tag::hashed("tenant", tenant.as_str().to_owned());
        let page = Page::first(1);
        let found = store.find(&instance, ORGANISATION, &tag, &page).await?;
        found.first().map(HostedOrganisation::read).transpose()
    }

    /// The organisations, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<OrganisationView>> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let records = store.list(&instance, ORGANISATION, &page(paging)).await?;
        listing(&records, paging, |stored| {
            self.view(&HostedOrganisation::read(stored)?)
        })
    }

    /// The tenants of these organisations, oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn tenants(store: &selfsame_store::Store) -> Result<Vec<TenantId>> {
        let tenant = |stored: &Record| HostedOrganisation::read(stored)?.tenant();
        all(store, &TenantId::instance(), ORGANISATION, tenant).await
    }

    /// Where the records and the addresses of an organisation are.
    ///
    /// # Errors
    /// Those of [`HostedOrganisation::organisation`].
    pub fn place(&self, hosted: &HostedOrganisation) -> Result<Organisation> {
        hosted.organisation(&self.shared.config.origin)
    }

    /// An organisation as it is shown.
    ///
    /// # Errors
    /// `Internal` for an origin that no address can stand below.
    pub fn view(&self, hosted: &HostedOrganisation) -> Result<OrganisationView> {
        let HostedOrganisation { name, record, .. } = hosted;
        let place = self.place(hosted)?;
        let look = record.look.view(&place)?;
        Ok(OrganisationView {
            name: name.to_string(),
            host: record.host.as_ref().map(ToString::to_string),
            title: record.title.clone(),
            issuer: record.issuer,
            verifier: record.verifier,
            samples: record.samples,
            logo: look.logo,
            colour: look.colour,
            state: record.state,
            identifier: place.identifier,
            did: record.did.clone(),
            created: record.created.rfc3339(),
            erasure: record.erasure.as_ref().map(Erasure::view),
        })
    }

    /// The reservation of the host that a new organisation is to have.
    async fn free_host(
        &self,
        told: Option<&str>,
        name: &OrganisationName,
    ) -> Result<Option<ReservedHost>> {
        let Some(told) = told else {
            return Ok(None);
        };
        let host = HostName::for_new(told, &self.shared.config.origin)?;
        let like = ReservedHost::like(&self.shared.store, &host).await?;
        if like.is_some() {
            return Err(hosts::taken(&host));
        }
        let organisation = name.clone();
        Ok(Some(ReservedHost { host, organisation }))
    }

    async fn is_free(&self, name: &OrganisationName) -> Result<()> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let skeleton = name.skeleton();
        match store.version(&instance, SKELETON, &skeleton).await? {
            Some(_) => Err(taken(name)),
            None => Ok(()),
        }
    }
}

/// The kind of the records that reserve what a name looks like.
pub(super) const SKELETON: &str = "organisation_skeleton";

/// What the identity of an organisation is created from, and opened by.
#[must_use]
pub fn wish(place: &Organisation, method: Option<DidMethod>) -> Wish<'_> {
    Wish {
        tenant: place.issuer.clone(),
        method,
        web_url: &place.identifier,
        existing: None,
        named: NAMED,
        key: WishedKey::Sealed,
    }
}

pub(super) fn put(name: &OrganisationName, record: &OrganisationRecord) -> Result<Put> {
    let tag = Tag::hashed("tenant", record.tenant.clone());
    let put = Put::new(ORGANISATION, name.as_str(), encode(record)?).tag(tag);
    let tags = record.erasure.as_ref().and_then(Erasure::tag);
    Ok(tags.into_iter().fold(put, Put::tag))
}

/// Refuses a change of an organisation that is erased, and one that would erase it.
fn changeable(
    name: &OrganisationName,
    record: &OrganisationRecord,
    change: &OrganisationChange,
) -> Result<()> {
    match change.state {
        _ if record.erasure.is_some() => Err(erased(name)),
        Some(OrganisationState::Erasing | OrganisationState::Erased) => {
            Err(Error::bad_request("organisation-state-by-erasure"))
        }
        _ => match change.host.as_deref() {
            Some(told) if Some(told) != record.host.as_ref().map(HostName::as_str) => {
                Err(Error::bad_request("organisation-host-fixed").with("name", name))
            }
            _ => Ok(()),
        },
    }
}

fn title(told: &str) -> Result<String> {
    let title = told.trim();
    let fits = (1..=TITLE_MAX).contains(&title.chars().count())
        && !title.chars().any(char::is_control)
        && crate::view::readable(title) == title;
    match fits {
        true => Ok(title.to_owned()),
        false => {
            Err(Error::bad_request("organisation-title-malformed").with("maximum", &TITLE_MAX))
        }
    }
}

fn at_least_one_role(issuer: bool, verifier: bool) -> Result<()> {
    match issuer || verifier {
        true => Ok(()),
        false => Err(Error::bad_request("organisation-without-role")),
    }
}

pub(super) fn taken(name: &OrganisationName) -> Error {
    Error::new(ErrorKind::Conflict, "organisation-name-taken").with("name", name)
}

pub(super) fn unknown() -> Error {
    Error::not_found("organisation-unknown")
}
