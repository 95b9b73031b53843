//! The proofs of witnesses, in a file beside the log (did:webvh v1.0, "The Witness Proofs File").

use std::collections::HashMap;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use serde_json::{Value, json};

use crate::fault::WitnessFault;
use crate::parameters::Witnesses;
use crate::proof::LogProof;
use selfsame_crypto::json::canonical::value_bytes;

/// The maximum length of the file in bytes.
pub const MAX_WITNESS_FILE: usize = 1024 * 1024;
/// The limits on its JSON. A proof has seven members.
const LIMITS: Limits = Limits {
    max_bytes: MAX_WITNESS_FILE,
    max_depth: 8,
    max_members: 40_000,
};
/// The maximum number of proofs in it.
const MAX_PROOFS: usize = 4_096;
/// The maximum number of signatures that are verified.
const MAX_VERIFIED: usize = 512;

/// The last entry that each witness has approved. An approval holds for all entries before.
pub(crate) struct Approvals<'a>(HashMap<&'a Did, usize>);

impl<'a> Approvals<'a> {
    /// Reads the file, and verifies for each of the listed witnesses the proof for the latest entry. A proof for a
    /// versionId that is not among those of the log proves nothing; one that does not verify is left out.
    pub fn read(
        file: &[u8],
        version_ids: &[&str],
        listed: &[&'a Witnesses],
        now: UnixTime,
    ) -> Result<Self, WitnessFault> {
        let value = json::parse(file, &LIMITS).map_err(|_| WitnessFault::File)?;
        let listed: HashMap<&str, &'a Did> = listed
            .iter()
            .flat_map(|witnesses| &witnesses.ids)
            .map(|did| (did.as_str(), did))
            .collect();
        let mut approved = HashMap::new();
        let mut verified = 0_usize;
        for EntryProof {
            index,
            digest,
            proof,
        } in latest_first(&value, version_ids)?
        {
            let Ok(proof) = LogProof::read(proof) else {
                continue;
            };
            let Some(witness) = listed.get(proof.signer.as_str()) else {
                continue;
            };
            if approved.contains_key(witness) {
                continue;
            }
            verified = verified.saturating_add(1);
            if verified > MAX_VERIFIED {
                return Err(WitnessFault::File);
            }
            if proof.verify(&digest, now).is_ok() {
                approved.insert(*witness, index);
            }
        }
        Ok(Self(approved))
    }

    /// Whether enough witnesses have approved the entry at this index (did:webvh v1.0, "Witness Threshold Algorithm").
    pub fn of(&self, index: usize, witnesses: &Witnesses) -> Result<(), WitnessFault> {
        let has_approved = |did: &&Did| self.0.get(did).is_some_and(|latest| *latest >= index);
        let count = witnesses.ids.iter().filter(has_approved).count();
        match count >= witnesses.threshold {
            true => Ok(()),
            false => Err(WitnessFault::Threshold),
        }
    }
}

/// A proof for an entry of the log.
struct EntryProof<'v> {
    /// The index of the entry.
    index: usize,
    /// The hash of what is signed.
    digest: [u8; 32],
    proof: &'v Value,
}

/// The proofs for entries of the log, the latest entry first.
fn latest_first<'v>(
    file: &'v Value,
    version_ids: &[&str],
) -> Result<Vec<EntryProof<'v>>, WitnessFault> {
    let places = version_ids.iter().enumerate();
    let places: HashMap<&str, usize> = places.map(|(index, id)| (*id, index)).collect();
    let mut proofs = Vec::new();
    for part in file.as_array().ok_or(WitnessFault::File)? {
        let version_id = part.get("versionId").and_then(Value::as_str);
        let version_id = version_id.ok_or(WitnessFault::File)?;
        let Some(index) = places.get(version_id).copied() else {
            continue;
        };
        let digest = signed_digest(version_id);
        let all = match part.get("proof") {
            Some(Value::Array(all)) => all.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        proofs.extend(all.iter().map(|proof| EntryProof {
            index,
            digest,
            proof,
        }));
        if proofs.len() > MAX_PROOFS {
            return Err(WitnessFault::File);
        }
    }
    proofs.sort_by_key(|proof| std::cmp::Reverse(proof.index));
    Ok(proofs)
}

/// The hash of what a witness signs to approve a version and those before it.
pub(crate) fn signed_digest(version_id: &str) -> [u8; 32] {
    sha256(&value_bytes(&json!({ "versionId": version_id })))
}
