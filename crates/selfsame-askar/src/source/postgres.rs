//! A wallet in a database of PostgreSQL, read in one transaction that only reads.

use std::error::Error as _;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, NoTls, Row};

use super::{CONFIG, ItemPage, PROFILE_BYTES_MAX, ProfilesAsked, misfit};
use crate::address::PostgresPlace;
use crate::error::WalletError;
use crate::expiry::Expiry;
use crate::sealed::{
    ItemHead, SealedItem, SealedProfile, SealedTag, StoreConfig, StoredExpiry, Totals,
};

/// How long the server may take to let us in.
const CONNECT: Duration = Duration::from_secs(10);
/// How long sent data may stay unacknowledged, so that a connection that died is noticed.
const SILENCE: Duration = Duration::from_secs(30);
/// One snapshot for all questions, which none of them can change. A question takes at most five minutes: the last one
/// counts all rows.
const BEGIN: &str = "SET statement_timeout = '300s'; SET timezone = 'UTC';
    START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";

pub(crate) struct PostgresSource(Client);

impl PostgresSource {
    pub async fn open(place: &PostgresPlace) -> Result<Self, WalletError> {
        let mut config = place.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(SILENCE);
        let connected =
            tokio::time::timeout(CONNECT.saturating_mul(3), config.connect(NoTls)).await;
        let late = |_| WalletError::Unreachable("the server did not answer in time".to_owned());
        let (client, connection) = connected
            .map_err(late)?
            .map_err(|error| WalletError::Unreachable(words(&error)))?;
        // It ends with the client, which reports what happens to it.
        tokio::spawn(connection);
        let source = Self(client);
        source.0.batch_execute(BEGIN).await.map_err(failed)?;
        if let Some(schema) = &place.schema {
            let quoted = format!("\"{}\"", schema.replace('"', "\"\""));
            let set = "SELECT set_config('search_path', $1, true)";
            source.0.execute(set, &[&quoted]).await.map_err(failed)?;
        }
        Ok(source)
    }

    pub async fn config(&self) -> Result<StoreConfig, WalletError> {
        let row = self.0.query_one(CONFIG, &[]).await.map_err(failed)?;
        Ok(StoreConfig {
            version: read(&row, 0)?,
            key: read(&row, 1)?,
            default_profile: read(&row, 2)?,
        })
    }

    pub async fn profiles(
        &self,
        asked: &ProfilesAsked<'_>,
        limit: u16,
    ) -> Result<Vec<SealedProfile>, WalletError> {
        let sql = |condition: &str| {
            format!(
                "SELECT id, CASE WHEN octet_length(name) <= $3 THEN name END,
                        CASE WHEN octet_length(profile_key) <= $3 THEN profile_key END
                 FROM profiles WHERE {condition} ORDER BY id LIMIT $2"
            )
        };
        let (limit, longest) = (i64::from(limit), PROFILE_BYTES_MAX);
        let longest = i32::try_from(longest).unwrap_or(i32::MAX);
        let rows = match asked {
            ProfilesAsked::After(id) => {
                let sql = sql("id > $1");
                self.0.query(&sql, &[id, &limit, &longest]).await
            }
            ProfilesAsked::Named(name) => {
                let sql = sql("name = $1");
                self.0.query(&sql, &[name, &limit, &longest]).await
            }
        };
        let profile = |row: Row| {
            Ok(SealedProfile {
                id: read(&row, 0)?,
                name: read(&row, 1)?,
                key: read(&row, 2)?,
            })
        };
        rows.map_err(failed)?.into_iter().map(profile).collect()
    }

