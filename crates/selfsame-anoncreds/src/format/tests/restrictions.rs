//! The query language: reading, writing and judging queries.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::format::*;

fn query(value: Value) -> Query {
    serde_json::from_value(value).unwrap()
}

fn refused(value: Value) -> bool {
    serde_json::from_value::<Query>(value).is_err()
}

fn eq(tag: &str, value: &str) -> Query {
    Query::Eq(tag.into(), value.into())
}

/// Judges a query for a credential whose attribute `name` is revealed and whose `age` is not.
fn judge(query: &Query) -> QueryAnswer {
    let schema = Schema {
        name: "degree".into(),
        version: "1.0".into(),
        attr_names: vec!["Name".into(), "age".into()],
        issuer_id: IssuerId::new("NcYxiDXkpYi6ov5FcYDi1e").unwrap(),
    };
    Known {
        schema_id: &SchemaId::new("did:example:schema").unwrap(),
        schema: &schema,
        schema_is_certain: true,
        definition_id: &CredentialDefinitionId::new("did:example:definition").unwrap(),
        issuer_id: &IssuerId::new("did:example:issuer").unwrap(),
        registry_id: None,
        shown: BTreeMap::from([("name".into(), "Alice")]),
    }
    .judge(query)
}

#[test]
fn both_forms_of_restrictions_are_read() {
    assert_eq!(query(json!({})), Query::And(vec![]));
    assert_eq!(query(json!([])), Query::And(vec![]));
    assert_eq!(query(json!([{}, { "a": null }])), Query::And(vec![]));
    assert_eq!(query(json!({ "a": "b" })), eq("a", "b"));
    assert_eq!(
        query(json!([{ "a": "b", "n": null }])),
        Query::Or(vec![eq("a", "b")])
    );
    assert_eq!(
        query(json!({ "a": "b", "c": { "$neq": "d" } })),
        Query::And(vec![eq("a", "b"), Query::Neq("c".into(), "d".into())])
    );
    assert_eq!(
        query(json!({ "$not": { "$or": [{ "a": "b" }] } })),
        Query::Not(Box::new(Query::Or(vec![eq("a", "b")])))
    );
    assert_eq!(query(json!({ "a": { "$eq": "b" } })), eq("a", "b"));
}

#[test]
fn what_is_no_query_is_refused() {
    for odd in [
        json!(1),
        json!("a"),
        json!({ "a": null }),
        json!({ "a": 1 }),
        json!({ "a": { "$neq": 1 } }),
        json!({ "a": { "$neq": "b", "$gt": "c" } }),
        json!({ "a": { "$huh": "b" } }),
        json!({ "a": {} }),
        json!({ "$and": {} }),
        json!({ "$or": [1] }),
        json!({ "$not": [] }),
        json!({ "a": { "$in": [1] } }),
        json!([1]),
    ] {
        assert!(refused(odd.clone()), "{odd}");
    }
}

#[test]
fn queries_that_are_too_deep_or_too_long_are_refused() {
    let deep = (0..limits::MAX_QUERY_DEPTH).fold(json!({ "a": "b" }), |q, _| json!({ "$not": q }));
    assert!(refused(deep.clone()));
    assert!(!refused(deep["$not"].clone()));
    let many = vec![json!({ "a": "b" }); limits::MAX_CLAUSES + 1];
    assert!(refused(Value::Array(many)));
}

