//! The policy that each read of a registry must satisfy.

use selfsame_proof::read::ReadPolicy;

use crate::config::WitnessQuorum;

/// Size of a reader's cache of verified data, in bytes.
pub(crate) const READER_BYTES: usize = 16 * 1024 * 1024;
/// Maximum age of an answer's checkpoint, in seconds. A network at rest signs one at each of its heartbeats.
pub(crate) const MAX_AGE: u64 = 120;
/// Tolerated clock skew, in seconds.
pub(crate) const SKEW: u64 = 60;

/// The policy that each read of a registry must satisfy.
pub(crate) fn read_policy(witnesses: &WitnessQuorum) -> ReadPolicy {
    ReadPolicy {
        max_age: Some(MAX_AGE),
        skew: SKEW,
        behind: 0,
        witnesses: witnesses.keys().to_vec(),
        witnesses_needed: witnesses.needed(),
    }
}
