//! What the rotation of the master key takes and returns. Its parts are methods of [`crate::Store`].

use selfsame_crypto::seal::SealingKey;

pub use selfsame_crypto::seal::master::{KeyCheck, RotationStage};

/// Why a master key does not open a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyTrouble {
    /// The store was never under this key.
    #[error("the master key does not open this store")]
    Other,
    /// A rotation replaced the key.
    #[error("this master key was replaced by another one, which these data need now")]
    Former,
    /// A rotation to the key has not come to its end.
    #[error(
        "the rotation to this master key has not ended, and these data need the former one too"
    )]
    Early,
}

/// Where the master keys of this process come from.
pub trait MasterKeySource: Send + Sync {
    /// Finds the keys: the present one first, and the next one if there is one. It may read files and derive keys.
    fn find(&self) -> FoundKeys;
}

/// The master keys that a source has.
#[derive(Default)]
pub struct FoundKeys {
    /// The keys.
    pub keys: Vec<SealingKey>,
    /// Where the next key is looked for and what is wrong with it, for the operator.
    pub next: String,
}

/// How far a rotation is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RotationState {
    /// The stage.
    pub stage: RotationStage,
    /// The check value of the key that the store is under.
    pub present: Option<KeyCheck>,
    /// The check value of the key that it is to be under, once a rotation has begun.
    pub next: Option<KeyCheck>,
    /// Whether this process has all these keys.
    pub is_ready: bool,
}

/// What one portion of tenants' keys came to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rewrapped {
    /// The tenant at which the next portion begins; `None` after the last one.
    pub after: Option<String>,
    /// The number of keys that were wrapped again.
    pub wrapped: u64,
    /// The tenants whose keys are damaged: they open with none of the master keys.
    pub damaged: Vec<String>,
}
