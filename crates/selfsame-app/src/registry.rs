//! The registry as use cases see it: one interface, embedded in this process or at another address.

pub mod archive;
pub mod browse;
pub mod check;
pub mod damage;
pub mod describe;
pub mod embedded;
mod judging;
mod known;
pub mod ledger;
pub(crate) mod proven;
pub mod remote;
pub(crate) mod uses;
mod witnesses;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_did::{Did, Options, Resolution};
use selfsame_proof::client::Client;
pub use selfsame_proof::entries::ENTRIES_MAX;
use selfsame_proof::entries::ProvenEntries;
use selfsame_proof::log::Hash;
use selfsame_proof::note::VerifierKey;
use selfsame_proof::read::{Bundle, Policy, TrustRoot};
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::refusal::{AuthorFault, EntryFault, ObjectFault, SignatureFault};
use selfsame_registry::{Genesis, Receipt, Refusal, Transaction};
use selfsame_tls::identity::Ledger as Reader;

use self::embedded::Times;
use self::ledger::Ledger;
use crate::config::WitnessQuorum;
use crate::error::{Error, ErrorKind, Result};
use crate::view::registry::{
    NodeHealth, RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse, WitnessFigures,
};
use crate::view::{Listing, Paging};

/// So much of what was verified is kept by a reader.
const READER_BYTES: usize = 16 * 1024 * 1024;
/// Seconds that the checkpoint of an answer may be old: a network at rest signs one at each of its heartbeats.
const MAX_AGE: u64 = 120;
/// Seconds by which clocks may differ.
const SKEW: u64 = 60;

/// What is asked of each read of a registry.
fn read_policy(witnesses: &WitnessQuorum) -> Policy {
    Policy {
        max_age: Some(MAX_AGE),
        skew: SKEW,
        behind: 0,
        witnesses: witnesses.keys().to_vec(),
        witnesses_needed: witnesses.needed(),
    }
}

/// A registry: takes transactions, answers reads. Submitting the same transaction again gives its first receipt.
#[async_trait]
pub trait Registry: Send + Sync {
    /// The registry's genesis, whose digest is the network's name.
    async fn genesis(&self) -> Result<Vec<u8>>;

    /// Orders a transaction and waits until it is durable. Whether an error is final, [`is_refusal`] tells.
    async fn submit(&self, transaction: &Transaction) -> Result<Receipt>;

    /// Resolves a DID of this network; the metadata say as of when, where it is not of this very moment.
    async fn resolve(&self, did: &Did, options: &Options) -> Resolution;

    /// What verifies, without asking anybody, what others have read of this registry.
    async fn reader(&self) -> Result<Reader> {
        let genesis = self.genesis().await?;
        let genesis = Genesis::from_bytes(&genesis).map_err(Error::internal)?;
        let client = Client::new(
            trust_root(&genesis),
            read_policy(&WitnessQuorum::default()),
            READER_BYTES,
        );
        Ok(Reader::new(genesis, Arc::new(Mutex::new(client))))
    }

    /// How far it has come, with the signed checkpoint.
    async fn status(&self) -> Result<RegistryStatus>;

    /// What stands under a key of the state, with all that proves it to a reader who trusts the validators of that
    /// height.
    async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle>;

    /// The same with the objects that it leads to, under one checkpoint: those that a reader asks for next.
    async fn reads(&self, key: &[u8], trusted_height: u64) -> Result<ProvenReads>;

    /// Why the log of `new` transactions begins with that of `old` (RFC 9162 §2.1.4).
    async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>>;

    /// The transactions from `first` (1 is the oldest), at most `count`, and never more than [`ENTRIES_MAX`].
    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>>;

    /// The transactions of these numbers with what proves them to a reader who trusts the validators of that height;
    /// [`ENTRIES_MAX`] at most.
    async fn proven(&self, numbers: &[u64], trusted_height: u64) -> Result<ProvenEntries> {
        let ledger = self
            .ledger()
            .ok_or_else(|| Error::not_found("this registry runs in another process"))?;
        let bundle = self.read(STATE_KEY, trusted_height).await?;
        ledger.proven(bundle, numbers)
    }

    /// The transactions that made a DID what it is, oldest first.
    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>>;

