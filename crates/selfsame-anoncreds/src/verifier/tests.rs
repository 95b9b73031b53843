//! The verifier with the samples of the published library, and with presentations that do not match the request.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::format::{Credential, IssuerId, Message, RevocationState};
use crate::testing::{
    World, change, chosen, known, leaves, present, reason, request, sample, verdict, worlds,
};
use crate::verdict::{AnswerKind, Outcome};

const NAMES: [&str; 5] = [
    "non_revoked",
    "predicates",
    "revealed",
    "two_credentials",
    "unrevealed_group_self_attested",
];

fn asked(name: &str) -> PresentationRequest {
    sample(&format!("presentations/{name}.request.json"))
}

fn given(name: &str) -> Presentation {
    sample(&format!("presentations/{name}.json"))
}

/// The verdict on a sample with one member of its presentation changed.
fn altered(name: &str, alter: impl FnOnce(&mut Value)) -> (Outcome, &'static str) {
    let worlds = worlds();
    let mut value = serde_json::to_value(given(name)).unwrap();
    alter(&mut value);
    match Presentation::from_json(value.to_string().as_bytes()) {
        Ok(presentation) => reason(&verdict(&presentation, &asked(name), &known(&worlds))),
        Err(_) => (Outcome::Invalid, "malformed"),
    }
}

#[test]
fn presentations_of_the_published_library_are_valid() {
    let worlds = worlds();
    for name in NAMES {
        let verdict = verdict(&given(name), &asked(name), &known(&worlds));
        assert_eq!(
            reason(&verdict),
            (Outcome::Valid, ""),
            "{name}: {:?}",
            verdict.verdict.rules
        );
        let request = asked(name);
        let referents = request.requested_attributes.len() + request.requested_predicates.len();
        assert_eq!(verdict.answers.len(), referents);
    }
}

#[test]
fn the_table_says_what_is_proven_of_what_and_as_of_when() {
    let worlds = worlds();
    let name = "two_credentials";
    let verdict = verdict(&given(name), &asked(name), &known(&worlds));
    let kinds: Vec<_> = verdict
        .answers
        .iter()
        .map(|a| (a.referent.as_str(), a.answer))
        .collect();
    let predicate = AnswerKind::Predicate {
        comparison: crate::format::Comparison::AtLeast,
        bound: 18,
    };
    let revealed = AnswerKind::Revealed;
    assert_eq!(
        kinds,
        [("city", revealed), ("name", revealed), ("age", predicate)]
    );
    let age = verdict.answers[2].credential.as_ref().unwrap();
    let state = age.not_revoked.as_ref().unwrap();
    assert_eq!(state.as_of, 1_700_086_400);
    assert_eq!(state.interval.unwrap().from, Some(1_700_000_000));
    let city = verdict.answers[0].credential.as_ref().unwrap();
    assert_eq!(city.issuer_id.as_str(), "did:example:issuer");
    assert_eq!(city.not_revoked, None);
    assert!(
        verdict
            .verdict
            .rules
            .iter()
            .all(|rule| rule.passed == Some(true))
    );
}

#[test]
fn another_nonce_is_another_proof() {
    let worlds = worlds();
    let mut request = asked("revealed");
    request.nonce = generate_nonce(&crate::testing::ctx(1));
    let verdict = verdict(&given("revealed"), &request, &known(&worlds));
    assert_eq!(reason(&verdict), (Outcome::Invalid, "proof"));
}

#[test]
fn a_proof_of_another_predicate_is_not_what_was_asked() {
    let worlds = worlds();
    for (member, value) in [
        ("p_value", json!(29)),
        ("p_type", json!("<=")),
        ("name", json!("height")),
    ] {
        let mut value_of = serde_json::to_value(asked("predicates")).unwrap();
        value_of["requested_predicates"]["age >="][member] = value;
        let request = PresentationRequest::from_json(value_of.to_string().as_bytes()).unwrap();
        let verdict = verdict(&given("predicates"), &request, &known(&worlds));
        assert_eq!(reason(&verdict), (Outcome::Invalid, "proven"), "{member}");
    }
}

