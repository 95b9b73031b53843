//! The embedded registry: one process orders the transactions and signs the checkpoints.

mod handing_over;
pub mod reached;
mod sequencer;
mod signer;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType};
use selfsame_did::{Did, Options, Resolution};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::Net;
use selfsame_proof::log::Hash;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::tree::Root;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::network::{Member, Role};
use selfsame_registry::{Genesis, Head, Receipt, Rules, StateMachine, Transaction};
use selfsame_store::ledger::LedgerStore;
use selfsame_store::{Batch, Expect, Put, Store, StoreError};

use crate::config::RegistryWitness;
use crate::ledger::Ledger;
use crate::network::{checkpoint_verifier, log_origin, tenant};
use crate::refusal::refused;
use crate::registry::{LocalRegistry, Registry, ServedRegistry};
use crate::times::Times;
use crate::view::{RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse, WitnessFigures};
use crate::witnesses::Witnesses;
use sequencer::{Beside, Queue, Sequencer};
use signer::CheckpointSigner;

pub(super) const GENESIS: &str = "genesis";
/// The name of the only validator of an embedded registry.
const VALIDATOR: &str = "embedded";
/// Maximum number of waiting transactions. Above it, a submission is refused with the time of the next try.
const WAITING_MAX: usize = 8_192;
/// Maximum seconds by which the clock may be behind the last block.
const CLOCK_BEHIND_MAX: u64 = 3_600;
/// Attempts of a read that meets a change. Blocks follow each other more slowly than reads.
const READS_MAX: usize = 8;

/// The settings and parts of an embedded registry.
pub struct Setup {
    /// The network's name for people. Used once, when the first start creates the network.
    pub name: String,
    /// The network's rules. Used once, when the network is created.
    pub rules: Rules,
    /// The log and the state.
    pub ledger: Arc<dyn LedgerStore>,
    /// The store with the key that signs checkpoints.
    pub store: Store,
    /// The key store.
    pub keys: Keys,
    /// The clock for the times of blocks.
    pub clock: Clock,
    /// Maximum number of waiting transactions.
    pub waiting_max: usize,
    /// The witnesses that cosign its checkpoints, and the client that calls them. Default: none.
    pub witnesses: Option<(Net, Vec<RegistryWitness>)>,
}

impl Setup {
    /// A registry with the default rules and limits.
    #[must_use]
    pub fn new(
        name: &str,
        ledger: Arc<dyn LedgerStore>,
        store: Store,
        keys: Keys,
        clock: Clock,
    ) -> Self {
        Self {
            name: name.to_owned(),
            rules: Rules::default(),
            ledger,
            store,
            keys,
            clock,
            waiting_max: WAITING_MAX,
            witnesses: None,
        }
    }
}

/// A registry in this process. Once it is dropped, the block in progress is finished and no other follows.
pub struct Embedded {
    ledger: Ledger,
    queue: Queue,
    signer: Arc<CheckpointSigner>,
    clock: Clock,
}

impl Embedded {
    /// Opens the registry where it stopped. The first start creates the network.
    ///
    /// # Errors
    /// `BadRequest` for an invalid network name, `Gone` if blocks are lost or the store that signed them is, `Conflict`
    /// if ledger and store do not belong together, and the store's errors.
    pub async fn open(setup: Setup) -> Result<Self> {
        reached::store_is_not_older(&setup.store, &*setup.ledger)?;
        reached::is_in(&setup.store, &*setup.ledger).await?;
        let (genesis, key) = genesis(&setup).await?;
        let (verifier, origin) = (
            checkpoint_verifier(&genesis)?,
            log_origin(&genesis.network()),
        );
        let ledger = Ledger::open(setup.ledger, Arc::new(StateMachine::new(genesis)))?;
        ledger.has_the_roots_of_its_head()?;
        handing_over::is_still_here(&ledger, &key)?;
        let head = ledger.head()?;
        let times = Times::since(head.time, &setup.store, setup.clock.clone()).await?;
        let witnesses = setup.witnesses.map(|(net, witnesses)| {
            Witnesses::new(net, setup.clock.clone(), ledger.clone(), witnesses)
        });
        let signer = Arc::new(CheckpointSigner {
            keys: setup.keys,
            tenant: tenant()?,
            key,
            verifier,
            origin,
            times: times.clone(),
            witnesses: witnesses.transpose()?,
            last: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        });
        tracing::info!(network = %ledger.machine().network(), height = head.height, size = head.log.size(), last_block = %head.time.rfc3339(), "registry opened");
        let fits = clock_fits(head.time, setup.clock.now());
        if let Err(error) = fits.and_then(|()| times.clock_is_believed()) {
            tracing::error!(%error, "the registry accepts no transactions");
        }
        let shown = signer.witnesses.is_some().then(|| signer.clone());
        let beside = Beside {
            times,
            shown,
            store: setup.store,
        };
        if let (Some(signer), Err(_)) = (&beside.shown, beside.times.clock_is_believed()) {
            // The time in the witnesses' cosignatures can confirm the clock.
            let (signer, head) = (signer.clone(), head.clone());
            tokio::spawn(async move { signer.checkpoint(&head).await.map(drop) });
        }
        let queue = Sequencer::start(ledger.clone(), head, beside, setup.waiting_max);
        Ok(Self {
            ledger,
            queue,
            signer,
            clock: setup.clock,
        })
    }
}

