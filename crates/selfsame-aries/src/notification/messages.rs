//! The acknowledgement and the problem report, in each form in which agents write it.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::wire::{self, Unreadable, Vocabulary};

/// Reports are shortened to this number of characters.
const TEXT_MAX: usize = 1_000;

/// An acknowledgement.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Ack {
    /// What is acknowledged.
    pub status: AckStatus,
}

/// What an acknowledgement says (RFC 0015, "status"). `FAIL` must not be used any more: a problem report is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum AckStatus {
    /// It was processed.
    #[default]
    #[serde(rename = "OK")]
    Ok,
    /// It was received, and is not processed yet.
    #[serde(rename = "PENDING")]
    Pending,
}

/// What a peer says went wrong. It is untrusted text.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProblemReport {
    /// The problem's code.
    pub code: Option<String>,
    /// What is wrong, for people.
    pub explain: Option<String>,
}

/// A message of the protocol itself.
#[derive(Clone, Debug, PartialEq)]
pub enum NotificationMessage {
    /// `ack`.
    Ack(Ack),
    /// `problem-report`.
    Report(ProblemReport),
}

impl Ack {
    /// That all is well.
    pub const OK: Self = Self {
        status: AckStatus::Ok,
    };

    /// Reads it. A status that is missing is `OK`, as RFC 0317 lets agents leave it out.
    ///
    /// # Errors
    /// If the status is another one.
    pub fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.body.get("status") {
            None | Some(Value::Null) => Ok(Self::OK),
            Some(_) => wire::body(message),
        }
    }

    /// Writes it.
    pub fn write(&self, message: &mut Message) {
        wire::put_body(message, self);
    }
}

impl ProblemReport {
    /// A report of our own.
    pub fn new(code: &str, explain: &str) -> Self {
        Self {
            code: Some(code.to_owned()),
            explain: Some(explain.to_owned()),
        }
    }

    /// Reads a report: `description` as an object with `code` and a text in some language, or as a text (both RFC
    /// 0035); `problem-code` and `explain` (RFC 0023, RFC 0160); `explain-ltxt` (older agents). What is missing or of
    /// another form is left out: a report that can't be read fully still ends an exchange.
    pub fn read(message: &Message) -> Self {
        let body = &message.body;
        let text = |of: &Map<String, Value>, name: &str| {
            of.get(name).and_then(Value::as_str).map(shortened)
        };
        let description = body.get("description");
        let object = description.and_then(Value::as_object);
        let spoken = object.and_then(|object| {
            let mut texts = object.iter().filter(|(name, _)| *name != "code");
            text(object, "en")
                .or_else(|| texts.find_map(|(_, value)| value.as_str().map(shortened)))
        });
        let plain = description.and_then(Value::as_str).map(shortened);
        let localised = body.get("description~l10n").and_then(Value::as_object);
        Self {
            code: object
                .and_then(|object| text(object, "code"))
                .or_else(|| text(body, "problem-code"))
                .or_else(|| text(localised?, "code")),
            explain: spoken
                .or(plain)
                .or_else(|| text(body, "explain"))
                .or_else(|| text(body, "explain-ltxt")),
        }
    }

    /// Writes it as RFC 0035 does.
    pub fn write(&self, message: &mut Message) {
        let mut description = Map::new();
        let mut put = |name: &str, text: &Option<String>| {
            if let Some(text) = text {
                description.insert(name.to_owned(), json!(text));
            }
        };
        put("code", &self.code);
        put("en", &self.explain);
        message
            .body
            .insert("description".to_owned(), Value::Object(description));
    }

    /// Writes it as the protocols of connections do (RFC 0160, RFC 0023: "error message attributes").
    pub fn write_with_code(&self, message: &mut Message) {
        let members = [("problem-code", &self.code), ("explain", &self.explain)];
        for (name, text) in members {
            if let Some(text) = text {
                message.body.insert(name.to_owned(), json!(text));
            }
        }
    }

    /// One line for a record's `error_msg`.
    pub fn line(&self) -> String {
        let parts = [&self.code, &self.explain];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        match parts.is_empty() {
            true => "the peer reported a problem".to_owned(),
            false => parts.join(": "),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(TEXT_MAX)
        .collect()
}

impl Vocabulary for NotificationMessage {
    const PROTOCOL: &'static str = wire::ACKS;
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "ack" => Ack::read(message).map(Self::Ack),
            _ if wire::is_report(&message.kind) => Ok(Self::Report(ProblemReport::read(message))),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ack(_) => "ack",
            Self::Report(_) => "problem-report",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Ack(ack) => ack.write(message),
            Self::Report(report) => report.write(message),
        }
    }
}
