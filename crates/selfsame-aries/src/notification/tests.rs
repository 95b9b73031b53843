use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::message::Version;
use serde_json::{Value, json};

use super::*;
use crate::wire::Incoming;

fn message(value: &Value) -> Message {
    Message::read(value.to_string().as_bytes(), Version::V1).unwrap()
}

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1_700_000_000), [7; 32])
}

#[test]
fn what_is_not_read_is_reported_in_its_thread_and_a_report_never() {
    let value =
        json!({"@type": "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/trust_ping/2.0/ping", "@id": "a"});
    let report = answer_unreadable(&Unreadable::Version, &message(&value), &ctx()).unwrap();
    let written: Value = serde_json::from_slice(&report.write(Version::V1)).unwrap();
    assert_eq!(
        written["@type"],
        "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/report-problem/1.0/problem-report"
    );
    assert_eq!(written["~thread"]["thid"], "a");
    assert_eq!(written["description"]["code"], "version-not-supported");
    assert_eq!(
        answer_unreadable(&Unreadable::Version, &report, &ctx()),
        None
    );
}

#[test]
fn a_report_is_read_in_each_form_in_which_agents_write_it() {
    let read = |members: Value| {
        let mut value =
            json!({"@type": "https://didcomm.org/report-problem/1.0/problem-report", "@id": "a"});
        value
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        ProblemReport::read(&message(&value))
    };
    let told = ProblemReport::new("cant-find-route", "Unable to find a route.");
    // RFC 0035, first and second example; RFC 0023; older agents.
    for members in [
        json!({ "description": { "en": "Unable to find a route.", "code": "cant-find-route" } }),
        json!({ "description": { "fr": "Unable to find a route.", "code": "cant-find-route" } }),
        json!({ "description": "Unable to find a route.", "description~l10n": { "code": "cant-find-route" } }),
        json!({ "problem-code": "cant-find-route", "explain": "Unable to find a route." }),
        json!({ "problem-code": "cant-find-route", "explain-ltxt": "Unable to find a route." }),
    ] {
        assert_eq!(read(members.clone()), told, "{members}");
    }
    assert_eq!(read(json!({ "description": 7 })), ProblemReport::default());
    assert_eq!(read(json!({})).line(), "the peer reported a problem");
}

#[test]
fn an_acknowledgement_is_ok_or_pending_and_nothing_else() {
    let read = |status: Value| {
        let value = json!({"@type": "https://didcomm.org/notification/1.0/ack", "@id": "a", "status": status});
        Incoming::<NotificationMessage>::read(&message(&value)).map(|read| read.content)
    };
    assert_eq!(read(json!("OK")), Ok(NotificationMessage::Ack(Ack::OK)));
    assert_eq!(read(Value::Null), Ok(NotificationMessage::Ack(Ack::OK)));
    assert!(read(json!("PENDING")).is_ok());
    assert!(read(json!("FAIL")).is_err());
}
