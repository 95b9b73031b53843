//! Requests of DIF Presentation Exchange.

use selfsame_dif::definition::DefinedRequest;
use serde_json::Value;

/// A request for a proof. It reads back as it was written, and the place of each field that claims meet has a value.
pub fn presentation_definition(data: &[u8]) -> bool {
    let Ok(request) = DefinedRequest::parse(data) else {
        return false;
    };
    let written = serde_json::to_vec(&request).expect("a request is JSON");
    let again = DefinedRequest::parse(&written).expect("a request reads back");
    assert_eq!(serde_json::to_vec(&again).ok(), Some(written));
    let claims: Value = serde_json::from_slice(data).expect("a request is JSON");
    for descriptor in &request.presentation_definition.input_descriptors {
        for place in descriptor.met_in(&claims).unwrap_or_default() {
            assert!(!place.select(&claims).is_empty());
        }
    }
    true
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"{"presentation_definition":{"id":"a","input_descriptors":[{"id":"b","constraints":{}}]}}"#,
        r#"{"options":{"challenge":"c","domain":"d"},"presentation_definition":{"id":"a","name":"n","format":{"x":{}},
            "input_descriptors":[{"id":"b","purpose":"p","constraints":{"limit_disclosure":"required","fields":[
            {"path":["$.vct","$.presentation_definition.id"],"filter":{"type":"string","const":"a"}},
            {"path":["$['options'].domain"],"optional":true},
            {"path":["$.presentation_definition.input_descriptors[*].id","$.a[0]"],"filter":{"enum":["b",1,null]}},
            {"path":["$.vc.type"],"filter":{"contains":{"const":"T"}},"optional":true}]}}]}}"#,
    ];
    seeds.map(|seed| seed.as_bytes().to_vec()).to_vec()
}
