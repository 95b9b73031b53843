//! The import of a profile of a wallet of Askar: each record is kept as it is, and keys that can sign here become keys of
//! the tenant. What is there already stays, so an import that was cut off is run again.

mod kept;
mod key;

use std::collections::BTreeMap;

use selfsame_askar::{
    KeyEntry, RecordKind, RecordTally, Unread, Wallet, WalletError, WalletProfile, WalletRecord,
    record_hash,
};
use selfsame_audit::{Act, AuditResult, AuditedActor, Trail};
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyHandle, frame};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::{self, instance_key};
use selfsame_store::offline::Tell;
use selfsame_store::{Batch, Put, Store, StoreError, Tag, TenantId};
use serde::Serialize;

pub use kept::KeptRecord;

/// The kind of the records that are kept.
pub const KEPT: &str = "askar_record";
/// The kind of the further parts of a record that is too long for one.
const PART: &str = "askar_record_part";
/// What is said of a record whose parts do not belong together.
const MIXED: &str = "record of a wallet";
/// The longest part of a record, in bytes.
const PART_BYTES: usize = 4 << 20;
/// The categories that are named in a report, and their longest name; others are counted together.
const CATEGORIES: usize = 1_000;
const NAME_BYTES: usize = 256;
/// Records that can't be read and are named.
const NAMED: usize = 20;

/// Why a wallet was not imported.
#[derive(Debug, thiserror::Error)]
pub enum WalletImportError {
    /// The wallet can't be read.
    #[error(transparent)]
    Wallet(#[from] WalletError),
    /// A record that was read back is not that of the wallet.
    #[error("a record of the category {0:?} is not kept as it is in the wallet")]
    Different(String),
    /// The organisation does not exist or is erased, or a key can't be made.
    #[error("{0}")]
    Refused(#[from] selfsame_driver::Error),
    /// The records of the instance can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where a wallet goes.
pub struct WalletImport {
    store: Store,
    tenant: TenantId,
    organisation: OrganisationName,
    trail: Trail,
    /// Names the records: their names in the wallet may say who somebody is.
    names: SealingKey,
}

/// What an import of a profile did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WalletReport {
    /// The profile.
    pub profile: String,
    /// The organisation.
    pub organisation: String,
    /// All records that were read.
    pub records: u64,
    /// The sum of their hashes, read back from the instance: that of `selfsame askar show`.
    pub hash: String,
    /// The records by category.
    pub categories: Vec<CategoryReport>,
    /// The keys by algorithm.
    pub keys: Vec<KeyReport>,
    /// Records of categories that are too many, or too long, to be named.
    pub further: u64,
    /// Records of the wallet that can't be read.
    pub unread: u64,
    /// The first of them, and why.
    pub why_unread: Vec<String>,
}

/// The records of a category. They are kept as they are; this release has nothing yet that works with them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CategoryReport {
    /// The category.
    pub category: String,
    /// Those that are new here.
    pub new: u64,
    /// Those that were there.
    pub already: u64,
    /// Those that were there with what they had at an earlier import, and have been replaced.
    pub changed: u64,
}

/// The keys of an algorithm. Each is kept as it is, whether it can sign here or not.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeyReport {
    /// The name of the algorithm in Askar.
    pub algorithm: String,
    /// Those that are now keys of the tenant.
    pub usable: u64,
    /// Those that have no counterpart here yet.
    pub kept: u64,
}

/// What an import found of a record.
enum KeptBefore {
    /// It is new.
    New,
    /// It is kept as it is.
    Already,
    /// It had other content at an earlier import.
    Changed,
}

impl WalletImport {
    /// An import into an organisation.
    ///
    /// # Errors
    /// `Refused` if the organisation does not exist or is erased; the store's.
    pub async fn into(store: &Store, name: &OrganisationName) -> Result<Self, WalletImportError> {
        let clock = Clock::default();
        let tenant = selfsame_core::organisation::tenant_of(store, name).await?;
        Ok(Self {
            store: store.clone(),
            tenant,
            organisation: name.clone(),
            trail: Trail::new(store.clone(), clock.clone()),
            names: instance_key(store, &clock, "askar_names").await?,
        })
    }

    /// Takes a profile in, reads everything back, and compares it with the wallet record by record.
    ///
    /// # Errors
    /// If the wallet or the records of the instance can't be read; `Different` if a record is not kept as it is.
    pub async fn run(
        &self,
        wallet: &Wallet,
        profile: &WalletProfile,
        tell: Tell<'_>,
    ) -> Result<WalletReport, WalletImportError> {
        let entry = self.trail.entry(self.act(), AuditResult::Done)?;
        let mut counts = Counts::default();
        // The first commit that writes records writes the entry too.
        let (filled, is_noted) =
            Store::accompanied(entry, self.fill(wallet, profile, &mut counts, tell)).await;
        filled?;
        if !is_noted {
            self.trail.write(self.act(), AuditResult::Done).await?;
        }
        let tally = self.compare(wallet, profile, tell).await?;
        Ok(WalletReport {
            profile: profile.name().to_owned(),
            organisation: self.organisation.to_string(),
            records: tally.count,
            hash: tally.hex(),
            ..counts.report()
        })
    }

