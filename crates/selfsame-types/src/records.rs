//! The types of an organisation as records: drafts, which change, and published versions, which do not.

mod definitions;
mod needed;
mod set;
mod stored;
mod summary;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_prerequisites::Day;
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Record, Store, TenantId};
use url::Url;

use crate::check::check;
use crate::image::{CARD_IMAGE_BYTES_MAX, Picture, pictogram, picture};
use crate::model::{Addresses, CredentialType, NewVersion, TypeDefinition, TypeState};
use crate::project::Documents;
use definitions::Definitions;
use needed::check_needed;
use set::SetMember;
use stored::{DRAFT, HEAD, HEAD_ID, HeadEntry, TypesHead, VERSION, VersionRecord, record_id};

pub use set::{TypeSet, TypesStamp};
pub use summary::TypeSummary;

/// Maximum number of published versions of an organisation.
const VERSIONS_MAX: usize = 500;
/// Maximum length of all published versions of an organisation, in bytes.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum length of the sets that are kept parsed, in bytes.
const CACHE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The kinds of the records of published types.
pub const PUBLISHED: [&str; 2] = [HEAD, VERSION];

/// The organisation whose types are meant.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The tenant of its issuer.
    pub tenant: &'a TenantId,
    /// What its addresses begin with.
    pub base: &'a Url,
    /// Whether it issues the samples, if the instance has them.
    pub samples: bool,
}

/// A document of a version of a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DocumentKind {
    /// SD-JWT VC type metadata.
    Metadata,
    /// JSON Schema.
    Schema,
    /// JSON-LD context.
    Context,
    /// The card's logo.
    Logo,
    /// The card's background image.
    Background,
}

/// The types of all organisations of an instance.
pub struct Types {
    store: Store,
    samples: Arc<TypeSet>,
    without_samples: Arc<TypeSet>,
    sets: Mutex<HashMap<TenantId, HeldSet>>,
    definitions: Definitions,
}

/// A set that is kept.
struct HeldSet {
    set: Arc<TypeSet>,
    bytes: usize,
}

impl Types {
    /// The types in this store, with the samples, whose SD-JWT VC types begin with `samples_base`; without it, without
    /// the samples.
    #[must_use]
    pub fn new(store: Store, samples_base: Option<&str>) -> Self {
        let samples = samples_base.map(TypeSet::of_samples).unwrap_or_default();
        Self {
            store,
            samples: Arc::new(samples),
            without_samples: Arc::default(),
            sets: Mutex::default(),
            definitions: Definitions::default(),
        }
    }

    /// The types of one organisation.
    #[must_use]
    pub fn of<'a>(&'a self, owner: Owner<'a>) -> OwnTypes<'a> {
        OwnTypes { types: self, owner }
    }

    /// The published types of an organisation, read again only if they have changed.
    ///
    /// # Errors
    /// The store's.
    pub async fn all(&self, owner: Owner<'_>) -> Result<Arc<TypeSet>> {
        let samples = match owner.samples {
            true => &self.samples,
            false => &self.without_samples,
        };
        let stamp = |version| TypesStamp {
            version: Some(version),
            samples: owner.samples,
        };
        let Some(version) = self.store.version(owner.tenant, HEAD, HEAD_ID).await? else {
            return Ok(samples.clone());
        };
        if let Some(held) = self.held().get(owner.tenant)
            && held.set.stamp == stamp(version)
        {
            return Ok(held.set.clone());
        }
        let Some((head, version)) = self.head(owner.tenant).await? else {
            return Ok(samples.clone());
        };
        let mut members = Vec::new();
        for entry in &head.versions {
            let record = self.version(owner.tenant, entry).await?;
            let one = record.credential_type(entry, owner.base, &self.definitions)?;
            let one = Arc::new(one);
            members.push(SetMember {
                one,
                superseded: entry.superseded,
            });
        }
        let is_free =
            |sample: &&SetMember| !head.versions.iter().any(|entry| entry.id == sample.one.id);
        members.extend(samples.members.iter().filter(is_free).cloned());
        let set = Arc::new(TypeSet {
            stamp: stamp(version),
            members,
        });
        self.hold(
            owner.tenant,
            &set,
            head.versions.iter().map(|entry| entry.bytes).sum(),
        );
        Ok(set)
    }

    /// Drops the types of a tenant from memory.
    pub fn forget(&self, tenant: &TenantId) {
        self.held().remove(tenant);
    }