#[test]
fn a_credential_is_judged_by_its_tags() {
    for (value, answer) in [
        (
            json!({ "schema_id": "did:example:schema" }),
            QueryAnswer::Holds,
        ),
        (
            json!({ "schema_id": "did:example:other" }),
            QueryAnswer::Fails,
        ),
        (json!({ "schema_name": "degree" }), QueryAnswer::Holds),
        (json!({ "schema_version": "2.0" }), QueryAnswer::Fails),
        (
            json!({ "cred_def_id": { "$in": ["x", "did:example:definition"] } }),
            QueryAnswer::Holds,
        ),
        (json!({ "cred_def_id": { "$in": [] } }), QueryAnswer::Fails),
        (
            json!({ "issuer_id": { "$neq": "did:example:issuer" } }),
            QueryAnswer::Fails,
        ),
        (
            json!({ "rev_reg_id": "did:example:registry" }),
            QueryAnswer::Unknown,
        ),
        (
            json!({ "schema_issuer_did": "NcYxiDXkpYi6ov5FcYDi1e" }),
            QueryAnswer::Holds,
        ),
        (json!({ "attr::name::value": "Alice" }), QueryAnswer::Holds),
        (json!({ "attr::NAME::value": "Bob" }), QueryAnswer::Fails),
        (json!({ "attr::age::marker": "1" }), QueryAnswer::Holds),
        (json!({ "attr::height::marker": "1" }), QueryAnswer::Fails),
        (json!({ "attr::age::marker": "2" }), QueryAnswer::Fails),
        (
            json!([{ "schema_name": "x" }, { "schema_name": "degree" }]),
            QueryAnswer::Holds,
        ),
    ] {
        assert_eq!(judge(&query(value.clone())), answer, "{value}");
    }
}

#[test]
fn the_old_tags_are_for_legacy_identifiers_alone() {
    assert_eq!(
        judge(&eq("issuer_did", "did:example:issuer")),
        QueryAnswer::Fails
    );
    assert_eq!(
        judge(&eq("issuer_id", "did:example:issuer")),
        QueryAnswer::Holds
    );
}

#[test]
fn what_cannot_be_judged_is_not_met_and_neither_is_its_negation() {
    for unknown in [
        json!({ "attr::age::value": "28" }),
        json!({ "attr::age": "28" }),
        json!({ "attr::age::size": "1" }),
        json!({ "colour": "red" }),
        json!({ "schema_version": { "$gt": "0.1" } }),
        json!({ "$exist": ["schema_name"] }),
    ] {
        let unknown = query(unknown);
        assert_eq!(judge(&unknown), QueryAnswer::Unknown, "{unknown:?}");
        let not = Query::Not(Box::new(unknown.clone()));
        assert_eq!(judge(&not), QueryAnswer::Unknown);
        let holds = eq("schema_name", "degree");
        assert_eq!(
            judge(&Query::Or(vec![unknown.clone(), holds.clone()])),
            QueryAnswer::Holds
        );
        assert_eq!(
            judge(&Query::And(vec![unknown, holds])),
            QueryAnswer::Unknown
        );
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-z_:]{1,8}"
}

fn queries() -> impl Strategy<Value = Query> {
    let leaf = prop_oneof![
        (text(), text()).prop_map(|(t, v)| Query::Eq(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Neq(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Gt(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Gte(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Lt(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Lte(t, v)),
        (text(), text()).prop_map(|(t, v)| Query::Like(t, v)),
        (text(), prop::collection::vec(text(), 0..4)).prop_map(|(t, v)| Query::In(t, v)),
        prop::collection::vec(text(), 1..4).prop_map(Query::Exist),
        Just(eq("schema_name", "degree")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Query::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Query::Or),
            inner.prop_map(|q| Query::Not(Box::new(q))),
        ]
    })
}

proptest! {
    #[test]
    fn a_query_that_is_written_is_read_as_it_was(q in queries()) {
        prop_assert_eq!(query(serde_json::to_value(&q).unwrap()), q);
    }

    #[test]
    fn de_morgan_holds_among_the_three_answers(a in queries(), b in queries()) {
        let not = |q: Query| Query::Not(Box::new(q));
        let left = judge(&not(Query::And(vec![a.clone(), b.clone()])));
        prop_assert_eq!(left, judge(&Query::Or(vec![not(a), not(b)])));
    }

    #[test]
    fn adding_an_alternative_never_spoils_what_holds(a in queries(), b in queries()) {
        if judge(&a) == QueryAnswer::Holds {
            prop_assert_eq!(judge(&Query::Or(vec![b, a])), QueryAnswer::Holds);
        }
    }

    #[test]
    fn no_json_makes_the_reader_stumble(text in "[\\[\\]{}:,\"a$norit0-9 ]{0,60}") {
        let _ = PresentationRequest::from_json(text.as_bytes());
    }
}
