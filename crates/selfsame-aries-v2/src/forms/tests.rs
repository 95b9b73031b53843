use proptest::prelude::*;
use selfsame_aries::protocol;
use selfsame_didcomm::message::Version;
use serde_json::{Map, Value, json};

use super::*;

/// The examples of the RFCs.
const MESSAGES: &str = include_str!("../../../../vectors/aries/messages.json");

fn of_v2(value: Value) -> Message {
    let Value::Object(members) = value else {
        panic!("an object");
    };
    Message::from_members(members, Version::V2).unwrap()
}

/// As it is on the way.
fn sent(message: &Message) -> Message {
    Message::read(&message.write(Version::V2), Version::V2).unwrap()
}

#[test]
fn the_examples_of_the_rfcs_say_the_same_after_a_way_over_version_2() {
    let vectors: Value = serde_json::from_str(MESSAGES).unwrap();
    let mut crossed = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let members = case["message"].as_object().unwrap().clone();
        let message = Message::from_members(members, Version::V1).unwrap();
        let spoken = FORMS.iter().any(|form| form.rfc.is_of(&message.kind));
        if !case["refused"].is_null() || !spoken || is_report(&message.kind) {
            continue;
        }
        let protocol = protocol::find(&message.kind).unwrap();
        let before = (protocol.reread)(&message).unwrap();
        let read = read(&sent(&write(&message).unwrap())).unwrap();
        let after = (protocol.reread)(&read).unwrap();
        assert_eq!(after.kind.name, before.kind.name);
        let [mut body, mut was] = [after.body.clone(), before.body.clone()];
        // The time of a text may be written in several ways.
        assert_eq!(
            body.remove("sent_time").is_some(),
            was.remove("sent_time").is_some()
        );
        assert_eq!(body, was, "{}", message.kind);
        assert_eq!(after.attachments, before.attachments, "{}", message.kind);
        assert_eq!(after.thread_id(), before.thread_id());
        crossed += 1;
    }
    assert!(crossed >= 15, "{crossed}");
}

#[test]
fn a_code_of_a_report_is_the_same_after_a_second_way() {
    for code in [
        "e.p",
        "e.p.",
        "e.p.e.p",
        "E.P",
        "e.p.e.p.e.p.late",
        "e.p.E.M.msg.unsupported",
        "e.p.e.m.msg.unsupported",
        "e.p.Request not accepted",
        "w.m.slow",
    ] {
        let report = of_v2(json!({
            "type": "https://didcomm.org/report-problem/2.0/problem-report", "id": "1",
            "pthid": "2", "body": { "code": code },
        }));
        let crossed = |message: &Message| read(&sent(&write(message).unwrap())).unwrap();
        let once = crossed(&read(&report).unwrap());
        assert_eq!(crossed(&once), once, "{code}");
    }
}

#[test]
fn a_preview_has_a_body_and_attachments_say_their_format() {
    let offer = of_v2(json!({
        "type": "https://didcomm.org/issue-credential/3.0/offer-credential",
        "id": "1", "thid": "1",
        "body": {
            "comment": "Your diploma",
            "credential_preview": {
                "type": "https://didcomm.org/issue-credential/3.0/credential-credential",
                "body": {"attributes": [
                    {"name": "photo", "media_type": "image/png", "value": "AA"},
                    {"name": "degree", "value": "Law"},
                ]},
            },
        },
        "attachments": [{
            "id": "a", "media_type": "application/json",
            "format": "anoncreds/credential-offer@v1.0",
            "data": {"json": {"schema_id": "s"}},
        }],
    }));
    let read = read(&offer).unwrap();
    assert_eq!(
        read.kind.to_string(),
        "https://didcomm.org/issue-credential/2.0/offer-credential"
    );
    let preview = &read.body["credential_preview"];
    assert_eq!(preview["attributes"][0]["mime-type"], "image/png");
    assert_eq!(
        read.body["formats"],
        json!([{"attach_id": "a", "format": "anoncreds/credential-offer@v1.0"}])
    );
    assert_eq!(read.attached("offers").count(), 1);
    let written = sent(&write(&read).unwrap());
    assert_eq!(written.body, offer.body);
    assert_eq!(written.attachments[0].format, offer.attachments[0].format);
}

#[test]
fn a_report_names_its_thread_as_the_parent_and_fills_in_its_values() {
    let report = of_v2(json!({
        "type": "https://didcomm.org/report-problem/2.0/problem-report",
        "id": "7", "pthid": "1",
        "body": {
            "code": "e.p.xfer.cant-use-endpoint",
            "comment": "Unable to use the {1} endpoint for {2}.",
            "args": ["https://agents.r.us/inbox", "did:sov:C805sNYhMrjHiqZDTUASHg"],
        },
    }));
    let read = read(&report).unwrap();
    let description = &read.body["description"];
    assert_eq!(description["code"], "xfer.cant-use-endpoint");
    assert_eq!(
        description["en"],
        "Unable to use the https://agents.r.us/inbox endpoint for did:sov:C805sNYhMrjHiqZDTUASHg."
    );
    assert_eq!(read.thread.pthid.as_deref(), Some("1"));
    let mut own = read.clone();
    own.thread.thid = Some("3".to_owned());
    let written = write(&own).unwrap();
    assert_eq!(written.body["code"], "e.p.xfer.cant-use-endpoint");
    assert_eq!(written.thread.thid, None);
    assert_eq!(written.thread.pthid.as_deref(), Some("3"));
}

