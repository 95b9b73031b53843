//! Rules of reading, matching and checking that the specification's examples do not reach.

use std::collections::BTreeMap;

use proptest::prelude::*;
use selfsame_credential::{ClaimPath, Format};
use serde_json::{Value, json};

use super::*;

const VCT: &str = "https://credentials.example.com/identity_credential";

fn query(credential: Value) -> Value {
    let mut whole = json!({"id": "pid", "format": "dc+sd-jwt", "meta": {"vct_values": [VCT]}});
    for (name, value) in credential.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({"credentials": [whole]})
}

fn claims(claims: Value) -> DcqlQuery {
    DcqlQuery::parse(&query(json!({"claims": claims}))).unwrap()
}

/// Of claims that live as long as the tests.
fn credential(claims: Value) -> Candidate<'static> {
    Candidate {
        format: Format::SdJwtVc,
        types: vec![VCT.into()],
        claims: Box::leak(Box::new(claims)),
        withheld: None,
        holder_bound: true,
        authority_keys: Vec::new(),
    }
}

fn fault(query: &Value) -> (String, Fault) {
    let error = DcqlQuery::parse(query).unwrap_err();
    (error.at, error.fault)
}

fn without(mut query: Value, member: &str) -> Value {
    query["credentials"][0]
        .as_object_mut()
        .unwrap()
        .remove(member);
    query
}

fn answer(
    presentations: Vec<Option<Candidate<'_>>>,
) -> BTreeMap<String, Vec<Option<Candidate<'_>>>> {
    BTreeMap::from([("pid".to_owned(), presentations)])
}

fn revealed(query: &DcqlQuery, held: Value) -> Option<Vec<Value>> {
    let selection = select(query, &[("held", credential(held))]);
    let found = selection.queries.first().unwrap().matches.first()?;
    Some(found.reveal.iter().map(ClaimPath::to_value).collect())
}

#[test]
fn every_member_that_must_be_there_is_missed() {
    for member in ["id", "format", "meta"] {
        assert_eq!(
            fault(&without(query(json!({})), member)),
            ("dcql_query.credentials[0]".into(), Fault::Missing(member)),
        );
    }
    assert_eq!(
        fault(&json!({})),
        ("dcql_query".into(), Fault::Missing("credentials"))
    );
    for (format, member) in [
        ("dc+sd-jwt", "vct_values"),
        ("jwt_vc_json", "type_values"),
        ("vc+jwt", "type_values"),
        ("mso_mdoc", "doctype_value"),
    ] {
        let query = query(json!({"format": format, "meta": {}}));
        assert_eq!(fault(&query).1, Fault::Missing(member), "{format}");
    }
}

#[test]
fn members_of_wrong_type_or_empty_lists_are_refused() {
    for (changes, at) in [
        (json!({"id": ""}), ".id"),
        (json!({"id": 1}), ".id"),
        (json!({"format": null}), ".format"),
        (json!({"multiple": "true"}), ".multiple"),
        (json!({"multiple": null}), ".multiple"),
        (
            json!({"require_cryptographic_holder_binding": 1}),
            ".require_cryptographic_holder_binding",
        ),
        (json!({"meta": []}), ".meta"),
        (json!({"meta": {"vct_values": []}}), ".meta.vct_values"),
        (json!({"meta": {"vct_values": VCT}}), ".meta.vct_values"),
        (json!({"meta": {"vct_values": [7]}}), ".meta.vct_values[0]"),
        (
            json!({"format": "jwt_vc_json", "meta": {"type_values": ["A"]}}),
            ".meta.type_values[0]",
        ),
        (
            json!({"format": "jwt_vc_json", "meta": {"type_values": [[]]}}),
            ".meta.type_values[0]",
        ),
        (json!({"trusted_authorities": []}), ".trusted_authorities"),
        (
            json!({"trusted_authorities": [{"type": "aki", "values": []}]}),
            ".trusted_authorities[0].values",
        ),
        (json!({"claims": []}), ".claims"),
        (json!({"claims": {}}), ".claims"),
        (
            json!({"claims": [{"path": ["a"], "values": []}]}),
            ".claims[0].values",
        ),
        (
            json!({"claims": [{"path": ["a"], "values": [1.5]}]}),
            ".claims[0].values[0]",
        ),
        (
            json!({"claims": [{"path": ["a"], "values": [null]}]}),
            ".claims[0].values[0]",
        ),
        (
            json!({"claims": [{"path": ["a"], "id": "a"}], "claim_sets": []}),
            ".claim_sets",
        ),
        (
            json!({"claims": [{"path": ["a"], "id": "a"}], "claim_sets": [[]]}),
            ".claim_sets[0]",
        ),
    ] {
        let (found, what) = fault(&query(changes.clone()));
        assert_eq!(found, format!("dcql_query.credentials[0]{at}"), "{changes}");
        assert!(matches!(what, Fault::Wanted(_)), "{changes}: {what}");
    }
}

