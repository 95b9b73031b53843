//! A registry whose word is proved and not believed: what peers staple of its state is judged here, without a network.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_proof::client::{Client, Handed};
use selfsame_proof::read::Outcome;
use selfsame_registry::{Anchor, Genesis, Machine, StateError, StateRead};

use super::staple::{Fault, Reads};
use crate::resumption::Digest;

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
        staples: &[Reads],
        (handed, now): (Handed, UnixTime),
    ) -> Result<Proved, Fault> {
        let mut proved = Proved {
            machine: Arc::clone(&self.machine),
            objects: BTreeMap::new(),
            as_of: UnixTime(u64::MAX),
        };
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        for bundle in staples.iter().flat_map(Reads::bundles) {
            let report = client.accept_handed(&bundle.key, &bundle, (handed, now));
            let as_of = match (report.outcome, report.as_of) {
                (Outcome::Verified, Some(as_of)) => as_of.time,
                (Outcome::Untimely, _) => return Err(Fault::Untimely),
                (Outcome::Untrusted, _) => return Err(Fault::Untrusted),
                _ => return Err(Fault::Forged),
            };
            proved.as_of = proved.as_of.min(as_of);
            proved.objects.insert(bundle.key, bundle.value);
        }
        Ok(proved)
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
    objects: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
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
    let parts = selfsame_did::selfsame::parts(did);
    parts.is_some_and(|(network, _)| network == *machine.network())
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
