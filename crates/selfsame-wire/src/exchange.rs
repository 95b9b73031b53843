//! A request and its answer as they went over the wire, and what is recorded of them.

use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value, json};

use crate::bodies;
use crate::links::{self, WireLink};
use crate::masked;
use crate::parties::{FlowKind, WireParty};
use crate::record::RecordedMessage;
use crate::rules::WireRules;
use crate::texts::{address, digest, unseen};

/// The largest content of a message that is kept, in bytes of JSON.
const CONTENT_MAX: usize = 16 * 1024;

/// A step of a flow: an address of a protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WireStep {
    /// The flow that it belongs to.
    pub kind: FlowKind,
    /// What the request is called.
    pub request: &'static str,
    /// What the answer is called.
    pub answer: &'static str,
    /// Who sends the request.
    pub from: WireParty,
    /// Who answers.
    pub to: WireParty,
    /// The paragraph that the request follows.
    pub by: &'static str,
    /// The paragraph that the answer follows.
    pub answer_by: &'static str,
    /// Whether the answer has claims of a person as its members.
    pub answers_person: bool,
    /// Whether the request leaves nothing behind at the one who answers, so that it belongs to no flow by itself.
    pub is_stateless: bool,
}

/// A request as it came or went.
#[derive(Clone, Copy, Debug)]
pub struct WireRequest<'a> {
    /// The method and the pattern of the address, such as `GET /issuer/offers/{id}`; never the address itself.
    pub head: &'a str,
    /// The identifier in the address, if it has one.
    pub id: Option<&'a str>,
    /// The query.
    pub query: &'a str,
    /// The header `Authorization`.
    pub authorization: Option<&'a str>,
    /// The header `DPoP`.
    pub proof: Option<&'a str>,
    /// The media type of the body.
    pub media: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// An answer as it went or came.
#[derive(Clone, Copy, Debug)]
pub struct WireAnswer<'a> {
    /// The status.
    pub status: u16,
    /// The header `Location`.
    pub location: Option<&'a str>,
    /// The header `DPoP-Nonce`.
    pub nonce: Option<&'a str>,
    /// Why the request was refused, as a reason's identifier.
    pub refusal: Option<&'a str>,
    /// The media type of the body.
    pub media: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// A request and its answer.
#[derive(Clone, Copy, Debug)]
pub struct WireExchange<'a> {
    /// The step that they are of.
    pub step: WireStep,
    /// The request.
    pub request: WireRequest<'a>,
    /// The answer.
    pub answer: WireAnswer<'a>,
    /// When the request came.
    pub at: UnixTime,
    /// How long the answer took, if that was measured.
    pub took: Option<Duration>,
}

impl WireExchange<'_> {
    /// Its two messages, without what is secret.
    pub(crate) fn messages(&self) -> [RecordedMessage; 2] {
        let WireExchange {
            step,
            request,
            answer,
            at,
            took,
        } = self;
        let took = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        [
            RecordedMessage {
                name: step.request.to_owned(),
                from: step.from,
                to: step.to,
                by: step.by.to_owned(),
                head: request.head.to_owned(),
                at: at.rfc3339(),
                took_ms: None,
                bytes: request.query.len().saturating_add(request.body.len()),
                content: bounded(request.content()),
            },
            RecordedMessage {
                name: self.answer_name().to_owned(),
                from: step.to,
                to: step.from,
                by: step.answer_by.to_owned(),
                head: answer.status.to_string(),
                at: at.plus(took.unwrap_or_default() / 1_000).rfc3339(),
                took_ms: took,
                bytes: answer.body.len(),
                content: bounded(answer.content(step.answers_person)),
            },
        ]
    }

    fn answer_name(&self) -> &'static str {
        match self.answer.status {
            400.. => "Refusal",
            300..=399 => "Redirect",
            _ => self.step.answer,
        }
    }

    /// What ties it to other messages of its flow.
    pub(crate) fn links(&self) -> Vec<WireLink> {
        let (request, answer) = (&self.request, &self.answer);
        let mut found = links::FoundLinks::default();
        if let Some(id) = request.id {
            found.id(self.step.kind.as_str(), id);
        }
        if let Some(token) = request.authorization.and_then(token_of) {
            found.secret(token);
        }
        found.parameters(request.query);
        found.body(request.body, request.media);
        if let Some(location) = answer.location {
            if let Some(id) = sign_in_of(location) {
                found.id(FlowKind::SignIn.as_str(), id);
            }
            found.parameters(location.split_once('?').map_or("", |(_, query)| query));
        }
        if !self.step.answers_person {
            found.body(answer.body, answer.media);
        }
        found.links
    }

    /// Whether it may be the first of a flow: a stranger's refused request is not.
    pub(crate) fn begins(&self) -> bool {
        self.answer.status < 400
    }
}

impl WireRequest<'_> {
    fn content(&self) -> Value {
        let mut told = Map::new();
        if !self.query.is_empty() {
            let query = bodies::parameters(self.query, WireRules::Protocol);
            told.insert("query".to_owned(), query);
        }
        if let Some(authorization) = self.authorization {
            told.insert(
                "authorization".to_owned(),
                json!(credentials(authorization)),
            );
        }
        if let Some(proof) = self.proof {
            told.insert("proof of possession".to_owned(), masked::token(proof));
        }
        if let Some(body) = bodies::masked(self.body, self.media, WireRules::Protocol) {
            told.insert("body".to_owned(), body);
        }
        Value::Object(told)
    }
}

impl WireAnswer<'_> {
    fn content(&self, is_person: bool) -> Value {
        let rules = match is_person && self.status < 400 {
            true => WireRules::Person,
            false => WireRules::Protocol,
        };
        let mut told = Map::new();
        if let Some(refusal) = self.refusal {
            told.insert("reason".to_owned(), json!(refusal));
        }
        if let Some(location) = self.location {
            told.insert("leads to".to_owned(), address(location));
            if let Some((_, query)) = location.split_once('?') {
                let query = bodies::parameters(query, WireRules::Protocol);
                told.insert("parameters".to_owned(), query);
            }
        }
        if let Some(nonce) = self.nonce {
            told.insert("nonce for the next proof".to_owned(), json!(digest(nonce)));
        }
        if let Some(body) = bodies::masked(self.body, self.media, rules) {
            told.insert("body".to_owned(), body);
        }
        Value::Object(told)
    }
}

/// The header `Authorization`: its scheme, and of its token the digest. A password in it could be guessed.
fn credentials(header: &str) -> String {
    match header.split_once(' ') {
        Some((scheme, token)) if is_token(scheme) => format!("{scheme} {}", digest(token.trim())),
        Some((scheme, password)) if scheme.eq_ignore_ascii_case("basic") => {
            format!("Basic {}", unseen(password))
        }
        _ => unseen(header),
    }
}

fn token_of(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    is_token(scheme).then(|| token.trim())
}

fn is_token(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("dpop")
}

/// The sign-in to whose page a browser is led.
fn sign_in_of(location: &str) -> Option<&str> {
    let (_, rest) = location.split_once("/sign-in/")?;
    rest.split(['/', '?', '#'])
        .next()
        .filter(|id| !id.is_empty())
}

fn bounded(content: Value) -> Value {
    let length = content.to_string().len();
    match length > CONTENT_MAX {
        true => json!(format!("not kept: {length} bytes")),
        false => content,
    }
}
