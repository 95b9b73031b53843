//! Connections 1.0: the examples of RFC 0160, and what agents really send.

use selfsame_aries::connections::{ConnectionMessage, InvitedTo};
use selfsame_aries::wire::{Incoming, Unreadable};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Version;
use serde_json::{Value, json};

fn read(value: &Value) -> Result<ConnectionMessage, Unreadable> {
    let message = Message::read(value.to_string().as_bytes(), Version::V1).unwrap();
    Incoming::read(&message).map(|read| read.content)
}

const KEY: &str = "8HH5gYEeNc3z7PYXmd54d4x6qAfCNrqQqEB3nS7Zfu7K";

#[test]
fn the_invitations_of_the_rfc_are_read_in_each_form() {
    let with = |members: Value| {
        let mut value = json!({
            "@type": "https://didcomm.org/connections/1.0/invitation",
            "@id": "12345678900987654321",
            "label": "Alice",
        });
        value
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        match read(&value) {
            Ok(ConnectionMessage::Invitation(invitation)) => Ok(invitation.to),
            Ok(_) => panic!("it is an invitation"),
            Err(error) => Err(error),
        }
    };
    let public = with(json!({ "did": "did:sov:QmWbsNYhMrjHiqZDTUTEJs" })).unwrap();
    assert_eq!(
        public,
        InvitedTo::Did("did:sov:QmWbsNYhMrjHiqZDTUTEJs".to_owned())
    );
    let keys = with(json!({
        "recipientKeys": [KEY], "serviceEndpoint": "https://example.com/endpoint", "routingKeys": [KEY],
    }));
    let InvitedTo::Keys {
        recipient_keys,
        endpoint,
        routing_keys,
    } = keys.unwrap()
    else {
        panic!("it has keys");
    };
    assert_eq!(recipient_keys[0].to_base58(), KEY);
    assert_eq!(endpoint, "https://example.com/endpoint");
    assert_eq!(routing_keys, recipient_keys);
    // Agents write absent members as null, and add their own.
    let sloppy = json!({
        "recipientKeys": [KEY], "serviceEndpoint": "http://a:8000/", "routingKeys": null, "imageUrl": null, "did": null,
        "trace": false,
    });
    assert!(with(sloppy).is_ok());
    for incomplete in [
        json!({}),
        json!({ "recipientKeys": [KEY] }),
        json!({ "recipientKeys": [], "serviceEndpoint": "https://example.com" }),
        json!({ "recipientKeys": [KEY], "serviceEndpoint": "https://example.com", "did": "did:sov:Q" }),
    ] {
        assert!(matches!(with(incomplete), Err(Unreadable::Rule(_))));
    }
    let wrong =
        with(json!({ "recipientKeys": ["no key"], "serviceEndpoint": "https://example.com" }));
    assert!(matches!(wrong, Err(Unreadable::Body(_))));
}

#[test]
fn the_request_of_the_rfc_is_read() {
    let request = read(&json!({
        "@id": "5678876542345",
        "@type": "https://didcomm.org/connections/1.0/request",
        "label": "Bob",
        "connection": { "DID": "B.did@B:A", "DIDDoc": { "@context": "https://w3id.org/did/v1" } },
    }));
    let Ok(ConnectionMessage::Request(request)) = request else {
        panic!("it is a request");
    };
    assert_eq!(request.connection.did, "B.did@B:A");
    let other = read(&json!({
        "@id": "5678876542345",
        "@type": "https://didcomm.org/connections/1.0/request",
        "connection": { "DID": "did:sov:A", "DIDDoc": { "id": "did:sov:B" } },
    }));
    assert!(matches!(other, Err(Unreadable::Rule(_))));
}

#[test]
fn the_problem_report_of_the_rfc_is_read_whichever_way_its_name_is_written() {
    for name in ["problem_report", "problem-report"] {
        let report = read(&json!({
            "@type": format!("https://didcomm.org/connections/1.0/{name}"),
            "@id": "5678876542345",
            "~thread": { "thid": "1" },
            "~i10n": { "locale": "en" },
            "problem-code": "request_not_accepted",
            "explain": "Unsupported DID method for provided DID.",
        }));
        let Ok(ConnectionMessage::Report(report)) = report else {
            panic!("it is a report");
        };
        assert_eq!(report.code.as_deref(), Some("request_not_accepted"));
        assert_eq!(
            report.line(),
            "request_not_accepted: Unsupported DID method for provided DID."
        );
    }
}
