//! What is left of an erased tenant in the files of the server, and what its operator does about it.

#[path = "server/server.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::{Backend, KEY_KIND, Place};
use selfsame_store::{Batch, Put, Store, TenantId, Vault};
use server::Server;

/// The number of bytes of a sealed value that are looked for. PostgreSQL keeps a long value in pieces.
const PIECE: usize = 48;

struct Erased {
    server: Server,
    url: String,
    store: Store,
    backend: Arc<Postgres>,
}

impl Erased {
    async fn with_records() -> Self {
        // Old segments of the log are removed at a checkpoint, rather than used again with their content.
        let server = Server::start(&["wal_recycle=off", "wal_keep_size=0", "autovacuum=off"]);
        let url = server.fresh();
        let address = Address::parse(&url).unwrap();
        let backend = Postgres::open(&address, 2, Company::Alone).await.unwrap();
        let backend = Arc::new(backend);
        let vault = Vault::from_master(SealingKey::from_bytes([1; 32]));
        let store = Store::open(backend.clone(), vault).await.unwrap();
        for name in ["erased", "stays"] {
            for number in 0..100_u32 {
                // Some are so long that they are kept apart from their row.
                let value = vec![7; if number % 10 == 0 { 9_000 } else { 90 }];
                let put = Put::new("card", number.to_string(), value);
                store
                    .commit(Batch::new(tenant(name)).put(put))
                    .await
                    .unwrap();
            }
        }
        Self {
            server,
            url,
            store,
            backend,
        }
    }

    /// The beginning of a sealed value, as it stands in the files.
    async fn sealed(&self, name: &str, kind: &str, id: &str) -> Vec<u8> {
        let place = Place {
            tenant: tenant(name),
            kind: kind.to_owned(),
            id: id.to_owned(),
        };
        let now = selfsame_crypto::time::UnixTime(1);
        let record = self.backend.read(&place, now).await.unwrap();
        record.unwrap().value[..PIECE].to_vec()
    }

    async fn sealed_of(&self, name: &str) -> Vec<Vec<u8>> {
        let mut sealed = vec![self.sealed(name, KEY_KIND, "").await];
        for number in 0..100 {
            sealed.push(self.sealed(name, "card", &number.to_string()).await);
        }
        sealed
    }

    fn say(&self, statements: &[&str]) {
        for statement in statements {
            self.server.execute_alone(&self.url, statement);
        }
    }

    /// How many of these stand in files of this folder.
    fn found(&self, sealed: &[Vec<u8>], folder: &str) -> usize {
        let mut begin = vec![false; 1 << 16];
        for piece in sealed {
            begin[two(piece)] = true;
        }
        let mut found = vec![false; sealed.len()];
        for file in files(&self.server.directory().join("data").join(folder)) {
            let bytes = std::fs::read(file).unwrap();
            for at in 0..bytes.len().saturating_sub(PIECE) {
                if begin[two(&bytes[at..])] {
                    for (number, piece) in sealed.iter().enumerate() {
                        found[number] |= bytes[at..].starts_with(piece);
                    }
                }
            }
        }
        found.iter().filter(|found| **found).count()
    }
}

fn two(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_erasure_and_a_full_vacuum_the_servers_files_hold_no_sealed_value_and_no_key() {
    let erased = Erased::with_records().await;
    let (gone, kept) = (
        erased.sealed_of("erased").await,
        erased.sealed_of("stays").await,
    );
    erased.say(&["ANALYZE records", "CHECKPOINT"]);
    assert_eq!(erased.found(&gone, "base"), 101, "they can be found at all");
    while erased.store.destroy(&tenant("erased"), 50).await.unwrap() > 0 {}
    erased.say(&["VACUUM records", "CHECKPOINT"]);
    let left = erased.found(&gone, "base");
    assert!(left > 0, "a vacuum sets space free and overwrites little");
    erased.say(&["VACUUM FULL records", "VACUUM FULL outbox", "CHECKPOINT"]);
    let left = erased.found(&gone, "base");
    assert!(left > 0, "the planner's statistics have samples of values");
    erased.say(&["ANALYZE records", "VACUUM FULL pg_statistic", "CHECKPOINT"]);
    assert_eq!(erased.found(&gone, "base"), 0);
    assert_eq!(erased.found(&kept, "base"), 101);
    // The log holds what was written, until its old segments are removed.
    erased.say(&["SELECT pg_switch_wal()", "CHECKPOINT"]);
    erased.say(&["SELECT pg_switch_wal()", "CHECKPOINT"]);
    assert_eq!(erased.found(&gone, "pg_wal"), 0);
    let card = erased.store.read(&tenant("stays"), "card", "1").await;
    assert_eq!(card.unwrap().unwrap().value, [7; 90]);
}
