//! One entry of a log: its members, the hashes over them, and its proofs.

use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, JsonError, Limits};
use selfsame_did::Did;
use selfsame_did::method::webvh::{PLACEHOLDER, is_multihash, multihash, scid, url};
use serde_json::{Map, Value};

use crate::fault::{EntryFault, ProofFault, SizeFault, SubjectFault, VersionFault};
use crate::parameters::EntryParameters;
use crate::proof::LogProof;
use crate::time::VersionTime;
use selfsame_crypto::json::canonical::{string_bytes, value_bytes};

/// The limits on the JSON of an entry. A document with ten keys and ten services has 150 members.
pub(crate) const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 24,
    max_members: 2_000,
};
/// The maximum number of proofs of an entry.
const MAX_PROOFS: usize = 16;

/// An entry as it is in the log. Its members are checked; what it proves is not yet.
pub(crate) struct LogEntry {
    pub version_id: String,
    pub number: u64,
    pub hash: String,
    pub time: VersionTime,
    pub parameters: EntryParameters,
    /// The parameters as they are in the log.
    pub stated: Value,
    /// The `id` of the document.
    pub id: Did,
    /// What the entry hash and the proofs are about.
    pub content: EntryContent,
    pub state: Value,
    pub proofs: Vec<LogProof>,
}

/// The canonical texts of the members that are hashed, without the versionId, which differs between the hashes.
#[derive(Clone, Debug)]
pub(crate) struct EntryContent {
    parameters: Vec<u8>,
    state: Vec<u8>,
    time: Vec<u8>,
}

impl LogEntry {
    pub fn read(line: &[u8]) -> Result<Self, EntryFault> {
        let value = json::parse(line, &LIMITS).map_err(|error| match error {
            JsonError::TooLong => EntryFault::Size(SizeFault::Entry),
            _ => EntryFault::Form("form"),
        })?;
        let Value::Object(mut members) = value else {
            return Err(EntryFault::Form("form"));
        };
        let version_id = text(&mut members, "versionId")?;
        let (number, hash) = version(&version_id)?;
        let version_time = text(&mut members, "versionTime")?;
        let time = VersionTime::parse(&version_time)?;
        let malformed = EntryFault::Form("parameters");
        let stated = members.remove("parameters").ok_or(malformed)?;
        let parameters = EntryParameters::read(stated.as_object().ok_or(malformed)?)?;
        let state = members.remove("state").ok_or(EntryFault::Form("state"))?;
        let id = state.get("id").and_then(Value::as_str);
        let id = id.and_then(|id| Did::parse(id).ok());
        // "Read (Resolve)" step 6.1.
        let id = id.filter(|id| url(id).is_ok()).ok_or(SubjectFault::Form)?;
        let proofs = proofs(members.remove("proof"))?;
        if !members.is_empty() {
            return Err(EntryFault::Form("of another name"));
        }
        Ok(Self {
            number,
            hash: hash.to_owned(),
            version_id,
            time,
            parameters,
            id,
            content: EntryContent::new(&stated, &state, &version_time),
            stated,
            state,
            proofs,
        })
    }

    /// Verifies that the entry hash is that of the entry after the version `before`; for the first entry, `before` is
    /// the SCID (did:webvh v1.0, "Verify The Entry Hash").
    pub fn is_after(&self, before: &str) -> Result<(), VersionFault> {
        match multihash(&self.content.text(before)) == self.hash {
            true => Ok(()),
            false => Err(VersionFault::Hash),
        }
    }

    /// Verifies that the SCID is the hash of the entry with the placeholder in place of it (did:webvh v1.0, "Verify
    /// SCID").
    pub fn has_scid(&self, scid: &str) -> Result<(), VersionFault> {
        let with_placeholder = |value: &Value| replaced(value, scid, PLACEHOLDER);
        let content = EntryContent {
            parameters: value_bytes(&with_placeholder(&self.stated)),
            state: value_bytes(&with_placeholder(&self.state)),
            time: self.content.time.clone(),
        };
        match multihash(&content.text(PLACEHOLDER)) == scid {
            true => Ok(()),
            false => Err(VersionFault::Scid),
        }
    }

    /// The hash of what the proofs sign: the entry without its proofs.
    pub fn digest(&self) -> [u8; 32] {
        self.content.digest(&self.version_id)
    }

    /// Whether the document's `id` has this SCID.
    pub fn is_of(&self, asked: &str) -> bool {
        scid(&self.id) == Ok(asked)
    }

    /// Whether the document names a DID in `alsoKnownAs`.
    pub fn also_names(&self, did: &Did) -> bool {
        let names = self.state.get("alsoKnownAs").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|name| name == did.as_str()))
    }
}

impl EntryContent {
    pub fn new(parameters: &Value, state: &Value, time: &str) -> Self {
        Self {
            parameters: value_bytes(parameters),
            state: value_bytes(state),
            time: string_bytes(time),
        }
    }

    /// The canonical text of the entry without proofs and with this versionId. The names of the members are in the
    /// order of RFC 8785.
    pub fn text(&self, version_id: &str) -> Vec<u8> {
        [
            b"{\"parameters\":",
            &self.parameters[..],
            b",\"state\":",
            &self.state,
            b",\"versionId\":",
            &string_bytes(version_id),
            b",\"versionTime\":",
            &self.time,
            b"}",
        ]
        .concat()
    }

    pub fn digest(&self, version_id: &str) -> [u8; 32] {
        sha256(&self.text(version_id))
    }

    /// The line of the log: the canonical text with a proof, and a line feed.
    pub fn line(&self, version_id: &str, proof: &Value) -> Vec<u8> {
        [
            b"{\"parameters\":",
            &self.parameters[..],
            b",\"proof\":[",
            &value_bytes(proof),
            b"],\"state\":",
            &self.state,
            b",\"versionId\":",
            &string_bytes(version_id),
            b",\"versionTime\":",
            &self.time,
            b"}\n",
        ]
        .concat()
    }
}

/// A value with a text in place of another, in its strings and in the names of its members.
pub(crate) fn replaced(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(from, to)),
        Value::Array(all) => all.iter().map(|one| replaced(one, from, to)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(name, one)| (name.replace(from, to), replaced(one, from, to)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// The number and the hash of a versionId: digits, one dash, a multihash of SHA-256.
fn version(version_id: &str) -> Result<(u64, &str), VersionFault> {
    let (number, hash) = version_id.split_once('-').ok_or(VersionFault::Form)?;
    let parsed: u64 = number.parse().map_err(|_| VersionFault::Form)?;
    match parsed.to_string() == number && is_multihash(hash) {
        true => Ok((parsed, hash)),
        false => Err(VersionFault::Form),
    }
}

fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<String, EntryFault> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(EntryFault::Form(name)),
    }
}

/// An array of proofs, or one, as the specification's schema allows.
fn proofs(value: Option<Value>) -> Result<Vec<LogProof>, EntryFault> {
    let all = match value {
        Some(Value::Array(all)) => all,
        Some(one @ Value::Object(_)) => vec![one],
        _ => return Err(ProofFault::Count.into()),
    };
    if !(1..=MAX_PROOFS).contains(&all.len()) {
        return Err(ProofFault::Count.into());
    }
    Ok(all.iter().map(LogProof::read).collect::<Result<_, _>>()?)
}
