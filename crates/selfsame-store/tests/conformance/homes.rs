//! The back ends of this crate.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_store::backend::Backend;
use selfsame_store::{Memory, Sqlite};
use tempfile::TempDir;

use crate::suite::ground::{Ground, Home};

pub fn memory() -> Ground {
    Ground::at(Box::new(InMemory(Arc::new(Memory::new()))))
}

pub fn sqlite() -> Ground {
    Ground::at(Box::new(InFile(TempDir::new().unwrap())))
}

struct InMemory(Arc<Memory>);

#[async_trait]
impl Home for InMemory {
    async fn open(&self) -> Arc<dyn Backend> {
        self.0.clone()
    }

    fn another(&self) -> Box<dyn Home> {
        Box::new(Self(Arc::new(Memory::new())))
    }

    async fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

struct InFile(TempDir);

#[async_trait]
impl Home for InFile {
    async fn open(&self) -> Arc<dyn Backend> {
        Arc::new(Sqlite::open(self.0.path().join("store.db")).unwrap())
    }

    fn another(&self) -> Box<dyn Home> {
        Box::new(Self(TempDir::new().unwrap()))
    }

    async fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.0.path()).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }
}
