//! A recorded licence stays readable and valid, whatever changes here.

use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use super::*;
use crate::json::to_json;
use crate::security::MdocStatus;
use crate::verify::KnownStatus;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/mdoc/licence.json"
);

#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_licences() {
    let scene = Scene::new();
    let (index, uri) = (412, "https://issuer.example/status/1");
    let status = MdocStatus::List {
        index,
        uri: uri.to_owned(),
    };
    let terms = Terms {
        status,
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    let vector = json!({
        "comment": "A driving licence with three decoys and a status, presented with two elements over the Digital Credentials API without encryption: signed by the device, and with a tag.",
        "source": "made by this project",
        "now": NOW.0,
        "doc_type": MDL.doc_type,
        "status": {"uri": uri, "index": index},
        "origin": "https://reader.example",
        "nonce": "nonce",
        "authority": hex_encode(&scene.authorities[0]),
        "reader_key": hex_encode(scene.reader.to_raw().unwrap().expose()),
        "transcript": hex_encode(scene.transcript.as_bytes()),
        "issued": hex_encode(&issued),
        "signed": hex_encode(&scene.signed(&issued, &[])),
        "tagged": hex_encode(&scene.authenticated(&issued, &scene.transcript)),
    });
    let text = serde_json::to_string_pretty(&vector).unwrap();
    std::fs::write(FILE, format!("{text}\n")).unwrap();
}

#[test]
fn the_recorded_responses_are_valid_for_their_session() {
    let vector = std::fs::read(FILE).unwrap();
    let vector: Value = serde_json::from_slice(&vector).unwrap();
    let text = |name: &str| vector[name].as_str().unwrap();
    let bytes = |name: &str| hex_decode(text(name)).unwrap();
    let transcript = SessionTranscript::of_dc_api(&DcApiHandover {
        origin: text("origin"),
        nonce: text("nonce"),
        thumbprint: None,
    });
    assert_eq!(transcript.as_bytes(), bytes("transcript"));
    let reader = AgreementPrivate::from_raw(AgreementCurve::P256, &bytes("reader_key")).unwrap();
    let authorities = [bytes("authority")];
    let now = UnixTime(vector["now"].as_u64().unwrap());
    let status = [KnownStatus {
        uri: vector["status"]["uri"].as_str().unwrap(),
        index: vector["status"]["index"].as_u64().unwrap(),
        value: Ok(0),
        at: now,
    }];
    let court = MdocCourt {
        now,
        leeway: 0,
        authorities: &authorities,
        algorithms: None,
        statuses: &status,
        require_status: true,
    };
    let request = MdocRequest {
        transcript: &transcript,
        reader_key: Some(&reader),
        doc_type: text("doc_type"),
        wanted: &WANTED,
    };
    for name in ["signed", "tagged"] {
        let response = bytes(name);
        let (verdict, document) = verify(&response, &request, &court);
        assert!(verdict.is_valid(), "{name} {verdict:#?}");
        let value = document.unwrap().value(WANTED[0]).map(to_json);
        assert_eq!(value, Some(Value::from("Mustermann")));
    }
}
