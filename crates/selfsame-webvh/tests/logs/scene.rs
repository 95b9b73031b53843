//! A log and its controller, and the programs that act as their peers.

use std::time::{SystemTime, UNIX_EPOCH};

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, Document, Options, Resolution};
use selfsame_webvh::{
    Approval, Log, LogReading, Next, ParameterChange, UnsignedEntry, Witnesses, commitment, create,
    draft, update,
};
use serde_json::{Value, json};

use crate::peer::Peer;

pub const DIDWEBVH_TS: Peer = Peer::node("SELFSAME_WEBVH_PEERS", "peer.mjs");
pub const DID_WEBVH: Peer = Peer::python("SELFSAME_WEBVH_PYTHON", "webvh_peer.py");

/// What a peer says of a DID, by its log.
fn resolved_by(peer: &Peer, did: &Did, log: &str, witnesses: Option<&Value>) -> Value {
    peer.said(&json!({"job": "resolve", "did": did, "log": log, "witnesses": witnesses}))
}

#[allow(
    clippy::disallowed_methods,
    reason = "the packages judge by the clock of the machine"
)]
fn now() -> UnixTime {
    UnixTime(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs(),
    )
}

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).unwrap()
}

fn line(unsigned: UnsignedEntry, key: &PrivateKey) -> String {
    let signature = key.sign(unsigned.bytes()).unwrap();
    String::from_utf8(unsigned.signed(&signature)).unwrap()
}

fn keys(key: &PrivateKey, next: &[&PrivateKey]) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![key.public().to_multikey()]),
        next_key_hashes: Some(next.iter().map(|key| commitment(key.public())).collect()),
        ..ParameterChange::default()
    }
}

/// Our log, in the order of its entries, with the proofs of its witnesses.
pub struct Life {
    did: Did,
    lines: Vec<String>,
    versions: Vec<String>,
    witnesses: Option<Value>,
}

impl Life {
    /// A log of three entries with pre-rotation: made, changed, ended.
    pub fn new() -> Self {
        let all = [key(), key(), key()];
        // Some packages compare whole seconds, so the entries are minutes apart.
        let begin = now().minus(300);
        let mut life = Self::begun(keys(&all[0], &[&all[1]]), &all[0], begin);
        life.add(keys(&all[1], &[&all[2]]), &all[1], begin.plus(60));
        let end = ParameterChange {
            deactivated: Some(true),
            ..keys(&all[2], &[])
        };
        life.add(end, &all[2], begin.plus(120));
        life
    }

    /// A log whose entries one of two witnesses must approve.
    pub fn witnessed() -> Self {
        let (author, witness, other) = (key(), key(), key());
        let did = |key: &PrivateKey| selfsame_did::key::create(key.public());
        let change = ParameterChange {
            witness: Some(Witnesses {
                threshold: 1,
                ids: vec![did(&witness), did(&other)],
            }),
            ..keys(&author, &[])
        };
        let begin = now().minus(300);
        let mut life = Self::begun(change, &author, begin);
        life.add(ParameterChange::default(), &author, begin.plus(60));
        let approval = Approval::new(&life.versions[1], witness.public(), now()).unwrap();
        let signature = witness.sign(approval.bytes()).unwrap();
        life.witnesses = Some(json!([approval.signed(&signature)]));
        life
    }

    fn begun(change: ParameterChange, key: &PrivateKey, at: UnixTime) -> Self {
        let mut document = Document::new(Did::parse("did:web:example.com:dids:a").unwrap());
        document.add_key("key-1", key.public(), true).unwrap();
        let unsigned = create(&draft(&document), change, key.public(), at).unwrap();
        Self {
            did: unsigned.did.clone(),
            versions: vec![unsigned.version_id.clone()],
            lines: vec![line(unsigned, key)],
            witnesses: None,
        }
    }

    fn add(&mut self, change: ParameterChange, key: &PrivateKey, at: UnixTime) {
        let reading = read(&self.did, &self.lines.concat());
        assert_eq!(reading.fault(), None);
        let log = reading.log();
        let state: Value = serde_json::from_str(self.lines.last().unwrap()).unwrap();
        let next = Next {
            state: &state["state"],
            change,
        };
        let unsigned = update(log, next, key.public(), at).unwrap();
        self.versions.push(unsigned.version_id.clone());
        self.lines.push(line(unsigned, key));
    }

