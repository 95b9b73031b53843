//! A registry whose state is verified by proofs: judges the registry reads that peers staple, without network access.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_proof::client::{Client, Handed, Lasting};
use selfsame_registry::{Anchor, Genesis, Machine, StateError, StateRead};

use super::staple::{Fault, Reads};
use crate::digest::Digest;

/// A network: its rules, and a client that remembers what it verified. Clones share both, as can other readers of the
/// network, so that each uses what another has verified.
#[derive(Clone)]
pub struct Ledger {
    machine: Arc<Machine>,
    client: Arc<Mutex<Client>>,
}

impl Ledger {
    /// The network with this genesis, read through `client`.
    pub fn new(genesis: Genesis, client: Arc<Mutex<Client>>) -> Self {
        Self {
            machine: Arc::new(Machine::new(genesis)),
            client,
        }
    }

    /// The network's rules, by which DIDs are resolved from its state.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether a DID belongs to this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(&self.machine, did)
    }

    /// What these reads prove. Fails if one of them does not verify.
    pub(super) fn judge(
        &self,
        staples: Vec<Reads>,
        handed: Handed,
        now: UnixTime,
    ) -> Result<Proved, Fault> {
        let mut proved = Proved {
            machine: Arc::clone(&self.machine),
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
            client: self.client(),
            at: (max_age, now),
            read: RefCell::default(),
        };
        for did in dids.iter().filter(|did| self.knows(did)) {
            // A missing part is detected when the DID is resolved later.
            let _resolution = self.machine.resolve(&memory, did, &Options::default());
        }
        let (objects, as_of) = memory.read.into_inner();
        (!objects.is_empty()).then(|| Proved {
            machine: Arc::clone(&self.machine),
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
    client: MutexGuard<'a, Client>,
    at: (u64, UnixTime),
    read: RefCell<(Objects, Option<UnixTime>)>,
}

/// Objects of a state by their keys; `None` for a key that is proved absent.
pub(super) type Objects = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

impl StateRead for Memory<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let (max_age, now) = self.at;
        let never_changes = Machine::never_changes(key);
        let lasting = match never_changes {
            true => Lasting::Forever,
            false => Lasting::Within(max_age),
        };
        let found = self.client.get(key, lasting, now);
        let found = found.ok_or_else(|| StateError("it is not remembered".to_owned()))?;
        let value = found.value.map(|value| value.to_vec());
        let (objects, as_of) = &mut *self.read.borrow_mut();
        objects.insert(key.to_vec(), value.clone());
        if !never_changes {
            let time = found.as_of.time;
            *as_of = Some(as_of.map_or(time, |oldest| oldest.min(time)));
        }
        Ok(value)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("network", self.machine.network())
            .finish_non_exhaustive()
    }
}

/// A proved part of a state.
pub(super) struct Proved {
    machine: Arc<Machine>,
    objects: Objects,
    /// The time as of which all of it holds.
    pub(super) as_of: UnixTime,
}

impl Proved {
    /// Whether a DID belongs to this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(&self.machine, did)
    }

    /// Resolves the DID from the proved state.
    pub(super) fn resolve(&self, did: &Did) -> Result<Resolution, Fault> {
        let resolution = self.machine.resolve(self, did, &Options::default());
        match resolution.metadata.error {
            // A part of it is not proved.
            Some(ResolutionError::InternalError) => Err(Fault::Foreign),
            _ => Ok(resolution),
        }
    }

    /// The issuer's latest anchor for a list's URI, if it is proved.
    pub(super) fn anchor(&self, issuer: &Did, list: &str) -> Option<Anchor> {
        self.machine.status_anchor(self, issuer, list).ok()?
    }
}

impl fmt::Debug for Proved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proved")
            .field("as_of", &self.as_of)
            .finish_non_exhaustive()
    }
}

fn is_of(machine: &Machine, did: &Did) -> bool {
    selfsame_did::selfsame::id_in(did, machine.network()).is_some()
}

impl StateRead for Proved {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        match self.objects.get(key) {
            Some(value) => Ok(value.clone()),
            None => Err(StateError("it is not proved".to_owned())),
        }
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
        into.part(ledger.machine.network().as_str().as_bytes());
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
