use serde_json::json;

use super::*;
use crate::check::check;
use crate::model::{ClaimKind, Disclosed, TypeClaim};

fn imported(description: &Value) -> Imported {
    import(description.to_string().as_bytes(), None).unwrap()
}

fn claim<'a>(imported: &'a Imported, path: &[&str]) -> &'a TypeClaim {
    let mut claims = imported.definition.claims.iter();
    claims
        .find(|claim| claim.path == path)
        .unwrap_or_else(|| panic!("{path:?}"))
}

/// The ids and places of what was left out.
fn left_out(imported: &Imported) -> Vec<String> {
    let told = |reason: &Reason| match reason.parameter("place") {
        Some(place) => format!("{} {place}", reason.id()),
        None => reason.id().to_owned(),
    };
    imported.left_out.iter().map(told).collect()
}

#[test]
fn type_metadata_gives_claims_with_their_labels_and_their_disclosure() {
    let imported = imported(&json!({
        "vct": "https://club.example/membership",
        "name": "Club membership",
        "schema_uri": "https://club.example/schema",
        "extends": "urn:association:card",
        "display": [
            {"lang": "de", "name": "Mitgliedschaft", "rendering": {
                "simple": {"background_color": "#123456", "logo": {"uri": "https://club.example/logo.png"}},
                "svg_templates": [],
            }},
        ],
        "claims": [
            {"path": ["name", "given"], "display": [{"locale": "en", "label": "Given name"}], "sd": "always", "mandatory": true},
            {"path": ["address"], "sd": "never"},
            {"path": ["address", "city"]},
            {"path": ["sports"], "svg_id": "sports"},
            {"path": ["sports", null, "name"]},
            {"path": ["sports", 0]},
        ],
    }));
    let definition = &imported.definition;
    assert_eq!(definition.id, "club-membership");
    assert_eq!(definition.title.get("de"), Some("Mitgliedschaft"));
    assert_eq!(definition.card.background_color.as_deref(), Some("#123456"));
    assert_eq!(
        definition.extends.as_ref().unwrap().vct,
        "urn:association:card"
    );
    let given = claim(&imported, &["name", "given"]);
    assert!(given.required && given.disclosed == Some(Disclosed::Selectively));
    assert_eq!(given.label.get("en"), Some("Given name"));
    let address = claim(&imported, &["address"]);
    assert_eq!((address.kind, address.claims.len()), (ClaimKind::Object, 1));
    let sports = claim(&imported, &["sports"]);
    assert_eq!(sports.of.as_ref().unwrap().kind, ClaimKind::Object);
    let expected = [
        "import-ignored schema_uri",
        "import-ignored display[0].rendering.svg_templates",
        "import-image display[0].rendering.simple.logo",
        "import-ignored claims[3].svg_id",
        "import-ignored claims[5]",
        "import-kinds",
    ];
    assert_eq!(left_out(&imported), expected);
    assert_eq!(check(definition).refusals, []);
}

#[test]
fn a_json_schema_gives_claims_with_their_kinds() {
    let imported = imported(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Person",
        "required": ["name", "born"],
        "properties": {
            "name": {"type": "string", "maxLength": 40, "title": "Name", "minLength": 2},
            "born": {"type": "string", "format": "date"},
            "mail": {"type": "string", "format": "email"},
            "age": {"type": ["null", "integer"], "minimum": 0, "maximum": 150},
            "level": {"enum": ["a", "b"]},
            "zip": {"type": "string", "pattern": "^[0-9]{5}$", "examples": ["12345"]},
            "address": {"$ref": "#/$defs/address"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "odd": {"oneOf": []},
        },
        "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }));
    assert_eq!(imported.definition.id, "person");
    assert!(claim(&imported, &["name"]).required && !claim(&imported, &["age"]).required);
    assert_eq!(claim(&imported, &["name"]).max_length, Some(40));
    assert_eq!(claim(&imported, &["born"]).kind, ClaimKind::Date);
    assert!(claim(&imported, &["age"]).integer);
    assert_eq!(claim(&imported, &["level"]).values.len(), 2);
    assert_eq!(
        claim(&imported, &["zip"]).pattern.as_deref(),
        Some("[0-9]{5}")
    );
    assert_eq!(claim(&imported, &["address"]).claims[0].path, ["city"]);
    assert_eq!(
        claim(&imported, &["tags"]).of.as_ref().unwrap().kind,
        ClaimKind::Text
    );
    let mut expected = [
        "import-ignored properties.name.minLength",
        "import-ignored properties.mail.format",
        "import-kind properties.odd",
    ];
    let mut found = left_out(&imported);
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(check(&imported.definition).refusals, []);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let imported = imported(&json!({
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}},
        "$defs": {
            "a": {"$ref": "#/$defs/a"},
            "b": {"type": "object", "properties": {"x": {"$ref": "#/$defs/b"}, "y": {"$ref": "#/$defs/b"}}},
        },
    }));
    assert!(!imported.left_out.is_empty());
    assert!(imported.left_out.len() <= LEFT_OUT_MAX);
}

