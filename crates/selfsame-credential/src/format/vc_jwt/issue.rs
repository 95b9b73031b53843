//! The payload of a W3C credential of data model 2.0.

use serde_json::{Map, Value};

use crate::format::w3c::Issue;

/// VC-JOSE-COSE §3.1.1: the payload is the credential.
pub(super) fn payload(_: &Issue, credential: Map<String, Value>) -> Map<String, Value> {
    credential
}
