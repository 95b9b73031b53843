//! A registry whose word is proved and not believed: what peers staple of its state is judged here, without a network.

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

/// A network: its rules, and the memory of a reader of it. Clones share both, and so may whoever else reads the same
/// network: what one has verified the others know.
#[derive(Clone)]
pub struct Ledger {
    machine: Arc<Machine>,
    client: Arc<Mutex<Client>>,
}

impl Ledger {
    /// The network of this genesis, as this reader knows it.
    pub fn new(genesis: Genesis, client: Arc<Mutex<Client>>) -> Self {
        Self {
            machine: Arc::new(Machine::new(genesis)),
            client,
        }
    }

    /// Its rules, by which DIDs are read from its state.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether a DID is of this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(&self.machine, did)
    }

    /// What these reads prove, all of them.
    pub(super) fn judge(
        &self,
        staples: Vec<Reads>,
        at: (Handed, UnixTime),
    ) -> Result<Proved, Fault> {
        let mut proved = Proved {
            machine: Arc::clone(&self.machine),
            objects: BTreeMap::new(),
            as_of: UnixTime(u64::MAX),
        };
        let mut client = self.client();
        for reads in staples {
            let (objects, as_of) = reads.judge(&mut client, at)?;
            proved.as_of = proved.as_of.min(as_of);
            proved.objects.extend(objects);
        }
        Ok(proved)
    }

    /// What is remembered of these DIDs, where none of it that may change is older than `max_age` seconds; nothing if
    /// none is remembered whole.
    pub(super) fn remembered(&self, dids: &[&Did], max_age: u64, now: UnixTime) -> Option<Proved> {
        let memory = Memory {
            client: self.client(),
            at: (max_age, now),
            read: RefCell::default(),
        };
        for did in dids.iter().filter(|did| self.knows(did)) {
            // What is missing of one is missed when it is looked at.
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

/// The memory of a reader, and what was read of it.
struct Memory<'a> {
    client: MutexGuard<'a, Client>,
    at: (u64, UnixTime),
    read: RefCell<(Objects, Option<UnixTime>)>,
}

/// Objects of a state by their keys; none where there is none.
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

/// A part of a state that is proved.
pub(super) struct Proved {
    machine: Arc<Machine>,
    objects: Objects,
    /// As of when all of it holds.
    pub(super) as_of: UnixTime,
}

impl Proved {
    /// Whether a DID is of this network.
    pub(super) fn knows(&self, did: &Did) -> bool {
        is_of(&self.machine, did)
    }

    /// The DID as the state has it.
    pub(super) fn resolve(&self, did: &Did) -> Result<Resolution, Fault> {
        let resolution = self.machine.resolve(self, did, &Options::default());
        match resolution.metadata.error {
            // Something of it is not among what is proved.
            Some(ResolutionError::InternalError) => Err(Fault::Foreign),
            _ => Ok(resolution),
        }
    }

    /// What the issuer has anchored last under a list's URI, if that is among what is proved.
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

/// What is made of staples that are reads of a registry.
#[derive(Clone, Debug)]
pub struct StaplePolicy {
    /// The registry, by whose validators they must be signed.
    pub ledger: Ledger,
    /// Seconds their checkpoint may be old.
    pub max_age: u64,
    /// Seconds by less than which their checkpoint must be behind the newest one seen.
    pub behind: u64,
    /// Whether a DID of the registry that comes without, or with old ones, is refused; else it is resolved.
    pub required: bool,
}

impl StaplePolicy {
    /// Staples of at most five minutes, two behind; without them a DID is resolved.
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