    /// What became of an issuer's credential for one use, and as of when that holds; none while nothing did.
    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)>;

    /// A delegation of an issuer, also once it has ended.
    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>>;

    /// The ledger, where it is in this process: what its pages show.
    fn ledger(&self) -> Option<&Ledger> {
        None
    }

    /// Answers a call of a light client of the consensus engine: headers, validators, limits, as JSON-RPC. A node that
    /// joins by a snapshot asks for them.
    ///
    /// # Errors
    /// `NotFound` where there is no such engine, `BadRequest` for any other call, `Unavailable` if it does not run.
    async fn light(&self, _call: &[u8]) -> Result<Vec<u8>> {
        Err(Error::not_found("this registry has no consensus engine"))
    }

    /// How this node is, where this process is one of several.
    ///
    /// # Errors
    /// `Internal` if its ledger can't be read.
    fn health(&self) -> Result<Option<NodeHealth>> {
        Ok(None)
    }

    /// The times of its blocks, where this process alone gives them.
    fn times(&self) -> Option<&Times> {
        None
    }

    /// How the witnesses that its checkpoints are shown to have done since the start.
    fn witnesses(&self) -> Vec<WitnessFigures> {
        Vec::new()
    }

    /// The network's name.
    async fn network(&self) -> Result<Network> {
        Ok(Network::of_genesis(&self.genesis().await?))
    }

    /// Orders a transaction as it came over the wire.
    async fn submit_bytes(&self, transaction: &[u8]) -> Result<Receipt> {
        let transaction = Transaction::from_bytes(transaction).map_err(|malformed| {
            Error::bad_request(malformed.to_string()).with_code("malformed")
        })?;
        self.submit(&transaction).await
    }

    /// The transaction of that number.
    async fn entry(&self, seq_no: u64) -> Result<RegistryEntry> {
        let found = self.entries(seq_no, 1).await?.into_iter().next();
        found
            .filter(|entry| entry.seq_no == seq_no)
            .ok_or_else(|| Error::not_found("there is no transaction with this number"))
    }

    /// The transactions, newest first.
    async fn recent(&self, paging: &Paging) -> Result<Listing<RegistryEntry>> {
        let end = match paging.cursor() {
            Some(cursor) => cursor
                .parse::<u64>()
                .map_err(|_| Error::bad_request("invalid pagination cursor"))?,
            None => self.status().await?.transactions.saturating_add(1),
        };
        let limit = paging.limit().min(ENTRIES_MAX);
        let first = end.saturating_sub(limit as u64).max(1);
        let count = usize::try_from(end.saturating_sub(first)).map_err(Error::internal)?;
        let mut items = self.entries(first, count).await?;
        items.retain(|entry| entry.seq_no < end);
        items.reverse();
        let next = (first > 1).then(|| first.to_string());
        Ok(Listing { items, next })
    }
}

/// Whether trying again can't help: somebody must change what is asked.
#[must_use]
pub fn is_refusal(error: &Error) -> bool {
    match error.kind {
        ErrorKind::BadRequest
        | ErrorKind::Forbidden
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::Gone => true,
        // A token can be put right without the transaction changing.
        ErrorKind::Unauthenticated
        | ErrorKind::TooMany { .. }
        | ErrorKind::Unavailable { .. }
        | ErrorKind::Full
        | ErrorKind::Upstream
        | ErrorKind::Damaged
        | ErrorKind::Internal => false,
    }
}

/// The name of a network's log, in checkpoints and in the key that signs them; whoever knows the genesis knows it.
#[must_use]
pub fn log_origin(network: &Network) -> String {
    format!("selfsame/{network}")
}

/// What whoever has a network's genesis trusts: its first validators.
#[must_use]
pub fn trust_root(genesis: &Genesis) -> TrustRoot {
    let origin = log_origin(&genesis.network());
    TrustRoot::of_genesis(&origin, genesis.validators().clone())
}

/// The key that verifies the checkpoints of a network with one validator.
///
/// # Errors
/// `Internal` if the genesis has no validator, which reading it excludes.
pub fn checkpoint_verifier(genesis: &Genesis) -> Result<VerifierKey> {
    let validator = genesis.validators().validators().first();
    validator
        .ok_or_else(|| Error::internal("a network without validators"))?
        .verifier_key(&log_origin(&genesis.network()))
        .map_err(Error::internal)
}

/// The machine's refusal in the terms of use cases.
#[must_use]
pub fn refused(refusal: &Refusal) -> Error {
    let kind = match refusal {
        Refusal::Quota { .. } | Refusal::BlockFull => ErrorKind::TooMany {
            retry_after: refusal.retry_after().unwrap_or(1),
        },
        Refusal::Author(AuthorFault::Deactivated) => ErrorKind::Gone,
        Refusal::Author(AuthorFault::Unknown) => ErrorKind::NotFound,
        Refusal::Author(AuthorFault::Exists)
        | Refusal::Version { .. }
        | Refusal::NonceUsed
        | Refusal::Object(ObjectFault::Exists)
        | Refusal::Entry(EntryFault::Before)
        | Refusal::Used { .. }
        | Refusal::NotNewer => ErrorKind::Conflict,
        Refusal::Signature(
            SignatureFault::UnknownKey
            | SignatureFault::Bad
            | SignatureFault::FirstKeyMissing
            | SignatureFault::OwnerMissing,
        )
        | Refusal::NotAllowed { .. }
        | Refusal::Endorser
        | Refusal::Agreement(_)
        | Refusal::Delegation(_) => ErrorKind::Forbidden,
        Refusal::Signature(SignatureFault::Repeated)
        | Refusal::Network
        | Refusal::Identifier
        | Refusal::Content(_)
        | Refusal::TooLarge
        | Refusal::Governance(_)
        | Refusal::Object(_)
        | Refusal::Entry(_)
        | Refusal::Future => ErrorKind::BadRequest,
    };
    Error::new(kind, refusal.to_string()).with_code(refusal.code())
}
