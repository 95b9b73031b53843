//! Tests the examples of W3C credentials as JWTs. Their keys are not published, so signatures are not verified.

use std::{fs, path::PathBuf};

use selfsame_credential::w3c::{Model, VcJwt, VpJwt};
use selfsame_crypto::{jws, time::UnixTime};
use serde_json::{Value, json};

fn vector(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/vc-jwt");
    serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
}

fn token(header: &Value, payload: &Value) -> String {
    jws::Unsigned::new(header, payload).finish(&[0; 64])
}

#[test]
fn the_claims_of_the_1_1_example_become_members_of_its_credential() {
    let vector = vector("vcdm_1_1.json");
    let text = token(&vector["header"], &vector["payload"]);
    let read = VcJwt::parse(&text, Model::V1).unwrap();
    assert_eq!(*read.credential(), vector["credential"]);
    assert_eq!(read.issuer(), vector["payload"]["iss"].as_str());
    assert_eq!(read.subject(), vector["payload"]["sub"].as_str());
    let validity = read.validity().unwrap();
    assert_eq!(validity.not_before, Some(UnixTime(1_541_493_724)));
    assert_eq!(validity.expires, Some(UnixTime(1_573_029_723)));
}

#[test]
fn the_2_0_example_is_read_alone_and_out_of_its_envelope() {
    let vector = vector("vc_jose_cose.json");
    let text = token(&vector["header"], &vector["payload"]);
    let read = VcJwt::parse(&text, Model::V2).unwrap();
    assert_eq!(*read.credential(), vector["payload"]);
    assert_eq!(read.issuer(), Some("https://university.example/issuers/14"));
    assert_eq!(
        read.validity().unwrap().not_before,
        UnixTime::parse_rfc3339("2010-01-01T19:23:24Z")
    );
    assert!(VcJwt::parse(&text, Model::V1).is_err());

    let enveloped = json!({
        "@context": "https://www.w3.org/ns/credentials/v2",
        "type": "VerifiablePresentation",
        "verifiableCredential": [{
            "@context": ["https://www.w3.org/ns/credentials/v2"],
            "type": ["EnvelopedVerifiableCredential"],
            "id": format!("data:application/vc+jwt,{text}"),
        }],
    });
    let presentation = VpJwt::parse(&token(&vector["header"], &enveloped), Model::V2).unwrap();
    assert_eq!(presentation.credential().credential(), read.credential());
}
