//! What a reader trusts: a network, its validators, and the newest checkpoint seen.

use selfsame_crypto::time::UnixTime;

use super::Handover;
use crate::ProofError;
use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::checkpoint::{Agreed, Checkpoint, Standing};
use crate::note::SignedNote;
use crate::tree;
use crate::validators::{STATE_KEY, ValidatorSet};

const DOMAIN: &str = "selfsame/trust/1";

/// What a reader holds on to. The first comes with the network's genesis; each verified read leads to
/// the next, which is to be kept in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrustRoot {
    /// The network: the origin of its checkpoints.
    pub origin: String,
    /// The validators.
    pub set: ValidatorSet,
    /// The first height they judge.
    pub from_height: u64,
    /// The newest checkpoint that was verified.
    pub seen: Option<Standing>,
}

impl TrustRoot {
    /// The first trust root of a network, pinned with its genesis.
    pub fn of_genesis(origin: &str, set: ValidatorSet) -> Self {
        Self {
            origin: origin.to_owned(),
            set,
            from_height: 0,
            seen: None,
        }
    }

    /// The trust root after a change of validators: more than two thirds of the present ones
    /// signed a state, at a height they judge, in which the next ones are.
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

    /// A checkpoint of the network that the validators signed, at a height they judge.
    pub fn agreed(&self, note: &SignedNote) -> Result<Agreed, ProofError> {
        let agreed = Checkpoint::agreed(note, &self.origin, &self.set)?;
        match agreed.standing.height < self.from_height {
            true => Err(ProofError::Early),
            false => Ok(agreed),
        }
    }

    /// Whether a change of validators, if it is genuine, came before those that are trusted, so that
    /// there is nothing to learn from it.
    pub fn is_past(&self, handover: &Handover) -> bool {
        let note = SignedNote::parse(&handover.note);
        let checkpoint = note.and_then(|note| Checkpoint::parse(note.text()));
        let standing = checkpoint.and_then(|checkpoint| checkpoint.standing());
        standing.is_ok_and(|standing| standing.height < self.from_height)
    }

    /// The trust root as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a kept trust root.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }
}

impl Item for TrustRoot {
    fn write(&self, to: &mut Writer) {
        to.array(5).text(DOMAIN).text(&self.origin).item(&self.set);
        to.uint(self.from_height).items(self.seen.as_slice());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

impl Item for Standing {
    fn write(&self, to: &mut Writer) {
        to.array(5).uint(self.height).uint(self.time.0);
        to.uint(self.size).bytes(&self.log).bytes(&self.state);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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
