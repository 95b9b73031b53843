//! The examples of the specification.

use selfsame_did::method::webvh::multihash;
use serde_json::{Value, json};

use crate::entry::EntryContent;
use selfsame_crypto::json::canonical::value_bytes;

/// did:webvh v1.0, "Generate Entry Hash": the preliminary first entry, whose versionId is the SCID.
const PRELIMINARY: &str = r#"{"versionId": "QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE", "versionTime": "2025-04-01T17:39:50Z", "parameters": {"witness": {"threshold": 2, "witnesses": [{"id": "did:key:z6Mkkc51mg2vpQzKWAbWQZupeGYhowaBjYkmvcKMTqteqHB4", "weight": 1}, {"id": "did:key:z6MkuDdJdKLCgwZuQuEi9xG6LVgJJ9Tebr74CXPYPSumqgJs", "weight": 1}, {"id": "did:key:z6MkoSWmQyp4fTk4ZQy4KUsss9dFX51XfEUzKKKj1J1JUsrF", "weight": 1}]}, "updateKeys": ["z6MkgzBDcBFV3sk4ypPE5YXMZHmS213A3HpYY2LmcVKV15jr"], "nextKeyHashes": ["QmZreDcjvWEpyRFznQeExWNCsvMLk5i59AcRJJuQC8UodJ"], "method": "did:webvh:0.5", "scid": "QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE"}, "state": {"@context": ["https://www.w3.org/ns/did/v1"], "id": "did:webvh:QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:domain.example"}}"#;

#[test]
fn the_entry_hash_of_the_specification_is_computed() {
    let entry: Value = serde_json::from_str(PRELIMINARY).unwrap();
    let expected = "QmQ6FJ4fk2xheSSQoEjVpTgx9AQPKhJgtR9hn1nr4EeCrZ";
    assert_eq!(multihash(&value_bytes(&entry)), expected);
    let content = EntryContent::new(
        &entry["parameters"],
        &entry["state"],
        "2025-04-01T17:39:50Z",
    );
    let scid = entry["versionId"].as_str().unwrap();
    assert_eq!(multihash(&content.text(scid)), expected);
}

#[test]
fn the_scid_of_the_specification_is_computed() {
    let scid = "QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE";
    let draft: Value = serde_json::from_str(&PRELIMINARY.replace(scid, "{SCID}")).unwrap();
    assert_eq!(multihash(&value_bytes(&draft)), scid);
}

#[test]
fn the_text_of_an_entry_is_canonical() {
    let entry = json!({
        "versionId": "1-a", "versionTime": "t", "parameters": {"b": 1, "a": []}, "state": {"id": "x"},
    });
    let content = EntryContent::new(&entry["parameters"], &entry["state"], "t");
    assert_eq!(content.text("1-a"), value_bytes(&entry));
    let mut with_proof = entry;
    with_proof["proof"] = json!([{"z": 1}]);
    let line = content.line("1-a", &json!({"z": 1}));
    assert_eq!(line, [value_bytes(&with_proof), b"\n".to_vec()].concat());
}
