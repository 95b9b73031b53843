use std::sync::Arc;

use selfsame_credential::Format;
use serde_json::{Value, json};

use super::*;
use crate::file::read_json;
use crate::model::{ClaimKind, TypeClaim, TypeDefinition, TypeState};

fn membership() -> CredentialType {
    let file = json!({
        "id": "membership",
        "title": {"en": "Membership", "de": "Mitgliedschaft"},
        "description": {"en": "A membership."},
        "extends": {"vct": "urn:association:card"},
        "card": {
            "background_color": "#123456",
            "logo": {"uri": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=", "alt_text": {"en": "A bird"}},
        },
        "claims": [
            {"path": ["name", "given"], "kind": "text", "required": true, "label": {"en": "Given name"}, "help": {"en": "As in the passport"}},
            {"path": ["name", "family"], "kind": "text", "required": true, "disclosed": "always"},
            {"path": ["since"], "kind": "date"},
            {"path": ["address"], "kind": "object", "required": true, "claims": [
                {"path": ["city"], "kind": "text", "required": true},
                {"path": ["floor"], "kind": "number", "integer": true, "min": 0},
            ]},
            {"path": ["sports"], "kind": "list", "of": {"kind": "enumeration", "disclosed": "selectively", "values": [{"value": "chess"}]}},
            {"path": ["remark"], "kind": "text", "disclosed": "never"},
        ],
    });
    CredentialType {
        definition: Arc::new(read_json(file.to_string().as_bytes()).unwrap()),
        version: 2,
        state: TypeState::Published,
        vct: "https://club.example/types/membership/2".to_owned(),
        is_sample: false,
        served: None,
    }
}

fn documents() -> Documents {
    let base: Url = "https://club.example/".parse().unwrap();
    let one = membership();
    Documents::of(
        &one,
        &Addresses::below(&base, &one.id, one.version).unwrap(),
    )
    .unwrap()
}

#[test]
fn the_type_metadata_is_that_of_the_specification() {
    let document: Value = serde_json::from_str(&documents().metadata).unwrap();
    assert_eq!(document["vct"], "https://club.example/types/membership/2");
    assert_eq!(document["extends"], "urn:association:card");
    let german = &document["display"][0];
    assert_eq!(
        (&german["locale"], &german["name"]),
        (&json!("de"), &json!("Mitgliedschaft"))
    );
    let logo = &document["display"][1]["rendering"]["simple"]["logo"];
    assert_eq!(logo["uri"], "https://club.example/types/membership/2/logo");
    assert_eq!(logo["alt_text"], "A bird");
    assert!(
        logo["uri#integrity"]
            .as_str()
            .unwrap()
            .starts_with("sha256-")
    );
    let claims = document["claims"].as_array().unwrap();
    let claim = |path: Value| claims.iter().find(|claim| claim["path"] == path).unwrap();
    let given = claim(json!(["name", "given"]));
    assert_eq!(
        (&given["sd"], &given["mandatory"]),
        (&json!("always"), &json!(true))
    );
    assert_eq!(given["display"][0]["description"], "As in the passport");
    assert_eq!(claim(json!(["name", "family"]))["sd"], "never");
    assert_eq!(claim(json!(["address", "city"]))["mandatory"], true);
    assert_eq!(claim(json!(["since"])).get("mandatory"), None);
    assert_eq!(claim(json!(["sports", null]))["sd"], "always");
    assert!(
        !documents().metadata.contains("remark"),
        "only the issuer knows of it"
    );
}

#[test]
fn the_schema_has_the_claims_in_their_objects() {
    let schema: Value = serde_json::from_str(&documents().schema).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let subject = &schema["properties"]["credentialSubject"];
    assert_eq!(subject["required"], json!(["address", "name"]));
    assert_eq!(
        subject["properties"]["name"]["required"],
        json!(["family", "given"])
    );
    let address = &subject["properties"]["address"]["properties"];
    assert_eq!(address["floor"], json!({"type": "integer", "minimum": 0.0}));
    assert_eq!(
        subject["properties"]["since"],
        json!({"type": "string", "format": "date"})
    );
    assert_eq!(
        subject["properties"]["sports"]["items"],
        json!({"enum": ["chess"]})
    );
    assert_eq!(subject["properties"].get("remark"), None);
}

#[test]
fn the_context_gives_each_term_a_url() {
    let context: Value = serde_json::from_str(&documents().context).unwrap();
    let terms = &context["@context"];
    let address = "https://club.example/types/membership/2/context";
    assert_eq!(
        terms["MembershipCredential"],
        format!("{address}#MembershipCredential")
    );
    assert_eq!(
        terms["name"]["@context"]["given"]["@id"],
        format!("{address}#name.given")
    );
    assert_eq!(
        terms["address"]["@context"]["city"]["@id"],
        format!("{address}#address.city")
    );
    assert_eq!(
        terms["since"]["@type"],
        "http://www.w3.org/2001/XMLSchema#date"
    );
    assert_eq!(terms["sports"]["@container"], "@list");
}

#[test]
fn anoncreds_has_an_attribute_for_each_claim_and_takes_no_name_twice() {
    let mut one = TypeDefinition::clone(&membership().definition);
    assert_eq!(anoncreds_refusals(&one), []);
    let names = [
        "name.given",
        "name.family",
        "since",
        "address.city",
        "address.floor",
        "sports",
    ];
    assert_eq!(attributes(&one), names);
    one.single_use = true;
    assert_eq!(attributes(&one)[names.len()..], ["single_use_handle"]);
    let mut twin = one.claims[2].clone();
    twin.path = vec!["Since".to_owned()];
    one.claims.push(twin);
    let refused = anoncreds_refusals(&one);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].id(), "anoncreds-name");
}

