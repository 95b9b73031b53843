//! A message that is written and read is the same message.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn id() -> impl Strategy<Value = String> {
    "[!-~]{1,40}"
}

fn kind() -> impl Strategy<Value = MessageType> {
    let name = || "[a-zA-Z][a-zA-Z0-9._-]{0,12}";
    let prefix = prop_oneof![
        Just(Prefix::Didcomm),
        Just(Prefix::Legacy),
        Just(Prefix::Other("https://example.com/p?which=".to_owned())),
    ];
    (prefix, name(), any::<u16>(), any::<u16>(), name()).prop_map(
        |(prefix, protocol, major, minor, name)| {
            let version = Semver::new(major, minor);
            MessageType::new(&protocol, version, &name).with_prefix(prefix)
        },
    )
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no infinity", |x| x.is_finite())
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".{0,6}", inner, 0..4)
                .prop_map(|map| Value::from(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn body() -> impl Strategy<Value = Map<String, Value>> {
    let name = "[a-z][a-z_]{0,8}(~sig)?";
    btree_map(name, json_value(), 0..4).prop_map(|map| map.into_iter().collect())
}

fn content(version: Version) -> impl Strategy<Value = AttachmentContent> {
    // What is not in base64url is written in it for v2.
    let base64 = match version {
        Version::V1 => ".{0,20}",
        Version::V2 => "[A-Za-z0-9_-]{0,20}",
    };
    let present = json_value().prop_filter("null counts as absent", |value| !value.is_null());
    prop_oneof![
        base64.prop_map(AttachmentContent::Base64),
        present.prop_map(AttachmentContent::Json),
        vec(".{0,20}", 1..4).prop_map(AttachmentContent::Links),
    ]
}

fn signatures() -> impl Strategy<Value = Vec<DetachedSignature>> {
    let one = (
        "[a-zA-Z0-9_-]{0,8}",
        option::of(".{0,8}"),
        "[a-zA-Z0-9_-]{0,8}",
    );
    let one = one.prop_map(|(protected, kid, signature)| DetachedSignature {
        protected,
        kid,
        signature,
    });
    vec(one, 0..4)
}

fn attachment(version: Version) -> impl Strategy<Value = Attachment> {
    let position = match version {
        Version::V1 => prop_oneof![
            Just(Position::Appended),
            "[a-z]{1,3}".prop_map(Position::List),
            "[A-Z]{1,3}".prop_map(Position::Single),
        ]
        .boxed(),
        Version::V2 => Just(Position::Appended).boxed(),
    };
    let text = || option::of(".{0,10}");
    let described = (
        option::of(id()),
        text(),
        text(),
        text(),
        text(),
        text(),
        option::of(any::<u64>()),
    );
    (position, described, content(version), signatures()).prop_map(
        |(
            position,
            (id, description, filename, media_type, format, hash, byte_count),
            content,
            signatures,
        )| {
            Attachment {
                position,
                id,
                description,
                filename,
                media_type,
                format,
                byte_count,
                content,
                hash,
                signatures,
            }
        },
    )
}

/// Attachments in the order in which they are read, at most one of each member that stands alone.
fn attachments(version: Version) -> impl Strategy<Value = Vec<Attachment>> {
    vec(attachment(version), 0..5).prop_map(|mut all| {
        all.sort_by_key(|one| format!("{}~attach", one.position.member().unwrap_or_default()));
        all.dedup_by(|a, b| matches!(a.position, Position::Single(_)) && a.position == b.position);
        all
    })
}

fn route() -> impl Strategy<Value = Option<ReturnRoute>> {
    option::of(prop_oneof![
        Just(ReturnRoute::None),
        Just(ReturnRoute::All),
        id().prop_map(ReturnRoute::Thread),
    ])
}

fn message(version: Version) -> impl Strategy<Value = Message> {
    let parts = (kind(), id(), body(), attachments(version), route());
    parts.prop_map(|(kind, id, body, attachments, return_route)| Message {
        body,
        attachments,
        return_route,
        ..Message::new(kind, id)
    })
}

fn thread() -> impl Strategy<Value = Thread> {
    let orders = btree_map(".{0,8}", any::<i64>(), 0..3);
    let parts = (
        option::of(id()),
        option::of(id()),
        option::of(any::<u64>()),
        orders,
        option::of(".{0,8}"),
    );
    parts.prop_map(
        |(thid, pthid, sender_order, received_orders, goal_code)| Thread {
            thid,
            pthid,
            sender_order,
            received_orders,
            goal_code,
        },
    )
}

fn of_v1() -> impl Strategy<Value = Message> {
    let on = option::of(prop_oneof![
        Just(vec![]),
        Just(vec![AckOn::Outcome]),
        Just(vec![AckOn::Receipt, AckOn::Outcome]),
    ]);
    let other = btree_map("~[a-df-s][a-z]{0,5}", json_value(), 0..3);
    (message(Version::V1), thread(), on, other).prop_map(|(message, thread, on, other)| Message {
        thread,
        please_ack: on.map(|on| PleaseAck {
            on,
            ids: Vec::new(),
        }),
        other: other
            .into_iter()
            .filter(|(name, _)| !name.starts_with("~p") && name != "~attach")
            .collect(),
        ..message
    })
}

fn of_v2() -> impl Strategy<Value = Message> {
    let party = || {
        "did:[a-z]{1,5}:[a-zA-Z0-9]{1,10}(/[a-z]{1,4})?"
            .prop_map(|text| DidUrl::parse(&text).unwrap())
    };
    let parties = (option::of(party()), vec(party(), 0..3));
    let times = (option::of(any::<u64>()), option::of(any::<u64>()));
    let ids = (
        option::of(vec(id(), 0..3)),
        vec(id(), 0..3),
        option::of(id()),
        option::of(id()),
    );
    let rest = (option::of(".{0,10}"), json_value());
    (message(Version::V2), parties, times, ids, rest).prop_map(
        |(
            message,
            (from, to),
            (created, expires),
            (wished, acks, thid, pthid),
            (from_prior, lang),
        )| Message {
            thread: Thread {
                thid,
                pthid,
                ..Thread::default()
            },
            from,
            to,
            created: created.map(UnixTime),
            expires: expires.map(UnixTime),
            from_prior,
            please_ack: wished.map(|ids| PleaseAck {
                on: Vec::new(),
                ids,
            }),
            acks,
            other: BTreeMap::from([("lang".to_owned(), lang)])
                .into_iter()
                .collect(),
            ..message
        },
    )
}

proptest! {
    #[test]
    fn a_message_of_v1_reads_back_as_itself(message in of_v1()) {
        let read = Message::read(&message.write(Version::V1), Version::V1);
        prop_assert_eq!(read, Ok(message));
    }

    #[test]
    fn a_message_of_v2_reads_back_as_itself(message in of_v2()) {
        let read = Message::read(&message.write(Version::V2), Version::V2);
        prop_assert_eq!(read, Ok(message));
    }

    #[test]
    fn what_was_read_reads_back_as_itself(members in body(), decorators in btree_map("~[a-z_]{1,12}", json_value(), 0..4)) {
        let mut text = json!({ "@type": "https://didcomm.org/trust_ping/1.0/ping", "@id": "a" });
        let all = text.as_object_mut().unwrap();
        all.extend(members);
        all.extend(decorators);
        if let Ok(message) = v1(text) {
            prop_assert_eq!(Message::read(&message.write(Version::V1), Version::V1), Ok(message));
        }
    }
}
