//! The table of protocols, and the examples of their RFCs.

use std::collections::BTreeSet;

use selfsame_aries::protocol::{self, PROTOCOLS};
use selfsame_aries::wire;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver, Version};
use serde::Deserialize;
use serde_json::{Map, Value};

const MESSAGES: &str = include_str!("../../../../vectors/aries/messages.json");
const DOCUMENT: &str = include_str!("../../../../docs/aries-protocols.md");

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    rfc: String,
    message: Map<String, Value>,
    /// Why it is refused, if it is.
    refused: Option<String>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str::<Vectors>(MESSAGES).unwrap().cases
}

/// The message with the older prefix.
fn legacy(message: &Message) -> Message {
    let kind = message
        .kind
        .clone()
        .with_prefix(selfsame_didcomm::message::Prefix::Legacy);
    Message {
        kind,
        ..message.clone()
    }
}

fn reread(message: &Message) -> Result<Message, wire::Unreadable> {
    let protocol = protocol::find(&message.kind).or_else(|| {
        // A report of whatever protocol.
        PROTOCOLS
            .iter()
            .find(|protocol| wire::is_adopted(&message.kind) && protocol.name == "notification")
    });
    let protocol = protocol.ok_or(wire::Unreadable::Protocol)?;
    (protocol.reread)(message)
}

#[test]
fn the_examples_of_the_rfcs_are_read_with_both_prefixes_and_what_is_written_is_read_again() {
    for case in cases() {
        let read = Message::from_members(case.message.clone(), Version::V1);
        let message =
            read.unwrap_or_else(|error| panic!("RFC {}, {:?}: {error}", case.rfc, case.message));
        let kind = message.kind.to_string();
        for message in [legacy(&message), message] {
            let written = reread(&message);
            assert_eq!(
                written.is_err(),
                case.refused.is_some(),
                "RFC {} {kind}: {written:?}",
                case.rfc
            );
            if let Ok(written) = written {
                assert_eq!(written.kind.prefix, message.kind.prefix);
                assert_eq!(
                    reread(&written).as_ref(),
                    Ok(&written),
                    "RFC {} {kind}",
                    case.rfc
                );
                let plaintext = written.write(Version::V1);
                assert_eq!(
                    Message::read(&plaintext, Version::V1).as_ref(),
                    Ok(&written)
                );
            }
        }
    }
}

#[test]
fn each_protocol_has_an_example_of_its_rfc() {
    let cases = cases();
    let cited: BTreeSet<&str> = cases.iter().map(|case| case.rfc.as_str()).collect();
    for protocol in PROTOCOLS {
        assert_eq!(protocol.versions.len(), protocol.rfcs.len());
        for rfc in protocol.rfcs {
            assert!(
                cited.contains(rfc),
                "{} has no example of RFC {rfc}",
                protocol.name
            );
        }
    }
}

#[test]
fn each_protocol_is_found_by_its_type_and_has_a_row_in_the_document() {
    for protocol in PROTOCOLS {
        for (version, rfc) in protocol.versions.iter().zip(protocol.rfcs) {
            let kind = MessageType::new(protocol.name, *version, "x");
            assert_eq!(
                protocol::find(&kind).map(|found| found.name),
                Some(protocol.name)
            );
            let row = format!("| `{}` | {version} | {rfc} |", protocol.name);
            assert!(DOCUMENT.contains(&row), "the document lacks {row}");
        }
        let unknown = MessageType::new(protocol.name, Semver::new(9, 0), "x");
        assert!(protocol::find(&unknown).is_none());
    }
    assert_eq!(
        protocol::features().len(),
        PROTOCOLS
            .iter()
            .map(|one| one.versions.len())
            .sum::<usize>()
    );
}

#[test]
fn a_member_of_the_wrong_form_is_refused_and_does_not_panic() {
    for case in cases().into_iter().filter(|case| case.refused.is_none()) {
        let names: Vec<String> = case
            .message
            .keys()
            .filter(|name| !name.starts_with(['@', '~']))
            .cloned()
            .collect();
        for name in names {
            for wrong in [
                Value::from(7),
                Value::from("x"),
                Value::Bool(true),
                serde_json::json!([{}]),
                serde_json::json!({}),
            ] {
                let mut members = case.message.clone();
                members.insert(name.clone(), wrong);
                if let Ok(message) = Message::from_members(members, Version::V1) {
                    let _ = reread(&message);
                }
            }
        }
    }
}
