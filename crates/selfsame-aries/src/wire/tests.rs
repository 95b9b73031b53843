use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::message::Version;
use serde_json::{Value, json};

use super::*;
use crate::trust_ping::TrustPingMessage;

fn message(value: &Value) -> Message {
    Message::read(value.to_string().as_bytes(), Version::V1).unwrap()
}

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1_700_000_000), [7; 32])
}

#[test]
fn a_message_without_a_thread_begins_one() {
    let read = |thread: Value| {
        let mut value = json!({"@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "a"});
        value["~thread"] = thread;
        Incoming::<TrustPingMessage>::read(&message(&value)).unwrap()
    };
    assert_eq!(read(Value::Null).thread_id, "a");
    assert_eq!(read(json!({})).thread_id, "a");
    assert_eq!(
        read(json!({ "thid": "t", "pthid": "p" }))
            .parent_thread_id
            .as_deref(),
        Some("p")
    );
}

#[test]
fn a_later_minor_version_is_answered_with_ours_and_another_major_version_is_refused() {
    let read = |kind: &str| {
        let value = json!({"@type": format!("https://didcomm.org/{kind}"), "@id": "a"});
        Incoming::<TrustPingMessage>::read(&message(&value)).map(|read| read.kind.version)
    };
    assert_eq!(read("trust_ping/1.0/ping"), Ok(Semver::new(1, 0)));
    assert_eq!(read("trust_ping/1.7/ping"), Ok(Semver::new(1, 0)));
    assert_eq!(read("trust_ping/2.0/ping"), Err(Unreadable::Version));
    assert_eq!(read("other/1.0/ping"), Err(Unreadable::Protocol));
    assert_eq!(read("trust_ping/1.0/pong"), Err(Unreadable::Name));
}

#[test]
fn fresh_identifiers_are_uuids() {
    let id = fresh_id("x", &ctx());
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert_eq!(id.as_bytes()[14], b'4');
    assert!(b"89ab".contains(&id.as_bytes()[19]));
    assert_ne!(id, fresh_id("y", &ctx()));
}
