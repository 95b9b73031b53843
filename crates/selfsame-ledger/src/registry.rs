//! The interface of a registry.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_did::{Did, Options, Resolution};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::{Error, Result};
use selfsame_proof::client::Client;
use selfsame_proof::entries::{ENTRIES_MAX, ProvenEntries};
use selfsame_proof::log::Hash;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::{Genesis, Receipt, StateError, StateMachine, StateRead, Transaction};
use selfsame_tls::identity::Ledger as Reader;

use crate::config::WitnessQuorum;
use crate::ledger::Ledger;
use crate::network::trust_root;
use crate::policy::{READER_BYTES, read_policy};
use crate::rules::MachineRules;
use crate::times::Times;
use crate::view::{
    NodeHealth, RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse, WitnessFigures,
};

/// A read of a state by its machine's rules.
pub type StateReading<'a> =
    dyn Fn(&StateMachine, &dyn StateRead) -> std::result::Result<(), StateError> + Send + Sync + 'a;

/// What a registry is in this process: its ledger, its node, its clock. A registry in other processes has none of it.
#[async_trait]
pub trait LocalRegistry: Send + Sync {
    /// The ledger, if it is in this process. The registry's pages show its contents.
    fn ledger(&self) -> Option<&Ledger> {
        None
    }

    /// Answers a JSON-RPC call of the consensus engine's light client for headers, validators or limits. A node that
    /// joins by a snapshot makes these calls.
    ///
    /// # Errors
    /// `NotFound` if there is no such engine, `BadRequest` for any other call, `Unavailable` if it does not run.
    async fn light(&self, _call: &[u8]) -> Result<Vec<u8>> {
        Err(Error::not_found("engine-absent"))
    }

    /// The health of this node, if this process is one of several nodes.
    ///
    /// # Errors
    /// `Internal` if its ledger can't be read.
    fn health(&self) -> Result<Option<NodeHealth>> {
        Ok(None)
    }

    /// The times of the blocks, if this process alone sets them.
    fn times(&self) -> Option<&Times> {
        None
    }

    /// What each witness of this registry's checkpoints has done since the start.
    fn witnesses(&self) -> Vec<WitnessFigures> {
        Vec::new()
    }
}

/// What a registry serves to readers that verify it: its state, its log and the proofs of both.
#[async_trait]
pub trait ServedRegistry: LocalRegistry {
    /// The network, its height and number of transactions, with the signed checkpoint.
    async fn status(&self) -> Result<RegistryStatus>;

    /// The value under a key of the state, with the proof for a reader who trusts the validators of `trusted_height`.
    async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle>;

    /// As [`Self::read`], with the objects that the value refers to, under one checkpoint. Readers ask for them next.
    async fn reads(&self, key: &[u8], trusted_height: u64) -> Result<ProvenReads>;

    /// The proof that the log of `new` transactions begins with the log of `old` transactions (RFC 9162 §2.1.4).
    async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>>;

    /// The transactions from `first` (1 is the oldest), at most `count`, and never more than [`ENTRIES_MAX`].
    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>>;

    /// The transactions with these numbers, at most [`ENTRIES_MAX`], with the proof for a reader who trusts the
    /// validators of `trusted_height`.
    async fn proven(&self, numbers: &[u64], trusted_height: u64) -> Result<ProvenEntries> {
        let ledger = self
            .ledger()
            .ok_or_else(|| Error::not_found("registry-elsewhere"))?;
        let bundle = self.read(STATE_KEY, trusted_height).await?;
        ledger.proven(bundle, numbers)
    }

    /// The transaction with this number.
    async fn entry(&self, seq_no: u64) -> Result<RegistryEntry> {
        let found = self.entries(seq_no, 1).await?.into_iter().next();
        found
            .filter(|entry| entry.seq_no == seq_no)
            .ok_or_else(|| Error::not_found("transaction-unknown"))
    }

    /// The transactions, newest first.
    async fn recent(&self, paging: &Paging) -> Result<Listing<RegistryEntry>> {
        let end = match paging.cursor() {
            Some(cursor) => cursor
                .parse::<u64>()
                .map_err(|_| Error::bad_request("cursor-invalid"))?,
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

/// A registry: accepts transactions and resolves. Submitting a transaction again returns its first receipt.
#[async_trait]
pub trait Registry: ServedRegistry {
    /// The registry's genesis, whose digest is the network's name.
    async fn genesis(&self) -> Result<Vec<u8>>;

    /// Orders a transaction and waits until it is durable. [`selfsame_driver::Error::is_refusal`] tells whether an error is final.
    async fn submit(&self, transaction: &Transaction) -> Result<Receipt>;

    /// Resolves a DID of this network. If the result is not current, its metadata state the time that it is from.
    async fn resolve(&self, did: &Did, options: &Options) -> Resolution;

    /// A reader that verifies what others have read from this registry, without a call to anyone.
    async fn reader(&self) -> Result<Reader> {
        let genesis = self.genesis().await?;
        let genesis = Genesis::from_bytes(&genesis).map_err(Error::internal)?;
        let client = Client::new(
            trust_root(&genesis),
            read_policy(&WitnessQuorum::default()),
            READER_BYTES,
        );
        let rules = MachineRules(Arc::new(StateMachine::new(genesis)));
        Ok(Reader::new(Arc::new(rules), Arc::new(Mutex::new(client))))
    }

    /// The transactions that created and changed a DID, oldest first.
    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>>;

    /// The recorded use of an issuer's single-use credential, if there is one, and the time as of which this holds.
    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)>;

    /// A delegation of an issuer, including one that has ended.
    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>>;

    /// Reads the present state by its machine's rules. The read is run again for each object that is fetched; two objects
    /// that change may be as of two heights.
    async fn read_state(&self, read: &StateReading<'_>) -> Result<()> {
        let elsewhere = || Error::not_found("registry-elsewhere");
        let ledger = self.ledger().ok_or_else(elsewhere)?;
        read(ledger.machine(), ledger).map_err(Error::internal)
    }

    /// The network's name.
    async fn network(&self) -> Result<Network> {
        Ok(Network::of_genesis(&self.genesis().await?))
    }
}
