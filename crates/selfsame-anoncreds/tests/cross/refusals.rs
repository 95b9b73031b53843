//! Invalid steps, although each of their messages is well formed.

use serde_json::{Value, json};

/// A step that must be refused, and why.
pub struct Nonsense {
    pub why: &'static str,
    pub call: &'static str,
    pub arguments: Value,
}

/// The arguments of valid steps, from which invalid ones are made.
pub struct Good<'a> {
    pub asking: &'a Value,
    pub issuing: &'a Value,
    pub processing: &'a Value,
    pub witness: &'a Value,
    pub updating: &'a Value,
    pub presenting: &'a Value,
    pub judging: &'a Value,
    /// Another issuer's definition, with its offer.
    pub other_cred_def: &'a Value,
    pub other_link_secret: &'a Value,
}

/// Invalid steps of each kind.
pub fn nonsense(good: &Good<'_>) -> Vec<Nonsense> {
    let mut all = issuance(good);
    all.extend(revocation(good));
    all.extend(presentation(good));
    all.extend(verification(good));
    all
}

fn with(arguments: &Value, path: &str, value: Value) -> Value {
    let mut changed = arguments.clone();
    *changed
        .pointer_mut(path)
        .unwrap_or_else(|| panic!("{path} is in {arguments:#}")) = value;
    changed
}

fn request_with(arguments: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut request: Value = serde_json::from_str(arguments["request"].as_str().unwrap()).unwrap();
    change(&mut request);
    with(arguments, "/request", json!(request.to_string()))
}

fn issuance(good: &Good<'_>) -> Vec<Nonsense> {
    let refuse = |why, call, arguments| Nonsense {
        why,
        call,
        arguments,
    };
    let mut anonymous = good.asking.clone();
    anonymous["entropy"] = Value::Null;
    anonymous["prover_did"] = Value::Null;
    let mut fewer = good.issuing.clone();
    let name = fewer["values"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    fewer["values"].as_object_mut().unwrap().remove(&name);
    let mut more = good.issuing.clone();
    more["values"]["one more"] = json!("1");
    vec![
        refuse("a request without a holder", "request", anonymous),
        refuse(
            "a request under another definition than offered",
            "request",
            with(good.asking, "/cred_def", good.other_cred_def.clone()),
        ),
        refuse(
            "a link secret that is no number",
            "request",
            with(good.asking, "/link_secret", json!("secret")),
        ),
        refuse("a value is missing", "issue", fewer),
        refuse("a value too many", "issue", more),
        refuse(
            "the definition is another's",
            "issue",
            with(good.issuing, "/cred_def", good.other_cred_def.clone()),
        ),
        refuse(
            "place 0",
            "issue",
            with(good.issuing, "/revocation/index", json!(0)),
        ),
        refuse(
            "a place outside of the registry",
            "issue",
            with(good.issuing, "/revocation/index", json!(4)),
        ),
        refuse(
            "another's link secret",
            "process",
            with(
                good.processing,
                "/link_secret",
                good.other_link_secret.clone(),
            ),
        ),
        refuse(
            "the definition is another's",
            "process",
            with(good.processing, "/cred_def", good.other_cred_def.clone()),
        ),
        refuse(
            "no registry for a revocable credential",
            "process",
            with(good.processing, "/registry", Value::Null),
        ),
    ]
}

fn revocation(good: &Good<'_>) -> Vec<Nonsense> {
    let refuse = |why, call, arguments| Nonsense {
        why,
        call,
        arguments,
    };
    vec![
        refuse(
            "no tails file",
            "state",
            with(good.witness, "/tails", json!("/nonexistent/tails")),
        ),
        refuse(
            "revokes a place outside of the registry",
            "update_status_list",
            with(good.updating, "/revoked", json!([5])),
        ),
    ]
}

fn presentation(good: &Good<'_>) -> Vec<Nonsense> {
    let refuse = |why, arguments| Nonsense {
        why,
        call: "present",
        arguments,
    };
    let false_predicate = |bound: i32| {
        request_with(good.presenting, |request| {
            request["requested_predicates"]["p"]["p_value"] = json!(bound);
        })
    };
    let unknown = request_with(good.presenting, |request| {
        request["requested_attributes"]["a"]["name"] = json!("no such attribute");
    });
    vec![
        refuse("a predicate that is not true", false_predicate(100)),
        refuse(
            "a predicate that is not true by far",
            false_predicate(i32::MAX),
        ),
        refuse("an attribute the credential has not", unknown),
        refuse(
            "a definition is missing",
            with(good.presenting, "/cred_defs", json!({})),
        ),
        refuse(
            "a referent that was not requested",
            with(
                good.presenting,
                "/credentials/0/attributes",
                json!([["b", true]]),
            ),
        ),
        refuse(
            "nothing is chosen",
            with(good.presenting, "/credentials", json!([])),
        ),
    ]
}

fn verification(good: &Good<'_>) -> Vec<Nonsense> {
    let refuse = |why, arguments| Nonsense {
        why,
        call: "verify",
        arguments,
    };
    let asked = |change: fn(&mut Value)| request_with(good.judging, change);
    vec![
        refuse(
            "another nonce",
            asked(|request| request["nonce"] = json!("987654321")),
        ),
        refuse(
            "one attribute more is asked for",
            asked(|request| request["requested_attributes"]["more"] = json!({ "name": "x" })),
        ),
        refuse(
            "one predicate more is asked for",
            asked(|request| {
                request["requested_predicates"]["q"] = request["requested_predicates"]["p"].clone();
                request["requested_predicates"]["q"]["p_value"] = json!(1);
            }),
        ),
        refuse(
            "less is asked for than shown",
            asked(|request| request["requested_predicates"] = json!({})),
        ),
        refuse(
            "a stronger predicate is asked for",
            asked(|request| request["requested_predicates"]["p"]["p_value"] = json!(8)),
        ),
        refuse(
            "another kind of predicate is asked for",
            asked(|request| request["requested_predicates"]["p"]["p_type"] = json!("<=")),
        ),
        refuse(
            "another attribute is asked for",
            asked(|request| request["requested_attributes"]["a"]["name"] = json!("score")),
        ),
        refuse(
            "the restriction is not met",
            asked(|request| {
                request["requested_attributes"]["a"]["restrictions"] =
                    json!([{ "cred_def_id": "did:web:other.example/c" }])
            }),
        ),
        refuse(
            "the interval ends before",
            asked(|request| request["non_revoked"] = json!({ "from": 1, "to": 2 })),
        ),
        refuse(
            "the interval begins after",
            asked(|request| request["non_revoked"] = json!({ "from": 1_000_000, "to": 2_000_000 })),
        ),
        refuse("no definition", with(good.judging, "/cred_defs", json!({}))),
        refuse("no schema", with(good.judging, "/schemas", json!({}))),
        refuse("no registry", with(good.judging, "/registries", json!({}))),
        refuse("no list", with(good.judging, "/lists", json!([]))),
    ]
}
