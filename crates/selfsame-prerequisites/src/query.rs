//! The DCQL query that asks a wallet for needed credentials (OpenID4VP 1.0 §6).

use serde_json::{Value, json};

use crate::model::{Prerequisite, Prerequisites};

/// The query, for credentials of this format, whose types are SD-JWT VC types. It asks for the claims that conditions look at and fills take, and for nothing else. The
/// declaration names types by `vct_values` alone.
#[must_use]
pub fn query(declared: &Prerequisites, format: &str) -> Value {
    let credentials = declared
        .needs
        .iter()
        .map(|need| credential(declared, need, format));
    let mut query = json!({"credentials": credentials.collect::<Vec<_>>()});
    if let Some(members) = query.as_object_mut()
        && !declared.options.is_empty()
    {
        let sets = json!([{"options": declared.options}]);
        members.insert("credential_sets".to_owned(), sets);
    }
    query
}

fn credential(declared: &Prerequisites, need: &Prerequisite, format: &str) -> Value {
    let paths = declared.looked_at(&need.name);
    let optional = declared.optional(&need.name);
    let mut sets = [Vec::new(), Vec::new()];
    let mut claims = Vec::with_capacity(paths.len());
    for (number, path) in paths.into_iter().enumerate() {
        let id = format!("c{number}");
        if optional.is_empty() {
            claims.push(json!({"path": path}));
            continue;
        }
        let [all, needed] = &mut sets;
        all.push(id.clone());
        if !optional.contains(path) {
            needed.push(id.clone());
        }
        claims.push(json!({"id": id, "path": path}));
    }
    let mut credential = json!({
        "id": need.name,
        "format": format,
        "meta": {"vct_values": need.vct_values},
    });
    if let Some(members) = credential.as_object_mut()
        && !claims.is_empty()
    {
        members.insert("claims".to_owned(), Value::Array(claims));
    }
    // OpenID4VP 1.0 §6.4.1: the wallet takes the first set that the credential can satisfy.
    if let Some(members) = credential.as_object_mut()
        && sets.iter().all(|set| !set.is_empty())
    {
        members.insert("claim_sets".to_owned(), json!(sets));
    }
    credential
}
