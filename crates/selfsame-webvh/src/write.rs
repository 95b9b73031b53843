//! New entries. Each is made in two steps, because private keys are elsewhere: the bytes to sign, then the line.

use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;
use selfsame_data_integrity::DetachedProof;
use selfsame_did::method::webvh::{PLACEHOLDER, multihash};
use selfsame_did::{Did, SyntaxError};
use serde_json::{Map, Value};

use crate::entry::{EntryContent, replaced};
use crate::fault::EntryFault;
use crate::log::Log;
use crate::parameters::{Active, EntryParameters, Witnesses};
use crate::proof;
use crate::time::VersionTime;
use crate::witness::signed_digest;

/// Why no entry was made. The caller must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The log has no entry, or has ended.
    #[error("the log takes no further entry")]
    Ended,
    /// The parameters are not allowed after the entry before.
    #[error(transparent)]
    Parameters(#[from] EntryFault),
    /// The document has no `id` that is a DID.
    #[error("the id of the document is no DID")]
    Subject(#[from] SyntaxError),
    /// The signer's key is not among those that may sign this entry.
    #[error("the key may not sign this entry")]
    Unauthorised,
}

/// What an entry changes of the parameters. What is `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub struct ParameterChange {
    /// The multikeys that may sign.
    pub update_keys: Option<Vec<String>>,
    /// The hashes of the keys of the next entry, each made with [`commitment`].
    pub next_key_hashes: Option<Vec<String>>,
    /// The witnesses.
    pub witness: Option<Witnesses>,
    /// The addresses of those who watch the DID.
    pub watchers: Option<Vec<String>>,
    /// Whether the DID may move. `true` is allowed in the first entry only.
    pub portable: Option<bool>,
    /// Whether the DID ends with this entry.
    pub deactivated: Option<bool>,
    /// The time for which a resolver may cache the DID, in seconds.
    pub ttl: Option<u64>,
}

/// An entry before its proof.
#[derive(Clone, Debug)]
pub struct UnsignedEntry {
    /// The DID.
    pub did: Did,
    /// The versionId.
    pub version_id: String,
    content: EntryContent,
    proof: DetachedProof,
}

/// The hash by which an entry commits to a key of the next one (did:webvh v1.0, "Pre-Rotation Key Hash Generation and
/// Verification").
pub fn commitment(key: &PublicKey) -> String {
    multihash(key.to_multikey().as_bytes())
}

/// The first entry of a new log. The document has `{SCID}` in place of the SCID; the change states the update keys,
/// among them the signer's.
///
/// # Errors
/// The parameters are incomplete, the key is not among the update keys, or the document has no DID.
pub fn create(
    state: &Value,
    change: ParameterChange,
    signer: &PublicKey,
    now: UnixTime,
) -> Result<UnsignedEntry, WriteError> {
    let mut parameters = change.parameters();
    parameters.method = true;
    parameters.scid = Some(PLACEHOLDER.to_owned());
    may_sign(signer, &parameters.first()?.update_keys)?;
    let version_time = VersionTime::after(None, now);
    let time = version_time.written();
    let draft = EntryContent::new(&parameters.to_value(), state, &time);
    let scid = multihash(&draft.text(PLACEHOLDER));
    let with_scid = |value: &Value| replaced(value, PLACEHOLDER, &scid);
    let state = with_scid(state);
    let content = EntryContent::new(&with_scid(&parameters.to_value()), &state, &time);
    let version_id = format!("1-{}", multihash(&content.text(&scid)));
    let time = version_time.second;
    unsigned(&state, content, version_id, Signing { signer, time })
}

