//! The validators of a network, which sign its checkpoints, and their weights.

use std::sync::Arc;

use selfsame_crypto::{KeyType, PublicKey};

use crate::ProofError;
use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::note::VerifierKey;

/// The state key of the validator set.
pub const STATE_KEY: &[u8] = b"validators";
/// Maximum number of validators in a network.
pub const MAX_VALIDATORS: usize = 100;
/// Maximum length of a validator's name, in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// Maximum power of one validator. A hundred times this value is within the consensus engine's limit.
pub const MAX_POWER: u64 = 1 << 40;

const DOMAIN: &str = "selfsame/validators/1";

/// A signer of checkpoints.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Validator {
    /// Its name, which is part of the name that it signs notes under.
    pub name: String,
    /// Its Ed25519 key for checkpoints.
    pub key: PublicKey,
    /// Its weight, at least 1.
    pub power: u64,
    /// Its Ed25519 key in the consensus engine, if it has one.
    pub consensus: Option<PublicKey>,
}

/// The validators at a height, sorted by name. Cheap to clone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValidatorSet(Arc<[Validator]>);

impl ValidatorSet {
    /// A set of 1 to [`MAX_VALIDATORS`] validators, in any order, with unique names and keys.
    pub fn new(mut validators: Vec<Validator>) -> Result<Self, Malformed> {
        validators.sort_by(|a, b| a.name.cmp(&b.name));
        let set = Self(validators.into());
        set.check()?;
        Ok(set)
    }

    /// The validators, sorted by name.
    pub fn validators(&self) -> &[Validator] {
        &self.0
    }

    /// The total power.
    pub fn power(&self) -> u64 {
        self.power_of(|_| true)
    }

    /// The total power of the validators for which `counts` is true.
    pub fn power_of(&self, counts: impl Fn(&Validator) -> bool) -> u64 {
        let some = self.0.iter().filter(|validator| counts(validator));
        some.fold(0, |sum, validator| sum.saturating_add(validator.power))
    }

    /// Whether this power is more than two thirds of the total.
    pub fn is_quorum(&self, power: u64) -> bool {
        u128::from(power).saturating_mul(3) > u128::from(self.power()).saturating_mul(2)
    }

    /// Whether all or none of the validators have a key in a consensus engine. A validator outside of the engine would
    /// count in the quorum of checkpoints but never sign.
    pub fn agrees_on_an_engine(&self) -> bool {
        let in_engine = |validator: &Validator| validator.consensus.is_some();
        self.0.iter().all(in_engine) || !self.0.iter().any(in_engine)
    }

    /// Whether any validator has a key in a consensus engine, that is, whether they run as a network.
    pub fn is_in_engine(&self) -> bool {
        self.0.iter().any(|validator| validator.consensus.is_some())
    }

    /// The keys with which the validators sign a network's notes, in the order of [`ValidatorSet::validators`]. Each is
    /// named `<origin>/<validator>`.
    pub fn verifier_keys(&self, origin: &str) -> Result<Vec<VerifierKey>, ProofError> {
        let key = |validator: &Validator| validator.verifier_key(origin);
        self.0.iter().map(key).collect()
    }

    /// Encodes the set for the state.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Decodes a set from the state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }

    fn check(&self) -> Result<(), Malformed> {
        if self.0.is_empty() || self.0.len() > MAX_VALIDATORS {
            return Err(Malformed("a network has 1 to 100 validators"));
        }
        self.0.iter().try_for_each(Validator::check)?;
        if !self.0.is_sorted_by(|a, b| a.name < b.name) {
            return Err(Malformed("validators have different names, in order"));
        }
        let once = |of: fn(&Validator) -> Option<&PublicKey>| {
            let mut keys: Vec<_> = (self.0.iter().filter_map(of).map(PublicKey::bytes)).collect();
            keys.sort_unstable();
            keys.is_sorted_by(|a, b| a < b)
        };
        match once(|validator| Some(&validator.key))
            && once(|validator| validator.consensus.as_ref())
        {
            true => Ok(()),
            false => Err(Malformed("validators have different keys")),
        }
    }
}

impl Validator {
    /// The key with which the validator signs a network's notes.
    pub fn verifier_key(&self, origin: &str) -> Result<VerifierKey, ProofError> {
        VerifierKey::new(&format!("{origin}/{}", self.name), &self.key)
    }

    /// Checks that its keys are points of Ed25519's curve. No one can sign with other keys, yet they would count in the
    /// quorum. Applied to new validators only; sets are decoded without this check.
    pub fn has_points(&self) -> Result<(), Malformed> {
        let mut keys = [Some(&self.key), self.consensus.as_ref()].into_iter();
        match keys.all(|key| key.is_none_or(PublicKey::is_point)) {
            true => Ok(()),
            false => Err(Malformed("a validator's keys are points of Ed25519")),
        }
    }

    fn check(&self) -> Result<(), Malformed> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.len() > MAX_NAME_BYTES || !self.name.chars().all(plain)
        {
            return Err(Malformed(
                "a validator's name is 1 to 64 letters, digits, hyphens, underscores or full stops",
            ));
        }
        if self.power == 0 || self.power > MAX_POWER {
            return Err(Malformed("a validator's power is 1 to 2^40"));
        }
        let keys = [Some(&self.key), self.consensus.as_ref()];
        match keys
            .into_iter()
            .flatten()
            .all(|key| key.key_type() == KeyType::Ed25519)
        {
            true => Ok(()),
            false => Err(Malformed("a validator's keys are Ed25519 keys")),
        }
    }
}

impl CborItem for ValidatorSet {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).text(DOMAIN).items(&self.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        from.domain(DOMAIN)?;
        let set = Self(from.items::<Validator>()?.into());
        set.check()?;
        Ok(set)
    }
}

impl CborItem for Validator {
    fn write(&self, to: &mut CborWriter) {
        to.array(4)
            .text(&self.name)
            .bytes(self.key.bytes())
            .uint(self.power);
        to.option(self.consensus.as_ref().map(PublicKey::bytes));
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        let key = |bytes: &[u8]| {
            PublicKey::from_raw(KeyType::Ed25519, bytes)
                .map_err(|_| Malformed("a validator's keys are Ed25519 keys"))
        };
        from.tuple(4)?;
        Ok(Self {
            name: from.text()?.to_owned(),
            key: key(from.bytes()?)?,
            power: from.uint()?,
            consensus: from.option()?.map(key).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests;
