use selfsame_crypto::encoding::base64url_decode;

use super::*;

const FROM: &str = "did:example:alice";

fn members(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The example of DIDComm v2.1, "Out Of Band Messages".
fn example() -> Map<String, Value> {
    members(json!({
        "type": "https://didcomm.org/out-of-band/2.0/invitation",
        "id": "1234567890",
        "from": FROM,
        "body": {
            "goal_code": "issue-vc",
            "goal": "To issue a Faber College Graduate credential",
            "accept": ["didcomm/v2", "didcomm/aip2;env=rfc587"],
        },
        "attachments": [{
            "id": "request-0",
            "media_type": "application/json",
            "data": {"json": {
                "type": "https://didcomm.org/trust-ping/2.0/ping", "id": "p", "body": {},
            }},
        }],
    }))
}

fn invitation_of(members: Map<String, Value>) -> OobInvitation {
    match read(members).unwrap().content {
        OobMessage::Invitation(invitation) => invitation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_example_is_read_and_written_again() {
    let invitation = invitation_of(example());
    assert_eq!(invitation.goal_code.as_deref(), Some("issue-vc"));
    assert_eq!(invitation.services, [OobService::Did(FROM.to_owned())]);
    assert_eq!(invitation.handshake_protocols, [MADE_BY]);
    assert_eq!(invitation.requests.len(), 1);
    assert_eq!(invitation.requests[0].kind.protocol, "trust_ping");
    let written = write("1234567890", &FROM.parse().unwrap(), &invitation).unwrap();
    assert_eq!(invitation_of(written.clone()), invitation);
    assert_eq!(recorded(&json!(written).to_string()), Some(invitation));
}

#[test]
fn attached_messages_that_nobody_here_speaks_are_left_out() {
    let mut members = example();
    members["attachments"][0]["data"]["json"]["type"] = json!("https://didcomm.org/chess/1.0/move");
    assert!(invitation_of(members).requests.is_empty());
}

#[test]
fn the_link_has_the_invitation() {
    let base: Url = "https://example.com/ssi".parse().unwrap();
    let link = link(&base, &example());
    let (name, text) = link.query_pairs().next().unwrap();
    assert_eq!(name, "_oob");
    let bytes = base64url_decode(&text).unwrap();
    let read: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(read, Value::Object(example()));
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let sixteen = vec![json!({"id": "a", "data": {"json": {}}}); 17];
    for (name, value) in [
        ("from", Value::Null),
        ("id", Value::Null),
        (
            "type",
            json!("https://didcomm.org/out-of-band/1.1/invitation"),
        ),
        (
            "type",
            json!("https://didcomm.org/out-of-band/2.0/handshake-reuse"),
        ),
        ("body", json!({"accept": ["didcomm/aip1"]})),
        ("body", json!({"accept": 1})),
        ("body", json!({"goal": {}})),
        ("attachments", json!([{"id": "a", "data": {"json": []}}])),
        (
            "attachments",
            json!([{"id": "a", "data": {"links": ["https://a/"]}}]),
        ),
        ("attachments", json!(sixteen)),
    ] {
        let mut members = example();
        members.insert(name.to_owned(), value.clone());
        assert!(read(members).is_err(), "{name} {value}");
    }
}

#[test]
fn an_invitation_without_profiles_takes_any() {
    let mut members = example();
    members.insert("body".to_owned(), json!({}));
    assert!(invitation_of(members).accept.is_empty());
}