    /// The peer resolves each length of the log as we do, and refuses a changed one.
    pub fn is_resolved_by(&self, peer: &Peer) {
        for length in 1..=self.lines.len() {
            let log = self.lines[..length].concat();
            let said = resolved_by(peer, &self.did, &log, None);
            let meta = &said["meta"];
            assert_eq!(meta["versionId"], self.versions[length - 1], "{said}");
            let ended = length == self.lines.len();
            assert_eq!(meta["deactivated"], ended, "{said}");
            if !ended {
                assert_eq!(said["doc"]["id"], self.did.as_str(), "{said}");
                assert_eq!(said["doc"]["alsoKnownAs"][0], "did:web:example.com:dids:a");
            }
        }
        let changed = self.lines[..2].concat().replace("key-1", "key-2");
        let said = resolved_by(peer, &self.did, &changed, None);
        assert!(said["error"].is_string(), "{said}");
    }

    /// The peer takes the log with the approval of a witness, and refuses it without.
    pub fn is_approved_for(&self, peer: &Peer) {
        let log = self.lines.concat();
        let said = resolved_by(peer, &self.did, &log, self.witnesses.as_ref());
        assert_eq!(said["meta"]["versionId"], self.versions[1], "{said}");
        let mut other = self.witnesses.clone().unwrap();
        other[0]["versionId"] = self.versions[0].clone().into();
        let said = resolved_by(peer, &self.did, &log, Some(&other));
        assert!(said["error"].is_string(), "{said}");
    }
}

fn read(did: &Did, text: &str) -> LogReading {
    Log::of(did).unwrap().read(text.as_bytes(), now())
}

fn text<'a>(made: &'a Value, name: &str) -> &'a str {
    made[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name} in {made}"))
}

fn did(made: &Value) -> Did {
    Did::parse(text(made, "did")).unwrap()
}

fn resolved(did: &Did, log: &str) -> Resolution {
    let reading = read(did, log);
    assert_eq!(reading.fault(), None);
    assert!(!reading.needs_witnesses());
    reading.resolve(&Options::default())
}

/// A log of theirs is valid at each of its lengths.
pub fn is_valid(made: &Value, place: &str) {
    let did = did(made);
    assert!(did.as_str().ends_with(&format!(":{place}")), "{did}");
    for name in ["first", "second"] {
        let found = resolved(&did, text(made, name));
        assert_eq!(found.document().unwrap().id, did);
    }
    let ended = resolved(&did, text(made, "ended"));
    assert!(ended.document_metadata.deactivated && ended.document.is_none());
}

/// A log of theirs is refused once anything in it changes.
pub fn is_refused(made: &Value) {
    let did = did(made);
    let log = text(made, "second");
    let lines: Vec<&str> = log.lines().collect();
    let code = |log: &str| read(&did, log).fault().map(|error| error.fault.code());
    assert_eq!(
        code(&log.replace("example.com", "example.org")),
        Some("scid-mismatch")
    );
    assert_eq!(code(lines[1]), Some("version-number-not-next"));
    assert_eq!(
        code(&format!("{log}{}", lines[1])),
        Some("version-number-not-next")
    );
    let other = log.replace("eddsa-jcs-2022", "eddsa-rdfc-2022");
    assert_eq!(code(&other), Some("proof-suite-unsupported"));
}

/// A portable DID of theirs moves.
pub fn moved_by(peer: &Peer) {
    let job = json!({"job": "moved", "address": "example.com", "to": "new.example"});
    let made = peer.said(&job);
    let found = resolved(&did(&made), text(&made, "log"));
    assert_eq!(found.document().unwrap().id.as_str(), text(&made, "to"));
}

/// Their witnesses approve a log of theirs, and without them it is refused.
pub fn witnessed_by(peer: &Peer) {
    let job = json!({"job": "witnessed", "address": "example.com:8443", "paths": ["dids", "a"]});
    let made = peer.said(&job);
    let reading = read(&did(&made), text(&made, "log"));
    assert!(reading.needs_witnesses() && reading.fault().is_none());
    let fault = |file: &Value| {
        let judged = reading
            .clone()
            .witnessed(Some(file.to_string().as_bytes()), now());
        judged.fault().map(|error| error.fault.code())
    };
    let mut file = made["witnesses"].clone();
    assert_eq!(fault(&file), None);
    file[0]["proof"].as_array_mut().unwrap().pop();
    assert_eq!(fault(&file), Some("witness-threshold-missed"));
}
