//! Properties of AnonCreds revocation messages, and of tails files.

use selfsame_anoncreds::cl::revocation::{
    CredentialRevocationPublicKey, NonRevocProof, NonRevocationCredentialSignature, RegistryDelta,
    RevocationKeyPublic, RevocationList, RevocationRegistry, Tails, TailsFile, TailsHash, Witness,
    tails_length,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/anoncreds/",
            $name
        ))
        .as_slice()
    };
}

/// Revocation messages: a parsed message, written out, parses back to itself.
pub fn revocation(data: &[u8]) -> bool {
    [
        returns::<CredentialRevocationPublicKey>,
        returns::<NonRevocProof>,
        returns::<NonRevocationCredentialSignature>,
        returns::<RegistryDelta>,
        returns::<RevocationKeyPublic>,
        returns::<RevocationList>,
        returns::<RevocationRegistry>,
        returns::<Witness>,
    ]
    .iter()
    .fold(false, |read, returns| read | returns(data))
}

fn returns<T: Serialize + DeserializeOwned + PartialEq>(data: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<T>(data) else {
        return false;
    };
    let written = serde_json::to_vec(&value).expect("what was read can be written");
    let again: T = serde_json::from_slice(&written).expect("what we write can be read");
    assert!(again == value, "it reads back as itself");
    let twice = serde_json::to_vec(&again).expect("it can be written again");
    assert_eq!(written, twice, "it has one form");
    true
}

/// A tails file: it consists of its version and its points only, and is accepted only under its own hash.
pub fn tails_file(data: &[u8]) -> bool {
    let mut hash = TailsHash::new();
    hash.update(data);
    let hash = hash.finish();
    let Some(capacity) = data.len().checked_sub(130).map(|points| points / 256) else {
        return false;
    };
    let capacity = u32::try_from(capacity).expect("inputs are small");
    let Ok(file) = TailsFile::checked(data, capacity, &hash) else {
        return false;
    };
    assert_eq!(tails_length(capacity), Ok(data.len() as u64));
    assert!(TailsFile::checked(data, capacity, &hash[1..]).is_err());
    let mut written = data[..2].to_vec();
    for index in 0..=2 * capacity {
        written.extend(file.tail(index).expect("it is in the file"));
    }
    assert_eq!(written, data);
    assert!(file.tail(2 * capacity + 1).is_err());
    true
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let parts: [(&[u8], &str); 8] = [
        (sample!("legacy/cred_def.json"), "/value/revocation"),
        (
            sample!("legacy/rev_reg_def.json"),
            "/value/publicKeys/accumKey",
        ),
        (sample!("legacy/credential.json"), "/signature/r_credential"),
        (sample!("legacy/credential.json"), "/witness"),
        (sample!("legacy/credential.json"), "/rev_reg"),
        (sample!("legacy/rev_state.json"), "/rev_reg"),
        (
            sample!("legacy/status_list_updated.json"),
            "/revocationList",
        ),
        (
            sample!("presentations/non_revoked.json"),
            "/proof/proofs/0/non_revoc_proof",
        ),
    ];
    let mut seeds: Vec<_> = parts
        .iter()
        .map(|(text, path)| {
            let message: serde_json::Value = serde_json::from_slice(text).expect("it is JSON");
            let part = message.pointer(path).expect("the sample has it");
            part.to_string().into_bytes()
        })
        .collect();
    let list: serde_json::Value =
        serde_json::from_slice(sample!("legacy/status_list_updated.json")).expect("it is JSON");
    let delta = serde_json::json!({"accum": list["currentAccumulator"], "revoked": [2, 5]});
    seeds.push(delta.to_string().into_bytes());
    seeds
}

pub(super) fn tails_seeds() -> Vec<Vec<u8>> {
    vec![sample!("legacy/tails.bin").to_vec()]
}