#[test]
fn anoncreds_refuses_what_no_attribute_can_be_at_its_place() {
    let claim = |path: &str, kind| TypeClaim::new(vec![path.to_owned()], kind);
    let refused = |claims: Vec<TypeClaim>| -> Vec<String> {
        let one = TypeDefinition {
            claims,
            ..TypeDefinition::clone(&membership().definition)
        };
        let refusals = anoncreds_refusals(&one).into_iter();
        let shown = refusals.map(|reason| {
            let place = reason.parameter("place").cloned();
            format!("{} {}", reason.id(), json!(place).as_str().unwrap())
        });
        shown.collect()
    };
    let mut person = claim("person", ClaimKind::Object);
    person.claims = vec![
        claim("name", ClaimKind::Text),
        claim("photo", ClaimKind::Image),
    ];
    assert_eq!(
        refused(vec![claim("number", ClaimKind::Number), person]),
        ["anoncreds-kind claims[1].claims[1].kind"]
    );
    for reserved in ["Master_Secret", "single_use_handle"] {
        assert_eq!(
            refused(vec![claim(reserved, ClaimKind::Text)]),
            ["type-claim-reserved claims[0].path"]
        );
    }
    let mut inside = claim("remark", ClaimKind::Image);
    inside.disclosed = Some(crate::model::Disclosed::Never);
    assert_eq!(refused(vec![inside]), ["anoncreds-none claims"]);
    let many = (0..126).map(|number| claim(&format!("c{number}"), ClaimKind::Text));
    assert_eq!(
        refused(many.clone().collect()),
        ["anoncreds-attributes claims"]
    );
    assert!(refused(many.take(125).collect()).is_empty());
}

