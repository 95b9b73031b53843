//! Messages of v2: headers and body (DIDComm v2.1, "Plaintext Message Structure").

use selfsame_crypto::time::UnixTime;
use selfsame_did::DidUrl;
use serde_json::{Map, Value, json};

use super::attachment::{Attachment, Position};
use super::decorator::{PleaseAck, ReturnRoute};
use super::members::{Fields, is_id, put};
use super::{MAX_ATTACHMENTS, MAX_TO, Message, MessageType, Prefix, Version};
use crate::error::Error;

/// The media type of a plaintext, without `application/`.
const PLAIN: &str = "didcomm-plain+json";
/// The maximum number of identifiers in `ack` and `please_ack`.
const MAX_ACKS: usize = 256;

pub(super) fn read(members: Map<String, Value>) -> Result<Message, Error> {
    let mut members = Fields(members);
    let typ = members.text("typ", "media type of the message")?;
    if typ.is_some_and(|typ| typ.strip_prefix("application/").unwrap_or(&typ) != PLAIN) {
        return Err(Error::Malformed("media type of the message"));
    }
    let kind = members.text("type", "message type")?;
    let kind = MessageType::parse(&kind.ok_or(Error::Missing("type"))?)?;
    if kind.prefix == Prefix::Absent {
        return Err(Error::Malformed("message type"));
    }
    let id = members.id("id", "identifier of the message")?;
    let mut message = Message::new(kind, id.ok_or(Error::Missing("id"))?);
    message.thread.thid = members.id("thid", "thread")?;
    message.thread.pthid = members.id("pthid", "parent thread")?;
    let from = members.text("from", "sender")?;
    message.from = from.map(|from| party(&from, "sender")).transpose()?;
    message.to = recipients(members.array("to", "list of recipients")?)?;
    message.created = members
        .number("created_time", "time of creation")?
        .map(UnixTime);
    message.expires = members
        .number("expires_time", "time of expiry")?
        .map(UnixTime);
    message.from_prior = members.text("from_prior", "rotation of the sender's DID")?;
    message.return_route = ReturnRoute::take(&mut members.0);
    message.acks = ids(members.array("ack", "list of acknowledgements")?)?;
    let wishes = members.0.contains_key("please_ack");
    let wished = ids(members.array("please_ack", "wish for acknowledgements")?)?;
    message.please_ack = wishes.then(|| PleaseAck {
        on: Vec::new(),
        ids: wished,
    });
    message.body = members.object("body", "body")?.unwrap_or_default();
    let attachments = members.array("attachments", "list of attachments")?;
    if attachments.len() > MAX_ATTACHMENTS {
        return Err(Error::TooLarge("list of attachments"));
    }
    let read = |value| Attachment::read(value, Position::Appended, Version::V2);
    message.attachments = attachments
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()?;
    message.other = members.0;
    Ok(message)
}

/// A DID, or a DID URL without fragment.
fn party(text: &str, what: &'static str) -> Result<DidUrl, Error> {
    match DidUrl::parse(text) {
        Ok(url) if url.fragment.is_none() => Ok(url),
        _ => Err(Error::Malformed(what)),
    }
}

fn recipients(values: Vec<Value>) -> Result<Vec<DidUrl>, Error> {
    if values.len() > MAX_TO {
        return Err(Error::TooLarge("list of recipients"));
    }
    let one = |value: Value| party(value.as_str().unwrap_or_default(), "list of recipients");
    values.into_iter().map(one).collect()
}

/// Identifiers of messages. The empty one stands for the message itself.
fn ids(values: Vec<Value>) -> Result<Vec<String>, Error> {
    if values.len() > MAX_ACKS {
        return Err(Error::TooLarge("list of acknowledgements"));
    }
    let one = |value: Value| match value {
        Value::String(id) if id.is_empty() || is_id(&id) => Ok(id),
        _ => Err(Error::Malformed("list of acknowledgements")),
    };
    values.into_iter().map(one).collect()
}

pub(super) fn write(message: &Message) -> Map<String, Value> {
    let mut members = message.other.clone();
    put(&mut members, "typ", Some(format!("application/{PLAIN}")));
    put(&mut members, "type", Some(message.kind.to_string()));
    put(&mut members, "id", Some(message.id.as_str()));
    put(&mut members, "thid", message.thread.thid.as_deref());
    put(&mut members, "pthid", message.thread.pthid.as_deref());
    put(
        &mut members,
        "from",
        message.from.as_ref().map(ToString::to_string),
    );
    if !message.to.is_empty() {
        put(&mut members, "to", Some(json!(message.to)));
    }
    put(
        &mut members,
        "created_time",
        message.created.map(|time| time.0),
    );
    put(
        &mut members,
        "expires_time",
        message.expires.map(|time| time.0),
    );
    put(&mut members, "from_prior", message.from_prior.as_deref());
    if let Some(route) = &message.return_route {
        route.write(&mut members);
    }
    if !message.acks.is_empty() {
        put(&mut members, "ack", Some(json!(message.acks)));
    }
    if let Some(please_ack) = &message.please_ack {
        put(&mut members, "please_ack", Some(json!(please_ack.ids)));
    }
    members.insert("body".to_owned(), Value::Object(message.body.clone()));
    if !message.attachments.is_empty() {
        let all = message.attachments.iter();
        let all: Vec<Value> = all.map(|one| one.write(Version::V2)).collect();
        put(&mut members, "attachments", Some(all));
    }
    members
}
