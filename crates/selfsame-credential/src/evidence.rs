//! The needs of a verification or a pure step, and the evidence gathered for them.

mod reading;
mod saved;

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_crypto::hash::{sha256, sha256_parts};
use selfsame_crypto::jws::Compact;
use selfsame_crypto::{KeyHandle, PublicKey, time::UnixTime};
use selfsame_did::{Did, Options, Resolution, ResolutionError, ResolutionPlan};
use serde::{Deserialize, Serialize};

use self::reading::Readings;
pub(crate) use self::reading::{Reading, Text};
use self::saved::SavedEvidence;
use crate::single_use::Use;
use crate::status;

/// Something that a pure step wants fetched or done; it may be repeated without harm.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The resolution of a DID.
    Did(Did),
    /// The JWT VC Issuer Metadata of an `iss` (SD-JWT VC §5).
    IssuerMetadata(String),
    /// The JWK Set at a `jwks_uri` (SD-JWT VC §4.2).
    JwkSet(String),
    /// The status list at a URI.
    StatusList(String),
    /// The use or revocation of a single-use credential.
    Use {
        /// Its issuer.
        issuer: Did,
        /// The digest under which its handle is registered.
        digest: [u8; 32],
    },
    /// A signature by one of this instance's keys.
    Signature(SignatureRequest),
}

/// Bytes to be signed, and the key to sign them.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct SignatureRequest {
    /// The key's name in the key store.
    pub key: KeyHandle,
    /// The bytes to sign.
    #[serde(with = "saved::base64url")]
    pub bytes: Vec<u8>,
}

/// The result of a fetch, and its time.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Fetched<T> {
    /// The fetched value, or why it is unavailable.
    pub value: Result<T, Unavailable>,
    /// When it was fetched (for a cached value: when it entered the cache).
    pub at: UnixTime,
}

/// Why something could not be fetched.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("unavailable: {reason}")]
pub struct Unavailable {
    /// Text for people; contains no personal data.
    pub reason: String,
}

/// The result of a pure step. The driver gathers the needs and runs the step again with an equal `Ctx`.
#[derive(Clone, Debug)]
pub enum Step<T> {
    /// The step needs these.
    Needs(Vec<Need>),
    /// The step's result.
    Done(T),
}

/// All evidence gathered so far. It is plain data: saved as JSON and read again, it gives the same verdict. A saved one
/// can contain personal data, in the bytes to sign.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(into = "SavedEvidence", try_from = "SavedEvidence")]
pub struct Evidence {
    dids: HashMap<Did, Fetched<Arc<Resolution>>>,
    issuer_metadata: HashMap<String, Fetched<Vec<u8>>>,
    jwk_sets: HashMap<String, Fetched<Vec<u8>>>,
    status_lists: HashMap<String, Fetched<Arc<status::List>>>,
    uses: HashMap<(Did, [u8; 32]), Fetched<Option<Use>>>,
    signatures: HashMap<SignatureRequest, Vec<u8>>,
    began: Option<UnixTime>,
    asked_again: HashSet<Need>,
    memory: EvidenceMemory,
}

/// What was computed from the evidence. It saves work and changes no verdict, so it is not saved.
#[derive(Clone, Debug, Default)]
struct EvidenceMemory {
    genuine: Genuine,
    readings: Readings,
    resolved: Resolved,
}

/// Digests of the key and JWS of signatures that were verified. Neither a step nor other evidence that shares this set
/// verifies them again. Whether a signature is valid depends only on key and JWS, so an entry can't become wrong.
/// Clones share one set.
#[derive(Clone, Debug, Default)]
pub struct Genuine(Arc<Mutex<Signatures>>);

#[derive(Debug, Default)]
struct Signatures {
    known: HashSet<[u8; 32]>,
    /// The oldest digest first.
    order: VecDeque<[u8; 32]>,
}

/// Resolutions of DIDs whose documents can be computed from the DID, since gathering began.
#[derive(Clone, Debug, Default)]
struct Resolved(Arc<Mutex<Vec<Arc<Resolution>>>>);

/// An issuer's keys are fetched again if the cached copy lacks the key and is older than this many seconds.
const OUTDATED_AFTER: u64 = 2;
/// Maximum number of remembered signatures; the oldest is removed first.
const GENUINE_MAX: usize = 2_048;
/// Maximum number of remembered resolutions; further ones are computed each time.
const RESOLVED_MAX: usize = 16;

impl Genuine {
    fn knows(&self, digest: &[u8; 32]) -> bool {
        let signatures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        signatures.known.contains(digest)
    }

    fn remember(&self, digest: [u8; 32]) {
        let mut signatures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !signatures.known.insert(digest) {
            return;
        }
        signatures.order.push_back(digest);
        if signatures.order.len() > GENUINE_MAX
            && let Some(oldest) = signatures.order.pop_front()
        {
            signatures.known.remove(&oldest);
        }
    }
}

