//! Files of credential types, and descriptions that types are imported from.

use std::sync::Arc;

use selfsame_credential::Format;
use selfsame_crypto::time::UnixTime;
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_prerequisites::judge::{WalletProof, judge};
use selfsame_prerequisites::query::query;
use selfsame_types::import::import;
use selfsame_types::project::Documents;

use selfsame_types::file::{FILE_BYTES_MAX, read_json, read_toml, to_json, to_toml};
use selfsame_types::model::{Addresses, TypeState};
use selfsame_types::{CredentialType, TypeDefinition, check};
use serde_json::{Map, json};
use url::Url;

/// The file of a type, in JSON or TOML. A type that is not refused reads back as it was written, is filled by its own
/// examples, and has documents.
pub fn type_file(data: &[u8]) -> bool {
    let from_toml = || read_toml(str::from_utf8(data).ok()?).ok();
    let Some(definition) = read_json(data).ok().or_else(from_toml) else {
        return false;
    };
    if check(&definition).refusals.is_empty() {
        assert_reads_back(&definition);
        let filled = definition
            .fill(&Map::new(), true)
            .expect("the examples fit");
        assert_eq!(
            definition.fill(&filled, false).expect("they still fit"),
            filled
        );
        let one = CredentialType {
            vct: "urn:example:type".to_owned(),
            definition: Arc::new(definition),
            version: 1,
            state: TypeState::Published,
            is_sample: false,
            served: None,
        };
        one.disclosable().expect("its paths are short");
        let base = Url::parse("https://issuer.example/").expect("it is a URL");
        let addresses = Addresses::below(&base, &one.id, 1).expect("an id fits into an address");
        Documents::of(&one, &addresses).expect("a type has documents");
        assert_can_be_proven(&one);
    }
    true
}

/// What a credential needs can be asked for, and without a proof it is not met.
fn assert_can_be_proven(one: &CredentialType) {
    let Some(declared) = &one.prerequisites else {
        return;
    };
    let declared = declared.resolved(|id| vec![format!("urn:example:{id}")]);
    DcqlQuery::parse(&query(&declared, Format::DEFAULT.as_str()))
        .expect("a wallet can be asked for it");
    let at = UnixTime(1_769_860_800);
    let shown = Vec::new();
    assert!(judge(&declared, &WalletProof { at, shown }, at).is_err());
}

fn assert_reads_back(definition: &TypeDefinition) {
    let json = to_json(definition).expect("it can be JSON");
    if json.len() <= FILE_BYTES_MAX {
        assert_eq!(
            &read_json(json.as_bytes()).expect("it is a file"),
            definition
        );
    }
    // TOML has no null, and no number beyond 64 bits with a sign.
    if let Ok(toml) = to_toml(definition)
        && toml.len() <= FILE_BYTES_MAX
    {
        assert_eq!(&read_toml(&toml).expect("it is a file"), definition);
    }
}

/// A description of another program. What was not taken over is bounded, and the definition can be written and read.
pub fn type_import(data: &[u8]) -> bool {
    let Ok(imported) = import(data, None) else {
        return false;
    };
    assert!(imported.left_out.len() <= 100);
    let _ = check(&imported.definition);
    let json = to_json(&imported.definition).expect("it can be JSON");
    if json.len() <= FILE_BYTES_MAX {
        read_json(json.as_bytes()).expect("it is a file");
    }
    true
}

pub(super) fn file_seeds() -> Vec<Vec<u8>> {
    let samples = selfsame_types::samples::samples("urn:selfsame:credential:");
    let mut seeds = Vec::new();
    for one in samples.iter().take(3) {
        seeds.push(
            to_json(&one.definition)
                .expect("it can be JSON")
                .into_bytes(),
        );
        seeds.push(
            to_toml(&one.definition)
                .expect("it can be TOML")
                .into_bytes(),
        );
    }
    let small = json!({
        "id": "one", "title": {"en": "One"}, "claims": [
            {"path": ["a", "b"], "kind": "number", "min": 1.5, "integer": true},
            {"path": ["c"], "kind": "list", "of": {"kind": "enumeration", "values": [{"value": "x"}]}},
            {"path": ["d"], "kind": "text", "pattern": "[a-z]+", "example": "a", "disclosed": "never"},
        ],
        "card": {"logo": {"uri": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="}},
    });
    seeds.push(small.to_string().into_bytes());
    let needing = json!({
        "id": "two", "title": {"en": "Two"}, "formats": ["dc+sd-jwt"], "claims": [
            {"path": ["a"], "kind": "text"}, {"path": ["b"], "kind": "date"}, {"path": ["c"], "kind": "text"},
        ],
        "prerequisites": {
            "options": [["x", "y"], ["x", "z"]],
            "needs": [
                {"name": "x", "vct_values": ["urn:x"], "issuers": ["did:web:a.example"], "get_at": "https://a.example/",
                 "conditions": [{"claim": ["n"], "at_least": 1, "at_most": 3}, {"claim": ["s"], "one_of": ["p", "q"]}]},
                {"name": "y", "type": "one", "days_left": 3, "conditions": [
                    {"claim": ["d"], "not_before": "today-9", "not_after": "2030-01-31"},
                    {"claim": ["s"], "same_as": {"need": "x", "claim": ["s"]}}]},
                {"name": "z", "vct_values": ["urn:z", "urn:y"], "conditions": [{"claim": ["k", "l"], "equals": true}]},
            ],
            "fills": [
                {"claim": ["a"], "proven": {"need": "x", "claim": ["m"]}, "optional": true},
                {"claim": ["b"], "helper": "today", "may_change": true}, {"claim": ["c"], "literal": "c"},
            ],
        },
    });
    seeds.push(needing.to_string().into_bytes());
    seeds
}

pub(super) fn import_seeds() -> Vec<Vec<u8>> {
    let metadata = json!({
        "vct": "urn:example:type", "name": "One", "extends": "urn:example:other",
        "display": [{"locale": "de", "name": "Eins", "rendering": {"simple": {"text_color": "#123456"}}}],
        "claims": [{"path": ["a", null, "b"], "sd": "always", "display": [{"locale": "en", "label": "A"}]}],
    });
    let schema = json!({
        "title": "One", "required": ["a"],
        "properties": {"a": {"type": "string", "pattern": "^a$"}, "b": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"type": "array", "items": {"enum": ["x"]}}},
    });
    let bundle = json!([{
        "capture_base": {"type": "spec/capture_base/1.0", "attributes": {"a": "Text", "b": "DateTime"}},
        "overlays": [
            {"type": "spec/overlays/meta/1.0", "language": "en", "name": "One"},
            {"type": "spec/overlays/entry_code/1.0", "attribute_entry_codes": {"a": ["x"]}},
            {"type": "spec/overlays/format/1.0", "attribute_formats": {"b": "YYYYMMDD"}},
        ],
    }]);
    [metadata, schema, bundle]
        .map(|seed| seed.to_string().into_bytes())
        .to_vec()
}
