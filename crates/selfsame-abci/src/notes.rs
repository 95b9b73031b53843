//! The validators' signatures of the last block's checkpoint, and the newest note that has enough of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::hash::sha256;
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_driver::{Error, Result};
use selfsame_ledger::{Ledger, log_origin};
use selfsame_proof::checkpoint::{Agreed, Checkpoint};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{Genesis, Head};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::signer::signers;

/// A validator's address in its engine: the first 20 bytes of SHA-256 of its consensus key.
pub(crate) type Address = [u8; 20];

/// A checkpoint that validators with more than two thirds of the power have signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Noted {
    /// The head after its block.
    pub head: Head,
    /// The signed note.
    pub text: String,
    /// The names of the validators that signed.
    pub signers: Vec<String>,
}

/// Collects the signatures of one checkpoint at a time.
pub(crate) struct Notes {
    origin: String,
    state: Mutex<NotesState>,
    newest: watch::Sender<Option<Arc<Noted>>>,
    /// The file of the newest note, for a node that starts while the other nodes are down.
    file: Option<PathBuf>,
}

struct NotesState {
    head: Head,
    /// The time at which it became the last.
    since: Instant,
    note: SignedNote,
    set: ValidatorSet,
    signers: Vec<String>,
}

impl Notes {
    /// Starts with a block's checkpoint, which this set signs.
    pub(crate) fn new(genesis: &Genesis, head: Head, set: ValidatorSet) -> Result<Self> {
        let origin = log_origin(&genesis.network());
        let state = NotesState::new(&origin, head, set)?;
        Ok(Self {
            origin,
            state: Mutex::new(state),
            newest: watch::Sender::new(None),
            file: None,
        })
    }

    /// Stores the newest note in a file. A note that is already there is used if it is still valid.
    pub(crate) fn kept_in(self, file: PathBuf, ledger: &Ledger) -> Self {
        if let Ok(text) = std::fs::read_to_string(&file) {
            let noted = self.open(text, ledger);
            if noted.is_none() {
                tracing::warn!(file = %file.display(), "the stored checkpoint is invalid");
            }
            self.newest.send_replace(noted.map(Arc::new));
        }
        Self {
            file: Some(file),
            ..self
        }
    }

    /// Accepts a note that came with its block.
    pub(crate) fn take(&self, text: String, ledger: &Ledger) {
        if let Some(noted) = self.open(text, ledger) {
            self.keep(&noted.text);
            self.newest.send_replace(Some(Arc::new(noted)));
        }
    }

    /// Parses a note and checks that enough validators signed it, for a block of the ledger.
    fn open(&self, text: String, ledger: &Ledger) -> Option<Noted> {
        let note = SignedNote::parse(&text).ok()?;
        let said = std::str::from_utf8(note.signing_bytes()).ok()?;
        let height = Checkpoint::parse(said).ok()?.standing().ok()?.height;
        let head = match height {
            0 => Head::of_genesis(ledger.genesis()),
            _ => ledger.block(height).ok()?,
        };
        let set = signers(ledger, &head).ok()?;
        let Agreed { standing, signers } = Checkpoint::agreed(&note, &self.origin, &set).ok()?;
        (standing == head.standing()).then_some(Noted {
            head,
            text,
            signers,
        })
    }

    /// Continues with the checkpoint of the next block.
    pub(crate) fn begin(&self, head: Head, set: ValidatorSet) -> Result<()> {
        *self.state() = NotesState::new(&self.origin, head, set)?;
        Ok(())
    }

    /// The last block, and the time at which it was stored.
    pub(crate) fn last(&self) -> (Head, Instant) {
        let state = self.state();
        (state.head.clone(), state.since)
    }