#[test]
fn codes_of_the_rfcs_are_words_of_version_2() {
    let kind = MessageType::new("didcomm", Semver::new(2, 0), "problem_report");
    for (code, v2) in [
        ("request_not_accepted", "e.p.request-not-accepted"),
        ("message-not-understood", "e.m.msg.unsupported"),
        ("w.p.slow", "w.p.slow"),
    ] {
        let mut message = Message::new(kind.clone(), "1");
        let description = json!({"code": code});
        message.body.insert("description".to_owned(), description);
        assert_eq!(write(&message).unwrap().body["code"], v2);
    }
}

#[test]
fn time_and_language_of_a_text_are_headers() {
    let text = of_v2(json!({
        "type": "https://didcomm.org/basicmessage/2.0/message",
        "id": "123456780", "lang": "en", "created_time": 1_547_577_721,
        "body": {"content": "Your hovercraft is full of eels."},
    }));
    let read = read(&text).unwrap();
    assert_eq!(read.body["sent_time"], "2019-01-15T18:42:01Z");
    assert_eq!(read.other["~l10n"]["locale"], "en");
    let written = write(&read).unwrap();
    assert_eq!(written.created, text.created);
    assert_eq!(written.other["lang"], "en");
    assert_eq!(written.body, text.body);
}

#[test]
fn messages_of_other_protocols_and_versions_have_no_form() {
    for (kind, why) in [
        (
            "https://didcomm.org/didexchange/1.1/request",
            Unreadable::Protocol,
        ),
        (
            "https://didcomm.org/issue-credential/2.0/offer-credential",
            Unreadable::Version,
        ),
        (
            "https://didcomm.org/trust-ping/3.0/ping",
            Unreadable::Version,
        ),
    ] {
        let message = of_v2(json!({"type": kind, "id": "1", "body": {}}));
        assert_eq!(read(&message), Err(why), "{kind}");
    }
    for kind in [
        "didexchange/1.1/request",
        "issue-credential/1.0/offer-credential",
    ] {
        let kind = MessageType::parse(&format!("https://didcomm.org/{kind}")).unwrap();
        assert_eq!(write(&Message::new(kind, "1")), Err(Unreadable::Protocol));
    }
}

#[test]
fn an_attachment_without_a_format_is_refused() {
    let message = of_v2(json!({
        "type": "https://didcomm.org/present-proof/3.0/presentation",
        "id": "1", "body": {}, "attachments": [{"id": "a", "data": {"json": {}}}],
    }));
    assert!(matches!(read(&message), Err(Unreadable::Rule(_))));
}

#[test]
fn each_form_is_told_to_who_asks_for_features() {
    let told = features();
    for id in [
        "https://didcomm.org/trust-ping/2.0",
        "https://didcomm.org/issue-credential/3.0",
        "https://didcomm.org/out-of-band/2.0",
    ] {
        assert!(told.iter().any(|feature| feature.id == id), "{id}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        "[a-z{}1-3@.:-]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name = prop::sample::select(vec![
            "attributes",
            "body",
            "name",
            "media_type",
            "mime-type",
            "formats",
            "type",
            "code",
            "comment",
            "args",
            "queries",
            "attach_id",
            "format",
            "id",
            "data",
            "json",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4).prop_map(|all| {
                let all = all
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(all.collect::<Map<_, _>>())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_message_says_it_is_read_or_refused_and_what_is_read_can_be_written(
        (form, name) in (0..FORMS.len(), prop::sample::select(vec![
            "ping", "message", "queries", "disclose", "offer-credential", "propose-credential",
            "presentation", "ack", "problem-report", "revoke",
        ])),
        body in value(), preview in value(), attachment in value(),
    ) {
        let kind = FORMS[form].v2.named(name);
        let mut body = body.as_object().cloned().unwrap_or_default();
        body.insert("credential_preview".to_owned(), preview);
        let members = json!({
            "type": kind, "id": "1", "body": body,
            "attachments": [{"id": "a", "format": "f", "data": {"json": attachment}}],
        });
        let Ok(message) = Message::from_members(members.as_object().unwrap().clone(), Version::V2)
        else {
            return Ok(());
        };
        if let Ok(told) = read(&message) {
            let written = write(&told).unwrap();
            let again = read(&written).unwrap();
            prop_assert_eq!(again.kind, told.kind);
        }
    }
}
