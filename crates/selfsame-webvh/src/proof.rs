//! Data Integrity proofs with the cryptosuite `eddsa-jcs-2022` (VC Data Integrity EdDSA Cryptosuites v1.0 §3.3).

use selfsame_crypto::encoding::{multibase_base58_encode, multibase_decode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PublicKey};
use selfsame_did::{Did, DidUrl};
use serde_json::{Map, Value};

use crate::fault::ProofFault;
use crate::parameters::ed25519_of;
use selfsame_crypto::json::canonical::value_bytes;

const TYPE: &str = "DataIntegrityProof";
const SUITE: &str = "eddsa-jcs-2022";
const PURPOSE: &str = "assertionMethod";
/// The length of a signature in bytes.
const SIGNATURE: usize = 64;

/// A proof whose members are checked, and whose signature is not yet.
pub(crate) struct LogProof {
    /// The did:key of the signer.
    pub signer: Did,
    key: PublicKey,
    expires: Option<UnixTime>,
    /// The hash of the proof without its signature.
    options: [u8; 32],
    signature: Vec<u8>,
}

impl LogProof {
    pub fn read(value: &Value) -> Result<Self, ProofFault> {
        let members = value.as_object().ok_or(ProofFault::Form("form"))?;
        let text = |name: &'static str| {
            let text = members.get(name).and_then(Value::as_str);
            text.ok_or(ProofFault::Form(name))
        };
        if text("type")? != TYPE {
            return Err(ProofFault::Form("type"));
        }
        if text("cryptosuite").ok() != Some(SUITE) {
            return Err(ProofFault::Suite);
        }
        if text("proofPurpose")? != PURPOSE {
            return Err(ProofFault::Purpose);
        }
        // What is signed here has no context, so it can't begin with one of the proof (§3.3.2).
        if members.contains_key("@context") {
            return Err(ProofFault::Form("@context"));
        }
        let (signer, key) = signer(text("verificationMethod")?).ok_or(ProofFault::Method)?;
        time(members, "created")?;
        let signature = text("proofValue")?;
        let signature = signature
            .starts_with('z')
            .then(|| multibase_decode(signature));
        let signature = signature.and_then(Result::ok);
        let signature = signature.filter(|signature| signature.len() == SIGNATURE);
        let mut options = members.clone();
        options.remove("proofValue");
        Ok(Self {
            signer,
            key,
            expires: time(members, "expires")?,
            options: sha256(&value_bytes(&Value::Object(options))),
            signature: signature.ok_or(ProofFault::Form("proofValue"))?,
        })
    }

    /// The multikey of the signer.
    pub fn multikey(&self) -> &str {
        self.signer.method_id()
    }

    /// Verifies the signature over a document with this hash.
    pub fn verify(&self, document: &[u8; 32], now: UnixTime) -> Result<(), ProofFault> {
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(ProofFault::Expired);
        }
        let signed = [self.options, *document].concat();
        let verified = self.key.verify(Algorithm::EdDsa, &signed, &self.signature);
        verified.map_err(|_| ProofFault::Signature)
    }
}

/// A proof before its signature: its members, and the bytes to sign.
#[derive(Clone, Debug)]
pub(crate) struct UnsignedProof {
    members: Map<String, Value>,
    /// The bytes to sign.
    pub bytes: Vec<u8>,
}

impl UnsignedProof {
    /// The proof that this key makes at this time for a document with this hash.
    pub fn new(key: &PublicKey, created: &str, document: &[u8; 32]) -> Self {
        let multikey = key.to_multikey();
        let method = format!("{}#{multikey}", selfsame_did::key::create(key));
        let members = [
            ("type", TYPE),
            ("cryptosuite", SUITE),
            ("verificationMethod", &method),
            ("created", created),
            ("proofPurpose", PURPOSE),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let members = Map::from_iter(members);
        let options = sha256(&value_bytes(&Value::Object(members.clone())));
        Self {
            members,
            bytes: [options, *document].concat(),
        }
    }

    pub fn signed(mut self, signature: &[u8]) -> Value {
        let value = multibase_base58_encode(signature);
        let name = "proofValue".to_owned();
        self.members.insert(name, Value::String(value));
        Value::Object(self.members)
    }
}

/// The did:key and the key of a verification method. Its fragment is its key (did:webvh v1.0, "Witness DIDs and
/// Reputation"), so nobody signs in the name of another key.
fn signer(method: &str) -> Option<(Did, PublicKey)> {
    let url = DidUrl::parse(method).ok()?;
    let is_bare = url.path.is_empty() && url.query.is_none();
    let is_own = url.fragment.as_deref() == Some(url.did.method_id());
    let key = ed25519_of(&url.did).filter(|_| is_bare && is_own)?;
    Some((url.did, key))
}

fn time(members: &Map<String, Value>, name: &'static str) -> Result<Option<UnixTime>, ProofFault> {
    let Some(value) = members.get(name) else {
        return Ok(None);
    };
    let time = value.as_str().and_then(UnixTime::parse_rfc3339);
    time.map(Some).ok_or(ProofFault::Form(name))
}
