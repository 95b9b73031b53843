//! A registry in other Selfsame processes, over HTTP. Its nodes are not trusted: their answers are verified.

mod fetch;
mod kept;
mod known;
mod node;
mod nodes;
mod watch;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::Net;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::entries::{ENTRIES_MAX, ProvenEntries, ProvenEntry};
use selfsame_proof::kept::Fork;
use selfsame_proof::log::Hash;
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::{Bundle, TrustRoot};
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::{Genesis, Receipt, StateError, StateMachine, StateRead, Transaction};
use selfsame_store::Store;
use selfsame_tls::identity::Ledger as Reader;
use tokio::sync::OnceCell;

use crate::config::{Pin, RegistryNode, WitnessQuorum};
use crate::network::{log_origin, trust_root};
use crate::registry::{LocalRegistry, Registry, ServedRegistry, StateReading};
use crate::view::{RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse};
use crate::{entry, uses};
use fetch::Fetcher;
use kept::StoredNetwork;
use known::{Fetch as _, NetView};
use node::Callee;
use nodes::{For, Nodes, better};
use watch::ComparisonWatch;

/// Seconds after which the newest trust root is stored again if only its checkpoint is new.
const KEPT_EVERY: u64 = 60;
/// Fields of a logged transaction that nothing proves, except in a DID's history.
const UNPROVEN: [&str; 2] = ["height", "time"];
/// Seconds for which old state is accepted from one node alone: no other node is there that could show newer state.
const STANDSTILL_ALONE: u64 = 600;
/// Seconds after which to check again whether the operator has acted.
const STOPPED_FOR: u64 = 3_600;

/// A registry in other processes. It does not retry by itself; the outbox does.
pub struct Remote {
    nodes: Nodes,
    pin: Option<Pin>,
    standstill: u64,
    witnesses: WitnessQuorum,
    store: Store,
    clock: Clock,
    network: OnceCell<RemoteNetwork>,
}

/// The settings and parts of a [`Remote`].
pub struct RemoteSetup {
    /// The client that makes the calls.
    pub net: Net,
    /// The clock.
    pub clock: Clock,
    /// The store for trust roots and evidence.
    pub store: Store,
    /// The nodes, in the order in which to ask them.
    pub nodes: Vec<RegistryNode>,
    /// The pin of the network, if there is one.
    pub pin: Option<Pin>,
    /// Maximum age of the newest checkpoint, in seconds, while the network stands still.
    pub standstill: u64,
    /// The witnesses that must have cosigned what the nodes say.
    pub witnesses: WitnessQuorum,
}

/// The network once its genesis is known.
struct RemoteNetwork {
    known: NetView,
    kept: StoredNetwork,
    watch: ComparisonWatch,
    /// The trust root that was stored last.
    written: Mutex<Option<TrustRoot>>,
    /// Set once validators are found to have signed two histories. Then the network is no longer used.
    fork: OnceCell<Fork>,
}

impl Remote {
    /// A registry at these nodes; none is called yet.
    #[must_use]
    pub fn new(setup: RemoteSetup) -> Self {
        let node = |at| Callee::new(setup.net.clone(), at);
        let nodes = setup.nodes.into_iter().map(node).collect();
        let nodes = Nodes::new(nodes, setup.clock.clone());
        if nodes.places() < 2 && setup.standstill > STANDSTILL_ALONE {
            tracing::warn!(
                seconds = STANDSTILL_ALONE,
                "only one node of the registry is known: if it hides new state, its old answers are believed for that long; add others in [[registry.nodes]]"
            );
        }
        if setup.pin.is_none() {
            tracing::warn!(
                "no network is pinned: the first one that the registry's nodes show is believed; set its name or trust root in [registry] (docs/network.md)"
            );
        }
        Self {
            pin: setup.pin,
            standstill: setup.standstill,
            nodes,
            witnesses: setup.witnesses,
            store: setup.store,
            clock: setup.clock,
            network: OnceCell::new(),
        }
    }

    /// The network, as long as its validators have signed one history only. Its genesis is fetched once: it never
    /// changes, since another genesis would be another network.
    async fn network(&self) -> Result<&RemoteNetwork> {
        let network = self.network.get_or_try_init(|| self.opened()).await?;
        match network.fork.get() {
            None => Ok(network),
            Some(fork) => Err(stopped(fork)),
        }
    }

    async fn opened(&self) -> Result<RemoteNetwork> {
        let mut failed = None;
        for node in self.nodes.turn(For::Reads)? {
            let genesis = match node.genesis().await {
                Ok(genesis) => genesis,
                Err(error) => {
                    let error = self.nodes.failed(&node, For::Reads, error);
                    failed = Some(better(failed, error));
                    continue;
                }
            };
            match self.pinned(&genesis) {
                Ok(()) => return self.open(genesis).await,
                Err(error) => {
                    let error = self.nodes.refused(&node, true, error);
                    failed = Some(better(failed, error));
                }
            }
        }
        Err(failed.unwrap_or_else(|| Error::internal("a registry without nodes")))
    }