#[test]
fn a_value_is_shown_as_it_was_signed() {
    let shown = |member: &str, value: &str| {
        altered("revealed", |v| {
            v["requested_proof"]["revealed_attrs"]["age"][member] = value.into()
        })
    };
    assert_eq!(shown("encoded", "29"), (Outcome::Invalid, "values"));
    assert_eq!(shown("raw", "29"), (Outcome::Invalid, "encoding"));
    assert_eq!(shown("encoded", "028"), (Outcome::Invalid, "values"));
    assert_eq!(shown("encoded", "-28"), (Outcome::Invalid, "values"));
    assert_eq!(shown("raw", "028"), (Outcome::Valid, ""));
    let worlds = worlds();
    let mut lax = given("revealed");
    lax.requested_proof
        .revealed_attrs
        .get_mut("age")
        .unwrap()
        .raw = "old".into();
    let policy = Policy {
        encoding: Encoding::OfTheIssuer,
        ..Policy::default()
    };
    let verdict = verify_presentation(&lax, &asked("revealed"), &known(&worlds), &policy);
    assert_eq!(verdict.verdict.outcome, Outcome::Valid);
}

#[test]
fn answers_are_those_to_the_questions() {
    let proof = "requested_proof";
    let name = "unrevealed_group_self_attested";
    for (what, refused) in [
        ("self_attested_attrs", json!({})),
        ("self_attested_attrs", json!({ "phone": "1", "more": "2" })),
        ("unrevealed_attrs", json!({})),
        ("revealed_attr_groups", json!({})),
        ("predicates", json!({ "p": { "sub_proof_index": 0 } })),
    ] {
        let verdict = altered(name, |v| v[proof][what] = refused.clone());
        assert_eq!(verdict, (Outcome::Invalid, "answers"), "{what} {refused}");
    }
    let moved = altered(name, |v| {
        let group = v[proof]["revealed_attr_groups"]["group"]["values"]
            .as_object_mut()
            .unwrap();
        let degree = group.remove("degree").unwrap();
        group.insert("name".into(), degree);
    });
    assert_eq!(moved, (Outcome::Invalid, "answers"));
    let attested = altered("revealed", |v| {
        v[proof]["revealed_attrs"]
            .as_object_mut()
            .unwrap()
            .remove("name");
        v[proof]["self_attested_attrs"] = json!({ "name": "me" });
    });
    assert_eq!(attested, (Outcome::Invalid, "self_attested"));
}

