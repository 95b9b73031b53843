//! Tests of saved requests: their file, their checks, their query, and what they would show.

use proptest::prelude::*;
use selfsame_credential::Format;
use selfsame_driver::Reason;
use selfsame_openid4vc::dcql::select;
use selfsame_types::TypeSet;
use serde_json::{Value, json};

use crate::check::checked;
use crate::compile::{CompiledRequest, compile};
use crate::preview::{preview, sample_cards};
use selfsame_types::asked::check::is_name;
use selfsame_types::asked::definition::{
    AskedAlternative, AskedQuestion, RequestDefinition, RequestPolicy,
};
use selfsame_types::asked::file::{read, text};

const BASE: &str = "urn:selfsame:credential:";
const IDS: [&str; 4] = ["immunization", "allergies", "machine", "prescription"];
const FILE: &str = r#"
name = "check-in"
title = "Check-in"
purpose = "To let you in"
origins = ["https://shop.example"]

[policy]
max_status_age = 60
trusted_issuers = { immunization = ["did:web:clinic.example"] }

[[questions]]
alternatives = [
  { type = "immunization", claims = [["vaccine", "name"]] },
  { type = "allergies", formats = ["vc+jwt", "dc+sd-jwt"] },
]

[[questions]]
optional = true
alternatives = [{ type = "machine" }]
"#;

fn types() -> TypeSet {
    TypeSet::of_samples(BASE)
}

fn definition(questions: Vec<AskedQuestion>) -> RequestDefinition {
    RequestDefinition {
        questions,
        policy: RequestPolicy::default(),
        ..read(FILE).unwrap()
    }
}

fn of_query(query: Value) -> RequestDefinition {
    RequestDefinition {
        dcql_query: Some(query),
        ..definition(Vec::new())
    }
}

fn question(ids: &[&str], optional: bool) -> AskedQuestion {
    let alternative = |id: &&str| AskedAlternative {
        type_id: (*id).to_owned(),
        ..AskedAlternative::default()
    };
    AskedQuestion {
        optional,
        alternatives: ids.iter().map(alternative).collect(),
    }
}

fn compiled(definition: &RequestDefinition) -> CompiledRequest {
    checked(definition, &types()).unwrap()
}

/// The ids of the refusals, with their places.
fn refusals(definition: &RequestDefinition) -> Vec<String> {
    let told = |reason: &Reason| {
        let place = reason.parameter("place").map(ToString::to_string);
        format!("{} {}", reason.id(), place.unwrap_or_default())
    };
    let refused = checked(definition, &types()).unwrap_err();
    refused
        .iter()
        .map(|reason| told(reason).trim().to_owned())
        .collect()
}

#[test]
fn alternatives_and_optional_questions_become_credential_sets() {
    let query = serde_json::to_value(compiled(&read(FILE).unwrap()).query).unwrap();
    let asked = |credential: &Value| (credential["id"].clone(), credential["format"].clone());
    let credentials: Vec<_> = query["credentials"]
        .as_array()
        .unwrap()
        .iter()
        .map(asked)
        .collect();
    assert_eq!(
        credentials,
        [
            (json!("immunization"), json!("dc+sd-jwt")),
            (json!("allergies"), json!("vc+jwt")),
            (json!("allergies_2"), json!("dc+sd-jwt")),
            (json!("machine"), json!("dc+sd-jwt")),
        ]
    );
    assert_eq!(
        query["credentials"][0]["claims"],
        json!([{"path": ["vaccine", "name"]}])
    );
    assert_eq!(
        query["credential_sets"],
        json!([
            {"options": [["immunization"], ["allergies"], ["allergies_2"]]},
            {"options": [["machine"]], "required": false},
        ])
    );
}

#[test]
fn questions_without_alternatives_need_no_sets() {
    let both = definition(vec![
        question(&["immunization"], false),
        question(&["machine"], false),
    ]);
    let query = serde_json::to_value(compiled(&both).query).unwrap();
    assert_eq!(query["credentials"].as_array().unwrap().len(), 2);
    assert_eq!(query.get("credential_sets"), None);
}

