use serde_json::json;

use super::*;
use crate::file::{read_json, read_toml, to_json, to_toml};
use crate::model::{ClaimKind, TypeClaim};

/// A type with the given claims, as JSON.
fn with_claims(claims: serde_json::Value) -> TypeDefinition {
    let file = json!({"id": "one", "title": {"en": "One"}, "claims": claims});
    read_json(file.to_string().as_bytes()).unwrap()
}

/// The ids of the refusals, each with its place.
fn refused(definition: &TypeDefinition) -> Vec<String> {
    let found = check(definition).refusals;
    let told = |reason: &Reason| {
        let place = match reason.parameter("place") {
            Some(place) => place.to_string(),
            None => String::new(),
        };
        format!("{} {place}", reason.id()).trim().to_owned()
    };
    found.iter().map(told).collect()
}

#[track_caller]
fn assert_claims_refused(claims: serde_json::Value, expected: &str) {
    assert_eq!(refused(&with_claims(claims)), [expected]);
}

#[test]
fn a_sound_type_is_not_refused_and_reads_back_as_it_was_written() {
    let definition = with_claims(json!([
        {"path": ["a", "b"], "kind": "text", "required": true, "max_length": 5, "label": {"en": "A", "de-AT": "Ä"}},
        {"path": ["a", "c"], "kind": "number", "min": 1, "max": 2.5},
        {"path": ["d"], "kind": "object", "claims": [{"path": ["e"], "kind": "date"}, {"path": ["f"], "kind": "image"}]},
        {"path": ["g"], "kind": "list", "of": {"kind": "enumeration", "values": [{"value": "x"}]}},
        {"path": ["h"], "kind": "boolean", "disclosed": "never"},
    ]));
    assert_eq!(refused(&definition), [""; 0]);
    let filled = definition.fill(&serde_json::Map::new(), true).unwrap();
    assert_eq!(definition.fill(&filled, false).unwrap(), filled);
    assert_eq!(
        read_toml(&to_toml(&definition).unwrap()).unwrap(),
        definition
    );
    assert_eq!(
        read_json(to_json(&definition).unwrap().as_bytes()).unwrap(),
        definition
    );
}

#[test]
fn a_number_that_no_reader_of_toml_takes_is_not_written_in_it() {
    let with =
        |example: u64| with_claims(json!([{"path": ["a"], "kind": "number", "example": example}]));
    let largest = with(i64::MAX.unsigned_abs());
    assert_eq!(read_toml(&to_toml(&largest).unwrap()).unwrap(), largest);
    let error = to_toml(&with(u64::MAX)).unwrap_err();
    assert_eq!(error.reason.id(), "type-not-toml");
}