/// The entry after the last one of a log.
///
/// # Errors
/// The log has ended, the change is not allowed, the key may not sign, or the document has no DID.
pub fn update(
    log: &Log,
    next: Next<'_>,
    signer: &PublicKey,
    now: UnixTime,
) -> Result<UnsignedEntry, WriteError> {
    let last = log.versions().last().ok_or(WriteError::Ended)?;
    if last.active.deactivated {
        return Err(WriteError::Ended);
    }
    let parameters = next.change.parameters();
    let own = parameters.after(&last.active)?;
    may_sign(signer, keys(&last.active, &own))?;
    let version_time = VersionTime::after(Some(last.time), now);
    let time = version_time.written();
    let content = EntryContent::new(&parameters.to_value(), next.state, &time);
    let number = log.versions().len().saturating_add(1);
    let version_id = format!("{number}-{}", multihash(&content.text(&last.id)));
    let time = version_time.second;
    unsigned(next.state, content, version_id, Signing { signer, time })
}

/// What the next entry says.
pub struct Next<'a> {
    /// The whole document.
    pub state: &'a Value,
    /// What changes of the parameters.
    pub change: ParameterChange,
}

impl UnsignedEntry {
    /// The bytes to sign with Ed25519.
    pub fn bytes(&self) -> &[u8] {
        self.proof.bytes()
    }

    /// The line of the log, with its line feed.
    pub fn signed(self, signature: &[u8]) -> Vec<u8> {
        let proof = self.proof.signed(signature);
        self.content.line(&self.version_id, &proof)
    }
}

/// The approval of a version, and of those before it, by a witness.
#[derive(Clone, Debug)]
pub struct Approval {
    version_id: String,
    proof: DetachedProof,
}

impl Approval {
    /// The approval of the version with this id by this key.
    ///
    /// # Errors
    /// [`WriteError::Unauthorised`] if the key is not Ed25519.
    pub fn new(version_id: &str, witness: &PublicKey, now: UnixTime) -> Result<Self, WriteError> {
        let unsigned = proof::unsigned(witness, now, &signed_digest(version_id));
        Ok(Self {
            version_id: version_id.to_owned(),
            proof: unsigned.map_err(|_| WriteError::Unauthorised)?,
        })
    }

    /// The bytes to sign with Ed25519.
    pub fn bytes(&self) -> &[u8] {
        self.proof.bytes()
    }

    /// The element of the witnesses' file.
    pub fn signed(self, signature: &[u8]) -> Value {
        let members = [
            ("versionId".to_owned(), Value::String(self.version_id)),
            (
                "proof".to_owned(),
                Value::Array(vec![self.proof.signed(signature)]),
            ),
        ];
        Value::Object(Map::from_iter(members))
    }
}

impl ParameterChange {
    fn parameters(self) -> EntryParameters {
        EntryParameters {
            method: false,
            scid: None,
            update_keys: self.update_keys,
            next_key_hashes: self.next_key_hashes,
            witness: self.witness,
            watchers: self.watchers,
            portable: self.portable,
            deactivated: self.deactivated,
            ttl: self.ttl,
        }
    }
}

struct Signing<'a> {
    signer: &'a PublicKey,
    time: UnixTime,
}

fn unsigned(
    state: &Value,
    content: EntryContent,
    version_id: String,
    signing: Signing<'_>,
) -> Result<UnsignedEntry, WriteError> {
    let did = Did::parse(state.get("id").and_then(Value::as_str).unwrap_or_default())?;
    let digest = content.digest(&version_id);
    let proof = proof::unsigned(signing.signer, signing.time, &digest);
    Ok(UnsignedEntry {
        did,
        proof: proof.map_err(|_| WriteError::Unauthorised)?,
        version_id,
        content,
    })
}

/// The keys that may sign an entry: with pre-rotation its own, otherwise those before it.
fn keys<'a>(before: &'a Active, own: &'a Active) -> &'a [String] {
    match before.next_key_hashes.is_empty() {
        true => &before.update_keys,
        false => &own.update_keys,
    }
}

fn may_sign(signer: &PublicKey, keys: &[String]) -> Result<(), WriteError> {
    match keys.contains(&signer.to_multikey()) {
        true => Ok(()),
        false => Err(WriteError::Unauthorised),
    }
}
