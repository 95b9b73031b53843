//! The payload of a W3C credential of data model 1.1.

use serde_json::{Map, Value};

use crate::format::w3c::Issue;

/// VCDM 1.1 §6.3.1.1: the registered claims repeat members of the credential.
pub(super) fn payload(issue: &Issue, credential: Map<String, Value>) -> Map<String, Value> {
    let mut payload = Map::new();
    let mut set = |name: &str, value: Value| payload.insert(name.to_owned(), value);
    set("iss", Value::from(issue.issuer.as_str()));
    set("nbf", Value::from(issue.valid_from.0));
    if let Some(time) = issue.valid_until {
        set("exp", Value::from(time.0));
    }
    if let Some(subject) = &issue.subject {
        set("sub", Value::from(subject.as_str()));
    }
    if let Some(id) = &issue.id {
        set("jti", Value::from(id.as_str()));
    }
    set("vc", Value::Object(credential));
    payload
}
