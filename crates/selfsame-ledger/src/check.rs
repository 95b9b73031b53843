//! Examines a ledger's file that no process has open: finds damage, and rebuilds the ledger from its log.
//!
//! The log, which is blocks and transactions, is the only part that can't be rebuilt: the state, the tree over it and
//! the indices follow from it.

mod log;
mod replay;
mod signed;
mod state;

use std::path::Path;
use std::sync::Arc;

use selfsame_driver::{Error, Result};
use selfsame_proof::log::Hash;
use selfsame_proof::tree::{NodeRead, ReadError};
use selfsame_registry::{Genesis, Head, StateMachine};
use selfsame_store::ledger::LedgerView;
use selfsame_store::offline::{COPIED, LedgerFile, Looked, StoreFile, Tell};
use selfsame_store::{StoreError, TenantId};

use crate::embedded;
use crate::embedded::reached;
use crate::ledger::OWNER;
use crate::network::tenant;

/// A ledger's file to examine, with what is known of its registry.
pub struct Subject<'a> {
    file: &'a LedgerFile,
    machine: Arc<StateMachine>,
    /// The checkpoint that a network's node has stored; `None` for an embedded registry.
    checkpoint: Option<&'a str>,
    /// Whether the ledger belongs to a node of a network.
    of_network: bool,
    tell: Tell<'a>,
}

/// The result of an examination.
pub struct Found {
    /// The result of each part that was examined.
    pub parts: Vec<Looked>,
    /// Whether the log is whole, so that the ledger rebuilt from it has the same head as this one.
    pub log_is_whole: bool,
}

impl Found {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.parts.iter().all(Looked::is_sound)
    }
}

impl<'a> Subject<'a> {
    /// The ledger of an embedded registry.
    #[must_use]
    pub fn embedded(file: &'a LedgerFile, genesis: Genesis, tell: Tell<'a>) -> Self {
        Self {
            file,
            machine: Arc::new(StateMachine::new(genesis)),
            checkpoint: None,
            of_network: false,
            tell,
        }
    }

    /// The ledger of a network's node, with the newest checkpoint that the node has stored.
    #[must_use]
    pub fn of_node(
        file: &'a LedgerFile,
        genesis: Genesis,
        checkpoint: Option<&'a str>,
        tell: Tell<'a>,
    ) -> Self {
        Self {
            checkpoint,
            of_network: true,
            ..Self::embedded(file, genesis, tell)
        }
    }

    /// Examines all parts and replays the log. If the log is whole, the rebuilt ledger is left in the file `anew`.
    pub async fn examine(&self, anew: &Path) -> Found {
        let mut parts = self.file.look(self.tell);
        parts.push(Looked::through("network", |looked| self.owner(looked)));
        let head = self.newest();
        parts.push(Looked::through("log", |looked| self.log(looked)));
        parts.extend(self.state(head.as_ref()));
        parts.push(Looked::through("signatures", |looked| self.signed(looked)));
        let (replayed, log_is_whole) = match head {
            Some(head) => self.replay(&head, anew).await,
            None => (Looked::not("replay", "there is no last block"), false),
        };
        parts.push(replayed);
        Found {
            parts,
            log_is_whole,
        }
    }

    fn owner(&self, looked: &mut Looked) -> selfsame_store::Result<()> {
        if self.file.head()?.is_none() {
            return Ok(());
        }
        looked.seen = 1;
        if self.file.get(OWNER)? != Some(self.machine.genesis().to_bytes()) {
            looked.wrong("the genesis in the ledger is not this registry's");
        }
        Ok(())
    }

    /// The head, if it can be read.
    fn newest(&self) -> Option<Head> {
        let head = self.file.head().ok().flatten()?;
        Head::from_bytes(&head.bytes).ok()
    }
}

/// Reads the tree and the keys in a ledger's file.
struct CheckedNodes<'a>(&'a LedgerFile);

impl NodeRead for CheckedNodes<'_> {
    fn node(&self, key: &[u8]) -> std::result::Result<Option<Vec<u8>>, ReadError> {
        self.0.node(key).map_err(unread)
    }

    fn key_at(&self, place: &Hash) -> std::result::Result<Option<Vec<u8>>, ReadError> {
        self.0.key(place).map_err(unread)
    }
}

fn unread(error: StoreError) -> ReadError {
    ReadError(error.to_string())
}

/// What a store that nothing serves notes about its age and about the embedded registry it belongs to.
#[derive(Clone, Debug)]
pub struct StoreNotes {
    /// The registry's genesis.
    pub genesis: Option<Genesis>,
    /// The height that the ledger had reached.
    pub reached: u64,
    /// The number of commits, if they are counted.
    pub generation: Option<u64>,
    /// Whether the store is a backup that was not started yet.
    pub is_unbegun_copy: bool,
}

impl StoreNotes {
    /// Reads the notes. `read` opens the value of a record: tenant, kind and identifier.
    ///
    /// # Errors
    /// If one can't be read.
    pub async fn read(
        generation: Option<u64>,
        mut read: impl AsyncFnMut(&TenantId, &str, &str) -> selfsame_store::Result<Option<Vec<u8>>>,
    ) -> Result<Self> {
        let (own, tenant) = (TenantId::instance(), tenant()?);
        let genesis = read(&tenant, embedded::GENESIS, "own").await?;
        let genesis = genesis.map(|bytes| Genesis::from_bytes(&bytes));
        let reached = read(&tenant, reached::REACHED, "own").await?;
        Ok(Self {
            genesis: genesis.transpose().map_err(Error::internal)?,
            reached: reached.map_or(Ok(0), |value| reached::height(&value))?,
            generation,
            is_unbegun_copy: read(&own, COPIED, "").await?.is_some(),
        })
    }

    /// The notes in a store's file.
    ///
    /// # Errors
    /// If one can't be read.
    pub async fn of(store: &StoreFile) -> Result<Self> {
        let read = async |tenant: &TenantId, kind: &str, id: &str| store.read(tenant, kind, id);
        Self::read(store.generation()?, read).await
    }
}

/// The genesis that a ledger contains, for a ledger without another source of it.
///
/// # Errors
/// If it can't be read.
pub fn genesis_of(ledger: &LedgerFile) -> Result<Option<Genesis>> {
    let kept = ledger.get(OWNER)?;
    let genesis = kept.map(|bytes| Genesis::from_bytes(&bytes));
    genesis.transpose().map_err(Error::internal)
}

/// Compares the ages of a store and of the ledger beside it: each notes how far the other had come.
pub fn together(store: &StoreNotes, ledger: &LedgerFile) -> Looked {
    Looked::through("age", |looked| {
        looked.seen = 1;
        if store.is_unbegun_copy {
            looked.note =
                Some("this is a backup that was not started yet: its first start settles this");
            return Ok(());
        }
        if let (Some(now), Some(noted)) = (store.generation, ledger.noted_store()?)
            && now < noted
        {
            looked.wrong(format!(
                "the store is older than its ledger: it has {now} commits, and the ledger has seen {noted}"
            ));
        }
        let height = ledger.head()?.map_or(0, |head| head.height);
        let had = store.reached;
        if height < had && (height == 0 || ledger.copied_at()? != Some(height)) {
            looked.wrong(format!(
                "the ledger is older than its store: it ends at block {height} but had reached block {had}"
            ));
        }
        Ok(())
    })
}
