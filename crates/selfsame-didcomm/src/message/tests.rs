//! Tests of reading and writing messages.

mod attachments;
mod round_trip;

use serde_json::json;

use super::*;

fn v1(value: Value) -> Result<Message, Error> {
    Message::read(value.to_string().as_bytes(), Version::V1)
}

fn v2(value: Value) -> Result<Message, Error> {
    Message::read(value.to_string().as_bytes(), Version::V2)
}

#[test]
fn the_example_of_rfc_0008_is_read() {
    let message = v1(json!({
        "@type": "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/example_family/1.0/example_type",
        "@id": "98fd8d72-80f6-4419-abc2-c65ea39d0f38",
        "~thread": {
            "thid": "98fd8d72-80f6-4419-abc2-c65ea39d0f38",
            "pthid": "1e513ad4-48c9-444e-9e7e-5b8b45c5e325",
            "sender_order": 3,
            "received_orders": { "did:sov:abcxyz": 1, "did:sov:jklmno": -1 },
            "goal_code": "aries.vc.issue"
        },
        "example_attribute": "example_value"
    }));
    let message = message.unwrap();
    assert_eq!(message.kind.prefix, Prefix::Legacy);
    assert_eq!(message.thread_id(), "98fd8d72-80f6-4419-abc2-c65ea39d0f38");
    assert_eq!(message.thread.sender_order, Some(3));
    assert_eq!(message.thread.received_orders["did:sov:jklmno"], -1);
    assert_eq!(
        message.body,
        *json!({ "example_attribute": "example_value" })
            .as_object()
            .unwrap()
    );
}

