use selfsame_cbor::{Cbor, CborLimits};
use serde_json::{Value, json};

use super::*;
use crate::error::MdocError;
use crate::held::ElementPath;
use crate::json::to_json;

fn written(doc_type: &str, element: &str, value: &Value) -> Result<Vec<u8>, MdocError> {
    let namespace = model(doc_type).unwrap().namespaces[0].name;
    encode_element(doc_type, ElementPath { namespace, element }, value)
}

#[test]
fn the_elements_of_a_licence_have_the_encodings_of_the_standard() {
    let of = |element, value| written(MDL.doc_type, element, &value).unwrap();
    let day = [&[0xd9, 0x03, 0xec, 0x6a][..], b"2019-10-20"].concat();
    assert_eq!(of("birth_date", json!("2019-10-20")), day);
    let time = [&[0xc0, 0x74][..], b"2019-10-20T00:00:01Z"].concat();
    assert_eq!(of("issue_date", json!("2019-10-20T00:00:01Z")), time);
    assert_eq!(of("portrait", json!("/9g=")), [0x42, 0xff, 0xd8]);
    let url = json!("data:image/jpeg;base64,/9g=");
    assert_eq!(of("portrait", url), [0x42, 0xff, 0xd8]);
    assert_eq!(of("age_over_18", json!(true)), [0xf5]);
    assert_eq!(of("sex", json!(2)), [0x02]);
    let privileges = json!([{"vehicle_category_code": "B", "issue_date": "2018-08-09"}]);
    let bytes = of("driving_privileges", privileges.clone());
    assert!(bytes.windows(3).any(|part| part == [0xd9, 0x03, 0xec]));
    let item = Cbor::parse(&bytes, &CborLimits::default()).unwrap();
    assert_eq!(to_json(&item), privileges);
}

#[test]
fn a_value_that_does_not_fit_its_element_is_refused_by_name() {
    for (element, value) in [
        ("family_name", json!("x".repeat(151))),
        ("family_name", json!(7)),
        ("birth_date", json!("2019-02-30")),
        ("birth_date", json!("2019-10-20T00:00:00Z")),
        ("issue_date", json!("2019-10-20T00:00:00+01:00")),
        ("issue_date", json!("2019-10-20T00:00:00.5Z")),
        ("issuing_country", json!("at")),
        ("portrait", json!("?")),
        ("age_over_18", json!("yes")),
        ("sex", json!(-1)),
        ("driving_privileges", json!("B")),
    ] {
        let refused = written(MDL.doc_type, element, &value);
        let MdocError::Value { element: named, .. } = refused.unwrap_err() else {
            panic!("{element} {value}")
        };
        assert_eq!(named, element);
    }
    assert!(written(PID.doc_type, "nationality", &json!(["AT", "FR"])).is_ok());
    assert!(written(PID.doc_type, "nationality", &json!([])).is_err());
    assert!(written(PID.doc_type, "nationality", &json!(["Austria"])).is_err());
}

#[test]
fn an_element_that_is_not_known_is_written_as_its_json_says() {
    let of = |value| written(MDL.doc_type, "org.example.other", &value);
    assert_eq!(of(json!("2019-10-20")).unwrap()[0], 0x6a);
    assert_eq!(of(json!([1, -1, null])).unwrap(), [0x83, 0x01, 0x20, 0xf6]);
    assert!(of(json!(1.5)).is_err());
    let deep = (0..20).fold(json!(1), |value, _| json!([value]));
    assert!(of(deep).is_err());
}

#[test]
fn the_mandatory_elements_that_are_missing_are_named() {
    let missing = MDL.missing(MDL_NAMESPACE, &["family_name", "given_name"]);
    assert_eq!(missing.len(), 9);
    assert!(missing.contains(&"portrait"));
    assert_eq!(MDL.missing("other", &[]), Vec::<&str>::new());
    assert_eq!(MDL.element(MDL_NAMESPACE, "age_over_x1"), None);
}