#[test]
fn missing_evidence_is_said_and_not_taken_for_forgery() {
    let worlds = worlds();
    let name = "two_credentials";
    type Without = fn(&mut KnownObjects<'_>);
    let cases: [(Without, &str); 4] = [
        (|e| e.schemas.clear(), "evidence"),
        (|e| e.definitions.clear(), "evidence"),
        (|e| e.registries.clear(), "evidence"),
        (|e| e.lists.clear(), "non_revocation"),
    ];
    for (without, rule) in cases {
        let mut known = known(&worlds);
        without(&mut known);
        let verdict = verdict(&given(name), &asked(name), &known);
        assert_eq!(reason(&verdict), (Outcome::Unverifiable, rule));
        assert!(verdict.answers.is_empty());
    }
}

#[test]
fn a_credential_is_of_the_schema_and_definition_it_names() {
    let other = altered("revealed", |v| {
        v["identifiers"][0]["schema_id"] = "did:example:issuer/schema/1".into();
    });
    assert_eq!(other, (Outcome::Invalid, "evidence"));
    let registry = altered("two_credentials", |v| {
        let id = v["identifiers"][0]["rev_reg_id"].clone();
        v["identifiers"][1]["rev_reg_id"] = id;
    });
    assert_eq!(registry, (Outcome::Invalid, "evidence"));
}

#[test]
fn restrictions_are_met() {
    let worlds = worlds();
    let given = given("unrevealed_group_self_attested");
    for (restrictions, valid) in [
        (json!([{ "schema_name": "degree" }]), true),
        (json!([{ "schema_name": "other" }]), false),
        (json!([{ "attr::degree::value": "Maths" }]), true),
        (json!([{ "attr::degree::value": "Law" }]), false),
        // The credential has the attribute but does not reveal it, so the restriction cannot be judged.
        (json!([{ "attr::age::value": "28" }]), false),
        (json!([{ "attr::age::marker": "1" }]), true),
        (json!({ "$not": { "colour": "red" } }), false),
    ] {
        let mut request = serde_json::to_value(asked("unrevealed_group_self_attested")).unwrap();
        request["requested_attributes"]["group"]["restrictions"] = restrictions.clone();
        let request = PresentationRequest::from_json(request.to_string().as_bytes()).unwrap();
        let verdict = verdict(&given, &request, &known(&worlds));
        let expected = if valid {
            (Outcome::Valid, "")
        } else {
            (Outcome::Invalid, "restrictions")
        };
        assert_eq!(reason(&verdict), expected, "{restrictions}");
    }
}

/// The rules' outcome for a sample in whose request one referent is restricted to this registry.
fn within_registry(name: &str, referent: &str, registry: &str) -> (Outcome, &'static str) {
    let worlds = worlds();
    let mut given = serde_json::to_value(given(name)).unwrap();
    given["identifiers"][0]["rev_reg_id"] = registry.into();
    let given = Presentation::from_json(given.to_string().as_bytes()).unwrap();
    let mut request = serde_json::to_value(asked(name)).unwrap();
    let restriction = json!({ "rev_reg_id": registry });
    request["requested_attributes"][referent]["restrictions"] = restriction;
    let request = PresentationRequest::from_json(request.to_string().as_bytes()).unwrap();
    reason(&verdict(&given, &request, &known(&worlds)))
}

#[test]
fn a_registry_that_is_named_without_a_proof_meets_no_restriction() {
    let registry = given("non_revoked").identifiers[0].rev_reg_id.clone();
    let registry = registry.unwrap().to_string();
    let referent = |name| {
        asked(name)
            .requested_attributes
            .keys()
            .next()
            .cloned()
            .unwrap()
    };
    let proven = within_registry("non_revoked", &referent("non_revoked"), &registry);
    assert_eq!(proven, (Outcome::Valid, ""));
    let claimed = within_registry("revealed", &referent("revealed"), &registry);
    assert_eq!(claimed, (Outcome::Invalid, "restrictions"));
}

#[test]
fn a_raw_value_that_nothing_ties_to_the_proof_meets_no_restriction() {
    let worlds = worlds();
    let mut request = serde_json::to_value(asked("revealed")).unwrap();
    request["requested_attributes"]["age"]["restrictions"] = json!({ "attr::age::value": "28" });
    let request = PresentationRequest::from_json(request.to_string().as_bytes()).unwrap();
    let outcome = |encoding| {
        let policy = Policy {
            encoding,
            ..Policy::default()
        };
        let verdict = verify_presentation(&given("revealed"), &request, &known(&worlds), &policy);
        reason(&verdict)
    };
    assert_eq!(outcome(Encoding::Recommended), (Outcome::Valid, ""));
    let lax = outcome(Encoding::OfTheIssuer);
    assert_eq!(lax, (Outcome::Invalid, "restrictions"));
}

#[test]
fn non_revocation_is_proven_where_it_is_asked_for() {
    let name = "non_revoked";
    let stripped = altered(name, |v| {
        v["proof"]["proofs"][0]["non_revoc_proof"] = Value::Null
    });
    assert_eq!(stripped, (Outcome::Invalid, "non_revocation"));
    let left_out = altered(name, |v| {
        v["proof"]["proofs"][0]["non_revoc_proof"] = Value::Null;
        v["identifiers"][0]["rev_reg_id"] = Value::Null;
        v["identifiers"][0]["timestamp"] = Value::Null;
    });
    assert_eq!(left_out, (Outcome::Invalid, "non_revocation"));
    let unnamed = altered(name, |v| {
        v["proof"]["proofs"][0]["non_revoc_proof"] = Value::Null;
        v["identifiers"][0]["rev_reg_id"] = Value::Null;
    });
    assert_eq!(unnamed, (Outcome::Invalid, "evidence"));
    let undated = altered(name, |v| {
        v["proof"]["proofs"][0]["non_revoc_proof"] = Value::Null;
        v["identifiers"][0]["timestamp"] = Value::Null;
    });
    assert_eq!(undated, (Outcome::Invalid, "non_revocation"));
    let later = altered(name, |v| {
        v["identifiers"][0]["timestamp"] = 1_700_086_400.into()
    });
    assert_eq!(later, (Outcome::Invalid, "non_revocation"));
    let without = altered(name, |v| v["identifiers"][0]["rev_reg_id"] = Value::Null);
    assert_eq!(without, (Outcome::Invalid, "evidence"));
}

#[test]
fn a_registry_that_somebody_else_publishes_for_a_definition_does_not_count() {
    let mut worlds = worlds();
    let other = IssuerId::new("did:example:somebody").unwrap();
    worlds[0].registry.as_mut().unwrap().issuer_id = other.clone();
    for list in &mut worlds[0].lists {
        list.issuer_id = other.clone();
    }
    // The key and the accumulators are the true ones here. A publisher who chooses others can let a revoked credential
    // pass.
    let verdict = verdict(
        &given("non_revoked"),
        &asked("non_revoked"),
        &known(&worlds),
    );
    assert_eq!(reason(&verdict), (Outcome::Invalid, "evidence"));
}

#[test]
fn the_requests_interval_holds_for_each_referent_that_names_none_of_its_own() {
    let worlds = worlds();
    let mut value = serde_json::to_value(asked("non_revoked")).unwrap();
    // The same credential answers, proven as of 1700000000.
    let name = value["requested_attributes"]["name"].clone();
    value["requested_attributes"]["again"] = name;
    let mut shown = serde_json::to_value(given("non_revoked")).unwrap();
    let answer = shown["requested_proof"]["revealed_attrs"]["name"].clone();
    shown["requested_proof"]["revealed_attrs"]["again"] = answer;
    let shown = Presentation::from_json(shown.to_string().as_bytes()).unwrap();
    let mut judged = |own: Value, everywhere: Value| {
        value["requested_attributes"]["name"]["non_revoked"] = own;
        value["non_revoked"] = everywhere;
        let request = PresentationRequest::from_json(value.to_string().as_bytes()).unwrap();
        reason(&verdict(&shown, &request, &known(&worlds)))
    };
    let (then, later) = (
        json!({ "to": 1_700_000_000 }),
        json!({ "from": 1_700_000_001, "to": 1_700_000_002 }),
    );
    let refused = (Outcome::Invalid, "non_revocation");
    assert_eq!(judged(then.clone(), then.clone()), (Outcome::Valid, ""));
    assert_eq!(judged(then.clone(), Value::Null), (Outcome::Valid, ""));
    assert_eq!(judged(then.clone(), later.clone()), refused);
    assert_eq!(judged(later, then), refused);
}

#[test]
fn an_older_list_is_accepted_if_the_verifier_says_so() {
    let worlds = worlds();
    let mut value = serde_json::to_value(asked("non_revoked")).unwrap();
    value["non_revoked"] = json!({ "from": 1_700_000_050, "to": 1_700_000_060 });
    let request = PresentationRequest::from_json(value.to_string().as_bytes()).unwrap();
    let strict = verdict(&given("non_revoked"), &request, &known(&worlds));
    assert_eq!(reason(&strict), (Outcome::Invalid, "non_revocation"));
    let policy = Policy {
        overrides: [(
            worlds[0].registry_id(),
            [(1_700_000_050, 1_700_000_000)].into(),
        )]
        .into(),
        ..Policy::default()
    };
    let lenient = verify_presentation(&given("non_revoked"), &request, &known(&worlds), &policy);
    assert_eq!(
        lenient.verdict.outcome,
        Outcome::Valid,
        "{:?}",
        lenient.verdict.rules
    );
}

fn state(list: u64) -> RevocationState {
    let world = World::legacy();
    let credential = sample("legacy/credential_processed.json");
    let of = crate::holder::Revocable {
        credential: &credential,
        definition: world.definition(),
        registry: world.registry.as_ref().unwrap(),
        tails: &world.tails(),
    };
    crate::holder::update_revocation_state(&of, world.list_at(list), None).unwrap()
}

#[test]
fn our_own_presentations_are_valid_and_cross_as_json() {
    let worlds = worlds();
    let degree: Credential = sample("legacy/credential_processed.json");
    let city: Credential = sample("qualified/credential_processed.json");
    let request = request(json!({
        "requested_attributes": {
            "name": { "name": "Name", "restrictions": [{ "issuer_did": "NcYxiDXkpYi6ov5FcYDi1e" }] },
            "pair": { "names": ["degree", "ID number"] },
            "hidden": { "name": "city" },
        },
        "requested_predicates": {
            "tall": { "name": "height", "p_type": "<", "p_value": -100 },
            "adult": { "name": "age", "p_type": ">=", "p_value": 18 },
        },
        "non_revoked": { "from": 1_700_000_000, "to": 1_700_086_460 },
    }));
    let state = state(1_700_086_400);
    let mut first = chosen(&worlds[0], &degree, &["+name", "+pair", "tall", "adult"]);
    first.state = Some(&state);
    let chosen = [first, chosen(&worlds[1], &city, &["-hidden"])];
    let presentation = present(&request, &chosen).unwrap();
    let text = presentation.to_json().unwrap();
    let read = Presentation::from_json(text.as_bytes()).unwrap();
    assert_eq!(read, presentation);
    let verdict = verdict(&read, &request, &known(&worlds));
    assert_eq!(
        reason(&verdict),
        (Outcome::Valid, ""),
        "{:?}",
        verdict.verdict.rules
    );
    let as_of: BTreeSet<_> = verdict
        .answers
        .iter()
        .filter_map(|a| Some(a.credential.as_ref()?.not_revoked.as_ref()?.as_of))
        .collect();
    assert_eq!(as_of, [1_700_086_400].into());
}

/// A change of any number of the proof is detected.
#[test]
fn a_proof_with_one_number_changed_does_not_hold() {
    let name = "predicates";
    let paths = [
        "/proof/aggregated_proof/c_hash",
        "/proof/proofs/0/primary_proof/eq_proof/a_prime",
        "/proof/proofs/0/primary_proof/eq_proof/e",
        "/proof/proofs/0/primary_proof/eq_proof/v",
        "/proof/proofs/0/primary_proof/eq_proof/m2",
        "/proof/proofs/0/primary_proof/eq_proof/m/age",
        "/proof/proofs/0/primary_proof/eq_proof/m/master_secret",
        "/proof/proofs/0/primary_proof/ge_proofs/0/alpha",
        "/proof/proofs/0/primary_proof/ge_proofs/0/mj",
        "/proof/proofs/0/primary_proof/ge_proofs/0/u/0",
        "/proof/proofs/0/primary_proof/ge_proofs/0/r/DELTA",
        "/proof/proofs/0/primary_proof/ge_proofs/0/t/3",
    ];
    for path in paths {
        let verdict = altered(name, |v| {
            let number = v.pointer_mut(path).unwrap();
            let text = number.as_str().unwrap().to_owned();
            let last = if text.ends_with('1') { "2" } else { "1" };
            *number = format!("{}{last}", &text[..text.len() - 1]).into();
        });
        assert_eq!(verdict, (Outcome::Invalid, "proof"), "{path}");
    }
}

#[test]
fn a_revoked_credential_has_no_state_and_an_old_one_no_proof() {
    let worlds = worlds();
    let degree: Credential = sample("legacy/credential_processed.json");
    let request = request(json!({
        "requested_attributes": { "name": { "name": "name" } },
        "non_revoked": { "to": 1_700_086_460 },
    }));
    // A state of the first list, presented as one of the second.
    let mut state = state(1_700_000_000);
    state.timestamp = 1_700_086_400;
    let mut chosen = chosen(&worlds[0], &degree, &["+name"]);
    chosen.state = Some(&state);
    let presentation = present(&request, &[chosen]).unwrap();
    let verdict = verdict(&presentation, &request, &known(&worlds));
    assert_eq!(reason(&verdict), (Outcome::Invalid, "proof"));
}

/// Each member of each presentation, changed by one digit or letter.
#[test]
fn a_presentation_with_one_member_changed_is_not_valid() {
    for name in [
        "revealed",
        "non_revoked",
        "two_credentials",
        "unrevealed_group_self_attested",
    ] {
        let whole = serde_json::to_value(given(name)).unwrap();
        let accepted: Vec<_> = leaves(&whole)
            .into_iter()
            .filter(|pointer| altered(name, |v| change(v, pointer)).0 == Outcome::Valid)
            .collect();
        // No issuer signed what the holder states itself; a registry without a timestamp claims nothing if nothing is
        // requested.
        let registry = "/identifiers/0/rev_reg_id";
        let harmless: &[&str] = match name {
            "revealed" => &[registry],
            "unrevealed_group_self_attested" => {
                &[registry, "/requested_proof/self_attested_attrs/phone"]
            }
            _ => &[],
        };
        assert_eq!(accepted, harmless, "{name}");
    }
}

/// A definition from the time of Indy that names its schema by the number 42.
fn numbered(worlds: &[World]) -> crate::definition::PreparedDefinition {
    let published = worlds[0].definition().definition();
    let mut json = serde_json::to_value(published).unwrap();
    json["schemaId"] = "42".into();
    let definition = Message::from_json(json.to_string().as_bytes()).unwrap();
    crate::definition::PreparedDefinition::new(definition).unwrap()
}

#[test]
fn a_schema_that_is_named_by_a_number_meets_no_restriction_unless_the_number_is_known() {
    let worlds = worlds();
    let definition = numbered(&worlds);
    let name = "unrevealed_group_self_attested";
    let judged = |restriction: Value, number: Option<u64>| {
        let mut request = serde_json::to_value(asked(name)).unwrap();
        request["requested_attributes"]["group"]["restrictions"] = restriction;
        let request = PresentationRequest::from_json(request.to_string().as_bytes()).unwrap();
        let mut known = known(&worlds);
        known
            .definitions
            .insert(worlds[0].cred_def_id.clone(), &definition);
        let numbers = number.map(|number| (worlds[0].schema_id.clone(), number));
        known.schema_numbers = numbers.into_iter().collect();
        reason(&verdict(&given(name), &request, &known))
    };
    let (valid, unmet) = ((Outcome::Valid, ""), (Outcome::Invalid, "restrictions"));
    let schema = worlds[0].schema_id.as_str();
    for tag in [
        json!({ "schema_name": "degree" }),
        json!({ "schema_version": "1.0" }),
        json!({ "schema_id": schema }),
        json!({ "schema_issuer_did": "NcYxiDXkpYi6ov5FcYDi1e" }),
    ] {
        assert_eq!(judged(tag.clone(), None), unmet, "{tag}");
        assert_eq!(judged(tag.clone(), Some(42)), valid, "{tag}");
        let another = (Outcome::Invalid, "evidence");
        assert_eq!(judged(tag.clone(), Some(43)), another, "{tag}");
    }
    let not = json!({ "$not": { "schema_name": "other" } });
    assert_eq!(judged(not, None), unmet);
    // The definition's own properties need no number, and neither do the schema's attributes.
    let definition = json!({ "cred_def_id": worlds[0].cred_def_id.as_str() });
    assert_eq!(judged(definition, None), valid);
    assert_eq!(judged(json!({ "attr::age::marker": "1" }), None), valid);
}

#[test]
fn a_proof_of_non_revocation_of_the_indy_era_is_refused_as_that() {
    let mut value = serde_json::to_value(given("non_revoked")).unwrap();
    let list = &mut value["proof"]["proofs"][0]["non_revoc_proof"]["x_list"];
    list["m2"] = list["m"].clone();
    let refused = Presentation::from_json(value.to_string().as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("of the Indy era"), "{refused}");
}

#[test]
fn a_group_that_names_one_attribute_twice_is_not_read() {
    let mut value = serde_json::to_value(asked("unrevealed_group_self_attested")).unwrap();
    let names = &mut value["requested_attributes"]["group"]["names"];
    *names = json!(["degree", "Degree "]);
    let refused = PresentationRequest::from_json(value.to_string().as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("twice"), "{refused}");
}
