//! A registry, people who write to it, and a ledger that can be delayed or broken.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_did::selfsame::Network;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_ledger::Registry;
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_registry::{Content, Identifier, Operation, Transaction, UnsignedTransaction};
use selfsame_store::backend::Meter;
use selfsame_store::ledger::{Block, Head, LedgerStore, MemoryLedger, Placed, SqliteLedger};
use selfsame_store::{Memory, Result, Store, StoreError, Vault};
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// The parts that a registry is opened with repeatedly.
pub struct World {
    pub store: Store,
    pub clock: Clock,
    pub ledger: Arc<Valve>,
    _directory: Option<TempDir>,
}

impl World {
    pub async fn memory() -> Self {
        Self::over(Arc::new(MemoryLedger::new()), None).await
    }

    pub async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ledger = SqliteLedger::open(directory.path().join("ledger.db")).unwrap();
        Self::over(Arc::new(ledger), Some(directory)).await
    }

    /// A world with each kind of ledger.
    pub async fn all() -> [Self; 2] {
        [Self::memory().await, Self::sqlite().await]
    }

    pub async fn over(ledger: Arc<dyn LedgerStore>, directory: Option<TempDir>) -> Self {
        Self {
            store: store().await,
            clock: Clock::default(),
            ledger: Arc::new(Valve::new(ledger)),
            _directory: directory,
        }
    }

    pub fn setup(&self) -> Setup {
        let (store, keys) = (self.store.clone(), Keys::new(self.store.clone()));
        Setup::new("test", self.ledger.clone(), store, keys, self.clock.clone())
    }

    pub async fn open(&self) -> Embedded {
        Embedded::open(self.setup()).await.unwrap()
    }
}

async fn store() -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(Arc::new(Memory::new()), vault).await.unwrap()
}

/// A person with a DID.
pub struct Actor {
    pub did: Did,
    network: Network,
    id: Identifier,
    key: PrivateKey,
    fragment: String,
}

impl Actor {
    pub async fn new(registry: &dyn Registry) -> Self {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let network = registry.network().await.unwrap();
        Self {
            did: selfsame_did::selfsame::create(&network, key.public()),
            id: Identifier::of_key(key.public()).unwrap(),
            network,
            key,
            fragment: "key-1".to_owned(),
        }
    }

    pub fn create(&self) -> Transaction {
        self.transaction(
            0,
            Operation::CreateDid(Content::of_key("key-1", self.key.public().clone())),
        )
    }

    /// A rotation to a new key, signed with the previous one.
    pub fn rotate(&mut self, version: u64) -> Transaction {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let fragment = format!("key-{version}");
        let content = Content::of_key(&fragment, key.public().clone());
        let transaction = self.transaction(version, Operation::UpdateDid { version, content });
        (self.key, self.fragment) = (key, fragment);
        transaction
    }

    pub fn deactivate(&self, version: u64) -> Transaction {
        self.transaction(version, Operation::DeactivateDid { version })
    }

    pub fn transaction(&self, nonce: u64, operation: Operation) -> Transaction {
        self.sign(UnsignedTransaction::new(
            &self.network,
            self.id,
            nonce,
            operation,
        ))
    }

    pub fn sign(&self, unsigned: UnsignedTransaction) -> Transaction {
        let signature = self.key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed(&self.fragment, &signature).unwrap()
    }
}

const WORKS: u8 = 0;
const LOSES: u8 = 1;
const LOSES_ONE: u8 = 2;
const LOSES_ANSWERS: u8 = 3;
const FULL: u8 = 4;

/// The parts of a ledger that can be damaged.
pub const SOUND: u8 = 0;
pub const NODES: u8 = 1;
pub const VALUES: u8 = 2;
pub const ENTRIES: u8 = 3;
pub const HEAD: u8 = 4;

/// A ledger whose appends can be delayed, lost or made without an answer, and whose bits can flip.
pub struct Valve {
    below: Arc<dyn LedgerStore>,
    mode: AtomicU8,
    rotten: AtomicU8,
    hidden: Mutex<Option<Vec<u8>>>,
    /// Milliseconds that a read of several entries takes.
    slow: AtomicU64,
    nodes_read: AtomicU64,
    open: Semaphore,
    /// Has a permit for each append that was started.
    pub begun: Semaphore,
}

impl Valve {
    fn new(below: Arc<dyn LedgerStore>) -> Self {
        Self {
            below,
            mode: AtomicU8::new(WORKS),
            rotten: AtomicU8::new(SOUND),
            hidden: Mutex::default(),
            slow: AtomicU64::new(0),
            nodes_read: AtomicU64::new(0),
            open: Semaphore::new(1),
            begun: Semaphore::new(0),
        }
    }