    async fn head(&self, tenant: &TenantId) -> Result<Option<(TypesHead, u64)>> {
        let record = self.store.read(tenant, HEAD, HEAD_ID).await?;
        let read = |record: Record| Ok((decode(&record.value)?, record.version));
        record.map(read).transpose()
    }

    async fn version(&self, tenant: &TenantId, entry: &HeadEntry) -> Result<VersionRecord> {
        let record = self.store.read(tenant, VERSION, &entry.record_id()).await?;
        let record = record.ok_or_else(|| Error::damaged("a published type has no record"))?;
        decode(&record.value)
    }

    fn hold(&self, tenant: &TenantId, set: &Arc<TypeSet>, bytes: usize) {
        let mut sets = self.held();
        sets.remove(tenant);
        let mut sum: usize = sets.values().map(|held| held.bytes).sum();
        while sum.saturating_add(bytes) > CACHE_BYTES_MAX {
            let Some(other) = sets.keys().next().cloned() else {
                break;
            };
            sum = sum.saturating_sub(sets.remove(&other).map_or(0, |held| held.bytes));
        }
        let set = set.clone();
        sets.insert(tenant.clone(), HeldSet { set, bytes });
    }

    fn held(&self) -> MutexGuard<'_, HashMap<TenantId, HeldSet>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The types of one organisation.
#[derive(Clone, Copy)]
pub struct OwnTypes<'a> {
    types: &'a Types,
    owner: Owner<'a>,
}

