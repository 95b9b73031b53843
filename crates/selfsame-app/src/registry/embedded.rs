//! The embedded registry: one process orders the transactions, and signs where the log stands.

mod known;
mod sequencer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use selfsame_crypto::{KeyHandle, KeyType};
use selfsame_did::{Did, Options, Resolution};
use selfsame_proof::note::VerifierKey;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{
    Genesis, Head, Machine, Receipt, Rules, StateError, StateRead, Transaction,
};
use selfsame_store::ledger::LedgerStore;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use super::{ENTRIES_MAX, Registry, checkpoint_verifier, describe, log_origin, uses};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::view::registry::{RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse};
use known::Known;
use sequencer::{Queue, Sequencer};

const GENESIS: &str = "genesis";
/// The only validator of an embedded registry.
const VALIDATOR: &str = "embedded";
/// Where the ledger says whose it is; no key of the machine's state begins like this.
const OWNER: &[u8] = b"genesis";
/// So many transactions wait at most; who comes then is told when to come back.
const WAITING_MAX: usize = 8_192;

/// What an embedded registry is made of.
pub struct Setup {
    /// The network's name for people; used when the network is made, at the first start.
    pub name: String,
    /// The network's rules; used when it is made.
    pub rules: Rules,
    /// The log and the state.
    pub ledger: Arc<dyn LedgerStore>,
    /// The store with the checkpoint's key.
    pub store: Store,
    /// The key store.
    pub keys: Keys,
    /// The time of blocks.
    pub clock: Clock,
    /// So many transactions may wait.
    pub waiting_max: usize,
}

impl Setup {
    /// A registry with the rules and limits it has unless told otherwise.
    #[must_use]
    pub fn new(
        name: &str,
        ledger: Arc<dyn LedgerStore>,
        (store, keys, clock): (Store, Keys, Clock),
    ) -> Self {
        Self {
            name: name.to_owned(),
            rules: Rules::default(),
            ledger,
            store,
            keys,
            clock,
            waiting_max: WAITING_MAX,
        }
    }
}

/// A registry in this process. Once the last of it is dropped, the block under way is finished and nothing follows.
pub struct Embedded {
    ledger: Ledger,
    machine: Arc<Machine>,
    queue: Queue,
    signer: Signer,
    known: Known,
}

impl Embedded {
    /// Opens the registry where it stopped; at the first start it makes the network.
    ///
    /// # Errors
    /// `BadRequest` for a name no network can have, `Internal` if ledger and store do not belong together, the store's.
    pub async fn open(setup: Setup) -> Result<Self> {
        let ledger = Ledger(setup.ledger.clone());
        let (genesis, key) = genesis(&setup, &ledger).await?;
        let signer = Signer {
            keys: setup.keys,
            tenant: tenant()?,
            key,
            verifier: checkpoint_verifier(&genesis)?,
            last: Mutex::default(),
        };
        let head = ledger.head(&genesis)?;
        let machine = Arc::new(Machine::new(genesis));
        tracing::info!(network = %machine.network(), height = head.height, size = head.log.size(), "registry opened");
        let known = Known::default();
        let queue = Sequencer::start(
            (ledger.clone(), known.clone()),
            machine.clone(),
            head,
            (setup.clock, setup.waiting_max),
        );
        Ok(Self {
            ledger,
            machine,
            queue,
            signer,
            known,
        })
    }

    fn described(&self, seq_nos: impl IntoIterator<Item = u64>) -> Result<Vec<RegistryEntry>> {
        let mut times = BTreeMap::new();
        let mut entries = Vec::new();
        for seq_no in seq_nos {
            let Some(placed) = self.ledger.0.entry(seq_no)? else {
                break;
            };
            let time = match times.get(&placed.height) {
                Some(time) => *time,
                None => {
                    let time = self.ledger.block(placed.height)?.time;
                    times.insert(placed.height, time);
                    time
                }
            };
            entries.push(describe::entry(&self.machine, &placed, time)?);
        }
        Ok(entries)
    }
}