#[test]
fn identifiers_are_letters_digits_underscores_and_hyphens_and_unique() {
    for bad in ["a b", "a.b", "ä", "a/b", &"a".repeat(129)] {
        assert_eq!(
            fault(&query(json!({"id": bad}))).1,
            Fault::Identifier,
            "{bad}"
        );
    }
    let mut twice = query(json!({"id": "A-_9"}));
    let again = twice["credentials"][0].clone();
    twice["credentials"].as_array_mut().unwrap().push(again);
    assert_eq!(
        fault(&twice),
        ("dcql_query.credentials[1].id".into(), Fault::Duplicate)
    );
    let claim_twice = json!({"claims": [{"id": "a", "path": ["a"]}, {"id": "a", "path": ["b"]}]});
    assert_eq!(fault(&query(claim_twice)).1, Fault::Duplicate);
}

#[test]
fn sets_refer_to_what_is_there() {
    let sets = |sets: Value| json!({"claims": [{"id": "a", "path": ["a"]}], "claim_sets": sets});
    assert!(DcqlQuery::parse(&query(sets(json!([["a"]])))).is_ok());
    assert_eq!(fault(&query(sets(json!([["b"]])))).1, Fault::Unknown);
    let no_id = json!({"claims": [{"path": ["a"]}], "claim_sets": [["a"]]});
    assert_eq!(fault(&query(no_id)).1, Fault::Missing("id"));
    let no_claims = json!({"claim_sets": [["a"]]});
    assert_eq!(fault(&query(no_claims)).1, Fault::SetsWithoutClaims);

    let mut credential_sets = query(json!({}));
    credential_sets["credential_sets"] = json!([{"options": [["pid"], ["other"]]}]);
    assert_eq!(
        fault(&credential_sets),
        (
            "dcql_query.credential_sets[0].options[1][0]".into(),
            Fault::Unknown
        )
    );
    credential_sets["credential_sets"] = json!([{"required": true}]);
    assert_eq!(fault(&credential_sets).1, Fault::Missing("options"));
}

#[test]
fn paths_are_of_their_format() {
    for bad in [
        json!([]),
        json!("a"),
        json!([-1]),
        json!([1.0]),
        json!([true]),
        json!([["a"]]),
    ] {
        let query = query(json!({"claims": [{"path": bad}]}));
        assert_eq!(fault(&query).1, Fault::Path, "{query}");
    }
    for bad in [
        json!(["a"]),
        json!(["a", 1]),
        json!(["a", null]),
        json!(["a", "b", "c"]),
    ] {
        let meta = json!({"doctype_value": "org.iso.18013.5.1.mDL"});
        let query = query(json!({"format": "mso_mdoc", "meta": meta, "claims": [{"path": bad}]}));
        assert_eq!(fault(&query).1, Fault::Path, "{query}");
    }
}

#[test]
fn every_list_has_a_limit() {
    let one = query(json!({}))["credentials"][0].clone();
    let many: Vec<_> = (0..65)
        .map(|number| {
            let mut one = one.clone();
            one["id"] = json!(format!("q{number}"));
            one
        })
        .collect();
    assert_eq!(fault(&json!({"credentials": many})).1, Fault::TooMany(64));
    let claims = |count: usize| -> Vec<_> {
        (0..count)
            .map(|c| json!({"path": [c.to_string()]}))
            .collect()
    };
    assert_eq!(
        fault(&query(json!({"claims": claims(129)}))).1,
        Fault::TooMany(128)
    );
    let nine: Vec<_> = (0..9)
        .map(|number| {
            let mut one = one.clone();
            one["id"] = json!(format!("q{number}"));
            one["claims"] = json!(claims(128));
            one
        })
        .collect();
    assert_eq!(
        fault(&json!({"credentials": nine})).1,
        Fault::TooMany(1_024)
    );
    let long = "a".repeat(2_049);
    assert_eq!(
        fault(&query(json!({"meta": {"vct_values": [long]}}))).1,
        Fault::TooLong(2_048)
    );
    let long = json!({"claims": [{"path": ["a".repeat(1_025)]}]});
    assert_eq!(fault(&query(long)).1, Fault::TooLong(1_024));
}

