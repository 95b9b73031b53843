//! Who validates which height: the machine's objects, the engine's updates, the signatures under checkpoints.
//!
//! A set that block n makes votes from block n+2 on: that is how the engine takes updates. So the checkpoint of block n,
//! which is signed in the votes for block n+1, is signed by the set before: readers are handed over by it.

use std::collections::BTreeMap;

use selfsame_app::registry::ledger::Ledger;
use selfsame_app::{Error, Result};
use selfsame_crypto::PublicKey;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::{Applied, Head};
use tendermint::validator::Update;
use tendermint::vote::Power;

use super::Halt;

/// A block has at most so many changes of the validators that are looked back at.
const CHANGES_MAX: usize = 1_024;

/// Who signs the checkpoint of a head that is the last.
pub(crate) fn signers(ledger: &Ledger, head: &Head) -> Result<ValidatorSet> {
    let changes = ledger
        .machine()
        .validator_changes(ledger, CHANGES_MAX)
        .map_err(Error::internal)?;
    let mut before = changes.into_iter().rev();
    match before.find(|change| change.receipt.height < head.height) {
        Some(change) => Ok(change.set),
        None => Ok(ledger.genesis().validators().clone()),
    }
}

/// The set after a block, where the block changed it.
pub(super) fn changed(applied: &Applied) -> std::result::Result<Option<ValidatorSet>, Halt> {
    let bytes = applied.objects.get(STATE_KEY);
    bytes
        .map(|bytes| ValidatorSet::from_bytes(bytes))
        .transpose()
        .map_err(|malformed| Halt(malformed.to_string()))
}

/// What the engine is told of a change: who has another power than before, none for who is gone.
pub(super) fn updates(
    before: &ValidatorSet,
    after: &ValidatorSet,
) -> std::result::Result<Vec<Update>, Halt> {
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

/// The engine's keys with their powers; who has none does not take part in the engine.
pub(super) fn powers(set: &ValidatorSet) -> BTreeMap<Vec<u8>, u64> {
    let validators = set.validators().iter();
    let key = |key: &PublicKey| key.bytes().to_vec();
    validators
        .filter_map(|validator| Some((validator.consensus.as_ref().map(key)?, validator.power)))
        .collect()
}

fn update(key: &[u8], power: u64) -> std::result::Result<Update, Halt> {
    let pub_key = tendermint::PublicKey::from_raw_ed25519(key)
        .ok_or_else(|| Halt("a validator's key is none the engine takes".to_owned()))?;
    let power = Power::try_from(power).map_err(|error| Halt(error.to_string()))?;
    Ok(Update { pub_key, power })
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{KeyType, PrivateKey};
    use selfsame_proof::validators::Validator;

    use super::*;

    fn validator(name: &str, power: u64) -> Validator {
        let key = || PrivateKey::generate(KeyType::Ed25519).unwrap();
        Validator {
            name: name.to_owned(),
            key: key().public().clone(),
            power,
            consensus: Some(key().public().clone()),
        }
    }

    fn told(before: &[Validator], after: &[Validator]) -> BTreeMap<Vec<u8>, u64> {
        let set = |of: &[Validator]| ValidatorSet::new(of.to_vec()).unwrap();
        let updates = updates(&set(before), &set(after)).unwrap().into_iter();
        updates
            .map(|update| (update.pub_key.to_bytes(), update.power.value()))
            .collect()
    }

    #[test]
    fn the_engine_is_told_who_comes_who_goes_and_whose_power_changes() {
        let (stays, goes, comes) = (validator("a", 10), validator("b", 10), validator("c", 5));
        let mut mightier = stays.clone();
        mightier.power = 11;
        let key = |of: &Validator| of.consensus.as_ref().unwrap().bytes().to_vec();
        let before = [stays.clone(), goes.clone()];
        assert!(told(&before, &before).is_empty());
        assert_eq!(
            told(&before, &[stays.clone(), comes.clone()]),
            BTreeMap::from([(key(&goes), 0), (key(&comes), 5)])
        );
        assert_eq!(
            told(&before, &[mightier, goes]),
            BTreeMap::from([(key(&stays), 11)])
        );
    }
}