    /// From now on appends wait.
    pub async fn shut(&self) {
        self.open.acquire().await.unwrap().forget();
    }

    pub fn open(&self) {
        self.open.add_permits(1);
    }

    /// Waits until an append is held up.
    pub async fn is_waited_at(&self) {
        self.begun.acquire().await.unwrap().forget();
    }

    pub fn lose(&self) {
        self.mode.store(LOSES, Ordering::SeqCst);
    }

    /// The next append is lost, or the one that waits; later ones are stored.
    pub fn lose_one(&self) {
        self.mode.store(LOSES_ONE, Ordering::SeqCst);
    }

    /// From now on the ledger is full.
    pub fn fill(&self) {
        self.mode.store(FULL, Ordering::SeqCst);
    }

    pub fn lose_answers(&self) {
        self.mode.store(LOSES_ANSWERS, Ordering::SeqCst);
    }

    /// From now on a bit of these parts is flipped when they are read.
    pub fn rot(&self, what: u8) {
        self.rotten.store(what, Ordering::SeqCst);
    }

    /// From now on the object under this key is missing.
    pub fn hide(&self, key: Option<&[u8]>) {
        *self.hidden.lock().unwrap() = key.map(<[u8]>::to_vec);
    }

    /// From now on reads of several entries take this long.
    pub fn reads_slowly(&self, each: Duration) {
        let each = u64::try_from(each.as_millis()).unwrap();
        self.slow.store(each, Ordering::SeqCst);
    }

    /// Number of tree nodes read.
    pub fn nodes_read(&self) -> u64 {
        self.nodes_read.load(Ordering::SeqCst)
    }

    fn rotten(&self, what: u8, value: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let rotten = self.rotten.load(Ordering::SeqCst) == what;
        value.map(|mut value| {
            if let Some(byte) = value.get_mut(20).filter(|_| rotten) {
                *byte ^= 1;
            }
            value
        })
    }

    fn rotten_entry(&self, mut placed: Placed) -> Placed {
        let bytes = self.rotten(ENTRIES, Some(placed.entry.bytes));
        placed.entry.bytes = bytes.unwrap();
        placed
    }

    pub fn work(&self) {
        self.mode.store(WORKS, Ordering::SeqCst);
    }
}

fn lost() -> StoreError {
    StoreError::Storage("the disk is full".to_owned())
}

#[async_trait]
impl LedgerStore for Valve {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.hidden.lock().unwrap().as_deref() == Some(key) {
            return Ok(None);
        }
        Ok(self.rotten(VALUES, self.below.get(key)?))
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.below.key(place)
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.nodes_read.fetch_add(1, Ordering::SeqCst);
        Ok(self.rotten(NODES, self.below.node(key)?))
    }

    fn head(&self) -> Result<Option<Head>> {
        let rotten = |head: Head| Head {
            bytes: self.rotten(HEAD, Some(head.bytes)).unwrap(),
            ..head
        };
        Ok(self.below.head()?.map(rotten))
    }

    fn block(&self, height: u64) -> Result<Option<Vec<u8>>> {
        self.below.block(height)
    }

    fn entry(&self, seq: u64) -> Result<Option<Placed>> {
        let placed = self.below.entry(seq)?;
        Ok(placed.map(|placed| self.rotten_entry(placed)))
    }

    fn entries(&self, seqs: std::ops::Range<u64>) -> Result<Vec<Placed>> {
        std::thread::sleep(Duration::from_millis(self.slow.load(Ordering::SeqCst)));
        let placed = self.below.entries(seqs)?.into_iter();
        Ok(placed.map(|placed| self.rotten_entry(placed)).collect())
    }

    fn by_hash(&self, hash: &[u8; 32]) -> Result<Option<u64>> {
        self.below.by_hash(hash)
    }

    async fn append(&self, block: Block) -> Result<Head> {
        self.begun.add_permits(1);
        let _open = self.open.acquire().await.unwrap();
        match self.mode.load(Ordering::SeqCst) {
            LOSES => Err(lost()),
            FULL => Err(StoreError::Full("no room".to_owned())),
            LOSES_ONE => {
                self.work();
                Err(lost())
            }
            LOSES_ANSWERS => {
                self.below.append(block).await?;
                Err(StoreError::Deadline)
            }
            _ => self.below.append(block).await,
        }
    }

    fn meter(&self) -> &Meter {
        self.below.meter()
    }

    fn index_file(&self) -> Option<std::path::PathBuf> {
        self.below.index_file()
    }
}
