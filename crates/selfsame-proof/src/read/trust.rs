//! A reader's trust root: a network, its validators, and the newest checkpoint seen.

use selfsame_crypto::time::UnixTime;

use super::Handover;
use crate::ProofError;
use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::checkpoint::{Agreed, Checkpoint, Standing};
use crate::note::SignedNote;
use crate::tree;
use crate::validators::{STATE_KEY, ValidatorSet};

const DOMAIN: &str = "selfsame/trust/1";

/// A reader's trust root. The first comes with the network's genesis. Each verified read gives the next one, which the
/// reader stores in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrustRoot {
    /// The network: its checkpoints have this origin.
    pub origin: String,
    /// The validators.
    pub set: ValidatorSet,
    /// The first height that they sign.
    pub from_height: u64,
    /// The newest checkpoint that was verified.
    pub seen: Option<Standing>,
}

impl TrustRoot {
    /// The first trust root of a network, pinned by its genesis.
    pub fn of_genesis(origin: &str, set: ValidatorSet) -> Self {
        Self {
            origin: origin.to_owned(),
            set,
            from_height: 0,
            seen: None,
        }
    }

    /// The trust root after a change of validators. More than two thirds of the present validators must have signed a
    /// state with the next set, at a height that they sign.
    pub fn after(&self, handover: &Handover) -> Result<Self, ProofError> {
        let note = SignedNote::parse(&handover.note)?;
        let Agreed { standing, .. } = self.agreed(&note)?;
        let set = handover.set.to_bytes();
        tree::verify(&standing.state, STATE_KEY, Some(&set), &handover.proof)?;
        Ok(Self {
            set: handover.set.clone(),
            from_height: standing.height.saturating_add(1),
            ..self.clone()
        })
    }

    /// Verifies that the validators signed this checkpoint of the network, at a height that they sign.
    pub fn agreed(&self, note: &SignedNote) -> Result<Agreed, ProofError> {
        let agreed = Checkpoint::agreed(note, &self.origin, &self.set)?;
        match agreed.standing.height < self.from_height {
            true => Err(ProofError::Early),
            false => Ok(agreed),
        }
    }

    /// Whether a change of validators, if genuine, came before the trusted set, so that it contains nothing new.
    pub fn is_past(&self, handover: &Handover) -> bool {
        let note = SignedNote::parse(&handover.note);
        let checkpoint = note.and_then(|note| Checkpoint::parse(note.text()));
        let standing = checkpoint.and_then(|checkpoint| checkpoint.standing());
        standing.is_ok_and(|standing| standing.height < self.from_height)
    }

    /// Encodes the trust root.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Decodes a stored trust root.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }
}

impl CborItem for TrustRoot {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).text(DOMAIN).text(&self.origin).item(&self.set);
        to.uint(self.from_height).items(self.seen.as_slice());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        from.domain(DOMAIN)?;
        let (origin, set) = (from.text()?.to_owned(), ValidatorSet::read(from)?);
        let from_height = from.uint()?;
        let seen = match from.items()?.as_slice() {
            [] => None,
            [seen] => Some(*seen),
            _ => return Err(Malformed("one checkpoint was the newest")),
        };
        Ok(Self {
            origin,
            set,
            from_height,
            seen,
        })
    }
}

impl CborItem for Standing {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).uint(self.height).uint(self.time.0);
        to.uint(self.size).bytes(&self.log).bytes(&self.state);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            height: from.uint()?,
            time: UnixTime(from.uint()?),
            size: from.uint()?,
            log: from.array_of()?,
            state: from.array_of()?,
        })
    }
}