#[test]
fn a_message_without_thread_or_with_an_empty_one_begins_a_thread() {
    let plain = json!({ "@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "a" });
    assert_eq!(v1(plain).unwrap().thread_id(), "a");
    let empty =
        json!({ "@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "a", "~thread": {} });
    let message = v1(empty).unwrap();
    assert_eq!(message.thread_id(), "a");
    let kind = message.kind.sibling("ping_response");
    let reply = message.reply(kind, "b");
    assert_eq!(reply.thread_id(), "a");
    assert_eq!(
        reply.kind.to_string(),
        "https://didcomm.org/trust_ping/1.0/ping_response"
    );
}

#[test]
fn decorators_that_are_unknown_are_kept_apart_from_the_body() {
    let message = v1(json!({
        "@type": "https://didcomm.org/connections/1.0/response", "@id": "a",
        "~trace": { "target": "log" }, "~transport": { "return_route": "all" },
        "~please_ack": { "on": ["RECEIPT", "SOMETIMES"] },
        "connection~sig": { "signer": "x" }, "comment": "hello"
    }));
    let message = message.unwrap();
    assert_eq!(message.return_route, Some(ReturnRoute::All));
    assert_eq!(message.please_ack.unwrap().on, [AckOn::Receipt]);
    let of_body: Vec<&String> = message.body.keys().collect();
    assert_eq!(of_body, ["comment", "connection~sig"]);
    assert_eq!(message.other["~trace"]["target"], "log");
}

#[test]
fn return_routes_that_are_unknown_count_as_not_given() {
    for route in [json!("some"), json!(1), json!(null)] {
        let message = v1(json!({
            "@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "a",
            "~transport": { "return_route": route }
        }));
        assert_eq!(message.unwrap().return_route, None);
    }
    let message = v2(json!({
        "type": "https://didcomm.org/trust-ping/2.0/ping", "id": "a",
        "return_route": "thread", "return_route_thread": "t"
    }));
    let route = message.unwrap().return_route;
    assert_eq!(route, Some(ReturnRoute::Thread("t".to_owned())));
}

#[test]
fn a_message_of_v2_has_its_headers_and_its_body() {
    let message = v2(json!({
        "id": "1234567890", "type": "https://didcomm.org/lets_do_lunch/1.0/proposal",
        "typ": "application/didcomm-plain+json",
        "from": "did:example:alice", "to": ["did:example:bob"],
        "created_time": 1_516_269_022, "expires_time": 1_516_385_931,
        "thid": "t", "pthid": "p", "please_ack": [""], "lang": "fr",
        "body": { "attribute": "and its value" }
    }));
    let message = message.unwrap();
    assert_eq!(message.from.unwrap().did.as_str(), "did:example:alice");
    assert_eq!(message.to.len(), 1);
    assert_eq!(message.created, Some(UnixTime(1_516_269_022)));
    assert_eq!(message.please_ack.unwrap().ids, [""]);
    assert_eq!(message.other["lang"], "fr");
    assert_eq!(message.body["attribute"], "and its value");
}

#[test]
fn members_that_are_missing_or_malformed_are_refused() {
    let kind = "https://didcomm.org/trust_ping/1.0/ping";
    for (value, expected) in [
        (json!({ "@id": "a" }), Error::Missing("@type")),
        (json!({ "@type": kind }), Error::Missing("@id")),
        (
            json!({ "@type": "ping", "@id": "a" }),
            Error::Malformed("message type"),
        ),
        (
            json!({ "@type": "trust_ping/1.0/ping", "@id": "a" }),
            Error::Malformed("message type"),
        ),
        (
            json!({ "@type": kind, "@id": "a b" }),
            Error::Malformed("identifier of the message"),
        ),
        (
            json!({ "@type": kind, "@id": 1 }),
            Error::Malformed("identifier of the message"),
        ),
        (
            json!({ "@type": kind, "@id": "a", "~thread": 1 }),
            Error::Malformed("thread"),
        ),
        (
            json!({ "@type": kind, "@id": "a", "~thread": { "thid": 1 } }),
            Error::Malformed("thread"),
        ),
        (
            json!({ "@type": kind, "@id": "a", "x~attach": 1 }),
            Error::Malformed("attachment"),
        ),
        (json!([]), Error::Malformed("message")),
    ] {
        assert_eq!(v1(value.clone()), Err(expected), "{value}");
    }
    for (member, value) in [
        ("from", json!("alice")),
        ("from", json!("did:example:alice#key-1")),
        ("to", json!("did:example:bob")),
        ("to", json!(["bob"])),
        ("created_time", json!("2020-01-01")),
        ("created_time", json!(-1)),
        ("body", json!([])),
        ("typ", json!("application/didcomm-signed+json")),
        ("attachments", json!({})),
        ("please_ack", json!({ "on": ["RECEIPT"] })),
        ("from_prior", json!({})),
    ] {
        let mut message = json!({ "type": kind, "id": "a" });
        assert!(v2(message.clone()).is_ok());
        message[member] = value.clone();
        assert!(v2(message).is_err(), "{member}: {value}");
    }
}

#[test]
fn a_message_beyond_the_limits_is_refused() {
    let kind = "https://didcomm.org/basicmessage/1.0/message";
    let long = "x".repeat(LIMITS.max_bytes);
    let message = json!({ "@type": kind, "@id": "a", "content": long });
    assert!(matches!(v1(message), Err(Error::Json(_))));
    let attachment = json!({ "data": { "base64": "" } });
    let many = vec![attachment; MAX_ATTACHMENTS + 1];
    let message = json!({ "@type": kind, "@id": "a", "~attach": many });
    assert_eq!(v1(message), Err(Error::TooLarge("list of attachments")));
    let message = json!({ "@type": kind, "@id": "x".repeat(1025) });
    assert!(v1(message).is_err());
}

#[test]
fn a_type_is_read_and_written_with_its_prefix() {
    for (text, prefix, protocol) in [
        (
            "https://didcomm.org/issue-credential/2.0/offer-credential",
            Prefix::Didcomm,
            "issue-credential",
        ),
        (
            "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/connections/1.0/request",
            Prefix::Legacy,
            "connections",
        ),
        (
            "issue-credential/2.0/credential-preview",
            Prefix::Absent,
            "issue-credential",
        ),
        (
            "https://example.com/protocols?which=lets_do_lunch/1.0/proposal",
            Prefix::Other("https://example.com/protocols?which=".to_owned()),
            "lets_do_lunch",
        ),
    ] {
        let kind = MessageType::parse(text).unwrap();
        assert_eq!(kind.prefix, prefix);
        assert_eq!(kind.protocol, protocol);
        assert_eq!(kind.to_string(), text);
    }
}

#[test]
fn what_is_no_type_is_refused() {
    for text in [
        "",
        "ping",
        "https://didcomm.org/ping",
        "https://didcomm.org/trust_ping/1/ping",
        "https://didcomm.org/trust_ping/1.0",
        "https://didcomm.org/trust_ping/1.0/",
        "https://didcomm.org//1.0/ping",
        "https://didcomm.org/trust_ping/1.x/ping",
        "https://didcomm.org/trust_ping/01.0/ping",
        "https://didcomm.org/trust_ping/1.99999/ping",
        "https://didcomm.org/trust ping/1.0/ping",
        "https://did comm.org/trust_ping/1.0/ping",
        "https://didcomm.org/trust_ping/1.0/-",
    ] {
        assert_eq!(
            MessageType::parse(text),
            Err(Error::Malformed("message type")),
            "{text}"
        );
    }
    let long = format!("https://didcomm.org/{}/1.0/ping", "x".repeat(512));
    assert_eq!(
        MessageType::parse(&long),
        Err(Error::TooLarge("message type"))
    );
}

#[test]
fn names_are_compared_without_case_and_punctuation() {
    let kind = MessageType::parse("https://didcomm.org/Trust-Ping/1.0/ping_response").unwrap();
    assert!(kind.is("trust_ping", "ping-response"));
    assert!(kind.is_of("trustping", 1));
    assert!(!kind.is_of("trust_ping", 2));
    assert!(!kind.is("trust_ping", "ping"));
}

#[test]
fn versions_that_differ_in_the_minor_number_have_the_lower_one_in_common() {
    let version = Semver::new;
    for (own, theirs, common) in [
        (version(2, 2), version(2, 0), Some(version(2, 0))),
        (version(1, 0), version(1, 2), Some(version(1, 0))),
        (version(1, 1), version(1, 1), Some(version(1, 1))),
        (version(2, 0), version(1, 0), None),
        (version(0, 1), version(0, 2), None),
        (version(0, 1), version(0, 1), Some(version(0, 1))),
    ] {
        assert_eq!(own.common(theirs), common, "{own} {theirs}");
    }
}