    /// Subscribes to the newest complete note.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Arc<Noted>>> {
        self.newest.subscribe()
    }

    /// The height and the bytes of the checkpoint that is being signed.
    pub(crate) fn to_sign(&self) -> (u64, Vec<u8>) {
        let state = self.state();
        (state.head.height, state.note.signing_bytes().to_vec())
    }

    /// Adds the signature of the validator with that address; returns false if it is not its signature of this
    /// checkpoint.
    pub(crate) fn add(&self, address: &Address, signature: &[u8]) -> bool {
        let mut state = self.state();
        let validator = state.set.validators().iter().find(|validator| {
            validator.consensus.as_ref().map(address_of).as_ref() == Some(address)
        });
        let Some(validator) = validator.cloned() else {
            return false;
        };
        let added = state.add(&self.origin, &validator, signature);
        self.publish(&state, added)
    }

    /// Adds a signature of the validator with that name.
    pub(crate) fn add_own(&self, name: &str, signature: &[u8]) -> bool {
        let mut state = self.state();
        let mut validators = state.set.validators().iter();
        let Some(validator) = validators.find(|validator| validator.name == name).cloned() else {
            return false;
        };
        let added = state.add(&self.origin, &validator, signature);
        self.publish(&state, added)
    }

    /// The newest complete note.
    pub(crate) fn newest(&self) -> Option<Arc<Noted>> {
        self.newest.borrow().clone()
    }

    /// Publishes the note if a signature was added and there are now enough. Returns whether the signature is valid.
    fn publish(&self, state: &NotesState, added: Added) -> bool {
        if added == Added::New
            && let Some(noted) = state.complete()
        {
            self.keep(&noted.text);
            self.newest.send_replace(Some(Arc::new(noted)));
        }
        added != Added::Bad
    }

    fn keep(&self, text: &str) {
        if let Some(file) = &self.file
            && let Err(error) = replace(file, text)
        {
            tracing::warn!(%error, "the newest checkpoint can't be stored");
        }
    }

    /// The verifier key of a validator of the current set.
    pub(crate) fn verifier(&self, name: &str) -> Option<VerifierKey> {
        let state = self.state();
        let mut validators = state.set.validators().iter();
        let validator = validators.find(|validator| validator.name == name)?;
        validator.verifier_key(&self.origin).ok()
    }

    fn state(&self) -> MutexGuard<'_, NotesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Added {
    New,
    Known,
    Bad,
}

impl NotesState {
    fn new(origin: &str, head: Head, set: ValidatorSet) -> Result<Self> {
        let note = head.checkpoint(origin).to_note().map_err(Error::internal)?;
        Ok(Self {
            note,
            head,
            since: Instant::now(),
            set,
            signers: Vec::new(),
        })
    }

    fn add(&mut self, origin: &str, validator: &Validator, signature: &[u8]) -> Added {
        if self.signers.contains(&validator.name) {
            let bytes = self.note.signing_bytes();
            let verified = validator.key.verify(Algorithm::EdDsa, bytes, signature);
            return verified.map_or(Added::Bad, |()| Added::Known);
        }
        let Ok(key) = validator.verifier_key(origin) else {
            return Added::Bad;
        };
        if self.note.sign(&key, signature.to_vec()).is_err() {
            return Added::Bad;
        }
        self.signers.push(validator.name.clone());
        Added::New
    }

    fn complete(&self) -> Option<Noted> {
        let signed = |validator: &Validator| self.signers.contains(&validator.name);
        let enough = self.set.is_quorum(self.set.power_of(signed));
        enough.then(|| Noted {
            head: self.head.clone(),
            text: self.note.to_string(),
            signers: self.signers.clone(),
        })
    }
}

/// Replaces a file atomically. It is not forced to the disk, because it is written anew with every block.
pub(crate) fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, file)
}

/// A validator's address in the engine: the first 20 bytes of SHA-256 of its consensus key.
pub(crate) fn address_of(key: &PublicKey) -> Address {
    let [address @ .., _, _, _, _, _, _, _, _, _, _, _, _] = sha256(key.bytes());
    address
}