#[test]
fn an_unknown_member_is_refused_with_its_place() {
    let toml = "id = \"one\"\ntitle = { en = \"One\" }\n[[claims]]\npath = [\"a\"]\nkind = \"text\"\nmandatory = true\n";
    let error = read_toml(toml).unwrap_err().to_string();
    assert!(
        error.contains("claims[0]") && error.contains("mandatory"),
        "{error}"
    );
    let error = read_toml("id = \"one\"\ntitle = [").unwrap_err();
    assert_eq!(error.reason.id(), "type-file-toml");
    let json =
        br#"{"id": "one", "title": {"en": "One"}, "claims": [{"path": ["a"], "kind": "colour"}]}"#;
    let error = read_json(json).unwrap_err().to_string();
    assert!(error.contains("claims[0].kind"), "{error}");
    assert!(read_json(br#"{"id": "one", "id": "two", "title": {}, "claims": []}"#).is_err());
}

#[test]
fn claims_that_collide_are_refused() {
    let text = |path: &[&str]| json!({"path": path, "kind": "text"});
    assert_claims_refused(
        json!([text(&["a"]), text(&["a"])]),
        "type-claim-collides claims[1].path",
    );
    assert_claims_refused(
        json!([text(&["a"]), text(&["a", "b"])]),
        "type-claim-collides claims[1].path",
    );
    assert_claims_refused(
        json!([text(&["a", "b"]), text(&["a"])]),
        "type-claim-collides claims[1].path",
    );
    let inner = json!([text(&["x"]), text(&["x"])]);
    assert_claims_refused(
        json!([{"path": ["a"], "kind": "object", "claims": inner}]),
        "type-claim-collides claims[0].claims[1].path",
    );
}

#[test]
fn names_that_a_format_gives_a_meaning_are_refused_where_they_have_it() {
    for name in [
        "iss",
        "vct",
        "vct#integrity",
        "cnf",
        "status",
        "exp",
        "single_use_handle",
        "_sd",
        "@context",
        "id",
        "type",
    ] {
        assert_claims_refused(
            json!([{"path": [name], "kind": "text"}]),
            "type-claim-reserved claims[0].path",
        );
    }
    for name in ["_sd", "_sd_alg", "id", "type"] {
        assert_claims_refused(
            json!([{"path": ["a", name], "kind": "text"}]),
            "type-claim-reserved claims[0].path",
        );
    }
    assert_eq!(
        refused(&with_claims(
            json!([{"path": ["a", "status"], "kind": "text"}])
        )),
        [""; 0]
    );
    let mut sd_jwt = with_claims(json!([{"path": ["a", "id"], "kind": "text"}]));
    sd_jwt.formats = vec![Format::SdJwtVc].into();
    assert_eq!(refused(&sd_jwt), [""; 0]);
    for name in [
        "",
        "a b",
        "a.b",
        "a/b",
        "a[0]",
        "\u{7}",
        &"x".repeat(65),
        "...",
    ] {
        assert_claims_refused(
            json!([{"path": [name], "kind": "text"}]),
            "type-claim-name claims[0].path",
        );
    }
}

#[test]
fn depth_and_number_are_bounded() {
    let path = |length| vec!["a"; length];
    assert_eq!(
        refused(&with_claims(json!([{"path": path(8), "kind": "text"}]))),
        [""; 0]
    );
    assert_claims_refused(
        json!([{"path": path(9), "kind": "text"}]),
        "type-claim-deep claims[0].path",
    );
    let mut nested = json!({"path": ["a"], "kind": "text"});
    for _ in 0..8 {
        nested = json!({"path": ["a"], "kind": "object", "claims": [nested]});
    }
    assert_eq!(refused(&with_claims(json!([nested]))).len(), 1);
    let mut list = json!({"kind": "text"});
    for _ in 0..9 {
        list = json!({"kind": "list", "of": list});
    }
    list["path"] = json!(["a"]);
    assert_eq!(refused(&with_claims(json!([list]))).len(), 1);
    let many: Vec<TypeClaim> = (0..201)
        .map(|n| TypeClaim::new(vec![format!("c{n}")], ClaimKind::Text))
        .collect();
    let mut definition = with_claims(json!([]));
    assert_eq!(refused(&definition), ["type-claims-none claims"]);
    definition.claims = many;
    assert_eq!(refused(&definition), ["type-many claims"]);
}

/// A claim at the path `a` with these members.
fn claim(mut members: serde_json::Value) -> serde_json::Value {
    members["path"] = json!(["a"]);
    json!([members])
}

#[test]
fn a_member_of_another_kind_and_a_range_without_numbers_are_refused() {
    for (members, expected) in [
        (
            json!({"kind": "date", "max_length": 3}),
            "type-member claims[0].max_length",
        ),
        (
            json!({"kind": "text", "min": 3}),
            "type-member claims[0].min",
        ),
        (
            json!({"kind": "text", "pattern": "("}),
            "type-pattern claims[0].pattern",
        ),
        (
            json!({"kind": "text", "pattern": "[0-9]{5}"}),
            "type-example claims[0].example",
        ),
        (
            json!({"kind": "text", "max_length": 0}),
            "type-max-length claims[0].max_length",
        ),
        (
            json!({"kind": "number", "min": 2, "max": 1}),
            "type-range claims[0].min",
        ),
        (
            json!({"kind": "number", "integer": true, "min": 1.2, "max": 1.8}),
            "type-range claims[0].min",
        ),
        (
            json!({"kind": "number", "max": 1e300}),
            "type-range claims[0].min",
        ),
    ] {
        assert_claims_refused(claim(members), expected);
    }
}

#[test]
fn an_enumeration_an_object_and_a_list_say_what_they_contain() {
    for (members, expected) in [
        (
            json!({"kind": "enumeration"}),
            "type-values-none claims[0].values",
        ),
        (
            json!({"kind": "enumeration", "values": [{"value": "x"}, {"value": "x"}]}),
            "type-value-twice claims[0].values[1]",
        ),
        (
            json!({"kind": "object"}),
            "type-claims-none claims[0].claims",
        ),
        (json!({"kind": "list"}), "type-element-missing claims[0].of"),
        (
            json!({"kind": "list", "of": {"kind": "text", "required": true}}),
            "type-element claims[0].of",
        ),
        (
            json!({"kind": "date", "example": "yesterday"}),
            "type-example claims[0].example",
        ),
        (
            json!({"kind": "text", "label": {"english please": "A"}}),
            "type-language claims[0].label",
        ),
        (
            json!({"kind": "text", "help": {"en": "  "}}),
            "type-text-empty claims[0].help.en",
        ),
        (
            json!({"kind": "object", "claims": [{"path": ["b"], "kind": "text", "disclosed": "never"}]}),
            "type-never-within claims[0].claims[0].disclosed",
        ),
    ] {
        assert_claims_refused(claim(members), expected);
    }
}

#[test]
fn a_derived_claim_has_an_answer_for_each_value_of_an_enumeration() {
    let group = json!({
        "path": ["group"], "kind": "enumeration", "values": [{"value": "A"}, {"value": "B"}],
    });
    let derived = |kind: &str, from: &str, values: serde_json::Value| {
        let claim = json!({
            "path": ["gives"], "kind": kind, "derived": {"from": [from], "values": values},
        });
        json!([group, {"path": ["text"], "kind": "text"}, claim])
    };
    let passes = with_claims(derived("boolean", "group", json!(["A"])));
    assert_eq!(refused(&passes), [""; 0]);
    for (claims, expected) in [
        (
            derived("text", "group", json!(["A"])),
            "type-member claims[2].derived",
        ),
        (
            derived("boolean", "text", json!(["A"])),
            "type-derived-from claims[2].derived.from",
        ),
        (
            derived("boolean", "nothing", json!(["A"])),
            "type-derived-from claims[2].derived.from",
        ),
        (
            derived("boolean", "group", json!(["A", "O"])),
            "type-derived-values claims[2].derived.values",
        ),
        (
            derived("boolean", "group", json!([])),
            "type-derived-values claims[2].derived.values",
        ),
    ] {
        assert_claims_refused(claims, expected);
    }
    let inner = derived("boolean", "group", json!(["A"]))[2].clone();
    let within = json!([group, {"path": ["a"], "kind": "object", "claims": [inner]}]);
    let expected = "type-derived-within claims[1].claims[0].derived";
    assert_claims_refused(within, expected);
    let of = json!({"kind": "boolean", "derived": {"from": ["group"], "values": ["A"]}});
    let list = json!([group, {"path": ["a"], "kind": "list", "of": of}]);
    assert_claims_refused(list, "type-element claims[1].of");
}

#[test]
fn a_pattern_takes_time_in_proportion_to_the_text() {
    let mut claim = TypeClaim::new(vec!["a".to_owned()], ClaimKind::Text);
    claim.pattern = Some("(a*)*b".to_owned());
    let text = "a".repeat(10_000);
    assert!(claim.check(&json!(text), "a").is_err());
    claim.pattern = Some("a{1000}{1000}".to_owned());
    let definition = TypeDefinition {
        claims: vec![claim],
        ..with_claims(json!([]))
    };
    assert_eq!(refused(&definition), ["type-pattern claims[0].pattern"]);
}

type Change = fn(&mut TypeDefinition);

#[test]
fn the_head_and_the_card_are_checked() {
    let cases: [(Change, &str); 14] = [
        (|one| one.id = "One".to_owned(), "type-id"),
        (|one| one.id = "a--b".to_owned(), "type-id"),
        (|one| one.title.clear(), "type-text-empty title"),
        (|one| one.validity_days = 0, "type-validity"),
        (|one| one.vct = Some("no uri".to_owned()), "type-uri vct"),
        (
            |one| one.w3c_types = vec!["VerifiableCredential".to_owned()],
            "type-w3c-types",
        ),
        (
            |one| one.w3c_types = vec!["A".to_owned(), "B".to_owned()],
            "type-w3c-types",
        ),
        (
            |one| one.card.background_color = Some("red".to_owned()),
            "type-color card.background_color",
        ),
        (
            |one| one.card.icon = Some("a long text".to_owned()),
            "type-icon",
        ),
        (
            |one| one.card.front = vec![vec!["b".to_owned()]],
            "type-claim-named card.front[0]",
        ),
        (
            |one| one.card.front = vec![vec!["a".to_owned()]; 4],
            "type-many card.front",
        ),
        (
            |one| {
                one.card.logo = Some(CardImage {
                    uri: "https://elsewhere.example/logo.png".to_owned(),
                    alt_text: Labels::new(),
                });
            },
            "type-image card.logo.uri",
        ),
        (
            |one| {
                one.single_use = true;
                one.formats = vec![Format::VcJwt].into();
            },
            "type-single-use",
        ),
        (
            |one| {
                one.vct = Some("urn:a:b".to_owned());
                one.extends = Some(crate::model::Extends {
                    vct: "urn:a:b".to_owned(),
                    integrity: None,
                });
            },
            "type-extends-cycle",
        ),
    ];
    for (change, expected) in cases {
        let mut definition = with_claims(json!([{"path": ["a"], "kind": "text"}]));
        change(&mut definition);
        assert_eq!(refused(&definition), [expected]);
    }
}

#[test]
fn a_type_for_machines_has_claims_that_a_compact_credential_can_state() {
    let cases: [(Change, &str); 4] = [
        (
            |one| {
                one.formats = vec![Format::Cwt].into();
                one.claims[0].kind = ClaimKind::Image;
            },
            "type-compact claims[0]",
        ),
        (
            |one| {
                one.formats = vec![Format::Cwt].into();
                one.claims[0].kind = ClaimKind::Number;
                one.claims[0].integer = true;
            },
            "type-compact claims[0]",
        ),
        (
            |one| {
                one.formats = vec![Format::SdJwtVc, Format::Cwt].into();
                one.claims[0].path = vec!["a".to_owned(), "b".to_owned()];
            },
            "type-compact claims[0]",
        ),
        (
            |one| {
                one.formats = vec![Format::Cwt].into();
                one.w3c_types = vec!["VerifiableCredential".to_owned(); 10];
            },
            "type-many w3c_types",
        ),
    ];
    for (change, expected) in cases {
        let mut definition = with_claims(json!([{"path": ["a"], "kind": "text"}]));
        change(&mut definition);
        assert_eq!(refused(&definition), [expected]);
    }
    let fitting = json!([
        {"path": ["a"], "kind": "text"},
        {"path": ["b"], "kind": "number", "integer": true, "min": 0.0},
        {"path": ["c"], "kind": "list", "of": {"kind": "date"}},
        {"path": ["d"], "kind": "object", "disclosed": "never",
         "claims": [{"path": ["e"], "kind": "text"}]},
    ]);
    let mut definition = with_claims(fitting);
    definition.formats = vec![Format::Cwt].into();
    assert!(check(&definition).refusals.is_empty());
}

#[test]
fn colours_that_are_hard_to_read_get_advice_and_no_refusal() {
    let mut definition = with_claims(json!([{"path": ["a"], "kind": "text"}]));
    definition.card.background_color = Some("#777777".to_owned());
    definition.card.text_color = Some("#ffffff".to_owned());
    let found = check(&definition);
    assert!(found.refusals.is_empty());
    assert_eq!(found.advice[0].id(), "type-contrast");
    definition.card.background_color = Some("#333333".to_owned());
    assert!(check(&definition).advice.is_empty());
}

#[test]
fn integrity_metadata_has_a_known_algorithm_and_its_length() {
    let digest = |length| selfsame_crypto::encoding::base64_encode(&vec![7; length]);
    assert!(is_integrity(&format!("sha256-{}", digest(32))));
    assert!(is_integrity(&format!(
        "sha384-{} sha512-{}",
        digest(48),
        digest(64)
    )));
    for wrong in ["", "sha256-", "md5-AAAA", &format!("sha256-{}", digest(31))] {
        assert!(!is_integrity(wrong), "{wrong}");
    }
}

#[test]
fn the_example_of_the_documentation_passes() {
    let page = include_str!("../../../../docs/credential-types.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let definition = read_toml(example).unwrap();
    let found = check(&definition);
    assert_eq!((found.refusals, found.advice), (vec![], vec![]));
    let filled = definition.fill(&serde_json::Map::new(), true).unwrap();
    assert_eq!(definition.fill(&filled, false).unwrap(), filled);
}

/// A type whose claim is filled from another credential, with a change.
fn filled(change: impl FnOnce(&mut serde_json::Value)) -> TypeDefinition {
    let mut prerequisites = json!({
        "needs": [{"name": "company", "vct_values": ["urn:company"], "issuers": []}],
        "fills": [{"claim": ["a"], "proven": {"need": "company", "claim": ["name"]}}],
    });
    change(&mut prerequisites);
    TypeDefinition {
        prerequisites: Some(serde_json::from_value(prerequisites).unwrap()),
        ..with_claims(json!([{"path": ["a"], "kind": "text", "max_length": 5}]))
    }
}

#[test]
fn what_a_credential_needs_is_checked_with_its_claims() {
    assert_eq!(refused(&filled(|_| {})), [""; 0]);
    for (pointer, value, expected) in [
        (
            "/needs/0/issuers",
            json!(["somebody"]),
            "saved-issuer prerequisites.needs[0].issuers",
        ),
        (
            "/fills/0/claim",
            json!(["b"]),
            "prerequisite-fill prerequisites.fills[0].claim",
        ),
        (
            "/fills/0",
            json!({"claim": ["a"], "literal": "too long"}),
            "prerequisite-value prerequisites.fills[0]",
        ),
        (
            "/fills/0",
            json!({"claim": ["a"], "helper": "identifier"}),
            "prerequisite-value prerequisites.fills[0]",
        ),
        (
            "/needs/0/name",
            json!(""),
            "prerequisite-text prerequisites.needs[0].name",
        ),
    ] {
        let one = filled(|file| *file.pointer_mut(pointer).unwrap() = value);
        let found = refused(&one);
        assert!(found.iter().any(|refusal| refusal == expected), "{found:?}");
    }
    let mut one = filled(|_| {});
    one.formats.anoncreds = true;
    assert!(refused(&one).contains(&"prerequisite-format".to_owned()));
}

#[test]
fn a_mapping_for_a_credential_book_names_claims_that_can_be_facts() {
    let with_book = |book: serde_json::Value| {
        let claims = json!([
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["name"], "kind": "text"},
            {"path": ["since"], "kind": "date"},
            {"path": ["kept"], "kind": "text", "disclosed": "never"},
            {"path": ["place"], "kind": "object", "claims": [{"path": ["city"], "kind": "text"}]},
        ]);
        let file = json!({"id": "one", "title": {"en": "One"}, "claims": claims, "book": book});
        read_json(file.to_string().as_bytes()).unwrap()
    };
    let sound = with_book(json!({
        "topic": {"type": "registration.example", "source_id": ["number"]},
        "names": [{"type": "entity_name", "claim": ["name"]}],
        "addresses": [{"civic_address": [["place", "city"]]}],
        "effective_date": ["since"]
    }));
    assert_eq!(refused(&sound), [""; 0]);
    assert!(check(&sound).advice.is_empty());
    assert_eq!(read_toml(&to_toml(&sound).unwrap()).unwrap(), sound);
    let wrong = with_book(json!({
        "topic": {"type": "with blanks", "source_id": ["name"]},
        "names": [{"type": "entity_name", "claim": ["place"]}, {"type": "x", "claim": ["kept"]}],
        "effective_date": ["number"],
        "expiry_date": ["place", "country"],
        "inactive": {"claim": ["place", "city", "x"], "values": []}
    }));
    assert_eq!(
        refused(&wrong),
        [
            "type-book-kind book.topic.type",
            "type-book-source book.topic.source_id",
            "type-book-claim book.names[0].claim",
            "type-claim-named book.names[1].claim",
            "type-claim-named book.expiry_date",
            "type-claim-named book.inactive.claim",
        ]
    );
    let nameless = with_book(json!({"topic": {"type": "one", "source_id": ["number"]}}));
    assert_eq!(check(&nameless).advice[0].id(), "type-book-nameless");
    let anoncreds = |schemas: Vec<String>| {
        with_book(json!({
            "topic": {"type": "one", "source_id": ["number"]},
            "anoncreds": {"received": true, "schemas": schemas, "definitions": ["did:web:a.example/d"]},
        }))
    };
    let sound = anoncreds(vec!["did:web:a.example/s".to_owned()]);
    assert_eq!(refused(&sound), [""; 0]);
    assert_eq!(read_toml(&to_toml(&sound).unwrap()).unwrap(), sound);
    let two_lines = anoncreds(vec!["a\nb".to_owned()]);
    assert_eq!(
        refused(&two_lines),
        ["type-book-anoncreds book.anoncreds.schemas"]
    );
    let many = anoncreds(vec!["s".to_owned(); 51]);
    assert_eq!(refused(&many), ["type-many book.anoncreds.schemas"]);
}
