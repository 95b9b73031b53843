use proptest::prelude::*;

use super::*;

const DID: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";

fn did() -> Did {
    Did::parse(DID).unwrap()
}

fn answer(value: &Value) -> Result<RegistrarAnswer, AnswerError> {
    RegistrarAnswer::parse(value.to_string().as_bytes(), &did())
}

fn request(operation: Operation, document: Option<Value>) -> Value {
    let did = did();
    let options = Map::from_iter([("network".to_owned(), json!("testnet"))]);
    let request = RegistrarRequest {
        operation,
        did: &did,
        document,
        options,
        job: None,
        signatures: Vec::new(),
    };
    request.to_value()
}

#[test]
fn each_operation_is_asked_for_in_its_own_form() {
    let document = json!({"id": DID});
    let options = json!({"network": "testnet", "clientSecretMode": true});
    assert_eq!(
        request(Operation::Create, Some(document.clone())),
        json!({"didDocument": document, "options": options, "secret": {}})
    );
    assert_eq!(
        request(Operation::Update, Some(document.clone())),
        json!({
            "did": DID, "didDocument": [document], "didDocumentOperation": ["setDidDocument"],
            "options": options, "secret": {},
        })
    );
    assert_eq!(
        request(Operation::Deactivate, None),
        json!({"did": DID, "options": options, "secret": {}})
    );
}

#[test]
fn signatures_answer_the_requests_they_are_for() {
    let did = did();
    let asked = SigningRequest {
        id: "signingRequest0".to_owned(),
        kid: did.with_fragment("key-1").unwrap(),
        payload: vec![1],
    };
    let request = RegistrarRequest {
        operation: Operation::Deactivate,
        did: &did,
        document: None,
        options: Map::new(),
        job: Some("job-1"),
        signatures: vec![(asked, vec![0xff, 0xfe])],
    };
    let value = request.to_value();
    assert_eq!(value["jobId"], "job-1");
    assert_eq!(
        value["secret"],
        json!({"signingResponse": {"signingRequest0": {
            "kid": format!("{DID}#key-1"), "alg": "EdDSA", "signature": "//4=",
        }}})
    );
}

#[test]
fn each_state_is_read() {
    let finished =
        json!({"jobId": "1", "didState": {"did": DID, "state": "finished", "secret": {}}});
    assert_eq!(answer(&finished), Ok(RegistrarAnswer::Finished));
    // DID Registration, didState.state="wait".
    let wait = json!({"jobId": "1", "didState": {"state": "wait", "wait": "Please wait", "waitTime": 3_600_000}});
    assert_eq!(
        answer(&wait),
        Ok(RegistrarAnswer::Wait {
            job: "1".to_owned(),
            milliseconds: Some(3_600_000)
        })
    );
    let sign = json!({"jobId": "1", "didState": {"did": DID, "state": "action", "action": "signPayload",
        "signingRequest": {"a": {"kid": format!("{DID}#key-1"), "alg": "EdDSA", "serializedPayload": "AQI="}}}});
    let Ok(RegistrarAnswer::Sign { job, requests }) = answer(&sign) else {
        panic!("nothing to sign")
    };
    assert_eq!((job.as_str(), requests.len()), ("1", 1));
    assert_eq!(
        (requests[0].id.as_str(), &requests[0].payload),
        ("a", &vec![1, 2])
    );
    let failed = json!({"jobId": null, "didState": {"did": "", "state": "failed", "reason": "Invalid\npayload"}});
    assert_eq!(
        answer(&failed),
        Ok(RegistrarAnswer::Failed {
            reason: "Invalid payload".to_owned()
        })
    );
}

#[test]
fn an_answer_about_another_did_is_not_taken() {
    for state in ["finished", "wait", "action", "failed"] {
        let other =
            json!({"jobId": "1", "didState": {"did": "did:cheqd:testnet:x", "state": state}});
        assert_eq!(answer(&other), Err(AnswerError::OtherDid), "{state}");
    }
    let unnamed = json!({"jobId": "1", "didState": {"state": "finished"}});
    assert_eq!(answer(&unnamed), Err(AnswerError::OtherDid));
}

#[test]
fn what_is_malformed_or_asks_for_something_else_is_refused() {
    let sign = |request: Value, job: Value| json!({"jobId": job, "didState": {"state": "action", "action": "signPayload", "signingRequest": request}});
    let good = json!({"kid": format!("{DID}#key-1"), "alg": "EdDSA", "serializedPayload": "AQI="});
    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        sign(json!({ "a": changed }), json!("1"))
    };
    let many: Map<String, Value> = (0..33).map(|n| (n.to_string(), good.clone())).collect();
    for (value, error) in [
        (json!({}), AnswerError::Malformed("didState")),
        (json!({"didState": {}}), AnswerError::Malformed("state")),
        (
            json!({"didState": {"state": "new"}}),
            AnswerError::Malformed("state"),
        ),
        (
            json!({"didState": {"state": "wait"}}),
            AnswerError::Malformed("jobId"),
        ),
        (
            sign(json!({"a": good}), Value::Null),
            AnswerError::Malformed("jobId"),
        ),
        (
            sign(json!({}), json!("1")),
            AnswerError::Malformed("signingRequest"),
        ),
        (
            sign(Value::Object(many), json!("1")),
            AnswerError::Malformed("signingRequest"),
        ),
        (with("alg", json!("ES256K")), AnswerError::Unsupported),
        (
            with("kid", Value::Null),
            AnswerError::Malformed("signingRequest"),
        ),
        (
            with("serializedPayload", json!("AQI")),
            AnswerError::Malformed("signingRequest"),
        ),
        (
            json!({"jobId": "1", "didState": {"state": "action", "action": "redirect"}}),
            AnswerError::Unsupported,
        ),
    ] {
        assert_eq!(answer(&value), Err(error), "{value}");
    }
    let twice = br#"{"jobId":"1","didState":{"state":"wait","state":"finished"}}"#;
    assert_eq!(
        RegistrarAnswer::parse(twice, &did()),
        Err(AnswerError::Malformed("form"))
    );
}

#[test]
fn a_long_reason_is_cut_where_a_character_ends() {
    let failed = json!({"didState": {"state": "failed", "reason": "ü".repeat(1000)}});
    let Ok(RegistrarAnswer::Failed { reason }) = answer(&failed) else {
        panic!("it has not failed")
    };
    assert_eq!(reason, "ü".repeat(150));
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = RegistrarAnswer::parse(&bytes, &did());
    }
}
