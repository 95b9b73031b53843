//! The validators' signatures under the checkpoint of the last block, and the newest note that has enough of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_app::registry::log_origin;
use selfsame_app::{Error, Result};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{Genesis, Head};

/// The last bytes a validator's engine knows it by: the first 20 of SHA-256 of its consensus key.
pub(crate) type Address = [u8; 20];

/// A checkpoint that validators with more than two thirds of the power have signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Noted {
    /// The block it is of.
    pub head: Head,
    /// The signed note.
    pub text: String,
    /// Who signed, by name.
    pub signers: Vec<String>,
}

/// Collects signatures under one checkpoint at a time.
pub(crate) struct Notes {
    origin: String,
    state: Mutex<State>,
}

struct State {
    head: Head,
    note: SignedNote,
    set: ValidatorSet,
    signers: Vec<String>,
    newest: Option<Noted>,
}

impl Notes {
    /// Begins with the checkpoint of a block, to be signed by this set.
    pub(crate) fn new(genesis: &Genesis, head: Head, set: ValidatorSet) -> Result<Self> {
        let origin = log_origin(&genesis.network());
        let state = State {
            note: note(&origin, &head)?,
            head,
            set,
            signers: Vec::new(),
            newest: None,
        };
        Ok(Self {
            origin,
            state: Mutex::new(state),
        })
    }

    /// Goes on with the checkpoint of the next block.
    pub(crate) fn begin(&self, head: Head, set: ValidatorSet) -> Result<()> {
        let note = note(&self.origin, &head)?;
        let mut state = self.state();
        let newest = state.newest.take();
        *state = State {
            head,
            note,
            set,
            signers: Vec::new(),
            newest,
        };
        Ok(())
    }

    /// The height of the checkpoint that is being signed, and the bytes of it.
    pub(crate) fn to_sign(&self) -> (u64, Vec<u8>) {
        let state = self.state();
        (state.head.height, state.note.signing_bytes().to_vec())
    }

    /// Takes the signature of the validator with that address; false if it is none of his under this checkpoint.
    pub(crate) fn add(&self, address: &Address, signature: &[u8]) -> bool {
        let mut state = self.state();
        let validator = state.set.validators().iter().find(|validator| {
            validator.consensus.as_ref().map(address_of).as_ref() == Some(address)
        });
        match validator.cloned() {
            Some(validator) => state.add(&self.origin, &validator, signature),
            None => false,
        }
    }

    /// Takes a signature of the validator of that name.
    pub(crate) fn add_own(&self, name: &str, signature: &[u8]) -> bool {
        let mut state = self.state();
        let mut validators = state.set.validators().iter();
        match validators.find(|validator| validator.name == name).cloned() {
            Some(validator) => state.add(&self.origin, &validator, signature),
            None => false,
        }
    }

    /// The newest complete note.
    pub(crate) fn newest(&self) -> Option<Noted> {
        self.state().newest.clone()
    }

    /// The key of a validator of the present set, as notes name it.
    pub(crate) fn verifier(&self, name: &str) -> Option<VerifierKey> {
        let state = self.state();
        let mut validators = state.set.validators().iter();
        let validator = validators.find(|validator| validator.name == name)?;
        validator.verifier_key(&self.origin).ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, origin: &str, validator: &Validator, signature: &[u8]) -> bool {
        let bytes = self.note.signing_bytes();
        if self.signers.contains(&validator.name) {
            return validator
                .key
                .verify(Algorithm::EdDsa, bytes, signature)
                .is_ok();
        }
        let Ok(key) = validator.verifier_key(origin) else {
            return false;
        };
        if self.note.sign(&key, signature.to_vec()).is_err() {
            return false;
        }
        self.signers.push(validator.name.clone());
        let signed = |validator: &Validator| self.signers.contains(&validator.name);
        if self.set.is_quorum(self.set.power_of(signed)) {
            self.newest = Some(Noted {
                head: self.head.clone(),
                text: self.note.to_string(),
                signers: self.signers.clone(),
            });
        }
        true
    }
}

/// What the engine calls a validator: the first 20 bytes of SHA-256 of its consensus key.
pub(crate) fn address_of(key: &PublicKey) -> Address {
    let [address @ .., _, _, _, _, _, _, _, _, _, _, _, _] = sha256(key.bytes());
    address
}

fn note(origin: &str, head: &Head) -> Result<SignedNote> {
    head.checkpoint(origin).to_note().map_err(Error::internal)
}