impl OwnTypes<'_> {
    /// The published types, read again only if they have changed.
    ///
    /// # Errors
    /// The store's.
    pub async fn all(&self) -> Result<Arc<TypeSet>> {
        self.types.all(self.owner).await
    }

    /// All types of an organisation with their drafts, without their definitions.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self) -> Result<Vec<TypeSummary>> {
        let set = self.all().await?;
        let current = set
            .members
            .iter()
            .filter(|member| member.superseded.is_none());
        let mut all: Vec<TypeSummary> =
            current.map(|member| TypeSummary::of(&member.one)).collect();
        let page = Page::first(MAX_PAGE);
        for record in self
            .types
            .store
            .list(self.owner.tenant, DRAFT, &page)
            .await?
        {
            match all.iter_mut().find(|one| one.id == record.id) {
                Some(published) => published.has_draft = true,
                None => {
                    let mut draft = TypeSummary::of_draft(decode(&record.value)?);
                    draft.draft = None;
                    all.push(draft);
                }
            }
        }
        Ok(all)
    }

    /// All drafts.
    ///
    /// # Errors
    /// The store's.
    pub async fn drafts(&self) -> Result<Vec<TypeDefinition>> {
        let page = Page::first(MAX_PAGE);
        let records = self.types.store.list(self.owner.tenant, DRAFT, &page);
        let records = records.await?.into_iter();
        records.map(|record| decode(&record.value)).collect()
    }

    /// One type, with its definition, its draft and advice.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn one(&self, id: &str) -> Result<TypeSummary> {
        let set = self.all().await?;
        let draft = self.types.store.read(self.owner.tenant, DRAFT, id).await?;
        let draft: Option<TypeDefinition> = match &draft {
            Some(record) => Some(decode(&record.value)?),
            None => None,
        };
        let published = set.newest(id);
        let mut shown = match (published, draft) {
            (Some(published), draft) => TypeSummary {
                definition: Some(TypeDefinition::clone(&published.definition)),
                has_draft: draft.is_some(),
                draft,
                ..TypeSummary::of(published)
            },
            (None, Some(draft)) => TypeSummary {
                definition: Some(draft.clone()),
                draft: None,
                ..TypeSummary::of_draft(draft)
            },
            (None, None) => return Err(set.find(id).err().unwrap_or_else(|| unknown(id))),
        };
        if let Some(definition) = shown.draft.as_ref().or(shown.definition.as_ref()) {
            shown.advice = check(definition).advice;
        }
        Ok(shown)
    }

    /// Creates a draft.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused; `Conflict` if its id is taken.
    pub async fn create(&self, definition: &TypeDefinition) -> Result<TypeSummary> {
        self.save_draft(definition, false).await
    }

    /// Replaces the draft of a type, or begins one.
    ///
    /// # Errors
    /// As [`Self::create`]; `BadRequest` if the definition has another id.
    pub async fn replace(&self, id: &str, definition: &TypeDefinition) -> Result<TypeSummary> {
        if definition.id != id {
            return Err(Error::bad_request("type-id-other")
                .with("id", &definition.id)
                .with("type", id));
        }
        self.save_draft(definition, true).await
    }

    async fn save_draft(&self, definition: &TypeDefinition, replace: bool) -> Result<TypeSummary> {
        check(definition).result()?;
        self.check_new(&*self.all().await?, definition, None)?;
        let id = &definition.id;
        let exists = self
            .types
            .store
            .version(self.owner.tenant, DRAFT, id)
            .await?;
        let set = self.all().await?;
        if !replace && (exists.is_some() || set.newest(id).is_some()) {
            return Err(Error::new(ErrorKind::Conflict, "type-id-taken").with("type", id));
        }
        if exists.is_none() {
            let (store, most) = (&self.types.store, VERSIONS_MAX as u64);
            if store.count(self.owner.tenant, DRAFT, most).await? >= most {
                return Err(full());
            }
        }
        let put = Put::new(DRAFT, id, encode(definition)?);
        let expect = exists.map_or(Expect::Absent, Expect::Version);
        let batch = Batch::new(self.owner.tenant.clone())
            .expect(DRAFT, id, expect)
            .put(put);
        self.types.store.commit(batch).await?;
        self.one(id).await
    }

    /// Deletes a draft. Published versions stay.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_draft(&self, id: &str) -> Result<()> {
        let version = self
            .types
            .store
            .version(self.owner.tenant, DRAFT, id)
            .await?;
        let version = version.ok_or_else(|| no_draft(id))?;
        let batch = Batch::new(self.owner.tenant.clone())
            .expect(DRAFT, id, Expect::Version(version))
            .delete(DRAFT, id);
        self.types.store.commit(batch).await?;
        Ok(())
    }

    /// Publishes a draft as the next version. From then on the version does not change. `further` gives what is written
    /// in the same commit.
    ///
    /// # Errors
    /// `NotFound` without a draft; `BadRequest` if it is refused; `Full` beyond the limits; those of `further`.
    pub async fn publish(
        &self,
        id: &str,
        now: UnixTime,
        further: impl FnOnce(&NewVersion<'_>) -> Result<Batch>,
    ) -> Result<TypeSummary> {
        let draft = self.types.store.read(self.owner.tenant, DRAFT, id).await?;
        let draft = draft.ok_or_else(|| no_draft(id))?;
        let definition: TypeDefinition = decode(&draft.value)?;
        check(&definition).result()?;
        self.check_new(&*self.all().await?, &definition, Some(now))?;
        let found = self.types.head(self.owner.tenant).await?;
        let expected = found
            .as_ref()
            .map_or(Expect::Absent, |(_, version)| Expect::Version(*version));
        let mut head = found.map(|(head, _)| head).unwrap_or_default();
        let of_id = head.versions.iter().filter(|entry| entry.id == id);
        let version = of_id
            .map(|entry| entry.version)
            .max()
            .unwrap_or(0)
            .saturating_add(1);
        let further = further(&NewVersion {
            definition: &definition,
            version,
        })?;
        let record = published(self.owner, definition, version)?;
        let value = encode(&record)?;
        let bytes: usize = head.versions.iter().map(|entry| entry.bytes).sum();
        if head.versions.len() >= VERSIONS_MAX || bytes.saturating_add(value.len()) > BYTES_MAX {
            return Err(full());
        }
        for earlier in head.versions.iter_mut().filter(|entry| entry.id == id) {
            earlier.superseded.get_or_insert(now);
        }
        head.versions.push(HeadEntry {
            id: id.to_owned(),
            version,
            state: TypeState::Published,
            published: now,
            superseded: None,
            bytes: value.len(),
        });
        let batch = Batch::new(self.owner.tenant.clone())
            .expect(HEAD, HEAD_ID, expected)
            .expect(DRAFT, id, Expect::Version(draft.version))
            .put(Put::new(VERSION, record_id(id, version), value))
            .put(Put::new(HEAD, HEAD_ID, encode(&head)?))
            .delete(DRAFT, id)
            .and(further);
        self.types.store.commit(batch).await?;
        tracing::info!("type" = id, version, "type published");
        self.one(id).await
    }

    /// Retires a type: nothing more is issued of it. What was issued stays verifiable, and its documents stay served.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` for a sample.
    pub async fn retire(&self, id: &str) -> Result<TypeSummary> {
        let found = self.types.head(self.owner.tenant).await?;
        let Some((mut head, version)) = found else {
            return Err(self.not_retired(id));
        };
        if !head.retire(id) {
            return Err(self.not_retired(id));
        }
        let batch = Batch::new(self.owner.tenant.clone())
            .expect(HEAD, HEAD_ID, Expect::Version(version))
            .put(Put::new(HEAD, HEAD_ID, encode(&head)?));
        self.types.store.commit(batch).await?;
        tracing::info!("type" = id, "type retired");
        self.one(id).await
    }

    /// A document of a version, as it was when the version was published.
    ///
    /// # Errors
    /// `NotFound` for an unknown version, and for an image that the type does not have.
    pub async fn document(&self, id: &str, version: u32, kind: DocumentKind) -> Result<Picture> {
        let set = self.all().await?;
        let one = set.at(id, version).ok_or_else(|| unknown(id))?;
        let image = match kind {
            DocumentKind::Logo if one.card.logo.is_none() && !one.icon().is_empty() => {
                return Ok(pictogram(one.icon()));
            }
            DocumentKind::Logo => &one.card.logo,
            DocumentKind::Background => &one.card.background,
            DocumentKind::Metadata | DocumentKind::Schema | DocumentKind::Context => {
                return self.text(one, kind).await;
            }
        };
        let image = image.as_ref().ok_or_else(|| unknown(id))?;
        picture(&image.uri, CARD_IMAGE_BYTES_MAX).map_err(Error::internal)
    }

    async fn text(&self, one: &CredentialType, kind: DocumentKind) -> Result<Picture> {
        let documents = match one.is_sample {
            true => Documents::of(
                one,
                &Addresses::below(self.owner.base, &one.id, one.version)?,
            )?,
            false => {
                let id = record_id(&one.id, one.version);
                let record = self
                    .types
                    .store
                    .read(self.owner.tenant, VERSION, &id)
                    .await?;
                let record = record.ok_or_else(|| unknown(&one.id))?;
                decode::<VersionRecord>(&record.value)?.documents
            }
        };
        let (media, text) = match kind {
            DocumentKind::Schema => ("application/schema+json", documents.schema),
            DocumentKind::Context => ("application/ld+json", documents.context),
            _ => ("application/json", documents.metadata),
        };
        Ok(Picture {
            media,
            bytes: text.into_bytes(),
        })
    }

    /// Checks what a definition alone does not show: the ids of samples, chains of extended types, and needed types.
    fn check_new(
        &self,
        set: &TypeSet,
        definition: &TypeDefinition,
        published: Option<UnixTime>,
    ) -> Result<()> {
        if self.types.samples.newest(&definition.id).is_some() {
            return Err(
                Error::new(ErrorKind::Conflict, "type-id-taken").with("type", &definition.id)
            );
        }
        check_needed(set, definition, published.map(Day::of))?;
        let Some(extends) = &definition.extends else {
            return Ok(());
        };
        let next = set
            .newest(&definition.id)
            .map_or(1, |one| one.version.saturating_add(1));
        let vct = vct(self.owner, definition, next)?;
        if set.leads_back(&extends.vct, &vct) {
            let reason = Reason::new("type-extends-cycle").with("vct", &extends.vct);
            return Err(Error::of(ErrorKind::BadRequest, reason));
        }
        Ok(())
    }

    fn not_retired(&self, id: &str) -> Error {
        match self.types.samples.newest(id) {
            Some(_) => Error::bad_request("type-sample").with("type", id),
            None => unknown(id),
        }
    }
}

