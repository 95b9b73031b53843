//! A controller whose entries can be wrong in any way.

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_did::method::webvh::multihash;
use serde_json::{Value, json};

use crate::entry::replaced;
use crate::{EntryFault, Log, LogReading};
use selfsame_crypto::json::canonical::value_bytes;

/// 2026-01-01T00:10:00Z: ten minutes after the first entry, a minute for each further one.
pub fn now() -> UnixTime {
    UnixTime::parse_rfc3339("2026-01-01T00:10:00Z").unwrap()
}

pub fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).unwrap()
}

pub fn multikey(key: &PrivateKey) -> String {
    key.public().to_multikey()
}

/// The hash by which an entry commits to a key.
pub fn hash(key: &PrivateKey) -> String {
    multihash(multikey(key).as_bytes())
}

pub fn did_key(key: &PrivateKey) -> String {
    format!("did:key:{}", multikey(key))
}

/// A proof over a document, as `eddsa-jcs-2022` says; `change` changes its options before they are signed.
pub fn proof(document: &Value, key: &PrivateKey, change: impl Fn(&mut Value)) -> Value {
    let multikey = multikey(key);
    let mut proof = json!({
        "type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022",
        "verificationMethod": format!("did:key:{multikey}#{multikey}"),
        "created": "2026-01-01T00:00:00Z", "proofPurpose": "assertionMethod",
    });
    change(&mut proof);
    let bytes = [sha256(&value_bytes(&proof)), sha256(&value_bytes(document))].concat();
    let signature = key.sign(&bytes).unwrap();
    proof["proofValue"] = selfsame_crypto::encoding::multibase_base58_encode(&signature).into();
    proof
}

/// A log in the making.
#[derive(Clone)]
pub struct Logbook {
    pub did: String,
    pub lines: Vec<String>,
    /// The versionId of the last entry, or the SCID.
    pub last: String,
}

/// The parameters of a first entry that `key` signs.
pub fn first(key: &PrivateKey) -> Value {
    json!({"method": "did:webvh:1.0", "scid": "{SCID}", "updateKeys": [multikey(key)]})
}

pub fn document() -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/did/v1"],
        "id": "did:webvh:{SCID}:example.com",
        "service": [{"id": "#a", "type": "Ü", "serviceEndpoint": "https://example.com/a"}],
    })
}

impl Logbook {
    /// A log with one entry.
    pub fn new(parameters: &Value, key: &PrivateKey) -> Self {
        Self::with(parameters, &document(), key)
    }

    pub fn with(parameters: &Value, state: &Value, key: &PrivateKey) -> Self {
        let draft = json!({
            "versionId": "{SCID}", "versionTime": "2026-01-01T00:00:00Z",
            "parameters": parameters, "state": state,
        });
        let scid = multihash(&value_bytes(&draft));
        let entry = replaced(&draft, "{SCID}", &scid);
        let mut book = Self {
            did: entry["state"]["id"].as_str().unwrap_or_default().to_owned(),
            lines: Vec::new(),
            last: scid,
        };
        book.seal(entry, key);
        book
    }

    /// The document in the last entry.
    pub fn state(&self) -> Value {
        self.entry(self.lines.len())["state"].clone()
    }

    pub fn entry(&self, number: usize) -> Value {
        serde_json::from_str(&self.lines[number - 1]).unwrap()
    }

    pub fn version_id(&self, number: usize) -> String {
        self.entry(number)["versionId"].as_str().unwrap().to_owned()
    }

    /// Adds an entry with these parameters and the same document.
    pub fn add(&mut self, parameters: &Value, key: &PrivateKey) {
        self.add_changed(parameters, key, |_| {});
    }

    /// As [`Self::add`], with a change of the entry before it is hashed.
    pub fn add_changed(
        &mut self,
        parameters: &Value,
        key: &PrivateKey,
        change: impl Fn(&mut Value),
    ) {
        let minute = self.lines.len();
        let mut entry = json!({
            "versionTime": format!("2026-01-01T00:{minute:02}:00Z"),
            "parameters": parameters, "state": self.state(),
        });
        change(&mut entry);
        self.seal(entry, key);
    }

    /// Hashes an entry, signs it and adds it.
    pub fn seal(&mut self, mut entry: Value, key: &PrivateKey) {
        entry["versionId"] = self.last.clone().into();
        let hash = multihash(&value_bytes(&entry));
        self.last = format!("{}-{hash}", self.lines.len() + 1);
        entry["versionId"] = self.last.clone().into();
        entry["proof"] = json!([proof(&entry, key, |_| {})]);
        self.lines.push(entry.to_string());
    }

    /// Changes the last line as JSON, without new hashes or proofs.
    pub fn change_last(&mut self, change: impl Fn(&mut Value)) {
        let mut entry = self.entry(self.lines.len());
        change(&mut entry);
        *self.lines.last_mut().unwrap() = entry.to_string();
    }

    /// Signs the last entry again, with changed options of the proof.
    pub fn prove_last(&mut self, key: &PrivateKey, change: impl Fn(&mut Value)) {
        self.change_last(|entry| {
            entry.as_object_mut().unwrap().remove("proof");
            entry["proof"] = json!([proof(entry, key, &change)]);
        });
    }

    pub fn text(&self) -> Vec<u8> {
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        lines.into_bytes()
    }

    pub fn empty(&self) -> Log {
        Log::of(&Did::parse(&self.did).unwrap()).unwrap()
    }

    pub fn read(&self) -> LogReading {
        self.empty().read(&self.text(), now())
    }

    /// The code of the fault and the entry that has it.
    pub fn refused(&self) -> Option<(&'static str, u64)> {
        self.read()
            .fault()
            .map(|error| (EntryFault::code(error.fault), error.entry))
    }
}

/// The change of an object's member.
pub fn set(name: &'static str, value: Value) -> impl Fn(&mut Value) {
    move |entry| entry[name] = value.clone()
}
