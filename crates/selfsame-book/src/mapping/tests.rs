use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::facts::TopicKey;

fn registration() -> BookMapping {
    serde_json::from_value(json!({
        "topic": {"type": "registration.registries.ca", "source_id": ["registration_id"]},
        "names": [
            {"type": "entity_name", "claim": ["entity_name"]},
            {"type": "entity_name_assumed", "claim": ["assumed", "name"]}
        ],
        "addresses": [{"civic_address": [["line_1"], ["line_2"]], "city": ["city"], "country": ["country"]}],
        "attributes": [{"type": "entity_type", "claim": ["entity_type"], "facet": true}],
        "relationships": [{"relation": "owned by", "type": "registration.registries.ca", "source_id": ["owner"]}],
        "cardinality": [["entity_type"], ["city"]],
        "effective_date": ["effective_date"],
        "inactive": {"claim": ["entity_status"], "values": ["HIS"]}
    }))
    .unwrap()
}

fn claims(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn claims_become_facts() {
    let facts = registration().facts(&claims(json!({
        "registration_id": " BC0123456 ",
        "entity_name": "Blue\n Whale  Ltd.",
        "assumed": {"name": "Whale"},
        "line_1": "1 Main St", "line_2": "", "city": "Victoria",
        "entity_type": "BC", "owner": 77, "effective_date": "1911-03-01", "entity_status": "HIS"
    })));
    let facts = facts.unwrap();
    let key = |source_id: &str| TopicKey {
        kind: "registration.registries.ca".to_owned(),
        source_id: source_id.to_owned(),
    };
    assert_eq!(facts.topic, key("BC0123456"));
    assert_eq!(facts.names[0].text, "Blue Whale Ltd.");
    assert_eq!(facts.names[1].kind, "entity_name_assumed");
    assert_eq!(facts.addresses[0].line(), "1 Main St, Victoria");
    assert!(facts.attributes[0].is_facet && facts.attributes[0].value == "BC");
    assert_eq!(facts.related[0].topic, key("77"));
    assert_eq!(facts.cardinality, r#"["BC","Victoria"]"#);
    assert_eq!(facts.effective, Some(-1_856_822_400));
    assert!(facts.inactive && facts.founds);
}

#[test]
fn a_credential_about_no_topic_or_with_facts_of_another_form_is_no_entry() {
    for (wrong, misfit) in [
        (json!({}), Misfit::SourceId),
        (json!({"registration_id": ""}), Misfit::SourceId),
        (json!({"registration_id": "  "}), Misfit::SourceId),
        (json!({"registration_id": null}), Misfit::SourceId),
        (json!({"registration_id": 1.5}), Misfit::SourceId),
        (json!({"registration_id": ["BC1"]}), Misfit::SourceId),
        (json!({"registration_id": "a\u{0}b"}), Misfit::SourceId),
        (
            json!({"registration_id": "x".repeat(201)}),
            Misfit::SourceId,
        ),
        (
            json!({"registration_id": "1", "entity_name": {}}),
            Misfit::Text,
        ),
        (
            json!({"registration_id": "1", "effective_date": "yesterday"}),
            Misfit::Date,
        ),
    ] {
        assert_eq!(
            registration().facts(&claims(wrong.clone())),
            Err(misfit),
            "{wrong}"
        );
    }
}

#[test]
fn values_that_look_alike_when_they_are_joined_are_told_apart() {
    let of = |kind: &str, city: &str| {
        let claims = claims(json!({"registration_id": "1", "entity_type": kind, "city": city}));
        registration().facts(&claims).unwrap().cardinality
    };
    assert_ne!(of("a,b", "c"), of("a", "b,c"));
    assert_ne!(of("a\",\"b", "c"), of("a", "b\",\"c"));
}

#[test]
fn a_mapping_follows_claims_that_are_named_otherwise() {
    let name = |names: &[&str]| {
        names
            .iter()
            .map(|one| (*one).to_owned())
            .collect::<Vec<_>>()
    };
    let mut mapping = registration();
    let now = [
        (name(&["registration_id"]), name(&["number"])),
        (name(&["assumed"]), name(&["other", "names"])),
    ];
    mapping.follow(&now.into());
    assert_eq!(mapping.topic.source_id, name(&["number"]));
    assert_eq!(mapping.names[1].claim, name(&["other", "names", "name"]));
    let before = registration();
    assert_eq!(before.claims().len(), mapping.claims().len());
    let kept = before.claims().into_iter().zip(mapping.claims());
    let changed = kept.filter(|((_, old), (_, new))| old != new).count();
    assert_eq!(changed, 2);
}

proptest! {
    #[test]
    fn facts_are_bounded_and_one_line(name in any::<String>(), id in "[A-Z0-9]{1,12}") {
        let facts = registration().facts(&claims(json!({"registration_id": id, "entity_name": name}))).unwrap();
        for fact in &facts.names {
            prop_assert!(fact.text.chars().count() <= 500);
            prop_assert!(!fact.text.chars().any(char::is_control));
        }
    }
}

#[test]
fn a_reader_sees_the_claims_that_the_mapping_names_and_no_others() {
    let all = claims(json!({
        "registration_id": "1", "assumed": {"name": "Whale", "since": 1990}, "director": "Ada", "city": null
    }));
    let shown = Value::from(registration().shown(&all));
    assert_eq!(
        shown,
        json!({"registration_id": "1", "assumed.name": "Whale"})
    );
    let kept = registration().only(&all);
    assert_eq!(
        Value::from(kept.clone()),
        json!({"registration_id": "1", "assumed": {"name": "Whale"}})
    );
    let (of_kept, of_all) = (registration().facts(&kept), registration().facts(&all));
    assert_eq!(of_kept, of_all);
}
