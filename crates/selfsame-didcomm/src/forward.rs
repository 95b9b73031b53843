//! Forwarding through mediators (RFC 0094, RFC 0067; DIDComm v2.1, "Routing Protocol 2.0"): each hop gets an envelope
//! that says where the envelope within it goes.

use selfsame_crypto::PublicKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::json;
use selfsame_crypto::jwe::{ContentEncryption, JweError};
use selfsame_did::{Did, DidUrl, Document};
use serde_json::{Value, json};

use crate::error::Error;
use crate::media;
use crate::message::{Attachment, LIMITS, Message, MessageType, Prefix, Semver, Version};
use crate::{v1, v2};

const ROUTING: &str = "routing";
const FORWARD: &str = "forward";
/// The maximum number of mediators on the way. Each makes the envelope longer by a third.
pub const MAX_HOPS: usize = 6;
/// The maximum length of `next`: that of a DID URL.
const MAX_NEXT: usize = 4096;

/// What a mediator is asked to pass on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forward {
    /// To whom: a key in base58, a `did:key` or a DID URL (v1); a DID, or a key (v2).
    pub next: String,
    /// The envelopes, as they were attached.
    pub envelopes: Vec<Vec<u8>>,
}

/// The way to a recipient of v1.
#[derive(Clone, Copy, Debug)]
pub struct RouteV1<'a> {
    /// The recipient's key.
    pub to: &'a PublicKey,
    /// The mediators' keys, in the order of `routingKeys` in v1: the recipient's own mediator first (RFC 0067).
    pub through: &'a [PublicKey],
    /// What the types of the messages begin with.
    pub prefix: &'a Prefix,
}

/// The way to a recipient of v2.
#[derive(Clone, Copy, Debug)]
pub struct RouteV2<'a> {
    /// The recipient.
    pub to: &'a Did,
    /// The mediators, in the order of `routingKeys` in v2: the one that gets the message first is the first.
    pub through: &'a [Hop<'a>],
    /// How the envelopes of the mediators are encrypted.
    pub enc: ContentEncryption,
}

/// A mediator of v2.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    /// Its document.
    pub document: &'a Document,
    /// The key that `routingKeys` names; `None` if it names the DID, whose keys for agreement all count.
    pub key: Option<&'a DidUrl>,
}

impl Forward {
    /// Reads a forward; `None` if the message is another.
    ///
    /// # Errors
    /// If it does not say to whom, or what.
    pub fn read(message: &Message) -> Result<Option<Self>, Error> {
        let kind = &message.kind;
        match kind.version.major {
            1 if kind.is(ROUTING, FORWARD) => Self::of_v1(message).map(Some),
            2 if kind.is(ROUTING, FORWARD) => Self::of_v2(message).map(Some),
            _ => Ok(None),
        }
    }

    fn of_v1(message: &Message) -> Result<Self, Error> {
        let envelope = match message.body.get("msg") {
            Some(value @ Value::Object(_)) => json::to_bytes(value),
            // Some agents send the envelope as text.
            Some(Value::String(text)) => text.clone().into_bytes(),
            None => return Err(Error::Missing("msg")),
            Some(_) => return Err(Error::Malformed("msg")),
        };
        Ok(Self {
            next: next(message, "to")?,
            envelopes: vec![envelope],
        })
    }

    fn of_v2(message: &Message) -> Result<Self, Error> {
        let envelopes = message.attachments.iter();
        let envelopes = envelopes.map(|one| one.bytes(LIMITS.max_bytes));
        let envelopes = envelopes.collect::<Result<Vec<_>, _>>()?;
        match envelopes.is_empty() {
            true => Err(Error::Missing("attachments")),
            false => Ok(Self {
                next: next(message, "next")?,
                envelopes,
            }),
        }
    }
}

fn next(message: &Message, name: &'static str) -> Result<String, Error> {
    match message.body.get(name) {
        Some(Value::String(next)) if (1..=MAX_NEXT).contains(&next.len()) => Ok(next.clone()),
        None => Err(Error::Missing(name)),
        Some(_) => Err(Error::Malformed(name)),
    }
}

/// Wraps an envelope of v1 for the mediators on the way.
///
/// # Errors
/// `TooLarge` for too many mediators or too long an envelope; `Key` if a key cannot be encrypted to.
pub fn wrap_v1(envelope: Vec<u8>, route: &RouteV1<'_>, ctx: &Ctx) -> Result<Vec<u8>, Error> {
    if route.through.len() > MAX_HOPS {
        return Err(Error::TooLarge("list of mediators"));
    }
    let mut envelope = envelope;
    let mut next = route.to;
    for (hop, mediator) in route.through.iter().enumerate() {
        let kind = MessageType::new(ROUTING, Semver::new(1, 0), FORWARD);
        let mut forward = Message::new(kind.with_prefix(route.prefix.clone()), id(ctx, hop));
        let inner = json::parse(&envelope, &v1::LIMITS)?;
        forward
            .body
            .insert("to".to_owned(), json!(base58_encode(next.bytes())));
        forward.body.insert("msg".to_owned(), inner);
        let to = std::slice::from_ref(mediator);
        envelope = v1::pack(&forward.write(Version::V1), to, None, ctx)?;
        next = mediator;
    }
    Ok(envelope)
}

/// Wraps an envelope of v2 for the mediators on the way.
///
/// # Errors
/// `TooLarge` for too many mediators or too long an envelope; `Jwe` with `NoKey` if a mediator has no key.
pub fn wrap_v2(envelope: Vec<u8>, route: &RouteV2<'_>, ctx: &Ctx) -> Result<Vec<u8>, Error> {
    if route.through.len() > MAX_HOPS {
        return Err(Error::TooLarge("list of mediators"));
    }
    let mut envelope = envelope;
    let mut next = route.to.to_string();
    for (at, hop) in route.through.iter().enumerate().rev() {
        let kind = MessageType::new(ROUTING, Semver::new(2, 0), FORWARD);
        let mut forward = Message::new(kind, id(ctx, at));
        forward.to.push(hop.document.id.clone().into());
        forward.body.insert("next".to_owned(), json!(next));
        let inner = json::parse(&envelope, &LIMITS)?;
        let inner = Attachment::of_json("1", inner).of_type(media::V2_ENCRYPTED);
        forward.attachments.push(inner);
        let recipients = match hop.key {
            None => v2::Recipients::of(hop.document, None)?,
            Some(kid) => v2::Recipients::one(kid.to_string(), hop.document.agreement_key(kid)?),
        };
        envelope = recipients.anonymous(&forward.write(Version::V2), route.enc, ctx)?;
        next = hop
            .key
            .map_or_else(|| hop.document.id.to_string(), ToString::to_string);
    }
    Ok(envelope)
}

/// The identifier of a forward: it tells mediators nothing about the message.
fn id(ctx: &Ctx, hop: usize) -> String {
    let token = ctx.token(&format!("didcomm/forward/{hop}"));
    token
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(32)
        .collect()
}

/// The error for an envelope without a key that is held.
pub(crate) fn is_not_ours(error: &Error) -> bool {
    matches!(error, Error::Jwe(JweError::NoKey))
}

#[cfg(test)]
mod tests;
