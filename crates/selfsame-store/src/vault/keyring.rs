//! The master keys that this process has, and what the store's list says of them.

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::seal::master::{KeyCheck, KeyList, MasterKey, OpenedList, RotationStage};
use zeroize::Zeroizing;

use crate::backend::LIST_KIND;
use crate::error::{Result, StoreError};
use crate::rotation::{KeyTrouble, RotationState};

/// The key of the sum over all rows follows from this, for data that have no list of master keys yet.
const SUM: &[u8] = b"selfsame/store/sum";

/// The master keys at hand, and the store's list of master keys once it was read.
#[derive(Default)]
pub(super) struct Keyring {
    pub(super) held: Vec<MasterKey>,
    pub(super) known: Option<KnownList>,
}

/// A version of the list.
pub(super) struct KnownList {
    pub(super) version: u64,
    pub(super) list: KeyList,
    seed: Zeroizing<[u8; 32]>,
}

/// The keys under which a tenant's key is wrapped now.
pub(super) struct WrappingKeys {
    pub(super) keys: Vec<MasterKey>,
    /// The version of the list that says so; `None` before there is a list.
    pub(super) version: Option<u64>,
    /// Whether the next key should be among them and is not at hand.
    pub(super) is_behind: bool,
}

impl Keyring {
    /// Adds keys that are not held yet.
    pub(super) fn hold(&mut self, keys: &[SealingKey]) {
        for key in keys.iter().map(MasterKey::of) {
            if self.find(key.check()).is_none() {
                self.held.push(key);
            }
        }
    }

    pub(super) fn find(&self, check: KeyCheck) -> Option<&MasterKey> {
        self.held.iter().find(|key| key.check() == check)
    }

    /// The key that data without a list are under.
    pub(super) fn prefer(&mut self, check: KeyCheck) {
        self.held.sort_by_key(|key| key.check() != check);
    }

    /// Takes over what a list says.
    ///
    /// # Errors
    /// `WrongKey` if the key that opens all secrets is not at hand.
    pub(super) fn know(&mut self, version: u64, opened: OpenedList) -> Result<()> {
        let present = opened.list.present().and_then(|check| self.find(check));
        if present.is_none() {
            return Err(StoreError::WrongKey(KeyTrouble::Early));
        }
        self.known = Some(KnownList {
            version,
            list: opened.list,
            seed: opened.seed,
        });
        Ok(())
    }

    /// The seed of the sum's key.
    pub(super) fn seed(&self) -> Zeroizing<[u8; 32]> {
        match (&self.known, self.held.first()) {
            (Some(known), _) => known.seed.clone(),
            (None, Some(first)) => first.derive_seed(SUM),
            // Without any key nothing opens, so no sum is made with this.
            (None, None) => Zeroizing::new([0; 32]),
        }
    }

    /// The keys to wrap with.
    ///
    /// # Errors
    /// `WrongKey` if the store is under a key that is not at hand.
    pub(super) fn wrapping(&self) -> Result<WrappingKeys> {
        let Some(known) = &self.known else {
            let keys = self.held.first().cloned().into_iter().collect();
            let (version, is_behind) = (None, false);
            return Ok(WrappingKeys {
                keys,
                version,
                is_behind,
            });
        };
        let present = known.list.present().and_then(|check| self.find(check));
        let present = present.ok_or(StoreError::WrongKey(KeyTrouble::Former))?;
        let next = known.list.next().and_then(|check| self.find(check));
        Ok(WrappingKeys {
            keys: [present].into_iter().chain(next).cloned().collect(),
            version: Some(known.version),
            is_behind: known.list.next().is_some() && next.is_none(),
        })
    }

    pub(super) fn known(&self) -> Result<&KnownList> {
        let none = || StoreError::conflict(LIST_KIND, "");
        self.known.as_ref().ok_or_else(none)
    }

    /// How far a rotation is.
    pub(super) fn rotation(&self) -> RotationState {
        let list = self.known.as_ref().map(|known| &known.list);
        let next = list.and_then(KeyList::next);
        let wrapping = self.wrapping();
        RotationState {
            stage: list.map_or(RotationStage::Settled, |list| list.stage),
            present: list.and_then(KeyList::present),
            next,
            is_ready: wrapping.is_ok_and(|wrapping| !wrapping.is_behind),
        }
    }

    /// The last key on the list that is at hand.
    pub(super) fn newest(&self) -> Option<KeyCheck> {
        let keys = self.wrapping().ok()?.keys;
        keys.last().map(MasterKey::check)
    }

    /// The keys at hand that are not on the list.
    pub(super) fn unlisted(&self) -> Vec<KeyCheck> {
        let list = self.known.as_ref().map(|known| &known.list);
        let listed = |check| {
            list.is_some_and(|list| {
                [list.present(), list.next(), list.former].contains(&Some(check))
            })
        };
        let held = self.held.iter().map(MasterKey::check);
        held.filter(|check| !listed(*check)).collect()
    }

    /// The keys of a rotation to this one.
    ///
    /// # Errors
    /// `Conflict` if a rotation is under way, or the key is not at hand.
    pub(super) fn to_begin(&self, next: KeyCheck) -> Result<[MasterKey; 2]> {
        let known = self.known()?;
        let present = known.list.present().and_then(|check| self.find(check));
        match (known.list.stage, present, self.find(next)) {
            (RotationStage::Settled, Some(present), Some(next))
                if next.check() != present.check() =>
            {
                Ok([present.clone(), next.clone()])
            }
            _ => Err(StoreError::conflict(LIST_KIND, "")),
        }
    }

    /// What the list says after the present stage.
    ///
    /// # Errors
    /// `Conflict` if no rotation is under way, or its keys are not at hand.
    pub(super) fn after(&self) -> Result<StageAfter> {
        let KnownList { list, .. } = self.known()?;
        let (stage, check, former) = match list.stage {
            RotationStage::Settled => (None, None, None),
            RotationStage::Begun => (Some(RotationStage::Ending), list.next(), list.present()),
            RotationStage::Ending => (Some(RotationStage::Settled), list.present(), list.former),
        };
        let key = check.and_then(|check| self.find(check)).cloned();
        match (stage, key) {
            (Some(stage), Some(key)) => Ok(StageAfter { stage, key, former }),
            _ => Err(StoreError::conflict(LIST_KIND, "")),
        }
    }
}

/// What the list says in a stage of a rotation.
pub(super) struct StageAfter {
    pub(super) stage: RotationStage,
    pub(super) key: MasterKey,
    pub(super) former: Option<KeyCheck>,
}
