//! The payload of a presentation of a W3C credential of data model 1.1.

use serde_json::{Map, Value, json};

use crate::format::w3c::Present;

/// VCDM 1.1 §6.3.1: the presentation is in the claim `vp`.
pub(super) fn payload(present: &Present, mut vp: Map<String, Value>) -> Map<String, Value> {
    vp.insert(
        "verifiableCredential".to_owned(),
        json!([present.credential]),
    );
    Map::from_iter([("vp".to_owned(), Value::Object(vp))])
}