#[test]
fn unknown_members_and_formats_are_let_be() {
    let mut strange = query(json!({"x": 1, "claims": [{"path": ["a"], "x": {}}]}));
    strange["x"] = json!([]);
    assert!(DcqlQuery::parse(&strange).is_ok());
    let unknown = query(json!({"format": "spiffe", "meta": {"anything": 1}}));
    let unknown = DcqlQuery::parse(&unknown).unwrap();
    assert!(!select(&unknown, &[(1, credential(json!({})))]).is_satisfiable());
}

#[test]
fn no_claims_asked_nothing_revealed() {
    let query = DcqlQuery::parse(&query(json!({}))).unwrap();
    assert_eq!(revealed(&query, json!({"secret": 1})), Some(vec![]));
}

#[test]
fn only_the_elements_with_a_wanted_value_are_revealed() {
    let query = claims(json!([{"path": ["nationalities", null], "values": ["DE", "FR"]}]));
    assert_eq!(
        revealed(&query, json!({"nationalities": ["US", "FR", "DE"]})),
        Some(vec![
            json!(["nationalities", 1]),
            json!(["nationalities", 2])
        ])
    );
    assert_eq!(revealed(&query, json!({"nationalities": ["US"]})), None);
}

#[test]
fn values_are_compared_with_their_type() {
    for (wanted, has, same) in [
        (json!(1), json!(1), true),
        (json!(1), json!(1.0), false),
        (json!(1), json!("1"), false),
        (json!("1"), json!(1), false),
        (json!(true), json!("true"), false),
        (json!(true), json!(true), true),
        (json!(0), json!(false), false),
        (json!("a"), json!("A"), false),
        (json!("a"), json!(["a"]), false),
    ] {
        let query = claims(json!([{"path": ["c"], "values": [wanted]}]));
        assert_eq!(
            revealed(&query, json!({"c": has})).is_some(),
            same,
            "{wanted} {has}"
        );
    }
}

#[test]
fn a_second_query_for_the_same_claim_is_ignored() {
    let query = claims(json!([{"path": ["a"]}, {"path": ["a"], "values": ["never"]}]));
    assert_eq!(revealed(&query, json!({"a": 1})), Some(vec![json!(["a"])]));
}

#[test]
fn an_enormous_selection_is_refused_and_not_revealed() {
    let query = claims(json!([{"path": ["a", null]}]));
    assert_eq!(
        revealed(&query, json!({"a": vec![0; 4_096]}))
            .unwrap()
            .len(),
        4_096
    );
    assert_eq!(revealed(&query, json!({"a": vec![0; 4_097]})), None);
}

#[test]
fn one_credential_may_answer_several_queries() {
    let mut two = query(json!({"claims": [{"path": ["a"]}]}));
    let mut second = two["credentials"][0].clone();
    second["id"] = json!("second");
    second["claims"] = json!([{"path": ["b"]}]);
    two["credentials"].as_array_mut().unwrap().push(second);
    let selection = select(
        &DcqlQuery::parse(&two).unwrap(),
        &[("held", credential(json!({"a": 1, "b": 2})))],
    );
    let choice = selection.first_choice(false).unwrap();
    let answered: Vec<_> = choice
        .iter()
        .map(|(query, found)| (*query, found.id))
        .collect();
    assert_eq!(answered, [("pid", "held"), ("second", "held")]);
}

#[test]
fn the_first_choice_leaves_optional_sets_out_unless_told() {
    let mut query = query(json!({}));
    query["credential_sets"] = json!([{"options": [["pid"]], "required": false}]);
    let selection = select(
        &DcqlQuery::parse(&query).unwrap(),
        &[(1, credential(json!({})))],
    );
    assert!(selection.first_choice(false).unwrap().is_empty());
    assert_eq!(selection.first_choice(true).unwrap().len(), 1);
    let nothing = select::<u8>(&DcqlQuery::parse(&query).unwrap(), &[]);
    assert!(nothing.is_satisfiable());
    assert_eq!(nothing.missing().count(), 1);
}