#[test]
fn an_oca_bundle_gives_labels_entries_and_the_branding() {
    let imported = imported(&json!([{
        "capture_base": {
            "type": "spec/capture_base/1.0",
            "attributes": {"born": "DateTime", "name": "Text", "place": "Text", "photo": "Binary", "tags": "Array[Text]"},
            "digest": "E", "flagged_attributes": ["name"], "classification": "",
        },
        "overlays": [
            {"type": "spec/overlays/meta/1.0", "language": "en", "name": "Person", "description": "A person", "issuer": "A city"},
            {"type": "spec/overlays/label/1.0", "language": "fr-CA", "attribute_labels": {"name": "Nom", "unknown": "?"}},
            {"type": "spec/overlays/information/1.0", "language": "en", "attribute_information": {"name": "As in the register"}},
            {"type": "spec/overlays/format/1.0", "attribute_formats": {"born": "YYYYMMDD", "photo": "image/jpeg"}},
            {"type": "spec/overlays/entry/1.0", "language": "en", "attribute_entries": {"place": {"BC": "British Columbia"}}},
            {"type": "spec/overlays/entry_code/1.0", "attribute_entry_codes": {"place": ["BC", "ON"]}},
            {"type": "spec/overlays/entry/1.0", "language": "fr", "attribute_entries": {"place": {"BC": "Colombie-Britannique"}}},
            {"type": "spec/overlays/unit/1.0"},
            {"type": "aries/overlays/branding/1.0", "primary_background_color": "#003366", "primary_attribute": "name",
             "secondary_attribute": "born", "logo": "https://city.example/logo.png", "issued_date_attribute": "x"},
        ],
    }]));
    let definition = &imported.definition;
    assert_eq!(
        (definition.id.as_str(), definition.name()),
        ("person", "Person")
    );
    assert_eq!(definition.card.front, [["name"], ["born"]]);
    assert_eq!(claim(&imported, &["name"]).label.get("fr-CA"), Some("Nom"));
    assert_eq!(
        claim(&imported, &["name"]).help.get("en"),
        Some("As in the register")
    );
    assert_eq!(claim(&imported, &["born"]).kind, ClaimKind::Date);
    assert_eq!(claim(&imported, &["photo"]).kind, ClaimKind::Image);
    assert_eq!(claim(&imported, &["tags"]).kind, ClaimKind::List);
    let place = claim(&imported, &["place"]);
    assert_eq!(
        (place.kind, place.values.len()),
        (ClaimKind::Enumeration, 2)
    );
    assert_eq!(
        place.values[0].label.get("fr"),
        Some("Colombie-Britannique")
    );
    let expected = [
        "import-ignored overlays[0].issuer",
        "import-date overlays[3].attribute_formats.born",
        "import-ignored overlays[7] (unit)",
        "import-ignored overlays[8].issued_date_attribute",
        "import-image overlays[8].logo",
    ];
    assert_eq!(left_out(&imported), expected);
    assert_eq!(check(definition).refusals, []);
}

#[test]
fn another_text_is_refused() {
    for text in [
        "",
        "[]",
        "7",
        "{}",
        "{\"properties\": 7}",
        "[{\"a\": 1}]",
        "{\"vct\": 7}",
    ] {
        assert!(import(text.as_bytes(), None).is_err(), "{text}");
    }
    let named = import(br#"{"vct": "urn:a"}"#, Some("own-name")).unwrap();
    assert_eq!(named.definition.id, "own-name");
}
