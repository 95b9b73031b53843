//! Where a wallet's rows come from. Both databases answer the same questions, in the same order, from one snapshot.

mod postgres;
mod sqlite;

use crate::address::{WalletAddress, WalletPlace};
use crate::cursor::RecordCursor;
use crate::error::WalletError;
use crate::sealed::{ItemHead, SealedItem, SealedProfile, SealedTag, StoreConfig, Totals};
use postgres::PostgresSource;
use sqlite::SqliteSource;

/// The longest name of a profile, and the longest key of one, in bytes.
const PROFILE_BYTES_MAX: i64 = 8192;

/// The three entries of the configuration. One that is too long counts as missing.
const CONFIG: &str = "SELECT
    (SELECT value FROM config WHERE name = 'version' AND octet_length(value) <= 8192),
    (SELECT value FROM config WHERE name = 'key' AND octet_length(value) <= 8192),
    (SELECT value FROM config WHERE name = 'default_profile' AND octet_length(value) <= 8192)";

/// A wallet's database.
pub(crate) enum WalletSource {
    Sqlite(SqliteSource),
    Postgres(PostgresSource),
}

/// Which profiles are asked for.
pub(crate) enum ProfilesAsked<'a> {
    /// Those after this one, by their numbers.
    After(i64),
    Named(&'a str),
}

/// Which items are asked for.
pub(crate) struct ItemPage<'a> {
    pub profile: i64,
    pub after: &'a RecordCursor,
    pub limit: u16,
}

impl WalletSource {
    pub async fn open(address: &WalletAddress) -> Result<Self, WalletError> {
        match &address.0 {
            WalletPlace::File(path) => SqliteSource::open(path).await.map(Self::Sqlite),
            WalletPlace::Postgres(place) => PostgresSource::open(place).await.map(Self::Postgres),
        }
    }

    pub async fn config(&self) -> Result<StoreConfig, WalletError> {
        match self {
            Self::Sqlite(source) => source.config().await,
            Self::Postgres(source) => source.config().await,
        }
    }

    /// At most `limit` profiles, in the order of their numbers.
    pub async fn profiles(
        &self,
        asked: &ProfilesAsked<'_>,
        limit: u16,
    ) -> Result<Vec<SealedProfile>, WalletError> {
        match self {
            Self::Sqlite(source) => source.profiles(asked, limit).await,
            Self::Postgres(source) => source.profiles(asked, limit).await,
        }
    }

    /// The sizes of the next items, in the order of cursors.
    pub async fn heads(&self, page: &ItemPage<'_>) -> Result<Vec<ItemHead>, WalletError> {
        match self {
            Self::Sqlite(source) => source.heads(page).await,
            Self::Postgres(source) => source.heads(page).await,
        }
    }

    /// These items, in the order of cursors. Values longer than `value_max` are left out.
    pub async fn items(&self, ids: &[i64], value_max: u64) -> Result<Vec<SealedItem>, WalletError> {
        let value_max = i64::try_from(value_max).unwrap_or(i64::MAX);
        match self {
            Self::Sqlite(source) => source.items(ids, value_max).await,
            Self::Postgres(source) => source.items(ids, value_max).await,
        }
    }

    /// The tags of these items, in the order in which they were written.
    pub async fn tags(&self, ids: &[i64]) -> Result<Vec<SealedTag>, WalletError> {
        match self {
            Self::Sqlite(source) => source.tags(ids).await,
            Self::Postgres(source) => source.tags(ids).await,
        }
    }

    pub async fn totals(&self) -> Result<Totals, WalletError> {
        match self {
            Self::Sqlite(source) => source.totals().await,
            Self::Postgres(source) => source.totals().await,
        }
    }
}

/// A row has what its column cannot hold.
fn misfit(what: &str) -> WalletError {
    WalletError::Damaged(format!("{what} is not of its type"))
}