impl Evidence {
    /// Empty evidence that shares the set of verified signatures, for a verification that begins now. A cached key set
    /// that lacks the key is then fetched again, since issuers add keys.
    pub fn knowing(genuine: Genuine, now: UnixTime) -> Self {
        Self {
            began: Some(now),
            memory: EvidenceMemory {
                genuine,
                ..EvidenceMemory::default()
            },
            ..Self::default()
        }
    }

    /// Whether this key signed the JWS ([`Compact::verify`]).
    pub fn is_signed(&self, jws: &Compact, key: &PublicKey) -> bool {
        let digest = sha256_parts(&[&key.digest(), &sha256(jws.signing_input()), jws.signature()]);
        self.is_genuine(digest, || jws.verify(key).is_ok())
    }

    /// Whether a signature holds. The digest is of everything that this depends on.
    pub(crate) fn is_genuine(&self, digest: [u8; 32], verify: impl FnOnce() -> bool) -> bool {
        if self.memory.genuine.knows(&digest) {
            return true;
        }
        let holds = verify();
        if holds {
            self.memory.genuine.remember(digest);
        }
        holds
    }

    /// Whether to fetch again something that was fetched at this time: if that was a while before the verification
    /// began, the issuer may have added the missing key since.
    pub(crate) fn is_to_be_asked_again(&self, need: &Need, fetched_at: UnixTime) -> bool {
        let outdated = |began| fetched_at.plus(OUTDATED_AFTER) < began;
        self.began.is_some_and(outdated) && !self.asked_again.contains(need)
    }

    /// When the evidence for `need` was fetched, if it is present and must be fetched again; the new result replaces
    /// it.
    pub fn ask_again(&mut self, need: &Need) -> Option<UnixTime> {
        let fetched_at = match need {
            Need::Did(did) => self.did(did)?.at,
            Need::IssuerMetadata(iss) => self.issuer_metadata(iss)?.at,
            Need::JwkSet(uri) => self.jwk_set(uri)?.at,
            Need::StatusList(_) | Need::Use { .. } | Need::Signature(_) => return None,
        };
        self.asked_again.insert(need.clone());
        Some(fetched_at)
    }