/// Whether the clock may be right, given the time of the last block. A block is never earlier than the one before, so
/// further blocks would have a time that no reader's clock has reached, and readers would not accept them.
fn clock_fits(last: UnixTime, now: UnixTime) -> Result<()> {
    let ahead = last.seconds_since(now);
    if ahead <= CLOCK_BEHIND_MAX {
        return Ok(());
    }
    let kind = ErrorKind::Unavailable {
        retry_after: ahead.min(CLOCK_BEHIND_MAX),
    };
    Err(Error::new(kind, "clock-behind-block")
        .with("block", &last.rfc3339())
        .with("clock", &now.rfc3339()))
}

impl Embedded {
    /// The head with its signed checkpoint.
    async fn newest(&self) -> Result<(Head, String)> {
        for _ in 0..READS_MAX {
            let head = self.ledger.head()?;
            if let Some(note) = self.signer.checkpoint(&head).await? {
                return Ok((head, note));
            }
        }
        Err(hurried())
    }

    /// An object under the newest checkpoint, and the root of that checkpoint's tree.
    async fn proved(&self, key: &[u8]) -> Result<(Bundle, Root)> {
        for _ in 0..READS_MAX {
            let (head, note) = self.newest().await?;
            if let Some(bundle) = self.ledger.prove(key, head.tree, &note)? {
                return Ok((bundle, head.tree));
            }
        }
        Err(hurried())
    }
}

#[async_trait]
impl LocalRegistry for Embedded {
    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    fn times(&self) -> Option<&Times> {
        Some(&self.signer.times)
    }

    fn witnesses(&self) -> Vec<WitnessFigures> {
        let witnesses = self.signer.witnesses.as_ref();
        witnesses.map(Witnesses::figures).unwrap_or_default()
    }
}

#[async_trait]
impl ServedRegistry for Embedded {
    async fn status(&self) -> Result<RegistryStatus> {
        let (head, checkpoint) = self.newest().await?;
        Ok(RegistryStatus {
            network: self.ledger.machine().network().to_string(),
            height: head.height,
            transactions: head.log.size(),
            checkpoint,
            verifier_key: self.signer.verifier.to_string(),
        })
    }

    async fn read(&self, key: &[u8], _trusted_height: u64) -> Result<Bundle> {
        Ok(self.proved(key).await?.0)
    }

    async fn reads(&self, key: &[u8], _trusted_height: u64) -> Result<ProvenReads> {
        let (bundle, tree) = self.proved(key).await?;
        self.ledger.prove_further(bundle, tree)
    }

    async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>> {
        self.ledger.consistency(old, new)
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        self.ledger.entries(first, count)
    }
}

#[async_trait]
impl Registry for Embedded {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.ledger.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        self.ledger.damage().refuses_writes()?;
        clock_fits(self.ledger.head()?.time, self.clock.now())?;
        self.signer.times.clock_is_believed()?;
        if let Some(refusal) = self.ledger.machine().is_unready_for(transaction) {
            return Err(refused(&refusal));
        }
        self.queue.submit(transaction.clone()).await
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        self.ledger.resolve(did, options)
    }

    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        self.ledger.history(did)
    }

    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)> {
        let now = self.clock.now();
        Ok((self.ledger.used(issuer, digest)?, now))
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        self.ledger.delegation(issuer, name)
    }
}

fn hurried() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 1 };
    Error::new(kind, "registry-too-fast")
}

/// The genesis in the store, or a new one with its key. One commit stores both, so that neither exists without the
/// other.
async fn genesis(setup: &Setup) -> Result<(Genesis, KeyHandle)> {
    let tenant = tenant()?;
    if let Some(record) = setup.store.read(&tenant, GENESIS, "own").await? {
        let genesis = Genesis::from_bytes(&record.value).map_err(Error::internal)?;
        let validator = genesis.validators().validators().first();
        let validator = validator.ok_or_else(|| Error::internal("a network without validators"))?;
        let key = KeyHandle::of(&validator.key);
        return Ok((genesis, key));
    }
    if setup.ledger.head()?.is_some() {
        return Err(Error::new(ErrorKind::Gone, "checkpoint-key-lost"));
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
    // The operator governs the network. Their key is stored beside the key of checkpoints and differs from it.
    let (trustee, _, batch) = setup.keys.create(&tenant, KeyType::Ed25519, batch)?;
    let trustee = Member {
        key: trustee.public().clone(),
        role: Role::Trustee,
    };
    let genesis = Genesis::new(&setup.name, setup.clock.now(), validators, setup.rules)
        .and_then(|genesis| genesis.with_members(vec![trustee]))
        .map_err(|malformed| {
            Error::bad_request("registry-name-malformed").with("detail", &malformed)
        })?;
    let batch = batch.put(Put::new(GENESIS, "own", genesis.to_bytes()));
    match setup.store.commit(batch).await {
        Ok(_) => Ok((genesis, key)),
        Err(StoreError::Conflict { .. }) => Err(Error::internal(
            "another process opened this data directory at the same time",
        )),
        Err(other) => Err(other.into()),
    }
}
