//! A registry whose state is verified by proofs: judges the registry reads that peers staple, without network access.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_did::{Did, Resolution, ResolutionError};
use selfsame_proof::client::{Client, Handed, Lasting};

use super::staple_reads::{Fault, Objects, Reads};
use crate::digest::Digest;

/// Values of a network's state by their keys, as far as they are known.
pub trait KnownState {
    /// The value; `Some(None)` for a key that has no value, `None` if that is not known.
    fn get(&self, key: &[u8]) -> Option<Option<Vec<u8>>>;
}

/// An issuer's latest anchor for a status list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ListAnchor {
    /// SHA-256 of the list as served.
    pub digest: [u8; 32],
    /// When it was issued.
    pub issued: UnixTime,
}

/// The rules by which a network's state gives DID documents and anchors. `selfsame-ledger` implements them with the
/// registry's machine, so that a program which uses TLS alone does not contain the registry.
pub trait NetworkRules: Send + Sync {
    /// The network's name in DIDs.
    fn network(&self) -> &Network;

    /// Resolves a DID. The error is `InternalError` if a value that this takes is not known.
    fn resolve(&self, state: &dyn KnownState, did: &Did) -> Resolution;

    /// The issuer's latest anchor for a list's URI; `None` if the list is not anchored, or if its anchor is not known.
    fn anchor(&self, state: &dyn KnownState, issuer: &Did, list: &str) -> Option<ListAnchor>;

    /// Whether the value under this key never changes once it is there.
    fn never_changes(&self, key: &[u8]) -> bool;
}

/// A network: its rules, and a client that remembers what it verified. Clones share both, as can other readers of the
/// network, so that each uses what another has verified.
#[derive(Clone)]
pub struct Ledger {
    rules: Arc<dyn NetworkRules>,
    client: Arc<Mutex<Client>>,
}

impl Ledger {
    /// The network with these rules, read through `client`.
    pub fn new(rules: Arc<dyn NetworkRules>, client: Arc<Mutex<Client>>) -> Self {
        Self { rules, client }
    }

    /// The network's rules, by which DIDs are resolved from its state.
    pub fn rules(&self) -> &dyn NetworkRules {
        &*self.rules
    }

    /// Whether a DID belongs to this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(self.rules.network(), did)
    }

    /// What these reads prove. Fails if one of them does not verify.
    pub(super) fn judge(
        &self,
        staples: Vec<Reads>,
        handed: Handed,
        now: UnixTime,
    ) -> Result<Proved, Fault> {
        let mut proved = Proved {
            rules: Arc::clone(&self.rules),
            objects: BTreeMap::new(),
            as_of: UnixTime(u64::MAX),
        };
        let mut client = self.client();
        for reads in staples {
            let (objects, as_of) = reads.judge(&mut client, handed, now)?;
            proved.as_of = proved.as_of.min(as_of);
            proved.objects.extend(objects);
        }
        Ok(proved)
    }

    /// What is remembered about these DIDs, if none of the parts that may change is older than `max_age` seconds;
    /// `None` if nothing is.
    pub(super) fn remembered(&self, dids: &[&Did], max_age: u64, now: UnixTime) -> Option<Proved> {
        let memory = Memory {
            rules: &*self.rules,
            client: self.client(),
            max_age,
            now,
            read: RefCell::default(),
        };
        for did in dids.iter().filter(|did| self.knows(did)) {
            // A missing part is detected when the DID is resolved later.
            let _resolution = self.rules.resolve(&memory, did);
        }
        let (objects, as_of) = memory.read.into_inner();
        (!objects.is_empty()).then(|| Proved {
            rules: Arc::clone(&self.rules),
            objects,
            as_of: as_of.unwrap_or(now),
        })
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client's memory, and what was read from it.
struct Memory<'a> {
    rules: &'a dyn NetworkRules,
    client: MutexGuard<'a, Client>,
    max_age: u64,
    now: UnixTime,
    read: RefCell<(Objects, Option<UnixTime>)>,
}

impl KnownState for Memory<'_> {
    fn get(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        let never_changes = self.rules.never_changes(key);
        let lasting = match never_changes {
            true => Lasting::Forever,
            false => Lasting::Within(self.max_age),
        };
        let found = self.client.get(key, lasting, self.now)?;
        let value = found.value.map(|value| value.to_vec());
        let (objects, as_of) = &mut *self.read.borrow_mut();
        objects.insert(key.to_vec(), value.clone());
        if !never_changes {
            let time = found.as_of.time;
            *as_of = Some(as_of.map_or(time, |oldest| oldest.min(time)));
        }
        Some(value)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("network", self.rules.network())
            .finish_non_exhaustive()
    }
}

/// A proved part of a state.
pub(super) struct Proved {
    rules: Arc<dyn NetworkRules>,
    objects: Objects,
    /// The time as of which all of it holds.
    pub(super) as_of: UnixTime,
}

impl Proved {
    /// Whether a DID belongs to this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(self.rules.network(), did)
    }

    /// Resolves the DID from the proved state.
    pub(super) fn resolve(&self, did: &Did) -> Result<Resolution, Fault> {
        let resolution = self.rules.resolve(self, did);
        match resolution.metadata.error {
            // A part of it is not proved.
            Some(ResolutionError::InternalError) => Err(Fault::Foreign),
            _ => Ok(resolution),
        }
    }

    /// The issuer's latest anchor for a list's URI, if it is proved.
    pub(super) fn anchor(&self, issuer: &Did, list: &str) -> Option<ListAnchor> {
        self.rules.anchor(self, issuer, list)
    }
}

impl fmt::Debug for Proved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proved")
            .field("as_of", &self.as_of)
            .finish_non_exhaustive()
    }
}

fn is_of(network: &Network, did: &Did) -> bool {
    selfsame_did::selfsame::id_in(did, network).is_some()
}

impl KnownState for Proved {
    fn get(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        self.objects.get(key).cloned()
    }
}

/// How registry reads in staples are judged.
#[derive(Clone, Debug)]
pub struct StaplePolicy {
    /// The registry whose validators must have signed them.
    pub ledger: Ledger,
    /// Maximum age of their checkpoint, in seconds.
    pub max_age: u64,
    /// Their checkpoint must be less than this many seconds behind the newest one seen.
    pub behind: u64,
    /// Whether a DID of the registry without staples, or with old ones, is refused; otherwise it is resolved.
    pub required: bool,
}

impl StaplePolicy {
    /// Accepts staples up to five minutes old and less than two minutes behind; a DID without them is resolved.
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            max_age: 300,
            behind: 120,
            required: false,
        }
    }

    pub(super) fn digest(&self, into: &mut Digest) {
        let Self {
            ledger,
            max_age,
            behind,
            required,
        } = self;
        into.part(ledger.rules.network().as_str().as_bytes());
        into.number(*max_age);
        into.number(*behind);
        into.number(u8::from(*required));
    }

    pub(super) fn handed(&self) -> Handed {
        Handed {
            max_age: self.max_age,
            behind: self.behind,
        }
    }
}