/// What the wallet itself would answer to these sets of queries `a`, `b` and `c`, and which of them it cannot leave out.
fn chosen_of(sets: Value) -> (Vec<String>, Vec<String>) {
    let mut all = query(json!({}));
    let one = all["credentials"][0].clone();
    let named = |id: &str| {
        let mut one = one.clone();
        one["id"] = json!(id);
        one
    };
    all["credentials"] = json!([named("a"), named("b"), named("c")]);
    all["credential_sets"] = sets;
    let held = [(1, credential(json!({})))];
    let selection = select(&DcqlQuery::parse(&all).unwrap(), &held);
    let choice = selection.first_choice(false).unwrap();
    let chosen = choice.iter().map(|(id, _)| (*id).to_owned()).collect();
    let ids = ["a", "b", "c"].map(str::to_owned).into_iter();
    (chosen, ids.filter(|id| selection.is_required(id)).collect())
}

#[test]
fn of_alternatives_the_first_is_chosen_and_none_is_required() {
    for (sets, chosen, required) in [
        (json!([{"options": [["a"], ["b"]]}]), "a", ""),
        (json!([{"options": [["a", "b"], ["a", "c"]]}]), "ab", "a"),
        (json!([{"options": [["a", "b"], ["a"]]}]), "ab", "a"),
        // What one set needs anyway makes the favourite of another redundant.
        (
            json!([{"options": [["a"], ["b"]]}, {"options": [["b"]]}]),
            "b",
            "b",
        ),
        (
            json!([{"options": [["a"], ["b"]]}, {"options": [["b"], ["a"]]}]),
            "a",
            "",
        ),
        (
            json!([{"options": [["a"]]}, {"options": [["b"]], "required": false}]),
            "a",
            "a",
        ),
    ] {
        let of = |ids: Vec<String>| ids.concat();
        let (choice, needed) = chosen_of(sets.clone());
        assert_eq!(
            (of(choice), of(needed)),
            (chosen.into(), required.into()),
            "{sets}"
        );
    }
}

#[test]
fn the_closest_credential_explains_what_is_missing() {
    let query = claims(json!([{"path": ["a"]}, {"path": ["b"]}]));
    let held = [
        (1, credential(json!({}))),
        (2, credential(json!({"a": 1}))),
        (
            3,
            Candidate {
                format: Format::VcJwt,
                ..credential(json!({"a": 1, "b": 2}))
            },
        ),
    ];
    let selection = select(&query, &held);
    let b = ClaimPath::of_names(["b"]).unwrap();
    assert_eq!(
        selection.missing().collect::<Vec<_>>(),
        [("pid", &Mismatch::Claims(vec![b]))]
    );
    assert!(selection.first_choice(true).is_none());
}

#[test]
fn an_answer_with_all_claims_satisfies_the_query() {
    let query = claims(json!([{"path": ["a"], "values": ["x"]}]));
    let answer = check(&query, &answer(vec![Some(credential(json!({"a": "x"})))])).unwrap();
    assert_eq!(
        answer.accepted,
        BTreeMap::from([("pid".to_owned(), vec![0])])
    );
    assert!(answer.discarded.is_empty());
}

#[test]
fn an_answer_with_another_value_type_or_without_binding_is_incomplete() {
    let query = claims(json!([{"path": ["a"], "values": ["x"]}]));
    let good = credential(json!({"a": "x"}));
    for bad in [
        credential(json!({"a": "y"})),
        credential(json!({})),
        Candidate {
            types: vec!["https://other.example/t".into()],
            ..good.clone()
        },
        Candidate {
            format: Format::JwtVcJson,
            ..good.clone()
        },
        Candidate {
            holder_bound: false,
            ..good
        },
    ] {
        let refusal = check(&query, &answer(vec![Some(bad.clone())])).unwrap_err();
        assert!(
            matches!(&refusal, Unmet::Incomplete { set: 0, discarded } if discarded.len() == 1),
            "{bad:?}"
        );
    }
}

#[test]
fn one_bad_presentation_is_discarded_alone() {
    let several = DcqlQuery::parse(&query(
        json!({"multiple": true, "claims": [{"path": ["a"]}]}),
    ))
    .unwrap();
    let good = Some(credential(json!({"a": 1})));
    let found = check(
        &several,
        &answer(vec![None, Some(credential(json!({}))), good]),
    )
    .unwrap();
    assert_eq!(
        found.accepted,
        BTreeMap::from([("pid".to_owned(), vec![2])])
    );
    assert_eq!(found.discarded.len(), 1);
    let none = check(&several, &answer(vec![None, None])).unwrap_err();
    assert_eq!(
        none,
        Unmet::Incomplete {
            set: 0,
            discarded: vec![]
        }
    );
}

