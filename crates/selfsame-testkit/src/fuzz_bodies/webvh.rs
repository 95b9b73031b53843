//! Properties of logs of DIDs.

use std::str;

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_did::{Did, Options};
use selfsame_webvh::{
    Approval, Log, LogReading, Next, ParameterChange, UnsignedEntry, Witnesses, commitment, create,
    update,
};
use serde_json::{Value, json};

const NOW: UnixTime = UnixTime(1_800_000_000);

/// A log and, after a zero byte, the proofs of its witnesses; or the document of a log that is made of it. What is valid
/// is a beginning of the text, and reads again to the same versions.
pub fn did_log(data: &[u8]) -> bool {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (text, file) = (parts.next().unwrap_or_default(), parts.next());
    let read = match did_of(text) {
        Some(did) => log(&did, text, file),
        None => false,
    };
    made(text) || read
}

fn log(did: &Did, text: &[u8], file: Option<&[u8]>) -> bool {
    let Ok(empty) = Log::of(did) else {
        return false;
    };
    let reading = empty.read(text, NOW);
    is_beginning(&reading, text);
    let witnessed = reading.clone().witnessed(file, NOW);
    is_beginning(&witnessed, text);
    assert!(witnessed.log().versions().len() <= reading.log().versions().len());
    assert!(reading.needs_witnesses() || witnessed.fault() == reading.fault());
    // The valid entries alone are a valid log, and so is what was read of them before.
    let again = reading.log().read(reading.log().text(), NOW);
    assert_eq!(ids(&again), ids(&reading));
    let from_start = empty.read(reading.log().text(), NOW);
    assert_eq!(ids(&from_start), ids(&reading));
    for version in reading.log().versions() {
        let options = Options {
            version_id: Some(version.id.clone()),
            ..Options::default()
        };
        if let Ok(document) = reading.resolve(&options).document() {
            assert_eq!(
                document.id, *version.did,
                "the document is of the version's DID"
            );
        }
    }
    witnessed.fault().is_none()
}

fn is_beginning(reading: &LogReading, text: &[u8]) {
    assert!(text.starts_with(reading.log().text()));
    let versions = reading.log().versions();
    assert!(versions.is_sorted_by(|one, next| one.time < next.time));
}

fn ids(reading: &LogReading) -> Vec<&str> {
    let versions = reading.log().versions().iter();
    versions.map(|version| version.id.as_str()).collect()
}

/// The DID of the last line that names one.
fn did_of(text: &[u8]) -> Option<Did> {
    let mut lines = text.split(|byte| *byte == b'\n').rev();
    lines.find_map(|line| {
        let value = json::parse(line, &Limits::default()).ok()?;
        Did::parse(value.pointer("/state/id")?.as_str()?).ok()
    })
}

/// A log whose document is the input: if it can be made at all, either it is valid or its first entry is refused.
fn made(data: &[u8]) -> bool {
    let Ok(state) = json::parse(data, &Limits::default()) else {
        return false;
    };
    let key = key();
    let Ok(entry) = create(&state, keys(key.public(), None), key.public(), NOW) else {
        return false;
    };
    let Ok(log) = Log::of(&entry.did) else {
        return false;
    };
    let reading = log.read(&line(entry, &key), NOW);
    match reading.fault() {
        None => assert_eq!(reading.log().versions().len(), 1),
        Some(fault) => assert!(fault.entry <= 1 && reading.log().versions().is_empty()),
    }
    reading.fault().is_none()
}

/// Logs, and a document of one.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let document = json!({
        "@context": ["https://www.w3.org/ns/did/v1"], "id": "did:webvh:{SCID}:example.com:dids:a",
        "service": [{"id": "#a", "type": "x", "serviceEndpoint": "https://example.com/a"}],
    });
    let (one, two, witness) = (key(), key(), key());
    let plain = written(
        &document,
        keys(one.public(), Some(two.public())),
        &[&one, &two],
    );
    let ids = vec![selfsame_did::key::create(witness.public())];
    let change = ParameterChange {
        witness: Some(Witnesses { threshold: 1, ids }),
        ttl: Some(60),
        watchers: Some(vec!["https://watcher.example".to_owned()]),
        portable: Some(true),
        ..keys(one.public(), None)
    };
    let witnessed = written(&document, change, &[&one, &one]);
    let last = str::from_utf8(&witnessed)
        .expect("it is text")
        .lines()
        .last();
    let last: Value = serde_json::from_str(last.expect("it has lines")).expect("it is JSON");
    let id = last["versionId"].as_str().expect("it has a version");
    let approval = Approval::new(id, witness.public(), NOW).expect("it is Ed25519");
    let signature = witness.sign(approval.bytes()).expect("it signs");
    let file = json!([approval.signed(&signature)]).to_string();
    vec![
        plain,
        [&witnessed[..], file.as_bytes()].join(&0),
        document.to_string().into_bytes(),
    ]
}

/// A log of two entries, each signed by one of the keys.
fn written(document: &Value, first: ParameterChange, keys_of: &[&PrivateKey; 2]) -> Vec<u8> {
    let [one, two] = keys_of;
    let entry = create(document, first, one.public(), NOW.minus(60)).expect("it is sound");
    let empty = Log::of(&entry.did).expect("it is a did:webvh");
    let mut text = line(entry, one);
    let reading = empty.read(&text, NOW);
    let state: Value = serde_json::from_slice(&text).expect("it is JSON");
    let next = Next {
        state: &state["state"],
        change: keys(two.public(), None),
    };
    let entry = update(reading.log(), next, two.public(), NOW).expect("it is sound");
    text.extend(line(entry, two));
    text
}

fn line(entry: UnsignedEntry, key: &PrivateKey) -> Vec<u8> {
    let signature = key.sign(entry.bytes()).expect("it signs");
    entry.signed(&signature)
}

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).expect("there is randomness")
}

fn keys(key: &PublicKey, next: Option<&PublicKey>) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![key.to_multikey()]),
        next_key_hashes: Some(next.into_iter().map(commitment).collect()),
        ..ParameterChange::default()
    }
}
