//! The conformance suite of the store, against a real PostgreSQL server.

#[path = "server/server.rs"]
mod server;
#[path = "../../selfsame-store/tests/conformance/suite.rs"]
mod suite;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
// The suite draws batches at random.
use proptest as _;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::Backend;
use server::Server;
use suite::ground::{Ground, Home};

/// A schema of the shared server.
struct Schema(String);

impl Schema {
    fn fresh() -> Box<dyn Home> {
        Box::new(Self(Server::shared().fresh()))
    }
}

#[async_trait]
impl Home for Schema {
    async fn open(&self) -> Arc<dyn Backend> {
        let address = Address::parse(&self.0).unwrap();
        Arc::new(Postgres::open(&address, 4, Company::Alone).await.unwrap())
    }

    fn another(&self) -> Box<dyn Home> {
        Self::fresh()
    }

    async fn files(&self) -> Vec<PathBuf> {
        let address = Address::parse(&self.0).unwrap();
        Postgres::open(&address, 1, Company::Alone).await.unwrap();
        let mut files = Vec::new();
        let data = Server::shared().directory().join("data");
        collect(&data.join("base"), &mut files);
        collect(&data.join("pg_wal"), &mut files);
        files
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

mod postgres {
    use super::{Ground, Schema};

    crate::suite::conformance! { Ground::at(Schema::fresh()) }
}
