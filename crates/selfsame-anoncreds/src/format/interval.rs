//! Intervals of time within which a credential must not have been revoked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::identifier::RevocationRegistryId;

/// An interval in seconds since 1970. An end that is absent is open (AnonCreds v1.0, "Request Non-Revocation Proofs").
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Interval {
    /// The first second of the interval.
    pub from: Option<u64>,
    /// The last second of the interval.
    pub to: Option<u64>,
}

/// For each registry, the list timestamps accepted instead of a requested `from`. The list in force at that time is
/// older than `from`.
pub type Overrides = BTreeMap<RevocationRegistryId, BTreeMap<u64, u64>>;

impl Interval {
    /// The intersection of two intervals: the later `from`, the earlier `to`.
    pub fn narrowed(self, other: Self) -> Self {
        let to = match (self.to, other.to) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            from: self.from.max(other.from),
            to,
        }
    }

    /// This interval, with its `from` replaced where the verifier accepts an older list.
    pub fn with_override(self, registry: &RevocationRegistryId, overrides: &Overrides) -> Self {
        let older = |from| overrides.get(registry)?.get(&from).copied();
        Self {
            from: self.from.and_then(older).or(self.from),
            ..self
        }
    }

    /// Whether the timestamp lies within the interval.
    pub fn contains(&self, timestamp: u64) -> bool {
        self.from.is_none_or(|from| from <= timestamp) && self.to.is_none_or(|to| timestamp <= to)
    }
}
