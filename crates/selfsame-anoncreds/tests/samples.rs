//! The published library's messages in `vectors/anoncreds`, verified and continued by ours.

#[path = "oracle/ours.rs"]
mod ours;
#[path = "oracle/party.rs"]
mod party;

use std::path::PathBuf;

use ours::Ours;
use party::Party;
use selfsame_crypto::{ctx::Ctx, time::UnixTime};
use serde_json::{Map, Value, json};

/// A context with fresh randomness.
fn ctx() -> Ctx {
    Ctx::new(
        UnixTime(1_700_000_000),
        selfsame_crypto::seal::random_seed(),
    )
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/anoncreds"
    ))
    .join(name)
}

/// A message as the text of its file.
fn text(name: &str) -> Value {
    json!(std::fs::read_to_string(file(name)).unwrap())
}

fn tree(name: &str) -> Value {
    serde_json::from_str(text(name).as_str().unwrap()).unwrap()
}

/// The identifiers of a flow's definition and schema.
fn ids(flow: &str) -> (String, String) {
    let offer = tree(&format!("{flow}/offer.json"));
    let id = |name: &str| offer[name].as_str().unwrap().to_owned();
    (id("schema_id"), id("cred_def_id"))
}

fn registry_id() -> Value {
    tree("legacy/status_list.json")["revRegDefId"].clone()
}

/// The published objects of these flows, as a verifier or a holder has them.
fn known(flows: &[&str]) -> Value {
    let (mut schemas, mut cred_defs) = (Map::new(), Map::new());
    for flow in flows {
        let (schema_id, cred_def_id) = ids(flow);
        schemas.insert(schema_id, text(&format!("{flow}/schema.json")));
        cred_defs.insert(cred_def_id, text(&format!("{flow}/cred_def.json")));
    }
    json!({ "schemas": schemas, "cred_defs": cred_defs })
}

fn judged(request: Value, presentation: Value) -> Result<Value, String> {
    let mut arguments = known(&["legacy", "qualified"]);
    arguments["request"] = request;
    arguments["presentation"] = presentation;
    arguments["registries"] =
        json!({ registry_id().as_str().unwrap(): text("legacy/rev_reg_def.json") });
    arguments["lists"] = json!([
        text("legacy/status_list.json"),
        text("legacy/status_list_updated.json")
    ]);
    Ours::new().call("verify", &arguments)
}

const PRESENTATIONS: [&str; 5] = [
    "revealed",
    "unrevealed_group_self_attested",
    "predicates",
    "non_revoked",
    "two_credentials",
];

#[test]
fn every_sample_presentation_verifies() {
    for name in PRESENTATIONS {
        let request = text(&format!("presentations/{name}.request.json"));
        let presentation = text(&format!("presentations/{name}.json"));
        assert_eq!(judged(request, presentation), Ok(json!(true)), "{name}");
    }
}

#[test]
fn no_sample_presentation_answers_the_request_of_another() {
    for name in PRESENTATIONS {
        for other in PRESENTATIONS.iter().filter(|other| **other != name) {
            let request = text(&format!("presentations/{other}.request.json"));
            let presentation = text(&format!("presentations/{name}.json"));
            assert_ne!(
                judged(request, presentation),
                Ok(json!(true)),
                "{name} for {other}"
            );
        }
    }
}

#[test]
fn a_sample_credential_is_processed_to_the_same_bytes_of_value() {
    for (flow, registry) in [("legacy", true), ("qualified", false)] {
        let processed = Ours::new().call(
            "process",
            &json!({
            "credential": text(&format!("{flow}/credential.json")),
            "metadata": text(&format!("{flow}/request_metadata.json")),
            "cred_def": text(&format!("{flow}/cred_def.json")),
            "link_secret": text("link_secret.txt"),
            "registry": if registry { text("legacy/rev_reg_def.json") } else { Value::Null } }),
        );
        let processed: Value = serde_json::from_str(processed.unwrap().as_str().unwrap()).unwrap();
        let expected = tree(&format!("{flow}/credential_processed.json"));
        assert_eq!(
            processed["signature"]["p_credential"], expected["signature"]["p_credential"],
            "{flow}"
        );
        assert_eq!(processed["values"], expected["values"], "{flow}");
    }
}

#[test]
fn a_sample_request_is_answered_with_a_credential_its_holder_can_show() {
    let mut ours = Ours::new();
    let credential = ours.call("issue", &json!({
        "cred_def": text("legacy/cred_def.json"), "cred_def_private": text("legacy/cred_def_private.json"),
        "offer": text("legacy/offer.json"), "request": text("legacy/request.json"),
        "values": { "name": "Bob", "age": "41", "degree": "", "height": "0", "id number": "x" },
        "revocation": {
            "registry": text("legacy/rev_reg_def.json"), "registry_private": text("legacy/rev_reg_def_private.json"),
            "list": text("legacy/status_list_updated.json"), "index": 4 } })).unwrap();
    let credential = ours
        .call(
            "process",
            &json!({
        "credential": credential, "metadata": text("legacy/request_metadata.json"),
        "cred_def": text("legacy/cred_def.json"), "link_secret": text("link_secret.txt"),
        "registry": text("legacy/rev_reg_def.json") }),
        )
        .unwrap();
    let state = ours.call("state", &json!({
        "registry": text("legacy/rev_reg_def.json"), "list": text("legacy/status_list_updated.json"), "index": 4,
        "tails": file("legacy/tails.bin"), "credential": credential, "cred_def": text("legacy/cred_def.json") })).unwrap();
    let request = json!(json!({
        "name": "q", "version": "1.0", "nonce": "1", "requested_attributes": { "n": { "name": "name" } },
        "requested_predicates": { "a": { "name": "age", "p_type": ">", "p_value": 40 } },
        "non_revoked": { "from": 1_700_086_400, "to": 1_700_086_400 } }).to_string());
    let mut arguments = known(&["legacy"]);
    arguments["request"] = request.clone();
    arguments["link_secret"] = text("link_secret.txt");
    arguments["credentials"] = json!([{
        "credential": credential, "timestamp": 1_700_086_400, "state": state, "attributes": [["n", true]],
        "predicates": ["a"] }]);
    let presentation = ours.call("present", &arguments).unwrap();
    assert_eq!(judged(request, presentation), Ok(json!(true)));
}