#[test]
fn a_file_is_read_from_toml_and_json_and_written_as_it_was_read() {
    let from_toml = read(FILE).unwrap();
    assert_eq!(read(&text(&from_toml).unwrap()).unwrap(), from_toml);
    let json = serde_json::to_string(&from_toml).unwrap();
    assert_eq!(read(&json).unwrap(), from_toml);
    let raw = of_query(
        json!({"credentials": [{"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["x"]}}]}),
    );
    assert_eq!(read(&text(&raw).unwrap()).unwrap(), raw);
}

#[test]
fn a_member_that_a_file_does_not_have_is_refused_by_its_place() {
    let wrong = FILE.replace("optional = true", "optionel = true");
    let error = read(&wrong).unwrap_err();
    assert!(error.to_string().contains("questions[1]"), "{error}");
}

#[test]
fn each_refusal_names_its_place() {
    let mut wrong = read(FILE).unwrap();
    wrong.name = "Check In".to_owned();
    wrong.purpose = " ".to_owned();
    wrong.origins.push("https://shop.example/path".to_owned());
    wrong.origins.push("http://shop.example".to_owned());
    wrong.questions[0].alternatives[0].claims = Some(vec![vec!["shoe".to_owned()]]);
    wrong.questions[1].alternatives[0].type_id = "no-type".to_owned();
    wrong.questions.push(AskedQuestion::default());
    assert_eq!(
        refusals(&wrong),
        [
            "saved-name",
            "saved-text purpose",
            "saved-origin origins[1]",
            "saved-origin origins[2]",
            "saved-claim questions[0].alternatives[0].claims",
            "saved-type questions[1].alternatives[0].type",
            "saved-alternatives-none questions[2].alternatives",
        ]
    );
    let both = RequestDefinition {
        dcql_query: Some(json!({})),
        ..read(FILE).unwrap()
    };
    assert_eq!(refusals(&both), ["saved-query-ambiguous"]);
    assert_eq!(refusals(&of_query(json!({}))), ["rule-broken"]);
}

#[test]
fn a_policy_names_issuers_by_type_id_vct_or_w3c_type_of_the_query_and_nothing_else() {
    let mut file = read(FILE).unwrap();
    let named = compiled(&file).issuers;
    let vct = format!("{BASE}immunization");
    assert_eq!(named[&vct], ["did:web:clinic.example"]);
    for (of, issuers, refused) in [
        ("machine", &["did:web:a.example"][..], None),
        (
            "urn:selfsame:credential:machine",
            &["https://a.example"],
            None,
        ),
        ("immunization", &[], Some("saved-issuers-none")),
        ("immunization", &["clinic"], Some("saved-issuer")),
        (
            "prescription",
            &["did:web:a.example"],
            Some("saved-issuers-type"),
        ),
    ] {
        let issuers = issuers.iter().map(|name| (*name).to_owned()).collect();
        file.policy.trusted_issuers = [(of.to_owned(), issuers)].into();
        let found = checked(&file, &types()).err().unwrap_or_default();
        assert_eq!(found.first().map(Reason::id), refused, "{of}");
    }
    file.questions[0].alternatives.remove(0);
    file.policy.trusted_issuers =
        [("allergies".to_owned(), vec!["did:web:a.example".to_owned()])].into();
    let named = compiled(&file).issuers;
    assert_eq!(named.len(), 2, "its vct and its W3C type: {named:?}");
}

#[test]
fn a_credential_that_is_to_be_used_up_is_asked_for_its_handle() {
    let asked = |spend| {
        let file = RequestDefinition {
            spend,
            ..definition(vec![question(&["prescription"], false)])
        };
        serde_json::to_string(&compiled(&file).query).unwrap()
    };
    assert!(asked(true).contains("single_use_handle"));
    assert!(!asked(false).contains("single_use_handle"));
}

#[test]
fn what_leaves_the_wallet_is_told_in_the_words_of_the_type() {
    let found = preview(&compiled(&read(FILE).unwrap()), &types());
    assert!(found.answerable);
    let first = &found.credentials[0];
    assert_eq!(first.title, "Immunization record");
    assert_eq!(first.answered_by, ["immunization"]);
    assert_eq!(first.issuers, ["did:web:clinic.example"]);
    let labels: Vec<&str> = first
        .claims
        .iter()
        .map(|claim| claim.label.as_str())
        .collect();
    assert!(labels.contains(&"Vaccine"), "{labels:?}");
    assert!(
        !labels.iter().any(|label| label.contains("Family")),
        "{labels:?}"
    );
    let w3c = &found.credentials[1];
    assert!(!w3c.whole || w3c.claims.len() > first.claims.len());
}

#[test]
fn a_query_that_no_sample_card_answers_says_why() {
    let query = |vct: &str, path: &str| {
        of_query(json!({"credentials": [{
            "id": "one", "format": "dc+sd-jwt", "meta": {"vct_values": [vct]},
            "claims": [{"path": [path]}],
        }]}))
    };
    let vct = format!("{BASE}machine");
    for (definition, reason) in [
        (query("urn:other", "a"), "sample-type"),
        (query(&vct, "no_claim"), "sample-claims"),
    ] {
        let found = preview(&compiled(&definition), &types());
        assert!(!found.answerable);
        let why = found.credentials[0].reason.as_ref().unwrap();
        assert_eq!(why.id(), reason);
        assert_eq!(found.advice[0].id(), "saved-unanswerable");
    }
}

#[test]
fn names_are_words_with_single_hyphens() {
    for (name, is_one) in [
        ("age-check", true),
        ("a1", true),
        ("", false),
        ("-a", false),
        ("a--b", false),
        ("A", false),
        ("a/b", false),
    ] {
        assert_eq!(is_name(name), is_one, "{name}");
    }
    assert!(is_name(&"a".repeat(64)) && !is_name(&"a".repeat(65)));
}

fn some_alternative() -> impl Strategy<Value = AskedAlternative> {
    let formats = proptest::sample::subsequence(Format::ALL.to_vec(), 0..=2);
    (0..IDS.len(), formats).prop_map(|(index, formats)| AskedAlternative {
        type_id: IDS[index].to_owned(),
        formats,
        claims: None,
    })
}

fn some_question() -> impl Strategy<Value = AskedQuestion> {
    let alternatives = proptest::collection::vec(some_alternative(), 1..4);
    (any::<bool>(), alternatives).prop_map(|(optional, alternatives)| AskedQuestion {
        optional,
        alternatives,
    })
}

proptest! {
    /// A holder can answer exactly if they have a card for each question that is not optional.
    #[test]
    fn the_query_asks_what_the_questions_ask(
        questions in proptest::collection::vec(some_question(), 1..5),
        held in proptest::collection::vec(any::<bool>(), 32),
    ) {
        let types = types();
        let file = definition(questions.clone());
        // A type of the samples may not be issued in each format; that is refused, and has its own test.
        let Ok(compiled) = compile(&file, &types) else { return Ok(()); };
        let cards = sample_cards(&types, |_| true);
        let cards: Vec<_> = cards.iter().zip(&held).filter(|(_, held)| **held).map(|(card, _)| card).collect();
        let candidates: Vec<_> = cards.iter().map(|card| card.candidate()).enumerate().collect();
        let answers = |one: &AskedAlternative| {
            let formats = match one.formats.as_slice() { [] => &[Format::DEFAULT], named => named };
            cards.iter().any(|card| card.one.id == one.type_id && formats.contains(&card.format))
        };
        let expected = questions.iter().all(|question| question.optional || question.alternatives.iter().any(answers));
        prop_assert_eq!(select(&compiled.query, &candidates).is_satisfiable(), expected);
    }

    #[test]
    fn what_is_written_is_read_again(
        questions in proptest::collection::vec(some_question(), 1..5),
        purpose in "[ -~äöü€]{1,40}",
        origins in proptest::collection::vec("[a-z]{1,9}", 0..3),
    ) {
        let file = RequestDefinition { purpose, origins, ..definition(questions) };
        prop_assert_eq!(read(&text(&file).unwrap()).unwrap(), file);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read(&text);
    }
}