    /// A record that is kept, if there is one with this profile, kind, category and name.
    ///
    /// # Errors
    /// `Store` if it is damaged, or can't be read.
    pub async fn kept(&self, id: &str) -> Result<Option<KeptRecord>, WalletImportError> {
        let Some(head) = self.store.read(&self.tenant, KEPT, id).await? else {
            return Ok(None);
        };
        let damaged = || StoreError::Tampered(MIXED);
        let (parts, mut bytes) = parts_of(&head.value).ok_or_else(damaged)?;
        for number in 1..parts {
            let id = part_id(id, number);
            let part = self.store.read(&self.tenant, PART, &id).await?;
            bytes.extend(part.ok_or_else(damaged)?.value);
        }
        Ok(Some(KeptRecord::parse(&bytes).ok_or_else(damaged)?))
    }

    fn act(&self) -> Act {
        Act {
            organisation: self.organisation.clone(),
            actor: AuditedActor::instance(),
            act: "IMPORT /wallets".to_owned(),
            object: None,
            detail: None,
            from: None,
        }
    }

    /// The identifier under which a record is kept.
    fn id(&self, profile: &str, record: &WalletRecord) -> String {
        let parts = [
            profile.as_bytes(),
            &[record.kind as u8],
            record.category.as_bytes(),
            record.name.as_bytes(),
        ];
        hex_encode(&self.names.mac(&frame::join(&parts)))
    }

