//! Messages of v1: members and decorators (RFC 0044, RFC 0011).

use serde_json::{Map, Value, json};

use super::attachment::{Attachment, Position};
use super::decorator::{PleaseAck, ReturnRoute, Thread};
use super::members::Fields;
use super::{MAX_ATTACHMENTS, Message, MessageType, Prefix, Version};
use crate::error::Error;

const ATTACH: &str = "~attach";

pub(super) fn read(members: Map<String, Value>) -> Result<Message, Error> {
    let mut members = Fields(members);
    let kind = members.text("@type", "message type")?;
    let kind = MessageType::parse(&kind.ok_or(Error::Missing("@type"))?)?;
    if kind.prefix == Prefix::Absent {
        return Err(Error::Malformed("message type"));
    }
    let id = members.id("@id", "identifier of the message")?;
    let mut message = Message::new(kind, id.ok_or(Error::Missing("@id"))?);
    let mut transport = members.object("~transport", "transport decorator")?;
    message.return_route = transport.as_mut().and_then(ReturnRoute::take);
    let thread = members.0.remove("~thread").filter(|value| !value.is_null());
    message.thread = thread.map(Thread::of_v1).transpose()?.unwrap_or_default();
    let please_ack = members.0.remove("~please_ack");
    let please_ack = please_ack.as_ref().filter(|value| value.is_object());
    message.please_ack = please_ack.map(PleaseAck::of_v1);
    for (name, value) in members.0 {
        match name.strip_suffix(ATTACH) {
            Some(member) => attach(&mut message.attachments, member, value)?,
            None if name.starts_with(['@', '~']) => {
                message.other.insert(name, value);
            }
            None => {
                message.body.insert(name, value);
            }
        }
    }
    Ok(message)
}

/// Reads the value of a member with attachments: a list, or one attachment.
fn attach(to: &mut Vec<Attachment>, member: &str, value: Value) -> Result<(), Error> {
    let (values, position) = match value {
        Value::Null => return Ok(()),
        Value::Array(values) if member.is_empty() => (values, Position::Appended),
        Value::Array(values) => (values, Position::List(member.to_owned())),
        value if member.is_empty() => (vec![value], Position::Appended),
        value => (vec![value], Position::Single(member.to_owned())),
    };
    if to.len().saturating_add(values.len()) > MAX_ATTACHMENTS {
        return Err(Error::TooLarge("list of attachments"));
    }
    for value in values {
        to.push(Attachment::read(value, position.clone(), Version::V1)?);
    }
    Ok(())
}

pub(super) fn write(message: &Message) -> Map<String, Value> {
    let mut members = message.body.clone();
    members.extend(message.other.clone());
    for attachment in &message.attachments {
        let value = attachment.write(Version::V1);
        let name = format!(
            "{}{ATTACH}",
            attachment.position.member().unwrap_or_default()
        );
        if let Position::Single(_) = attachment.position {
            members.insert(name, value);
        } else if let Value::Array(list) = members.entry(name).or_insert_with(|| json!([])) {
            list.push(value);
        }
    }
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("@type", json!(message.kind));
    put("@id", json!(message.id));
    if let Some(thread) = message.thread.to_v1() {
        put("~thread", thread);
    }
    if let Some(route) = &message.return_route {
        let mut transport = Map::new();
        route.write(&mut transport);
        put("~transport", Value::Object(transport));
    }
    if let Some(please_ack) = &message.please_ack {
        put("~please_ack", please_ack.to_v1());
    }
    members
}
