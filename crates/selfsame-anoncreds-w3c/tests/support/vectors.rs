//! The samples as texts and trees.

use std::collections::BTreeMap;
use std::path::PathBuf;

use selfsame_anoncreds_w3c::Error;
use selfsame_anoncreds_w3c::presentation::{OwnPresentation, ToRead, from_w3c};
use serde_json::{Map, Value, json};

/// The names of the presentations.
pub const PRESENTATIONS: [&str; 2] = ["predicate", "two_credentials"];

pub fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/anoncreds");
    std::fs::read_to_string(PathBuf::from(folder).join(name)).unwrap()
}

pub fn tree(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// The issuer of each credential definition.
pub fn issuers() -> BTreeMap<String, String> {
    let issuer = |flow: &str| {
        let id = tree(&format!("{flow}/offer.json"))["cred_def_id"].clone();
        let issuer = tree(&format!("{flow}/cred_def.json"))["issuerId"].clone();
        let text = |value: Value| value.as_str().unwrap().to_owned();
        (text(id), text(issuer))
    };
    ["legacy", "qualified"].into_iter().map(issuer).collect()
}

/// The own form of a presentation that answers the request of this sample.
pub fn read(name: &str, presentation: &Value) -> Result<OwnPresentation, Error> {
    let request = text(&format!("w3c/{name}.request.json"));
    let places = [
        ("card_attribute", 0),
        ("card_predicate_0", 0),
        ("home_attribute", 1),
    ];
    let places = places.map(|(referent, place)| (referent.to_owned(), place));
    from_w3c(&ToRead {
        request: request.as_bytes(),
        presentation,
        places: &places.into_iter().collect(),
    })
}

/// What a verifier of the request of this sample is given.
pub fn judged(name: &str, presentation: &[u8]) -> Value {
    let (mut schemas, mut cred_defs) = (Map::new(), Map::new());
    for flow in ["legacy", "qualified"] {
        let offer = tree(&format!("{flow}/offer.json"));
        let id = |name: &str| offer[name].as_str().unwrap().to_owned();
        schemas.insert(id("schema_id"), json!(text(&format!("{flow}/schema.json"))));
        cred_defs.insert(
            id("cred_def_id"),
            json!(text(&format!("{flow}/cred_def.json"))),
        );
    }
    let registry = tree("legacy/status_list.json")["revRegDefId"].clone();
    json!({
        "schemas": schemas,
        "cred_defs": cred_defs,
        "request": text(&format!("w3c/{name}.request.json")),
        "presentation": String::from_utf8(presentation.to_vec()).unwrap(),
        "registries": { registry.as_str().unwrap(): text("legacy/rev_reg_def.json") },
        "lists": [text("legacy/status_list.json")],
    })
}
