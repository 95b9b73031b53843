//! The validators of each height: the machine's objects, the engine's updates, the signatures of checkpoints.
//!
//! A set that block n makes votes from block n+2 on, because the engine applies updates then. The checkpoint of block n
//! is signed in the votes for block n+1, so the previous set signs it, and that hands readers over to the new set.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::PublicKey;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::Applied;
use tendermint::validator::Update;
use tendermint::vote::Power;

use super::Halt;

/// The maximum total power of the engine's validators (CometBFT, `MaxTotalVotingPower`: (2^63 - 1) / 8).
const MAX_TOTAL_POWER: u64 = (1 << 60) - 1;

/// The set after a block, if the block changed it.
pub(super) fn changed(applied: &Applied) -> Result<Option<ValidatorSet>, Halt> {
    let bytes = applied.objects.get(STATE_KEY);
    bytes
        .map(|bytes| ValidatorSet::from_bytes(bytes))
        .transpose()
        .map_err(|malformed| Halt(malformed.to_string()))
}

/// The engine's updates for a change: each key whose power changes; power 0 stands for a removed key.
pub(super) fn updates(before: &ValidatorSet, after: &ValidatorSet) -> Result<Vec<Update>, Halt> {
    let (before, after) = (powers(before), powers(after));
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| (key, 0));
    let others = after
        .iter()
        .filter(|(key, power)| before.get(*key) != Some(power));
    gone.chain(others.map(|(key, power)| (key, *power)))
        .map(|(key, power)| update(key, power))
        .collect()
}

/// The engine's keys with their powers. A validator without a key for the engine takes no part in the engine.
pub(super) fn powers(set: &ValidatorSet) -> BTreeMap<Vec<u8>, u64> {
    let validators = set.validators().iter();
    let key = |key: &PublicKey| key.bytes().to_vec();
    validators
        .filter_map(|validator| Some((validator.consensus.as_ref().map(key)?, validator.power)))
        .collect()
}

/// The engine's rule for changes of its validators (CometBFT, `ValidatorSet.UpdateWithChangeSet`). The engine applies
/// it only to a decided block, and makes no more blocks if it refuses one. So this node applies it to each proposal.
pub(super) fn engine_takes(before: &ValidatorSet, updates: &[Update]) -> Result<(), Halt> {
    let refused = |why: &str| {
        Err(Halt(format!(
            "the engine would not accept this change: {why}"
        )))
    };
    let mut after = powers(before);
    let mut told = BTreeSet::new();
    for Update { pub_key, power } in updates {
        let (key, power) = (pub_key.to_bytes(), power.value());
        if !told.insert(key.clone()) {
            return refused("a validator is named twice");
        }
        if power > MAX_TOTAL_POWER {
            return refused("a validator has more power than the maximum for all together");
        }
        let was = after.remove(&key);
        if power > 0 {
            after.insert(key, power);
        } else if was.is_none() {
            return refused("a removed key is not a validator's");
        }
    }
    if after.is_empty() {
        return refused("no validator remains");
    }
    let all: u128 = after.values().map(|power| u128::from(*power)).sum();
    match all <= u128::from(MAX_TOTAL_POWER) {
        true => Ok(()),
        false => refused("the total power is too large"),
    }
}

fn update(key: &[u8], power: u64) -> Result<Update, Halt> {
    let pub_key = tendermint::PublicKey::from_raw_ed25519(key).ok_or_else(|| {
        Halt("the engine does not support the kind of a validator's key".to_owned())
    })?;
    let power = Power::try_from(power).map_err(|error| Halt(error.to_string()))?;
    Ok(Update { pub_key, power })
}

#[cfg(test)]
mod tests;