#[test]
fn an_issuers_metadata_names_what_is_within_objects_and_lists() {
    let types = crate::TypeSet::of_samples("urn:x:");
    let one = types.find("immunization").unwrap();
    let base: Url = "https://club.example/".parse().unwrap();
    let addresses = one.addresses(&base).unwrap();
    let described =
        |format| credential_metadata(one, format, &addresses).unwrap()["claims"].clone();
    let names = |claims: Value| -> Vec<(Value, Value)> {
        let all = claims.as_array().unwrap().clone();
        let named = all
            .into_iter()
            .map(|claim| (claim["path"].clone(), claim["display"][0]["name"].clone()));
        named.collect()
    };
    let claims = names(described(Format::SdJwtVc));
    let at = |path: Value| claims.iter().position(|(known, _)| *known == path).unwrap();
    assert_eq!(claims[at(json!(["doses", null, "lot"]))].1, "Lot");
    assert!(at(json!(["doses"])) < at(json!(["doses", null, "number"])));
    assert!(
        !claims
            .iter()
            .any(|(path, _)| *path == json!(["doses", null]))
    );
    let w3c = names(described(Format::VcJwt));
    let path = json!(["credentialSubject", "doses", null, "lot"]);
    assert!(w3c.contains(&(path, json!("Lot"))), "{w3c:?}");
}

#[test]
fn an_issuers_metadata_has_the_labels_of_values_and_the_pictogram_as_the_logo() {
    let mut one = membership();
    let definition = Arc::make_mut(&mut one.definition);
    definition.card.logo = None;
    definition.card.icon = Some("🎫".to_owned());
    let level = json!({
        "path": ["level"], "kind": "enumeration",
        "values": [{"value": "basic", "label": {"en": "Basic"}}, {"value": "full"}],
    });
    let level = serde_json::from_value(level).unwrap();
    definition.claims.push(level);
    let base: Url = "https://club.example/".parse().unwrap();
    let addresses = Addresses::below(&base, &one.id, one.version).unwrap();
    let documents = Documents::of(&one, &addresses).unwrap();
    let logo = addresses.logo();
    let metadata = credential_metadata(&one, Format::DEFAULT, &addresses).unwrap();
    let expected = json!({"uri": logo, "alt_text": "🎫"});
    assert_eq!(metadata["display"][0]["logo"], expected);
    let claims = metadata["claims"].as_array().unwrap();
    let level = claims.last().unwrap();
    let values = json!([{"value": "basic", "display": [{"name": "Basic", "locale": "en"}]}]);
    assert_eq!(level["values"], values);
    let document: Value = serde_json::from_str(&documents.metadata).unwrap();
    let drawn = &document["display"][0]["rendering"]["simple"]["logo"];
    let image = crate::image::pictogram("🎫");
    assert_eq!(drawn["uri#integrity"], integrity(&image.bytes));
    assert_eq!(drawn["uri"], logo);
}

#[test]
fn the_values_of_attributes_are_texts_that_predicates_can_compare() {
    let claim = |path: &[&str], kind| {
        let path = path.iter().map(|name| (*name).to_owned());
        TypeClaim::new(path.collect(), kind)
    };
    let mut place = claim(&["place"], ClaimKind::Object);
    place.claims = vec![claim(&["city"], ClaimKind::Text)];
    let one = TypeDefinition {
        claims: vec![
            claim(&["since"], ClaimKind::Date),
            claim(&["series", "complete"], ClaimKind::Boolean),
            claim(&["series", "doses"], ClaimKind::Number),
            claim(&["note"], ClaimKind::Text),
            claim(&["doses"], ClaimKind::List),
            place,
        ],
        ..TypeDefinition::clone(&membership().definition)
    };
    let claims = json!({
        "since": "2026-03-23", "series": {"complete": true, "doses": 2},
        "doses": [{"lot": "41"}], "place": {"city": "Bern-Bümpliz"},
    });
    let values = attribute_values(&one, claims.as_object().unwrap());
    let shown: Vec<String> = values
        .iter()
        .map(|one| format!("{}={}", one.name, one.value))
        .collect();
    assert_eq!(
        shown,
        [
            "since=20260323",
            "series.complete=1",
            "series.doses=2",
            "note=",
            r#"doses=[{"lot":"41"}]"#,
            "place.city=Bern-Bümpliz",
        ]
    );
}