    fn pinned(&self, genesis: &Genesis) -> Result<()> {
        let found = genesis.network();
        let pinned = match &self.pin {
            None => return Ok(()),
            Some(Pin::Network(name)) => name.as_str(),
            Some(Pin::Trust(root)) => match root.origin == log_origin(&found) {
                true => return Ok(()),
                false => root.origin.as_str(),
            },
        };
        match pinned == found.as_str() {
            true => Ok(()),
            false => Err(Error::upstream("network-not-pinned")
                .with("found", &found)
                .with("pinned", &pinned)),
        }
    }

    /// Continues from the pinned trust root or the stored one, whichever is newer.
    async fn open(&self, genesis: Genesis) -> Result<RemoteNetwork> {
        let kept = StoredNetwork::new(self.store.clone(), genesis.network())?;
        let pinned = match &self.pin {
            Some(Pin::Trust(root)) => root.clone(),
            _ => trust_root(&genesis),
        };
        let mut fork = kept.fork().await?;
        if fork.as_ref().is_some_and(|fork| settles(&pinned, fork)) {
            tracing::warn!(
                height = pinned.from_height,
                "the operator pinned the registry beyond its fork"
            );
            kept.settle_fork().await?;
            fork = None;
        }
        let last = kept
            .trust()
            .await?
            .filter(|(root, _)| root.origin == pinned.origin);
        let (root, note) = match last {
            Some((root, note)) if root.from_height >= pinned.from_height => (root, note),
            Some((root, note)) => {
                let seen = root.seen;
                (TrustRoot { seen, ..pinned }, note)
            }
            None => (pinned, String::new()),
        };
        Ok(RemoteNetwork {
            known: NetView::new(
                genesis,
                root,
                note,
                self.clock.clone(),
                self.witnesses.clone(),
            ),
            kept,
            watch: ComparisonWatch::default(),
            written: Mutex::default(),
            fork: OnceCell::new_with(fork),
        })
    }

    /// What a machine reads in the present state, which the nodes prove, and as of when.
    async fn read_now<T>(
        &self,
        read: impl Fn(&StateMachine, &dyn StateRead) -> std::result::Result<T, StateError>,
    ) -> Result<(T, UnixTime)> {
        let network = self.network().await?;
        let fetcher = self.fetcher(network);
        let (found, as_of) = network.known.read_now(&fetcher, read).await?;
        Ok((found.map_err(Error::internal)?, as_of))
    }

    fn fetcher<'r>(&'r self, network: &'r RemoteNetwork) -> Fetcher<'r> {
        Fetcher {
            remote: self,
            network,
        }
    }

    /// Stores the present trust root, if that is worth a write. A reader that can't store it still reads.
    async fn keep(&self, network: &RemoteNetwork) {
        let (Some((_, note)), trust) = (network.known.newest(), network.known.trust()) else {
            return;
        };
        let time = |root: &TrustRoot| root.seen.map_or(0, |seen| seen.time.0);
        let worth = match &*network.written() {
            None => true,
            Some(last) => {
                last.from_height != trust.from_height
                    || time(&trust).saturating_sub(time(last)) >= KEPT_EVERY
            }
        };
        if worth {
            *network.written() = Some(trust.clone());
            if let Err(error) = network.kept.keep_trust(trust, note).await {
                tracing::warn!(%error, "the registry's newest checkpoint could not be stored");
            }
        }
    }

    /// Stops using the network until the operator acts. The log and the store get both notes as evidence.
    async fn stop(&self, network: &RemoteNetwork, fork: Fork) -> Error {
        tracing::error!(
            first = fork.notes[0],
            second = fork.notes[1],
            nodes = ?fork.nodes,
            "the registry's validators signed two histories"
        );
        if let Err(error) = network.kept.keep_fork(&fork).await {
            tracing::error!(%error, "the evidence could not be stored; it is in the log");
        }
        let error = stopped(&fork);
        // Another task may have found the fork too.
        let _ = network.fork.set(fork);
        error
    }
}

impl RemoteNetwork {
    fn written(&self) -> MutexGuard<'_, Option<TrustRoot>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the operator has decided which history is valid: the pin names validators of a height beyond both, or a
/// checkpoint signed after the fork was found. A pin from before the fork does neither, whichever history it has.
fn settles(pinned: &TrustRoot, fork: &Fork) -> bool {
    let seen_since = pinned.seen.is_some_and(|seen| seen.time > fork.found);
    pinned.from_height > fork.height || seen_since
}

fn stopped(fork: &Fork) -> Error {
    let kind = ErrorKind::Unavailable {
        retry_after: STOPPED_FOR,
    };
    let [first, second] = &fork.nodes;
    Error::new(kind, "histories-forked")
        .with("time", &fork.found.rfc3339())
        .with("first", &first)
        .with("second", &second)
}

impl LocalRegistry for Remote {}

#[async_trait]
impl ServedRegistry for Remote {
    /// The answer of the first node that answers. The reader must verify it.
    async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle> {
        self.network().await?;
        let read = |node: Arc<Callee>| async move { node.read(key, trusted_height).await };
        self.nodes.ask(read).await
    }

