//! Small wallets that Askar made once, each beside what Askar said is in it: vectors/askar.

use std::path::PathBuf;

use selfsame_askar::{StoreKey, Wallet};

use crate::damage::files;
use crate::read::{Expected, assert_equal, file, whole};

pub const RAW: &str = "2v337EK4aaxq26ex2B6JvDeZ8DSo1GnvjELyV6CqgZbM";
pub const PASSPHRASE: &str = "korrekt Pferd \u{2713}";

pub struct Vector {
    pub file: &'static str,
    pub method: &'static str,
    pub key: &'static str,
    pub content: &'static str,
}

pub const VECTORS: [Vector; 4] = [
    Vector {
        file: "raw.sqlite",
        method: "raw",
        key: RAW,
        content: "small",
    },
    Vector {
        file: "interactive.sqlite",
        method: "kdf:argon2i:13:int",
        key: PASSPHRASE,
        content: "tiny",
    },
    Vector {
        file: "moderate.sqlite",
        method: "kdf:argon2i:13:mod",
        key: PASSPHRASE,
        content: "tiny",
    },
    Vector {
        file: "unprotected.sqlite",
        method: "none",
        key: "",
        content: "tiny",
    },
];

pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/askar"))
}

#[tokio::test]
async fn the_wallets_that_askar_made_are_read_as_askar_read_them() {
    let before = files(&folder());
    for vector in VECTORS {
        let path = folder().join(vector.file);
        let key = match vector.key {
            "" => StoreKey::none(),
            key => StoreKey::text(key.into()),
        };
        let wallet = Wallet::open(&file(&path), key).await.unwrap();
        let said = std::fs::read(path.with_extension("sqlite.json")).unwrap();
        let expected: Vec<Expected> = serde_json::from_slice(&said).unwrap();
        assert_equal(&whole(&wallet).await.unwrap(), &expected);
        let summary = wallet.summary().await.unwrap();
        assert_eq!(summary.records, expected.len() as u64);
    }
    assert_eq!(files(&folder()), before);
}
