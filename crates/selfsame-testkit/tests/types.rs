//! Properties of credential types: their files, their examples, and the documents made from them.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use selfsame_types::import::import;
use selfsame_types::project::Documents;

use selfsame_types::file::{read_json, read_toml, to_json, to_toml};
use selfsame_types::model::{Addresses, Disclosed, EnumerationValue, Labels, TypeState};
use selfsame_types::{ClaimKind, CredentialType, TypeClaim, TypeDefinition, check};
use serde_json::{Map, Value};

/// Claims without paths, of every kind and at most three deep.
fn claim() -> impl Strategy<Value = TypeClaim> {
    let kinds = [
        ClaimKind::Text,
        ClaimKind::Date,
        ClaimKind::Boolean,
        ClaimKind::Image,
    ];
    let plain =
        prop::sample::select(kinds.to_vec()).prop_map(|kind| TypeClaim::new(Vec::new(), kind));
    let number =
        (-1_000_i32..1_000, 0_i32..1_000, any::<bool>()).prop_map(|(min, more, integer)| {
            let mut claim = TypeClaim::new(Vec::new(), ClaimKind::Number);
            claim.min = Some(f64::from(min) / 4.0);
            claim.max = Some(f64::from(min) / 4.0 + f64::from(more) + 1.0);
            claim.integer = integer;
            claim
        });
    let enumeration = prop::collection::btree_set("[a-z]{1,8}", 1..4).prop_map(|values| {
        let mut claim = TypeClaim::new(Vec::new(), ClaimKind::Enumeration);
        let choice = |value| EnumerationValue {
            value,
            label: Labels::new(),
        };
        claim.values = values.into_iter().map(choice).collect();
        claim
    });
    let leaf = prop_oneof![plain, number, enumeration];
    let leaf = (leaf, label(), disclosed()).prop_map(|(mut claim, label, disclosed)| {
        claim.label = label;
        claim.disclosed = disclosed;
        claim
    });
    leaf.prop_recursive(3, 24, 4, |inner| {
        let object = prop::collection::vec(inner.clone(), 1..4).prop_map(|claims| {
            let mut object = TypeClaim::new(Vec::new(), ClaimKind::Object);
            object.claims = claims;
            object
        });
        let list = inner.prop_map(|element| {
            let mut list = TypeClaim::new(Vec::new(), ClaimKind::List);
            list.of = Some(Box::new(element));
            list
        });
        prop_oneof![object, list]
    })
}

fn label() -> impl Strategy<Value = Labels> {
    let texts = prop::collection::btree_map("en|de|de-AT|fr", "[A-Za-z äöü\"'<>]{0,12}x", 0..3);
    texts.prop_map(|texts| {
        let mut labels = Labels::new();
        for (language, text) in &texts {
            labels.insert(language, text);
        }
        labels
    })
}

fn disclosed() -> impl Strategy<Value = Option<Disclosed>> {
    prop_oneof![
        Just(None),
        Just(Some(Disclosed::Always)),
        Just(Some(Disclosed::Selectively))
    ]
}

/// Gives each claim a path of its own, one or two names long.
fn name(claims: &mut [TypeClaim]) {
    for (number, claim) in claims.iter_mut().enumerate() {
        claim.path = match number % 3 {
            0 => vec!["group".to_owned(), format!("c{number}")],
            _ => vec![format!("c{number}")],
        };
        claim.required = number % 2 == 0;
        name_below(claim);
    }
}

/// Gives paths to the claims within a claim or an element.
fn name_below(claim: &mut TypeClaim) {
    name(&mut claim.claims);
    if let Some(of) = &mut claim.of {
        name_below(of);
    }
}

fn definition() -> impl Strategy<Value = TypeDefinition> {
    prop::collection::vec(claim(), 1..6).prop_map(|mut claims| {
        name(&mut claims);
        let text = r#"{"id": "one", "title": {"en": "One"}, "claims": []}"#;
        TypeDefinition {
            claims,
            ..read_json(text.as_bytes()).unwrap()
        }
    })
}

fn metadata(definition: &TypeDefinition) -> String {
    let one = CredentialType {
        definition: Arc::new(definition.clone()),
        version: 1,
        state: TypeState::Published,
        vct: "urn:example:one".to_owned(),
        is_sample: false,
        served: None,
    };
    let base = "https://issuer.example/".parse().unwrap();
    let addresses = Addresses::below(&base, "one", 1).unwrap();
    Documents::of(&one, &addresses).unwrap().metadata
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_type_reads_back_from_its_file(definition in definition()) {
        prop_assert_eq!(check(&definition).refusals, vec![]);
        prop_assert_eq!(&read_json(to_json(&definition).unwrap().as_bytes()).unwrap(), &definition);
        prop_assert_eq!(&read_toml(&to_toml(&definition).unwrap()).unwrap(), &definition);
    }

    #[test]
    fn the_examples_of_a_type_fill_it(definition in definition()) {
        let filled = definition.fill(&Map::new(), true).unwrap();
        prop_assert_eq!(&definition.fill(&filled, false).unwrap(), &filled);
    }

    /// SD-JWT VC, TypeClaim Metadata: each path once, and `sd` one of three.
    #[test]
    fn type_metadata_keeps_the_rules_of_the_specification(definition in definition()) {
        let document: Value = serde_json::from_str(&metadata(&definition)).unwrap();
        let mut paths = BTreeSet::new();
        for claim in document["claims"].as_array().unwrap() {
            prop_assert!(paths.insert(claim["path"].to_string()), "{} is there twice", claim["path"]);
            prop_assert!(["always", "never"].contains(&claim["sd"].as_str().unwrap()));
            let path = claim["path"].as_array().unwrap();
            prop_assert!(!path.is_empty() && path.iter().all(|one| one.is_string() || one.is_null()));
            let displays = claim.get("display").and_then(Value::as_array);
            for display in displays.into_iter().flatten() {
                prop_assert!(display["locale"].is_string() && display["label"].is_string());
            }
        }
    }

    #[test]
    fn what_can_be_withheld_is_the_same_after_export_and_import(definition in definition()) {
        let imported = import(metadata(&definition).as_bytes(), None).unwrap().definition;
        let withheld = |one: &TypeDefinition| -> BTreeSet<String> {
            one.disclosable().unwrap().iter().map(ToString::to_string).collect()
        };
        prop_assert_eq!(withheld(&imported), withheld(&definition));
    }
}