/// The record of the next version of a type.
fn published(owner: Owner<'_>, definition: TypeDefinition, version: u32) -> Result<VersionRecord> {
    let addresses = Addresses::below(owner.base, &definition.id, version)?;
    let vct = vct(owner, &definition, version)?;
    let one = CredentialType {
        definition: Arc::new(definition),
        version,
        state: TypeState::Published,
        vct,
        is_sample: false,
        served: None,
    };
    Ok(VersionRecord {
        documents: Documents::of(&one, &addresses)?,
        definition: Arc::unwrap_or_clone(one.definition),
        vct: one.vct,
    })
}

/// The SD-JWT VC type of a version: the one of the file, or else the address of its metadata.
fn vct(owner: Owner<'_>, definition: &TypeDefinition, version: u32) -> Result<String> {
    if let Some(vct) = &definition.vct {
        return Ok(vct.clone());
    }
    let addresses = Addresses::below(owner.base, &definition.id, version)?;
    Ok(addresses.metadata().to_owned())
}

fn unknown(id: &str) -> Error {
    Error::not_found("type-not-here").with("type", id)
}

fn no_draft(id: &str) -> Error {
    Error::not_found("type-no-draft").with("type", id)
}

fn full() -> Error {
    Error::new(ErrorKind::Full, "types-full").with("maximum", &VERSIONS_MAX)
}

#[cfg(test)]
mod tests;
