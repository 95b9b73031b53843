//! An open wallet: its profiles, and the records of each in batches.

use crate::address::WalletAddress;
use crate::cursor::{KEY_BYTES_MAX, RecordCursor};
use crate::error::{ItemPart, Unread, WalletError};
use crate::profile_key::ProfileKey;
use crate::protection::{Protection, StoreKey, Unlocked};
use crate::record::WalletRecord;
use crate::sealed::{ItemHead, SealedItem, SealedProfile, SealedTag, Totals};
use crate::source::{ItemPage, ProfilesAsked, WalletSource};

/// The version of the format that Askar has written so far.
const VERSION: &str = "1";
/// The profiles of one page.
const PROFILES: u16 = 100;
/// The records of one batch at most.
const RECORDS: u16 = 500;
/// The bytes of one batch, unless its first record alone has more.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// The largest record that is read.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What a tag takes beside its bytes.
const TAG_BYTES: u64 = 128;

/// A wallet, open for reading. All answers are from one snapshot of it.
pub struct Wallet {
    source: WalletSource,
    unlocked: Unlocked,
    protection: Protection,
    default_profile: Option<String>,
}

/// A profile of a wallet: records with a key of their own, such as a tenant's.
#[derive(Debug)]
pub struct WalletProfile {
    id: i64,
    name: String,
    key: Result<ProfileKey, WalletError>,
}

/// Some records of a profile.
#[derive(Debug)]
pub struct RecordBatch {
    /// Those that could be read.
    pub records: Vec<WalletRecord>,
    /// Those that could not.
    pub unread: Vec<Unread>,
    /// From where to go on; `None` after the last one.
    pub next: Option<RecordCursor>,
    /// The rows that were seen, read or not.
    pub(crate) seen: Totals,
}

impl Wallet {
    /// Opens a wallet for reading.
    ///
    /// # Errors
    /// If it is not there, is no wallet, or needs another key.
    pub async fn open(address: &WalletAddress, key: StoreKey) -> Result<Self, WalletError> {
        let source = WalletSource::open(address).await?;
        let config = source.config().await?;
        match config.version.as_deref() {
            Some(VERSION) => {}
            None => return Err(WalletError::Foreign("its configuration has no version")),
            Some(other) => {
                let other: String = other.chars().take(20).collect();
                let which = format!("version {other:?} of Askar's format");
                return Err(WalletError::Unsupported(which));
            }
        }
        let reference = config.key.ok_or_else(|| {
            WalletError::Damaged("its configuration does not say what protects it".to_owned())
        })?;
        let protection = Protection::parse(&reference)?;
        let unlock = tokio::task::spawn_blocking(move || protection.unlock(&key)).await;
        let unlocked =
            unlock.unwrap_or(Err(WalletError::Machine("the process is about to end")))?;
        let wallet = Self {
            source,
            unlocked,
            protection,
            default_profile: config.default_profile,
        };
        wallet.check_key().await?;
        Ok(wallet)
    }

    /// What protects the wallet.
    pub fn protection(&self) -> Protection {
        self.protection
    }

    /// The profile that Askar opens unless it is told another one.
    pub fn default_profile(&self) -> Option<&str> {
        self.default_profile.as_deref()
    }

    /// The first profiles, or those after this one; none after the last.
    ///
    /// # Errors
    /// If the database fails. A profile whose key is damaged is an error when its records are read.
    pub async fn profiles(
        &self,
        after: Option<&WalletProfile>,
    ) -> Result<Vec<WalletProfile>, WalletError> {
        let after = ProfilesAsked::After(after.map_or(i64::MIN, |profile| profile.id));
        let page = self.source.profiles(&after, PROFILES).await?;
        Ok(page.into_iter().map(|one| self.profile_of(one)).collect())
    }

    /// The profile with this name.
    ///
    /// # Errors
    /// If the wallet has no profile with this name.
    pub async fn profile(&self, name: &str) -> Result<WalletProfile, WalletError> {
        let named = self.source.profiles(&ProfilesAsked::Named(name), 1).await?;
        let named = named.into_iter().next();
        named
            .map(|one| self.profile_of(one))
            .ok_or(WalletError::NoProfile)
    }

