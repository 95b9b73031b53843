//! Status lists (Token Status List, Bitstring Status List).

use selfsame_crypto::jws::Header;
use selfsame_crypto::time::UnixTime;
use selfsame_status::{List, StatusError, Value as Status};
use serde_json::{Map, Value, json};

use crate::header::header;
use crate::{ShownFile, ShownProblem};

/// The difference between clocks that is tolerated, in seconds.
const LEEWAY: u64 = 60;
/// Entries that are counted: all of the longest list with one bit each.
const COUNTED_MAX: u64 = 16_777_216;

/// The status list of a JWT, if it is one.
pub fn explain(token: &str, head: &Header, claims: &Value, now: UnixTime) -> Option<ShownFile> {
    let is_token_list = head.is_of_type("statuslist+jwt") || claims.get("status_list").is_some();
    let types = claims.get("type").and_then(Value::as_array);
    let is_bitstring = types.is_some_and(|types| {
        let mut types = types.iter();
        types.any(|one| one == "BitstringStatusListCredential")
    });
    let (uri, paragraph) = match (is_token_list, is_bitstring) {
        (true, _) => (claims.get("sub"), "Token Status List §5.1"),
        (_, true) => (claims.get("id"), "Bitstring Status List §2.2"),
        _ => return None,
    };
    let uri = uri.and_then(Value::as_str).unwrap_or_default();
    let mut facts = json!({"header": header(head), "claims": without_list(claims)});
    let problems = match List::reread(uri, token) {
        Ok(list) => {
            if let Some(members) = facts.as_object_mut() {
                members.insert("entries".to_owned(), list.len().into());
                members.insert("other_than_valid".to_owned(), counted(&list));
            }
            let current = list.is_current(now, LEEWAY).err();
            let problem = current.map(|error| ShownProblem::new(error.to_string(), paragraph));
            problem.into_iter().collect()
        }
        Err(error) => vec![ShownProblem::new(
            error.to_string(),
            match error {
                StatusError::TooShort => "Bitstring Status List §3.2",
                StatusError::Compression => "Token Status List §4.1",
                _ => paragraph,
            },
        )],
    };
    Some(ShownFile::of("status-list", "Status list", facts).with(problems))
}

/// The claims without the compressed list, which is not for people.
fn without_list(claims: &Value) -> Value {
    let mut claims = claims.clone();
    for pointer in ["/status_list", "/credentialSubject"] {
        if let Some(list) = claims.pointer_mut(pointer).and_then(Value::as_object_mut) {
            list.remove("lst");
            list.remove("encodedList");
        }
    }
    claims
}

/// How many entries have each status other than valid.
fn counted(list: &List) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for index in 0..list.len().min(COUNTED_MAX) {
        let name = match list.get(index) {
            Ok(Status::Valid) | Err(_) => continue,
            Ok(Status::Invalid) => "revoked".to_owned(),
            Ok(Status::Suspended) => "suspended".to_owned(),
            Ok(Status::Other(value)) => value.to_string(),
        };
        let count = counts.get(&name).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(name, count.saturating_add(1).into());
    }
    Value::Object(counts)
}
