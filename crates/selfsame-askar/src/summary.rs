//! What a wallet holds, in numbers and hashes: never a value.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{ItemPart, WalletError};
use crate::key_entry::KeyEntry;
use crate::record::{RecordKind, WalletRecord};
use crate::sealed::Totals;
use crate::tally::{RecordTally, record_hash};
use crate::wallet::{Wallet, WalletProfile};

/// Categories that are named in a summary; further ones are counted together.
const CATEGORIES: usize = 1000;
/// The longest name of a category that is named.
const NAME_BYTES_MAX: usize = 256;
/// Items that could not be read and are named.
const UNREAD: usize = 20;

/// What a wallet holds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What protects it.
    pub protection: &'static str,
    /// The profile that Askar opens by default.
    pub default_profile: Option<String>,
    /// Its profiles.
    pub profiles: Vec<ProfileSummary>,
    /// All records of all profiles.
    pub records: u64,
    /// Items that could not be read.
    pub unread: u64,
    /// The sum over the hashes of the profiles, in hexadecimal digits.
    pub hash: String,
}

/// What a profile holds.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileSummary {
    /// The name.
    pub name: String,
    /// All records, keys included.
    pub records: u64,
    /// The records of the agent, by category.
    pub categories: BTreeMap<String, u64>,
    /// Records of categories that are too many, or too long, to be named.
    pub further: u64,
    /// The keys, by algorithm.
    pub keys: BTreeMap<String, u64>,
    /// Records that have expired or will.
    pub expiring: u64,
    /// Items that could not be read.
    pub unread: u64,
    /// The first of them, and why.
    pub why_unread: Vec<String>,
    /// The sum of the hashes of all records, in hexadecimal digits.
    pub hash: String,
}

impl Wallet {
    /// Reads all records once, in bounded memory, and counts them.
    ///
    /// # Errors
    /// If the database fails, if the key of a profile is damaged, or if there are rows that no profile has.
    pub async fn summary(&self) -> Result<Summary, WalletError> {
        let mut profiles: Vec<ProfileSummary> = Vec::new();
        let (mut total, mut seen) = (RecordTally::default(), Totals::default());
        let mut page = self.profiles(None).await?;
        while !page.is_empty() {
            for profile in &page {
                let counted = self.counted(profile).await?;
                total.add_profile(profile.name(), &counted.tally);
                seen.items = seen.items.saturating_add(counted.seen.items);
                seen.tags = seen.tags.saturating_add(counted.seen.tags);
                profiles.push(counted.summary);
            }
            page = self.profiles(page.last()).await?;
        }
        self.check_totals(seen).await?;
        Ok(Summary {
            protection: self.protection().words(),
            default_profile: self.default_profile().map(str::to_owned),
            records: total.count,
            unread: profiles.iter().map(|profile| profile.unread).sum(),
            hash: total.hex(),
            profiles,
        })
    }

    async fn counted(&self, profile: &WalletProfile) -> Result<ProfileCount, WalletError> {
        let mut counted = ProfileCount::of(profile);
        let mut after = None;
        loop {
            let batch = self.batch(profile, after.as_ref()).await?;
            for record in &batch.records {
                counted.add(record);
            }
            for unread in &batch.unread {
                counted.miss(unread.to_string());
            }
            counted.seen.items = counted.seen.items.saturating_add(batch.seen.items);
            counted.seen.tags = counted.seen.tags.saturating_add(batch.seen.tags);
            after = batch.next;
            if after.is_none() {
                return Ok(counted.finish());
            }
        }
    }
}

/// A profile while it is counted.
struct ProfileCount {
    summary: ProfileSummary,
    tally: RecordTally,
    seen: Totals,
}

impl ProfileCount {
    fn of(profile: &WalletProfile) -> Self {
        Self {
            summary: ProfileSummary {
                name: profile.name().to_owned(),
                records: 0,
                categories: BTreeMap::new(),
                further: 0,
                keys: BTreeMap::new(),
                expiring: 0,
                unread: 0,
                why_unread: Vec::new(),
                hash: String::new(),
            },
            tally: RecordTally::default(),
            seen: Totals::default(),
        }
    }

    fn add(&mut self, record: &WalletRecord) {
        self.tally.add(record_hash(record));
        let expires = u64::from(record.expiry.is_some());
        self.summary.expiring = self.summary.expiring.saturating_add(expires);
        match KeyEntry::of(record) {
            None => self.name(RecordKind::Item, &record.category),
            Some(Ok(key)) => {
                let algorithm = key.algorithm.as_deref().unwrap_or("unknown");
                self.name(RecordKind::Key, algorithm);
            }
            Some(Err(_)) => self.miss(format!("the key {:?}: {}", record.name, ItemPart::Key)),
        }
    }

    fn name(&mut self, kind: RecordKind, name: &str) {
        let names = match kind {
            RecordKind::Item => &mut self.summary.categories,
            RecordKind::Key => &mut self.summary.keys,
        };
        let is_named = names.contains_key(name);
        let fits = names.len() < CATEGORIES && name.len() <= NAME_BYTES_MAX;
        let count = match is_named || fits {
            true => names.entry(name.to_owned()).or_default(),
            false => &mut self.summary.further,
        };
        *count = count.saturating_add(1);
    }

    fn miss(&mut self, why: String) {
        self.summary.unread = self.summary.unread.saturating_add(1);
        if self.summary.why_unread.len() < UNREAD {
            self.summary.why_unread.push(why);
        }
    }

    fn finish(mut self) -> Self {
        self.summary.records = self.tally.count;
        self.summary.hash = self.tally.hex();
        self
    }
}
