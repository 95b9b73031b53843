//! Writes wallets in Askar's format, so that properties can be checked on any content.

use std::path::Path;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use minicbor::Encoder;
use rusqlite::{Connection, params};
use selfsame_askar::WalletRecord;
use selfsame_crypto::hash::hmac_sha256;
use selfsame_crypto::seal::random_seed;

/// The keys of the profile: those of category, name, items' HMAC, tags' names, tags' values, tags' HMAC.
const MEMBERS: [&str; 6] = ["ick", "ink", "ihk", "tnk", "tvk", "thk"];

pub struct Writer {
    pub connection: Connection,
    store_key: [u8; 32],
}

pub struct WriterProfile {
    id: i64,
    keys: [[u8; 32]; 6],
}

impl Writer {
    /// Makes an empty wallet with this raw key. As in Askar, what is written is beside the file until it is closed.
    pub fn create(path: &Path, store_key: [u8; 32]) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
                CREATE TABLE config (name TEXT NOT NULL PRIMARY KEY, value TEXT);
                CREATE TABLE profiles (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,
                    reference TEXT NULL, profile_key BLOB NULL);
                CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY, profile_id INTEGER NOT NULL,
                    kind INTEGER NOT NULL, category BLOB NOT NULL, name BLOB NOT NULL,
                    value BLOB NOT NULL, expiry DATETIME NULL);
                CREATE UNIQUE INDEX ix_items_uniq ON items (profile_id, kind, category, name);
                CREATE TABLE items_tags (id INTEGER NOT NULL PRIMARY KEY, item_id INTEGER NOT NULL,
                    name BLOB NOT NULL, value BLOB NOT NULL, plaintext BOOLEAN NOT NULL);
                CREATE INDEX ix_items_tags_item_id ON items_tags (item_id);
                INSERT INTO config VALUES ('default_profile', 'first'), ('key', 'raw'), ('version', '1');",
            )
            .unwrap();
        Self {
            connection,
            store_key,
        }
    }

    pub fn profile(&self, name: &str) -> WriterProfile {
        let keys = std::array::from_fn(|_| random_seed());
        let mut to = Encoder::new(Vec::new());
        to.map(7).unwrap().str("ver").unwrap().str("1").unwrap();
        for (member, key) in MEMBERS.iter().zip(&keys) {
            to.str(member).unwrap().bytes(key).unwrap();
        }
        let sealed = sealed(&self.store_key, nonce(), to.into_writer());
        let sql = "INSERT INTO profiles (name, profile_key) VALUES (?1, ?2)";
        self.connection.execute(sql, params![name, sealed]).unwrap();
        WriterProfile {
            id: self.connection.last_insert_rowid(),
            keys,
        }
    }

    pub fn write(&self, profile: &WriterProfile, record: &WalletRecord) {
        let [category, name, items, tag_name, tag_value, tags] = &profile.keys;
        let searchable = |key, hmac, text: &str| {
            let mac = hmac_sha256(hmac, &[text.as_bytes()]);
            sealed(key, mac[..12].try_into().unwrap(), text.as_bytes().to_vec())
        };
        let length = |text: &str| u32::try_from(text.len()).unwrap().to_be_bytes();
        let parts = [
            &length(&record.category)[..],
            record.category.as_bytes(),
            &length(&record.name)[..],
            record.name.as_bytes(),
        ];
        let value_key = hmac_sha256(items, &parts);
        let expiry = record.expiry.map(|expiry| {
            let whole = expiry.rfc3339();
            format!(
                "{}.{:09}+00:00",
                whole.trim_end_matches('Z'),
                expiry.nanoseconds
            )
        });
        let sql = "INSERT INTO items (profile_id, kind, category, name, value, expiry)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let row = params![
            profile.id,
            record.kind as u8,
            searchable(category, items, &record.category),
            searchable(name, items, &record.name),
            sealed(&value_key, nonce(), record.value.expose().to_vec()),
            expiry,
        ];
        self.connection.execute(sql, row).unwrap();
        let item = self.connection.last_insert_rowid();
        for tag in &record.tags {
            let value = match tag.plaintext {
                true => tag.value.expose().as_bytes().to_vec(),
                false => searchable(tag_value, tags, tag.value.expose()),
            };
            let sql =
                "INSERT INTO items_tags (item_id, name, value, plaintext) VALUES (?1, ?2, ?3, ?4)";
            let row = params![
                item,
                searchable(tag_name, tags, &tag.name),
                value,
                tag.plaintext
            ];
            self.connection.execute(sql, row).unwrap();
        }
    }
}

fn nonce() -> [u8; 12] {
    random_seed()[..12].try_into().unwrap()
}

fn sealed(key: &[u8; 32], nonce: [u8; 12], mut plain: Vec<u8>) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).unwrap());
    let used = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(used, Aad::empty(), &mut plain)
        .unwrap();
    [&nonce[..], &plain].concat()
}