    /// The next records of a profile, from its first one or from where an earlier batch ended. In all they have about
    /// 4 MiB, or it is one record of at most 64 MiB.
    ///
    /// # Errors
    /// If the key of the profile is damaged, or the database fails.
    pub async fn batch(
        &self,
        profile: &WalletProfile,
        after: Option<&RecordCursor>,
    ) -> Result<RecordBatch, WalletError> {
        let key = profile.key.as_ref().map_err(Clone::clone)?;
        let start = RecordCursor::start();
        let page = ItemPage {
            profile: profile.id,
            after: after.unwrap_or(&start),
            limit: RECORDS,
        };
        let mut heads = self.source.heads(&page).await?;
        let is_last_page = heads.len() < usize::from(RECORDS);
        let fitting = fitting(&heads)?;
        let is_last = is_last_page && fitting == heads.len();
        heads.truncate(fitting);
        let ids: Vec<i64> = heads.iter().map(|head| head.id).collect();
        let items = self.source.items(&ids, RECORD_BYTES_MAX).await?;
        let last = in_order(page.after, &items)?;
        let tagged = heads.iter().filter(|head| head.is_small() && head.tags > 0);
        let tagged: Vec<i64> = tagged.map(|head| head.id).collect();
        let mut tags = self.source.tags(&tagged).await?;
        tags.sort_by_key(|tag| tag.item);
        let all_tags = heads.iter().map(|head| head.tags);
        let mut batch = RecordBatch {
            records: Vec::with_capacity(items.len()),
            unread: Vec::new(),
            next: last.filter(|_| !is_last),
            seen: Totals {
                items: items.len() as u64,
                tags: all_tags.fold(0, u64::saturating_add),
            },
        };
        for item in items {
            let id = item.id;
            let head = heads.iter().find(|head| head.id == id);
            let opened = match head.is_some_and(ItemHead::is_small) {
                true => key.open(item, tags_of(&mut tags, id)),
                false => Err(ItemPart::Size),
            };
            match opened {
                Ok(record) => batch.records.push(record),
                Err(part) => batch.unread.push(Unread { item: id, part }),
            }
        }
        Ok(batch)
    }

    /// Whether these are all rows that there are. An index that lost some, or rows without a profile, would otherwise
    /// be left out silently.
    pub(crate) async fn check_totals(&self, seen: Totals) -> Result<(), WalletError> {
        let there = self.source.totals().await?;
        if there == seen {
            return Ok(());
        }
        Err(WalletError::Damaged(format!(
            "its tables have {} items and {} tags, its profiles {} and {}",
            there.items, there.tags, seen.items, seen.tags
        )))
    }

    fn profile_of(&self, sealed: SealedProfile) -> WalletProfile {
        let damaged = || WalletError::Damaged(format!("the key of the profile {:?}", sealed.name));
        let opened = sealed.key.and_then(|key| self.unlocked.open(key));
        let key = opened.ok_or_else(damaged);
        WalletProfile {
            key: key.and_then(|key| ProfileKey::parse(key.expose())),
            id: sealed.id,
            name: sealed.name,
        }
    }

    /// One damaged profile does not make the key wrong.
    async fn check_key(&self) -> Result<(), WalletError> {
        if matches!(self.protection, Protection::None) {
            return Ok(());
        }
        let first = self
            .source
            .profiles(&ProfilesAsked::After(i64::MIN), PROFILES)
            .await?;
        let mut keys = first.into_iter().filter_map(|profile| profile.key);
        let mut any = false;
        let opens = keys.any(|key| {
            any = true;
            self.unlocked.open(key).is_some()
        });
        match opens || !any {
            true => Ok(()),
            false => Err(WalletError::KeyWrong),
        }
    }
}

impl WalletProfile {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl ItemHead {
    fn bytes(&self) -> u64 {
        let tags = self.tags.saturating_mul(TAG_BYTES);
        let all = self.key_bytes.saturating_add(self.value_bytes);
        all.saturating_add(self.tag_bytes).saturating_add(tags)
    }

    /// The bytes that are loaded: of an item that is too large, not its tags, and not a value that alone is too large.
    fn loaded(&self) -> u64 {
        match (self.is_small(), self.value_bytes <= RECORD_BYTES_MAX) {
            (true, _) => self.bytes(),
            (false, true) => self.key_bytes.saturating_add(self.value_bytes),
            (false, false) => self.key_bytes,
        }
    }

    fn is_small(&self) -> bool {
        self.bytes() <= RECORD_BYTES_MAX
    }
}

/// How many of these fit into a batch: at least one.
fn fitting(heads: &[ItemHead]) -> Result<usize, WalletError> {
    let mut bytes = 0_u64;
    let mut count = 0_usize;
    for head in heads {
        if usize::try_from(head.key_bytes).map_or(true, |bytes| bytes > KEY_BYTES_MAX) {
            return Err(WalletError::Damaged(format!(
                "the category and the name of item {} have more than 64 KiB",
                head.id
            )));
        }
        bytes = bytes.saturating_add(head.loaded());
        if count > 0 && bytes > BATCH_BYTES {
            break;
        }
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// The place of the last item. Each must be after the one before, so that reading ends: an index that is damaged may
/// give items again.
fn in_order(
    after: &RecordCursor,
    items: &[SealedItem],
) -> Result<Option<RecordCursor>, WalletError> {
    let mut last = None;
    for item in items {
        let place = item.cursor();
        if place <= *last.as_ref().unwrap_or(after) {
            return Err(WalletError::Damaged(
                "an index gives its items out of order".to_owned(),
            ));
        }
        last = Some(place);
    }
    Ok(last)
}

/// Takes the tags of an item out of those that are ordered by item.
fn tags_of(tags: &mut Vec<SealedTag>, item: i64) -> Vec<SealedTag> {
    let begin = tags.partition_point(|tag| tag.item < item);
    let end = tags.partition_point(|tag| tag.item <= item);
    tags.drain(begin..end).collect()
}
