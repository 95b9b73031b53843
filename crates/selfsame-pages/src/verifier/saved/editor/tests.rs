//! Tests of the form of a saved request.

use std::collections::BTreeMap;

use selfsame_types::editor::SentFields;
use serde_json::{Value, json};

use selfsame_asked::definition::{RequestDefinition, RequestPolicy};
use selfsame_asked::file::read;
use selfsame_types::TypeSet;

use super::RequestForm;

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
    TypeSet::of_samples("urn:selfsame:credential:")
}

fn of_query(query: Value) -> RequestDefinition {
    RequestDefinition {
        dcql_query: Some(query),
        questions: Vec::new(),
        policy: RequestPolicy::default(),
        ..read(FILE).unwrap()
    }
}

/// A form as a browser sends it.
#[derive(Default)]
struct Sent(BTreeMap<String, Vec<String>>);

impl Sent {
    fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.entry(name.into()).or_default().push(value.into());
    }

    /// What the page of this form sends.
    fn of(form: &RequestForm) -> Self {
        let mut sent = Self::default();
        for (name, value) in [
            ("name", &form.name),
            ("title", &form.title),
            ("purpose", &form.purpose),
            ("origins", &form.origins),
            ("max_status_age", &form.max_status_age),
            ("issuers", &form.issuers),
        ] {
            sent.add(name, value);
        }
        for (name, is_set) in [
            ("enabled", form.enabled),
            ("same_device", form.same_device),
            ("spend", form.spend),
        ] {
            if is_set {
                sent.add(name, "true");
            }
        }
        if let Some(dcql) = &form.dcql {
            sent.add("mode", "dcql");
            sent.add("dcql", dcql);
        }
        for question in &form.questions {
            sent.add("question", &question.key);
            if question.optional {
                sent.add(format!("{}.optional", question.key), "true");
            }
            for one in &question.alternatives {
                let key = &one.key;
                sent.add(format!("{}.row", question.key), key);
                sent.add(format!("{key}.type"), &one.type_id);
                sent.add(format!("{key}.shown"), &one.shown);
                for format in &one.formats {
                    sent.add(format!("{key}.format"), format.as_str());
                }
                for claim in &one.claims {
                    sent.add(format!("{key}.claim"), claim.join("/"));
                }
            }
        }
        sent
    }
}

impl SentFields for Sent {
    fn one(&self, name: &str) -> Option<&str> {
        let first = self.all(name).first().map(String::as_str);
        first.filter(|value| !value.is_empty())
    }

    fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

fn read_again(form: &RequestForm) -> RequestForm {
    RequestForm::read(&Sent::of(form), &types())
}

#[test]
fn a_form_that_is_sent_back_describes_the_same_request() {
    for definition in [read(FILE).unwrap(), of_query(json!({"credentials": []}))] {
        let form = RequestForm::of(&definition, &types());
        let again = read_again(&form);
        assert_eq!(again, form);
        let mut described = again.definition().unwrap();
        // The form says which claims and formats are meant by default.
        for (question, saved) in described.questions.iter_mut().zip(&definition.questions) {
            for (one, saved) in question.alternatives.iter_mut().zip(&saved.alternatives) {
                assert!(!one.formats.is_empty() && one.claims.is_some());
                if saved.formats.is_empty() {
                    one.formats.clear();
                }
                one.claims.clone_from(&saved.claims);
            }
        }
        assert_eq!(described, definition);
    }
}

#[test]
fn questions_and_alternatives_are_added_and_removed_and_one_always_stays() {
    let types = types();
    let mut form = RequestForm::new(&types);
    form.press("add", &types);
    let [first, second] = [0, 1].map(|index| form.questions[index].key.clone());
    form.press(&format!("add.{second}"), &types);
    let counts = |form: &RequestForm| {
        let questions = form.questions.iter();
        questions
            .map(|question| question.alternatives.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&form), [1, 2]);
    let alternative = form.questions[1].alternatives[0].key.clone();
    form.press(&format!("remove.{alternative}"), &types);
    assert_eq!(counts(&form), [1, 1]);
    form.press(&format!("remove.{first}"), &types);
    form.press(&format!("remove.{second}"), &types);
    assert_eq!(counts(&form), [1]);
}

#[test]
fn a_type_that_is_chosen_anew_shows_its_typical_claims() {
    let types = types();
    let mut form = RequestForm::new(&types);
    form.questions[0].alternatives[0].claims.clear();
    assert!(
        read_again(&form).questions[0].alternatives[0]
            .claims
            .is_empty()
    );
    form.questions[0].alternatives[0].type_id = "machine".to_owned();
    let chosen = &read_again(&form).questions[0].alternatives[0];
    let machine = types.find("machine").unwrap();
    assert_eq!(chosen.claims, machine.typical_request().claims);
}

#[test]
fn questions_become_a_dcql_query_to_go_on_with() {
    let types = types();
    let mut form = RequestForm::of(&read(FILE).unwrap(), &types);
    form.press("dcql", &types);
    let query = form.definition().unwrap().dcql_query.unwrap();
    assert_eq!(query["credential_sets"][1]["required"], false);
    form.dcql = Some("{".to_owned());
    let wrong = form.definition().unwrap_err();
    assert_eq!(wrong.id(), "saved-file-malformed");
    form.press("questions", &types);
    assert_eq!(form.definition().unwrap().questions.len(), 2);
}

#[test]
fn a_line_without_an_issuer_is_refused_and_not_left_out() {
    let mut form = RequestForm::of(&read(FILE).unwrap(), &types());
    form.issuers = "machine\n\n immunization  did:web:clinic.example ".to_owned();
    let policy = form.definition().unwrap().policy;
    assert_eq!(
        policy.trusted_issuers["immunization"],
        ["did:web:clinic.example"]
    );
    assert!(policy.trusted_issuers["machine"].is_empty());
    form.max_status_age = "soon".to_owned();
    assert_eq!(form.definition().unwrap_err().id(), "status-age-malformed");
}