#[test]
fn the_shape_of_an_answer_is_checked_before_its_presentations() {
    let query = claims(json!([{"path": ["a"]}]));
    let good = Some(credential(json!({"a": 1})));
    assert_eq!(
        check(&query, &answer(vec![good.clone(), None])),
        Err(Unmet::NotMultiple("pid".into()))
    );
    assert_eq!(
        check(&query, &answer(vec![])),
        Err(Unmet::Empty("pid".into()))
    );
    let mut foreign = answer(vec![good]);
    foreign.insert("other".into(), vec![None]);
    assert_eq!(check(&query, &foreign), Err(Unmet::UnknownQuery));
}

#[test]
fn where_nothing_is_withheld_an_index_finds_its_element_alone() {
    let query = claims(json!([{"path": ["n", 1], "values": ["b"]}]));
    let disclosed = |claims| check(&query, &answer(vec![Some(credential(claims))])).is_ok();
    assert!(disclosed(json!({"n": ["a", "b"]})));
    assert!(!disclosed(json!({"n": ["b"]})));
    assert!(!disclosed(json!({"n": ["a", "c", "b"]})));
    assert!(!disclosed(json!({"n": []})));
}

#[test]
fn the_narrowest_type_is_not_the_one_that_every_credential_has() {
    let expanded = "https://www.w3.org/2018/credentials#VerifiableCredential";
    let narrowest = |types: &[&str]| {
        let types: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
        narrowest_type(&types).map(str::to_owned)
    };
    let both = Some("Diploma".to_owned());
    assert_eq!(narrowest(&["VerifiableCredential", "Diploma"]), both);
    assert_eq!(narrowest(&["Diploma", expanded]), both);
    let plain = Some("VerifiableCredential".to_owned());
    assert_eq!(narrowest(&[expanded]), plain);
    assert_eq!(narrowest(&[]), None);
}

#[test]
fn errors_name_places_and_never_values() {
    let query = query(json!({"claims": [{"path": ["a"], "values": [{"secret": "Dent"}]}]}));
    let error = DcqlQuery::parse(&query).unwrap_err().to_string();
    assert_eq!(
        error,
        "dcql_query.credentials[0].claims[0].values[0]: a string, an integer or a boolean is expected"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_path() -> impl Strategy<Value = Value> {
    let segment = prop_oneof![
        "[ab]".prop_map(Value::from),
        (0_u8..3).prop_map(Value::from),
        Just(Value::Null),
    ];
    prop::collection::vec(segment, 1..5).prop_map(Value::from)
}

/// §7.1.1 word by word, over JSON pointers.
fn by_the_letter(path: &Value, root: &Value) -> Option<Vec<Value>> {
    let mut selected = vec![root.clone()];
    for component in path.as_array()? {
        let mut next = Vec::new();
        for element in selected {
            match component {
                Value::String(name) => next.extend(element.as_object()?.get(name).cloned()),
                Value::Null => next.extend(element.as_array()?.iter().cloned()),
                index => {
                    let index = usize::try_from(index.as_u64()?).ok()?;
                    next.extend(element.as_array()?.get(index).cloned());
                }
            }
        }
        selected = next;
    }
    (!selected.is_empty()).then_some(selected)
}

proptest! {
    #[test]
    fn what_is_revealed_is_what_the_specification_selects(path in any_path(), root in any_json()) {
        let query = claims(json!([{"path": path}]));
        let places = revealed(&query, root.clone());
        let values = places.map(|places| {
            places.iter().flat_map(|place| by_the_letter(place, &root).unwrap()).collect::<Vec<_>>()
        });
        prop_assert_eq!(values, by_the_letter(&path, &root));
    }

    #[test]
    fn what_a_wallet_selects_a_verifier_accepts(path in any_path(), root in any_json()) {
        let query = claims(json!([{"path": path}]));
        if revealed(&query, root.clone()).is_some() {
            prop_assert!(check(&query, &answer(vec![Some(credential(root))])).is_ok());
        }
    }

    #[test]
    fn a_query_reads_back_as_itself(path in any_path(), multiple in any::<bool>(), bound in any::<bool>(), values in prop::collection::vec(any::<i64>(), 1..3)) {
        let value = query(json!({
            "multiple": multiple,
            "require_cryptographic_holder_binding": bound,
            "claims": [{"id": "c", "path": path, "values": values}],
            "claim_sets": [["c"]],
        }));
        let query = DcqlQuery::parse(&value).unwrap();
        let written = serde_json::to_value(&query).unwrap();
        prop_assert_eq!(DcqlQuery::parse(&written).unwrap(), query);
    }
}