    pub async fn heads(&self, page: &ItemPage<'_>) -> Result<Vec<ItemHead>, WalletError> {
        let after = page.after;
        let rows = self.0.query(
            "SELECT i.id, octet_length(i.category)::bigint + octet_length(i.name),
                    octet_length(i.value)::bigint, t.count, t.bytes
             FROM (SELECT id, kind, category, name, value FROM items
                   WHERE profile_id = $1 AND (kind, category, name) > ($2, $3, $4)
                   ORDER BY kind, category, name LIMIT $5) i,
             LATERAL (SELECT COUNT(*) AS count,
                             COALESCE(SUM(octet_length(name) + octet_length(value)), 0)::bigint AS bytes
                      FROM items_tags WHERE item_id = i.id) t
             ORDER BY i.kind, i.category, i.name",
            &[
                &page.profile,
                &after.kind,
                &after.category,
                &after.name,
                &i64::from(page.limit),
            ],
        ).await.map_err(failed)?;
        let head = |row: Row| {
            let size =
                |column| u64::try_from(read::<i64>(&row, column)?).map_err(|_| misfit("a size"));
            Ok(ItemHead {
                id: read(&row, 0)?,
                key_bytes: size(1)?,
                value_bytes: size(2)?,
                tags: size(3)?,
                tag_bytes: size(4)?,
            })
        };
        rows.into_iter().map(head).collect()
    }

    pub async fn items(&self, ids: &[i64], value_max: i64) -> Result<Vec<SealedItem>, WalletError> {
        let rows = self
            .0
            .query(
                "SELECT id, kind, category, name,
                    CASE WHEN octet_length(value)::bigint <= $2 THEN value END, expiry
             FROM items WHERE id = ANY($1) ORDER BY kind, category, name",
                &[&ids, &value_max],
            )
            .await
            .map_err(failed)?;
        let item = |row: Row| {
            Ok(SealedItem {
                id: read(&row, 0)?,
                kind: read(&row, 1)?,
                category: read(&row, 2)?,
                name: read(&row, 3)?,
                value: read(&row, 4)?,
                expiry: match read::<Option<StoredExpiry>>(&row, 5)? {
                    Some(expiry) => expiry,
                    None => StoredExpiry::Never,
                },
            })
        };
        rows.into_iter().map(item).collect()
    }

    pub async fn tags(&self, ids: &[i64]) -> Result<Vec<SealedTag>, WalletError> {
        let rows = self
            .0
            .query(
                "SELECT item_id, name, value, plaintext FROM items_tags
             WHERE item_id = ANY($1) ORDER BY item_id, id",
                &[&ids],
            )
            .await
            .map_err(failed)?;
        let tag = |row: Row| {
            Ok(SealedTag {
                item: read(&row, 0)?,
                name: read(&row, 1)?,
                value: read(&row, 2)?,
                plaintext: match read::<i16>(&row, 3)? {
                    0 => false,
                    1 => true,
                    _ => return Err(misfit("plaintext")),
                },
            })
        };
        rows.into_iter().map(tag).collect()
    }

    pub async fn totals(&self) -> Result<Totals, WalletError> {
        let sql = "SELECT (SELECT COUNT(*) FROM items), (SELECT COUNT(*) FROM items_tags)";
        let row = self.0.query_one(sql, &[]).await.map_err(failed)?;
        let count =
            |column| u64::try_from(read::<i64>(&row, column)?).map_err(|_| misfit("a count"));
        Ok(Totals {
            items: count(0)?,
            tags: count(1)?,
        })
    }
}

/// A timestamp as PostgreSQL sends it: microseconds from 2000.
impl<'a> FromSql<'a> for StoredExpiry {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let since_2000 = i64::from_be_bytes(raw.try_into()?);
        Ok(Expiry::of_postgres(since_2000).map_or(Self::Unclear, Self::At))
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::TIMESTAMP
    }
}

fn read<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, WalletError> {
    row.try_get(column).map_err(|_| {
        let name = row.columns().get(column).map(|column| column.name());
        misfit(name.unwrap_or("a column"))
    })
}

fn failed(error: tokio_postgres::Error) -> WalletError {
    let state = error.code();
    if state == Some(&SqlState::UNDEFINED_TABLE) || state == Some(&SqlState::UNDEFINED_COLUMN) {
        return WalletError::Foreign("the database, or its schema, has other tables");
    }
    if state == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return WalletError::Unreachable(words(&error));
    }
    if state == Some(&SqlState::DATA_CORRUPTED) || state == Some(&SqlState::INDEX_CORRUPTED) {
        return WalletError::Damaged(words(&error));
    }
    WalletError::Database(words(&error))
}

/// What the server said, or else what happened to the connection.
fn words(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
