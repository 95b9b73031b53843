//! The payload of a presentation of a W3C credential of data model 2.0.

use serde_json::{Map, Value, json};

use crate::{
    format::w3c::Present,
    w3c::{ENVELOPE, Model},
};

/// VC-JOSE-COSE §3.1.2: the payload is the presentation; the credential is enveloped (VCDM 2.0 §4.13).
pub(super) fn payload(present: &Present, mut vp: Map<String, Value>) -> Map<String, Value> {
    let enveloped = json!({
        "@context": [Model::V2.base_context()],
        "type": ["EnvelopedVerifiableCredential"],
        "id": format!("{ENVELOPE}{}", present.credential),
    });
    vp.insert("verifiableCredential".to_owned(), json!([enveloped]));
    vp
}