    /// The resolution of a DID whose document can be computed from the DID, computed once; `None` for a DID that must
    /// be fetched.
    pub(crate) fn resolved(&self, did: &Did) -> Result<Option<Arc<Resolution>>, ResolutionError> {
        let resolved = || {
            let resolved = &self.memory.resolved;
            resolved.0.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let is_known = |one: &&Arc<Resolution>| one.document().is_ok_and(|found| found.id == *did);
        if let Some(known) = resolved().iter().find(is_known) {
            return Ok(Some(known.clone()));
        }
        let ResolutionPlan::Done(resolution) = did.plan(&Options::default())? else {
            return Ok(None);
        };
        let resolution: Arc<Resolution> = Arc::from(resolution);
        let mut resolved = resolved();
        if resolved.len() < RESOLVED_MAX {
            resolved.push(resolution.clone());
        }
        Ok(Some(resolution))
    }

    /// The remembered reading of this text.
    pub(crate) fn reading<T: Any + Clone>(&self, text: Text<'_>) -> Option<Reading<T>> {
        self.memory.readings.find(text)
    }

    /// Remembers the reading of a text.
    pub(crate) fn remember<T: Any + Send + Sync>(&self, text: Text<'_>, reading: Reading<T>) {
        self.memory.readings.remember(text, reading);
    }

    /// The number of remembered texts.
    #[cfg(test)]
    pub(crate) fn readings(&self) -> usize {
        self.memory.readings.count()
    }

    /// The resolution of `did`, if it was gathered.
    pub fn did(&self, did: &Did) -> Option<&Fetched<Arc<Resolution>>> {
        self.dids.get(did)
    }

    /// The JWT VC Issuer Metadata document of `iss`, if it was gathered.
    pub fn issuer_metadata(&self, iss: &str) -> Option<&Fetched<Vec<u8>>> {
        self.issuer_metadata.get(iss)
    }

    /// The JWK Set at `uri`, if it was gathered.
    pub fn jwk_set(&self, uri: &str) -> Option<&Fetched<Vec<u8>>> {
        self.jwk_sets.get(uri)
    }

    /// The status list at `uri`, if it was gathered.
    pub fn status_list(&self, uri: &str) -> Option<&Fetched<Arc<status::List>>> {
        self.status_lists.get(uri)
    }

    /// The gathered status lists that can be read.
    pub fn status_lists(&self) -> impl Iterator<Item = &Arc<status::List>> {
        let fetched = self.status_lists.values();
        fetched.filter_map(|fetched| fetched.value.as_ref().ok())
    }

    /// The use or revocation of the single-use credential with this digest, if it was gathered.
    pub fn single_use(&self, issuer: &Did, digest: &[u8; 32]) -> Option<&Fetched<Option<Use>>> {
        self.uses.get(&(issuer.clone(), *digest))
    }

    /// The signature for `request`, if it was made.
    pub fn signature(&self, request: &SignatureRequest) -> Option<&[u8]> {
        self.signatures.get(request).map(Vec::as_slice)
    }

    /// Whether there is a result, good or bad, for `need`.
    pub fn answers(&self, need: &Need) -> bool {
        match need {
            Need::Did(did) => self.dids.contains_key(did),
            Need::IssuerMetadata(iss) => self.issuer_metadata.contains_key(iss),
            Need::JwkSet(uri) => self.jwk_sets.contains_key(uri),
            Need::StatusList(uri) => self.status_lists.contains_key(uri),
            Need::Use { issuer, digest } => self.single_use(issuer, digest).is_some(),
            Need::Signature(request) => self.signatures.contains_key(request),
        }
    }

    /// Adds the resolution of a DID.
    pub fn insert_did(&mut self, did: Did, resolution: Fetched<Arc<Resolution>>) {
        self.dids.insert(did, resolution);
    }

    /// Adds the JWT VC Issuer Metadata document of `iss`.
    pub fn insert_issuer_metadata(&mut self, iss: String, document: Fetched<Vec<u8>>) {
        self.issuer_metadata.insert(iss, document);
    }

    /// Adds the JWK Set fetched from `uri`.
    pub fn insert_jwk_set(&mut self, uri: String, set: Fetched<Vec<u8>>) {
        self.jwk_sets.insert(uri, set);
    }

    /// Adds the status list fetched from `uri`.
    pub fn insert_status_list(&mut self, uri: String, list: Fetched<Arc<status::List>>) {
        self.status_lists.insert(uri, list);
    }

    /// Adds the use or revocation of a single-use credential; `None` if it is neither used nor revoked.
    pub fn insert_single_use(&mut self, issuer: Did, digest: [u8; 32], used: Fetched<Option<Use>>) {
        self.uses.insert((issuer, digest), used);
    }

    /// Adds a signature.
    pub fn insert_signature(&mut self, request: SignatureRequest, signature: Vec<u8>) {
        self.signatures.insert(request, signature);
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::jws::Unsigned;
    use selfsame_crypto::{KeyType, PrivateKey};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_did_that_says_all_of_itself_is_worked_out_once_and_others_are_asked_for() {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let (did, evidence) = (selfsame_did::jwk::create(key.public()), Evidence::default());
        let first = evidence.resolved(&did).unwrap().unwrap();
        assert_eq!(first.document().unwrap().id, did);
        assert!(Arc::ptr_eq(
            &first,
            &evidence.resolved(&did).unwrap().unwrap()
        ));
        let other = PrivateKey::generate(KeyType::P256).unwrap();
        let other = selfsame_did::jwk::create(other.public());
        let second = evidence.resolved(&other).unwrap().unwrap();
        assert_eq!(second.document().unwrap().id, other);
        let fetched = Did::parse("did:web:example.org").unwrap();
        assert!(evidence.resolved(&fetched).unwrap().is_none());
        assert!(
            evidence
                .resolved(&Did::parse("did:jwk:e30").unwrap())
                .is_err()
        );
    }

    #[test]
    fn what_one_found_genuine_others_know_and_the_oldest_is_forgotten() {
        let (genuine, digest) = (Genuine::default(), |n: usize| sha256(&n.to_be_bytes()));
        for n in 0..=GENUINE_MAX {
            genuine.clone().remember(digest(n));
            genuine.remember(digest(n));
        }
        assert!(!genuine.knows(&digest(0)) && genuine.knows(&digest(1)));
        assert!(genuine.knows(&digest(GENUINE_MAX)));
        let signatures = genuine.0.lock().unwrap();
        assert_eq!(signatures.known.len(), GENUINE_MAX);
        assert_eq!(signatures.order.len(), GENUINE_MAX);
    }

    #[test]
    fn a_signature_that_held_once_holds_for_that_key_and_that_text_alone() {
        let (key, other) = (
            PrivateKey::generate(KeyType::P256).unwrap(),
            PrivateKey::generate(KeyType::P256).unwrap(),
        );
        let signed = |payload: &str, by: &PrivateKey| {
            let unsigned = Unsigned::new(&json!({"alg": "ES256"}), &json!({"sub": payload}));
            let signature = by.sign(unsigned.signing_input()).unwrap();
            Compact::parse(&unsigned.finish(&signature)).unwrap()
        };
        let (jws, further) = (signed("one", &key), signed("two", &other));
        let evidence = Evidence::default();
        for _ in 0..2 {
            assert!(evidence.is_signed(&jws, key.public()));
            assert!(!evidence.is_signed(&jws, other.public()));
            assert!(!evidence.is_signed(&further, key.public()));
            assert!(evidence.is_signed(&further, other.public()));
        }
    }
}