#[async_trait]
impl Registry for Embedded {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.machine.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        self.queue.submit(transaction.clone()).await
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        if *options != Options::default() {
            return self.machine.resolve(&self.ledger, did, options);
        }
        self.known
            .or_read(did, || self.machine.resolve(&self.ledger, did, options))
    }

    async fn status(&self) -> Result<RegistryStatus> {
        let head = self.ledger.head(self.machine.genesis())?;
        Ok(RegistryStatus {
            network: self.machine.network().to_string(),
            height: head.height,
            transactions: head.log.size(),
            checkpoint: self
                .signer
                .checkpoint(&head, &log_origin(self.machine.network()))
                .await?,
            verifier_key: self.signer.verifier.to_string(),
        })
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        self.described((first.max(1)..).take(count.min(ENTRIES_MAX)))
    }

    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        let receipts = self
            .machine
            .history(&self.ledger, did, ENTRIES_MAX)
            .map_err(Error::internal)?;
        if receipts.is_empty() {
            return Err(Error::not_found("the registry knows no such DID"));
        }
        self.described(receipts.iter().map(|receipt| receipt.seq_no))
    }

    async fn used(&self, issuer: &Did, digest: &[u8; 32]) -> Result<Option<RegistryUse>> {
        uses::used(&self.machine, &self.ledger, (issuer, digest))
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        uses::delegation(&self.machine, &self.ledger, (issuer, name))
    }
}

/// The ledger as the machine reads it.
#[derive(Clone)]
struct Ledger(Arc<dyn LedgerStore>);

impl Ledger {
    fn head(&self, genesis: &Genesis) -> Result<Head> {
        match self.0.head()? {
            Some(head) => Head::from_bytes(&head.bytes).map_err(Error::internal),
            None => Ok(Head::of_genesis(genesis)),
        }
    }

    fn block(&self, height: u64) -> Result<Head> {
        let bytes = self
            .0
            .block(height)?
            .ok_or_else(|| Error::internal("a block of the ledger is missing"))?;
        Head::from_bytes(&bytes).map_err(Error::internal)
    }
}

impl StateRead for Ledger {
    fn get(&self, key: &[u8]) -> std::result::Result<Option<Vec<u8>>, StateError> {
        self.0
            .get(key)
            .map_err(|error| StateError(error.to_string()))
    }
}

/// Signs checkpoints. A head is signed when somebody asks for it, once: only what is durable is ever signed, and
/// the same head always gives the same note.
struct Signer {
    keys: Keys,
    tenant: TenantId,
    key: KeyHandle,
    verifier: VerifierKey,
    last: Mutex<Option<(u64, String)>>,
}

impl Signer {
    async fn checkpoint(&self, head: &Head, origin: &str) -> Result<String> {
        let signed = self
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some((_, note)) = signed.filter(|(height, _)| *height == head.height) {
            return Ok(note);
        }
        let mut note = head.checkpoint(origin).to_note().map_err(Error::internal)?;
        let signature = self
            .keys
            .sign(&self.tenant, &self.key, note.signing_bytes())
            .await?;
        note.sign(&self.verifier, signature)
            .map_err(Error::internal)?;
        let note = note.to_string();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((head.height, note.clone()));
        Ok(note)
    }
}

/// The genesis in the store, or a new one with its key: both are kept in one commit, so that neither is without the
/// other.
async fn genesis(setup: &Setup, ledger: &Ledger) -> Result<(Genesis, KeyHandle)> {
    let tenant = tenant()?;
    if let Some(record) = setup.store.read(&tenant, GENESIS, "own").await? {
        let genesis = Genesis::from_bytes(&record.value).map_err(Error::internal)?;
        let owner = ledger.0.get(OWNER)?;
        if ledger.0.head()?.is_some() && owner.as_deref() != Some(record.value.as_slice()) {
            return Err(Error::internal(
                "the ledger belongs to another network than this store",
            ));
        }
        let validator = genesis.validators().validators().first();
        let validator = validator.ok_or_else(|| Error::internal("a network without validators"))?;
        let key = KeyHandle::of(&validator.key);
        return Ok((genesis, key));
    }
    if ledger.0.head()?.is_some() {
        return Err(Error::internal(
            "there is a ledger, but the store has no key for its checkpoints",
        ));
    }
    let batch = Batch::new(tenant.clone()).expect(GENESIS, "own", Expect::Absent);
    let (private, key, batch) = setup.keys.create(&tenant, KeyType::Ed25519, batch)?;
    let validators = ValidatorSet::new(vec![Validator {
        name: VALIDATOR.to_owned(),
        key: private.public().clone(),
        power: 1,
        consensus: None,
    }])
    .map_err(Error::internal)?;
    let genesis = Genesis::new(&setup.name, setup.clock.now(), validators, setup.rules)
        .map_err(|malformed| Error::bad_request(format!("[registry] name: {malformed}")))?;
    let batch = batch.put(Put::new(GENESIS, "own", genesis.to_bytes()));
    match setup.store.commit(batch).await {
        Ok(_) => Ok((genesis, key)),
        Err(StoreError::Conflict { .. }) => Err(Error::internal(
            "another process opened this data directory at the same time",
        )),
        Err(other) => Err(other.into()),
    }
}

/// Whose the checkpoint's key is.
fn tenant() -> Result<TenantId> {
    TenantId::parse("registry").map_err(Error::internal)
}
