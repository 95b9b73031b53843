//! Misbehaviour of validators that the engine found, such as voting for two blocks at one height.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_crypto::encoding::hex_encode;
use selfsame_ledger::Ledger;
use selfsame_ledger::view::Misbehaviour;
use serde::{Deserialize, Serialize};
use tendermint::abci::types::{Misbehavior, MisbehaviorKind};

use crate::notes::{Address, address_of, replace};

/// The maximum number of validator changes in which a name is looked up: evidence is about recent blocks.
const CHANGES_MAX: usize = 64;

/// All misbehaviour found, and the height up to which blocks were searched.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct FoundMisbehaviour {
    up_to: u64,
    validators: BTreeMap<String, Misbehaviour>,
}

/// Stores misbehaviour across restarts: the network's operators must learn of it even if they did not look at that
/// moment.
#[derive(Debug, Default)]
pub(crate) struct Misbehaviours {
    found: Mutex<FoundMisbehaviour>,
    file: Option<PathBuf>,
}

impl Misbehaviours {
    /// Continues from the contents of a file.
    pub(crate) fn kept_in(file: PathBuf) -> Self {
        let found = std::fs::read(&file).ok().map(|bytes| {
            serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(file = %file.display(), %error, "the record of the validators' misbehaviour can't be read");
                FoundMisbehaviour::default()
            })
        });
        Self {
            found: Mutex::new(found.unwrap_or_default()),
            file: Some(file),
        }
    }

    /// The misbehaviour of each validator, by name.
    pub(crate) fn all(&self) -> Vec<Misbehaviour> {
        self.found().validators.values().cloned().collect()
    }

    /// Records the evidence in a stored block.
    pub(crate) fn in_block(&self, height: u64, evidence: &[Misbehavior], ledger: &Ledger) {
        let mut found = self.found();
        if evidence.is_empty() || height <= found.up_to {
            return;
        }
        found.up_to = height;
        for one in evidence {
            let (name, kind) = (name(&one.validator.address, ledger), named(one.kind));
            let at = one.height.value();
            tracing::error!(validator = name, kind, height = at, power = %one.validator.power, "a validator broke the protocol: its key may be used twice, or was stolen");
            let all = found.validators.entry(name.clone());
            let all = all.or_insert_with(|| Misbehaviour {
                validator: name,
                kind: kind.to_owned(),
                count: 0,
                first_height: at,
                last_height: at,
            });
            all.count = all.count.saturating_add(1);
            all.first_height = all.first_height.min(at);
            if at >= all.last_height {
                (all.last_height, all.kind) = (at, kind.to_owned());
            }
        }
        self.keep(&found);
    }

    fn keep(&self, found: &FoundMisbehaviour) {
        let Some(file) = &self.file else { return };
        let kept = serde_json::to_string(found).map_err(std::io::Error::other);
        if let Err(error) = kept.and_then(|text| replace(file, &text)) {
            tracing::warn!(%error, "the record of a validator's misbehaviour can't be stored");
        }
    }

    fn found(&self) -> MutexGuard<'_, FoundMisbehaviour> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the validator with this engine address, or the address itself if the name is no longer known.
fn name(address: &Address, ledger: &Ledger) -> String {
    let changes = ledger.machine().validator_changes(ledger, CHANGES_MAX);
    let changes = changes.unwrap_or_default().into_iter().rev();
    for change in changes {
        let mut validators = change.set.validators().iter();
        let this = validators.find(|validator| {
            let key = validator.consensus.as_ref();
            key.is_some_and(|key| address_of(key) == *address)
        });
        if let Some(this) = this {
            return this.name.clone();
        }
    }
    hex_encode(address)
}

fn named(kind: MisbehaviorKind) -> &'static str {
    match kind {
        MisbehaviorKind::DuplicateVote => "double_vote",
        MisbehaviorKind::LightClientAttack => "light_client_attack",
        MisbehaviorKind::Unknown => "unknown",
    }
}