    async fn fill(
        &self,
        wallet: &Wallet,
        profile: &WalletProfile,
        counts: &mut Counts,
        tell: Tell<'_>,
    ) -> Result<(), WalletImportError> {
        let (mut after, mut seen) = (None, 0_u64);
        loop {
            let batch = wallet.batch(profile, after.as_ref()).await?;
            let mut writes = Batch::new(self.tenant.clone());
            for record in &batch.records {
                writes = self.record(profile.name(), record, counts, writes).await?;
                seen = seen.saturating_add(1);
                tell("records imported", seen);
            }
            self.store.commit(writes).await?;
            batch.unread.iter().for_each(|unread| counts.unread(unread));
            match batch.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Adds the writes of a record. The further parts of a long one are committed at once, before it is known.
    async fn record(
        &self,
        profile: &str,
        record: &WalletRecord,
        counts: &mut Counts,
        mut writes: Batch,
    ) -> Result<Batch, WalletImportError> {
        let id = self.id(profile, record);
        let kept = match self.kept(&id).await {
            Ok(None) => KeptBefore::New,
            Ok(Some(kept)) if record_hash(&kept.record) == record_hash(record) => {
                KeptBefore::Already
            }
            // If an earlier replacement was cut off, some parts are of one record and some of the other.
            Ok(Some(_)) | Err(WalletImportError::Store(StoreError::Tampered(MIXED))) => {
                KeptBefore::Changed
            }
            Err(error) => return Err(error),
        };
        counts.record(record, &kept);
        if !matches!(kept, KeptBefore::Already) {
            let bytes = KeptRecord::bytes(profile, record);
            let mut parts = bytes.expose().chunks(PART_BYTES);
            let first = parts.next().unwrap_or_default();
            let mut number = 1_u32;
            for part in parts {
                let put = Put::new(PART, part_id(&id, number), part.to_vec());
                self.store
                    .commit(Batch::new(self.tenant.clone()).put(put))
                    .await?;
                number = number.saturating_add(1);
            }
            if matches!(kept, KeptBefore::Changed) {
                writes = self.without_surplus(&id, number, writes).await?;
            }
            let head = frame::join(&[&number.to_be_bytes(), first]);
            let tag = Tag::hashed("category", tagged(&record.category));
            writes = writes.put(Put::new(KEPT, id, head).tag(tag));
        }
        match KeyEntry::of(record) {
            Some(entry) => self.key(entry.ok(), counts, writes).await,
            None => Ok(writes),
        }
    }

    /// Adds the removal of the parts from this number on, which a longer record had.
    async fn without_surplus(
        &self,
        id: &str,
        mut number: u32,
        mut writes: Batch,
    ) -> Result<Batch, WalletImportError> {
        let is_there = async |part: &str| self.store.version(&self.tenant, PART, part).await;
        while is_there(&part_id(id, number)).await?.is_some() {
            writes = writes.delete(PART, &part_id(id, number));
            number = number.saturating_add(1);
        }
        Ok(writes)
    }

    /// Adds the write of a key that can sign here.
    async fn key(
        &self,
        entry: Option<KeyEntry>,
        counts: &mut Counts,
        writes: Batch,
    ) -> Result<Batch, WalletImportError> {
        let algorithm = entry.as_ref().and_then(|entry| entry.algorithm.clone());
        let usable = entry.as_ref().and_then(key::usable);
        counts.key(algorithm.as_deref().unwrap_or("unknown"), usable.is_some());
        let Some(key) = usable else {
            return Ok(writes);
        };
        let handle = KeyHandle::of(key.public());
        let (tenant, handle) = (&self.tenant, handle.as_str());
        if self
            .store
            .version(tenant, keys::KIND, handle)
            .await?
            .is_some()
        {
            return Ok(writes);
        }
        let secret = key.to_pkcs8().map_err(selfsame_driver::Error::internal)?;
        Ok(writes.put(Put::new(keys::KIND, handle, secret.expose().to_vec())))
    }

    /// Reads the wallet again, and each of its records from the instance.
    async fn compare(
        &self,
        wallet: &Wallet,
        profile: &WalletProfile,
        tell: Tell<'_>,
    ) -> Result<RecordTally, WalletImportError> {
        let (mut after, mut tally) = (None, RecordTally::default());
        loop {
            let batch = wallet.batch(profile, after.as_ref()).await?;
            for record in &batch.records {
                let kept = self.kept(&self.id(profile.name(), record)).await?;
                let hash = kept.map(|kept| record_hash(&kept.record));
                if hash != Some(record_hash(record)) {
                    return Err(WalletImportError::Different(record.category.clone()));
                }
                hash.into_iter().for_each(|hash| tally.add(hash));
                tell("records compared", tally.count);
            }
            match batch.next {
                Some(next) => after = Some(next),
                None => return Ok(tally),
            }
        }
    }
}

/// The number of parts of a record, and the bytes of the first.
fn parts_of(head: &[u8]) -> Option<(u32, Vec<u8>)> {
    match *frame::split(head)?.as_slice() {
        [parts, first] => {
            let parts = u32::from_be_bytes(parts.try_into().ok()?);
            Some((parts, first.to_vec()))
        }
        _ => None,
    }
}

fn part_id(id: &str, number: u32) -> String {
    format!("{id}.{number}")
}

/// A category as a tag, which has a limit.
fn tagged(category: &str) -> String {
    match category.len() <= NAME_BYTES {
        true => category.to_owned(),
        false => hex_encode(&selfsame_crypto::hash::sha256(category.as_bytes())),
    }
}

/// What was counted.
#[derive(Default)]
struct Counts {
    categories: BTreeMap<String, CategoryReport>,
    keys: BTreeMap<String, KeyReport>,
    further: u64,
    unread: u64,
    why_unread: Vec<String>,
}

impl Counts {
    fn record(&mut self, record: &WalletRecord, kept: &KeptBefore) {
        let name = match record.kind {
            RecordKind::Item => record.category.as_str(),
            RecordKind::Key => "keys",
        };
        let is_known = self.categories.contains_key(name);
        if !is_known && (name.len() > NAME_BYTES || self.categories.len() >= CATEGORIES) {
            self.further = self.further.saturating_add(1);
            return;
        }
        let category = self.categories.entry(name.to_owned()).or_default();
        let count = match kept {
            KeptBefore::New => &mut category.new,
            KeptBefore::Already => &mut category.already,
            KeptBefore::Changed => &mut category.changed,
        };
        *count = count.saturating_add(1);
    }

    fn key(&mut self, algorithm: &str, is_usable: bool) {
        let name: String = algorithm.chars().take(NAME_BYTES).collect();
        let key = self.keys.entry(name).or_default();
        let count = match is_usable {
            true => &mut key.usable,
            false => &mut key.kept,
        };
        *count = count.saturating_add(1);
    }

    fn unread(&mut self, unread: &Unread) {
        self.unread = self.unread.saturating_add(1);
        if self.why_unread.len() < NAMED {
            self.why_unread.push(unread.to_string());
        }
    }

    fn report(self) -> WalletReport {
        let categories = self.categories.into_iter();
        let keys = self.keys.into_iter();
        WalletReport {
            categories: categories
                .map(|(category, report)| CategoryReport { category, ..report })
                .collect(),
            keys: keys
                .map(|(algorithm, report)| KeyReport {
                    algorithm,
                    ..report
                })
                .collect(),
            further: self.further,
            unread: self.unread,
            why_unread: self.why_unread,
            ..WalletReport::default()
        }
    }
}