    async fn reads(&self, key: &[u8], trusted_height: u64) -> Result<ProvenReads> {
        self.network().await?;
        let read = |node: Arc<Callee>| async move { node.reads(key, trusted_height).await };
        self.nodes.ask(read).await
    }

    async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>> {
        self.network().await?;
        let prove = |node: Arc<Callee>| async move { node.consistency(old, new).await };
        self.nodes.ask(prove).await
    }

    async fn status(&self) -> Result<RegistryStatus> {
        let network = self.network().await?;
        let fetcher = self.fetcher(network);
        // Updates the set of validators, who sign the checkpoint.
        fetcher.fetch(&network.known, STATE_KEY).await?;
        let known = &network.known;
        let status = |node: Arc<Callee>| async move {
            let status = node.status().await?;
            checked(status, known)
        };
        let status = self.nodes.ask(status).await?;
        // Missing cosignatures are not the fault of the node that answered, so it keeps its turn.
        known.cosigned(&status.checkpoint)?;
        Ok(status)
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        let network = self.network().await?;
        let first = first.max(1);
        let numbers: Vec<u64> = (first..).take(count.min(ENTRIES_MAX)).collect();
        let proven = self.fetcher(network).transactions(&numbers).await?;
        let said = |entry: ProvenEntry| {
            let mut shown = entry::proven(entry, network.known.machine())?;
            shown.unproven = UNPROVEN.map(str::to_owned).to_vec();
            Ok(shown)
        };
        proven.into_iter().map(said).collect()
    }

    async fn proven(&self, numbers: &[u64], trusted_height: u64) -> Result<ProvenEntries> {
        self.network().await?;
        let read = |node: Arc<Callee>| async move { node.proven(numbers, trusted_height).await };
        self.nodes.ask(read).await
    }
}

#[async_trait]
impl Registry for Remote {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.network().await?.known.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        let network = self.network().await?;
        self.fetcher(network).write(transaction).await
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        let resolved = match self.network().await {
            Ok(network) => {
                let fetcher = self.fetcher(network);
                network.known.resolve(&fetcher, did, options).await
            }
            Err(error) => Err(error),
        };
        resolved.unwrap_or_else(|error| {
            tracing::warn!(%error, "the registry gave no resolution");
            let retry_after = match error.kind {
                ErrorKind::TooMany { retry_after } | ErrorKind::Unavailable { retry_after } => {
                    Some(retry_after)
                }
                _ => None,
            };
            Resolution::unavailable(error.reason.stored(), retry_after)
        })
    }

    async fn reader(&self) -> Result<Reader> {
        Ok(self.network().await?.known.reader())
    }

    /// The receipts are objects of the state, so that height and time are proven too.
    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        let network = self.network().await?;
        let fetcher = self.fetcher(network);
        let read = network.known.read_now(&fetcher, |machine, state| {
            machine.history(state, did, ENTRIES_MAX)
        });
        let receipts = read.await?.0.map_err(Error::internal)?;
        if receipts.is_empty() {
            return Err(Error::not_found("did-not-in-registry"));
        }
        let numbers: Vec<u64> = receipts.iter().map(|receipt| receipt.seq_no).collect();
        let proven = self.fetcher(network).transactions(&numbers).await?;
        if proven.len() != receipts.len() {
            return Err(Error::upstream("log-too-short"));
        }
        let pairs = proven.into_iter().zip(receipts);
        let described = pairs.map(|(entry, receipt)| {
            let (height, time) = (receipt.height, receipt.time);
            let entry = ProvenEntry {
                height,
                time,
                ..entry
            };
            entry::proven(entry, network.known.machine())
        });
        described.collect()
    }

    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)> {
        self.read_now(|machine, state| uses::used(machine, state, issuer, digest))
            .await
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        let read = self.read_now(|machine, state| uses::delegation(machine, state, issuer, name));
        Ok(read.await?.0)
    }

    async fn read_state(&self, read: &StateReading<'_>) -> Result<()> {
        let network = self.network().await?;
        let fetcher = self.fetcher(network);
        let read = network.known.read_back(&fetcher, read).await?;
        read.map_err(Error::internal)
    }
}

/// The status, if trusted validators signed its checkpoint and the checkpoint matches the fields beside it.
fn checked(status: RegistryStatus, known: &NetView) -> Result<RegistryStatus> {
    let trust = known.trust();
    let refused = |error| Error::upstream("checkpoint-refused").with("detail", &error);
    let note = SignedNote::parse(&status.checkpoint).map_err(refused)?;
    let agreed = Checkpoint::agreed(&note, &trust.origin, &trust.set).map_err(refused)?;
    let network = known.genesis().network();
    if agreed.standing.size != status.transactions || status.network != network.as_str() {
        return Err(Error::upstream("checkpoint-mismatch"));
    }
    Ok(status)
}
